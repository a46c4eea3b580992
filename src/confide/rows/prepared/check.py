"""``confide prepare --check``: the copies give the integers that the source gives.

Every declared table is asked, in both ways, for what the schema allows: rows and sums under small
and large bounds, by a labelled column, by quality, filtered and unfiltered, by rows and by cells.
The exact answers are compared here, inside the rows room, and nothing but "same" or the name of a
table leaves it.

*Privacy:* for the steward alone, like preparing itself.
"""

import contextlib
from collections.abc import Iterator, Sequence

from confide.errors import InvalidParameterError
from confide.rows.copies.choice import streams
from confide.rows.engine import Engine
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import MOST_CELLS, cell_count
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.shapes import check_aggregate
from confide.tables.aggregates.value import Centred, CentredSquare, Ones
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound
from confide.tables.expression import ColumnOf, DatePart, PartOf, QualityOf
from confide.tables.filter import Between, Everything, Predicate
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

BOUNDS: tuple[ContributionBounds, ...] = (
    RowBound(max_rows=3),
    RowBound(max_rows=1),
    CellBound(max_cells=1),
    CellBound(max_cells=3, max_rows_per_cell=2),
)


def differing(
    source: Engine, *, copies: Engine, dataset: Dataset, unread: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the tables for which two engines give different integers; none should.

    Args:
        source: Reads the source as it is.
        copies: Reads the prepared copies.
        dataset: Public facts.
        unread: Tables that the source does not hold as declared.

    Raises:
        EngineError: If reading failed.
    """
    found = []
    for table in dataset.tables:
        if table.name in unread or table.other_id:
            continue
        asked = tuple(questions(table, dataset=dataset))
        one, other = (
            engine.aggregate(asked, dataset=dataset).reveal_to_gate() for engine in (source, copies)
        )
        if one != other:
            found.append(table.name)
    return tuple(found)


def questions(table: Table, *, dataset: Dataset) -> Iterator[Aggregate | KeyedAggregate]:
    """Yield what a table is asked: whatever a plan could ask."""
    for asked in _questions(table, dataset=dataset):
        with contextlib.suppress(InvalidParameterError):  # sums that could overflow
            check_aggregate(asked, dataset=dataset)
            yield asked


def _questions(table: Table, *, dataset: Dataset) -> Iterator[Aggregate | KeyedAggregate]:
    bounds = BOUNDS if streams(dataset) else (OneEvent(),)
    filters = tuple(_filters(table))
    for bound in bounds:
        for where in filters:
            relation = Relation(table=table.name, where=where)
            yield Aggregate(relation=relation, axes=(), value=Ones(), bounds=bound)
    one = bounds[min(1, len(bounds) - 1)]
    for column in table.columns:
        yield from _of_column(column, table=table, bounds=bounds[0], dataset=dataset)
        quality = QualityOf(of=ColumnOf(table=table.name, column=column.name))
        relation = Relation(table=table.name)
        yield Aggregate(relation=relation, axes=(quality,), value=Ones(), bounds=one)


def _of_column(
    column: Column, *, table: Table, bounds: ContributionBounds, dataset: Dataset
) -> Iterator[Aggregate | KeyedAggregate]:
    relation, of = Relation(table=table.name), ColumnOf(table=table.name, column=column.name)
    match column.kind:
        case Kind.CATEGORY if cell_count((of,), dataset=dataset) <= MOST_CELLS:
            yield Aggregate(relation=relation, axes=(of,), value=Ones(), bounds=bounds)
        case Kind.DATE:
            year = PartOf(of=of, part=DatePart.YEAR)
            yield Aggregate(relation=relation, axes=(year,), value=Ones(), bounds=bounds)
        case Kind.NUMBER:
            for value in (Centred(of=of), CentredSquare(of=of)):  # one pass for both
                yield Aggregate(relation=relation, axes=(), value=value, bounds=bounds)
        case Kind.TEXT if streams(dataset):
            yield KeyedAggregate(relation=relation, key=of, bounds=CellBound(max_cells=1))
        case _:
            return


def _filters(table: Table) -> Iterator[Predicate]:
    yield Everything()
    for column in table.columns:
        if column.kind in {Kind.NUMBER, Kind.DATE}:
            domain = column.domain()
            of = ColumnOf(table=table.name, column=column.name)
            yield Between(of=of, lower=(domain.lower + domain.upper) // 2)
            return
