"""What the late gradients of a model in rounds say together, of a curvature that turns on the way.

A late gradient was asked for at a place θ_t: g_t is ∫ H along the way from there to the solution,
and noise.  H was measured once, at the first of these places, o.  Elsewhere it is as Gaussian terms
say that it changes, *anchored* at what was measured, and an error E(θ) = T[θ − o]: terms that are
not Gaussian turn it by a third derivative T that nobody knows.  With Δ_t = θ − θ_t, S_t = (θ − o)
+ (θ_t − o), the way from θ_t to θ adds ½T[Δ_t, S_t] to a gradient.  With T normal, of relative size
κ per unit of z, that has covariance ¼κ²h·(Δ_tᵀHΔ_s)(S_tᵀS_s) between two of them, in a direction in
which H has the eigenvalue h.  So the gradient at θ is the generalised least squares of all of them
carried to θ [RW06, sec. 2.7]: those from afar weigh little, or are extrapolated, and its error says
how sure that is.  T changes on the way too, so 15 % of what it adds to each gradient is taken to be
apart from the others'.  θ is where the gradient is 0.  Where places are near one another against
the noise, their mean is all that it comes to.

Distances (·ᵀ·) count slopes in full and an interval of follow-up by its share of the curvature, as
that is of the events: where nobody has the event its intercept goes to −∞ and bends nothing else.
An intercept's own curvature goes with its rate, which is known.

κ is the usual one, or that times two, four or eight, by which the gradients are most likely, with
a prior about the usual one.  What they say of E also mends H at the solution, which the law of the
error needs.

*Privacy:* functions of noisy answers.

References:
    [RW06] Rasmussen, Williams. Gaussian processes for machine learning. MIT Press 2006.
        https://doi.org/10.7551/mitpress/3206.001.0001
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats

Curve: TypeAlias = Callable[[Floats], Floats]
"""H at a place."""

_TURNS = (1.0, 2.0, 4.0, 8.0)  # κ, times the usual one
_BENT = 0.15  # of what a turn adds to a gradient, that is a law of its own
_MOST_STEPS = 6
_NEAR = 1e-4  # of the variance of a gradient, that its square may be at the end
_LEAST_MENDED, _MOST_MENDED = 0.3, 3.0  # times itself, that H may be mended to
_LEAST_DIRECTION = 1e-12  # of the steepest, that rounding leaves a direction of a curvature
_NODES = (0.5 - math.sqrt(1 / 12), 0.5 + math.sqrt(1 / 12))  # Gauss-Legendre on [0, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """Late gradients, and what is known beside them.

    Attributes:
        asked: Where each was asked for; shape (k, d).
        gradients: Noisy; shape (k, d).
        curve: H as it was measured, carried to a place.
        each: Standard deviation of the noise of a coordinate of a gradient.
        counts: By how much each coordinate counts in a squared distance; shape (d,).
        usual: κ without gradients that say otherwise.
        limited: A step, of limited length, from the last place, under H.
    """

    asked: Floats
    gradients: Floats
    curve: Curve
    each: float
    counts: Floats
    usual: float
    limited: Callable[[Floats, Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What late gradients say together.

    Attributes:
        estimate: Where the gradient is 0; shape (d,).
        gradient: At the estimate; it is not 0 where steps were limited.
        error: Covariance of the gradient there by noise, and by E; shape (d, d).
        carried: H there, as it was carried.
        curvature: The same, mended by what the gradients say of E.
        steep: The same, mended only where it grows, so that no step is too long.
    """

    estimate: Floats
    gradient: Floats
    error: Floats
    carried: Floats
    curvature: Floats
    steep: Floats


def counts(curve: Floats, *, intervals: int) -> Floats:
    """Return by how much each coordinate counts in a squared distance.

    Args:
        curve: H, of coordinates of which those of the intervals of follow-up come first.
        intervals: How many there are.
    """
    found = np.ones(len(curve))
    events = np.diag(curve)[:intervals]
    found[:intervals] = events / events.sum()
    return found


def read(late: Late) -> Reading:
    """Return what late gradients say together, by Newton's steps without asking anew."""
    last = at = late.asked[-1]
    for step in range(_MOST_STEPS + 1):
        found = _at(late, at)
        size = float(found.gradient @ found.gradient)
        if step == _MOST_STEPS or (step and size < _NEAR * late.each**2 * len(at)):
            break
        onward = at + np.linalg.solve(found.steep, found.gradient) - last
        at = last + late.limited(onward, found.steep)
    return found


def _at(late: Late, at: Floats) -> Reading:
    """Return what the gradients say of a place."""
    curve = late.curve(at)
    values, vectors = np.linalg.eigh(curve)
    values = np.maximum(values, _LEAST_DIRECTION * values[-1])
    carried = np.array(
        [
            gradient - _along(late.curve, start=start, to=at)
            for gradient, start in zip(late.gradients, late.asked, strict=True)
        ]
    )
    ways, first = at - late.asked, late.asked[0]
    sums = at + late.asked - 2 * first
    turned = (ways @ curve @ ways.T) * (late.counts * sums @ sums.T) / 4
    turned += _BENT**2 * np.diag(np.diag(turned))
    known = late.each**2 * np.eye(len(ways))
    turns = late.usual * np.array(_TURNS)
    likely = _weighed(
        carried @ vectors,
        known=known,
        turned=(turns**2)[:, None, None, None] * np.multiply.outer(values, turned),
    )
    prior = np.log(_TURNS) ** 2 / 2
    best = int(np.argmax(likely.likelihood - prior))
    half = turns[best] ** 2 / 2
    lever = (late.counts * sums @ (at - first))[:, None] * (ways @ curve)
    added = vectors @ (half * values[:, None] * (likely.apart[best].T @ lever))
    added = (added + added.T) / 2
    return Reading(
        estimate=at,
        gradient=vectors @ likely.mean[best],
        error=(vectors * likely.variance[best]) @ vectors.T,
        carried=curve,
        curvature=_mended(values, vectors, added=added, least=_LEAST_MENDED),
        steep=_mended(values, vectors, added=added, least=1.0),
    )


def _along(curve: Curve, *, start: Floats, to: Floats) -> Floats:
    """Return the integral of H along a way."""
    way = to - start
    if not way.any():
        return way
    return np.asarray(sum(curve(start + node * way) @ way for node in _NODES) / len(_NODES))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """Generalised least squares of some gradients, direction by direction, under several laws.

    Attributes:
        mean: Shape (laws, d).
        variance: Of each; shape (laws, d).
        apart: V⁻¹(g − mean) of each gradient; shape (laws, k, d).
        likelihood: Logarithm, restricted to differences between gradients; shape (laws,).
    """

    mean: Floats
    variance: Floats
    apart: Floats
    likelihood: Floats


def _weighed(gradients: Floats, *, known: Floats, turned: Floats) -> _Weighed:
    """Return means of gradients, (k, d), with covariances known + turned, (laws, d, k, k)."""
    whole = known + turned
    inverse = np.linalg.inv(whole)
    weights = inverse.sum(axis=-1)
    total = weights.sum(axis=-1)
    mean = np.einsum("lij,ji->li", weights, gradients) / total
    off = gradients - mean[:, None, :]
    apart = np.einsum("lijk,lki->lji", inverse, off)
    misfit = (apart * off).sum(axis=(-2, -1))
    sizes = np.linalg.slogdet(whole)[1] + np.log(total)
    return _Weighed(
        mean=mean, variance=1 / total, apart=apart, likelihood=-(misfit + sizes.sum(axis=-1)) / 2
    )


def _mended(values: Floats, vectors: Floats, *, added: Floats, least: float) -> Floats:
    """Return a curvature with something added, in no direction too far from what it was."""
    turned = vectors / np.sqrt(values)
    apart = np.linalg.eigh(turned.T @ added @ turned)
    half = vectors * np.sqrt(values) @ apart.eigenvectors
    return np.asarray((half * np.clip(1 + apart.eigenvalues, least, _MOST_MENDED)) @ half.T)
