"""The law of a sum of Pólya parts, of which more are added than are counted on.

*Law.*  Z = G − G′ with G, G′ independent and negative binomial of ratio a = exp(−1/scale) and shape
r: n parts of shape 1/m (:mod:`.polya_parts`) have r = n/m [IK06].  At r = 1 it is discrete Laplace.
On a circle |ζ| in (1, 1/a), E ζ^Z = M(ζ) = [(1 − a)²ζ/((1 − aζ)(ζ − a))]^r, so for w ≥ 0

    P[Z > w] = (1/2πi) ∮ M(ζ)·ζ^(−w−1)/(ζ − 1) dζ.

M is analytic but for cuts along [0, a] and [1/a, ∞), and the integrand falls faster than 1/ζ², so
the circle may be opened to any curve around the second cut that leaves 1 outside.

*Error.*  The curve is aζ = 1 − q(1 − iv)², v = sinh x, for the q in (0, 1 − a) at which the
integrand on the real axis is about least.  The integrand is analytic in a strip |Im x| < d, d the
arc sine of min(1, √((1 − a)/q) − 1), and at steps of h the trapezoidal rule misses it by no more
than its size in a strip of d′ < d times 2/(exp(2πd′/h) − 1) [TW14, thm 5.1]; h is at most d/12, and
less where r is large.  Tests find probabilities within 10⁻¹⁰ of themselves, against convolutions
term by term and the closed form at r = 1.  Half-widths are made for tails 10⁻⁹ larger, so they are
not narrower than the law's.

*Privacy:* none by itself: what is charged is what the parts that nobody knows keep
(:mod:`.polya_parts`).  *Utility:* variance r times that of discrete Laplace noise of the scale.

*Fewer parts* are never wider: P[|Z| > w] grows with r ≥ 1.  G is log-concave for r ≥ 1, hence Z is
[KG71], and symmetric: a mixture of uniform laws on {−j, …, j}.  Moving such a law lets no more of
it within ±w, so adding independent noise does not either.

References:
    [IK06] Inusah, Kozubowski. A discrete analogue of the Laplace distribution. J. Stat. Plan.
        Inference 136(3), 2006, prop. 2.1–2.2. https://doi.org/10.1016/j.jspi.2004.08.014
    [KG71] Keilson, Gerber. Some results for discrete unimodality. JASA 66(334), 1971.
        https://doi.org/10.1080/01621459.1971.10482273
    [TW14] Trefethen, Weideman. The exponentially convergent trapezoidal rule. SIAM Rev. 56(3),
        2014. https://doi.org/10.1137/130932132
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from confide.errors import InvalidParameterError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_parts import LARGEST_POLYA_SCALE
from confide.noise.geometric import require_scale
from confide.noise.half_width import allowed_miss, least_width

MOST_SHAPE = 100
"""r of 200 sites of which two are counted on."""

_RAISED = 1 + 1e-9
_STEPS = 12  # in the width of the strip
_REACH = 24.0  # sinh of it, to the power −2, is below 10⁻²⁰
_SECTIONS = 80
_MOST_OF_IT = 0.98

_Numbers = NDArray[np.complex128]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolyaDifference:
    """The difference of two negative binomial variables, independent in each coordinate.

    Attributes:
        scale: Of the discrete Laplace law that the parts counted on have, in [2⁻²⁰, 2²⁰].
        shape: r in [1, 100], all parts over those that are counted on.

    Raises:
        InvalidParameterError: If a number is out of its range, or a float.

    Example:
        A count at ε = ½ over five hospitals, three of them counted on:

        >>> noise = PolyaDifference(scale=Fraction(2), shape=Fraction(5, 3))
        >>> round(noise.variance(), 3), noise.half_width(0.95)
        (13.059, 7)
    """

    scale: Fraction
    shape: Fraction

    def __post_init__(self) -> None:
        require_scale(self.scale, largest=LARGEST_POLYA_SCALE)
        if not isinstance(self.shape, Fraction | int) or not 1 <= self.shape <= MOST_SHAPE:
            raise InvalidParameterError(
                f"Expected an exact shape in [1, {MOST_SHAPE}], got {self.shape!r}."
            )
        object.__setattr__(self, "scale", Fraction(self.scale))
        object.__setattr__(self, "shape", Fraction(self.shape))

    @property
    def counted_on(self) -> DiscreteLaplace:
        """The law of the parts that are counted on."""
        return DiscreteLaplace(scale=self.scale)

    def variance(self) -> float:
        """Return the noise variance of one coordinate."""
        return float(self.shape) * self.counted_on.variance()

    def standard_deviation(self) -> float:
        """Return the standard deviation of the noise of one coordinate."""
        return math.sqrt(self.variance())

    def mean_absolute(self) -> float:
        """Return the mean absolute error of one coordinate.

        Example:
            >>> round(PolyaDifference(scale=Fraction(2), shape=Fraction(1)).mean_absolute(), 2)
            1.92
        """
        return 2 * self.excess(0)

    def median_absolute(self) -> int:
        """Return the least m with P[|Z| ≤ m] ≥ ½."""
        return self.half_width(0.5)

    def pmf(self, z: int) -> float:
        """Return P[Z = z].

        Example:
            >>> round(PolyaDifference(scale=Fraction(2), shape=Fraction(1)).pmf(0), 4)
            0.2449
        """
        return self._integral(lambda y: 1 / (1 - y), power=abs(z), poles=0)

    def cdf(self, z: int) -> float:
        """Return P[Z ≤ z]."""
        return self._above(-z - 1) if z < 0 else 1 - self._above(z)

    def tail(self, m: int) -> float:
        """Return P[|Z| > m].

        Example:
            >>> round(PolyaDifference(scale=Fraction(2), shape=Fraction(1)).tail(6), 4)
            0.0376
        """
        return 1.0 if m < 0 else min(1.0, 2 * self._above(m))

    def excess(self, w: int) -> float:
        """Return E max(Z − w, 0), w ≥ 0.

        Example:
            >>> round(PolyaDifference(scale=Fraction(2), shape=Fraction(5, 3)).excess(7), 4)
            0.0687
        """
        a = math.exp(-self._rate())
        return self._integral(lambda y: a / self._beyond_one(y) ** 2, power=w, poles=2)

    def half_width(self, level: float, *, coordinates: int = 1) -> int:
        """Return the least w such that all ``coordinates`` lie within ±w with chance ≥ ``level``.

        Raises:
            InvalidParameterError: If ``level`` is not in (0, 1) or ``coordinates`` less than 1.
        """
        return _half_width(self, allowed_miss(level, coordinates=coordinates))

    def _rate(self) -> float:
        return float(1 / self.scale)

    def _above(self, w: int) -> float:
        """Return P[Z > w], w ≥ 0."""
        return self._integral(lambda y: 1 / self._beyond_one(y), power=w + 1, poles=1)

    def _beyond_one(self, gap: _Numbers) -> _Numbers:
        """Return aζ − a of 1 − aζ."""
        beyond: _Numbers = -math.expm1(-self._rate()) - gap
        return beyond

    def _integral(self, kernel: Callable[[_Numbers], _Numbers], *, power: int, poles: int) -> float:
        """Return (1/2πi)∮ M(ζ)·ζ^(−power)·K dy, y = aζ, K a function of 1 − y."""
        rate, r = self._rate(), float(self.shape)
        room, both = -math.expm1(-rate), -math.expm1(-2 * rate)  # 1 − a, 1 − a²

        def logarithm(gap: float) -> float:
            """Of the integrand at y = 1 − gap, but for constants: convex between the poles."""
            return (
                -(r - 0.5) * math.log(gap)
                - r * math.log(both - gap)
                + (r - power) * math.log1p(-gap)
                - (poles * math.log(room - gap) if poles else 0.0)
            )

        end = room if poles else both
        q = min(_least(logarithm, end), _MOST_OF_IT * end)
        strip = math.asin(min(1.0, math.sqrt(end / q) - 1))
        step = min(strip / _STEPS, 0.15 / math.sqrt(r))
        v = np.sinh(np.arange(0.0, _REACH, step))
        turned = 1 - 1j * v
        gap = q * turned**2
        away = -q * (1 - v * v) * 2 + (q * (1 - v * v)) ** 2 + (2 * q * v) ** 2  # |y|² − 1
        log_y = 0.5 * np.log1p(away) + 1j * np.arctan2(2 * q * v, 1 - q * (1 - v * v))
        exponent = (
            2 * r * math.log(room)
            - r * math.log(q)
            - 2 * r * np.log(turned)
            - r * (np.log(both - gap) - log_y)
            - power * (rate + log_y)
        )
        values = np.exp(exponent) * kernel(gap) * q * turned * np.sqrt(1 + v * v)
        values[0] /= 2
        return float(2 * values.real.sum() * step / math.pi)


@lru_cache(maxsize=4096)
def _half_width(noise: PolyaDifference, miss: float) -> int:
    guess = noise.standard_deviation() * math.sqrt(-math.log(miss))
    return least_width(lambda m: noise.tail(m) * _RAISED, miss=miss, guess=guess)


def _least(of: Callable[[float], float], room: float) -> float:
    """Return about where a convex function is least in (0, room), by golden sections."""
    low, high, part = 0.0, room, (math.sqrt(5) - 1) / 2
    for _ in range(_SECTIONS):
        left, right = high - part * (high - low), low + part * (high - low)
        if not low < left < right < high:
            break
        low, high = (low, right) if of(left) < of(right) else (left, high)
        if high - low < 1e-4 * min(low, room - high):
            break
    return (low + high) / 2
