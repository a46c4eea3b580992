"""Half-widths of noise intervals: the least w with P[|Z| ≤ w in every coordinate] ≥ level.

Coordinates carry independent noise, so the simultaneous level is that of one coordinate to the
power k: each may miss with probability 1 − level^(1/k).  That is a little less than the union
bound's wider (1 − level)/k.

*Utility:* the interval covers the noise, exactly and without asymptotics; not sampling.

References:
    [Sid67] Šidák. Rectangular confidence regions for the means of multivariate normal
        distributions. JASA 62(318), 1967. https://doi.org/10.1080/01621459.1967.10482935
"""

import math
from collections.abc import Callable

from confide.errors import InvalidParameterError


def allowed_miss(level: float, *, coordinates: int) -> float:
    """Return the chance that one of ``coordinates`` may miss so that all cover at ``level``.

    Raises:
        InvalidParameterError: If ``level`` is not in (0, 1) or ``coordinates`` less than 1.

    Example:
        A table of twelve wards, all intervals true together 95 % of the time:

        >>> round(allowed_miss(0.95, coordinates=12), 6)
        0.004265
    """
    if not 0 < level < 1:
        raise InvalidParameterError(
            f"Expected 0 < level < 1, got level={level}.", hint="Write 0.95 for 95 %."
        )
    if coordinates < 1:
        raise InvalidParameterError(f"Expected coordinates ≥ 1, got coordinates={coordinates}.")
    return -math.expm1(math.log(level) / coordinates)


def least_width(tail: Callable[[int], float], *, miss: float, guess: float) -> int:
    """Return the least w ≥ 0 with tail(w) ≤ miss, for a decreasing tail, starting at ``guess``.

    Example:
        >>> least_width(lambda w: 0.5**w, miss=0.1, guess=2.0)
        4
    """
    high = max(0, int(guess))
    step = 1
    while tail(high) > miss:
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while low >= 0 and tail(low) <= miss:
        low, step = low - step, 2 * step
    low = max(low, -1)  # tail(low) > miss, or low is below every width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if tail(middle) <= miss else (middle, high)
    return high
