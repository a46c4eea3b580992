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

from confide.rows.clean import integer
from confide.rows.keyed_order import place, point
from confide.rows.layout import Ids
from confide.rows.names import own, own_table, ranked, sub
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
    sums = [f"s{i}" for i in range(values)]
    one = exp.alias_(integer(1), "n", quoted=True)
    match bounds:
        case OneEvent():
            return exp.select(own("cell"), one, *map(own, sums)).from_(sub(rows))
        case RowBound(max_rows=m):
            order: list[exp.Expr] = [own("h"), own("cell"), *map(own, sums)]
            first = _first(rows, m, order=order, by=("p",))
            return exp.select(own("p"), own("cell"), one, *map(own, sums)).from_(sub(first))
        case CellBound(max_cells=k, max_rows_per_cell=r):
            per_cell = _per_cell(rows, r, sums=sums)
            if cells is not None and k >= cells:
                return per_cell  # nobody can have more cells than there are
            at = exp.alias_(point(own("p"), ids=ids), "x", quoted=True)
            with_point = exp.select(exp.Star(), at).from_(sub(per_cell))
            places = [place(limbs, at=own("x")), own("cell")]
            first = _first(with_point, k, order=places, by=("p",))
            return exp.select(own("p"), own("cell"), own("n"), *map(own, sums)).from_(sub(first))
        case _:
            assert_never(bounds)


def needs_order(bounds: ContributionBounds, *, values: int) -> bool:
    """Return whether bounding needs the keyed order of rows."""
    return isinstance(bounds, RowBound) or (isinstance(bounds, CellBound) and values > 0)


def totals(bounds: ContributionBounds, *, values: int) -> exp.Query:
    """Return (tag, ``cell``, ``n``, ``s0``, …) over the kept rows: the sums, and the guard."""
    sums = [f"s{i}" for i in range(values)]
    kept_table = own_table(KEPT)
    totals_of = [exp.alias_(_huge(exp.Sum(this=own(c))), c, quoted=True) for c in ("n", *sums)]
    by_cell = exp.select(_tag(SUMS), own("cell"), *totals_of).from_(kept_table)
    query: exp.Query = by_cell.group_by(own("cell"))
    if not isinstance(bounds, OneEvent):
        per_person = exp.select(
            exp.alias_(exp.Count(this=exp.Star()), "a", quoted=True),
            exp.alias_(exp.Max(this=own("n")), "b", quoted=True),
        )
        per_person = per_person.from_(kept_table.copy()).group_by(own("p"))
        for tag, most in ((MOST_ROWS, "a"), (MOST_IN_CELL, "b")):
            zeros = [exp.alias_(_huge(integer(0)), c, quoted=True) for c in sums]
            worst = exp.alias_(_huge(exp.Max(this=own(most))), "n", quoted=True)
            none = exp.alias_(exp.null(), "cell", quoted=True)
            guard = exp.select(_tag(tag), none, worst, *zeros).from_(sub(per_person.copy()))
            query = exp.union(query, guard, distinct=False)
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
    rows: exp.Select, most: int, *, order: Sequence[exp.Expr], by: tuple[str, ...]
) -> exp.Select:
    numbered = exp.select(exp.Star(), ranked(order, by=by)).from_(sub(rows))
    return exp.select(exp.Star()).from_(sub(numbered)).where(own("rk") <= integer(most))


def _per_cell(rows: exp.Select, most: int, *, sums: list[str]) -> exp.Select:
    count: exp.Expr = exp.Count(this=exp.Star())
    if sums:
        order = [own("h"), *map(own, sums)]
        rows = _first(rows, most, order=order, by=("p", "cell"))
    else:
        count = exp.func("least", count, integer(most))
    totals_of = [exp.alias_(exp.Sum(this=own(c)), c, quoted=True) for c in sums]
    query = exp.select(own("p"), own("cell"), exp.alias_(count, "n", quoted=True), *totals_of)
    return query.from_(sub(rows)).group_by(own("p"), own("cell"))


def _tag(tag: int) -> exp.Expr:
    return exp.alias_(integer(tag), "tag", quoted=True)


def _huge(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "int128")
