"""Whether a bound on what a patient adds may leave something of theirs out, and how much.

Bounds are needed for privacy and cost truth: rows, groups and contacts beyond them are not counted,
and no interval covers what is missing, because how much that is depends on the data.  It follows
from the schema and the bound alone whether there can be any, so readers are told before and after.

- the unit is the row, or the table holds one row of a patient: nothing is left out;
- patients are counted, each once a group: only groups beyond the bound are left out, so nothing
  where there are no more groups than that;
- rows are counted, summed or averaged: those beyond the bound are left out;
- contacts are projected to a largest degree: those beyond it are left out.

*Utility:* of a declared public number of rows a patient (``usual-rows``), the share that a bound
leaves out is Σ pₙ·max(0, n − m) / Σ pₙ·n; it is a planning value, and enforced by nothing.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

import math
from fractions import Fraction
from typing import TypeAlias, assert_never

from confide.plans.plan import Measurement, Plan, Question, Statistic
from confide.privacy.unit import Entity
from confide.tables.aggregates.degrees import DegreeBounds, How
from confide.tables.aggregates.shapes import Measured, OfCells, parts
from confide.tables.bound_contributions import (
    CellBound,
    ContributionBounds,
    OneEvent,
    RowBound,
    rows_per_unit,
)
from confide.tables.relation import constant_per_patient, domain
from confide.tables.schema import Dataset, Table

Bounds: TypeAlias = ContributionBounds | DegreeBounds
PERSONS = "persons"


def may_cut(asked: Measurement | Question, *, dataset: Dataset) -> bool:
    """Return whether the bound of a measurement may leave something of a patient out.

    A function of the declaration alone.
    """
    aggregate, bounds = asked.aggregate, asked.aggregate.bounds
    match bounds:
        case DegreeBounds(how=how):
            return how is How.PROJECTED
        case OneEvent():
            return False
        case RowBound() | CellBound():
            table = dataset.table(aggregate.relation.table)
            if dataset.unit.entity is not Entity.PATIENT or table.one_row_per_patient:
                return False
        case _:
            assert_never(bounds)
    if isinstance(bounds, CellBound) and _counts_persons(asked):
        return groups_of_a_patient(aggregate, dataset=dataset) > bounds.max_cells
    return True


def _counts_persons(asked: Measurement | Question) -> bool:
    """Return whether rows in one group are one patient, on whatever grid they are counted."""
    return asked.sensitivity.unit.rpartition(" ")[-1] == PERSONS


def groups_of_a_patient(aggregate: Measured, *, dataset: Dataset) -> float:
    """Return in how many groups the rows of one patient may lie; ∞ where keys are not public."""
    most = 1
    for part in parts(aggregate):
        if not isinstance(part, OfCells):
            return math.inf
        varying = [
            domain(axis, dataset=dataset).size()
            for axis in part.axes
            if not constant_per_patient(axis, table=part.relation.table, dataset=dataset)
        ]
        most = max(most, math.prod(varying))
    return most


def cutting(plan: Plan, statistic: Statistic) -> Bounds | None:
    """Return the bound by which a statistic may miss something; None where it misses nothing."""
    for measurement in plan.of(statistic.id):
        if may_cut(measurement, dataset=plan.dataset):
            return measurement.aggregate.bounds
    return None


def share_left_out(table: Table, *, most: int) -> Fraction | None:
    """Return the share of a table's rows beyond a bound, by its declared shape; None without one.

    Example:
        >>> shape = ((1, Fraction(1, 2)), (9, Fraction(1, 2)))
        >>> share_left_out(Table(name="t", source="t", columns=(), usual_rows=shape), most=3)
        Fraction(3, 5)
    """
    rows = sum((share * number for number, share in table.usual_rows), Fraction(0))
    if not rows:
        return None
    beyond = sum((share * max(0, number - most) for number, share in table.usual_rows), Fraction(0))
    return beyond / rows


def cut_notes(plan: Plan, statistic: Statistic) -> tuple[str, ...]:
    """Return what a forecast says of a bound that may cut, and how much where the shape tells."""
    bounds = cutting(plan, statistic)
    if bounds is None:
        return ()
    measurement = next(m for m in plan.of(statistic.id) if may_cut(m, dataset=plan.dataset))
    said = (
        f"each patient counts with at most {kept_words(bounds)}; what is beyond is left out, so "
        "numbers may be too low or differ, and the ± does not cover that"
    )
    table = plan.dataset.table(measurement.aggregate.relation.table)
    if isinstance(bounds, DegreeBounds):
        return (said,)
    share = share_left_out(table, most=rows_per_unit(bounds))
    if share is None:
        return (said,)
    return said, (
        f"by the declared rows of a patient, {_roughly(measurement, dataset=plan.dataset)} "
        f"{round(100 * share)} % of what {table.name} holds before conditions is left out"
    )


def _roughly(measurement: Measurement, *, dataset: Dataset) -> str:
    """Return how the share of rows beyond a bound bounds what is left out."""
    if _counts_persons(measurement):
        return "up to"
    aggregate = measurement.aggregate
    spread = groups_of_a_patient(aggregate, dataset=dataset) > 1
    return "at least" if isinstance(aggregate.bounds, CellBound) and spread else "about"


def kept_words(bounds: Bounds) -> str:
    """Return what a patient may add, as a noun.

    Example:
        >>> kept_words(RowBound(max_rows=5)), kept_words(CellBound(max_cells=3))
        ('5 rows', '3 groups')
    """
    match bounds:
        case RowBound(max_rows=rows) | CellBound(max_cells=1, max_rows_per_cell=rows):
            return _many(rows, "row")
        case CellBound(max_cells=cells, max_rows_per_cell=1):
            return _many(cells, "group")
        case CellBound(max_cells=cells, max_rows_per_cell=rows):
            return f"{_many(cells, 'group')} of {_many(rows, 'row')}"
        case OneEvent():
            return "one row"
        case DegreeBounds(at_most=most):
            return _many(most, "contact")
        case _:
            assert_never(bounds)


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
