"""Shares of a population from answers that were randomised one by one.

A true bearer of category v is counted for it with probability p, anyone else with q < p.  Of n
respondents drawn from a population with share f, the number counted is binomial with rate
λ = q + f(p − q), whatever the encoding: sampling and coins are in one law.

- *Estimate:* (c/n − q)/(p − q), without bias, hence possibly outside [0, 1] [War65].
- *Interval:* every λ in [q, p] that the likelihood-ratio test does not reject.  The ratio is taken
  against the best rate *inside* [q, p], so the order of outcomes respects that shares lie in [0, 1]
  [FC98].  Tail probabilities are summed exactly, ties included, so the coverage is at least the
  level for every n and every share.  From 200 respondents on it is at most 0.97 at level 0.95 when
  at least 20 are expected to be counted; below, counts are few and the excess is larger.  Mapping
  the ends to shares keeps the coverage.
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

_GRID, _NEAR, _HALVINGS = 65, 4, 20
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
                lower=(lower - lie) / (truth - lie),
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
        centre = min(max(count / self.asked, self.lowest), self.highest)
        z = NormalDist().inv_cdf((1 + level) / 2)
        reach = (z + 3) * math.sqrt(centre * (1 - centre) / self.asked)
        reach += (z * z + 6) / self.asked
        rates = np.linspace(
            max(self.lowest, centre - reach), min(self.highest, centre + reach), _GRID
        )
        near = np.linspace(-_NEAR, _NEAR, _GRID) / self.asked  # where the test wavers
        ends = []
        for outwards, wide in ((-1, rates[::-1]), (1, rates)):
            end = self._edge(count, wide, level=level)
            fine = np.clip(end + outwards * near, self.lowest, self.highest)
            ends.append(self._edge(count, fine, level=level))
        return ends[0], ends[1]

    def _edge(self, count: int, rates: NDArray[np.float64], *, level: float) -> float:
        """Return the last of ``rates`` that stands, moved on to where the test begins to reject."""
        last = int(np.flatnonzero(self._p_values(count, rates) > 1 - level)[-1])
        inside, outside = float(rates[last]), float(rates[min(last + 1, rates.size - 1)])
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if self._p_values(count, np.array([middle]))[0] > 1 - level:
                inside = middle
            else:
                outside = middle
        return inside

    def _p_values(self, count: int, rates: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the chance of an outcome at least as unlikely as ``count``, for each rate."""
        spread = 8 * math.sqrt(self.asked * float((rates * (1 - rates)).max())) + 40
        low = max(0, math.floor(min(self.asked * float(rates.min()) - spread, count)))
        high = min(self.asked, math.ceil(max(self.asked * float(rates.max()) + spread, count)))
        counts = np.arange(low, high + 1)
        rate = rates[:, None]
        logs = counts * np.log(rate) + (self.asked - counts) * np.log1p(-rate)
        against = self.best[low : high + 1] - logs
        extreme = against >= against[:, [count - low]] - _TIE
        law = np.exp(logs + self.ways[low : high + 1])
        p_values: NDArray[np.float64] = (law * extreme).sum(axis=1)
        return p_values
