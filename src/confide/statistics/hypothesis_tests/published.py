"""What a test publishes: numbers that have no interval, and the rule by which p is withheld."""

import math

from confide.plans.estimates import Covers, Estimate

TOO_FEW = "expected count too small"
"""Flag of a p-value that is withheld."""

LEAST_EXPECTED = 5.0
LEAST_DEVIATIONS = 3.0


def solid(least_expected: float, *, noise_variance: float) -> bool:
    """Return whether a table's smallest expected count carries a test.

    Example:
        >>> solid(20.0, noise_variance=8.0), solid(6.0, noise_variance=8.0)
        (True, False)
    """
    least = max(LEAST_EXPECTED, LEAST_DEVIATIONS * math.sqrt(noise_variance))
    return least_expected >= least


def number(
    statistic: str,
    quantity: str,
    key: tuple[str, ...],
    value: float | None,
    *,
    level: float,
    few: bool = False,
) -> Estimate:
    """Return a number without an interval of its own: a p-value, a test statistic."""
    return Estimate(
        statistic=statistic,
        quantity=quantity,
        key=key,
        value=value,
        standard_error=None,
        lower=None,
        upper=None,
        level=level,
        covers=Covers.SAMPLING_AND_NOISE,
        unit="1",
        flags=(TOO_FEW,) if few else (),
    )
