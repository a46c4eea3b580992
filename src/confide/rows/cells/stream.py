"""Bounding in one streaming pass: the first m rows of each person of a stream that is in order.

A row is kept unless the row m places before it in the stream belongs to the same person.  In a
stream where each person's rows stand together, these are each person's first m rows, found with a
buffer of m persons: no hash table, no sort of its own.

*Lemma* (the guard).  If, among the kept rows, the person m places before is always less than the
person of the row, then nobody keeps more than m rows, however the rows were chosen and whatever
their order.  Proof: the positions i, i + m, i + 2m, … of one residue class modulo m hold persons in
increasing order, so each person at most once, and there are m classes.  So a second lagged column,
over what was kept and with the m of the sensitivity, proves the bound in the same pass; an answer
for which it fails is refused.

*Cells.*  Where a person keeps k cells and one row in each, rows are in the order of (person, what
orders the cells, cell), a row is kept unless the one before is of the same person and cell, and
then as above, rows being cells.  The guard asks besides that (person, what orders the cells, cell)
increases strictly over what was kept.  What orders the cells is a function of person and cell, so
no cell of a person comes twice; by the lemma nobody has more than m.

*Privacy:* the guard relies neither on the order in which the engine hands over rows nor on the
query that bounds them; what is wrong refuses the answer, it never weakens the bound.
*Utility:* 1.1–1.5 times the query without privacy over a prepared copy; the sort is what costs
otherwise.

References:
    [WZL20] Wilson et al. Differentially private SQL with bounded user contribution. PETS 2020.
        https://doi.org/10.2478/popets-2020-0025
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from confide.rows.cells.build import (
    at_most,
    call,
    case,
    equal,
    every,
    less,
    named,
    num,
    own,
    select,
    some,
)

FARTHEST = 2_000
"""Most rows back that the engine can look without keeping the whole stream."""
OUT_OF_ORDER = 3
"""Tag of a cell in which somebody kept too much; nothing may carry it."""
SUMS = 0
"""Tag of a row of the result that holds the sums of one cell."""


class Summed(enum.Enum):
    """By what kept rows are added up."""

    CELLS = "cells"
    """Rows (tag, ``cell``, ``n``, sums): the answer with its guard."""
    PERSONS = "persons and cells"
    """Rows (``p``, ``cell``, ``n``, sums): what each person adds; guarded once it is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """What a stream carries, when cell and values are made of the rows that are kept alone.

    Attributes:
        carried: Columns of the rows.
        evaluated: Makes ``cell`` and the sums of them, keeping ``p`` and ``before``.
    """

    carried: tuple[str, ...]
    evaluated: Callable[[exp.Select], exp.Select]


def in_order(rows: exp.Select, *, by: Sequence[exp.Expr]) -> exp.Select:
    """Sort rows, so that each person's stand together in keyed order."""
    rows.set(
        "order", exp.Order(expressions=[exp.Ordered(this=key, nulls_first=True) for key in by])
    )
    return rows


def stream_totals(  # noqa: PLR0913 — a stream has as many parts
    rows: exp.Select,
    *,
    most: int | None,
    limit: int | None,
    sums: Sequence[str],
    late: Late | None = None,
    count: exp.Expr | None = None,
    wrong: Sequence[exp.Expr] = (),
    apart: Sequence[str] = (),
    summed: Summed = Summed.CELLS,
) -> exp.Select:
    """Return (tag, ``cell``, ``n``, sums) over the first ``most`` rows of each person.

    Args:
        rows: Rows in order, with ``p`` and what is carried.
        most: How many rows of a person are kept, at most 2,000; None: all that come.
        limit: How many may have been kept, by the sensitivity; nothing else depends on it.  None
            where ``apart`` alone bounds them.
        sums: Columns to be summed.
        late: Makes ``cell`` and the sums of the rows that are kept; None: the rows have them.
        count: What a kept row counts; 1 when None.
        wrong: Further conditions on a kept row that refuse the answer.
        apart: Columns by which the rows are in order, and which differ between any two cells of
            any two persons; of the rows that agree in them the first is kept.
        summed: By what they are added up.
    """
    p, cell = own("p"), own("cell")
    counted = [] if count is None else [count]
    names = ("cell", *sums) if late is None else late.carried
    columns = [p, *counted, *map(own, dict.fromkeys((*apart, *names)))]
    kept = _first_of_each(rows, columns, apart) if apart else rows
    if most is not None:
        stream = select(*columns, named(_lagged(p, most), "earlier"), of=kept)
        kept = select(*columns, of=stream, where=[_differs(p, own("earlier"))])
    before = [] if limit is None else [named(_lagged(p, limit), "before")]
    guarded = select(*columns, *before, *_last(apart), of=kept)
    if late is not None:
        guarded = late.evaluated(guarded)
    again = [] if limit is None else [at_most(p, own("before"))]
    if apart:
        again.append(_not_after(apart))
    n = exp.Count(this=exp.Star()) if count is None else exp.Sum(this=count)
    added = [named(n, "n"), *(named(exp.Sum(this=own(name)), name) for name in sums)]
    match summed:
        case Summed.PERSONS:
            return select(p, cell, *added, of=guarded, by=[p, cell])
        case Summed.CELLS:
            failed = call("bool_or", some(*again, *wrong))
            tag = named(case((failed, num(OUT_OF_ORDER)), default=num(SUMS)), "tag")
            return select(tag, cell, *added, of=guarded, by=[cell])
        case _:
            assert_never(summed)


def _first_of_each(
    rows: exp.Select, columns: Sequence[exp.Expr], apart: Sequence[str]
) -> exp.Select:
    """Keep the first of the rows that stand together and agree in ``apart``."""
    stream = select(*columns, *_last(apart), of=rows)
    return select(
        *columns, of=stream, where=[some(*(_differs(own(a), _of_last(a)) for a in apart))]
    )


def _not_after(apart: Sequence[str]) -> exp.Expr:
    """Return whether a row comes before the last one or agrees with it, column by column."""
    *front, end = apart
    found = at_most(own(end), _of_last(end))
    for name in reversed(front):
        here, last = own(name), _of_last(name)
        found = some(less(here, last), every(equal(here, last), found))
    return found


def _last(columns: Sequence[str]) -> list[exp.Expr]:
    return [named(_lagged(own(name), 1), f"last {name}") for name in columns]


def _of_last(name: str) -> exp.Expr:
    return own(f"last {name}")


def _differs(one: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.NullSafeNEQ(this=one, expression=other))


def _lagged(column: exp.Expr, places: int) -> exp.Expr:
    return exp.Window(this=exp.Lag(this=column, offset=num(places)))
