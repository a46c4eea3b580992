"""Where the second round cuts: around the places to which the first noisy answer points.

With Ĉ(t) the noisy rows below edge t and N̂ all of them, the quantile q may lie wherever Ĉ(t) − qN̂
is within h of 0: what the noise of the first round, that of the second, and a part of what sampling
brings add up to.  Each such window, out to the next edge on either side, is cut into cells at equal
steps of half its mass and half its length.  What lies outside all windows is one cell each.

*Privacy:* post-processing of the first noisy answer.
*Numbers:* sums, products, quotients and square roots of floats, which every machine rounds alike,
so that whoever verifies finds the same edges; no exponential, which libraries round differently.
"""

import itertools
import math
from collections.abc import Sequence

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
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
    mechanism: DiscreteLaplace | DiscreteGaussian,
    dataset: Dataset,
) -> AskCells | None:
    """Return what is asked after these noisy answers, or None where all has been asked."""
    plan, groups = layout(aggregate, mechanism), aggregate.groups(dataset)
    if not noisy:
        return AskCells(edges=(plan.rough,) * groups, length=plan.first, weight=plan.weights[0])
    if not plan.cuts or len(noisy) > groups * plan.first:
        return None
    return AskCells(
        edges=tuple(
            fine_edges(first, plan=plan, aggregate=aggregate, mechanism=mechanism)
            for first in by_group(noisy, width=plan.first)
        ),
        length=plan.length,
        weight=plan.weights[1],
    )


def cells_asked(
    aggregate: Refined,
    *,
    mechanism: DiscreteLaplace | DiscreteGaussian,
    dataset: Dataset,
) -> int:
    """Return how many numbers both answers have together."""
    plan = layout(aggregate, mechanism)
    return aggregate.groups(dataset) * (plan.first + plan.length)


def by_group(noisy: Sequence[int], *, width: int) -> list[Sequence[int]]:
    """Return the numbers of each group."""
    return [noisy[start : start + width] for start in range(0, len(noisy), width)]


def fine_edges(
    first: Sequence[int],
    *,
    plan: CellLayout,
    aggregate: Refined,
    mechanism: DiscreteLaplace | DiscreteGaussian,
) -> tuple[int, ...]:
    """Return the edges of the second round of one group, as places on the fine grid.

    Args:
        first: Its noisy counts of the first round.
        plan: Which cells are asked for.
        aggregate: What is asked.
        mechanism: The noise.
    """
    a, b = plan.weights
    noise = deviation(mechanism)
    below = [each / a for each in (0, *itertools.accumulate(first))]
    rising = monotone(below)
    ends = {plan.rough[0], plan.rough[-1]}
    for q in map(float, aggregate.at):
        low, high = _window(below, q=q, first=noise / a, second=noise / b, cells=plan.wanted)
        ends.update(_cut(plan.rough, rising, low=low, high=high, cells=plan.cuts))
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


def _cut(
    edges: Sequence[int], rising: Sequence[float], *, low: int, high: int, cells: int
) -> list[int]:
    """Return places at equal steps of half the mass and half the length between two edges."""
    start, end = edges[low], edges[high]
    if end - start <= cells:
        return list(range(start, end + 1))
    length, mass = float(end - start), rising[high] - rising[low]
    shares = [
        (edges[t] - start) / length / 2
        + ((rising[t] - rising[low]) / mass if mass > 0 else (edges[t] - start) / length) / 2
        for t in range(low, high + 1)
    ]
    found, t = [start], 0
    for step in range(1, cells):
        wanted = step / cells
        while shares[t + 1] < wanted:
            t += 1
        within = (wanted - shares[t]) / (shares[t + 1] - shares[t])
        from_, to = edges[low + t], edges[low + t + 1]
        found.append(from_ + math.floor((to - from_) * within + 0.5))
    return [*found, end]
