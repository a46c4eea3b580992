"""Goodness of fit of integer noise: χ² with pooled cells, moments, serial correlation.

The law is cut at its own quantiles into forty cells of about equal probability, so that a wrong
scale moves all of them.  No library is needed: the χ² survival function has a finite recurrence.

*Privacy:* noise of another law than the stated one gives another loss than the stated one.
*Utility:* 10⁶ draws tell a scale that is 1 % off.

References:
    [AS64] Abramowitz, Stegun. Handbook of mathematical functions. NBS, 1964, 26.4.4–26.4.5.
"""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from confide.noise.half_width import least_width
from confide.noise.mechanism import AddedNoise
from confide.plans.estimation.chi_squared import chi_squared_tail

CELLS = 40
LEAST_EXPECTED = 5
LAGS = (1, 2, 8, 65_536)


def p_value(
    draws: NDArray[np.int64], *, cdf: Callable[[int], float], symmetric: bool = True
) -> float:
    """Return the p-value of draws against the integer law with this cdf.

    Args:
        draws: Shape (n,).
        cdf: P[Z ≤ z].
        symmetric: Whether the law is symmetric about 0; else it lives on 0, 1, 2, …

    Example:
        >>> from fractions import Fraction
        >>> from confide.noise.discrete_laplace import DiscreteLaplace
        >>> noise = DiscreteLaplace(scale=Fraction(5))
        >>> p_value(np.zeros(1000, dtype=np.int64), cdf=noise.cdf) < 1e-9
        True
    """
    edges = _quantiles(cdf, symmetric=symmetric)
    observed = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    steps = [0.0, *map(cdf, edges), 1.0]
    shares = [b - a for a, b in itertools.pairwise(steps)]
    return p_value_of_counts(observed.tolist(), shares)


def p_value_of_counts(observed: Sequence[int], shares: Sequence[float]) -> float:
    """Return the p-value of counts against probabilities; cells expecting < 5 are pooled.

    Example:
        >>> round(p_value_of_counts([480, 520], [0.5, 0.5]), 4)
        0.2059
    """
    total = sum(observed)
    cells: list[tuple[float, float]] = []
    seen = expected = 0.0
    for count, share in zip(observed, shares, strict=True):
        seen, expected = seen + count, expected + total * share
        if expected >= LEAST_EXPECTED:
            cells.append((seen, expected))
            seen = expected = 0.0
    if cells and (seen or expected):
        last_seen, last_expected = cells.pop()
        cells.append((last_seen + seen, last_expected + expected))
    statistic = sum((o - e) ** 2 / e for o, e in cells)
    return float(chi_squared_tail(np.array(statistic), degrees=len(cells) - 1))


def worst_moment(draws: NDArray[np.int64], *, noise: AddedNoise) -> float:
    """Return how many standard errors a moment, or a serial correlation, is off, at most.

    Args:
        draws: Shape (n,), n at least 1,000.
        noise: The stated law, symmetric about 0.

    Example:
        >>> from fractions import Fraction
        >>> from confide.noise.discrete_laplace import DiscreteLaplace
        >>> always_one = np.ones(1000, dtype=np.int64)
        >>> worst_moment(always_one, noise=DiscreteLaplace(scale=Fraction(5))) > 4
        True
    """
    z = draws.astype(np.float64)
    variance, n = noise.variance(), z.size
    sixth = max(float(np.mean(z**6)), variance**3)
    fourth = max(float(np.mean(z**4)), variance**2)
    off = [
        abs(float(z.mean())) / math.sqrt(variance / n),
        abs(float(np.mean(z**2)) - variance) / math.sqrt(fourth / n),
        abs(float(np.abs(z).mean()) - noise.mean_absolute()) / math.sqrt(variance / n),
        abs(float(np.mean(z**3))) / math.sqrt(sixth / n),
    ]
    for lag in LAGS:
        if lag < n // 2:
            correlation = float(np.mean(z[lag:] * z[:-lag])) / variance
            off.append(abs(correlation) * math.sqrt(n - lag))
    return max(off)


def _quantiles(cdf: Callable[[int], float], *, symmetric: bool) -> list[int]:
    """Return distinct upper ends of about ``CELLS`` cells of equal probability."""
    above = [
        least_width(lambda z: 1 - cdf(z), miss=1 - level, guess=1.0)
        for level in (k / CELLS for k in range(CELLS // 2 if symmetric else 1, CELLS))
    ]
    below = [-z - 1 for z in above] if symmetric else []
    return sorted({*above, *below})
