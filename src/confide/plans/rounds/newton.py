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
from confide.plans.rounds.classes import spread_out
from confide.plans.rounds.late_rounds import Late, Reading, counts, read
from confide.plans.rounds.shrinkage import dispersion, of_all, of_each, pooled
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import Scale
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT, Family

COEFFICIENT = 2**16
"""One, in the whole coefficients that a question holds."""
LARGEST_COEFFICIENT = 2**6
_LARGEST_STEP = 2.0
_MOST_GROWTH = 3.0  # logarithm of how much larger means may get by a step
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchored:
    """Curvature and spread at any place: as Gaussian terms say, anchored where it was measured.

    Where means are powers, terms weighted by them are taken to be normal, with the mean and the
    covariance that were measured: then a step moves their mean, and keeps their covariance.

    Attributes:
        measured: Where it was measured.
        place: θ there.
        intercepts: Number of intercepts in θ, where means are powers; else 0.
        model: Curvature of Gaussian terms at a place.
        curve: A with H = A·model·Aᵀ where it was measured; shape (pairs, d, d).
        spread: The same of J; None of patients' sums of several classes.
    """

    measured: Curvature
    place: Floats
    intercepts: int
    model: Callable[[Floats], Floats]
    curve: Floats
    spread: Floats | None

    def curvature(self, theta: Floats) -> Floats:
        """Return H of the coefficients at a place."""
        return self._carried(self.measured.curve, theta, anchors=self.curve)

    def spread_at(self, theta: Floats) -> Floats:
        """Return J of the coefficients at a place."""
        if self.spread is None:
            now, then = (np.trace(self.model(at), axis1=1, axis2=2) for at in (theta, self.place))
            return np.asarray(self.measured.spread[0] * float((now / then).mean()))
        return self._carried(self.measured.spread, theta, anchors=self.spread)

    def _carried(self, known: Floats, theta: Floats, *, anchors: Floats) -> Floats:
        if self.intercepts:
            way, first = theta - self.place, self.intercepts
            return self.measured.joined(
                _tilted(known[0], level=float(way[:first].mean()), slopes=way[first:])[None]
            )
        return self.measured.joined(anchors @ self.model(theta) @ anchors.swapaxes(1, 2))


def anchored(
    measured: Curvature, *, place: Floats, intercepts: int, model: Callable[[Floats], Floats]
) -> Anchored:
    """Return what carries curvature from a place; arguments are those of :class:`Anchored`."""
    several, there = measured.spread.shape != measured.curve.shape, model(place)
    return Anchored(
        measured=measured,
        place=place,
        intercepts=intercepts,
        model=model,
        curve=_anchors(there, measured.curve),
        spread=None if several else _anchors(there, measured.spread),
    )


def _tilted(known: Floats, *, level: float, slopes: Floats) -> Floats:
    """Return Σ μ·zzᵀ after a step, if terms weighted by μ are normal; shape (d, d).

    Example:
        >>> _tilted(np.eye(2), level=0.0, slopes=np.array([1.0])).round(2).tolist()
        [[1.65, 1.65], [1.65, 3.3]]
    """
    size = float(known[0, 0])
    mean = known[0, 1:] / size
    covariance = known[1:, 1:] / size - np.outer(mean, mean)
    more = level + float(mean @ slopes) + float(slopes @ covariance @ slopes) / 2
    moved = np.concatenate([[1.0], mean + covariance @ slopes])
    found = np.outer(moved, moved)
    found[1:, 1:] += covariance
    return np.asarray(size * math.exp(min(max(more, -_MOST_GROWTH), _MOST_GROWTH)) * found)


def _anchors(model: Floats, known: Floats) -> Floats:
    """Return A of each with A·model·Aᵀ = known."""
    found = []
    for each, of in zip(model, known, strict=True):
        values, vectors = np.linalg.eigh(each)
        half, back = vectors * np.sqrt(values), (vectors / np.sqrt(values)).T
        sizes, turned = np.linalg.eigh(back @ of @ back.T)
        found.append(half @ (turned * np.sqrt(np.maximum(sizes, 0))) @ turned.T @ back)
    return np.array(found)


class Steps:
    """Newton's steps from one noisy gradient to the next; late ones are read together.

    Where a step led is θ* + H⁻¹·noise once the place it began at was near; from farther away it
    errs by the square of the distance too.  So the mean of early ones is over the last steps
    that agree with each other as well as noise lets them.

    Attributes:
        intercepts: Number of intercepts.
        each: Standard deviation of a coordinate of one gradient.
        mean: Of the steps that agree, or of gradients that were read together the estimate.
        noise: Standard deviation of a coordinate of the mean of their gradients.
        last: Length of the last step, to the estimate where gradients were read together.
        asked: Where each of these was asked for.
        reading: What they said.
    """

    def __init__(
        self, aggregate: DescentAggregate, *, scale: Scale, sigma: float, first: int = 0
    ) -> None:
        self._size = scale.size
        self._answered = scale.gradient
        self._out = spread_out(aggregate.classes, scale.terms) if aggregate.classes > 1 else None
        self._groups = max(1, aggregate.classes - 1)
        self.intercepts = aggregate.intercepts
        self._intervals = aggregate.intervals
        self._multipliers = scale.gradients[first:]
        self.each = sigma / (scale.gradients[first] * UNIT * RESIDUAL)
        self._taken: list[Floats] = []
        self.mean = np.zeros(scale.size)
        self.noise = self.each
        self.last = 0.0
        self.asked: list[Floats] = []
        self.reading: Reading | None = None

    def follow(
        self,
        flat: Floats,
        *,
        start: Floats,
        curve: Callable[[Floats], Floats],
        varied: float,
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
            varied: J over H, as far as public facts tell.
            begin: Where a step begins, and the gradient there, of one that was taken elsewhere.
        """
        theta = self.mean = start
        for each, b in zip(self._read(flat), self._multipliers, strict=False):
            theta, gradient = begin(theta, each / (b * UNIT * RESIDUAL))
            steep = curve(theta)
            step = np.asarray(np.linalg.solve(steep, gradient), dtype=np.float64)
            self._taken.append(theta + self._limited(step, steep))
            self._average(steep)
            theta = self._drawn(steep, spread=steep * varied, noise=self.noise)
        return theta

    def read(
        self,
        flat: Floats,
        *,
        start: Floats,
        known: Anchored,
        usual: float,
    ) -> Floats:
        """Return where the late gradients lead, read together, drawn to 0 by their error.

        Args:
            flat: Noisy gradients, one after another.
            start: Where the first was taken.
            known: H and J, as they were measured there, at a place.
            usual: By how much H usually turns per unit of z, beyond that.
        """
        theta = self.mean = start
        gradients: list[Floats] = []
        for each, b in zip(self._read(flat), self._multipliers, strict=False):
            self.asked.append(theta)
            gradients.append(each / (b * UNIT * RESIDUAL))
            late = Late(
                usual=usual,
                asked=np.array(self.asked),
                gradients=np.array(gradients),
                curve=known.curvature,
                each=self.each,
                counts=counts(known.curvature(start), intervals=self._intervals),
                limited=self._limited,
            )
            self.reading = read(late)
            self.mean = self.reading.estimate
            self.noise = math.sqrt(float(np.trace(self.reading.error)) / self._size)
            self.last = float(np.linalg.norm(self.mean - theta))
            plain = self.each / math.sqrt(len(gradients))
            spread = known.spread_at(self.mean)
            theta = self._drawn(self.reading.carried, spread=spread, noise=plain)
        return theta

    def _read(self, flat: Floats) -> Floats:
        """Return gradients of the coefficients; those of classes are projected on their plane."""
        each = flat.reshape(-1, self._answered)
        return each if self._out is None else each @ self._out

    def _drawn(self, curve: Floats, *, spread: Floats, noise: float) -> Floats:
        inverse = np.linalg.inv(curve)
        return on_grid(
            _shrunk(
                self.mean,
                errors=inverse @ (spread + noise**2 * np.eye(len(curve))) @ inverse,
                intercepts=self.intercepts,
                groups=self._groups,
            )
        )

    def _limited(self, step: Floats, curve: Floats) -> Floats:
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


def _shrunk(theta: Floats, *, errors: Floats, intercepts: int, groups: int) -> Floats:
    """Return θ with its slopes drawn to 0 by the share of their size that is error.

    Of classes, in groups of as many directions as one has slopes, those of the least error first.
    """
    slopes = theta[intercepts:]
    if not len(slopes):
        return theta
    errors = errors[intercepts:, intercepts:]
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
