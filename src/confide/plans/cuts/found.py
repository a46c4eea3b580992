"""What the noisy counts of both rounds say of a quantile: the point, and an interval by ranks.

*Lemma:* each round gives an interval by inverting ranks outwards (:mod:`.cumulative`), which misses
with at most 1 − its level, whatever the shape: the second given its edges, so also with edges that
follow from the first.  That of the second round is taken at a level ℓ + (1 − ℓ)/10 and cut with
that of the first at 1 − (1 − ℓ)/10: both hold with ℓ at least.  ∎

*Utility:* inside a cell of the second round the quantile is placed by the mass that the first one
has there.

*Privacy:* post-processing.
"""

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.noise.mechanism import NoiseLaw
from confide.plans.cuts.layout import CellLayout, layout
from confide.plans.cuts.second_cells import by_group, fine_edges, window_reach
from confide.plans.estimation.cumulative import Ranked, monotone, rank_widths
from confide.plans.estimation.intervals import Component, noise_component
from confide.tables.aggregates.shapes import Refined

_FIRST = 0.1  # of the chance to miss
_MASS = 0.9  # of the place inside a cell; the rest is its length


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundCounts:
    """Noisy counts of one group in one round.

    Attributes:
        edges: Of its cells, in canonical integers.
        counts: One for each.
        weight: What a row adds.
        upper: Greatest value.
        missing: Count of unknown values; 0 where they are not kept.
    """

    edges: Sequence[int]
    counts: Sequence[int]
    weight: int
    upper: int
    missing: int = 0

    def ranked(self, noise: NoiseLaw, *, q: float, level: float) -> Ranked:
        """Return its ranks for a quantile."""
        return Ranked(
            cumulative=(0, *itertools.accumulate(self.counts)),
            edges=self.edges,
            upper=self.upper,
            widths=rank_widths(noise, cells=len(self.counts), q=q, level=level),
            q=q,
            weight=self.weight,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """Noisy counts of one group.

    Attributes:
        first: In public cells.
        second: In the cells that follow from them; None where one round was enough.
        even: Edges of the first round between which bars are drawn.
    """

    first: RoundCounts
    even: Sequence[int]
    second: RoundCounts | None = None

    @property
    def last(self) -> RoundCounts:
        """The counts that quantiles are read from."""
        return self.second or self.first

    @property
    def rows(self) -> float:
        """All rows."""
        return sum(self.last.counts) / self.last.weight

    def least(self, noise: NoiseLaw) -> float:
        """Return the rows below which nothing stands out from the noise of all cells."""
        last = self.last
        return max(10 * math.sqrt(noise.variance() * len(last.counts)) / last.weight, 1)

    def bars(self) -> list[tuple[int, int, float]]:
        """Return where each bar of the distribution begins and ends, and its noisy rows."""
        below = dict(
            zip(self.first.edges, (0, *itertools.accumulate(self.first.counts)), strict=True)
        )
        return [
            (low, high, (below[high] - below[low]) / self.first.weight)
            for low, high in itertools.pairwise(self.even)
        ]

    def located(
        self,
        q: float,
        *,
        noise: NoiseLaw,
        sampled: bool,
        level: float,
    ) -> tuple[int, int, int]:
        """Return a quantile and the ends of its interval, within which it is kept."""
        if self.second is None:
            ranked = self.first.ranked(noise, q=q, level=level)
            return ranked.located(sampled=sampled, level=level)
        levels = levels_of_rounds(level)
        return located_in_both(
            self.first.ranked(noise, q=q, level=levels[0]),
            self.second.ranked(noise, q=q, level=levels[1]),
            sampled=sampled,
            level=level,
        )


def ranks_together(
    rounds: Sequence[RoundCounts],
    noise: NoiseLaw,
    *,
    q: float,
    level: float,
) -> Ranked:
    """Return the ranks of groups that were counted in the same cells, all together."""
    one, groups = rounds[0], len(rounds)
    counts = [sum(each) for each in zip(*(each.counts for each in rounds), strict=True)]
    widths = rank_widths(noise, cells=groups * len(counts), q=q, level=level)
    return Ranked(
        cumulative=(0, *itertools.accumulate(counts)),
        edges=one.edges,
        upper=one.upper,
        widths=widths[::groups],
        q=q,
        weight=one.weight,
    )


def levels_of_rounds(level: float) -> tuple[float, float]:
    """Return at which levels the first and the second round are within their widths."""
    apart = (1 - level) * _FIRST
    return 1 - apart, level + apart


def located_in_both(
    rough: Ranked, fine: Ranked, *, sampled: bool, level: float
) -> tuple[int, int, int]:
    """Return a quantile and the ends of its interval, in which it is kept, from both rounds.

    Args:
        rough: Ranks of the first round, with widths at the first of :func:`levels_of_rounds`.
        fine: Those of the second, at the other.
        sampled: Whether the interval covers other samples of the population too.
        level: Coverage.
    """
    levels = levels_of_rounds(level)
    low, high = fine.interval(sampled=sampled, level=levels[1])
    wide = rough.interval(sampled=sampled, level=levels[0])
    if max(low, wide[0]) <= min(high, wide[1]):
        low, high = max(low, wide[0]), min(high, wide[1])
    else:  # one of them misses, nobody knows which
        low, high = min(low, wide[0]), max(high, wide[1])
    return min(max(_point(rough, fine), low), high), low, high


def _point(rough: Ranked, fine: Ranked) -> int:
    cell, share = fine.cell()
    first, last = fine.first(cell), fine.last(cell)
    if first == last:
        return first
    mass = _Mass(edges=rough.edges, rising=monotone(rough.cumulative))
    start, end = mass.below(first), mass.below(last + 1)
    values = last - first + 1

    def reached(value: int) -> float:  # the part of the cell up to and with a value
        even = (value - first + 1) / values
        if end <= start:
            return even
        return _MASS * (mass.below(value + 1) - start) / (end - start) + (1 - _MASS) * even

    return first + bisect.bisect_left(
        range(values - 1), share, key=lambda step: reached(first + step)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mass:
    """Rising noisy counts below edges."""

    edges: Sequence[int]
    rising: Sequence[float]

    def below(self, value: int) -> float:
        """Return the rows below a value, evenly spread over each cell."""
        cell = min(max(bisect.bisect_right(self.edges, value) - 1, 0), len(self.edges) - 2)
        low, high = self.edges[cell], self.edges[cell + 1]
        share = (value - low) / (high - low)
        return self.rising[cell] + (self.rising[cell + 1] - self.rising[cell]) * share


def two_rounds(
    aggregate: Refined,
    noisy: Sequence[int],
    *,
    mechanism: NoiseLaw,
    groups: int,
) -> tuple[Rounds, ...]:
    """Return the noisy counts of each group with the cells that they are of."""
    plan, grid = layout(aggregate, mechanism), aggregate.edges
    even = [grid[place] for place in plan.even]

    def counts(places: Sequence[int], numbers: Sequence[int], *, weight: int) -> RoundCounts:
        known = len(places) - 1
        return RoundCounts(
            edges=[grid[place] for place in places],
            counts=numbers[:known],
            weight=weight,
            upper=aggregate.upper,
            missing=numbers[known] if aggregate.missing else 0,
        )

    (a, b), split = plan.weights, groups * plan.first
    rough = by_group(noisy[:split], width=plan.first)
    firsts = [counts(plan.rough, each, weight=a) for each in rough]
    if not plan.cuts:
        return tuple(Rounds(first=first, even=even) for first in firsts)
    cut = fine_edges(rough, plan=plan, aggregate=aggregate, mechanism=mechanism)
    seconds = [
        counts(edges, numbers, weight=b)
        for edges, numbers in zip(cut, by_group(noisy[split:], width=plan.length), strict=True)
    ]
    return tuple(
        Rounds(first=first, even=even, second=second)
        for first, second in zip(firsts, seconds, strict=True)
    )


def median_ranks(noise: NoiseLaw, *, cells: int, weight: int = 1) -> Component:
    """Return the error of a median in ranks, of noisy counts of so many cells."""
    part = noise_component(noise, factor=0.5 / weight)
    return Component(variance=part.variance * cells, excess_kurtosis=part.excess_kurtosis / cells)


def rows_of_cut(plan: CellLayout, *, noise: NoiseLaw, rows: float) -> float:
    """Return the rows of a cell that is cut around a median in the second round."""
    a, b = plan.weights
    first = median_ranks(noise, cells=plan.first, weight=a)
    second = math.sqrt(noise.variance()) / b
    reach = window_reach(
        math.sqrt(first.variance), second=second, cells=plan.wanted, rows=rows, q=0.5
    )
    return 2 * reach / plan.cuts
