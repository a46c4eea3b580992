"""Several classes at once: coordinates of their coefficients, and shares under Gaussian terms.

Coefficients θ_c of K classes are known up to a vector that all share, so they are taken to add up
to 0 and written in an orthonormal basis of that plane: φ holds K − 1 intercepts, then slopes.  A
gradient is asked for in all K parts and projected; its noise is alike in every direction, and no
class is the first, which would cost the others precision.  Against a reference class, what is
published, coefficients are differences.

Means over Gaussian terms depend on them through the K − 1 directions of the slopes alone: over
these they are averages at the points of a rank-one lattice [Nie92]; across them, multiples of I.

References:
    [Nie92] Niederreiter. Random number generation and quasi-Monte Carlo methods. SIAM 1992, ch. 5.
        https://doi.org/10.1137/1.9781611970081
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confide.arrays import Floats

_POINTS, _GENERATOR = 1021, 76
_TURNS = 30  # until levels give their shares
_FEWEST = 1e-12


@functools.cache
def basis(classes: int) -> Floats:
    """Return orthonormal vectors that are orthogonal to 1; shape (K, K − 1) (Helmert's).

    Example:
        >>> basis(3).round(3).tolist()
        [[0.707, 0.408], [-0.707, 0.408], [0.0, -0.816]]
    """
    found = np.zeros((classes, classes - 1))
    for j in range(1, classes):
        found[:j, j - 1] = 1 / math.sqrt(j * (j + 1))
        found[j, j - 1] = -j / math.sqrt(j * (j + 1))
    return found


@functools.cache
def spread_out(classes: int, size: int) -> Floats:
    """Return what takes φ to θ by class and then term; shape (K·d, (K − 1)·d), orthonormal."""
    return against(basis(classes), size=size)


def against(rows: Floats, *, size: int) -> Floats:
    """Return what takes φ to combinations of classes; shape (rows·d, (K − 1)·d).

    Args:
        rows: A combination of the basis each; shape (rows, K − 1).
        size: d, number of terms.
    """
    many = rows.shape[1]
    places = [
        [j] + [many + j * (size - 1) + t for t in range(size - 1)] for j in range(many)
    ]  # where φ has the terms of the j-th vector
    found = np.zeros((len(rows) * size, many * size))
    for c, row in enumerate(rows):
        for j, value in enumerate(row):
            found[c * size + np.arange(size), places[j]] = value
    return found


def pairs(classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes a < b, in the order in which their curvature is asked for."""
    return list(itertools.combinations(range(classes), 2))


def joined(stack: Floats, *, classes: int) -> Floats:
    """Return Σ_{a<b} (e_a − e_b)(e_a − e_b)ᵀ ⊗ P_ab in the coordinates φ.

    Args:
        stack: P_ab; shape (pairs, d, d).
        classes: K.
    """
    size, vectors = stack.shape[1], basis(classes)
    found = np.zeros(((classes - 1) * size,) * 2)
    for (a, b), each in zip(pairs(classes), stack, strict=True):
        apart = against((vectors[a] - vectors[b])[None], size=size)
        found += apart.T @ each @ apart
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianShares:
    """Shares of the classes at points of Gaussian terms.

    Attributes:
        along: Directions of the slopes; shape (d − 1, r), orthonormal.
        points: Coordinates of the terms along them; shape (points, r).
        shares: Shape (points, K).
    """

    along: Floats
    points: Floats
    shares: Floats

    def curvature(self) -> Floats:
        """Return E[p_a·p_b·zzᵀ] for each pair of classes; shape (pairs, d, d)."""
        size = len(self.along) + 1
        found = np.zeros((len(pairs(self.shares.shape[1])), size, size))
        across = np.eye(size - 1) - self.along @ self.along.T
        for each, (a, b) in zip(found, pairs(self.shares.shape[1]), strict=True):
            v = self.shares[:, a] * self.shares[:, b] / len(self.points)
            zero = float(v.sum())
            each[0, 0] = zero
            each[0, 1:] = each[1:, 0] = self.along @ (v @ self.points)
            two = (self.points * v[:, None]).T @ self.points
            each[1:, 1:] = zero * across + self.along @ two @ self.along.T
        return found + 1e-9 * np.eye(size)


def gaussian_shares(theta: Floats) -> GaussianShares:
    """Return the shares that a model gives to Gaussian terms.

    Args:
        theta: Coefficients by class; shape (K, d).
    """
    slopes = basis(len(theta)).T @ theta[:, 1:]
    along, _ = np.linalg.qr(slopes.T)
    points = _lattice(along.shape[1])
    eta = theta[:, 0] + points @ (theta[:, 1:] @ along).T
    return GaussianShares(along=along, points=points, shares=softmax(eta))


def softmax(scores: Floats) -> Floats:
    """Return shares, along the last axis.

    Example:
        >>> softmax(np.zeros((1, 4))).tolist()
        [[0.25, 0.25, 0.25, 0.25]]
    """
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def levelled(theta: Floats, *, shares: Floats) -> Floats:
    """Return coefficients with levels that give Gaussian terms these shares, adding up to 0.

    Args:
        theta: Coefficients by class; shape (K, d).
        shares: Mean share of each class; shape (K,).

    Example:
        >>> levelled(np.zeros((4, 3)), shares=np.full(4, 0.25))[:, 0].round(6).tolist()
        [0.0, 0.0, 0.0, 0.0]
    """
    gaussian, levels, wanted = gaussian_shares(theta), theta[:, 0], np.maximum(shares, _FEWEST)
    scores = gaussian.points @ (theta[:, 1:] @ gaussian.along).T
    for _ in range(_TURNS):
        told = softmax(levels + scores).mean(axis=0)
        levels = levels + np.log(wanted / np.maximum(told, _FEWEST))
    return np.column_stack([levels - levels.mean(), theta[:, 1:]])


def drawn_with_levels(phi: Floats, *, like: Floats, classes: int) -> Floats:
    """Return φ with the mean shares of another model: slopes that were drawn to 0 move them.

    Args:
        phi: Whose slopes were drawn.
        like: As it was before.
        classes: K.
    """
    shares = gaussian_shares(by_class(like, classes=classes)).shares.mean(axis=0)
    levels = levelled(by_class(phi, classes=classes), shares=shares)[:, 0]
    return np.concatenate([basis(classes).T @ levels, phi[classes - 1 :]])


@functools.cache
def _lattice(dimensions: int) -> Floats:
    """Return normal points with mean 0 and covariance I; shape (points, dimensions)."""
    steps = [pow(_GENERATOR, k, _POINTS) for k in range(dimensions)]
    even = (np.outer(np.arange(_POINTS), steps) % _POINTS + 0.5) / _POINTS
    normal = NormalDist()
    found = np.array([[normal.inv_cdf(float(u)) for u in row] for row in even])
    found -= found.mean(axis=0)
    root = np.linalg.cholesky(found.T @ found / _POINTS)
    return np.asarray(np.linalg.solve(root, found.T).T)


def by_class(phi: Floats, *, classes: int) -> Floats:
    """Return the coefficients of each class, which add up to 0; shape (K, d)."""
    whole = spread_out(classes, len(phi) // (classes - 1)) @ phi
    return np.asarray(whole.reshape(classes, -1))


def share_edges(theta: Floats, *, percents: Sequence[int]) -> Floats:
    """Return each class's shares below which some percents of Gaussian terms are.

    Shape (K, percents).
    """
    shares = gaussian_shares(theta).shares
    return np.asarray(np.quantile(shares, np.array(percents) / 100, axis=0).T)


def share_log_odds(theta: Floats, *, places: Floats) -> Floats:
    """Return log odds of each class against the rest below which shares of Gaussian terms are.

    Args:
        theta: Coefficients by class; shape (K, d).
        places: Shares of the terms; any shape, which follows K in the answer.
    """
    shares = np.quantile(gaussian_shares(theta).shares, places.ravel(), axis=0).T
    odds = np.log(np.maximum(shares, 1e-9)) - np.log(np.maximum(1 - shares, 1e-9))
    return np.asarray(odds.reshape(len(theta), *places.shape))
