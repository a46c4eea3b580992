"""The law of a number that forecasts of medians and standard deviations assume, and say so.

How far the noise moves a median depends on how many rows lie near it, and how far it moves a
standard deviation on how large that is.  Neither is public, so a forecast is that of a normal law
whose standard deviation is a sixth of the declared range, and beside it stands what the error is of
another one.

*Privacy:* made from the declared bounds alone.
"""

import math

from confide.plans.estimates import unit_after
from confide.tables.schema import Domain

TYPICAL_SPREAD = 1 / 6
"""Assumed standard deviation, as a share of the range; fixed, never taken from data."""

NORMAL_MEDIAN = TYPICAL_SPREAD * math.sqrt(2 * math.pi)
"""By what share of the range a median of n rows moves if n rows change sides of it."""


def median_note(*, of: Domain, even: float) -> str:
    """Return of which law the median is whose error is forecast.

    Args:
        of: Its bounds.
        even: The error where rows lie evenly between them.
    """
    return (
        f"for the median of a normal law with a standard deviation of {_typical(of)}, a sixth of "
        f"the range; ±{even:.3g}{unit_after(of.unit)} where rows lie evenly between the bounds, "
        "and more where few lie near it"
    )


def deviation_note(*, of: Domain, narrow: float) -> str:
    """Return of which standard deviation the error is forecast.

    Args:
        of: Bounds of the number.
        narrow: The error of a standard deviation half as large.
    """
    return (
        f"for a standard deviation of {_typical(of)}, a sixth of the range; "
        f"±{narrow:.3g}{unit_after(of.unit)} for half of that"
    )


def _typical(of: Domain) -> str:
    spread = float((of.upper - of.lower) * of.scale) * TYPICAL_SPREAD
    return f"{spread:.4g}{unit_after(of.unit)}"
