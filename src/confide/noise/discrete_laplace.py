"""Discrete Laplace ("two-sided geometric") noise: P[Z = z] proportional to exp(−|z|/scale).

*Law.*  With a = exp(−1/scale), P[Z = z] = (1 − a)/(1 + a)·a^|z|.  Z = G − H for independent
geometric G, H of ratio a: P[G − H = z] for z ≥ 0 is
Σ_h (1 − a)²·a^{z+2h} = (1 − a)²·a^z/(1 − a²), and the law is symmetric.  The scale is an exact
fraction, the draws are exact integers.

*Privacy:* if one privacy unit changes the exact integer vector by at most ``l1`` in L1 norm, under
the adjacency for which ``l1`` was derived, the noisy vector is ε-DP with ε = l1/scale: the ratio of
the laws at any point is a^(‖z‖₁ − ‖z′‖₁) ≤ e^(l1/scale) [GRS12].  Integers end to end: no low-order
bits to tell neighbours apart [Mir12].

*Utility:* mean 0, variance 2a/(1 − a)², mean absolute error 2a/(1 − a²), P[|Z| > m] =
2a^(m+1)/(1 + a).  Halving ε doubles the scale and quadruples the variance.  What is linear in the
noisy vector stays unbiased; a ratio of two noisy counts is not.

References:
    [GRS12] Ghosh, Roughgarden, Sundararajan. Universally utility-maximizing privacy mechanisms.
        SIAM J. Comput. 41(6), 2012, def. 2.2. https://doi.org/10.1137/09076828X
    [Mir12] Mironov. On significance of the least significant bits for differential privacy.
        CCS 2012. https://doi.org/10.1145/2382196.2382264
    [IK06] Inusah, Kozubowski. A discrete analogue of the Laplace distribution. J. Stat. Plan.
        Inference 136(3), 2006, prop. 2.1–2.2. https://doi.org/10.1016/j.jspi.2004.08.014
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError, UnsupportedError
from confide.noise.addition import add_noise
from confide.noise.entropy import Entropy
from confide.noise.geometric import blocks, geometric, require_scale
from confide.noise.half_width import allowed_miss, least_width
from confide.privacy.loss import PrivacyLoss, PureDP


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplace:
    """Discrete Laplace noise of one scale, independent in each coordinate.

    Attributes:
        scale: In the unit of the measured quantity (persons, visits, tenths of mmHg), in
            [2⁻²⁰, 2⁵⁵]. The standard deviation is about 1.41·scale.

    Raises:
        InvalidParameterError: If ``scale`` is a float, or out of range.

    Example:
        A diagnosis histogram under patient-level add-remove adjacency, where a patient is in at
        most one bin (``l1 = 1`` person), at ε = ½:

        >>> noise = DiscreteLaplace.calibrate(PureDP(epsilon=Fraction(1, 2)), l1=1)
        >>> noise.scale
        Fraction(2, 1)
        >>> noise.half_width(0.95)  # each bin is within 6 persons, 95 % of the time
        6
    """

    scale: Fraction

    def __post_init__(self) -> None:
        require_scale(self.scale)
        object.__setattr__(self, "scale", Fraction(self.scale))

    @classmethod
    def calibrate(cls, target: PrivacyLoss, *, l1: int) -> "DiscreteLaplace":
        """Return the least noise that meets ``target`` for L1 sensitivity ``l1``.

        Raises:
            UnsupportedError: If ``target`` is not pure differential privacy.
            InvalidParameterError: If ``l1`` is not an integer of at least 1.

        Example:
            Visits, at most 3 a patient, at ε = 0.8:

            >>> DiscreteLaplace.calibrate(PureDP(epsilon=Fraction("0.8")), l1=3).scale
            Fraction(15, 4)
        """
        if not isinstance(target, PureDP):
            raise UnsupportedError(
                f"Expected a PureDP target, got {type(target).__name__}.",
                hint="Use DiscreteGaussian for zCDP, or state ε alone.",
            )
        require_sensitivity(l1, name="l1")
        return cls(scale=l1 / Fraction(target.epsilon))

    def loss(self, *, l1: int) -> PureDP:
        """Return the privacy loss of one use on a vector of L1 sensitivity ``l1``.

        Example:
            >>> DiscreteLaplace(scale=Fraction(30)).loss(l1=30)  # days in hospital, 30 a patient
            PureDP(epsilon=Fraction(1, 1))
        """
        require_sensitivity(l1, name="l1")
        return PureDP(epsilon=l1 / self.scale)

    def variance(self) -> float:
        """Return the noise variance of one coordinate.

        Example:
            >>> round(DiscreteLaplace(scale=Fraction(2)).variance(), 4)  # persons²
            7.8354
        """
        return 2 * self._ratio() / math.expm1(-self._rate()) ** 2

    def standard_deviation(self) -> float:
        """Return the standard deviation of the noise of one coordinate.

        Example:
            >>> round(DiscreteLaplace(scale=Fraction(2)).standard_deviation(), 2)  # persons
            2.8
        """
        return math.sqrt(self.variance())

    def mean_absolute(self) -> float:
        """Return the mean absolute error of one coordinate.

        Example:
            >>> round(DiscreteLaplace(scale=Fraction(2)).mean_absolute(), 2)  # persons
            1.92
        """
        return -2 * self._ratio() / math.expm1(-2 * self._rate())

    def median_absolute(self) -> int:
        """Return the least m with P[|Z| ≤ m] ≥ ½.

        Example:
            >>> DiscreteLaplace(scale=Fraction(2)).median_absolute()  # persons
            1
        """
        return self.half_width(0.5)

    def pmf(self, z: int) -> float:
        """Return P[Z = z].

        Example:
            >>> round(DiscreteLaplace(scale=Fraction(2)).pmf(0), 4)  # an untouched count
            0.2449
        """
        return math.tanh(self._rate() / 2) * self._power(abs(z))

    def cdf(self, z: int) -> float:
        """Return P[Z ≤ z].

        Example:
            >>> round(DiscreteLaplace(scale=Fraction(2)).cdf(-7), 4)  # 7 persons too low, or more
            0.0188
        """
        if z < 0:
            return self._power(-z) / (1 + self._ratio())
        return 1 - self._power(z + 1) / (1 + self._ratio())

    def tail(self, m: int) -> float:
        """Return P[|Z| > m].

        Example:
            >>> round(DiscreteLaplace(scale=Fraction(2)).tail(6), 4)  # more than 6 persons off
            0.0376
        """
        return 1.0 if m < 0 else 2 * self._power(m + 1) / (1 + self._ratio())

    def half_width(self, level: float, *, coordinates: int = 1) -> int:
        """Return the least w such that all ``coordinates`` lie within ±w with chance ≥ ``level``.

        Raises:
            InvalidParameterError: If ``level`` is not in (0, 1) or ``coordinates`` less than 1.

        Example:
            Twelve wards, all intervals true together:

            >>> DiscreteLaplace(scale=Fraction(2)).half_width(0.95, coordinates=12)
            11
        """
        miss = allowed_miss(level, coordinates=coordinates)
        return least_width(self.tail, miss=miss, guess=-math.log(miss) / self._rate())

    def sample(self, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
        """Return ``count`` independent draws of the noise alone.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> DiscreteLaplace(scale=Fraction(2)).sample(5, entropy=SystemEntropy()).shape
            (5,)
        """
        drawn = geometric(count, scale=self.scale, entropy=entropy)
        taken = geometric(count, scale=self.scale, entropy=entropy)
        for block in blocks(count):
            drawn[block] -= taken[block]
        return drawn

    @overload
    def randomize(self, exact: NDArray[np.int64], *, entropy: Entropy) -> NDArray[np.int64]: ...
    @overload
    def randomize(self, exact: Sequence[int], *, entropy: Entropy) -> tuple[int, ...]: ...
    def randomize(
        self, exact: NDArray[np.int64] | Sequence[int], *, entropy: Entropy
    ) -> NDArray[np.int64] | tuple[int, ...]:
        """Return ``exact`` plus fresh noise; the only method that sees exact values.

        Args:
            exact: An int64 array (the result is one too, held inside int64), or Python integers of
                any size (the result is a tuple of them).
            entropy: Source of the coins.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> wards = DiscreteLaplace(scale=Fraction(1, 1000))  # next to no noise, to show it
            >>> wards.randomize([412, 97, 2**100], entropy=SystemEntropy())
            (412, 97, 1267650600228229401496703205376)
        """
        count = exact.size if isinstance(exact, np.ndarray) else len(exact)
        return add_noise(exact, noise=self.sample(count, entropy=entropy))

    def _rate(self) -> float:
        return float(1 / self.scale)

    def _ratio(self) -> float:
        return math.exp(-self._rate())

    def _power(self, exponent: int) -> float:
        """Return a^exponent."""
        return math.exp(-self._rate() * exponent)


def require_sensitivity(value: object, *, name: str) -> None:
    """Refuse a sensitivity that is not an integer of at least 1.

    Raises:
        InvalidParameterError: Zero is refused too: it would mean no noise.

    Example:
        >>> require_sensitivity(30, name="l1")
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidParameterError(
            f"Expected {name} as an integer ≥ 1, got {name}={value!r}.",
            hint="Sensitivities are counted on the integer grid of the measured column.",
        )
