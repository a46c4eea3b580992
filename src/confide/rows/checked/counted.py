"""How many cells of each declared column are read, missing, unreadable or outside, in one query.

*Privacy:* exact counts of rows, for the steward alone (:mod:`.findings`).
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sqlglot import exp

from confide.rows.cells.build import (
    DOUBLE,
    VARCHAR,
    at_most,
    case,
    cast,
    equal,
    every,
    missing,
    named,
    negated,
    num,
    own,
    plus,
    present,
    select,
    string,
    times,
)
from confide.rows.cells.by_code import conditions, is_blank, read_value, source_rows, word_of
from confide.rows.cells.clean import nearest, quality
from confide.rows.cells.operations import Floor, operation
from confide.rows.checked.findings import CheckedColumn
from confide.rows.relational.table_rows import Scope
from confide.tables.schema import Column, Kind, Table

READ, MISSING, UNREADABLE, OUTSIDE = 0, 1, 2, 3
MOST_TEXTS = 5_000
"""Different texts of a column that are looked at, the most frequent first."""

Run = Callable[[exp.Query], list[tuple[Any, ...]]]


def checked_columns(table: Table, *, scope: Scope, run: Run) -> tuple[CheckedColumn, ...]:
    """Return the counts of every column of a table.

    Raises:
        EngineError: If reading failed.
    """
    if not table.columns:
        return ()
    columns = range(len(table.columns))
    states = [named(_state(column, table=table, scope=scope), f"s{i}") for i, column in
              enumerate(table.columns)]  # fmt: skip
    sums = [
        named(_times_that(equal(own(f"s{i}"), num(state))), f"n{i}_{state}")
        for i in columns
        for state in (READ, MISSING, UNREADABLE, OUTSIDE)
    ]
    [found] = run(
        select(*sums, of=select(*states, of=_rows(table, scope), where=_kept(table, scope)))
    )
    return tuple(
        CheckedColumn(
            column=column.name,
            kind=column.kind.value,
            read=int(found[4 * i]),
            missing=int(found[4 * i + 1]),
            unreadable=int(found[4 * i + 2]),
            outside=int(found[4 * i + 3]),
        )
        for i, column in enumerate(table.columns)
    )


def odd_texts(
    column: Column, *, state: int, table: Table, scope: Scope, run: Run
) -> dict[str, int]:
    """Return the texts of the cells in one state, with how many cells hold each.

    Raises:
        EngineError: If reading failed.
    """
    word = cast(word_of(column, located=scope.layout.located(table)), VARCHAR)
    state_of = _state(column, table=table, scope=scope)
    cells = select(named(word, "w"), named(state_of, "s"), of=_rows(table, scope),
                   where=_kept(table, scope))  # fmt: skip
    wrong = [equal(own("s"), num(state)), present(own("w"))]
    each = select(own("w"), named(exp.Count(this=exp.Star()), "n"), of=cells, where=wrong,
                  by=[own("w")])  # fmt: skip
    order = [exp.Ordered(this=own("n"), desc=True), exp.Ordered(this=own("w"))]
    each.set("order", exp.Order(expressions=order))
    each.set("limit", exp.Limit(expression=num(MOST_TEXTS)))
    return {str(text): int(cells) for text, cells in run(each)}


def inside_if(
    column: Column,
    conversions: list[tuple[Fraction, Fraction]],
    *,
    table: Table,
    scope: Scope,
    run: Run,
) -> list[int]:
    """Return how many cells outside the bounds lie inside once they are converted.

    Args:
        column: A number.
        conversions: Factor and offset of each, in the unit of the column.
        table: Whose column it is.
        scope: Where it lies.
        run: Runs one query.
    """
    located = scope.layout.located(table)
    rows = select(
        named(read_value(column, located=located), "x"),
        named(_state(column, table=table, scope=scope), "s"),
        of=_rows(table, scope),
        where=_kept(table, scope),
    )
    sums = []
    for place, (factor, offset) in enumerate(conversions):
        x = plus(times(own("x"), _double(factor)), _double(offset / column.scale))
        domain = column.domain()
        point = nearest(x, floor=operation(Floor, x))
        inside = every(at_most(num(domain.lower), point), at_most(point, num(domain.upper)))
        sums.append(named(_times_that(inside), f"n{place}"))
    [found] = run(select(*sums, of=rows, where=[equal(own("s"), num(OUTSIDE))]))
    return [int(each) for each in found]


def _state(column: Column, *, table: Table, scope: Scope) -> exp.Expr:
    """Return in which state a cell is."""
    located = scope.layout.located(table)
    blank, read = is_blank(column, located=located), read_value(column, located=located)
    if column.kind is Kind.TEXT:
        return case((blank, num(MISSING)), default=num(READ))
    physical = located.columns[column.source].physical
    word = quality(blank, value=read, column=column, physical=physical)
    lost = every(missing(read), negated(blank))
    return case((lost, num(UNREADABLE)), (equal(word, num(2)), num(OUTSIDE)), default=word)


def _rows(table: Table, scope: Scope) -> exp.Subquery | exp.Table:
    return source_rows(table, located=scope.layout.located(table), judged=True)


def _kept(table: Table, scope: Scope) -> list[exp.Expr]:
    return conditions(table, located=scope.layout.located(table))


def _times_that(condition: exp.Expr) -> exp.Expr:
    total = exp.Sum(this=case((condition, num(1)), default=num(0)))
    return exp.Coalesce(this=total, expressions=[num(0)])


def _double(value: Fraction) -> exp.Expr:
    return cast(string(repr(float(value))), DOUBLE)
