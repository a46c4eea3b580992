"""Contribution bounding in SQL: which rows of a person are kept, before anything is summed.

Input: rows with ``p`` the person, ``cell`` the public cell (or the secret key) and ``s0, s1, …``
the values; output: (tag, cell, kept rows, sums), where a tag above 0 reports the guard.

- ``RowBound(m)``: the first m rows of a person in the keyed order of rows, ties by the declared
  columns: one stream over a prepared copy, or over rows sorted for it;
- ``CellBound(k, r)``: the first r rows of a cell in the same order, then the first k cells in the
  keyed order of (person, cell), or the earliest k.  Without values the r rows need no order:
  least(count, r);
- ``OneEvent``: every row.

*Privacy:* the bound is applied to the rows that are summed: after the filter (a bound before it is
stale) and before the sum (a bound after it clips totals, not people).  The same query counts what
each person kept, and the engine refuses the answer should anyone keep more than the bound.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from confide.rows.build import (
    HUGEINT,
    NULL,
    STAR,
    at_most,
    call,
    cast,
    less,
    named,
    num,
    own,
    own_table,
    ranked,
    rest,
    select,
)
from confide.rows.keyed_order import with_place
from confide.rows.stream import (
    FARTHEST,
    OUT_OF_ORDER,
    SUMS,
    Late,
    Summed,
    in_order,
    stream_totals,
)
from confide.tables.bound_contributions import (
    CellBound,
    CellOrder,
    ContributionBounds,
    OneEvent,
    RowBound,
)

KEPT = "kept"
MOST_ROWS = 1
"""Tag of the row that reports the most rows, or cells, kept for one person."""
MOST_IN_CELL = 2
"""Tag of the row that reports the most rows kept in one cell for one person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """A query for the sums, and the kept rows that it names, if it names them.

    Attributes:
        query: Rows (tag, cell, n, sums).
        kept: What the query calls ``kept``.
    """

    query: exp.Query
    kept: exp.Select | None = None


def bounded_totals(  # noqa: PLR0913 — a query has as many parts
    rows: exp.Select,
    *,
    bounds: ContributionBounds,
    values: int,
    order: Sequence[exp.Expr],
    limbs: tuple[exp.Expr, ...],
    with_point: Callable[[exp.Select, Sequence[str]], exp.Select],
    cells: int | None,
    late: Late | None,
    times: int = 1,
    summed: Summed = Summed.CELLS,
) -> Bounded:
    """Return the sums over what each person keeps.

    Args:
        rows: Rows with ``p``, ``cell``, ``s0, …``, and ``h`` where :func:`needs_order` says so.
        bounds: What one privacy unit keeps.
        values: Number of values.
        order: What orders a person's rows; empty when they come in order.
        limbs: The cell as limbs, for its place in the keyed order.
        with_point: Adds ``x``, the person's point, to rows with the named columns.
        cells: Number of public cells; None when they are secret keys.
        late: Makes ``cell`` and values of the rows that a stream keeps; None: the rows have them.
        times: Cells of the last axis, by which the earliest cells come first.
        summed: By cell, or by person and cell.
    """
    sums = _sums(values)
    match bounds:
        case OneEvent():
            return Bounded(query=_every_row(rows, sums=sums))
        case RowBound(max_rows=m) if streamed(bounds):
            together = in_order(rows, by=[own("p"), *order]) if order else rows
            most = limits(bounds)[MOST_ROWS]
            query = stream_totals(together, most=m, limit=most, sums=sums, late=late, summed=summed)
            return Bounded(query=query)
        case RowBound(max_rows=m):
            one = named(num(1), "n")
            first = _first(rows, m, order=order or [own("h")])
            kept = select(own("p"), own("cell"), one, *map(own, sums), of=first)
            return _added(kept, values=values, summed=summed)
        case CellBound(max_cells=k, max_rows_per_cell=r, order=order_of_cells):
            per_cell = _per_cell(rows, r, sums=[own(name) for name in sums])
            front = _time(order_of_cells, times=times)
            if cells is not None and k >= cells:  # nobody can have more cells than there are
                return _added(per_cell, values=values, summed=summed)
            named_columns = ["p", "cell", "n", *sums]
            placed = with_point(per_cell, named_columns)
            with_h = select(*map(own, [*named_columns, "h"]), of=with_place(placed, limbs))
            if k > FARTHEST:
                first = _first(with_h, k, order=[*front, own("h"), own("cell")])
                kept = select(*map(own, named_columns), of=first)
                return _added(kept, values=values, summed=summed)
            together = in_order(with_h, by=[own("p"), *front, own("h"), own("cell")])
            too_many = less(num(limits(bounds)[MOST_IN_CELL]), own("n"))
            query = stream_totals(
                together,
                most=k,
                limit=limits(bounds)[MOST_ROWS],
                sums=sums,
                count=own("n"),
                wrong=[too_many],
                summed=summed,
            )
            return Bounded(query=query)
        case _:
            assert_never(bounds)


def _added(kept: exp.Select, *, values: int, summed: Summed) -> Bounded:
    """Return the sums of kept rows, by cell or by person and cell."""
    match summed:
        case Summed.CELLS:
            return Bounded(query=totals(values=values), kept=kept)
        case Summed.PERSONS:
            by = [own("p"), own("cell")]
            sums = [named(_huge(exp.Sum(this=own(name))), name) for name in ("n", *_sums(values))]
            return Bounded(query=select(*by, *sums, of=kept, by=by))
        case _:
            assert_never(summed)


def streamed(bounds: ContributionBounds) -> bool:
    """Return whether the first rows of each person are found in one streaming pass."""
    return isinstance(bounds, RowBound) and bounds.max_rows <= FARTHEST


def needs_order(bounds: ContributionBounds, *, values: int) -> bool:
    """Return whether bounding needs the keyed order of rows."""
    return isinstance(bounds, RowBound) or (isinstance(bounds, CellBound) and values > 0)


def totals(*, values: int) -> exp.Query:
    """Return (tag, ``cell``, ``n``, ``s0``, …) over the kept rows: the sums, and the guard."""
    kept = own_table(KEPT)
    sums = [named(_huge(exp.Sum(this=own(name))), name) for name in ("n", *_sums(values))]
    query: exp.Query = select(_tag(SUMS), own("cell"), *sums, of=kept, by=[own("cell")])
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
            return {MOST_ROWS: m, MOST_IN_CELL: 1, OUT_OF_ORDER: 0}
        case CellBound(max_cells=k, max_rows_per_cell=r):
            return {MOST_ROWS: k, MOST_IN_CELL: r, OUT_OF_ORDER: 0}
        case OneEvent():
            return {}
        case _:
            assert_never(bounds)


def _time(order: CellOrder, *, times: int) -> list[exp.Expr]:
    """Return what comes before the keyed order of cells: nothing, or the cell's time."""
    match order:
        case CellOrder.KEYED:
            return []
        case CellOrder.EARLIEST:
            return [rest(own("cell"), num(times))]
        case _:
            assert_never(order)


def _every_row(rows: exp.Select, *, sums: Sequence[str]) -> exp.Select:
    summed = [named(exp.Sum(this=own(name)), name) for name in sums]
    n = named(exp.Count(this=STAR), "n")
    return select(_tag(SUMS), own("cell"), n, *summed, of=rows, by=[own("cell")])


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
