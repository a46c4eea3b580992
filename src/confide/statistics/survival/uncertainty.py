"""Errors of curves from noisy exits: sampling and noise by one derivative.

An estimate g(T) of a table of exits T + Z has, to first order, the error ∇g·(sampling + Z).  The
patients are a sample, so the cells are multinomial; with g of degree 0 (no estimate here changes
when all counts double) Σ T·∂g/∂T = 0 by Euler's theorem, and the two variances are

    Σ T·(∂g/∂T)²   and   v·Σ (∂g/∂Z)²,   v the variance of the noise of one count.

The first is the infinitesimal jackknife [Jae72]; for Kaplan–Meier it is Greenwood's formula.  Noisy
T leave it unbiased.  Derivatives: :mod:`confide.statistics.survival.derivatives`.

*Utility:* shares get the interval {p : (p̂ − p)² ≤ q²(p(1−p)/m + v)}, Rothman's for a
life table [Rot78], widened by the noise variance v; m = p̂(1−p̂)/sampling variance is the effective
number of patients, kept between those at risk and all.  Cumulative hazards get the same with h in
place of p(1−p).  Where a number of few events is behind, the end towards none is that of a Poisson
number (:mod:`confide.plans.estimation.rare_counts`).  A test measures the coverage.

The variance knows the events that were seen, and when: of none it is 0, as if all patients had been
followed to the end.  But what was not seen may come late, when few are left, and an event then adds
S₋/r: it stands for one of r/S₋ patients, Peto's effective number, for the end towards more events
[DK87].  So m is that of the curve *with one event more, the last*.  Many events outweigh it, and
where nobody was censored r/S₋ is everybody; among few late in a follow-up it is what is known.

A restricted mean is τ minus the time μ lost before the horizon τ.  Events that are spread evenly
lose each patient a time of variance 2τμ/3 − μ², so that is the variance of one patient, over the
effective number: with few events the derivative alone would say that nothing is uncertain.  The one
event more is where it would lose most: those of the end lose nothing.

References:
    [Jae72] Jaeckel. The infinitesimal jackknife. Bell Laboratories Memorandum MM 72-1215-11, 1972.
    [Rot78] Rothman. Estimation of confidence limits for the cumulative probability of survival in
        life table analysis. Journal of Chronic Diseases 31(8), 1978.
        https://doi.org/10.1016/0021-9681(78)90043-7
    [DK87] Dorey, Korn. Effective sample sizes for confidence intervals for survival probabilities.
        Statistics in Medicine 6(6), 1987. https://doi.org/10.1002/sim.4780060605
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from confide.plans.estimation.intervals import Component
from confide.plans.estimation.rare_counts import least_means
from confide.statistics.survival.curves import Array

Turned: TypeAlias = tuple[Array | float, Array | float]
"""Factors of a quantile, downwards and upwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Variances of an array of estimates, each of its shape.

    Attributes:
        sampling: From which patients there are.
        noise: From the noise.
        kurtosis: Excess kurtosis of the noise's part.
    """

    sampling: Array
    noise: Array
    kurtosis: Array

    @property
    def total(self) -> Array:
        """Sampling and noise together."""
        return self.sampling + self.noise

    def quantile(self, *, level: float) -> Array:
        """Return q: the error is within q standard deviations with probability ``level``.

        The rule of :mod:`confide.plans.estimation.intervals`, for arrays.
        """
        normal = NormalDist().inv_cdf((1 + level) / 2)
        laplace = -math.log1p(-level) / math.sqrt(2)
        with np.errstate(divide="ignore", invalid="ignore"):
            kappa = self.kurtosis * (self.noise / self.total) ** 2
        kappa = np.clip(np.nan_to_num(kappa, nan=0.0), 0.0, 3.0)
        found: Array = normal + (laplace - normal) * np.power(kappa / 3, 0.75)
        return found

    def __add__(self, other: "Errors") -> "Errors":
        """Return the errors of a sum or difference of independent estimates."""
        noise = self.noise + other.noise
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = self.kurtosis * self.noise**2 + other.kurtosis * other.noise**2
            kurtosis = np.nan_to_num(parts / noise**2)
        return Errors(sampling=self.sampling + other.sampling, noise=noise, kurtosis=kurtosis)


def propagate(
    slopes: Array, exits: Array, *, axes: int, noise: Component, mixing: Array | None
) -> Errors:
    """Return the errors of an estimate from noisy exits.

    Args:
        slopes: Its derivatives by the cells, (cells, *shape of the estimate).
        exits: (..., bins + 1, causes + 1), and with ``axes`` 3 (..., arms, bins + 1, causes + 1).
        axes: 2 where the estimate is of each arm by itself, 3 where it is of all of them.
        noise: Of one measured count.
        mixing: How the cells of one arm are made of its measured counts, (cells, counts), or of
            which cell each count is a part, (counts,); None where each cell is a count.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        lead = exits.shape[: exits.ndim - axes]
        cells = np.moveaxis(exits.reshape(*lead, -1), -1, 0)
        weights = cells.reshape(*cells.shape, *[1] * (slopes.ndim - cells.ndim))
        sampling = np.einsum("c...,c...,c...->...", weights, slopes, slopes)
        squares = noise_slopes(slopes, mixing=mixing) ** 2
        felt = squares.sum(axis=0)
        peaked = np.nan_to_num(np.einsum("c...,c...->...", squares, squares) / felt**2)
        return Errors(
            sampling=np.maximum(sampling, 0.0),
            noise=noise.variance * felt,
            kurtosis=noise.excess_kurtosis * peaked,
        )


def noise_slopes(slopes: Array, *, mixing: Array | None) -> Array:
    """Return derivatives by measured counts from those by cells; both come first, arm by arm."""
    if mixing is None:
        return slopes
    if mixing.ndim == 1:  # the last cell, who are followed beyond the horizon, has a count
        felt: Array = slopes.reshape(-1, mixing.max() + 1, *slopes.shape[1:])[:, mixing]
    else:
        apart = slopes.reshape(-1, mixing.shape[0], *slopes.shape[1:])
        felt = np.moveaxis(np.tensordot(mixing, apart, axes=(0, 1)), 0, 1)
    found: Array = felt.reshape(-1, *slopes.shape[1:])
    return found


def share_interval(
    share: Array,
    of: Errors,
    *,
    least: Array,
    most: Array,
    before: Array,
    level: float,
    turned: Turned = (1.0, 1.0),
) -> tuple[Array, Array]:
    """Return the interval of a share, within [0, 1].

    Args:
        share: Unbiased, so it may lie outside [0, 1].
        of: Its errors.
        least: Patients at risk at its time, a lower bound of their effective number.
        most: All patients, an upper bound.
        before: Survival until then, S₋.
        level: Coverage.
        turned: Factors of the quantile downwards and upwards, see :mod:`.shown`.
    """
    least, most = np.maximum(least, 1.0), np.maximum(most, 1.0)
    last = 1 / np.clip(least / np.maximum(before, least / most), least, most)
    inside = np.clip(share, 0.0, 1.0)
    rare = np.minimum(np.minimum(inside, 1 - inside) + last, 0.5)
    number = np.clip(rare * (1 - rare) / (of.sampling + last**2), least, most)

    def end(factor: Array | float, *, sign: int) -> Array:
        q2 = (of.quantile(level=level) * factor) ** 2
        a, b = 1 + q2 / number, -(2 * share + q2 / number)
        root = np.sqrt(np.maximum(b * b - 4 * a * (share**2 - q2 * of.noise), 0.0))
        found: Array = np.clip((-b + sign * root) / (2 * a), 0.0, 1.0)
        return found

    def few(having: Array) -> Array:
        deviation = of.quantile(level=level) * np.sqrt(of.noise) * number
        found: Array = least_means(having * number, deviation, level=level) / number
        return found

    low, high = end(turned[0], sign=-1), end(turned[1], sign=1)
    low, high = np.fmin(low, few(share)), np.fmax(high, 1 - few(1 - share))
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def hazard_interval(
    hazard: Array,
    of: Errors,
    *,
    least: Array,
    most: Array,
    level: float,
    turned: Turned = (1.0, 1.0),
) -> tuple[Array, Array]:
    """Return the interval of a cumulative hazard, at least 0; arguments as for a share."""
    least, most = np.maximum(least, 1.0), np.maximum(most, 1.0)
    last = 1 / least  # what one event more would add
    number = np.clip((np.maximum(hazard, 0.0) + last) / (of.sampling + last**2), least, most)

    def end(factor: Array | float, *, sign: int) -> Array:
        q2 = (of.quantile(level=level) * factor) ** 2
        middle = hazard + q2 / (2 * number)
        root = np.sqrt(np.maximum(q2 * (hazard / number + q2 / (4 * number**2) + of.noise), 0.0))
        found: Array = np.maximum(middle + sign * root, 0.0)
        return found

    deviation = of.quantile(level=level) * np.sqrt(of.noise) * number
    low, high = end(turned[0], sign=-1), end(turned[1], sign=1)
    few = np.maximum(least_means(hazard * number, deviation, level=level), 0.0) / number
    return np.fmin(low, few), high


def lost_interval(
    lost: Array,
    of: Errors,
    *,
    horizon: float,
    least: Array,
    most: Array,
    event: Array,
    level: float,
) -> tuple[Array, Array]:
    """Return the interval of the mean time lost before the horizon, within [0, horizon].

    {μ : (μ̂ − μ)² ≤ q²((2τμ/3 − μ²)/m + v)}, as for a share; a mean that is lost above two thirds
    of the horizon has the variance of its derivative.

    Args:
        lost: Unbiased, so it may lie outside [0, horizon].
        of: Its errors.
        horizon: τ.
        least: Patients at risk at the horizon, a lower bound of their effective number.
        most: All patients, an upper bound.
        event: What one event more would add where it adds most.
        level: Coverage.
    """
    inside = np.clip(lost, 0.0, horizon)
    spread = 2 * horizon * inside / 3 - inside**2
    effective = (spread + 2 * horizon * event / 3) / (of.sampling + event**2)
    number = np.clip(effective, np.maximum(least / 2, 1.0), np.maximum(most, 1.0))
    q2 = of.quantile(level=level) ** 2
    a, b = 1 + q2 / number, -(2 * lost + 2 * horizon * q2 / (3 * number))
    root = np.sqrt(np.maximum(b * b - 4 * a * (lost**2 - q2 * of.noise), 0.0))
    plain = np.sqrt(q2 * of.total)
    early = spread <= 0
    low = np.where(early, np.fmin(lost - plain, (-b - root) / (2 * a)), (-b - root) / (2 * a))
    high = np.where(early, np.fmax(lost + plain, (-b + root) / (2 * a)), (-b + root) / (2 * a))
    events = number / (horizon / 2)  # an event loses half of the horizon
    few = least_means(lost * events, np.sqrt(q2 * of.noise) * events, level=level)
    low = np.fmin(low, few / events)
    return np.clip(low, 0.0, horizon), np.clip(high, 0.0, horizon)
