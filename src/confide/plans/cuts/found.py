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

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.cuts.layout import CellLayout, layout
from confide.plans.cuts.second_cells import fine_edges, window_reach
from confide.plans.estimation.cumulative import Ranked, monotone, rank_widths
from confide.plans.estimation.intervals import Component, noise_component, variance
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
    """

    edges: Sequence[int]
    counts: Sequence[int]
    weight: int
    upper: int

    def ranked(
        self, noise: DiscreteLaplace | DiscreteGaussian, *, q: float, level: float
    ) -> Ranked:
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

    def least(self, noise: DiscreteLaplace | DiscreteGaussian) -> float:
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
        noise: DiscreteLaplace | DiscreteGaussian,
        sampled: bool,
        level: float,
    ) -> tuple[int, int, int]:
        """Return a quantile and the ends of its interval, within which it is kept."""
        if self.second is None:
            ranked = self.first.ranked(noise, q=q, level=level)
            return ranked.located(sampled=sampled, level=level)
        apart = (1 - level) * _FIRST
        rough = self.first.ranked(noise, q=q, level=1 - apart)
        fine = self.second.ranked(noise, q=q, level=level + apart)
        low, high = fine.interval(sampled=sampled, level=level + apart)
        wide = rough.interval(sampled=sampled, level=1 - apart)
        if max(low, wide[0]) <= min(high, wide[1]):
            low, high = max(low, wide[0]), min(high, wide[1])
        else:  # one of them misses, nobody knows which
            low, high = min(low, wide[0]), max(high, wide[1])
        return min(max(self._point(fine), low), high), low, high

    def _point(self, fine: Ranked) -> int:
        cell, share = fine.cell()
        first, last = fine.first(cell), fine.last(cell)
        if first == last:
            return first
        mass = _Mass.of(self.first)
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

    @classmethod
    def of(cls, rough: RoundCounts) -> "_Mass":
        return cls(edges=rough.edges, rising=monotone((0, *itertools.accumulate(rough.counts))))

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
    mechanism: DiscreteLaplace | DiscreteGaussian,
    groups: int,
) -> tuple[Rounds, ...]:
    """Return the noisy counts of each group with the cells that they are of."""
    plan = layout(aggregate, mechanism)
    split = groups * plan.first
    return tuple(
        _of_group(
            noisy[group * plan.first : (group + 1) * plan.first],
            noisy[split + group * plan.length : split + (group + 1) * plan.length],
            plan=plan,
            aggregate=aggregate,
            mechanism=mechanism,
        )
        for group in range(groups)
    )


def _of_group(
    first: Sequence[int],
    second: Sequence[int],
    *,
    plan: CellLayout,
    aggregate: Refined,
    mechanism: DiscreteLaplace | DiscreteGaussian,
) -> Rounds:
    grid, (a, b) = aggregate.edges, plan.weights
    rough = RoundCounts(
        edges=[grid[place] for place in plan.rough], counts=first, weight=a, upper=aggregate.upper
    )
    even = [grid[place] for place in plan.even]
    if not plan.cuts:
        return Rounds(first=rough, even=even)
    places = fine_edges(first, plan=plan, aggregate=aggregate, mechanism=mechanism)
    cells = len(places) - 1
    fine = RoundCounts(
        edges=[grid[place] for place in places],
        counts=second[:cells],
        weight=b,
        upper=aggregate.upper,
    )
    return Rounds(first=rough, even=even, second=fine)


def expected_ranks(
    aggregate: Refined, *, noise: DiscreteLaplace | DiscreteGaussian, rows: float
) -> tuple[Component, float]:
    """Return the error of a median in ranks, and the rows of a cell that is cut around it.

    Nothing is cut in one round, whose cells are public; 0 then.
    """
    plan, (part, q) = layout(aggregate, noise), (noise_component(noise), 0.5)
    a, b = plan.weights
    if not plan.cuts:
        cells, weight, width = plan.first, a, 0.0
    else:
        cells, weight = plan.cuts * len(aggregate.at) + 2, b
        first = [noise_component(noise, factor=q * math.sqrt(plan.first) / a)]
        width = 2 * window_reach(
            math.sqrt(variance(first)),
            second=math.sqrt(part.variance) / b,
            cells=cells,
            rows=rows,
            q=q,
        )
        width /= plan.cuts
    ranks = Component(
        variance=part.variance * cells * q * (1 - q) / weight**2,
        excess_kurtosis=part.excess_kurtosis / cells,
    )
    return ranks, width
