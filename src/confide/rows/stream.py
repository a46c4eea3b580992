"""Bounding in one streaming pass: the first m rows of each person of a stream that is in order.

A row is kept unless the row m places before it in the stream belongs to the same person.  In a
stream where each person's rows stand together, these are each person's first m rows, found with a
buffer of m persons: no hash table, no sort of its own.

*Lemma* (the guard).  If the person m places before is never greater than the person of the row,
nobody keeps more than m rows, whatever the stream.  Proof: the positions i, i + m, i + 2m, … of one
residue class modulo m hold persons in non-decreasing order, so a person's rows of that class stand
together, and all but the first are dropped: at most one kept row a class, and there are m classes.
So one lagged column both bounds and proves the bound: every query reports whether the person ever
decreased over m places, and an answer for which they did is refused.

*Privacy:* the guard does not rely on the order in which the engine hands over rows; a wrong order
refuses the answer, it never weakens the bound.  *Utility:* 1.1–1.5 times the query without privacy
over a prepared copy; the sort is what costs otherwise.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

from collections.abc import Sequence

from sqlglot import exp

from confide.rows.build import call, case, less, named, num, own, select, some

FARTHEST = 2_000
"""Most rows back that the engine can look without keeping the whole stream."""
OUT_OF_ORDER = 3
"""Tag of a cell in which the guard failed; nothing may carry it."""
SUMS = 0
"""Tag of a row of the result that holds the sums of one cell."""


def in_order(rows: exp.Select, *, by: Sequence[exp.Expr]) -> exp.Select:
    """Sort rows, so that each person's stand together in keyed order."""
    rows.set(
        "order", exp.Order(expressions=[exp.Ordered(this=key, nulls_first=True) for key in by])
    )
    return rows


def stream_totals(
    rows: exp.Select,
    *,
    most: int,
    sums: Sequence[str],
    count: exp.Expr | None = None,
    wrong: Sequence[exp.Expr] = (),
) -> exp.Select:
    """Return (tag, ``cell``, ``n``, sums) over the first ``most`` rows of each person.

    Args:
        rows: Rows in order, with ``p``, ``cell`` and the sums.
        most: How many rows of a person are kept, at most 2,000.
        sums: Columns to be summed.
        count: What a kept row counts; 1 when None.
        wrong: Further conditions on a kept row that refuse the answer.
    """
    p, cell, earlier = own("p"), own("cell"), own("earlier")
    lagged = exp.Window(this=exp.Lag(this=p, offset=num(most)))
    carried = [] if count is None else [count]
    columns = [p, cell, *carried, *map(own, sums), named(lagged, "earlier")]
    failed = case(
        (call("bool_or", some(less(p, earlier), *wrong)), num(OUT_OF_ORDER)), default=num(SUMS)
    )
    n = exp.Count(this=exp.Star()) if count is None else exp.Sum(this=count)
    return select(
        named(failed, "tag"),
        cell,
        named(n, "n"),
        *(named(exp.Sum(this=own(name)), name) for name in sums),
        of=select(*columns, of=rows),
        where=[exp.Paren(this=exp.NullSafeNEQ(this=earlier, expression=p))],
        by=[cell],
    )
