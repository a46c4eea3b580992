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
_TERMS, _HALVINGS = 40, 45


def least_mean(events: float, *, level: float) -> float:
    """Return the mean λ ≥ 0 below which as many events have a chance of at most 1 − level.

    Args:
        events: Observed, less what noise may have added; need not be whole.
        level: Of the interval.

    Example:
        >>> round(least_mean(1, level=0.95), 4), least_mean(-0.2, level=0.95)
        (0.0513, 0.0)
    """
    if events <= 0:
        return 0.0
    if events > MOST:
        return events
    low, high = 0.0, events
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _chance(events, middle) <= 1 - level else (low, middle)
    return low


def least_means(events: "NDArray[np.float64]", *, level: float) -> "NDArray[np.float64]":
    """Return :func:`least_mean` of each number; those that are not finite are kept."""
    import numpy as np

    found = np.where(events > 0, events, 0.0)
    few = (events > 0) & (events <= MOST)
    found[few] = [least_mean(float(x), level=level) for x in events[few]]
    return np.where(np.isfinite(events), found, events)


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
