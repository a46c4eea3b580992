"""How a budget is best split over two questions whose errors add up in one estimate.

*Utility:* with shares x and 1 − x, noise that moves the estimate by a and b at the whole budget
gives it the variance a²/x² + b²/(1−x)² under ``pure``, where the scale is Δ/ε, and a²/x + b²/(1−x)
under ``zcdp``, where the variance is Δ²/(2ρ).  Setting the derivative to 0:
x = a^(2/3)/(a^(2/3) + b^(2/3)) and x = a/(a + b).  Shares are rounded to hundredths.
"""

import math
from fractions import Fraction
from typing import assert_never

from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity

_LEAST = 5  # hundredths: a question that gets nothing could not be answered


def best_split(first: float, second: float, *, measure: Measure) -> tuple[Fraction, Fraction]:
    """Return the shares of two questions, by how far the estimate moves with each one's noise.

    Args:
        first: Error of the estimate when the first question gets the whole budget.
        second: The same of the second, in the same unit.
        measure: How noise shrinks with a share.

    Example:
        >>> best_split(8.0, 1.0, measure=Measure.PURE)
        (Fraction(4, 5), Fraction(1, 5))
        >>> best_split(9.0, 1.0, measure=Measure.ZCDP)
        (Fraction(9, 10), Fraction(1, 10))
    """
    match measure:
        case Measure.PURE:
            power = 2 / 3
        case Measure.ZCDP:
            power = 1.0
        case _:
            assert_never(measure)
    x = first**power / (first**power + second**power)
    share = Fraction(min(max(round(100 * x), _LEAST), 100 - _LEAST), 100)
    return share, 1 - share


def reach(sensitivity: Sensitivity, *, measure: Measure) -> float:
    """Return the sensitivity that the noise of a measure is scaled to."""
    match measure:
        case Measure.PURE:
            return float(sensitivity.l1)
        case Measure.ZCDP:
            return math.sqrt(sensitivity.l2_squared)
        case _:
            assert_never(measure)
