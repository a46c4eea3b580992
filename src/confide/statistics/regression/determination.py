"""R² of a regression from noisy moments, with the interval of its noise.

*Law:* with Σ(y − ȳ)² = T and the explained sum of squares E = |z + √E·u|² − tr B, where z has the
covariance B that the noise brings to A^(1/2)β and u is of length 1, the variance of R² is not
known from the released numbers: it has a part 4E·uᵀBu that vanishes with R².  Where the noise
draws R² down it draws its own error down too, and an interval of the error at the estimate ends
below the truth.  So the interval holds every r whose own error, at r, reaches the estimate.

*At r:* the direction of the effect is that of the estimate and of its noise, d·dᵀ + C, scaled such
that it explains r; the noise of T enters r times.  The error leans to the right, as a χ² does: its
skewness (8·tr B³ + 24·E·uᵀB²u)/V^(3/2), at most that of one square, moves the lower end as Cornish
and Fisher do, and leaves the upper end, where it would narrow the interval.

*Utility:* where the noise is small the interval is that of the error at the estimate.

References:
    [CF38] Cornish, Fisher. Moments and cumulants in the specification of distributions. Revue de
        l'Institut International de Statistique 5(4), 1938. https://doi.org/10.2307/1400905
    [Wil27] Wilson. Probable inference, the law of succession, and statistical inference. JASA
        22(158), 1927. https://doi.org/10.1080/01621459.1927.10502953
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats
from confide.plans.estimation.intervals import Component, quantile, variance
from confide.statistics.regression.least_squares import Fit

_STEPS, _HALVINGS = 20, 16
_ONE_SQUARE = math.sqrt(8)
"""Skewness of the square of a normal error: no sum of squares leans more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Law:
    """The error of R² at any r, in units of the total sum of squares.

    Attributes:
        noises: Error of each released number.
        total: How each enters the total sum of squares.
        linear: How each enters what is explained, by direction, at √r = 1.
        square: How each enters it, over all directions, at r = 1.
        bend: Variance of what the noise does to second order.
        skew: Third cumulant of that.
        leaning: Third cumulant of what is explained, at r = 1.
    """

    noises: Sequence[Component]
    total: Floats
    linear: Floats
    square: Floats
    bend: float
    skew: float
    leaning: float

    def reach(self, r: float, *, below: bool, level: float) -> float:
        """Return how far an estimate may lie above r, or below it."""
        linear = math.sqrt(r) * self.linear
        along = linear[-1] + r * (self.total + self.square)
        loads = np.sqrt(np.sum(linear[:-1] ** 2, axis=0) + along**2)
        parts = [n.times(float(x)) for n, x in zip(self.noises, loads, strict=True) if x]
        parts.append(Component(variance=self.bend))
        spread = variance(parts)
        if spread <= 0:
            return 0.0
        q = quantile(parts, level=level)
        if not below:
            lean = min((self.skew + r * self.leaning) / spread**1.5, _ONE_SQUARE)
            q += lean * (quantile((), level=level) ** 2 - 1) / 6
        return q * math.sqrt(spread)


def determination(
    found: Fit, *, noises: Sequence[Component], level: float
) -> tuple[float, float, float]:
    """Return R² and the ends of the interval of its noise, all from 0 to 1.

    Args:
        found: A regression whose total sum of squares is above 0.
        noises: Error of each released number, in the units of ``found``.
        level: Coverage of the interval.
    """
    law = _law(found, noises=noises)
    measured = 1 - found.residual / found.total
    value = min(1.0, max(0.0, measured))

    def end(far: float) -> float:
        below = far > value  # an estimate below the truth makes the upper end
        last = far
        for r in np.linspace(far, value, _STEPS + 1).tolist():
            if abs(r - measured) <= law.reach(r, below=below, level=level):
                break
            last = r
        else:
            return value
        inside = r
        for _ in range(_HALVINGS if inside != last else 0):
            middle = (inside + last) / 2
            held = abs(middle - measured) <= law.reach(middle, below=below, level=level)
            inside, last = (middle, last) if held else (inside, middle)
        return last

    return value, min(value, end(0.0)), max(value, end(1.0))


def _law(found: Fit, *, noises: Sequence[Component]) -> _Law:
    matrix, weights = found.moments.matrix, found.moments.weights
    a, total = matrix[:-1, :-1], found.total
    mean = np.zeros(len(matrix))
    mean[0], mean[-1] = -float(matrix[0, -1]) / max(float(matrix[0, 0]), 1.0), 1.0
    covariance = found.noise @ (found.moments.variances[:, None] * found.noise.T)
    ways = _ways(found, covariance=covariance, mean=mean)
    scale = np.einsum("ki,ij,kj->", ways, a, ways) / total
    scale = 1 / scale if scale > 0 else 0.0
    bend = covariance @ a
    return _Law(
        noises=noises,
        total=found.total_noise / total,
        linear=2 * math.sqrt(scale) * ways @ (weights @ mean)[:, :-1].T / total,
        square=scale * np.einsum("cij,ij->c", weights[:, :-1, :-1], ways.T @ ways) / total,
        bend=found.residual_bend / total**2,
        skew=8 * float(np.trace(bend @ bend @ bend)) / total**3,
        leaning=24 * scale * float(np.einsum("ki,ij,kj->", ways, a @ bend @ bend, ways)) / total**3,
    )


def _ways(found: Fit, *, covariance: Floats, mean: Floats) -> Floats:
    """Return the directions of the effect about the mean: of its noise, and last its own."""
    a = found.moments.matrix[:-1, :-1]
    about = np.eye(len(a))
    about[0] = -a[0] / max(float(a[0, 0]), 1.0)
    about[0, 0] = 0.0
    values, vectors = np.linalg.eigh(covariance)
    noise = (about @ (vectors * np.sqrt(np.maximum(values, 0.0)))).T
    own = np.append(-found.coefficients, 1.0) - mean
    return np.vstack([noise, own[:-1]])
