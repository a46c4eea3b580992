"""How well a model ranks and how well its risks are calibrated, on patients it was not fitted to.

Held-out patients are counted by public bins of θᵀz and by outcome.  From the two noisy histograms
follow the C-statistic (AUC; ties inside a bin count one half), the Brier score, slope and intercept
of the calibration line, the observed share by predicted risk, and net benefit [VE06].

*Risk of a bin* is that at the mean of θᵀz inside the bin, if θᵀz is normal with the noisy mean and
spread of its terms; bins hold a twentieth each under that law, so little hangs on it.

*Law.*  Noisy counts are drawn anew: multinomial with the published shares, cut at 0, plus noise.
The interval is the estimate ∓ normal quantile × the spread of what they give, cut to its range.

*Privacy:* post-processing of noisy counts; held-out patients are in no other answer.

References:
    [VE06] Vickers, Elkin. Decision curve analysis. Medical Decision Making 26(6), 2006.
        https://doi.org/10.1177/0272989X06295361
    [VC16] Van Calster et al. A calibration hierarchy for risk models. J. Clin. Epidemiol. 74, 2016.
        https://doi.org/10.1016/j.jclinepi.2015.12.005
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confide.plans.descent import Array, score_edges
from confide.plans.estimates import Covers, Estimate
from confide.plans.link import FARTHEST, STEPS, mean
from confide.plans.model_estimates import TOO_FEW
from confide.plans.simulation import Simulation
from confide.tables.descent import SCORE_BINS, Family

RUNS = 400
FEWEST = 10
"""Each outcome needs this many standard deviations of the noise of its total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number with its error.

    Attributes:
        value: In its unit; a share where nothing else is said.
        error: Standard deviation from sampling and noise.
        lower: Least possible value.
        upper: Greatest possible value.
    """

    value: float
    error: float
    lower: float = -math.inf
    upper: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How a model does on held-out patients.

    Attributes:
        auc: C-statistic.
        slope: Of the calibration line; 1 where risks are neither too far apart nor too close.
        intercept: Log odds observed less predicted; 0 where risks are right on the whole.
        brier: Mean squared error of the risks.
        risks: Edges of the bins as risks; shape (bins − 1,).
        shares: Observed share by bin.
        benefits: Net benefit of treating from each edge on.
        usable: Whether there are enough held-out patients of either outcome.
    """

    auc: Measure
    slope: Measure
    intercept: Measure
    brier: Measure
    risks: Array
    shares: tuple[Measure, ...]
    benefits: tuple[Measure, ...]
    usable: bool


def evaluated(
    counts: Sequence[float], *, theta: Array, noise: float, family: Family, simulation: Simulation
) -> Evaluation:
    """Return how a model does.

    Args:
        counts: Noisy patients by bin without the outcome, then with it; shape (2·SCORE_BINS,).
        theta: The model, intercept first; shape (d,).
        noise: Standard deviation of the noise of a count.
        family: Law of the outcome.
        simulation: Source of reproducible draws.
    """
    return by_bins(
        counts,
        eta=bin_means(theta),
        thresholds=mean(family, np.array(score_edges(theta)) / STEPS - FARTHEST),
        noise=noise,
        rng=simulation.generator("evaluation"),
    )


def by_bins(
    counts: Sequence[float],
    *,
    eta: Array,
    thresholds: Array,
    noise: float,
    rng: np.random.Generator,  # noqa: TID251
) -> Evaluation:
    """Return how a model does whose predictions were counted by bins.

    Args:
        counts: Noisy patients by bin without the outcome, then with it; shape (2·bins,).
        eta: Mean log odds that are predicted, by bin; shape (bins,).
        thresholds: Edges of the bins as risks; shape (bins − 1,).
        noise: Standard deviation of the noise of a count.
        rng: Source of reproducible draws.
    """
    bins = len(eta)
    observed = np.asarray(counts, dtype=np.float64).reshape(2, bins)
    totals = observed.sum(axis=1)
    usable = bool((totals > FEWEST * noise * math.sqrt(bins)).all())
    drawn = _drawn(observed, noise=noise, rng=rng)
    whole = np.concatenate([observed[None], drawn])

    def measure(found: Array, *, lower: float = -math.inf, upper: float = math.inf) -> Measure:
        return Measure(
            value=float(found[0]), error=float(np.std(found[1:])), lower=lower, upper=upper
        )

    slope, intercept = _calibration(whole, eta=eta)
    shares = _shares(whole)
    benefits = _benefits(whole, thresholds=thresholds)
    return Evaluation(
        auc=measure(_auc(whole), lower=0, upper=1),
        slope=measure(slope),
        intercept=measure(intercept),
        brier=measure(_brier(whole, risk=mean(Family.LOGISTIC, eta)), lower=0, upper=1),
        risks=thresholds,
        shares=tuple(measure(shares[:, i], lower=0, upper=1) for i in range(bins)),
        benefits=tuple(measure(benefits[:, i]) for i in range(bins - 1)),
        usable=usable,
    )


def published(
    found: Measure,
    quantity: str,
    *,
    statistic: str,
    key: tuple[str, ...],
    level: float,
    usable: bool,
) -> Estimate:
    """Return what is published of one number."""
    width = NormalDist().inv_cdf((1 + level) / 2) * found.error
    return Estimate(
        statistic=statistic,
        quantity=quantity,
        key=key,
        value=found.value if usable else None,
        standard_error=found.error if usable else None,
        lower=max(found.lower, found.value - width) if usable else None,
        upper=min(found.upper, found.value + width) if usable else None,
        level=level,
        covers=Covers.SAMPLING_AND_NOISE,
        unit="1",
        flags=() if usable else (TOO_FEW,),
    )


def bin_means(theta: Array) -> Array:
    """Return the mean of θᵀz in each bin, for normal θᵀz; shape (SCORE_BINS,)."""
    normal, length = NormalDist(), float(np.linalg.norm(theta[1:]))
    cuts = [-math.inf, *(normal.inv_cdf(k / SCORE_BINS) for k in range(1, SCORE_BINS)), math.inf]
    heights = [0.0 if math.isinf(cut) else normal.pdf(cut) for cut in cuts]
    inside = -np.diff(np.array(heights)) * SCORE_BINS  # mean of a normal between two cuts
    return np.asarray(float(theta[0]) + length * inside)


def _drawn(observed: Array, *, noise: float, rng: np.random.Generator) -> Array:  # noqa: TID251
    """Return noisy counts of other patients of the same population; shape (RUNS, 2, bins)."""
    shares = np.maximum(observed, 0).ravel()
    total = max(1, round(float(observed.sum())))
    sampled = rng.multinomial(total, shares / max(shares.sum(), 1e-9), size=RUNS)
    noisy = sampled + rng.normal(0, noise, sampled.shape)
    return np.asarray(noisy.reshape(RUNS, *observed.shape), dtype=np.float64)


def _auc(counts: Array) -> Array:
    """Return the C-statistic; shape (runs,)."""
    without, having = counts[:, 0], counts[:, 1]
    below = np.cumsum(without, axis=1) - without / 2
    pairs = without.sum(axis=1) * having.sum(axis=1)
    return np.asarray(np.clip((having * below).sum(axis=1) / _positive(pairs), 0, 1))


def _brier(counts: Array, *, risk: Array) -> Array:
    squared = counts[:, 0] @ risk**2 + counts[:, 1] @ (1 - risk) ** 2
    return np.asarray(squared / _positive(counts.sum(axis=(1, 2))))


def _shares(counts: Array) -> Array:
    return np.asarray(np.clip(counts[:, 1] / _positive(counts.sum(axis=1)), 0, 1))


def _benefits(counts: Array, *, thresholds: Array) -> Array:
    """Return true positives less weighted false ones, per patient, from each edge on."""
    above = np.cumsum(counts[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:]
    total = _positive(counts.sum(axis=(1, 2)))[:, None]
    return np.asarray((above[:, 1] - above[:, 0] * thresholds / (1 - thresholds)) / total)


def _calibration(counts: Array, *, eta: Array) -> tuple[Array, Array]:
    """Return slope and intercept of log odds observed over predicted; each of shape (runs,).

    The intercept is calibration in the large: that of the line whose slope is 1.
    """
    number, having = counts.sum(axis=1), counts[:, 1]
    centre = float(eta.mean())
    a, b = np.zeros(len(counts)), np.ones(len(counts))
    large = np.zeros(len(counts))
    for _ in range(25):
        p = 1 / (1 + np.exp(-np.clip(a[:, None] + b[:, None] * (eta - centre) + centre, -30, 30)))
        v, r = number * p * (1 - p), having - number * p
        x = eta - centre
        s0, s1, s2 = v.sum(axis=1), v @ x, v @ x**2
        g0, g1 = r.sum(axis=1), r @ x
        apart = _positive(s0 * s2 - s1**2)
        a += np.clip((s2 * g0 - s1 * g1) / apart, -1, 1)
        b += np.clip((s0 * g1 - s1 * g0) / apart, -1, 1)
        p = 1 / (1 + np.exp(-np.clip(large[:, None] + eta, -30, 30)))
        v, r = number * p * (1 - p), having - number * p
        large += np.clip(r.sum(axis=1) / _positive(v.sum(axis=1)), -1, 1)
    return b, large


def _positive(value: Array) -> Array:
    return np.asarray(np.maximum(value, 1e-9))
