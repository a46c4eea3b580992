"""Which form answers a question: by the question and the schema, never by the rows.

*Privacy:* all forms keep the same rows and give the same integers, so the choice is no part of a
plan's digest; it can be shown in the plan because it follows from public facts.
"""

import enum
from collections.abc import Iterable, Sequence

from confide.privacy.unit import Entity
from confide.rows.cells.bounding import in_one_pass
from confide.rows.cells.stream import FARTHEST
from confide.rows.copies.copies import MOST_RANKS, Copies
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DaysOf,
    Expression,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    TextAmong,
    ValueOf,
)
from confide.tables.filter import (
    All,
    Between,
    Everything,
    Predicate,
    expressions,
    qualities,
    sources,
)
from confide.tables.relation import Relation, column_of, day_range, domain
from confide.tables.schema import Dataset, Kind


class Way(enum.Enum):
    """How the rows that a person keeps are found."""

    RANKS = "rank projection"
    CLUSTERED = "clustered stream"
    SORTED = "sort and stream"
    NUMBERED = "rows of a person numbered in the keyed order"
    ONCE = "sorted once, then streamed"
    CELLS = "sorted by patient and cell"
    SUMMED_CELLS = "rows summed per patient and cell"
    EVENTS = "every row"


def way_of(
    relation: Relation,
    *,
    bounds: ContributionBounds,
    reads: Sequence[Expression],
    known: Iterable[Expression],
    copies: Copies | None,
    dataset: Dataset,
) -> Way:
    """Return the form that answers a question.

    Args:
        relation: Which rows.
        bounds: What one privacy unit keeps.
        reads: Expressions read.
        known: Expressions that no kept row may lack.
        copies: Prepared copies, if there are.
        dataset: Public facts.
    """
    match bounds:
        case OneEvent():
            return Way.EVENTS
        case CellBound():
            return way_of_cells(bounds)
        case RowBound(max_rows=m):
            needed = (*reads, *known, *expressions(relation.where))
            if copies is None or m > FARTHEST or not of_one_table(needed, relation.table):
                return Way.SORTED
            ranks = by_rank(relation, most=m, reads=reads, known=known, dataset=dataset)
            return Way.RANKS if ranks else Way.CLUSTERED


def by_rank(
    relation: Relation,
    *,
    most: int,
    reads: Sequence[Expression],
    known: Iterable[Expression],
    dataset: Dataset,
) -> bool:
    """Return whether the first rows of each person are those of the first ranks.

    Args:
        relation: Which rows.
        most: How many of a person are kept.
        reads: Expressions read.
        known: Expressions that no kept row may lack.
        dataset: Public facts.
    """
    return (
        not dataset.table(relation.table).one_row_per_patient
        and most <= MOST_RANKS
        and keeps_all_complete_rows(relation.where, dataset=dataset)
        and all(never_null(expression, dataset=dataset) for expression in (*reads, *known))
        and not any(qualities(expression) for expression in reads)  # only clustered copies have it
    )


def way_of_cells(bounds: CellBound) -> Way:
    """Return how the cells that a person keeps are found."""
    return Way.CELLS if in_one_pass(bounds) else Way.SUMMED_CELLS


def never_null(expression: Expression, *, dataset: Dataset) -> bool:
    """Return whether an expression has a value in every row whose columns all have one."""
    match expression:
        case ColumnOf():
            return column_of(expression, dataset).kind is not Kind.TEXT
        case PartOf(of=inner):
            of = domain(inner, dataset=dataset)
            whole = day_range(expression, dataset=dataset) == (of.lower, of.upper)
            return whole and never_null(inner, dataset=dataset)
        case BinOf(of=inner, edges=edges):
            if not never_null(inner, dataset=dataset):
                return False
            of = domain(inner, dataset=dataset)
            return edges[0] <= of.lower and of.upper <= edges[-1]
        case DaysOf(start=start, end=end):
            ends = (never_null(each, dataset=dataset) for each in (start, end))
            return not expression.inside and all(ends)
        case Holds() | OrMissing() | QualityOf():
            return True
        case ValueOf() | CaseOf() | TextAmong():
            return False


def keeps_all_complete_rows(where: Predicate, *, dataset: Dataset) -> bool:
    """Return whether every row whose columns all have a value satisfies a filter."""
    match where:
        case Everything():
            return True
        case Between(of=expression, lower=lower, upper=upper):
            of = domain(expression, dataset=dataset)
            inside = (lower is None or lower <= of.lower) and (upper is None or of.upper <= upper)
            return inside and never_null(expression, dataset=dataset)
        case All(of=parts):
            return all(keeps_all_complete_rows(part, dataset=dataset) for part in parts)
        case _:
            return False


def streams(dataset: Dataset) -> bool:
    """Return whether rows belong to persons, so that they can be clustered."""
    return dataset.unit.entity is Entity.PATIENT


def of_one_table(needed: Iterable[Expression], table: str) -> bool:
    """Return whether expressions read columns of one table and nothing else."""
    return all(
        isinstance(read, ColumnOf) and read.table == table
        for expression in needed
        for read in sources(expression)
    )
