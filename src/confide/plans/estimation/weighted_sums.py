"""What noisy moments of survey weights say: Σw, Σw², the number of rows, the effective sample size.

With weights in [0, W], a row adds ((W−w)², 2(W−w)w, w²), which add up to W² whatever w; so the
three sums b₀, b₁, b₂ are one measurement with Δ₁ = W² under add-remove.  Then Σw² = b₂,
Σw = (b₁/2 + b₂)/W and n = (b₀ + b₁ + b₂)/W².  The noise of Σw has 5/4 of the variance, 1.12 times
the deviation, of a measurement of Σw alone: Σw² and n cost an eighth.

References:
    [Kis65] Kish. Survey sampling. Wiley, 1965, sec. 11.7.
    [KG98] Korn, Graubard. Confidence intervals for proportions with small expected number of
        positive counts estimated from survey data. Survey Methodology 24(2), 1998.
    [Lor53] Lorentz. Bernstein polynomials. University of Toronto Press, 1953, sec. 1.1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.plans.estimation.intervals import Component, quantile, variance
from confide.plans.estimation.rates import Rate

_TOLD = 10  # standard deviations of its noise, from which Σw² is told
_CURVED = 5  # the same, below which 1/Σw² is too curved for the delta method


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSums:
    """Noisy sums over the weights of some rows, in steps of the weight's grid.

    Attributes:
        total: Σw.
        squares: Σw².
        number: Rows.
        reach: W.
        noise: Error of each of the three moments.
        cells: How many cells were added up; their noises are independent.
    """

    total: float
    squares: float
    number: float
    reach: int
    noise: Component
    cells: int = 1

    @property
    def total_noise(self) -> Component:
        """Error of ``total``."""
        w = float(self.reach)
        parts = [self.noise.times(0.5 / w), self.noise.times(1 / w)] * self.cells
        v = variance(parts)
        kurtosis = sum(p.excess_kurtosis * (p.variance / v) ** 2 for p in parts) if v else 0.0
        return Component(variance=v, excess_kurtosis=kurtosis, step=self.noise.step / (2 * w))

    @property
    def plausible_squares(self) -> float:
        """Σw², kept where it can be: at least (Σw)²/n and at most W·Σw."""
        total = max(self.total, 0.0)
        least = total**2 / max(self.number, 1.0)
        return min(max(self.squares, least), self.reach * total)

    def plus(self, other: "WeightSums") -> "WeightSums":
        """Return the sums over the rows of both."""
        return WeightSums(
            total=self.total + other.total,
            squares=self.squares + other.squares,
            number=self.number + other.number,
            reach=self.reach,
            noise=self.noise,
            cells=self.cells + other.cells,
        )


def weight_sums(moments: Sequence[int], *, reach: int, noise: Component) -> WeightSums:
    """Return the sums of one cell.

    Example:
        Two rows of weights 1 and 3, with weights up to 4:

        >>> found = weight_sums((9 + 1, 6 + 6, 1 + 9), reach=4, noise=Component(variance=0.0))
        >>> found.total, found.squares, found.number
        (4.0, 10.0, 2.0)
    """
    below, between, above = (float(v) for v in moments)
    return WeightSums(
        total=(between / 2 + above) / reach,
        squares=above,
        number=(below + between + above) / reach**2,
        reach=reach,
        noise=noise,
    )


def drowned(of: WeightSums) -> bool:
    """Return whether Σw² is too small beside its noise to divide by."""
    return of.squares < _TOLD * math.sqrt(of.cells * of.noise.variance)


def effective_size(of: WeightSums, *, level: float) -> Rate:
    """Return Kish's effective sample size (Σw)²/Σw², with the interval of its noise.

    By the delta method; where noise is large against Σw² from the ends of Σw and Σw², each at half
    the miss: there is no upper end where Σw² may be 0.

    Example:
        >>> same = weight_sums((0, 0, 16 * 50), reach=4, noise=Component(variance=0.0))
        >>> effective_size(same, level=0.95).value
        50.0
    """
    if of.total <= 0 or of.squares <= 0:
        return Rate(value=None, standard_error=None, lower=0.0, upper=None)
    value, slope = of.total**2 / of.squares, 2 * of.total / of.squares
    between, above = slope / (2 * of.reach), slope / of.reach - value / of.squares
    parts = [of.noise.times(between), of.noise.times(above)] * of.cells
    error = math.sqrt(variance(parts))
    if of.squares < _CURVED * math.sqrt(of.cells * of.noise.variance):
        lower, upper = _ends(of, level=(1 + level) / 2)
        return Rate(value=value, standard_error=None, lower=lower, upper=upper)
    half = quantile(parts, level=level) * error
    return Rate(value=value, standard_error=error, lower=max(value - half, 0.0), upper=value + half)


def _ends(of: WeightSums, *, level: float) -> tuple[float, float | None]:
    """Return least and most (Σw)²/Σw² for any two values within the intervals of both sums."""
    apart, off = (
        quantile(parts, level=level) * math.sqrt(variance(parts))
        for parts in ([of.total_noise], [of.noise] * of.cells)
    )
    least, most = of.squares - off, of.squares + off
    upper = (of.total + apart) ** 2 / least if least > 0 else None
    return max(of.total - apart, 0.0) ** 2 / most, upper


def spread_of_share(having: WeightSums, without: WeightSums) -> float:
    """Return the sampling variance of Σw over those who have it, over p(1−p).

    The variance at the estimate is that of the linearised share, Σw²(y−p)²; elsewhere it follows
    p(1−p), as in Wilson's interval [KG98].  Where few have it, or lack it, Σw² over them is hardly
    known, and a few large weights that were not drawn would be missed; so it is never taken as less
    than Kish's, Σw² over all.
    """
    whole = having.plus(without)
    total = max(having.total, 0.0) + max(without.total, 0.0)
    p = max(having.total, 0.0) / total if total > 0 else 0.0
    if not 0 < p < 1:
        return whole.plausible_squares
    linear = (1 - p) ** 2 * having.plausible_squares + p**2 * without.plausible_squares
    return max(linear / (p * (1 - p)), whole.plausible_squares)
