"""A model at the end of its rounds: coefficients, the law of their error, and a model to predict.

*Law.*  Near the solution θ* of Σ w·r·z = 0 a gradient is H(θ* − θ) + noise, so a late round gives
θ + H⁻¹g = θ* + H⁻¹·noise, and k of them, read together (:mod:`.late_rounds`), the estimate.  θ* has
covariance H⁻¹JH⁻¹ about the truth [CP93]; the gradients' error Σ adds H⁻¹ΣH⁻¹, which is s²H⁻²/k for
noise s of each, and more where they were asked for from afar.  A coefficient of which that is more
than three times all the rest *stopped short*: it is told by a guess of how curvature turns.  So did
all of them where the estimate is far from where curvature was measured.  Where a category has few
events that law does not hold (:mod:`.level_events`).

References:
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.classes import against, basis
from confide.plans.rounds.descent import Walk, walk, weight_of
from confide.plans.rounds.late_rounds import counts
from confide.plans.rounds.level_events import Believed, Flags, believed, believed_classes
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import Scale
from confide.tables.aggregates.descent_terms import UNIT, Family
from confide.tables.schema import Dataset

_FARTHEST = 3.0  # of its error, that the last step may go
_CURVED = 5.0  # its square is at most so many errors, as that is how Newton's steps err
_FARTHEST_TURN = 1.5  # whitened, from where curvature was measured
_GUESSED = 3.0  # times all other variance, that what late gradients err by may be
_STARTED = 3  # as counts start from at least three times the noise
_TURNED = 0.6  # of the least curvature of counts, that noise may turn
DROWNED = 0.5
"""Share of a term's variance that noise may make up before its coefficient has no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFit:
    """A fitted model, in units of its terms: numbers in half widths about their centre.

    Attributes:
        coefficients: β: an intercept for each interval of follow-up, or one; then slopes.  Of
            classes, all terms of one class against the reference, then of the next.
        sampling: Variance of each from sampling.
        noise: Variance of each from noise.
        predicting: Coefficients drawn to 0 by their error.
        drowned: Share of a term's variance that noise could make up; 0 for intercepts.
        few: Whether its category, or the one it is compared with, has too few events.
        scarce: Whether they may be so few that its interval is not to be relied on.
        short: Whether rounds ended short of its solution, whatever they did elsewhere.
        rows: Noisy number of rows that were fitted.
        usable: Whether there are enough of them.
        stopped: Whether the rounds ended short of the solution, as far as noisy answers tell.
    """

    coefficients: Floats
    sampling: Floats
    noise: Floats
    predicting: Floats
    drowned: Floats
    few: Flags
    scarce: Flags
    short: Flags
    rows: float
    usable: bool
    stopped: bool


def fitted(
    aggregate: DescentAggregate, answers: Sequence[int], *, sigma: float, dataset: Dataset
) -> ModelFit:
    """Return the model that noisy answers say."""
    walked = walk(aggregate, answers, sigma=sigma, dataset=dataset)
    first = aggregate.intercepts
    back = _back(walked.whitened.matrix / UNIT, intercepts=first)
    drowned = np.concatenate([np.zeros(first), walked.whitened.drowned[1:]])
    law = believed(walked, aggregate=aggregate, dataset=dataset)
    return _told(walked, back=back, drowned=drowned, law=law, aggregate=aggregate)


def fitted_classes(
    aggregate: DescentAggregate,
    answers: Sequence[int],
    *,
    reference: int,
    sigma: float,
    dataset: Dataset,
) -> ModelFit:
    """Return the model of several classes that noisy answers say, against one of them."""
    walked = walk(aggregate, answers, sigma=sigma, dataset=dataset)
    vectors, matrix = basis(aggregate.classes), walked.whitened.matrix / UNIT
    others = np.delete(np.arange(aggregate.classes), reference)
    apart = against(vectors[others] - vectors[reference], size=len(matrix))
    back = np.kron(np.eye(len(others)), matrix) @ apart
    drowned = np.tile(walked.whitened.drowned, len(others))
    law = believed_classes(walked, aggregate=aggregate, reference=reference, dataset=dataset)
    return _told(walked, back=back, drowned=drowned, law=law, aggregate=aggregate)


def _told(
    walked: Walk, *, back: Floats, drowned: Floats, law: Believed, aggregate: DescentAggregate
) -> ModelFit:
    """Return what a walk says of the coefficients that ``back`` takes those of its steps to."""
    inverse = np.asarray(np.linalg.inv(walked.curvature), dtype=np.float64)
    error = back @ inverse
    wider = _wider(walked, aggregate=aggregate)
    sampling = np.einsum("ij,jk,ik->i", error, walked.spread, error)
    drawn = np.einsum("ij,jk,ik->i", error, walked.error, error)
    guessed = drawn > _GUESSED * (sampling + walked.each**2 * np.einsum("ij,ij->i", error, error))
    guessed |= ((error @ walked.left) ** 2 > sampling + drawn) | _far(walked, aggregate=aggregate)
    noise = wider * drawn
    if aggregate.family is Family.MULTINOMIAL:
        noise += _of_blurred_curvature(walked, error=error, classes=aggregate.classes)
    return ModelFit(
        coefficients=back @ walked.estimate,
        sampling=wider * sampling,
        noise=noise + law.added,
        predicting=back @ walked.theta,
        drowned=drowned,
        few=law.few,
        scarce=law.scarce,
        short=law.short | guessed,
        rows=walked.whitened.rows,
        usable=walked.whitened.usable,
        stopped=walked.beyond
        or bool(guessed.all())
        or _stopped(walked, inverse=inverse, aggregate=aggregate),
    )


def _far(walked: Walk, *, aggregate: DescentAggregate) -> bool:
    """Return whether curvature was measured too far from the estimate to be guessed there."""
    if walked.evidence is None:
        return False
    moved = walked.estimate - walked.evidence.asked[0]
    counted = counts(walked.curvature, intervals=aggregate.intervals)
    return math.sqrt(float(counted @ moved**2)) > _FARTHEST_TURN


def _stopped(walked: Walk, *, inverse: Floats, aggregate: DescentAggregate) -> bool:
    """Return whether rounds ended short of the solution; the law of the error is not theirs then.

    That is so where the last step is long against the error that it should have.  Counts are far
    from Newton's law too where noise is large against the least curvature, that of few events.
    """
    if aggregate.family is Family.MULTINOMIAL or not math.isfinite(walked.noise):
        return False
    noise = walked.noise**2 * np.eye(len(inverse))
    error = math.sqrt(float(np.trace(inverse @ (walked.spread + noise) @ inverse)))
    if walked.last > error * _FARTHEST or walked.last**2 > error * _CURVED:
        return True
    least = float(np.linalg.eigvalsh(walked.curvature)[0])
    turned = walked.each * math.sqrt(len(inverse) + _STARTED)
    return aggregate.family is Family.POISSON and turned > _TURNED * least


def _of_blurred_curvature(walked: Walk, *, error: Floats, classes: int) -> Floats:
    """Return the variance that the noise of the curvature of several classes adds.

    To first order δH moves coefficients that err by x by H⁻¹δH·x.  With entries of variance v and C
    the covariance of x that has covariance v·H⁻¹(tr(C)·I + C)H⁻¹.  Each pair of K classes adds to
    H, so v is 2K/(K − 1) times the variance of an entry of one pair, on average.  Most of it falls
    on directions of which H knows little: a rare category of a rare class.
    """
    if not math.isfinite(walked.blurred):
        return np.zeros(len(error))
    inverse, size = np.linalg.inv(walked.curvature), len(walked.curvature)
    spread = walked.spread + walked.noise**2 * np.eye(size)
    errs = inverse @ spread @ inverse
    added = np.einsum("ij,jk,ik->i", error, np.trace(errs) * np.eye(size) + errs, error)
    return np.asarray(walked.blurred**2 * 2 * classes / (classes - 1) * added)


def dispersion(walked: Walk, *, scale: Scale) -> float:
    """Return the variance of outcomes over their slope, as spread and curvature tell it."""
    share = weight_of(scale, power=2) / weight_of(scale, power=1)
    return float(np.trace(walked.spread) / np.trace(walked.curvature)) / share


def _wider(walked: Walk, *, aggregate: DescentAggregate) -> float:
    """Return by how much variances are larger than with a curvature that is known.

    To first order H⁻¹ varies by the noise of H over its size; for hazards, of which the noise is
    four times that of logistic models, it is added to the variance of what H⁻¹ multiplies.
    """
    match aggregate.family:
        case Family.LOGISTIC | Family.POISSON | Family.MULTINOMIAL:
            return 1.0
        case Family.HAZARD:
            slopes = walked.curvature[aggregate.intercepts :, aggregate.intercepts :]
            size = float(np.trace(slopes)) / len(slopes)
            return 1 + (len(slopes) + 1) * (walked.blurred / size) ** 2
        case _:
            assert_never(aggregate.family)


def _back(matrix: Floats, *, intercepts: int) -> Floats:
    """Return what takes coefficients of whitened terms to those of terms, intercepts first."""
    slopes = len(matrix) - 1
    whole = np.zeros((intercepts + slopes, intercepts + slopes))
    whole[:intercepts, :intercepts] = np.eye(intercepts)
    whole[:intercepts, intercepts:] = matrix[0, 1:]
    whole[intercepts:, intercepts:] = matrix[1:, 1:]
    return whole
