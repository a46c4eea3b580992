"""What a stream carries of a row, so that only the rows that are kept are evaluated.

The columns of the table itself are carried as they are, or packed in the words that order them;
what reads another table or a patient's value is evaluated before the stream.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from confide.rows.cells.build import named, own, select
from confide.rows.cells.evaluate import number_of
from confide.rows.cells.stream import Late
from confide.rows.cells.terms import cell_and_sums, row_reads
from confide.rows.cells.words import unpacked, word_names, words_of
from confide.rows.relational.table_rows import Scope
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Value
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
from confide.tables.filter import sources
from confide.tables.schema import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What a stream carries of a row.

    Attributes:
        early: Expressions to evaluate before the stream, called ``e0, e1, …``.
        columns: Indices of the base table's columns that the others need.
        words: Names of the words that hold those columns; none when they come as they are.
    """

    early: tuple[Expression, ...]
    columns: tuple[int, ...]
    words: tuple[str, ...]

    @property
    def as_they_are(self) -> tuple[str, ...]:
        """Name the columns that are carried as they are."""
        return () if self.words else tuple(f"c{i}" for i in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Name what the stream carries."""
        return (*(f"e{i}" for i in range(len(self.early))), *self.words, *self.as_they_are)


def carried_of(reads: Sequence[Expression], *, table: Table, in_words: bool) -> Carried:
    """Return what to carry: columns of the table itself, and expressions that read others."""
    index = {column.name: i for i, column in enumerate(table.columns)}
    own_reads = [e for e in reads if _can_wait(e, table)]
    columns = {index[c.column] for e in own_reads for c in sources(e) if isinstance(c, ColumnOf)}
    words = [
        name
        for name, word in zip(word_names(table), words_of(table), strict=True)
        if in_words and any(part.column in columns for part in word.fields)
    ]
    early = dict.fromkeys(e for e in reads if e not in own_reads)
    return Carried(early=tuple(early), columns=tuple(sorted(columns)), words=tuple(words))


def _can_wait(expression: Expression, table: Table) -> bool:
    """Return whether an expression reads columns of the table that every kept row has.

    A word cannot say that a column is NULL, so whatever has a value in rows without a column, as a
    condition has, is evaluated before.
    """
    match expression:
        case Holds() | CaseOf() | TextAmong() | OrMissing() | QualityOf():
            return False
        case ColumnOf() | ValueOf() | BinOf() | PartOf() | DaysOf():
            return all(
                isinstance(read, ColumnOf) and read.table == table.name
                for read in sources(expression)
            )
        case _:
            assert_never(expression)


def evaluated_late(
    first: Aggregate, values: Sequence[Value], *, carried: Carried, scope: Scope
) -> Late:
    """Return what a stream carries, and how its kept rows are evaluated."""
    return Late(
        carried=carried.names,
        evaluated=lambda kept: _cells_of(kept, first, values, carried=carried, scope=scope),
    )


def _cells_of(
    kept: exp.Select,
    first: Aggregate,
    values: Sequence[Value],
    *,
    carried: Carried,
    scope: Scope,
) -> exp.Select:
    """Return ``cell`` and ``s0, s1, …`` of kept rows, with ``p`` and ``before`` beside them."""
    table = scope.dataset.table(first.relation.table)
    names = [column.name for column in table.columns]

    def find(read: ColumnOf | ValueOf | QualityOf) -> exp.Expr:
        return own(f"c{names.index(read.column)}" if isinstance(read, ColumnOf) else "")

    def value_of(expression: Expression) -> exp.Expr:
        if expression in carried.early:
            return own(f"e{carried.early.index(expression)}")
        return number_of(expression, of=find, dataset=scope.dataset)

    beside = [own("p"), own("before")]
    if carried.words:
        early = [own(f"e{i}") for i in range(len(carried.early))]
        kept = select(*beside, *early, *unpacked(table, carried.columns), of=kept)
    evaluated = [
        named(value_of(expression), f"e{i}")
        for i, expression in enumerate(row_reads(first, values))
    ]
    rows = select(*beside, *evaluated, of=kept)
    return select(*beside, *cell_and_sums(first, values, dataset=scope.dataset), of=rows)
