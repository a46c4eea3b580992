"""A model at the end of its rounds: coefficients, the law of their error, and a model to predict.

*Law.*  Near the solution θ* of Σ w·r·z = 0 a gradient is H(θ* − θ) + noise, so each late round
gives θ + H⁻¹g = θ* + H⁻¹·noise; their mean is the estimate.  H = Σ w·v·zzᵀ and the sampling
variance of the gradient is J = Σ w²·v·zzᵀ [CP93].  J was measured; H is J times the ratio of
E[w‖z‖²] to E[w²‖z‖²] for Gaussian terms.  So the error has covariance H⁻¹JH⁻¹ from sampling and
s²H⁻²/k from the noise s of k late rounds.

*Curvature* of many terms is noisy, so what was measured is drawn to the one that Gaussian terms
would have, by as much as its distance from it is noise (empirical Bayes) [EM73].

References:
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.plans.descent import Array, Walk, gaussian_curvature, symmetric, walk
from confide.tables.descent import UNIT, DescentAggregate, Scale, scale_of
from confide.tables.schema import Dataset

DROWNED = 0.5
"""Share of a term's variance that noise may make up before its coefficient has no interval."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A fitted model, in units of its terms: numbers in half widths about their centre.

    Attributes:
        coefficients: β, intercept first; shape (d,).
        sampling: Variance of each from sampling; shape (d,).
        noise: Variance of each from noise; shape (d,).
        predicting: Coefficients drawn to 0 by their error; shape (d,).
        drowned: Share of a term's variance that noise could make up; shape (d,).
        rows: Noisy number of rows that were fitted.
        usable: Whether there are enough of them.
    """

    coefficients: Array
    sampling: Array
    noise: Array
    predicting: Array
    drowned: Array
    rows: float
    usable: bool


def fitted(
    aggregate: DescentAggregate, answers: Sequence[int], *, sigma: float, dataset: Dataset
) -> Fit:
    """Return the model that noisy answers say."""
    scale = scale_of(aggregate, dataset=dataset)
    walked = walk(aggregate, answers, sigma=sigma, dataset=dataset)
    curve = _curvature(aggregate, answers, walked=walked, scale=scale, sigma=sigma)
    inverse = np.linalg.inv(curve)
    late = slice(scale.rounds // 2, None)
    pairs = zip(walked.places[late], walked.gradients[late], strict=True)
    theta = np.asarray(
        np.stack([place + inverse @ g for place, g in pairs]).mean(axis=0), dtype=np.float64
    )
    sampling: Array = inverse / weight_ratio(scale.size)
    late_noise = walked.noise[-1] ** 2 / (scale.rounds - scale.rounds // 2)
    noise: Array = late_noise * (inverse @ inverse)
    back = walked.whitened.matrix / UNIT
    return Fit(
        coefficients=back @ theta,
        sampling=np.einsum("ij,jk,ik->i", back, sampling, back),
        noise=np.einsum("ij,jk,ik->i", back, noise, back),
        predicting=back @ _shrunk(theta, error=sampling + noise),
        drowned=walked.whitened.drowned,
        rows=walked.whitened.rows,
        usable=walked.whitened.usable,
    )


def weight_ratio(size: int) -> float:
    """Return E[w‖z‖²]/E[w²‖z‖²] for w = min(1, √d/‖z‖) and z = (1, normal), by [WH31].

    Example:
        >>> round(weight_ratio(10), 3)
        1.067
    """
    k = size - 1
    if k < 1:
        return 1.0
    cube = np.maximum(1 - 2 / (9 * k) + _NODES * math.sqrt(2 / (9 * k)), 0)  # Wilson–Hilferty
    squared = 1 + k * cube**3
    weight = np.minimum(1, np.sqrt(size / squared))
    return float((_WEIGHTS @ (weight * squared)) / (_WEIGHTS @ (weight**2 * squared)))


def _curvature(
    aggregate: DescentAggregate,
    answers: Sequence[int],
    *,
    walked: Walk,
    scale: Scale,
    sigma: float,
) -> Array:
    """Return H: as measured, drawn to that of Gaussian terms by the part of it that is noise."""
    unit = scale.curvature * UNIT**2
    start = scale.entries + scale.rounds * scale.size
    entries = np.array(answers[start : start + scale.entries], dtype=np.float64) / unit
    measured = symmetric(entries, size=scale.size) * weight_ratio(scale.size)
    model = walked.whitened.rows * gaussian_curvature(aggregate.family, walked.theta)
    values, vectors = np.linalg.eigh(model)
    turned = vectors / np.sqrt(values)
    apart = turned.T @ (measured - model) @ turned
    sd = sigma / unit * weight_ratio(scale.size)
    noise = sd**2 * float(np.sum(1 / np.outer(values, values)))
    share = max(0.0, 1 - noise / max(float(np.sum(apart**2)), 1e-300))
    straight = np.linalg.eigh(np.eye(scale.size) + share * apart)
    positive = straight.eigenvectors * np.maximum(straight.eigenvalues, 0.1)
    pooled = positive @ straight.eigenvectors.T
    half = vectors * np.sqrt(values)
    return np.asarray(half @ pooled @ half.T)


def _shrunk(theta: Array, *, error: Array) -> Array:
    """Return θ with its slopes drawn to 0 by the share of their spread that is error."""
    slopes = theta[1:]
    if not len(slopes):
        return theta
    spread = float(slopes @ slopes) / len(slopes)
    mean = float(np.trace(error[1:, 1:])) / len(slopes)
    return np.concatenate([theta[:1], slopes * max(0.0, 1 - mean / max(spread, 1e-300))])
