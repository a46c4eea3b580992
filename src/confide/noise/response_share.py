"""Shares of a population from answers that were randomised one by one.

A true bearer of category v is counted for it with probability p, anyone else with q < p.  Of n
respondents drawn from a population with share f, the number counted is binomial with rate
λ = q + f(p − q), whatever the encoding: sampling and coins are in one law.

- *Estimate:* (c/n − q)/(p − q), without bias, hence possibly outside [0, 1] [War65].
- *Interval:* from the least to the greatest λ in [q, p] that the likelihood-ratio test does not
  reject; between them some may be.  The ratio is taken against the best rate *inside* [q, p], so
  the order of outcomes respects that shares lie in [0, 1] [FC98].  Tail probabilities are summed
  exactly, ties included, so the coverage is at least the level for every n and every share.  From
  200 respondents on it is at most 0.97 at level 0.95 when at least 20 are expected to be counted;
  below, counts are few and the excess is larger.  Mapping the ends to shares keeps the coverage.
- *Together:* shares of all categories, moved to the nearest point of the simplex: at least 0, sum 1
  [DSSC08].  It is biased near 0, so it stands beside the estimate, not in its place [WLLS20].

*Privacy:* post-processing of what respondents have sent; it costs nothing.

References:
    [War65] Warner. Randomized response: a survey technique for eliminating evasive answer bias.
        JASA 60(309), 1965. https://doi.org/10.1080/01621459.1965.10480775
    [FC98] Feldman, Cousins. Unified approach to the classical statistical analysis of small
        signals. Phys. Rev. D 57, 1998, sec. IV. https://doi.org/10.1103/PhysRevD.57.3873
    [DSSC08] Duchi, Shalev-Shwartz, Singer, Chandra. Efficient projections onto the l1-ball for
        learning in high dimensions. ICML 2008, fig. 1. https://doi.org/10.1145/1390156.1390191
    [WLLS20] Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li. Locally differentially private frequency
        estimation with consistency. NDSS 2020. https://arxiv.org/abs/1905.08320
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError

_HALVINGS = 50
_TIE = 1e-9
"""Log-likelihoods closer than this are a tie, and ties count as at least as extreme."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseShare:
    """Estimated share of one category.

    Attributes:
        category: In [0, k).
        estimate: Without bias, hence possibly outside [0, 1].
        standard_error: Over persons and coins.
        lower: Lower end of the interval, in [0, 1].
        upper: Upper end.
        together: The share when all shares are made ≥ 0 with sum 1.
        level: Coverage of the interval, at least.
    """

    category: int
    estimate: float
    standard_error: float
    lower: float
    upper: float
    together: float
    level: float


def estimate_shares(
    counts: Sequence[int], *, asked: int, truth: float, lie: float, level: float
) -> tuple[ResponseShare, ...]:
    """Return the share of each category.

    Args:
        counts: How many of the respondents were counted for each category.
        asked: Number of respondents.
        truth: p, the chance that a bearer is counted.
        lie: q < p, the chance that anyone else is.
        level: Coverage of each interval by itself.

    Raises:
        InvalidParameterError: If nobody was asked, or ``level`` is not in (0, 1).

    Example:
        The coin-flip survey: 400 of 1,000 patients say yes, so 30 % do:

        >>> yes, no = estimate_shares([400, 600], asked=1000, truth=0.75, lie=0.25, level=0.95)
        >>> round(yes.estimate, 3), round(yes.lower, 3), round(yes.upper, 3)
        (0.3, 0.24, 0.362)
    """
    if asked < 1 or not 0 < level < 1:
        raise InvalidParameterError(
            f"Expected at least one response and 0 < level < 1, got {asked} and level={level}."
        )
    law = _Law.of(asked, lowest=lie, highest=truth)
    raw = [(count / asked - lie) / (truth - lie) for count in counts]
    together = onto_simplex(np.array(raw)).tolist()
    shares = []
    for category, count in enumerate(counts):
        lower, upper = law.interval(count, level=level)
        rate = count / asked
        shares.append(
            ResponseShare(
                category=category,
                estimate=raw[category],
                standard_error=math.sqrt(rate * (1 - rate) / asked) / (truth - lie),
                lower=min((lower - lie) / (truth - lie), max(raw[category], 0.0)),
                upper=(upper - lie) / (truth - lie),
                together=together[category],
                level=level,
            )
        )
    return tuple(shares)


def expected_half_width(
    share: float, *, asked: int, truth: float, lie: float, level: float
) -> float:
    """Return half the width that an interval is expected to have, before anybody is asked.

    Example:
        The coin-flip survey among 1,000 patients, a third of whom would say yes:

        >>> round(expected_half_width(1 / 3, asked=1000, truth=0.75, lie=0.25, level=0.95), 3)
        0.061
    """
    rate = lie + share * (truth - lie)
    z = NormalDist().inv_cdf((1 + level) / 2)
    return z * math.sqrt(rate * (1 - rate) / asked) / (truth - lie)


def onto_simplex(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest shares that are at least 0 and add up to 1.

    Args:
        shares: Shape (k,).

    Example:
        >>> onto_simplex(np.array([0.7, 0.4, -0.1])).round(2).tolist()
        [0.65, 0.35, 0.0]
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, shares.size + 1)
    kept = int(np.flatnonzero(falling > excess)[-1])
    projected: NDArray[np.float64] = np.maximum(shares - excess[kept], 0.0)
    return projected


@dataclass(frozen=True, slots=True, kw_only=True)
class _Law:
    """Binomial laws of one number of respondents, with rates in [lowest, highest].

    ``ways`` are the logarithms of the binomial coefficients, shape (asked + 1,); ``best`` the
    log-likelihoods of the best rate inside the range, less those.
    """

    asked: int
    lowest: float
    highest: float
    ways: NDArray[np.float64]
    best: NDArray[np.float64]

    @classmethod
    def of(cls, asked: int, *, lowest: float, highest: float) -> "_Law":
        lowest, highest = max(lowest, 1e-300), min(highest, 1 - 2**-53)  # logarithms stay finite
        factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, asked + 1)))])
        counts = np.arange(asked + 1, dtype=np.float64)
        rates = np.clip(counts / asked, lowest, highest)
        return cls(
            asked=asked,
            lowest=lowest,
            highest=highest,
            ways=factorials[-1] - factorials - factorials[::-1],
            best=counts * np.log(rates) + (asked - counts) * np.log1p(-rates),
        )

    def interval(self, count: int, *, level: float) -> tuple[float, float]:
        """Return the smallest and the largest rate that the test at 1 − level lets stand."""
        mirrored = _Law.of(self.asked, lowest=1 - self.highest, highest=1 - self.lowest)
        lower = 1 - mirrored.greatest(self.asked - count, level=level)
        return max(self.lowest, lower), self.greatest(count, level=level)

    def greatest(self, count: int, *, level: float) -> float:
        """Return the largest rate that stands.

        A count k above is as extreme as ``count`` up to the rate at which both are equally likely
        beside their best, whose log odds are the slope of ``best`` between the two; so these rates
        rise with k.  Between two of them the same counts are extreme, those up to ``count`` and
        those from some k on: the chance of the first falls with the rate, that of the second rises,
        and their sum has no peak inside, so what stands beyond the last of them that does is found
        by halving, and no island is passed over.
        """
        alpha = 1 - level
        at_end = self._chance(count, np.array([self.highest]), self._from(count, self.highest))
        if at_end[0] > alpha:
            return self.highest
        above = np.arange(count + 1, self._farthest(count, level=level) + 1)
        slopes = (self.best[above] - self.best[count]) / (above - count)
        rates = np.clip(1 / (1 + np.exp(-slopes)), self.lowest, self.highest)
        standing = np.flatnonzero(self._chance(count, rates, above) > alpha)
        last = int(standing[-1]) if standing.size else -1
        start = min(max(self.lowest, count / self.asked), self.highest)
        inside = float(rates[last]) if standing.size else start
        outside = float(rates[last + 1]) if last + 1 < rates.size else self.highest
        since = np.array([count + last + 2])
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if self._chance(count, np.array([middle]), since)[0] > alpha:
                inside = middle
            else:
                outside = middle
        return inside

    def _from(self, count: int, rate: float) -> NDArray[np.int64]:
        """Return the first count above that is as extreme at a rate."""
        above = np.arange(count + 1, self.asked + 1)
        odds = math.log(rate) - math.log1p(-rate)
        gains = self.best[above] - self.best[count] - (above - count) * odds
        found = np.flatnonzero(gains >= -_TIE)
        return np.array([above[found[0]] if found.size else self.asked + 1])

    def _farthest(self, count: int, *, level: float) -> int:
        """Return a count so high that no rate at which it is as extreme stands."""
        centre = min(max(count / self.asked, self.lowest), self.highest)
        z = NormalDist().inv_cdf((1 + level) / 2)
        reach = (z + 4) * math.sqrt(centre * (1 - centre) / self.asked) + (z * z + 9) / self.asked
        return min(
            self.asked, math.ceil(max(count, centre * self.asked) + 2.5 * reach * self.asked)
        )

    def _chance(
        self, count: int, rates: NDArray[np.float64], since: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the chance of at most ``count``, or of at least ``since``, for each rate."""
        spread = 8 * math.sqrt(self.asked * float((rates * (1 - rates)).max())) + 40
        low = max(0, math.floor(min(self.asked * float(rates.min()) - spread, count)))
        high = min(self.asked, math.ceil(max(self.asked * float(rates.max()) + spread, count)))
        counts = np.arange(low, high + 1)
        rate = rates[:, None]
        logs = counts * np.log(rate) + (self.asked - counts) * np.log1p(-rate)
        law = np.exp(logs + self.ways[low : high + 1])
        extreme = (counts <= count) | (counts >= since[:, None])
        found: NDArray[np.float64] = (law * extreme).sum(axis=1)
        return found
