"""A model of many terms or few events, without whitening: what is asked, and its lemma.

Of a patient's k rows with terms (1, x) and outcome y a *logistic* model asks, one after another,
for vectors of whole numbers:

- *means*: Σ w·(1, x, y), w = min(1/k, R/S), S = Σ‖(1, x, y)‖ over the rows of the patient;
- *squares*: Σ w·(x − m)² by term, w = min(1/k, R'/S) with S = Σ‖(x − m)²‖, about a public centre m;
- *gradients*, in T rounds: Σ w·r·z with z = (1, D(x − m))/C for a public diagonal D and number C, r
  = y − μ(θᵀz) and w = min(1/k, 1/S) with S = Σ|r|·‖z‖: what is clipped is the residual times the
  row;
- *recalibration*, one look at the model that was fitted: Σ r·q/k with q = (1, s), s being the score
  θᵀz less its intercept in public units and cut to ±2; and Σ v·qqᵀ/k on and above the diagonal,
  off-diagonals times √2, rounded down;
- *scores* of patients who are held out, as of :mod:`confide.tables.aggregates.descent`.

m, D, C, θ and the unit of s are whole numbers in the questions, made from earlier noisy answers.

A *hazard* model has one row of each patient, followed until the hazard Λ that they lived through,
by public intervals, reaches 1 (:mod:`confide.tables.aggregates.descent`).  Its means are Σ w·(1, x)
with S = ‖(1, x)‖, and with them come *totals*: exits by interval and outcome, one cell of many.
Gradients and recalibration have r = (event before that) − Λ, and v = Λ.

*Counts*, with y events in time E of at most U, have means Σ w·(1, x, E/U) with S = ‖(1, x, E/U)‖,
and totals too: rows by public cell of y, each 1/k.  Residuals are in units of s events, a whole
number in the question that those totals chose: r = y/s − exp(θᵀz)·E/U, cut to ±16, in gradients,
where the clip is that of all others; and in recalibration r' = r/4 cut to ±1, of which Σ r'·q/k is
all that is asked: noise would drown v, and events say what it is.

*Classes*, K of them (``MULTINOMIAL``), have means Σ w·(1, x) and totals, rows by class, each 1/k.
Residuals are r_c = (y is c) − p_c, a gradient has K parts Σ w·r_c·z with w = min(1/k, 1/Σ‖r‖·‖z‖)
and z = (f, D(x − m))/C for a public f, and of recalibration all that is asked is Σ r_c·s_c/k by
class, s_c being the score of the class; how many are of each class totals say.

*Lemma* (one patient added or removed).  By the triangle inequality the patient's part of the means
is at most w·S ≤ R, of the squares R', of a gradient 1.  ‖q‖² ≤ 5 and |r| ≤ 1, and a mean over k
rows is no longer than the longest: √5 for Σ r·q/k.  v ≤ 1/4, and the entries of v·qqᵀ with
off-diagonals times √2 have the norm v·‖q‖² ≤ 5/4.  Together, with public whole numbers a, c, b, e,
h by which they are multiplied, Δ² = a²R² + c²R'² + T·b² + 5e² + (25/16)h².  A patient who is held
out moves m scores by one and nothing else; the multiplier f of scores has m·f² ≤ Δ².
*Hazards:* |r| ≤ 1 as Λ ≤ 1 and an event counts only if it came before Λ had reached 1, so gradients
move by 1 and Σ r·q by √5 as above; totals, in units of 1 times a public number g, by g; v ≤ 1, so
v·qqᵀ has a norm of at most 5.  Δ² = a²R² + g² + c²R'² + T·b² + 5e² + 25h².
*Counts:* whatever s is, |r|·‖z‖ is what w bounds, so gradients move by 1, and |r'| ≤ 1; k parts of
1/k in cells of totals have a norm of at most 1.  Δ² = a²R² + g² + c²R'² + T·b² + 5e².
*Classes:* all K parts of a row's gradient are the matrix r·zᵀ, of norm ‖r‖·‖z‖, which w bounds with
r as it is in whole numbers: together they move by 1, however many classes there are.  |s_c| ≤ 2 and
‖r‖² ≤ 2, so Σ r_c·s_c/k moves by √8; p is rounded to the nearest, which adds at most K/2 steps to
‖r‖.  Δ² = a²R² + g² + c²R'² + T·b² + 8e².
*Substitution:* squares of two patients have a non-negative inner product, so their part doubles;
all else may oppose (products of recalibration by their rounding alone) and is fourfold; a patient
replaced by one who is held out moves Δ² + m·f² ≤ 2Δ², and one held out by another 2m·f² ≤ 2Δ².  ∎

Later questions depend on earlier noisy answers alone: adaptive composition under zCDP costs what
the joint vector costs [BS16, lem. 1.7].

*Shares:* 5 % of Δ² go to means, 3 % to squares, 86 % to gradients, 6 % to recalibration, of which
70 % to its gradient; of others 8 % to means, 7 % to squares, 5 % to totals, 74 % to gradients, and
as much to recalibration, of counts and classes all to its gradient.  R = √(2 + d/3), of hazards and
classes √(1 + d/3), is the root of the mean square of terms that are spread evenly over their
bounds, R' = .375·R; d is the number of terms beside the intercept.

*Numbers:* norms and sums of norms are rounded up, what is weighed towards zero, so whole numbers
keep these bounds; every product and sum of a block of rows is below 2⁵³.

*Utility:* weights that depend on the outcome draw coefficients aside, and the rounds stop early,
which is the only ridge: the model predicts, and has no law of its error.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from confide.privacy.adjacency import Adjacency
from confide.tables.aggregates.descent_scale import scored_cells
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT, Family, terms
from confide.tables.relation import domain
from confide.tables.schema import Dataset

if TYPE_CHECKING:
    from confide.tables.aggregates.descent import DescentAggregate

WIDE_ROUNDS = 30
FINE = 2**6
"""Steps of a weighted residual beside those of a residual."""
WEIGHED = UNIT * RESIDUAL * FINE
"""One, in weighted residuals times terms: the most that a patient adds."""
TIMES = 2**6
"""b, so that the others are large enough to be near their shares."""
GRADIENT = WEIGHED * TIMES
"""One, in gradients."""
OFF_DIAGONAL = 1448
"""√2 in 1/1024, rounded down."""
MOST_DEVIATION = 2
"""Largest |s|."""
MOST_RESIDUAL = 2**4
"""Largest |r| of counts, in their unit, so that a product with 1 stays below 2⁶³."""
WIDER = 2**2
"""How much wider than their unit residuals of counts are in recalibration."""


class Part(enum.Enum):
    """What is asked for."""

    MEANS = enum.auto()
    SQUARES = enum.auto()
    TOTALS = enum.auto()
    GRADIENTS = enum.auto()
    TURN = enum.auto()
    BEND = enum.auto()


_SHARES: dict[Family, dict[Part, Fraction]] = {
    Family.LOGISTIC: {
        Part.MEANS: Fraction(50, 1000),
        Part.SQUARES: Fraction(30, 1000),
        Part.GRADIENTS: Fraction(860, 1000),
        Part.TURN: Fraction(42, 1000),
        Part.BEND: Fraction(18, 1000),
    },
    Family.HAZARD: {
        Part.MEANS: Fraction(80, 1000),
        Part.SQUARES: Fraction(70, 1000),
        Part.TOTALS: Fraction(50, 1000),
        Part.GRADIENTS: Fraction(740, 1000),
        Part.TURN: Fraction(42, 1000),
        Part.BEND: Fraction(18, 1000),
    },
    Family.POISSON: {
        Part.MEANS: Fraction(80, 1000),
        Part.SQUARES: Fraction(70, 1000),
        Part.TOTALS: Fraction(50, 1000),
        Part.GRADIENTS: Fraction(740, 1000),
        Part.TURN: Fraction(60, 1000),
    },
    Family.MULTINOMIAL: {
        Part.MEANS: Fraction(80, 1000),
        Part.SQUARES: Fraction(70, 1000),
        Part.TOTALS: Fraction(50, 1000),
        Part.GRADIENTS: Fraction(740, 1000),
        Part.TURN: Fraction(60, 1000),
    },
}
"""Shares of Δ²."""
_SQUARES_RADIUS = Fraction(3, 8)
_CROSS, _CURVES = 2, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WideScale:
    """The public whole numbers by which the answers of a model of many terms are multiplied.

    Attributes:
        family: Law of the outcome.
        terms: Of a row, the intercept first; d + 1.
        edges: Of the intervals of follow-up, from 0; of counts, fewest events of each cell, then
            one more than their bound; none of logistic models.
        expected: Public number of rows that are fitted; of hazards and counts, of their events.
        radius: R·UNIT.
        squares_radius: R'·UNIT.
        means: a.
        squares: c.
        totals: g, of exits or rows by cell or class in 1/UNIT; 0 of logistic models.
        turn: e, of Σ r·q, or of Σ r·s by class.
        bend: h, of Σ v·qqᵀ; 0 of counts and classes.
        scores: f, of scores; 0 where nobody is held out.
        scored: Number of scores.
        one: Δ² of a patient added or removed.
        l2_squared: Most by which one privacy unit moves all answers together, squared.
        classes: K; 1 of all but a multinomial model.
    """

    family: Family
    terms: int
    edges: tuple[int, ...]
    expected: int
    radius: int
    squares_radius: int
    means: int
    squares: int
    totals: int
    turn: int
    bend: int
    scores: int
    scored: int
    one: int
    l2_squared: int
    classes: int = 1

    @property
    def slopes(self) -> int:
        """D."""
        return self.terms - 1

    @property
    def hazards(self) -> bool:
        """Whether patients are followed."""
        return self.family is Family.HAZARD

    @property
    def counts(self) -> bool:
        """Whether events are counted."""
        return self.family is Family.POISSON

    @property
    def several(self) -> bool:
        """Whether there are classes."""
        return self.family is Family.MULTINOMIAL

    @property
    def cells(self) -> int:
        """Of exits by interval and outcome, with who reached the end; of counts; or classes."""
        if self.several:
            return self.classes
        if self.hazards:
            return 2 * len(self.edges) - 1
        return len(self.edges) - 1 if self.counts else 0

    @property
    def opening(self) -> int:
        """Numbers of the first answer: 1, terms, then the outcome or time, then cells."""
        return self.terms + (0 if self.hazards or self.several else 1) + self.cells

    @property
    def gradient(self) -> int:
        """Numbers of one gradient: terms, of each class."""
        return self.classes * self.terms

    @property
    def begun(self) -> int:
        """Numbers before the first gradient."""
        return self.opening + self.slopes

    @property
    def descended(self) -> int:
        """Numbers before recalibration."""
        return self.begun + WIDE_ROUNDS * self.gradient

    @property
    def fitted(self) -> int:
        """Numbers before scores."""
        if self.several:
            return self.descended + self.classes
        return self.descended + _CROSS + (0 if self.counts else _CURVES)

    @property
    def length(self) -> int:
        """Number of whole numbers answered in all."""
        return self.fitted + self.scored

    @property
    def lengths(self) -> tuple[int, ...]:
        """Numbers of each answer, in the order in which they are asked for; none is 0."""
        gradients = (self.gradient,) * WIDE_ROUNDS
        each = (self.opening, self.slopes, *gradients, self.fitted - self.descended, self.scored)
        return tuple(filter(None, each))


def _edges(aggregate: "DescentAggregate", *, dataset: Dataset) -> tuple[int, ...]:
    """Return edges of follow-up; of counts 0 to 5, then two cells for twice as many."""
    if aggregate.family is not Family.POISSON:
        return aggregate.edges
    most = domain(aggregate.outcome, dataset=dataset).upper
    ends = (end for k in range(1, most.bit_length()) for end in (2**k, 3 * 2 ** (k - 1)))
    return (0, 1, *(end + 1 for end in (1, *ends) if end < most), most + 1)


def wide_scale_of(aggregate: "DescentAggregate", *, dataset: Dataset) -> WideScale:
    """Return bounds and multipliers; from public facts alone."""
    size, family = len(terms(aggregate, dataset=dataset)), aggregate.family
    hazards, several = family is Family.HAZARD, family is Family.MULTINOMIAL
    squared = Fraction((1 if hazards or several else 2) * 3 + size - 1, 3) * UNIT**2
    radius = math.isqrt(math.ceil(squared) - 1) + 1
    squares_radius = math.ceil(_SQUARES_RADIUS * radius)
    bounds = {
        Part.MEANS: radius**2,
        Part.SQUARES: squares_radius**2,
        Part.TOTALS: UNIT**2,
        Part.TURN: _squared_turn(aggregate),
        Part.BEND: (5 * RESIDUAL * UNIT // (1 if hazards else 4)) ** 2,
    }
    shares = _SHARES[family]
    gradients = WIDE_ROUNDS * GRADIENT**2
    whole = gradients / shares[Part.GRADIENTS]
    factors = {
        part: math.isqrt(int(whole * shares.get(part, 0)) // bound)
        for part, bound in bounds.items()
    }
    parts = {part: factors[part] ** 2 * bound for part, bound in bounds.items()}
    one = sum(parts.values()) + gradients
    match dataset.adjacency:
        case Adjacency.ADD_REMOVE:
            moved = one
        case Adjacency.SUBSTITUTE:
            moved = 4 * one - 2 * parts[Part.SQUARES]
        case _:
            assert_never(dataset.adjacency)
    return WideScale(
        family=family,
        terms=size,
        edges=_edges(aggregate, dataset=dataset),
        expected=aggregate.expected,
        radius=radius,
        squares_radius=squares_radius,
        means=factors[Part.MEANS],
        squares=factors[Part.SQUARES],
        totals=factors[Part.TOTALS],
        turn=factors[Part.TURN],
        bend=factors[Part.BEND],
        scores=math.isqrt(one // aggregate.squared_scores) if aggregate.held_out else 0,
        scored=scored_cells(aggregate, dataset=dataset),
        one=one,
        l2_squared=moved,
        classes=aggregate.classes,
    )


def _squared_turn(aggregate: "DescentAggregate") -> int:
    """Return the most that a patient adds to ‖Σ r·q‖², or of classes to ‖Σ r·s‖²."""
    if aggregate.family is Family.MULTINOMIAL:  # shares are rounded to the nearest
        return 2 * MOST_DEVIATION**2 * ((RESIDUAL + aggregate.classes) * UNIT) ** 2
    return (1 + MOST_DEVIATION**2) * (RESIDUAL * UNIT) ** 2
