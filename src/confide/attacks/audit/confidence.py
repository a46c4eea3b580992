"""Exact confidence bounds of a probability from a number of successes [CP34].

The lower bound after k of n is the p at which P[X ≥ k] equals ``miss``, the upper one that at which
P[X ≤ k] does; both are quantiles of beta laws.  The incomplete beta function is evaluated by its
continued fraction, so no library is needed.

*Privacy:* looks at draws of the audit only.
*Utility:* conservative: a bound is wrong with chance at most ``miss``, for every n and p.

References:
    [CP34] Clopper, Pearson. The use of confidence or fiducial limits illustrated in the case of the
        binomial. Biometrika 26(4), 1934. https://doi.org/10.1093/biomet/26.4.404
    [DLMF] NIST Digital Library of Mathematical Functions, 8.17.22. https://dlmf.nist.gov/8.17
"""

import math
from collections.abc import Callable

from confide.errors import InvalidParameterError

_TINY = 1e-300
_HALVINGS = 60
_MOST_TERMS = 200_000


def lower_bound(successes: int, *, trials: int, miss: float) -> float:
    """Return a bound that the chance of success is above, except with chance ``miss``.

    Raises:
        InvalidParameterError: If the numbers do not describe an experiment.

    Example:
        >>> round(lower_bound(8, trials=10, miss=0.025), 4)
        0.4439
    """
    _check(successes, trials=trials, miss=miss)
    if successes == 0:
        return 0.0
    return _root(
        lambda p: incomplete_beta(p, a=successes, b=trials - successes + 1) < miss, rising=True
    )


def upper_bound(successes: int, *, trials: int, miss: float) -> float:
    """Return a bound that the chance of success is below, except with chance ``miss``.

    Raises:
        InvalidParameterError: If the numbers do not describe an experiment.

    Example:
        A code never seen in 1,000 records may still have a share of 0.37 %:

        >>> round(upper_bound(0, trials=1000, miss=0.025), 4)
        0.0037
    """
    _check(successes, trials=trials, miss=miss)
    if successes == trials:
        return 1.0
    return _root(
        lambda p: incomplete_beta(1 - p, a=trials - successes, b=successes + 1) >= miss,
        rising=False,
    )


def incomplete_beta(x: float, *, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b).

    Example:
        >>> round(incomplete_beta(0.5, a=2, b=3), 6)
        0.6875
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, a=b, b=a)
    log_front = (
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log1p(-x)
        - math.log(a)
    )
    return math.exp(log_front) / _fraction(x, a=a, b=b)


def _fraction(x: float, *, a: float, b: float) -> float:
    """Return 1 + d₁/(1 + d₂/(1 + …)) of [DLMF], by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2:
            numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / ((1 + numerator * d) or _TINY)
        c = (1 + numerator / c) or _TINY
        value *= c * d
        if abs(c * d - 1) < 1e-14:
            return value
    raise AssertionError  # unreachable for the sizes of an audit


def _root(below: Callable[[float], bool], *, rising: bool) -> float:
    """Return the safe end of the interval in which ``below`` turns false."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return low if rising else high


def _check(successes: int, *, trials: int, miss: float) -> None:
    if not 0 <= successes <= trials or trials < 1 or not 0 < miss < 1:
        raise InvalidParameterError(
            f"Expected 0 ≤ successes ≤ trials and 0 < miss < 1, got {successes} of {trials} and "
            f"miss={miss}."
        )
