"""Newton's steps of a model in rounds, and the curvature they take, from noisy answers alone.

References:
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from confide.arrays import Floats
from confide.plans.classes import spread_out
from confide.plans.shrinkage import dispersion, of_all, of_each, pooled
from confide.tables.descent import RESIDUAL, UNIT, DescentAggregate, Family
from confide.tables.descent_scale import Scale

COEFFICIENT = 2**16
"""One, in the whole coefficients that a question holds."""
LARGEST_COEFFICIENT = 2**6
_LARGEST_STEP = 2.0
_AGREE = 2.0  # standard deviations of χ² by which two steps may differ
_LEAST_CURVATURE = (0.1, 0.1)  # of that of Gaussian terms: of curvature, and of spread
_LEAST_OF_EVENTS = (0.4, 0.05)  # the same for counts and hazards


@dataclass(frozen=True, slots=True, kw_only=True)
class Curvature:
    """Curvature and spread at one place.

    Attributes:
        curve: H of the terms; shape (pairs, d, d).
        spread: J of the terms; or, of patients' sums of several classes, of the coefficients.
        joined: What makes a matrix of the coefficients from those of the terms.
        noise: Standard deviation of the noise of an entry, once it is measured.
    """

    curve: Floats
    spread: Floats
    joined: Callable[[Floats], Floats]
    noise: float

    def pooled(self, measured: Floats, *, aggregate: DescentAggregate, scale: Scale) -> "Curvature":
        """Return what was measured, drawn to this by the part of their distance that is noise."""
        values = measured / (scale.curvature * UNIT**2)
        curved = values[: scale.curved].reshape(aggregate.pairs, -1)
        floors = _LEAST_CURVATURE
        if aggregate.family in (Family.POISSON, Family.HAZARD):
            floors = _LEAST_OF_EVENTS
        if scale.spread == scale.curved:
            spread, guess = values[scale.curved :].reshape(aggregate.pairs, -1), self.spread
            sums = [symmetric(each, size=scale.terms) for each in spread]
        else:  # patients' sums of all classes, of which the plane of the coefficients is taken
            out = spread_out(aggregate.classes, scale.terms)
            sums = [out.T @ symmetric(values[scale.curved :], size=len(out)) @ out]
            guess = self.joined(self.spread)[None]
        if aggregate.family is Family.POISSON:
            guess = np.array(
                [
                    model * dispersion(each, model=model, noise=self.noise)
                    for each, model in zip(sums, guess, strict=True)
                ]
            )
        curves = [symmetric(each, size=scale.terms) for each in curved]
        kept = of_all if aggregate.family is Family.MULTINOMIAL else of_each
        return replace(
            self,
            curve=np.array(
                [
                    pooled(each, model=model, noise=self.noise, least=floors[0], kept=of_all)
                    for each, model in zip(curves, self.curve, strict=True)
                ]
            ),
            spread=np.array(
                [
                    pooled(each, model=model, noise=self.noise, least=floors[1], kept=kept)
                    for each, model in zip(sums, guess, strict=True)
                ]
            ),
        )

    def of_curve(self, ratio: Floats) -> Floats:
        """Return H of the coefficients, each matrix of it times its ratio."""
        return self.joined(self.curve * ratio[:, None, None])

    def of_spread(self, ratio: Floats) -> Floats:
        """Return J of the coefficients, each matrix of it times its ratio."""
        if self.spread.shape != self.curve.shape:
            return np.asarray(self.spread[0] * float(ratio.mean()))
        return self.joined(self.spread * ratio[:, None, None])


class Steps:
    """Newton's steps from one noisy gradient to the next.

    Where a step led is θ* + H⁻¹·noise once the place it began at was near; from farther away it
    errs by the square of the distance too.  So the mean is over the last steps that agree with
    each other as well as noise lets them.

    Attributes:
        intercepts: Number of intercepts.
        each: Standard deviation of a coordinate of one gradient.
        mean: Of the steps that agree.
        noise: Standard deviation of a coordinate of the mean of their gradients.
        last: Length of the last step.
        asked: Where each gradient was asked for.
    """

    def __init__(
        self, aggregate: DescentAggregate, *, scale: Scale, sigma: float, first: int = 0
    ) -> None:
        self._size = scale.size
        self._answered = scale.gradient
        self._out = spread_out(aggregate.classes, scale.terms) if aggregate.classes > 1 else None
        self._groups = max(1, aggregate.classes - 1)
        self.intercepts = aggregate.intercepts
        self._multipliers = scale.gradients[first:]
        self.each = sigma / (scale.gradients[first] * UNIT * RESIDUAL)
        self._taken: list[Floats] = []
        self.mean = np.zeros(scale.size)
        self.noise = self.each
        self.last = 0.0
        self.asked: list[Floats] = []

    def follow(
        self,
        flat: Floats,
        *,
        start: Floats,
        curve: Callable[[Floats], Floats],
        begin: Callable[[Floats, Floats], tuple[Floats, Floats]] = lambda at, gradient: (
            at,
            gradient,
        ),
    ) -> Floats:
        """Return where the gradients lead, one after another, drawn to 0 by their error.

        Args:
            flat: Noisy gradients, one after another.
            start: Where the first was taken.
            curve: H at a place.
            begin: Where a step begins, and the gradient there, of one that was taken elsewhere.
        """
        theta = self.mean = start
        for each, b in zip(self._read(flat), self._multipliers, strict=False):
            self.asked.append(theta)
            theta, gradient = begin(theta, each / (b * UNIT * RESIDUAL))
            steep = curve(theta)
            step = np.asarray(np.linalg.solve(steep, gradient), dtype=np.float64)
            limited = self._limited(step, curve=steep)
            self.last = float(np.linalg.norm(limited))
            self._taken.append(theta + limited)
            self._average(steep)
            drawn = _shrunk(
                self.mean,
                curve=steep,
                noise=self.noise**2,
                intercepts=self.intercepts,
                groups=self._groups,
            )
            theta = on_grid(drawn)
        return theta

    def _read(self, flat: Floats) -> Floats:
        """Return gradients of the coefficients; those of classes are projected on their plane."""
        each = flat.reshape(-1, self._answered)
        return each if self._out is None else each @ self._out

    def _limited(self, step: Floats, *, curve: Floats) -> Floats:
        """Return a step of limited length; of classes along each direction of the curvature.

        Of a class that hardly anybody is of little is known, and that must not hold up the others.
        """
        if self._groups == 1:
            far = float(np.linalg.norm(step))
            return np.asarray(step * min(1.0, _LARGEST_STEP / max(far, 1e-9)))
        _, vectors = np.linalg.eigh(curve)
        return np.asarray(vectors @ np.clip(vectors.T @ step, -_LARGEST_STEP, _LARGEST_STEP))

    def _average(self, curve: Floats) -> None:
        """Take the mean of the last steps for as long as the one before agrees with it."""
        mean, count = self._taken[-1], 1
        for earlier in reversed(self._taken[:-1]):
            apart = curve @ (earlier - mean) / (self.each * math.sqrt(1 + 1 / count))
            if float(apart @ apart) > self._size + _AGREE * math.sqrt(2 * self._size):
                break
            mean, count = (mean * count + earlier) / (count + 1), count + 1
        self.mean, self.noise = mean, self.each / math.sqrt(count)


def _shrunk(theta: Floats, *, curve: Floats, noise: float, intercepts: int, groups: int) -> Floats:
    """Return θ with its slopes drawn to 0 by the share of their size that is error.

    Of classes, in groups of as many directions as one has slopes, those of the least error first.
    """
    slopes = theta[intercepts:]
    if not len(slopes):
        return theta
    inverse = np.linalg.inv(curve)
    errors = (inverse + noise * inverse @ inverse)[intercepts:, intercepts:]
    if groups == 1:
        share = max(0.0, 1 - float(np.trace(errors)) / max(float(slopes @ slopes), 1e-300))
        return np.concatenate([theta[:intercepts], slopes * share])
    values, vectors = np.linalg.eigh(errors)
    parts = (vectors.T @ slopes).reshape(groups, -1)
    whole = values.reshape(groups, -1).sum(axis=1)
    shares = np.maximum(0, 1 - whole / np.maximum((parts**2).sum(axis=1), 1e-300))
    return np.concatenate([theta[:intercepts], vectors @ (parts * shares[:, None]).ravel()])


def symmetric(entries: Sequence[float] | Floats, *, size: int) -> Floats:
    """Return the matrix of which ``entries`` are those on and above the diagonal, row by row."""
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = entries
    return matrix + np.triu(matrix, 1).T


def on_grid(theta: Floats) -> Floats:
    """Return coefficients as questions hold them."""
    cut = np.clip(theta, -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)
    return np.asarray(np.rint(cut * COEFFICIENT) / COEFFICIENT)
