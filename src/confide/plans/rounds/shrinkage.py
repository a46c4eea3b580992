"""Noisy matrices, drawn to what is known by the part of their size that is noise.

A measured matrix stands apart from its model by what is true of the data and by noise.  The step of
Newton takes its curvature with one share for all directions, which is steadier.  Intervals take the
spread with a share for each direction: with one for all, a rare category, far from Gaussian alone,
was drawn to the model with the rest, and its intervals were up to a quarter too wide.

*Privacy:* functions of noisy answers.

References:
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
    [MN89] McCullagh, Nelder. Generalized linear models, 2nd ed. Chapman and Hall 1989.
        https://doi.org/10.1201/9780203753736
"""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats

Kept: TypeAlias = Callable[[Floats, float], Floats]
"""Share of each eigenvalue of a distance that is kept, if its square is so much by noise alone."""

_UPPER_END = 1.645  # standard deviations
_LEAST_DISPERSION = 0.05
_LEAST = 0.05  # share of the model, however surely a direction is below it
_MOST = 2.0**20  # times the model, as rare rows are told at most
_SURE = 1.0  # standard deviations of an eigenvalue
_SMALLEST = 1e-300


def of_all(values: Floats, random: float) -> Floats:
    """Return one share for all directions [EM73].

    Example:
        >>> of_all(np.array([3.0, 1.0]), 5.0).tolist()
        [0.5, 0.5]
    """
    share = max(0.0, 1 - random / max(float(values @ values), _SMALLEST))
    return np.full(len(values), share)


def of_each(values: Floats, random: float) -> Floats:
    """Return a share for each direction, of which noise makes up equal parts.

    Example:
        >>> of_each(np.array([5.0, 1.0]), 5.0).tolist()
        [0.9, 0.0]
    """
    each = random / len(values) / np.maximum(values**2, _SMALLEST)
    return np.maximum(0.0, 1 - each)


def pooled(measured: Floats, *, model: Floats, noise: float, least: float, kept: Kept) -> Floats:
    """Return what was measured, drawn to a model by the part of their distance that is noise.

    Args:
        measured: Noisy and symmetric; shape (d, d).
        model: Positive definite.
        noise: Standard deviation of an entry.
        least: No direction falls below this share of the model, unless it surely does.
        kept: What is kept of each direction of the distance.
    """
    values, vectors = np.linalg.eigh(model)
    turned = vectors / np.sqrt(values)
    random = noise**2 * float(np.sum(1 / np.outer(values, values)))
    apart = np.linalg.eigh(turned.T @ (measured - model) @ turned)
    drawn = np.minimum(1 + kept(apart.eigenvalues, random) * apart.eigenvalues, _MOST)
    surely = 1 + apart.eigenvalues + _SURE * math.sqrt(random / len(values))
    positive = apart.eigenvectors * np.maximum(drawn, np.clip(surely, min(_LEAST, least), least))
    half = vectors * np.sqrt(values)
    return np.asarray(half @ (positive @ apart.eigenvectors.T) @ half.T)


def dispersion(measured: Floats, *, model: Floats, noise: float) -> float:
    """Return by how much a measured matrix is larger than a model of it, on average [MN89, ch. 9].

    At the upper end of its noise, so that noise does not narrow intervals.
    """
    values, vectors = np.linalg.eigh(model)
    turned = vectors / np.sqrt(values)
    error = noise * math.sqrt(float(np.sum(1 / values**2))) / len(model)
    found = float(np.trace(turned.T @ measured @ turned)) / len(model)
    return max(found + _UPPER_END * error, _LEAST_DISPERSION)
