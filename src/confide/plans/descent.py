"""What a model in rounds asks next, and what has been learnt: a function of noisy answers alone.

A :class:`Question` of the rows is public: it holds whole numbers made from earlier noisy answers.
The gate asks, adds noise and asks again; whoever has the noisy answers repeats the path.

*Steps.*  Terms are whitened, z = (1, (x − m)W) with the noisy mean m and covariance, eigenvalues no
smaller than their noise.  From θ = 0, each round takes Newton's step θ + H⁻¹g: in the early rounds
with the curvature H that z would have if it were Gaussian, in the late ones with the measured one,
drawn to the other by the part of their distance that is noise.  What the steps of either half lead
to is averaged.  Counts and hazards start from their marginal rates, which noisy totals say, and
their curvature before it is measured is that of Gaussian terms with as many events.  The place from
which the next gradient is taken, and in the end the model that predicts, is drawn to 0 by the share
of its size that is error (empirical Bayes) [EM73].

References:
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
    [WH31] Wilson, Hilferty. The distribution of chi-square. PNAS 17(12), 1931.
        https://doi.org/10.1073/pnas.17.12.684
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.plans.link import FARTHEST, STEPS
from confide.plans.marginal import NODES, WEIGHTS, started
from confide.tables.descent import (
    RESIDUAL,
    SCORE_CUTS,
    UNIT,
    DescentAggregate,
    Family,
    Scale,
    scale_of,
)
from confide.tables.schema import Dataset

Array: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = tuple[tuple[int, ...], ...]

COEFFICIENT = 2**16
"""One, in the whole coefficients that a question holds."""
LARGEST_COEFFICIENT = 2**6
LARGEST_ENTRY = 2**10
_FEWEST = 10  # a fit needs this many standard deviations of noise in its number of rows
_LARGEST_STEP = 2.0
_AGREE = 2.0  # standard deviations of χ² by which two steps may differ
_LEAST_CURVATURE = 0.1  # of that of Gaussian terms
_LEAST_OF_EVENTS = (0.4, 0.05)  # the same for counts and hazards: of curvature, and of spread


@dataclass(frozen=True, slots=True, kw_only=True)
class AskMoments:
    """Σ xxᵀ, on and above the diagonal; then the totals that the family starts from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a model stands.

    Attributes:
        whitening: z = x·whitening, in 1/UNIT; shape (d, d).
        coefficients: θ, in 1/COEFFICIENT: an intercept for each interval, then slopes.
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

    Under ``POISSON`` the sums of their events by bin, then of their person-time, in 1/UNIT².  Under
    ``HAZARD`` first those whose follow-up ended in the first interval, and so on, last those who
    reached the end.  First come
    those who calibrate, then each subgroup of those who evaluate, column by column.

    Attributes:
        at: The place.
        edges: Of the bins of θᵀz (of βᵀu under ``HAZARD``), in steps of the table of the link.
    """

    at: Place
    edges: tuple[int, ...]


Ask: TypeAlias = AskMoments | AskGradient | AskCurvature | AskScores


@dataclass(frozen=True, slots=True, kw_only=True)
class Whitened:
    """Terms with mean 0 and covariance I, as far as the noise lets them.

    Attributes:
        rows: Noisy number of rows.
        usable: Whether that is enough to fit anything.
        matrix: z = x·matrix; shape (d, d), as whole numbers in 1/UNIT.
        drowned: Share of each term's variance that noise could make up; shape (d,), 0 for the
            intercept.
    """

    rows: float
    usable: bool
    matrix: NDArray[np.int64]
    drowned: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """What the noisy answers so far say.

    Attributes:
        whitened: The terms.
        theta: Where the next question is asked: intercepts, then slopes.
        estimate: Mean of the late estimates, not drawn to 0.
        curvature: H, known from the late rounds on.
        spread: J.
        noise: Standard deviation of a coordinate of the mean of the late gradients.
        blurred: That of an entry of the curvature.
    """

    whitened: Whitened
    theta: Array
    estimate: Array
    curvature: Array
    spread: Array
    noise: float
    blurred: float


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
    place = _place(walked)
    early = scale.opening + scale.early * scale.size
    late = early + 2 * scale.entries
    end = late + (scale.rounds - scale.early) * scale.size
    match len(answers):
        case n if n < early:
            return AskGradient(at=place, round=(n - scale.opening) // scale.size)
        case n if n == early:
            return AskCurvature(at=place)
        case n if n < end:
            return AskGradient(at=place, round=scale.early + (n - late) // scale.size)
        case n if n < scale.length:
            return AskScores(at=place, edges=_score_edges(aggregate, walked.theta))
        case _:
            return None


def walk(
    aggregate: DescentAggregate, answers: Sequence[int], *, sigma: float, dataset: Dataset
) -> Walk:
    """Repeat the path that noisy answers took; scores do not change it."""
    scale = scale_of(aggregate, dataset=dataset)
    taken = np.array(answers, dtype=np.float64)
    entries, early = scale.entries, scale.early * scale.size
    moments = taken[: scale.opening - scale.totals]
    found = _whitened(moments, scale=scale, sigma=sigma)
    rest = taken[scale.opening + early :]
    begun = started(
        aggregate,
        taken[scale.opening - scale.totals : scale.opening] / (scale.moments * UNIT**2),
        rows=found.rows,
        noise=sigma / (scale.moments * UNIT**2),
    )
    weight = weight_of(scale, power=1)

    def model(theta: Array) -> Array:
        return weight * begun.curvature(theta)

    def guessed(theta: Array) -> Array:
        return begun.by_interval(model(theta))

    steps = _Steps(scale=scale, sigma=sigma)
    theta = steps.follow(
        taken[scale.opening :][:early],
        start=_on_grid(np.concatenate([begun.intercepts, np.zeros(scale.terms - 1)])),
        curve=guessed,
    )
    shrinks = weight_of(scale, power=2) / weight
    curve, spread = model(theta), model(theta) * shrinks
    if len(rest):
        unit = scale.curvature * UNIT**2
        least = _LEAST_OF_EVENTS if scale.totals else (_LEAST_CURVATURE, _LEAST_CURVATURE)
        both = rest[: 2 * entries].reshape(2, entries) / unit
        curve, spread = (
            _pooled(symmetric(each, size=scale.terms), model=guess, noise=sigma / unit, least=floor)
            for each, guess, floor in zip(both, (curve, spread), least, strict=True)
        )
    known, level = curve, float(np.trace(model(theta)))
    late = _Steps(scale=scale, sigma=sigma, first=scale.early)

    def measured(at: Array) -> Array:
        return begun.by_interval(known * (float(np.trace(model(at))) / level))

    gradients = rest[2 * entries :][: (scale.rounds - scale.early) * scale.size]
    theta = late.follow(gradients, start=theta, curve=measured)
    ratio = float(np.trace(model(theta))) / level
    return Walk(
        whitened=found,
        theta=theta,
        estimate=late.mean,
        curvature=begun.by_interval(curve * ratio),
        spread=begun.by_interval(spread * ratio),
        noise=late.noise,
        blurred=sigma / (scale.curvature * UNIT**2),
    )


class _Steps:
    """Newton's steps from one noisy gradient to the next.

    Where a step led is θ* + H⁻¹·noise once the place it began at was near; from farther away it
    errs by the square of the distance too.  So the mean is over the last steps that agree with
    each other as well as noise lets them.
    """

    def __init__(self, *, scale: Scale, sigma: float, first: int = 0) -> None:
        self._size = scale.size
        self._intercepts = scale.size - scale.terms + 1
        self._multipliers = scale.gradients[first:]
        self._each = sigma / (scale.gradients[first] * UNIT * RESIDUAL)
        self._taken: list[Array] = []
        self.mean = np.zeros(scale.size)
        self.noise = self._each

    def follow(self, flat: Array, *, start: Array, curve: Callable[[Array], Array]) -> Array:
        """Return where the gradients lead, one after another, drawn to 0 by their error."""
        theta = self.mean = start
        for each, b in zip(flat.reshape(-1, self._size), self._multipliers, strict=False):
            steep = curve(theta)
            step = np.linalg.solve(steep, each / (b * UNIT * RESIDUAL))
            far = float(np.linalg.norm(step))
            self._taken.append(theta + step * min(1.0, _LARGEST_STEP / max(far, 1e-9)))
            self._average(steep)
            drawn = _shrunk(
                self.mean, curve=steep, noise=self.noise**2, intercepts=self._intercepts
            )
            theta = _on_grid(drawn)
        return theta

    def _average(self, curve: Array) -> None:
        """Take the mean of the last steps for as long as the one before agrees with it."""
        mean, count = self._taken[-1], 1
        for earlier in reversed(self._taken[:-1]):
            apart = curve @ (earlier - mean) / (self._each * math.sqrt(1 + 1 / count))
            if float(apart @ apart) > self._size + _AGREE * math.sqrt(2 * self._size):
                break
            mean, count = (mean * count + earlier) / (count + 1), count + 1
        self.mean, self.noise = mean, self._each / math.sqrt(count)


def weight_of(scale: Scale, *, power: int) -> float:
    """Return E[w^power·‖z‖²]/E‖z‖² for z = (1, normal), by the cube-root law of χ² [WH31]."""
    k = scale.terms - 1
    if k < 1:
        return 1.0
    cube = np.maximum(1 - 2 / (9 * k) + NODES * math.sqrt(2 / (9 * k)), 0)
    squared = 1 + k * cube**3
    weight = np.minimum(1, scale.clip / UNIT / np.sqrt(squared)) ** power
    return float((WEIGHTS @ (weight * squared)) / (WEIGHTS @ squared))


def _pooled(measured: Array, *, model: Array, noise: float, least: float) -> Array:
    """Return what was measured, drawn to a model by the part of their distance that is noise."""
    values, vectors = np.linalg.eigh(model)
    turned = vectors / np.sqrt(values)
    apart = turned.T @ (measured - model) @ turned
    random = noise**2 * float(np.sum(1 / np.outer(values, values)))
    share = max(0.0, 1 - random / max(float(np.sum(apart**2)), 1e-300))
    straight = np.linalg.eigh(np.eye(len(model)) + share * apart)
    positive = straight.eigenvectors * np.maximum(straight.eigenvalues, least)
    half = vectors * np.sqrt(values)
    return np.asarray(half @ (positive @ straight.eigenvectors.T) @ half.T)


def _shrunk(theta: Array, *, curve: Array, noise: float, intercepts: int) -> Array:
    """Return θ with its slopes drawn to 0 by the share of their size that is error."""
    slopes = theta[intercepts:]
    if not len(slopes):
        return theta
    inverse = np.linalg.inv(curve)
    error = float(np.trace((inverse + noise * inverse @ inverse)[intercepts:, intercepts:]))
    share = max(0.0, 1 - error / max(float(slopes @ slopes), 1e-300))
    return np.concatenate([theta[:intercepts], slopes * share])


def _score_edges(aggregate: DescentAggregate, theta: Array) -> tuple[int, ...]:
    """Return the edges of the bins of scores; hazards are ranked by their slopes alone."""
    if aggregate.family is Family.HAZARD:
        theta = np.concatenate([[0.0], theta[aggregate.intercepts :]])
    return score_edges(theta)


def score_edges(theta: Array) -> tuple[int, ...]:
    """Return the edges of the bins of θᵀz that Gaussian terms would have, as steps of a grid."""
    length = float(np.linalg.norm(theta[1:]))
    normal = NormalDist()
    cuts = [normal.inv_cdf(percent / 100) for percent in SCORE_CUTS]
    return tuple(math.floor((float(theta[0]) + length * cut + FARTHEST) * STEPS) for cut in cuts)


def symmetric(entries: Sequence[float] | Array, *, size: int) -> Array:
    """Return the matrix of which ``entries`` are those on and above the diagonal, row by row."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = entries
    return matrix + np.triu(matrix, 1).T


def _whitened(entries: Array, *, scale: Scale, sigma: float) -> Whitened:
    unit = scale.moments * UNIT**2
    noise = sigma / unit
    moments = symmetric(entries / unit, size=scale.terms)
    usable = bool(moments[0, 0] > _FEWEST * noise)
    rows = float(moments[0, 0]) if usable else _FEWEST * noise
    mean = moments[0, 1:] / rows
    values, vectors = np.linalg.eigh(moments[1:, 1:] / rows - np.outer(mean, mean))
    least = noise * math.sqrt(scale.terms) / rows
    slopes = vectors / np.sqrt(np.maximum(values, least))
    matrix = np.zeros((scale.terms, scale.terms))
    matrix[0, 0] = 1
    matrix[1:, 1:], matrix[0, 1:] = slopes, -mean @ slopes
    below = (vectors**2) @ (values < 2 * least)
    whole = np.rint(np.clip(matrix, -LARGEST_ENTRY, LARGEST_ENTRY) * UNIT)
    return Whitened(
        rows=rows,
        usable=usable,
        matrix=whole.astype(np.int64),
        drowned=np.concatenate([[0.0], below]),
    )


def _place(walked: Walk) -> Place:
    return Place(
        whitening=tuple(map(tuple, walked.whitened.matrix.tolist())),
        coefficients=tuple(np.rint(walked.theta * COEFFICIENT).astype(np.int64).tolist()),
    )


def _on_grid(theta: Array) -> Array:
    cut = np.clip(theta, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
    return np.asarray(np.rint(cut * COEFFICIENT) / COEFFICIENT)
