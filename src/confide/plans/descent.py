"""What a model in rounds asks next, and what has been learnt: a function of noisy answers alone.

A :class:`Question` of the rows is public: it holds whole numbers made from earlier noisy answers.
The gate asks, adds noise and asks again; whoever has the noisy answers repeats the path.

*Steps.*  Terms are whitened, z = (1, (x − m)W) with the noisy mean m and covariance, eigenvalues no
smaller than their noise.  From θ = 0, each round takes Newton's step θ + H⁻¹g, with the curvature H
that z would have if it were Gaussian; estimates of the later half of the rounds are averaged.  A
step that uses a wrong H still moves towards the solution of g = 0, and the measured curvature
replaces H in the end.

*Prediction* shrinks the slopes: θ̂ is spread by τ² about 0 beyond its error s², and
τ²/(τ² + s²)·θ̂ predicts better (empirical Bayes) [EM73].

References:
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.plans.link import FARTHEST, STEPS, variance
from confide.tables.descent import (
    RESIDUAL,
    SCORE_BINS,
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
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskMoments:
    """Σ xxᵀ, on and above the diagonal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a model stands.

    Attributes:
        whitening: z = x·whitening, in 1/UNIT; shape (d, d).
        coefficients: θ, in 1/COEFFICIENT; shape (d,).
    """

    whitening: Rows
    coefficients: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskGradient:
    """Σ r·z̃ at a place, in a round."""

    at: Place
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCurvature:
    """Σ v·z̃z̃ᵀ at a place, on and above the diagonal."""

    at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class AskScores:
    """Patients who were held out, by bin of θᵀz: those without the outcome, then those with.

    Attributes:
        at: The place.
        edges: Of the bins of θᵀz, in units of the table of the link.
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
        places: θ at which each gradient was asked; each of shape (d,).
        gradients: Noisy gradients, in units of 1; each of shape (d,).
        theta: Where the next question is asked; shape (d,).
        noise: Standard deviation of a coordinate of each gradient.
    """

    whitened: Whitened
    places: tuple[Array, ...]
    gradients: tuple[Array, ...]
    theta: Array
    noise: tuple[float, ...]


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
    asked = len(answers) - scale.entries
    if asked < scale.rounds * scale.size:
        return AskGradient(at=place, round=asked // scale.size)
    if asked == scale.rounds * scale.size:
        return AskCurvature(at=place)
    if len(answers) < scale.length:
        return AskScores(at=place, edges=score_edges(walked.theta))
    return None


def walk(
    aggregate: DescentAggregate, answers: Sequence[int], *, sigma: float, dataset: Dataset
) -> Walk:
    """Repeat the path that noisy answers took; answers after the gradients do not change it."""
    scale = scale_of(aggregate, dataset=dataset)
    noise = tuple(sigma / (b * UNIT * RESIDUAL) for b in scale.gradients)
    found = _whitened(answers[: scale.entries], scale=scale, sigma=sigma)
    flat = np.array(answers[scale.entries :][: scale.rounds * scale.size], dtype=np.float64)
    theta = np.zeros(scale.size)
    places: list[Array] = []
    gradients: list[Array] = []
    steps: list[Array] = []
    for each, b in zip(flat.reshape(-1, scale.size), scale.gradients, strict=False):
        gradient = each / (b * UNIT * RESIDUAL)
        places.append(theta)
        gradients.append(gradient)
        curve = found.rows * gaussian_curvature(aggregate.family, theta)
        step = np.linalg.solve(curve, gradient)
        far = float(np.linalg.norm(step))
        steps.append(theta + step * min(1.0, _LARGEST_STEP / max(far, 1e-9)))
        theta = _on_grid(np.mean(steps[len(steps) // 2 :], axis=0))
    return Walk(
        whitened=found,
        places=tuple(places),
        gradients=tuple(gradients),
        theta=theta,
        noise=noise,
    )


def gaussian_curvature(family: Family, theta: Array) -> Array:
    """Return E[v(θᵀz)·zzᵀ] for z = (1, w) with standard normal w; shape (d, d).

    Along θ's slopes it is a one-dimensional integral, across them a multiple of I.

    Example:
        >>> gaussian_curvature(Family.LOGISTIC, np.zeros(2)).round(3).tolist()
        [[0.25, 0.0], [0.0, 0.25]]
    """
    slopes = theta[1:]
    length = float(np.linalg.norm(slopes))
    along = slopes / length if length > 1e-12 else np.zeros_like(slopes)
    v = variance(family, theta[0] + length * _NODES) * _WEIGHTS
    zero, one, two = float(v.sum()), float(v @ _NODES), float(v @ _NODES**2)
    curve = zero * np.eye(len(theta))
    curve[0, 1:] = curve[1:, 0] = one * along
    curve[1:, 1:] += (two - zero) * np.outer(along, along)
    return np.asarray(curve + 1e-9 * np.eye(len(theta)))


def score_edges(theta: Array) -> tuple[int, ...]:
    """Return the edges of bins of θᵀz that Gaussian terms would fill evenly, as steps of a grid."""
    length = float(np.linalg.norm(theta[1:]))
    normal = NormalDist()
    cuts = [normal.inv_cdf(k / SCORE_BINS) for k in range(1, SCORE_BINS)]
    return tuple(math.floor((float(theta[0]) + length * cut + FARTHEST) * STEPS) for cut in cuts)


def symmetric(entries: Sequence[float] | Array, *, size: int) -> Array:
    """Return the matrix of which ``entries`` are those on and above the diagonal, row by row."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = entries
    return matrix + np.triu(matrix, 1).T


def _whitened(entries: Sequence[int], *, scale: Scale, sigma: float) -> Whitened:
    unit = scale.moments * UNIT**2
    noise = sigma / unit
    moments = symmetric(np.array(entries, dtype=np.float64) / unit, size=scale.size)
    usable = bool(moments[0, 0] > _FEWEST * noise)
    rows = float(moments[0, 0]) if usable else _FEWEST * noise
    mean = moments[0, 1:] / rows
    values, vectors = np.linalg.eigh(moments[1:, 1:] / rows - np.outer(mean, mean))
    least = noise * math.sqrt(scale.size) / rows
    slopes = vectors / np.sqrt(np.maximum(values, least))
    matrix = np.zeros((scale.size, scale.size))
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
