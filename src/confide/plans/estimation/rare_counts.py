"""The lower end of the mean of a few events, where normal limits are too high.

A score interval misses from below where few are expected: of Poisson counts with mean 0.17, 16 %
are 1 or more, and the interval of 1 begins at 0.18.  So no interval for a population begins above λ
with P(X ≥ x | λ) = 1 − level: where that is above it, means are so small that no count is too low
for them, and all of the error is on one side [BCD01].  From seven events on, score limits are below
it.

References:
    [BCD01] Brown, Cai, DasGupta. Interval estimation for a binomial proportion. Statistical Science
        16(2), 2001, sec. 4.2.1 and remark 4. https://doi.org/10.1214/ss/1009213286
    [AS64] Abramowitz, Stegun. Handbook of mathematical functions. 1964, sec. 6.5.29.
"""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST = 8.0
"""Events from which on the limit is above that of a score interval."""
MOST_NOISE = 2.0
"""Deviation of the noise, at the level, from which on a score interval needs no other end."""
_TERMS, _HALVINGS = 40, 45


def least_mean(events: float, *, deviation: float, level: float) -> float:
    """Return the mean λ ≥ 0 below which as many events have a chance of at most 1 − level.

    Args:
        events: Observed, with noise; need not be whole.
        deviation: What the noise may have added, at the level; from 2 on it is as wide as the law
            of few events, and a score interval that allows for it needs no other end.
        level: Of the interval.

    Example:
        >>> round(least_mean(1, deviation=0.0, level=0.95), 4)
        0.0513
    """
    few = events - deviation
    if deviation > MOST_NOISE or few > MOST:
        return events
    if few <= 0:
        return 0.0
    low, high = 0.0, few
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(few, middle) <= 1 - level else (low, middle)
    return low


def least_means(
    events: "NDArray[np.float64]", deviation: "NDArray[np.float64]", *, level: float
) -> "NDArray[np.float64]":
    """Return :func:`least_mean` of each number; those that are not finite are kept."""
    import numpy as np

    found = np.array(np.broadcast_to(events, np.broadcast_shapes(events.shape, deviation.shape)))
    wide = np.broadcast_to(deviation, found.shape)
    near = np.isfinite(found) & np.isfinite(wide) & (found - wide <= MOST) & (wide <= MOST_NOISE)
    found[near] = [
        least_mean(float(x), deviation=float(d), level=level)
        for x, d in zip(found[near], wide[near], strict=True)
    ]
    return found


def _chance(events: float, mean: float) -> float:
    """Return the lower incomplete gamma ratio, P(X ≥ events) for whole ``events`` [AS64]."""
    if mean <= 0:
        return 0.0
    term = math.exp(events * math.log(mean) - mean - math.lgamma(events + 1))
    total = term
    for k in range(1, _TERMS):
        term *= mean / (events + k)
        total += term
    return total
