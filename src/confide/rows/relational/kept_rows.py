"""The query for the rows that patients keep: of models in rounds, and of jobs."""

from sqlglot import exp

from confide.rows.cells.build import STAR, at_most, named, num, own, place, ranked, rest, select
from confide.rows.cells.keyed_order import with_place, with_point
from confide.rows.cells.layout import Layout
from confide.rows.cells.words import order_of
from confide.rows.relational.person_rows import relation_rows
from confide.rows.relational.table_rows import Scope
from confide.tables.expression import Expression
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
) -> exp.Select:
    """Return the query for each patient's kept rows: ``p``, ``rk``, ``e0, …`` and ``fold``.

    With the row as privacy unit each row is a ``p`` of its own, in no fold: rows have no ids.

    Args:
        relation: Which rows; it was checked before.
        reads: Expressions; rows that lack one are left out.
        most: Rows that each patient keeps.
        folds: Number of parts by keyed hash of the id.
        scope: What the query can name.
    """
    if scope.per_event:
        rows = relation_rows(scope, relation, reads=reads, known=reads, ordered=False)
        each = [own(f"e{i}") for i in range(len(reads))]
        alone = [named(num(1), "rk"), *each, named(num(0), "fold")]
        return _with(select(place("p"), *alone, of=rows), scope=scope)
    dataset = scope.dataset
    rows = relation_rows(scope, relation, reads=reads, known=reads, ordered=True)
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


def records_query(records: Records, *, dataset: Dataset, layout: Layout) -> exp.Select:
    """Return the query for the rows that a job reads.

    Raises:
        ContractError: If they are not declared, or do not fit the source.
    """
    check_records(records, dataset=dataset)
    return kept_rows(
        records.relation,
        reads=records.reads,
        most=records.bounds.max_rows,
        folds=records.folds,
        scope=Scope(dataset=dataset, layout=layout),
    )
