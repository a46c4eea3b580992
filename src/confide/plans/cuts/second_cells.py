"""Where the second round cuts: around the places to which the first noisy answer points.

With Ĉ(t) the noisy rows below edge t and N̂ all of them, the quantile q may lie wherever Ĉ(t) − qN̂
is within h of 0: what the noise of the first round, that of the second, and a part of what sampling
brings add up to.  Each such window, out to the next edge on either side, is cut into cells at equal
steps of half its mass and half its length.  What lies outside all windows is one cell each.

Groups that are to add up have the same cells: equal steps of the mean, over the groups and all of
them together, of what each one's own window would be cut by.  So groups that are alike lose
nothing, and one of few rows, whose window is everywhere, takes a part of the cells and no more.

*Privacy:* post-processing of the first noisy answer.
*Numbers:* sums, products, quotients and square roots of floats, which every machine rounds alike,
so that whoever verifies finds the same edges; no exponential, which libraries round differently.
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from confide.noise.mechanism import NoiseLaw
from confide.plans.cuts.layout import CellLayout, deviation, layout
from confide.plans.estimation.cumulative import monotone
from confide.tables.aggregates.refined import AskCells
from confide.tables.aggregates.shapes import Refined
from confide.tables.schema import Dataset

_WIDE, _SPREAD, _SAMPLED = 1.64, 2.0, 0.3 * 1.96**2


def next_cells(
    aggregate: Refined,
    noisy: Sequence[int],
    *,
    mechanism: NoiseLaw,
    dataset: Dataset,
) -> AskCells | None:
    """Return what is asked after these noisy answers, or None where all has been asked."""
    plan, groups = layout(aggregate, mechanism), aggregate.groups(dataset)
    if not noisy:
        edges = (aggregate.whole(plan.rough),) * groups
        return AskCells(edges=edges, length=plan.first, weight=plan.weights[0])
    if not plan.cuts or len(noisy) > groups * plan.first:
        return None
    found = fine_edges(
        by_group(noisy, width=plan.first), plan=plan, aggregate=aggregate, mechanism=mechanism
    )
    return AskCells(
        edges=tuple(map(aggregate.whole, found)), length=plan.length, weight=plan.weights[1]
    )


def cells_asked(
    aggregate: Refined,
    *,
    mechanism: NoiseLaw,
    dataset: Dataset,
) -> tuple[int, ...]:
    """Return how many numbers each of both answers has; of one answer, where there is no second."""
    plan, groups = layout(aggregate, mechanism), aggregate.groups(dataset)
    return tuple(filter(None, (groups * plan.first, groups * plan.length)))


def by_group(noisy: Sequence[int], *, width: int) -> list[Sequence[int]]:
    """Return the numbers of each group."""
    return [noisy[start : start + width] for start in range(0, len(noisy), width)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """Noisy ranks of the first round, of one group or of several together.

    Attributes:
        below: Noisy rows below each edge.
        noise: Standard deviation of a count in the first round and in the second, in rows.
    """

    below: tuple[float, ...]
    noise: tuple[float, float]

    def together(self, other: "_Column") -> "_Column":
        pairs = zip(self.below, other.below, strict=True)
        first, second = zip(self.noise, other.noise, strict=True)
        return _Column(
            below=tuple(a + b for a, b in pairs),
            noise=(_root(first), _root(second)),
        )


def _root(deviations: tuple[float, float]) -> float:
    a, b = deviations
    return math.sqrt(a * a + b * b)


def fine_edges(
    firsts: Sequence[Sequence[int]],
    *,
    plan: CellLayout,
    aggregate: Refined,
    mechanism: NoiseLaw,
) -> list[tuple[int, ...]]:
    """Return the edges of the second round of each group, as places on the fine grid.

    Args:
        firsts: Noisy counts of the first round, group by group; unknown values last.
        plan: Which cells are asked for.
        aggregate: What is asked.
        mechanism: The noise.
    """
    a, b = plan.weights
    noise, known = deviation(mechanism), len(plan.rough) - 1
    columns = [
        _Column(
            below=tuple(each / a for each in (0, *itertools.accumulate(first[:known]))),
            noise=(noise / a, noise / b),
        )
        for first in firsts
    ]
    if not aggregate.alike:
        return [_edges([column], plan=plan, at=aggregate.at) for column in columns]
    if len(columns) > 1:
        columns.append(functools.reduce(_Column.together, columns))
    return [_edges(columns, plan=plan, at=aggregate.at)] * len(firsts)


def _edges(
    columns: Sequence[_Column], *, plan: CellLayout, at: Sequence[Fraction]
) -> tuple[int, ...]:
    """Return the edges of the second round that serve all columns."""
    rising = [monotone(column.below) for column in columns]
    ends = {plan.rough[0], plan.rough[-1]}
    for q in map(float, at):
        windows = [
            (
                *_window(
                    column.below,
                    q=q,
                    first=column.noise[0],
                    second=column.noise[1],
                    cells=plan.wanted,
                ),
                mass,
            )
            for column, mass in zip(columns, rising, strict=True)
        ]
        ends.update(_cut(plan.rough, windows, cells=plan.cuts))
    return tuple(sorted(ends))


def window_reach(first: float, *, second: float, cells: int, rows: float, q: float) -> float:
    """Return within how many ranks of an edge a quantile is sought.

    Args:
        first: Standard deviation of the edge's rank in the first round.
        second: That of a count in the second round, in rows.
        cells: Of the second round.
        rows: Of the group.
        q: Which quantile.
    """
    sampled = _SAMPLED * max(rows, 0.0) * q * (1 - q)
    return math.sqrt((_WIDE * first) ** 2 + (_SPREAD * second) ** 2 * cells / 4 + sampled)


def _window(
    below: Sequence[float], *, q: float, first: float, second: float, cells: int
) -> tuple[int, int]:
    """Return the first and the last edge between which the quantile is sought."""
    last, rows = len(below) - 1, below[-1]

    def reach(t: int) -> float:
        rank = first * math.sqrt(t * (1 - q) * (1 - q) + (last - t) * q * q)
        return window_reach(rank, second=second, cells=cells, rows=rows, q=q)

    gaps = [each - q * rows for each in below]
    low = next((t for t in range(last + 1) if gaps[t] >= -reach(t)), last)
    high = next((t for t in range(last, -1, -1) if gaps[t] <= reach(t)), 0)
    low, high = max(0, min(low, high + 1) - 1), min(last, max(high, low - 1) + 1)
    return low, high


_Window: TypeAlias = tuple[int, int, Sequence[float]]
"""First and last edge of a window, and the rising rows below every edge."""


def _cut(edges: Sequence[int], windows: Sequence[_Window], *, cells: int) -> list[int]:
    """Return places at equal steps of the mean of the windows' shares, from the first to the last.

    A window's share is half its mass and half its length.
    """
    low, high = min(start for start, _, _ in windows), max(end for _, end, _ in windows)
    start, end = edges[low], edges[high]
    if end - start <= cells:
        return list(range(start, end + 1))
    each = [_shares(edges, window, low=low, high=high) for window in windows]
    shares = [math.fsum(parts) / len(each) for parts in zip(*each, strict=True)]
    found, t = [start], 0
    for step in range(1, cells):
        wanted = step / cells
        while shares[t + 1] < wanted:
            t += 1
        within = (wanted - shares[t]) / (shares[t + 1] - shares[t])
        from_, to = edges[low + t], edges[low + t + 1]
        found.append(from_ + math.floor((to - from_) * within + 0.5))
    return [*found, end]


def _shares(edges: Sequence[int], window: _Window, *, low: int, high: int) -> list[float]:
    """Return which share of a window is below each edge, from 0 to 1."""
    first, last, rising = window
    start, end = edges[first], edges[last]
    length, mass = float(end - start), rising[last] - rising[first]
    inside = [
        (edges[t] - start) / length / 2
        + ((rising[t] - rising[first]) / mass if mass > 0 else (edges[t] - start) / length) / 2
        for t in range(first, last + 1)
    ]
    return [0.0] * (first - low) + inside + [1.0] * (high - last)
