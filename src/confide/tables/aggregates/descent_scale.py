"""The public whole numbers by which the answers of a model in rounds are bounded and multiplied.

30 % of Δ² go to moments, 8 % to curvature and spread, the rest to gradients; the lemma is in
:mod:`.descent`.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from confide.privacy.adjacency import Adjacency
from confide.tables.aggregates.descent_terms import (
    RESIDUAL,
    UNIT,
    Family,
    terms,
)
from confide.tables.relation import domain
from confide.tables.schema import Dataset

if TYPE_CHECKING:
    from confide.tables.aggregates.descent import DescentAggregate

_MOMENTS, _CURVATURE = Fraction(30, 100), Fraction(8, 100)
_EARLY, _LATE = 2896, 4096  # the ratio of their squares is a half
_CROSSED = 2**24  # of products with the outcome, which one look asks for


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The public whole numbers by which answers are bounded and multiplied.

    Attributes:
        terms: d, number of terms of a row.
        size: Number of coefficients: d, and one more for each further interval; d for each class
            but one.
        gradient: Numbers of one gradient: as many, but d for each class.
        curved: Numbers of the curvature.
        spread: Numbers of the spread.
        totals: Number of totals asked for with the moments.
        scored: Number of scores; 0 where nobody is held out.
        rounds: T.
        norm: R·UNIT².
        clip: C·UNIT.
        moments: a.
        gradients: b_t of each round; the first half of them cost half as much.  Of one look, b.
        curvature: c, of curvature and of spread.
        scores: e; 0 where nobody is held out.
        l2_squared: Most by which one privacy unit moves all answers together, squared.
    """

    terms: int
    size: int
    gradient: int
    curved: int
    spread: int
    totals: int
    scored: int
    rounds: int
    norm: int
    clip: int
    moments: int
    gradients: tuple[int, ...]
    curvature: int
    scores: int
    l2_squared: int

    @property
    def entries(self) -> int:
        """Entries of a symmetric matrix of the terms, on and above the diagonal."""
        return upper_entries(self.terms)

    @property
    def opening(self) -> int:
        """Numbers of the first answer: moments of the terms, and totals."""
        return self.entries + self.totals

    @property
    def length(self) -> int:
        """Number of whole numbers answered in all."""
        return sum(self.lengths)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Numbers of each answer, in the order in which they are asked for; none is 0."""
        late = (self.gradient,) * (self.rounds - self.early)
        each = (self.opening, *(self.gradient,) * self.early, self.curved + self.spread, *late)
        return tuple(filter(None, (*each, self.scored)))

    @property
    def early(self) -> int:
        """Rounds before the curvature is asked for."""
        return self.rounds // 2


def upper_entries(size: int) -> int:
    """Return how many entries of a symmetric matrix are on and above its diagonal."""
    return size * (size + 1) // 2


def scale_of(aggregate: "DescentAggregate", *, dataset: Dataset) -> Scale:
    """Return bounds and multipliers; 30 % of Δ² go to moments, 8 % to curvature and spread.

    R is 1 for the intercept and for each category, and a third for each number: its mean square if
    it were spread evenly over its bounds.  C is √d, as ‖z‖² is d on average.
    """
    size = len(terms(aggregate, dataset=dataset))
    numbers = sum(not domain(c, dataset=dataset).keys for c in aggregate.covariates)
    categories = len(aggregate.covariates) - numbers
    norm = math.ceil((1 + categories + Fraction(numbers, 3)) * UNIT**2)
    if aggregate.one_look:
        return _of_one_look(aggregate, size=size, norm=norm, dataset=dataset)
    clip = math.isqrt(size * UNIT**2 - 1) + 1
    moments = math.ceil(Fraction(norm**2 + norm * UNIT**2, 2))  # squared, for a = 1
    moments += _squared_totals(aggregate.family) * UNIT**4
    curvature = _squared_curvature(aggregate, clip=clip)
    late = aggregate.rounds - aggregate.rounds // 2
    each = (_EARLY,) * (aggregate.rounds - late) + (_LATE,) * late
    gradients = sum(b * b for b in each) * _squared_gradient(aggregate, clip=clip)
    whole = gradients / (1 - _MOMENTS - _CURVATURE)
    a = math.isqrt(int(whole * _MOMENTS) // moments)
    c = math.isqrt(int(whole * _CURVATURE) // curvature)
    one = a * a * moments + gradients + c * c * curvature
    match dataset.adjacency:
        case Adjacency.ADD_REMOVE:
            moved = one
        case Adjacency.SUBSTITUTE:
            moved = 2 * one + 2 * gradients
        case _:
            assert_never(dataset.adjacency)
    classes, entries = aggregate.classes, aggregate.pairs * upper_entries(size)
    several = classes > 1
    return Scale(
        terms=size,
        size=aggregate.intercepts * size if several else size + aggregate.intercepts - 1,
        gradient=classes * size if several else size + aggregate.intercepts - 1,
        curved=entries,
        spread=upper_entries(classes * size) if several and aggregate.clustered else entries,
        totals=aggregate.totals,
        scored=scored_cells(aggregate, dataset=dataset),
        rounds=aggregate.rounds,
        norm=norm,
        clip=clip,
        moments=a,
        gradients=each,
        curvature=c,
        scores=math.isqrt(one // aggregate.squared_scores) if aggregate.held_out else 0,
        l2_squared=moved,
    )


def _of_one_look(aggregate: "DescentAggregate", *, size: int, norm: int, dataset: Dataset) -> Scale:
    """Return the scale of moments and products with the outcome, half of Δ² for either."""
    moments = math.ceil(Fraction(norm**2 + norm * UNIT**2, 2))
    crossed = _CROSSED**2 * norm
    a = math.isqrt(crossed // moments)
    one = a * a * moments + crossed
    match dataset.adjacency:
        case Adjacency.ADD_REMOVE:
            moved = one
        case Adjacency.SUBSTITUTE:
            moved = 2 * one + 2 * crossed
        case _:
            assert_never(dataset.adjacency)
    return Scale(
        terms=size,
        size=size,
        gradient=size,
        curved=0,
        spread=0,
        totals=size,
        scored=scored_cells(aggregate, dataset=dataset),
        rounds=0,
        norm=norm,
        clip=math.isqrt(norm),
        moments=a,
        gradients=(_CROSSED,),
        curvature=0,
        scores=math.isqrt(one // aggregate.squared_scores) if aggregate.held_out else 0,
        l2_squared=moved,
    )


def _squared_gradient(aggregate: "DescentAggregate", *, clip: int) -> int:
    """Return the most that a patient moves a gradient by, squared, for b = 1.

    Shares of K classes are rounded to the nearest, which adds at most K to the residual.
    """
    rounded = aggregate.classes if aggregate.family is Family.MULTINOMIAL else 0
    return aggregate.family.largest_residual_squared * (clip * (RESIDUAL + rounded)) ** 2


def _squared_curvature(aggregate: "DescentAggregate", *, clip: int) -> int:
    """Return the most that a patient moves curvature and spread by, squared, for c = 1."""
    family = aggregate.family
    curved = math.ceil(family.largest_variance * clip**2) ** 2
    if not aggregate.clustered:
        return 5 * curved
    rounded = aggregate.classes if family is Family.MULTINOMIAL else 0
    together = family.largest_residual_squared * clip**2
    return (
        4 * curved + (math.ceil(Fraction(together * (RESIDUAL + rounded) ** 2, RESIDUAL**2))) ** 2
    )


def scored_cells(aggregate: "DescentAggregate", *, dataset: Dataset) -> int:
    """Return the number of scores: of those who calibrate, then of each subgroup."""
    if not aggregate.held_out:
        return 0
    groups = sum(domain(column, dataset=dataset).size() for column in aggregate.subgroups)
    return aggregate.score_cells * (bool(aggregate.calibrating) + (groups or 1))


def _squared_totals(family: Family) -> int:
    """Return the most that a patient adds to ‖totals‖², in units of 1."""
    match family:
        case Family.LOGISTIC:
            return 0
        case Family.POISSON:
            return 2
        case Family.HAZARD | Family.MULTINOMIAL:
            return 1
        case _:
            assert_never(family)
