"""Whether the cells of a published count add up to another count, and which cells they are.

Asked is a count Q over cells j; published is a count P over cells c, of the same table and data.
This finds disjoint public sets S(j) of cells of P with Q[j] = Σ P[c] over S(j), *for every* content
of the table, or refuses.  Coarser groups, a marginal, a total, a filter that takes whole cells.

*Lemma.*  Let a row match when it satisfies ``where`` and every axis has a value, and say that an
aggregate keeps m in all when a patient with n matching rows adds min(m, n) altogether.  Q = ΣP if

1. the rows that match Q are the rows that match P and lie in a cell of some S(j);
2. Q and P keep the same m in all;
3. all rows of a patient that match P lie in one S(j), or all in none.

For then a patient whose rows lie in S(j) has the same n in both, adds min(m, n) to Q[j], and adds
min(m, n) to the cells of S(j), whichever rows bounding kept; a patient whose rows lie in none adds
to neither.

*Who keeps m in all:* ``RowBound(m)`` does.  ``CellBound(k, r)`` keeps r where every axis is
constant per patient, as a patient then has one cell, and 1 where k = r = 1.  Any other
``CellBound(k, r)`` does not: its sum counts a patient once for each kept cell, which is *no* number
of patients, so it is refused.  With the event as privacy unit every row is kept and is alone in its
unit: 2 and 3 hold.  Counts by quality follow only from counts by the same qualities: it chooses
between rows that are equal in all columns.

*How 3 is made sure:* an axis that is constant per patient may be filtered and coarsened; any other
must be summed over whole.

*How 1 is made sure:* a cell of an axis is made of ranges of values of one expression
(:mod:`spans`).  Each condition of Q that P lacks must be true on all of such a
cell or false on all of it; each axis of Q must be constant on it; and values outside every cell,
the unknown one included, must be excluded by a condition or by an axis of Q.

*Privacy:* looks at public facts alone, and what it permits is a function of published numbers.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from confide.errors import ContractError
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_count
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.conditions.spans import Lack, Spans, cells_of, outside, truth_in, value_in
from confide.tables.expression import Expression, QualityOf
from confide.tables.filter import All, Everything, Predicate
from confide.tables.relation import constant_per_patient
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSums:
    """Which published cells add up to which asked ones.

    Attributes:
        offsets: For each axis of the published count, for each of its cells, what it adds to the
            place of the asked cell; None where the cell is left out.
        size: Number of asked cells.
    """

    offsets: tuple[tuple[int | None, ...], ...]
    size: int

    def places(self) -> Iterator[int | None]:
        """Yield for each published cell the asked cell that it is part of, or None."""
        for parts in itertools.product(*self.offsets):
            known = [part for part in parts if part is not None]
            yield sum(known) if len(known) == len(parts) else None

    def totals(self, values: Sequence[int]) -> tuple[int, ...]:
        """Return the sums of published numbers, one for each asked cell.

        Example:
            >>> CellSums(offsets=((0, 1, 1),), size=2).totals((5, 7, 9))
            (5, 16)
        """
        sums = [0] * self.size
        for place, value in zip(self.places(), values, strict=True):
            if place is not None:
                sums[place] += value
        return tuple(sums)

    def counts(self) -> tuple[int, ...]:
        """Return how many published cells each asked cell is the sum of."""
        found = [0] * self.size
        for place in self.places():
            if place is not None:
                found[place] += 1
        return tuple(found)


def cell_sums(asked: Aggregate, published: Aggregate, *, dataset: Dataset) -> CellSums:
    """Return the published cells whose sums are the asked count.

    Raises:
        ContractError: If they need not be, with the reason.
    """
    _require_same_kept(asked, published, dataset=dataset)
    conditions = _conjuncts(asked.relation.where)
    shared = _conjuncts(published.relation.where)
    if not set(shared) <= set(conditions):
        raise ContractError("it is about other rows")
    more = [part for part in conditions if part not in shared]
    spans = [
        cells_of(axis, table=published.relation.table, dataset=dataset) for axis in published.axes
    ]
    live = [_not_false(shared, cells, dataset=dataset) for cells in spans]
    taken = [list(cells) for cells in live]
    for condition in more:
        _take(condition, spans, live, taken, dataset=dataset)
    offsets = [[0] * len(cells) for cells in spans]
    for place, axis in enumerate(asked.axes):
        step = cell_count(asked.axes[place + 1 :], dataset=dataset)
        _place(axis, spans, taken, offsets, step=step, dataset=dataset)
    for place, axis in enumerate(published.axes):
        _require_covered(axis, asked, conditions, dataset=dataset)
        reached = {
            offsets[place][cell] if taken[place][cell] else None
            for cell, there in enumerate(live[place])
            if there
        }
        if len(reached) > 1 and not _fixed(axis, published, dataset=dataset):
            raise ContractError("a patient can be in several of its cells")
    return CellSums(
        offsets=tuple(
            tuple(offset if there else None for offset, there in zip(each, kept, strict=True))
            for each, kept in zip(offsets, taken, strict=True)
        ),
        size=cell_count(asked.axes, dataset=dataset),
    )


def _require_same_kept(asked: Aggregate, published: Aggregate, *, dataset: Dataset) -> None:
    """Condition 2 of the lemma."""
    if asked.relation.table != published.relation.table:
        raise ContractError("it is about another table")
    if asked.value != Ones() or published.value != Ones():
        raise ContractError("only counts add up")
    if _judged(asked) and _judged(asked) != _judged(published):
        raise ContractError("it keeps other rows of a patient")
    if isinstance(asked.bounds, OneEvent) and isinstance(published.bounds, OneEvent):
        return
    wanted, kept = (_kept(each, dataset=dataset) for each in (asked, published))
    if wanted is None or kept is None:
        raise ContractError("a patient counts once in each of several cells")
    if wanted != kept:
        raise ContractError("it keeps another number of rows of a patient")


def _judged(aggregate: Aggregate) -> set[Expression]:
    """Return the qualities that choose between rows that are equal otherwise."""
    return {axis for axis in aggregate.axes if isinstance(axis, QualityOf)}


def _kept(aggregate: Aggregate, *, dataset: Dataset) -> int | None:
    """Return m where a patient with n matching rows adds min(m, n) in all; else None."""
    match aggregate.bounds:
        case RowBound(max_rows=m):
            return m
        case CellBound(max_rows_per_cell=r) if all(
            _fixed(axis, aggregate, dataset=dataset) for axis in aggregate.axes
        ):
            return r
        case CellBound(max_cells=1, max_rows_per_cell=1):
            return 1
        case CellBound() | OneEvent():
            return None
        case _:
            assert_never(aggregate.bounds)


def _fixed(axis: Expression, aggregate: Aggregate, *, dataset: Dataset) -> bool:
    """Return whether all rows of a unit have the same value of the axis."""
    if isinstance(aggregate.bounds, OneEvent):
        return True
    return constant_per_patient(axis, table=aggregate.relation.table, dataset=dataset)


def _conjuncts(where: Predicate) -> tuple[Predicate, ...]:
    match where:
        case Everything():
            return ()
        case All(of=parts):
            return tuple(each for part in parts for each in _conjuncts(part))
        case _:
            return (where,)


def _not_false(
    conditions: Sequence[Predicate], cells: Sequence[Spans], *, dataset: Dataset
) -> list[bool]:
    """Return which cells can have rows at all."""
    return [
        bool(cell)
        and not any(truth_in(each, cell, dataset=dataset) is False for each in conditions)
        for cell in cells
    ]


def _take(
    condition: Predicate,
    spans: Sequence[Sequence[Spans]],
    live: Sequence[Sequence[bool]],
    taken: Sequence[list[bool]],
    *,
    dataset: Dataset,
) -> None:
    """Keep the cells of the axis that decides a condition for which it holds."""
    for cells, there, kept in zip(spans, live, taken, strict=True):
        truths = [
            truth_in(condition, cell, dataset=dataset) if alive else False
            for cell, alive in zip(cells, there, strict=True)
        ]
        if None not in truths:
            kept[:] = [had and bool(truth) for had, truth in zip(kept, truths, strict=True)]
            return
    raise ContractError("its cells do not say whether a condition holds")


def _place(
    axis: Expression,
    spans: Sequence[Sequence[Spans]],
    taken: Sequence[list[bool]],
    offsets: Sequence[list[int]],
    *,
    step: int,
    dataset: Dataset,
) -> None:
    """Add the place of an asked axis to the cells of the published axis that decides it."""
    for cells, kept, offset in zip(spans, taken, offsets, strict=True):
        places = [
            value_in(axis, cell, dataset=dataset) if there else Lack.UNKNOWN
            for cell, there in zip(cells, kept, strict=True)
        ]
        if Lack.OPEN not in places:
            for at, place in enumerate(places):
                if isinstance(place, Lack):
                    kept[at] = False
                else:
                    offset[at] += step * place
            return
    raise ContractError("its cells are not part of the groups that are asked for")


def _require_covered(
    axis: Expression, asked: Aggregate, conditions: Sequence[Predicate], *, dataset: Dataset
) -> None:
    """Refuse where a row outside every cell of an axis could match what is asked."""
    for span in outside(axis, table=asked.relation.table, dataset=dataset):
        dropped = any(truth_in(each, (span,), dataset=dataset) is False for each in conditions)
        empty = any(value_in(each, (span,), dataset=dataset) is Lack.UNKNOWN for each in asked.axes)
        if not dropped and not empty:
            raise ContractError("rows whose group is unknown or outside are in none of its cells")
