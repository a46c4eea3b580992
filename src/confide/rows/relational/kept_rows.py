"""The query for the rows that patients keep: of models in rounds, and of jobs."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from confide.errors import UnsupportedError
from confide.rows.cells.build import STAR, at_most, named, num, own, place, ranked, rest, select
from confide.rows.cells.keyed_order import with_place, with_point
from confide.rows.cells.layout import Layout
from confide.rows.cells.words import order_of
from confide.rows.records import RecordRows
from confide.rows.relational.person_rows import relation_rows
from confide.rows.relational.table_rows import Scope
from confide.tables.expression import ColumnOf, Expression
from confide.tables.records import Records, check_records
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


def kept_rows(
    relation: Relation,
    *,
    reads: tuple[Expression, ...],
    most: int,
    folds: int,
    scope: Scope,
    texts: tuple[ColumnOf, ...] = (),
) -> exp.Select:
    """Return the query for each patient's kept rows: ``p``, ``rk``, ``e0, …`` and ``fold``.

    With the row as privacy unit each row is a ``p`` of its own, in no fold: rows have no ids.

    Args:
        relation: Which rows; it was checked before.
        reads: Expressions; rows that lack one are left out.
        most: Rows that each patient keeps.
        folds: Number of parts by keyed hash of the id.
        scope: What the query can name.
        texts: Declared texts, after the expressions; a row that lacks one stays.
    """
    known, reads = reads, (*reads, *texts)
    if scope.per_event:
        rows = relation_rows(scope, relation, reads=reads, known=known, ordered=False)
        each = [own(f"e{i}") for i in range(len(reads))]
        alone = [named(num(1), "rk"), *each, named(num(0), "fold")]
        return _with(select(place("p"), *alone, of=rows), scope=scope)
    dataset = scope.dataset
    rows = relation_rows(scope, relation, reads=reads, known=known, ordered=True)
    order = [own(name) for name in order_of(dataset.table(relation.table))]
    numbered = select(STAR, ranked(order, by=("p",)), of=rows)
    values = [own(f"e{i}") for i in range(len(reads))]
    kept = select(own("p"), own("rk"), *values, of=numbered, where=[at_most(own("rk"), num(most))])
    placed = with_place(with_point(kept, person="p", ids=scope.layout.ids), [num(0)])
    fold = named(rest(own("h"), num(folds)), "fold")
    query = select(own("p"), own("rk"), *(value.copy() for value in values), fold, of=placed)
    return _with(query, scope=scope)


def _with(query: exp.Select, *, scope: Scope) -> exp.Select:
    """Return a query with what it names in front."""
    front = [
        exp.CTE(this=part, alias=exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
        for name, part in scope.named.items()
    ]
    query.set("with_", exp.With(expressions=front))
    return query


def record_queries(records: Records, *, dataset: Dataset, layout: Layout) -> list[exp.Select]:
    """Return the query for the rows that a job reads, and that for a second table if there is one.

    Raises:
        ContractError: If they are not declared, or do not fit the source.
    """
    check_records(records, dataset=dataset)
    found = [
        kept_rows(
            records.relation,
            reads=records.reads,
            most=records.bounds.max_rows,
            folds=records.folds,
            scope=Scope(dataset=dataset, layout=layout),
            texts=records.texts,
        )
    ]
    if (other := records.other) is not None:
        scope = Scope(dataset=dataset, layout=layout)
        alone = kept_rows(other.relation, reads=(), most=1, folds=1, scope=scope, texts=other.texts)
        found.append(alone)
    return found


def require_numbers(records: Records, *, engine: str) -> None:
    """Refuse texts and a second table where an engine reads neither for a job.

    Raises:
        UnsupportedError: If a job asks for them.
    """
    if records.texts or records.other is not None:
        raise UnsupportedError(
            f"{engine} reads no texts for a job.",
            hint="Export the tables as Parquet, and declare that folder as the source.",
        )


def read_records(
    records: Records,
    *,
    dataset: Dataset,
    layout: Layout,
    arrays: Callable[[exp.Select], Mapping[str, Any]],
) -> RecordRows:
    """Return the rows that a job reads, from the columns that ``arrays`` gives of a query.

    Raises as :func:`record_queries`, and EngineError.
    """
    queries = record_queries(records, dataset=dataset, layout=layout)
    first, *others = [arrays(query) for query in queries]
    other = None
    if records.other is not None:
        other = RecordRows(others[0], columns=0, most=1, texts=len(records.other.texts))
    return RecordRows(
        first,
        columns=len(records.reads),
        most=records.bounds.max_rows,
        texts=len(records.texts),
        other=other,
    )
