"""Discrete Gaussian noise: P[Z = z] proportional to exp(−z²/(2σ²)) on the integers.

*Law.*  Draw Y from the discrete Laplace of integer scale t = ⌊σ⌋ + 1 and keep it with probability
exp(−(|Y| − σ²/t)²/(2σ²)).  The product of the two is proportional to exp(−y²/(2σ²)), as the terms
in |y| cancel [CKS20, sec. 5].  About 3 of 4 are kept at large σ.  σ² is an exact fraction, all
coins are exact (``bernoulli.py``), the draws are exact integers.

*The float filter is certified.*  γ = (|y| − σ²/t)²/(2σ²) is evaluated in float64 with relative
errors of 2⁻⁵² a step; the difference |y| − σ²/t cancels, so with t > σ the estimate errs by at most
2⁻⁴⁸(γ + √(2γ)), hence exp(−γ) by less than 2⁻⁴⁷, far inside the 2⁻³⁰ that ``bernoulli_each`` needs.

*Privacy:* if one privacy unit changes the exact integer vector by at most √l2_squared in L2 norm,
under the adjacency for which it was derived, the noisy vector is ρ-zCDP with ρ = l2_squared/(2σ²)
[CKS20, thm. 14].  It does *not* inherit the (ε, δ) of continuous Gaussian noise: at the σ of Balle
and Wang for (2, 10⁻⁶) its δ is 1.10·10⁻⁶ (``gaussian.py``).  So it is calibrated and charged in ρ.

*Utility:* mean 0; variance below σ² and, for σ ≥ 1.2, within 10⁻¹⁰ of it; P[|Z| > m] no larger
than for the rounded Gaussian [CKS20, sec. 3].

References:
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020.
        https://arxiv.org/abs/2004.00010
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016, prop. 1.6.
        https://arxiv.org/abs/1605.02065
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import overload

import numpy as np
from numpy.typing import NDArray

from confide.errors import UnsupportedError
from confide.noise.addition import add_noise
from confide.noise.bernoulli import Probability, bernoulli_each, exponential
from confide.noise.discrete_laplace import DiscreteLaplace, require_sensitivity
from confide.noise.entropy import Entropy
from confide.noise.gaussian_sums import mean_absolute, normaliser, survival, variance
from confide.noise.geometric import BLOCK, LARGEST_SCALE, LEAST_SCALE, require_scale
from confide.noise.half_width import allowed_miss, least_width
from confide.privacy.loss import ApproxDP, PrivacyLoss, ZeroConcentratedDP


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussian:
    """Discrete Gaussian noise of one σ², independent in each coordinate.

    Attributes:
        sigma_squared: In squared units of the measured quantity, in [2⁻⁴⁰, 2¹⁰⁸].

    Raises:
        InvalidParameterError: If ``sigma_squared`` is a float, or out of range.

    Example:
        A table of 40 diagnoses of which a patient may have 5 (L2² = 5), at ρ = 1/10:

        >>> target = ZeroConcentratedDP(rho=Fraction(1, 10))
        >>> noise = DiscreteGaussian.calibrate(target, l2_squared=5)
        >>> noise.sigma_squared
        Fraction(25, 1)
        >>> noise.half_width(0.95)  # each count is within 10 persons, 95 % of the time
        10
    """

    sigma_squared: Fraction

    def __post_init__(self) -> None:
        least, largest = LEAST_SCALE**2, LARGEST_SCALE**2 >> 2
        require_scale(self.sigma_squared, name="sigma_squared", least=least, largest=largest)
        object.__setattr__(self, "sigma_squared", Fraction(self.sigma_squared))

    @classmethod
    def calibrate(cls, target: PrivacyLoss, *, l2_squared: int) -> "DiscreteGaussian":
        """Return the least noise that meets ``target`` for squared L2 sensitivity ``l2_squared``.

        Raises:
            UnsupportedError: If ``target`` is not zCDP without δ.
            InvalidParameterError: If ``l2_squared`` is not an integer of at least 1.

        Example:
            >>> target = ZeroConcentratedDP(rho=Fraction(1, 2))
            >>> DiscreteGaussian.calibrate(target, l2_squared=1).sigma_squared
            Fraction(1, 1)
        """
        if isinstance(target, ApproxDP):
            raise UnsupportedError(
                "Expected a ZeroConcentratedDP target, got ApproxDP: the σ of Balle and Wang for "
                "(ε, δ) is proved for continuous noise, and discrete noise of that σ can exceed δ.",
                hint="Convert (ε, δ) to ρ first; the release then reports the ε that ρ implies.",
            )
        if not isinstance(target, ZeroConcentratedDP) or target.delta:
            raise UnsupportedError(
                f"Expected a ZeroConcentratedDP target with delta=0, got {target}.",
                hint="Use DiscreteLaplace for pure ε.",
            )
        require_sensitivity(l2_squared, name="l2_squared")
        return cls(sigma_squared=l2_squared / (2 * Fraction(target.rho)))

    def loss(self, *, l2_squared: int) -> ZeroConcentratedDP:
        """Return the privacy loss of one use on a vector of squared L2 sensitivity ``l2_squared``.

        Example:
            >>> DiscreteGaussian(sigma_squared=Fraction(25)).loss(l2_squared=5).rho
            Fraction(1, 10)
        """
        require_sensitivity(l2_squared, name="l2_squared")
        return ZeroConcentratedDP(rho=l2_squared / (2 * self.sigma_squared))

    def variance(self) -> float:
        """Return the noise variance of one coordinate; a little less than σ² for small σ.

        Example:
            >>> round(DiscreteGaussian(sigma_squared=Fraction(1, 4)).variance(), 6)  # persons²
            0.215013
        """
        return variance(float(self.sigma_squared))

    def standard_deviation(self) -> float:
        """Return the standard deviation of the noise of one coordinate.

        Example:
            >>> DiscreteGaussian(sigma_squared=Fraction(25)).standard_deviation()  # persons
            5.0
        """
        return math.sqrt(self.variance())

    def mean_absolute(self) -> float:
        """Return the mean absolute error of one coordinate.

        Example:
            >>> round(DiscreteGaussian(sigma_squared=Fraction(25)).mean_absolute(), 2)  # persons
            3.98
        """
        return mean_absolute(float(self.sigma_squared))

    def median_absolute(self) -> int:
        """Return the least m with P[|Z| ≤ m] ≥ ½.

        Example:
            >>> DiscreteGaussian(sigma_squared=Fraction(25)).median_absolute()  # persons
            3
        """
        return self.half_width(0.5)

    def pmf(self, z: int) -> float:
        """Return P[Z = z].

        Example:
            >>> round(DiscreteGaussian(sigma_squared=Fraction(1)).pmf(0), 6)
            0.398942
        """
        sigma_squared = float(self.sigma_squared)
        return math.exp(-z * z / (2 * sigma_squared)) / normaliser(sigma_squared)

    def cdf(self, z: int) -> float:
        """Return P[Z ≤ z].

        Example:
            >>> round(DiscreteGaussian(sigma_squared=Fraction(25)).cdf(-10), 4)  # ≥ 10 too low
            0.0285
        """
        if z < 0:
            return survival(-z, sigma_squared=float(self.sigma_squared))
        return 1 - survival(z + 1, sigma_squared=float(self.sigma_squared))

    def tail(self, m: int) -> float:
        """Return P[|Z| > m].

        Example:
            >>> round(DiscreteGaussian(sigma_squared=Fraction(25)).tail(10), 4)
            0.0354
        """
        return 1.0 if m < 0 else 2 * survival(m + 1, sigma_squared=float(self.sigma_squared))

    def half_width(self, level: float, *, coordinates: int = 1) -> int:
        """Return the least w such that all ``coordinates`` lie within ±w with chance ≥ ``level``.

        Raises:
            InvalidParameterError: If ``level`` is not in (0, 1) or ``coordinates`` less than 1.

        Example:
            Forty diagnoses, all intervals true together:

            >>> DiscreteGaussian(sigma_squared=Fraction(25)).half_width(0.95, coordinates=40)
            16
        """
        miss = allowed_miss(level, coordinates=coordinates)
        deviations = -NormalDist().inv_cdf(max(miss / 2, 1e-300))
        guess = deviations * math.sqrt(self.sigma_squared)
        return least_width(self.tail, miss=miss, guess=guess)

    def sample(self, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
        """Return ``count`` independent draws of the noise alone.

        Example:
            >>> from confide.noise.entropy import SystemEntropy
            >>> noise = DiscreteGaussian(sigma_squared=Fraction(25))
            >>> noise.sample(5, entropy=SystemEntropy()).shape
            (5,)
        """
        drawn = np.empty(count, dtype=np.int64)
        filled = 0
        while filled < count:
            tries = min(BLOCK, (count - filled) * 3 // 2 + 8)
            kept = self._kept(tries, entropy)[: count - filled]
            drawn[filled : filled + kept.size] = kept
            filled += kept.size
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
            >>> quiet = DiscreteGaussian(sigma_squared=Fraction(1, 1000))  # to show the shape
            >>> quiet.randomize(np.array([412, 97]), entropy=SystemEntropy())
            array([412,  97])
        """
        count = exact.size if isinstance(exact, np.ndarray) else len(exact)
        return add_noise(exact, noise=self.sample(count, entropy=entropy))

    def _kept(self, tries: int, entropy: Entropy) -> NDArray[np.int64]:
        """Return those of ``tries`` Laplace proposals that the rejection step keeps, in order."""
        scale = math.isqrt(int(self.sigma_squared)) + 1
        proposed = DiscreteLaplace(scale=Fraction(scale)).sample(tries, entropy=entropy)
        off = np.abs(proposed) - float(self.sigma_squared / scale)
        estimates = np.exp(off * off * (-0.5 / float(self.sigma_squared)))

        def exact(j: int) -> Probability:
            return exponential(self._exponent(abs(int(proposed[j])), scale=scale))

        return proposed[bernoulli_each(estimates, exact=exact, entropy=entropy)]

    def _exponent(self, size: int, *, scale: int) -> Fraction:
        """Return γ = (|y| − σ²/t)²/(2σ²)."""
        return (size - self.sigma_squared / scale) ** 2 / (2 * self.sigma_squared)
