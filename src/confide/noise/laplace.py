"""Continuous Laplace noise, as the textbooks calibrate it: numbers to explain, nothing to draw.

Density exp(−|x|/b)/(2b) with b = Δ/ε.  Releases of integers use ``discrete_laplace.py``, whose
noise is this one's analogue on the integers; a float drawn from this density is not ε-DP [Mir12],
so the class has no sampler.

*Privacy:* ε-DP for L1 sensitivity Δ, under the adjacency for which Δ was derived [DMNS06, prop. 1].

*Utility:* mean 0, E|X| = b, median |X| = b·ln 2, variance 2b².

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [Mir12] Mironov. On significance of the least significant bits for differential privacy.
        CCS 2012. https://doi.org/10.1145/2382196.2382264
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from confide.noise.geometric import require_scale
from confide.noise.half_width import allowed_miss
from confide.privacy.loss import PureDP


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinuousLaplace:
    """The textbook's Laplace law, for explanation and comparison.

    Attributes:
        scale: b, in the unit of the measured quantity.

    Example:
        Positive tests, one a patient, at ε = 0.8:

        >>> textbook = ContinuousLaplace.calibrate(PureDP(epsilon=Fraction("0.8")), l1=1)
        >>> textbook.scale, textbook.mean_absolute()
        (Fraction(5, 4), 1.25)
    """

    scale: Fraction

    def __post_init__(self) -> None:
        require_scale(self.scale)

    @classmethod
    def calibrate(cls, target: PureDP, *, l1: Fraction | int) -> "ContinuousLaplace":
        """Return b = Δ/ε.

        Example:
            Systolic pressure, at most 1.5 mmHg a patient:

            >>> ContinuousLaplace.calibrate(PureDP(epsilon=Fraction(1)), l1=Fraction("1.5")).scale
            Fraction(3, 2)
        """
        return cls(scale=Fraction(l1) / target.epsilon)

    def mean_absolute(self) -> float:
        """Return E|X| = b.

        Example:
            >>> ContinuousLaplace(scale=Fraction(5, 4)).mean_absolute()  # tests
            1.25
        """
        return float(self.scale)

    def median_absolute(self) -> float:
        """Return the median of |X|, b·ln 2.

        Example:
            >>> round(ContinuousLaplace(scale=Fraction(5, 4)).median_absolute(), 3)  # tests
            0.866
        """
        return float(self.scale) * math.log(2)

    def variance(self) -> float:
        """Return 2b².

        Example:
            >>> ContinuousLaplace(scale=Fraction(5, 4)).variance()  # tests²
            3.125
        """
        return 2 * float(self.scale) ** 2

    def half_width(self, level: float, *, coordinates: int = 1) -> float:
        """Return w such that all ``coordinates`` lie within ±w with chance ``level``.

        Example:
            >>> round(ContinuousLaplace(scale=Fraction(2)).half_width(0.95), 2)  # persons
            5.99
        """
        return -float(self.scale) * math.log(allowed_miss(level, coordinates=coordinates))
