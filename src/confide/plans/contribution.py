"""What each patient may contribute to a statistic, the bounds it gives, and the question it makes.

One patient is one privacy unit: without a bound on rows or cells one patient could move a sum by
any amount, so a bound is required wherever the schema does not give it.  With the event as the
unit, one row is one unit and there is nothing to bound.
"""

import enum
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, assert_never, runtime_checkable

from confide.errors import ContractError, UnboundedError
from confide.noise.set_selection import require_size
from confide.plans.plan import Question
from confide.privacy.unit import Entity
from confide.tables.aggregates.shapes import Measured, Ranked, Together
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound
from confide.tables.expression import Expression
from confide.tables.relation import constant_per_patient
from confide.tables.schema import Dataset


class Counted(enum.Enum):
    """What is counted in a cell."""

    PATIENTS = "patients"
    EVENTS = "events"

    @property
    def unit(self) -> str:
        """Word for one of them."""
        return "persons" if self is Counted.PATIENTS else "rows"


@runtime_checkable
class Counting(Protocol):
    """A statistic that counts."""

    @property
    def counted(self) -> Counted:
        """What it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PerPatient:
    """What a patient may contribute.

    Attributes:
        cells: Most cells (groups, categories) of one patient.
        rows: Most rows of one patient: in each cell when ``cells`` is given, else altogether.
    """

    cells: int | None = None
    rows: int | None = None


@runtime_checkable
class Limited(Protocol):
    """A statistic to which a patient contributes so much."""

    @property
    def per_patient(self) -> PerPatient:
        """So much."""


def contribution_bounds(
    stated: PerPatient,
    *,
    table: str,
    axes: tuple[Expression, ...],
    counted: Counted,
    dataset: Dataset,
) -> ContributionBounds:
    """Return the bounds that the engine enforces.

    Raises:
        UnboundedError: If a patient may have several rows or cells and no bound is stated.
        ContractError: If patients are counted under event-level privacy, or bounds contradict.
    """
    match dataset.unit.entity:
        case Entity.EVENT:
            if counted is Counted.PATIENTS:
                raise ContractError(
                    "With the event as privacy unit, patients cannot be counted: that keeps one "
                    "row of each patient, which is a step per person.",
                    hint="Count events, or protect patients.",
                )
            return OneEvent()
        case Entity.EDGE:
            raise ContractError(
                "With a contact as privacy unit, persons and their rows are not protected.",
                hint="Ask for a degree-histogram, or protect patients.",
            )
        case Entity.HOSPITAL:
            raise ContractError(
                "With the hospital as privacy unit, the rows of patients are not bounded.",
                hint="Fit a model of one teacher a hospital, or protect patients.",
            )
        case Entity.PATIENT:
            if dataset.table(table).one_row_per_patient:
                return CellBound(max_cells=1, max_rows_per_cell=1)
        case _:
            assert_never(dataset.unit.entity)
    fixed = all(constant_per_patient(axis, table=table, dataset=dataset) for axis in axes)
    match counted:
        case Counted.PATIENTS:
            return _patient_bounds(stated, table=table, fixed=fixed)
        case Counted.EVENTS:
            return _event_bounds(stated, table=table, fixed=fixed)
        case _:
            assert_never(counted)


def one_row_each(
    stated: PerPatient, *, table: str, axes: tuple[Expression, ...], dataset: Dataset
) -> ContributionBounds:
    """Return the bound that keeps one row of a patient, for what takes its rows as independent.

    Several rows of one patient are not: a test of them all finds too much.

    Raises:
        UnboundedError: If a patient may have several rows and no bound is stated.
        ContractError: If more than one row is asked for.
    """
    if dataset.unit.entity is Entity.PATIENT and not dataset.table(table).one_row_per_patient:
        if stated.rows is None:
            raise UnboundedError(
                f"Tests and regressions need one row of each patient; table {table!r} may have "
                "several.",
                hint="Write per-patient: {rows: 1}, or ask of a table with one row per patient.",
            )
        if stated.rows != 1 or stated.cells not in (None, 1):
            raise ContractError(
                "Several rows of a patient are not independent, so a test of them is wrong.",
                hint="Write per-patient: {rows: 1}.",
            )
        stated = PerPatient(rows=1)
    return contribution_bounds(
        stated, table=table, axes=axes, counted=Counted.EVENTS, dataset=dataset
    )


def rows_of_each(stated: PerPatient, *, table: str, dataset: Dataset) -> RowBound:
    """Return how many rows of a patient a model keeps: those rows together weigh as one.

    Raises:
        UnboundedError: If a patient may have several rows and no bound is stated.
        ContractError: If cells are bounded, which a model has none of.
    """
    if dataset.table(table).one_row_per_patient or dataset.unit.entity is not Entity.PATIENT:
        return RowBound(max_rows=1)  # a model of events is refused with its question
    if stated.rows is None:
        raise UnboundedError(
            f"A patient of table {table!r} can have any number of rows.",
            hint="Write per-patient: {rows: 5}; rows of a patient weigh as one together.",
        )
    if stated.cells is not None:
        raise ContractError("A model has no cells to bound.", hint="Write per-patient: {rows: 5}.")
    return RowBound(max_rows=stated.rows)


def _patient_bounds(stated: PerPatient, *, table: str, fixed: bool) -> ContributionBounds:
    if stated.rows not in (None, 1):
        raise ContractError(
            "Counting patients keeps one row of a patient in each cell.",
            hint="Leave `rows` out, or count events.",
        )
    if fixed:
        return CellBound(max_cells=1)
    if stated.cells is None:
        raise UnboundedError(
            f"A patient of table {table!r} can fall into any number of cells.",
            hint="Bound them, e.g. per-patient: {cells: 5}.",
        )
    return CellBound(max_cells=stated.cells)


def _event_bounds(stated: PerPatient, *, table: str, fixed: bool) -> ContributionBounds:
    if stated.rows is None:
        raise UnboundedError(
            f"A patient of table {table!r} can have any number of rows.",
            hint="Bound them, e.g. per-patient: {rows: 5}.",
        )
    if stated.cells is not None:
        return CellBound(max_cells=stated.cells, max_rows_per_cell=stated.rows)
    if fixed:
        return CellBound(max_cells=1, max_rows_per_cell=stated.rows)
    return RowBound(max_rows=stated.rows)


def question(
    name: str,
    aggregate: Measured,
    *,
    dataset: Dataset,
    counted: str = "rows",
    weight: Fraction | int = 1,
) -> Question:
    """Return a question about an aggregate, with the sensitivity that its bounds give it.

    Args:
        name: Unique within the statistic.
        aggregate: The exact vector.
        dataset: Public facts.
        counted: What a row is called where rows are counted.
        weight: Share of the statistic's budget, relative to its other questions.
    """
    if isinstance(aggregate, Ranked) and not isinstance(aggregate, Together):
        require_size(aggregate.size, candidates=aggregate.coordinates(dataset))
    return Question(
        name=name,
        aggregate=aggregate,
        sensitivity=aggregate.sensitivity(dataset, counted=counted),
        weight=Fraction(weight),
    )
