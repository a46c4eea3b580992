"""Contribution bounding in SQL: which rows of a person are kept, before anything is summed.

Input: rows with ``p`` the person, ``cell`` the public cell (or the secret key) and ``s0, s1, …``
the values; output: (tag, cell, kept rows, sums), where a tag above 0 reports the guard.

- ``RowBound(m)``: the first m rows of a person in the keyed order of rows, ties by the declared
  columns: one stream over a prepared copy, or over rows sorted for it;
- ``CellBound(k, r)``: the first r rows of a cell in the same order, then the first k cells in the
  keyed order of (person, cell), or the earliest k.  With r = 1 that is one stream over rows sorted
  by person and cell; else rows are summed per person and cell.  Without values the rows of a cell
  need no order: least(count, r);
- ``OneEvent``: every row.

*Privacy:* the bound is applied to the rows that are summed: after the filter (a bound before it is
stale) and before the sum (a bound after it clips totals, not people).  The same query counts what
each person kept, and the engine refuses the answer should anyone keep more than the bound.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from confide.rows.cells.build import (
    BIGINT,
    HUGEINT,
    NULL,
    STAR,
    at_most,
    bit_and,
    call,
    case,
    cast,
    less,
    named,
    num,
    own,
    own_table,
    plus,
    ranked,
    rest,
    select,
    shifted_right,
    some,
    times,
)
from confide.rows.cells.keyed_order import LIMB, MASK, with_place
from confide.rows.cells.stream import (
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
        counted: The same rows, without naming them twice.
    """

    query: exp.Query
    kept: exp.Select | None = None
    counted: exp.Query | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """What the cells of rows are.

    Attributes:
        number: Of public cells; None when they are secret keys.
        times: Cells of the last axis, by which the earliest cells come first.
        limbs: The cell as limbs, for its place in the keyed order.
        beside: Columns that the limbs and the place need: ``x``, the person's point, and others
            that are equal in all rows of a person and cell.
        packed: Whether ``p`` is below 2³¹, so that what orders the cells fits beside it.
    """

    number: int | None
    times: int
    limbs: tuple[exp.Expr, ...]
    beside: tuple[str, ...]
    packed: bool


def bounded_totals(
    rows: exp.Select,
    *,
    bounds: ContributionBounds,
    values: int,
    order: Sequence[exp.Expr],
    cells: Cells,
    late: Late | None,
    summed: Summed = Summed.CELLS,
    streams: bool = True,
) -> Bounded:
    """Return the sums over what each person keeps.

    Args:
        rows: Rows with ``p``, ``cell``, ``s0, …``, ``h`` where :func:`needs_order` says so, and
            what is beside the cell where :func:`needs_place` says so.
        bounds: What one privacy unit keeps.
        values: Number of values.
        order: What orders a person's rows; empty when they come in order.
        cells: What the cells are.
        late: Makes ``cell`` and values of the rows that a stream keeps; None: the rows have them.
        summed: By cell, or by person and cell.
        streams: Whether the engine hands rows on in the order in which they were sorted.
    """
    sums = _sums(values)
    match bounds:
        case OneEvent():
            return Bounded(query=_every_row(rows, sums=sums))
        case RowBound(max_rows=m) if streams and streamed(bounds):
            together = in_order(rows, by=[own("p"), *order]) if order else rows
            most = limits(bounds)[MOST_ROWS]
            query = stream_totals(together, most=m, limit=most, sums=sums, late=late, summed=summed)
            return Bounded(query=query)
        case RowBound(max_rows=m):
            one = named(num(1), "n")
            first = _first(rows, m, order=order or [own("h")])
            kept = select(own("p"), own("cell"), one, *map(own, sums), of=first)
            return _added(kept, bounds=bounds, values=values, summed=summed)
        case CellBound() if streams and in_one_pass(bounds):
            return Bounded(query=_first_cells(rows, bounds, sums=sums, cells=cells, summed=summed))
        case CellBound():
            return _summed_cells(
                rows, bounds, sums=sums, cells=cells, summed=summed, streams=streams
            )
        case _:
            assert_never(bounds)


def _added(kept: exp.Select, *, bounds: ContributionBounds, values: int, summed: Summed) -> Bounded:
    """Return the sums of kept rows, by cell or by person and cell."""
    match summed:
        case Summed.CELLS:
            counted = counted_totals(kept, bounds=bounds, values=values)
            return Bounded(query=totals(values=values), kept=kept, counted=counted)
        case Summed.PERSONS:
            by = [own("p"), own("cell")]
            sums = [named(_huge(exp.Sum(this=own(name))), name) for name in ("n", *_sums(values))]
            return Bounded(query=select(*by, *sums, of=kept, by=by))
        case _:
            assert_never(summed)


def in_one_pass(bounds: CellBound) -> bool:
    """Return whether the first row of each of a person's cells is found in one sort and pass."""
    return bounds.max_rows_per_cell == 1 and bounds.max_cells <= FARTHEST


def needs_place(bounds: ContributionBounds, *, number: int | None, times: int) -> bool:
    """Return whether bounding needs the keyed order of cells: not where time orders them all."""
    if not isinstance(bounds, CellBound) or _holds_all(bounds, number=number):
        return False
    return bounds.order is CellOrder.KEYED or times != number


def _holds_all(bounds: CellBound, *, number: int | None) -> bool:
    """Return whether nobody can have more cells than are kept."""
    return number is not None and bounds.max_cells >= number


def _first_cells(
    rows: exp.Select, bounds: CellBound, *, sums: Sequence[str], cells: Cells, summed: Summed
) -> exp.Select:
    """Return the sums over the first row of each of the first cells of a person."""
    ahead = _ahead(bounds, cells=cells)
    parts = [own("p"), *ahead, *([own("h")] if sums else [])]
    if cells.packed:
        keys, p = _in_pairs(parts), shifted_right(own("a0"), LIMB)
        place, below = len(ahead) // 2, len(ahead) % 2 == 1  # of the cell: its pair, and where
        cell: exp.Expr = own(f"a{place}")
        if below:
            cell = bit_and(cell, num(MASK))
        elif sums:  # the row's place is below it
            cell = shifted_right(cell, LIMB)
    else:
        keys, p, cell, place, below = parts, own("a0"), own(f"a{len(ahead)}"), len(ahead), False
    names = [f"a{i}" for i in range(len(keys))]
    keyed = select(
        *(named(key, name) for key, name in zip(keys, names, strict=True)),
        *map(own, sums),
        of=_placed(rows, bounds, cells=cells),
    )
    kept = list(map(own, [*names, *sums]))
    together = in_order(select(*kept, of=keyed), by=kept)
    everything = _holds_all(bounds, number=cells.number)
    return stream_totals(
        select(named(p, "p"), named(cell, "cell"), *kept, of=together),
        most=None if everything else bounds.max_cells,
        limit=limits(bounds)[MOST_ROWS],
        sums=sums,
        apart=names[: place + 1] if below else [*names[:place], "cell"],
        summed=summed,
    )


def _in_pairs(parts: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return numbers below 2³¹ two by two in one, the first above: fewer keys to sort by."""
    pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
    return [
        plus(times(cast(above, BIGINT), num(1 << LIMB)), below[0]) if below else above
        for above, *below in pairs
    ]


def _summed_cells(
    rows: exp.Select,
    bounds: CellBound,
    *,
    sums: Sequence[str],
    cells: Cells,
    summed: Summed,
    streams: bool,
) -> Bounded:
    """Return the sums over the first cells of a person, whose first rows are summed before."""
    k, values = bounds.max_cells, len(sums)
    beside = cells.beside if needs_place(bounds, number=cells.number, times=cells.times) else ()
    per_cell = _per_cell(rows, bounds.max_rows_per_cell, sums=sums, beside=beside)
    columns = list(map(own, ["p", "cell", "n", *sums]))
    if _holds_all(bounds, number=cells.number):
        return _added(per_cell, bounds=bounds, values=values, summed=summed)
    by = _ahead(bounds, cells=cells)
    placed = _placed(per_cell, bounds, cells=cells)
    if k > FARTHEST or not streams:
        kept = select(*columns, of=_first(placed, k, order=by))
        return _added(kept, bounds=bounds, values=values, summed=summed)
    together = in_order(select(*columns, of=placed), by=[own("p"), *by])
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


def _placed(rows: exp.Select, bounds: CellBound, *, cells: Cells) -> exp.Select:
    """Add ``g``, the place of each cell in the keyed order, where it is needed."""
    if not needs_place(bounds, number=cells.number, times=cells.times):
        return rows
    return with_place(rows, cells.limbs, name="g")


def _ahead(bounds: CellBound, *, cells: Cells) -> list[exp.Expr]:
    """Return what orders the cells of a person, at last the cell itself; each is below 2³¹."""
    if not needs_place(bounds, number=cells.number, times=cells.times):
        return [own("cell")]
    match bounds.order:
        case CellOrder.KEYED:
            return [own("g"), own("cell")]
        case CellOrder.EARLIEST:
            return [rest(own("cell"), num(cells.times)), own("g"), own("cell")]
        case _:
            assert_never(bounds.order)


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


def counted_totals(kept: exp.Select, *, bounds: ContributionBounds, values: int) -> exp.Select:
    """Return :func:`totals` in one pass: what a person kept is counted beside each kept row.

    For engines that work out kept rows once for each time that they are named.  The guard is as
    strong: it counts the rows that are summed, by person, whichever query chose them.
    """
    there = "kept of a person"
    count = exp.Window(this=exp.Count(this=STAR), partition_by=[own("p")])
    rows = select(STAR, named(count, there), of=kept)
    most = limits(bounds)
    wrong = some(less(num(most[MOST_ROWS]), own(there)), less(num(most[MOST_IN_CELL]), own("n")))
    tag = case((call("bool_or", wrong), num(OUT_OF_ORDER)), default=num(SUMS))
    sums = [named(_huge(exp.Sum(this=own(name))), name) for name in ("n", *_sums(values))]
    return select(named(tag, "tag"), own("cell"), *sums, of=rows, by=[own("cell")])


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


def _every_row(rows: exp.Select, *, sums: Sequence[str]) -> exp.Select:
    summed = [named(exp.Sum(this=own(name)), name) for name in sums]
    n = named(exp.Count(this=STAR), "n")
    return select(_tag(SUMS), own("cell"), n, *summed, of=rows, by=[own("cell")])


def _first(
    rows: exp.Select, most: int, *, order: Sequence[exp.Expr], by: tuple[str, ...] = ("p",)
) -> exp.Select:
    numbered = select(STAR, ranked(order, by=by), of=rows)
    return select(STAR, of=numbered, where=[at_most(own("rk"), num(most))])


def _per_cell(
    rows: exp.Select, most: int, *, sums: Sequence[str], beside: Sequence[str]
) -> exp.Select:
    count: exp.Expr = exp.Count(this=STAR)
    if sums:
        rows = _first(rows, most, order=[own("h"), *map(own, sums)], by=("p", "cell"))
    else:
        count = call("least", count, num(most))
    summed = [named(exp.Sum(this=own(name)), name) for name in sums]
    equal_in_all = [named(exp.Max(this=own(name)), name) for name in beside]
    key = [own("p"), own("cell")]
    return select(*key, named(count, "n"), *summed, *equal_in_all, of=rows, by=key)


def _sums(values: int) -> list[str]:
    return [f"s{i}" for i in range(values)]


def _tag(tag: int) -> exp.Expr:
    return named(num(tag), "tag")


def _huge(value: exp.Expr) -> exp.Expr:
    return cast(value, HUGEINT)
