"""What a model in rounds asks next, and what has been learnt: a function of noisy answers alone.

A :class:`Question` of the rows is public: it holds whole numbers made from earlier noisy answers.
The gate asks, adds noise and asks again; whoever has the noisy answers repeats the path.

*Steps.*  Terms are whitened, z = (1, (x − m)W) with the noisy mean m and covariance, eigenvalues no
smaller than their noise.  From θ = 0, each round takes Newton's step θ + H⁻¹g: in the early rounds
with the curvature H that z would have if it were Gaussian, in the late ones with the measured one,
drawn to the other by the part of their distance that is noise.  What early steps lead to is
averaged; late gradients are read together (:mod:`.late_rounds`).  Where the outcome is rare a
logistic step begins at the intercept that the gradient says (:func:`.rare_start`).  Counts and
hazards start from their marginal rates, which noisy totals say, and their curvature before it is
measured is that of Gaussian terms with as many events.  The place from which the next gradient is
taken, and in the end the model that predicts, is drawn to 0 by the share of its size that is error
(empirical Bayes) [EM73]; of classes the levels of that model follow, to keep their mean shares.

References:
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
    [WH31] Wilson, Hilferty. The distribution of chi-square. PNAS 17(12), 1931.
        https://doi.org/10.1073/pnas.17.12.684
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.classes import by_class, drawn_with_levels, share_edges
from confide.plans.rounds.link import FARTHEST, STEPS
from confide.plans.rounds.marginal import FEWEST, NODES, WEIGHTS, one_outcome, rare_start, started
from confide.plans.rounds.newton import COEFFICIENT, Curvature, Steps, anchored, on_grid, symmetric
from confide.plans.rounds.one_shot import discriminant
from confide.plans.rounds.whitening import Whitened, possible, unknown, whitened
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import Scale, scale_of
from confide.tables.aggregates.descent_terms import RESIDUAL, SCORE_CUTS, UNIT, Family
from confide.tables.schema import Dataset

Rows: TypeAlias = tuple[tuple[int, ...], ...]

_NO_ANSWER = 1e60  # is as large
_TURNS, _TURNS_OF_POWERS = 0.5, 1.0  # of curvature, usually, per unit of z


@dataclass(frozen=True, slots=True, kw_only=True)
class AskMoments:
    """Σ xxᵀ, on and above the diagonal; then the totals that the family starts from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a model stands.

    Attributes:
        whitening: z = x·whitening, in 1/UNIT; shape (d, d).
        coefficients: θ, in 1/COEFFICIENT: an intercept for each interval, then slopes; or, of
            classes, intercept and slopes for each.
    """

    whitening: Rows
    coefficients: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGradient:
    """Σ w·r·z at a place, in a round."""

    at: Place
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCurvature:
    """Σ w·v·zzᵀ and Σ w²·v·zzᵀ at a place, each on and above the diagonal."""

    at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class AskScores:
    """Patients who were held out, by bin of θᵀz: those without the outcome, then those with.

    Under ``POISSON`` the sums of their events by bin, in units of a number of events at which they
    are cut, then of their person-time, both in 1/UNIT².  Under
    ``HAZARD`` first those whose follow-up ended in the first interval, and so on, last those who
    reached the end.  First come
    those who calibrate, then each subgroup of those who evaluate, column by column.

    Attributes:
        at: The place.
        edges: Of the bins of θᵀz (of βᵀu under ``HAZARD``), in steps of the table of the link; of
            classes those of the share of each, one after another, in 1/RESIDUAL.
        most: Number of events at which those of a patient are cut; 0 for their public bound, and
            of others.
    """

    at: Place
    edges: tuple[int, ...]
    most: int = 0


Ask: TypeAlias = AskMoments | AskGradient | AskCurvature | AskScores


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Noisy answers of the late rounds, as they came: drawn to nothing.

    Attributes:
        asked: Where each gradient was asked for; shape (late rounds, coefficients).
        gradients: Shape (late rounds, numbers of a gradient).
        measured: H of the terms at the first of these places; shape (pairs, d, d).
        events: Of each interval of follow-up; shape (K,), or (0,) where there are none.
        events_noise: Standard deviation of each.
    """

    asked: Floats
    gradients: Floats
    measured: Floats
    events: Floats
    events_noise: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What the noisy answers so far say.

    Attributes:
        whitened: The terms.
        theta: Where the next question is asked: intercepts, then slopes; of classes in the
            coordinates of :mod:`.classes`.
        estimate: Mean of the late estimates, not drawn to 0.
        curvature: H, known from the late rounds on.
        spread: J.
        left: What late gradients, read together, say at the estimate; 0 unless steps were limited.
        error: Covariance of it.
        noise: Standard deviation of a coordinate of it, on average.
        each: That of one of them.
        last: Length of the last step.
        blurred: That of an entry of the curvature.
        evidence: What the late rounds answered; None before the end, and of one look.
        beyond: Whether answers were beyond what rows can add up to, and cut there, or led nowhere.
    """

    whitened: Whitened
    theta: Floats
    estimate: Floats
    curvature: Floats
    spread: Floats
    left: Floats
    error: Floats
    noise: float
    each: float
    last: float
    blurred: float
    evidence: Evidence | None = None
    beyond: bool = False


def next_ask(
    aggregate: DescentAggregate, answers: Sequence[int], *, sigma: float, dataset: Dataset
) -> Ask | None:
    """Return what is asked after these noisy answers, or None where all has been asked.

    Args:
        aggregate: The model.
        answers: Noisy answers so far, one after another.
        sigma: Standard deviation of the noise of each.
        dataset: Public facts.
    """
    scale = scale_of(aggregate, dataset=dataset)
    if not answers:
        return AskMoments()
    walked = walk(aggregate, answers, sigma=sigma, dataset=dataset)
    place = _place(walked, aggregate=aggregate)
    early = scale.opening + scale.early * scale.gradient
    late = early + scale.curved + scale.spread
    end = late + (scale.rounds - scale.early) * scale.gradient
    match len(answers):
        case n if n < early:
            return AskGradient(at=place, round=(n - scale.opening) // scale.gradient)
        case n if n == early and scale.curved:
            return AskCurvature(at=place)
        case n if n < end:
            return AskGradient(at=place, round=scale.early + (n - late) // scale.gradient)
        case n if n < scale.length:
            return AskScores(at=place, edges=_score_edges(aggregate, walked.theta))
        case _:
            return None


def walk(
    aggregate: DescentAggregate, answers: Sequence[int], *, sigma: float, dataset: Dataset
) -> Walk:
    """Repeat the path that noisy answers took; scores do not change it.

    Answers that no rows give may lead nowhere: then nothing is told but how many rows there are.
    """
    scale = scale_of(aggregate, dataset=dataset)
    taken = np.clip(np.array(answers, dtype=np.float64), -_NO_ANSWER, _NO_ANSWER)
    try:
        if aggregate.one_look:
            return _looked(taken, scale=scale, sigma=sigma)
        return _walked(aggregate, taken, scale=scale, sigma=sigma, dataset=dataset)
    except np.linalg.LinAlgError:
        return nowhere(float(taken[0]) / (scale.moments * UNIT**2), scale=scale)


def nowhere(rows: float, *, scale: Scale) -> Walk:
    """Return the walk of answers of which nothing is told but the noisy number of rows."""
    zero, one = np.zeros(scale.size), np.eye(scale.size)
    return Walk(
        whitened=unknown(rows, terms=scale.terms),
        theta=zero,
        estimate=zero,
        curvature=one,
        spread=one,
        left=zero,
        error=one,
        noise=1.0,
        each=1.0,
        last=0.0,
        blurred=1.0,
        beyond=True,
    )


def _walked(
    aggregate: DescentAggregate, answers: Floats, *, scale: Scale, sigma: float, dataset: Dataset
) -> Walk:
    found = whitened(answers[: scale.opening - scale.totals], scale=scale, sigma=sigma)
    taken = possible(answers, rows=found.rows, scale=scale, sigma=sigma)
    begun = started(
        aggregate,
        taken[scale.opening - scale.totals : scale.opening] / (scale.moments * UNIT**2),
        rows=found.rows,
        noise=sigma / (scale.moments * UNIT**2),
    )
    first, rest = np.split(taken[scale.opening :], [scale.early * scale.gradient])
    measured, rest = np.split(rest, [scale.curved + scale.spread])
    late = rest[: (scale.rounds - scale.early) * scale.gradient]
    weight = weight_of(scale, power=1)
    varied = weight_of(scale, power=2) / weight / one_outcome(aggregate, dataset=dataset)

    def model(theta: Floats) -> Floats:
        return weight * begun.curvature(theta)

    steps = Steps(aggregate, scale=scale, sigma=sigma)

    def begin(at: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        if aggregate.family is not Family.LOGISTIC:
            return at, gradient
        return rare_start(at, gradient, rows=weight * found.rows, least=FEWEST * steps.each)

    theta = steps.follow(
        first,
        start=on_grid(np.concatenate([begun.intercepts, np.zeros(scale.size - steps.intercepts)])),
        curve=lambda at: begun.joined(model(at)),
        varied=varied,
        begin=begin,
    )
    guessed = model(theta)
    both = Curvature(
        curve=guessed,
        spread=guessed * varied,
        joined=begun.joined,
        noise=sigma / (scale.curvature * UNIT**2),
    )
    if len(measured):
        both = both.pooled(measured, aggregate=aggregate, scale=scale)
    known = anchored(
        both, place=theta, intercepts=steps.intercepts if begun.powers else 0, model=model
    )
    steps = Steps(aggregate, scale=scale, sigma=sigma, first=scale.early)
    usual = _TURNS_OF_POWERS if begun.powers else _TURNS
    theta = steps.read(late, start=theta, known=known, usual=usual)
    told = steps.reading
    if aggregate.classes > 1 and len(steps.asked) == scale.rounds - scale.early:
        theta = on_grid(drawn_with_levels(theta, like=steps.mean, classes=aggregate.classes))
    return Walk(
        whitened=found,
        theta=theta,
        estimate=steps.mean,
        curvature=known.curvature(theta) if told is None else told.curvature,
        spread=known.spread_at(steps.mean),
        left=np.zeros(scale.size) if told is None else told.gradient,
        error=steps.noise**2 * np.eye(scale.size) if told is None else told.error,
        noise=steps.noise,
        each=steps.each,
        last=steps.last,
        blurred=both.noise,
        evidence=_evidence(
            aggregate, taken, asked=steps.asked, scale=scale, noise=sigma / scale.moments
        ),
        beyond=not np.array_equal(taken, answers),
    )


def _evidence(
    aggregate: DescentAggregate, taken: Floats, *, asked: list[Floats], scale: Scale, noise: float
) -> Evidence | None:
    """Return what the late rounds answered, once they all have.

    Args:
        aggregate: The model.
        taken: All noisy answers.
        asked: Where the late gradients were asked for.
        scale: Of the answers.
        noise: Standard deviation of the noise of a total, in 1/UNIT².
    """
    if len(asked) < scale.rounds - scale.early:
        return None
    first = scale.opening + scale.early * scale.gradient
    late = first + scale.curved + scale.spread
    curved = taken[first : first + scale.curved].reshape(aggregate.pairs, -1)
    gradients = taken[late : late + len(asked) * scale.gradient].reshape(len(asked), -1)
    units = np.array(scale.gradients[scale.early :], dtype=np.float64) * UNIT * RESIDUAL
    exits = taken[scale.opening - scale.totals : scale.opening] / (scale.moments * UNIT**2)
    return Evidence(
        asked=np.array(asked),
        gradients=gradients / units[:, None],
        measured=np.array(
            [symmetric(each, size=scale.terms) for each in curved / (scale.curvature * UNIT**2)]
        ),
        events=exits[1::2] if aggregate.family is Family.HAZARD else np.zeros(0),
        events_noise=noise / UNIT**2,
    )


def _looked(taken: Floats, *, scale: Scale, sigma: float) -> Walk:
    """Return what one look says: a place that predicts, and no law of its error."""
    moments, crossed = np.split(taken[: scale.opening], [scale.entries])
    found = whitened(moments, scale=scale, sigma=sigma)
    units = scale.moments * UNIT**2, scale.gradients[0] * UNIT
    matrix = symmetric(moments / units[0], size=scale.terms)
    matrix[0, 0] = found.rows
    theta = discriminant(matrix, crossed / units[1], noise=(sigma / units[0], sigma / units[1]))
    theta = on_grid(np.asarray(np.linalg.solve(found.matrix / UNIT, theta), dtype=np.float64))
    unknown = np.eye(scale.terms)
    return Walk(
        whitened=found,
        theta=theta,
        estimate=theta,
        curvature=unknown,
        spread=unknown,
        left=np.zeros(scale.terms),
        error=unknown,
        noise=math.inf,
        each=math.inf,
        last=0.0,
        blurred=math.inf,
    )


def weight_of(scale: Scale, *, power: int) -> float:
    """Return E[w^power·‖z‖²]/E‖z‖² for z = (1, normal), by the cube-root law of χ² [WH31]."""
    k = scale.terms - 1
    if k < 1:
        return 1.0
    cube = np.maximum(1 - 2 / (9 * k) + NODES * math.sqrt(2 / (9 * k)), 0)
    squared = 1 + k * cube**3
    weight = np.minimum(1, scale.clip / UNIT / np.sqrt(squared)) ** power
    return float((WEIGHTS @ (weight * squared)) / (WEIGHTS @ squared))


def _score_edges(aggregate: DescentAggregate, theta: Floats) -> tuple[int, ...]:
    """Return the edges of the bins of scores; hazards are ranked by their slopes alone."""
    if aggregate.family is Family.MULTINOMIAL:
        whole = by_class(theta, classes=aggregate.classes)
        cuts = share_edges(whole, percents=SCORE_CUTS)
        return tuple(round(float(cut) * RESIDUAL) for cut in cuts.ravel())
    if aggregate.family is Family.HAZARD:
        theta = np.concatenate([[0.0], theta[aggregate.intercepts :]])
    return score_edges(theta)


def score_edges(theta: Floats) -> tuple[int, ...]:
    """Return the edges of the bins of θᵀz that Gaussian terms would have, as steps of a grid."""
    length = float(np.linalg.norm(theta[1:]))
    normal = NormalDist()
    cuts = [normal.inv_cdf(percent / 100) for percent in SCORE_CUTS]
    return tuple(math.floor((float(theta[0]) + length * cut + FARTHEST) * STEPS) for cut in cuts)


def _place(walked: Walk, *, aggregate: DescentAggregate) -> Place:
    theta = walked.theta
    if aggregate.family is Family.MULTINOMIAL:
        theta = on_grid(by_class(theta, classes=aggregate.classes).ravel())
    return Place(
        whitening=tuple(map(tuple, walked.whitened.matrix.tolist())),
        coefficients=tuple(np.rint(theta * COEFFICIENT).astype(np.int64).tolist()),
    )
