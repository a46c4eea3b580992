"""How many events each category of a covariate has, as noisy answers tell: may its law be believed?

*Why.*  Where nobody of a category has the event, or everybody, its coefficient has no finite value
[AA84], and a fit that ends after some rounds stands anywhere.  The curvature of the fit does not
tell: it is drawn to that of Gaussian terms, and no direction falls below a share of it, so the step
is short, and the error of a category of few events too small.

*What is told.*  An indicator u of a category is z·a with known a, so aᵀHa = Σ h·v·u is the
category's information as it was measured, before it was drawn to anything, and a gradient along a
is Σ w·(y − μ)·u.  With I = Σ v of the category at the place of the late rounds, and f = dv/dμ,
I + f·g is what it is at the solution: the number of events if they are rare, of those without if
nearly all have it.  I is the mean of what was measured and of what the fit says of the category
(the whole, shared out by p·v(η), taken to be right within a half), by the inverse of their
variances; between rounds it goes with v(η).  Weights are those of the category's mean row: min(1,
C/‖z‖) with ‖z‖² = 1/p and one for each term of other covariates.  Events of an interval of
follow-up are among the totals.

*Rule.*  A coefficient has *few* events if its category, or the one it is compared with, has fewer
than fifteen, or fewer than two standard deviations of their noise.  They are *scarce* where there
may be fewer than thirty, within one standard deviation.  It *stopped short* if the fit's
curvature is more than 1.45 times what is told, or that is more than 1.8 times the curvature: at
twice it Newton's steps grow.  Elsewhere its variance grows by 1/I − 1/U, and that of its noise
likewise, where the curvature U of the fit is the larger.  The constants are from simulations
(tests/audits/test_model_coverage.py).

*Privacy:* a function of noisy answers.

References:
    [AA84] Albert, Anderson. On the existence of maximum likelihood estimates in logistic
        regression models. Biometrika 71(1), 1984. https://doi.org/10.1093/biomet/71.1.1
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.plans.rounds.classes import by_class, pairs, spread_out
from confide.plans.rounds.descent import Walk
from confide.plans.rounds.link import mean, variance
from confide.plans.rounds.marginal import one_outcome
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import UNIT, Family, terms
from confide.tables.schema import Dataset

Flags: TypeAlias = NDArray[np.bool_]

_FEWEST = 15.0  # events
_SCARCE = 30.0  # events below which an interval holds the truth less often than it says
_SURE = 1.0  # standard deviations of their noise by which they are told from so many
_TOLD = 2.0  # standard deviations of their noise by which events are told from none
_OVERSTATED = 1.45  # times what is told, that the curvature of the fit may be
_UNDERSTATED = 1.8  # times the curvature of the fit, that what is told may be
_LEAST_SHARE = 1e-6  # of rows in a category
_GUESSED = 0.5  # error of what the fit says of a category, as a share of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Believed:
    """What is told of the law of each coefficient; shape (coefficients,).

    Attributes:
        few: Whether it has too few events.
        scarce: Whether it may have so few that its interval is not to be relied on.
        short: Whether the curvature of the fit is too wrong for rounds to end at the solution.
        added: By how much its variance is larger than the fit says.
    """

    few: Flags
    scarce: Flags
    short: Flags
    added: Floats

    def against_first(self) -> "Believed":
        """Return what is told of each compared with the first; the first stays."""
        first = self.part(slice(0, 1))
        rest = self.part(slice(1, None)).plus(first)
        return Believed(
            few=np.concatenate([first.few, rest.few]),
            scarce=np.concatenate([first.scarce, rest.scarce]),
            short=np.concatenate([first.short, rest.short]),
            added=np.concatenate([first.added, rest.added]),
        )

    def plus(self, other: "Believed") -> "Believed":
        """Return what is told of the difference of two, place by place."""
        return Believed(
            few=self.few | other.few,
            scarce=self.scarce | other.scarce,
            short=self.short | other.short,
            added=self.added + other.added,
        )

    def plus_at(self, places: Sequence[int], other: "Believed") -> "Believed":
        """Return this with another at some places."""
        found, chosen = _nothing_told(len(self.few)), list(places)
        found.few[chosen], found.scarce[chosen] = other.few, other.scarce
        found.short[chosen], found.added[chosen] = other.short, other.added
        return self.plus(found)

    def part(self, places: slice) -> "Believed":
        """Return what is told of some of them."""
        return Believed(
            few=self.few[places],
            scarce=self.scarce[places],
            short=self.short[places],
            added=self.added[places],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Levels:
    """The categories of a covariate, the reference first.

    Attributes:
        terms: Of each but the reference; shape (L − 1,).
        along: a of each; shape (L, d).
        share: p, its share of the rows; shape (L,).
        weight: w of its mean row.
        curved: h of its mean row.
    """

    terms: list[int]
    along: Floats
    share: Floats
    weight: Floats
    curved: Floats

    @property
    def row(self) -> Floats:
        """Mean z of each category; shape (L, d)."""
        return self.along / self.share[:, None]


def believed(walked: Walk, *, aggregate: DescentAggregate, dataset: Dataset) -> Believed:
    """Return what is told of each coefficient: intercepts, then slopes."""
    count, evidence = aggregate.intercepts, walked.evidence
    found = _nothing_told(count + len(walked.whitened.matrix) - 1)
    if aggregate.family is Family.HAZARD and evidence is not None:
        events = _Events(
            found=evidence.events,
            noise=np.full(count, evidence.events_noise),
            used=np.diag(walked.curvature)[:count],
            gradient=np.full(count, walked.noise),
        )
        told = _judged(events, one=1.0)
        found = found.plus_at(range(count), told)
    one = one_outcome(aggregate, dataset=dataset)
    for levels in _covariates(walked, aggregate=aggregate, dataset=dataset):
        told = _of_levels(walked, levels, aggregate=aggregate, one=one)
        told = told.against_first()
        found = found.plus_at(range(count), told.part(slice(0, 1)))
        found = found.plus_at(
            [count + term - 1 for term in levels.terms], told.part(slice(1, None))
        )
    return found


def believed_classes(
    walked: Walk, *, aggregate: DescentAggregate, reference: int, dataset: Dataset
) -> Believed:
    """Return what is told of each coefficient: all terms of a class, then those of the next."""
    size = len(walked.whitened.matrix)
    others = [c for c in range(aggregate.classes) if c != reference]
    found = _nothing_told(len(others) * size)
    for levels in _covariates(walked, aggregate=aggregate, dataset=dataset):
        compared = _of_class(walked, levels, place=reference, aggregate=aggregate)
        for row, c in enumerate(others):
            told = _of_class(walked, levels, place=c, aggregate=aggregate).plus(compared)
            at = [row * size + term for term in (0, *levels.terms)]
            found = found.plus_at(at, told.against_first())
    return found


def _covariates(
    walked: Walk, *, aggregate: DescentAggregate, dataset: Dataset
) -> Iterator[_Levels]:
    """Yield the categories of each covariate that has any."""
    turned = np.linalg.inv(walked.whitened.matrix / UNIT)  # x = z·turned
    known = terms(aggregate, dataset=dataset)
    clip = math.sqrt(len(known))
    places = [place for place, term in enumerate(known) if term.level is not None]
    for _, group in groupby(places, key=lambda place: known[place].covariate):
        chosen = list(group)
        indicated = turned[:, chosen].T
        along = np.vstack([np.eye(len(known))[0] - indicated.sum(axis=0), indicated])
        share = np.maximum((along**2).sum(axis=1), _LEAST_SHARE)
        squared = 1 / share + len(known) - 1 - len(chosen)
        weight = np.minimum(1, clip / np.sqrt(squared))
        yield _Levels(
            terms=chosen,
            along=along,
            share=share,
            weight=weight,
            curved=np.minimum(weight, 2 * clip**2 / squared),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Events:
    """Events of categories, or of intervals, in units of the outcome; each of shape (L,).

    Attributes:
        found: As the noisy answers tell.
        noise: Standard deviation of it.
        used: As the curvature of the fit has it.
        gradient: Standard deviation of the mean gradient's noise.
    """

    found: Floats
    noise: Floats
    used: Floats
    gradient: Floats


def _judged(of: _Events, *, one: float) -> Believed:
    """Return what the events say of a curvature that was used; a unit of the outcome is ``one``."""
    fewest = _FEWEST / one
    over = of.used > _OVERSTATED * (np.maximum(of.found, 0) + of.noise)
    under = of.found - of.noise > _UNDERSTATED * of.used
    least, used = np.maximum(of.found, fewest), np.maximum(of.used, fewest)
    added = (1 / least - 1 / used) / one + of.gradient**2 * (1 / least**2 - 1 / used**2)
    few = of.found < np.maximum(fewest, _TOLD * of.noise)
    printed = ~(few | over | under)
    return Believed(
        few=few,
        scarce=of.found < _SCARCE / one + _SURE * of.noise,
        short=over | under,
        added=np.where(printed, np.maximum(added, 0.0), 0.0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measured:
    """Of the categories of a covariate; shapes (L,), and (late rounds, L) of what has rounds.

    Attributes:
        measured: Σ h·v·u.
        noise: Standard deviation of it.
        gradients: Σ w·(y − μ)·u of each round.
        gradient_noise: Standard deviation of each.
        shares: p·v(η) of each round.
        slope: f of each round.
        used: The curvature of the fit.
        whole: The curvature of the fit over all rows.
    """

    measured: Floats
    noise: Floats
    gradients: Floats
    gradient_noise: Floats
    shares: Floats
    slope: Floats
    used: Floats
    whole: float


def _told(levels: _Levels, of: _Measured, *, one: float) -> Believed:
    """Return what is told of each category."""
    guess = max(of.whole, _LEAST_SHARE) * of.shares[0] / of.shares[0].sum()
    precise = 1 / of.noise**2, 1 / (_GUESSED * guess) ** 2
    begun = (of.measured * precise[0] + guess * precise[1]) / sum(precise)
    moved = (of.shares / of.shares[0]).mean(axis=0) / levels.curved
    found = moved * begun + (of.slope * of.gradients).mean(axis=0) / levels.weight
    rounds = len(of.gradients)
    late = np.sqrt((of.slope**2).sum(axis=0)) / rounds * of.gradient_noise / levels.weight
    events = _Events(
        found=found,
        noise=np.hypot(moved / np.sqrt(sum(precise)), late),
        used=of.used / levels.curved,
        gradient=of.gradient_noise / math.sqrt(rounds) / levels.weight,
    )
    return _judged(events, one=one)


def _noise(walked: Walk, levels: _Levels) -> Floats:
    """Return the standard deviation of aᵀHa: an entry off the diagonal counts twice."""
    squared = (levels.along**2).sum(axis=1)
    return np.asarray(walked.blurred * np.sqrt(2 * squared**2 - (levels.along**4).sum(axis=1)))


def _of_levels(
    walked: Walk, levels: _Levels, *, aggregate: DescentAggregate, one: float
) -> Believed:
    count, evidence = aggregate.intercepts, walked.evidence
    if evidence is None:
        return _nothing_told(len(levels.along))
    wide = np.hstack([np.repeat(levels.along[:, :1], count, axis=1), levels.along[:, 1:]])
    etas = [float(at[:count].mean()) + levels.row[:, 1:] @ at[count:] for at in evidence.asked]
    family = aggregate.family
    rare = family is Family.LOGISTIC
    return _told(
        levels,
        _Measured(
            measured=_along(levels.along, evidence.measured[0]),
            noise=_noise(walked, levels),
            gradients=evidence.gradients @ wide.T,
            gradient_noise=walked.each * np.linalg.norm(wide, axis=1),
            shares=np.array(
                [levels.share * (variance(family, eta) if rare else np.exp(eta)) for eta in etas]
            ),
            slope=np.array([1 - 2 * mean(family, eta) if rare else 0 * eta + 1 for eta in etas]),
            used=_along(wide, walked.curvature),
            whole=float(walked.curvature[:count, :count].sum()),
        ),
        one=one,
    )


def _of_class(
    walked: Walk, levels: _Levels, *, place: int, aggregate: DescentAggregate
) -> Believed:
    """Return what is told of one class against all others."""
    classes, size, evidence = aggregate.classes, levels.along.shape[1], walked.evidence
    if evidence is None:
        return _nothing_told(len(levels.along))
    own = [i for i, pair in enumerate(pairs(classes)) if place in pair]
    shares = np.array([_shares(at, levels, classes=classes)[:, place] for at in evidence.asked])
    wide = np.zeros((len(levels.along) + 1, classes, size))
    wide[:-1, place], wide[-1, place, 0] = levels.along, 1
    used = _along(wide.reshape(len(wide), -1) @ spread_out(classes, size), walked.curvature)
    gradients = evidence.gradients.reshape(len(evidence.gradients), classes, size)[:, place]
    return _told(
        levels,
        _Measured(
            measured=_along(levels.along, evidence.measured[own].sum(axis=0)),
            noise=_noise(walked, levels) * math.sqrt(len(own)),
            gradients=gradients @ levels.along.T,
            gradient_noise=walked.each * np.linalg.norm(levels.along, axis=1),
            shares=levels.share * np.maximum(shares * (1 - shares), _LEAST_SHARE),
            slope=1 - 2 * shares,
            used=used[:-1],
            whole=float(used[-1]),
        ),
        one=1.0,
    )


def _nothing_told(size: int) -> Believed:
    """Return that all is believed, as of one look."""
    nothing = np.zeros(size, dtype=bool)
    return Believed(few=nothing, scarce=nothing.copy(), short=nothing.copy(), added=np.zeros(size))


def _shares(at: Floats, levels: _Levels, *, classes: int) -> Floats:
    """Return the share of each class in each category; shape (L, K)."""
    eta = levels.row @ by_class(at, classes=classes).T
    powers = np.exp(eta - eta.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _along(rows: Floats, matrix: Floats) -> Floats:
    """Return aᵀMa of each row a."""
    return np.asarray(np.einsum("ki,ij,kj->k", rows, matrix, rows), dtype=np.float64)
