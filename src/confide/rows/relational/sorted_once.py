"""Rows of a table sorted once, for all statements of a release that stream them.

Sorting a table is most of what an unprepared answer costs.  Where several statements each keep the
first rows of a person, ``p`` and the words that order the rows of a person go into a temporary
table once, in that order; words hold all declared columns, NULL too, so that each statement reads
its columns from there, filters and streams.  Only rows are sorted which one of them may keep.

*Privacy:* which tables are sorted follows from the questions and the schema, never from rows.  The
guard of a stream does not rely on the order (:mod:`confide.rows.cells.stream`): a table in another
order refuses the answer.  The table lies where the engine's own sorts lie, and is dropped after.
*Utility:* the rows that are kept are those of a sort for each statement, so the integers are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from confide.privacy.unit import Entity
from confide.rows.cells.bounding import streamed
from confide.rows.cells.build import every, own, own_table, select, some
from confide.rows.cells.evaluate import holds, is_known
from confide.rows.cells.stream import in_order
from confide.rows.cells.words import order_of, ordering
from confide.rows.copies.choice import of_one_table
from confide.rows.relational.table_rows import Scope, table_rows
from confide.tables.bound_contributions import ContributionBounds
from confide.tables.expression import ColumnOf, Expression, QualityOf, ValueOf
from confide.tables.filter import expressions, qualities
from confide.tables.relation import Relation
from confide.tables.schema import Table

LEAST = 2
"""Statements from which on a sort is shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """What a statement asks of the rows that it streams.

    Attributes:
        relation: Which rows.
        bounds: What a person keeps of them.
        reads: Expressions read.
        known: Expressions that no row may lack.
    """

    relation: Relation
    bounds: ContributionBounds
    reads: tuple[Expression, ...]
    known: tuple[Expression, ...]


def sorting(table: Table, asked: Sequence[Streamed], *, scope: Scope) -> exp.Query:
    """Return those rows of a table, in order, which one of several statements may keep."""
    names = [column.name for column in table.columns]

    def find(read: ColumnOf | ValueOf | QualityOf) -> exp.Expr:
        return own(f"c{names.index(read.column)}" if isinstance(read, ColumnOf) else "", "b")

    may_be_kept = [
        every(
            holds(each.relation.where, of=find, dataset=scope.dataset),
            *(is_known(known, of=find, dataset=scope.dataset) for known in each.known),
        )
        for each in asked
    ]
    placed = table_rows(scope, table, ordered=True)
    words = order_of(table)
    ordered = [each for each in ordering(table, of="b", stored=True) if each.alias_or_name in words]
    rows = select(own("p", "b"), *ordered, of=own_table(placed, "b"), where=[some(*may_be_kept)])
    query = in_order(rows, by=[own("p", "b"), *(own(word) for word in words)])
    alias = exp.TableAlias(this=exp.to_identifier(placed, quoted=True))
    front = [exp.CTE(this=scope.named[placed], alias=alias)]
    query.set("with_", exp.With(expressions=front))
    return query


def can_be_sorted_once(asked: Streamed, *, scope: Scope) -> bool:
    """Return whether a statement can stream rows that were sorted before."""
    needed = (*asked.reads, *asked.known, *expressions(asked.relation.where))
    table = scope.dataset.table(asked.relation.table)
    return (
        scope.copies is None
        and scope.streams
        and scope.dataset.unit.entity is Entity.PATIENT
        and not table.one_row_per_patient
        and streamed(asked.bounds)
        and of_one_table(needed, asked.relation.table)
        and not any(qualities(expression) for expression in needed)
    )
