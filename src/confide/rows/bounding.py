"""Contribution bounding in SQL: which rows of a person are kept, before anything is summed.

Input: rows with ``p`` the person, ``cell`` the public cell (or the secret key) and ``s0, s1, …``
the values; output: the same after bounding, with ``n`` kept rows each.

- ``RowBound(m)``: the first m rows of a person in the keyed order of rows;
- ``CellBound(k, r)``: the first r rows of a cell in the same order, then the first k cells in the
  keyed order of (person, cell).  Without values the r rows need no order: least(count, r);
- ``OneEvent``: every row.

*Privacy:* the bound is applied to the rows that are summed: after the filter (a bound before it is
stale) and before the sum (a bound after it clips totals, not people).  The same query counts what
each person kept, and the engine refuses the answer should anyone keep more than the bound.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from collections.abc import Sequence
from typing import assert_never

from sqlglot import exp

from confide.rows.build import (
    HUGEINT,
    NULL,
    STAR,
    at_most,
    call,
    cast,
    named,
    num,
    own,
    own_table,
    ranked,
    select,
)
from confide.rows.keyed_order import fifth_power, leading, point, polynomial
from confide.rows.layout import Ids
from confide.tables.bound_contributions import CellBound, ContributionBounds, OneEvent, RowBound

KEPT = "kept"
SUMS = 0
"""Tag of a row of the result that holds the sums of one cell."""
MOST_ROWS = 1
"""Tag of the row that reports the most rows, or cells, kept for one person."""
MOST_IN_CELL = 2
"""Tag of the row that reports the most rows kept in one cell for one person."""


def kept_rows(
    rows: exp.Select,
    *,
    bounds: ContributionBounds,
    values: int,
    limbs: tuple[exp.Expr, ...],
    ids: Ids,
    cells: int | None,
) -> exp.Select:
    """Return what each person keeps: ``p``, ``cell``, ``n`` and the sums ``s0, …``.

    Args:
        rows: Rows with ``p``, ``cell``, ``s0, …``, and ``h`` where :func:`needs_order` says so.
        bounds: What one privacy unit keeps.
        values: Number of values.
        limbs: The cell as limbs, for its place in the keyed order.
        ids: How person ids are compared.
        cells: Number of public cells; None when they are secret keys.
    """
    sums = [own(name) for name in _sums(values)]
    one = named(num(1), "n")
    match bounds:
        case OneEvent():
            return select(own("cell"), one, *sums, of=rows)
        case RowBound(max_rows=m):
            order = [own("h"), own("cell"), *sums]
            return select(own("p"), own("cell"), one, *sums, of=_first(rows, m, order=order))
        case CellBound(max_cells=k, max_rows_per_cell=r):
            per_cell = _per_cell(rows, r, sums=sums)
            if cells is not None and k >= cells:
                return per_cell  # nobody can have more cells than there are
            x = own("x")
            with_point = select(STAR, named(point(own("p"), ids=ids), "x"), of=per_cell)
            y = named(polynomial([leading(), *limbs, num(0)], at=x), "y")
            with_y = select(STAR, y, of=with_point)
            first = _first(with_y, k, order=[fifth_power(own("y")), own("cell")])
            return select(own("p"), own("cell"), own("n"), *sums, of=first)
        case _:
            assert_never(bounds)


def needs_order(bounds: ContributionBounds, *, values: int) -> bool:
    """Return whether bounding needs the keyed order of rows."""
    return isinstance(bounds, RowBound) or (isinstance(bounds, CellBound) and values > 0)


def totals(bounds: ContributionBounds, *, values: int) -> exp.Query:
    """Return (tag, ``cell``, ``n``, ``s0``, …) over the kept rows: the sums, and the guard."""
    kept = own_table(KEPT)
    sums = [named(_huge(exp.Sum(this=own(name))), name) for name in ("n", *_sums(values))]
    query: exp.Query = select(_tag(SUMS), own("cell"), *sums, of=kept, by=[own("cell")])
    if isinstance(bounds, OneEvent):
        return query
    each = select(
        named(exp.Count(this=STAR), "a"),
        named(exp.Max(this=own("n")), "b"),
        of=kept,
        by=[own("p")],
    )
    zeros = [named(_huge(num(0)), name) for name in _sums(values)]
    for tag, most in ((MOST_ROWS, "a"), (MOST_IN_CELL, "b")):
        worst = named(_huge(exp.Max(this=own(most))), "n")
        guard = select(_tag(tag), named(NULL, "cell"), worst, *zeros, of=each)
        query = exp.Union(this=query, expression=guard, distinct=False)
    return query


def limits(bounds: ContributionBounds) -> dict[int, int]:
    """Return the most that each guard row may report."""
    match bounds:
        case RowBound(max_rows=m):
            return {MOST_ROWS: m, MOST_IN_CELL: 1}
        case CellBound(max_cells=k, max_rows_per_cell=r):
            return {MOST_ROWS: k, MOST_IN_CELL: r}
        case OneEvent():
            return {}
        case _:
            assert_never(bounds)


def _first(
    rows: exp.Select, most: int, *, order: Sequence[exp.Expr], by: tuple[str, ...] = ("p",)
) -> exp.Select:
    numbered = select(STAR, ranked(order, by=by), of=rows)
    return select(STAR, of=numbered, where=[at_most(own("rk"), num(most))])


def _per_cell(rows: exp.Select, most: int, *, sums: list[exp.Column]) -> exp.Select:
    count: exp.Expr = exp.Count(this=STAR)
    if sums:
        rows = _first(rows, most, order=[own("h"), *sums], by=("p", "cell"))
    else:
        count = call("least", count, num(most))
    summed = [named(exp.Sum(this=column), column.name) for column in sums]
    key = [own("p"), own("cell")]
    return select(*key, named(count, "n"), *summed, of=rows, by=key)


def _sums(values: int) -> list[str]:
    return [f"s{i}" for i in range(values)]


def _tag(tag: int) -> exp.Expr:
    return named(num(tag), "tag")


def _huge(value: exp.Expr) -> exp.Expr:
    return cast(value, HUGEINT)
