"""What noise will cost a logistic model, from public planning values alone.

Planned are the number of rows, the share with the condition and the C-statistic that one would
reach without noise.  Terms are taken to be normal and, once whitened, independent: then log odds
are normal, θ = (t, L, 0, …, 0), and share and C-statistic fix t and L.

*Loss.*  An error of variance v in each slope turns the direction of θ: what the model says and what
it should say correlate by ρ with 1/ρ² = 1 + (d − 2)·v/L² for d terms.  Log odds of those with and
without the condition are then ρ times as far apart, and the C-statistic Φ(δ/√2) becomes Φ(ρδ/√2)
[Pep03, sec. 4.4].  Sampling has v = 1/h and costs a model without noise too, with h the curvature
of a slope; noise s in each of k late gradients adds s²/(k·h²).  The difference is the loss.

*Error* of the C-statistic that held-out patients will show: sampling by [DDC88], and the noise of
each count times the slope of the C-statistic by it.

Steps are taken from places that noise moved, with a curvature that has noise too; in simulations
that takes half as much noise again, and so much is added.

*Utility:* a rule of thumb.  The mean loss of simulated models of 3 to 20 normal, skewed or
correlated terms that fill their bounds was within a factor of 2.5 of it.  Bounds so wide that the
noise of the moments is a third of the variance inside them cost several times more.

References:
    [Pep03] Pepe. The statistical evaluation of medical tests for classification and prediction.
        Oxford University Press 2003.
    [DDC88] DeLong, DeLong, Clarke-Pearson. Comparing the areas under two or more correlated
        receiver operating characteristic curves. Biometrics 44(3), 1988.
        https://doi.org/10.2307/2531595
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.descent import weight_of
from confide.plans.rounds.marginal import gaussian_curvature
from confide.plans.rounds.score_bins import SHARES
from confide.statistics.logistic.evaluation import FEWEST, concordance, ordered
from confide.statistics.logistic.predictions import predicted
from confide.tables.aggregates.descent_scale import Scale
from confide.tables.aggregates.descent_terms import RESIDUAL, SCORE_BINS, UNIT, Family

_STEPS = 40
_MOVED = 1.5
_MOST_LENGTH = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility:
    """What is expected of a model.

    Attributes:
        auc: Expected C-statistic of the private model.
        loss: Of C-statistic, against the same model without noise.
        error: Standard deviation of the C-statistic that held-out patients will show; None where
            nobody is held out, or too few to say anything.
    """

    auc: float
    loss: float
    error: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Public planning values.

    Attributes:
        fitted: Number of rows that are fitted.
        evaluating: Number of patients who evaluate.
        joined: Variance of the noise of a count of all of them, over that of one measured count.
        share: Of them, with the condition.
        auc: C-statistic without any error.
    """

    fitted: float
    evaluating: float
    joined: float
    share: float
    auc: float


def feasibility(values: Planned, *, noise: float, scale: Scale) -> Feasibility:
    """Return what is expected of a model.

    Args:
        values: Public planning values.
        noise: Standard deviation of the noise of an answer.
        scale: Of the answers.
    """
    auc, theta = values.auc, planned(share=values.share, auc=values.auc)
    length, turning = float(theta[1]), max(0, scale.terms - 2)
    flat = float(gaussian_curvature(Family.LOGISTIC, theta)[2, 2])
    curve = values.fitted * weight_of(scale, power=1) * flat
    each = noise / (scale.gradients[-1] * UNIT * RESIDUAL)
    drawn = _MOVED * each**2 / (scale.rounds - scale.early) / curve**2

    def reached(error: float) -> float:
        return _moved(auc, by=1 / math.sqrt(1 + turning * error / length**2))

    private = reached(1 / curve + drawn)
    return Feasibility(
        auc=private,
        loss=reached(1 / curve) - private,
        error=_error(theta, values, noise=noise, scale=scale),
    )


def planned(*, share: float, auc: float) -> Floats:
    """Return intercept, slope and a slope of 0 of normal log odds with this share and C-statistic.

    Example:
        >>> (planned(share=0.5, auc=0.76).round(2) + 0).tolist()
        [0.0, 1.12, 0.0]
    """

    def centred(length: float) -> Floats:
        centre = _bisected(
            lambda t: float((predicted(np.array([t, length])).risk @ SHARES) - share), 20.0
        )
        return np.array([centre, length, 0.0])

    def far(length: float) -> float:
        return _auc(centred(length)) - auc

    return centred(_bisected(far, _MOST_LENGTH, least=1e-3))


def _bisected(
    rising: Callable[[float], float], most: float, *, least: float | None = None
) -> float:
    low, high = -most if least is None else least, most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


def _counts(theta: Floats, *, patients: float) -> Floats:
    """Return expected patients by outcome and bin; shape (1, 2, bins)."""
    risk = predicted(theta).risk
    return np.array([[(1 - risk) * SHARES, risk * SHARES]]) * patients


def _auc(theta: Floats) -> float:
    return float(concordance(_counts(theta, patients=1.0), told=predicted(theta))[0])


def _moved(auc: float, *, by: float) -> float:
    """Return the C-statistic when those with and without are ``by`` times as far apart."""
    normal = NormalDist()
    return normal.cdf(by * normal.inv_cdf(auc))


def _error(theta: Floats, values: Planned, *, noise: float, scale: Scale) -> float | None:
    if not scale.scores:
        return None
    noise = noise / scale.scores * math.sqrt(values.joined)
    without, having = _counts(theta, patients=values.evaluating)[0]
    if min(without.sum(), having.sum()) <= FEWEST * noise * math.sqrt(SCORE_BINS):
        return None
    inside = ordered(predicted(theta))
    below = (np.cumsum(without) - without * (1 - inside)) / without.sum()
    above = (having.sum() - np.cumsum(having) + having * inside) / having.sum()
    auc = float(having @ below / having.sum())
    sampled = sum(
        float(n @ (place - auc) ** 2) / float(n.sum()) ** 2
        for n, place in ((having, below), (without, above))
    )
    noisy = sum(
        float(np.sum((place - auc) ** 2)) * (noise / float(n.sum())) ** 2
        for n, place in ((having, below), (without, above))
    )
    return math.sqrt(sampled + noisy)
