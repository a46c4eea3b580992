"""Fitting a generalised linear model by noisy steps: what is asked of the rows, round by round.

A row has terms x: 1, then numbers (2x − L − U)/(U − L) in [−1, 1], then indicators of categories.
The rows answer, one after another, vectors of whole numbers:

- *moments* Σ xxᵀ, each patient's rows scaled so that their ‖x‖² add up to at most R; for counts
  and hazards also *totals*, of what the first step starts from;
- *gradients* Σ w·r·z in T rounds, where z = (1, (x − m)W) are terms whitened with the noisy
  moments, r = y − μ(θᵀz) is the residual in [−1, 1], and w = min(1, C/S) with S the sum of ‖z‖ over
  the rows of the patient;
- after the first half of the rounds, *curvature* H = Σ w·v·zzᵀ, where v = v(θᵀz) is the variance,
  and *spread* J = Σ w²·v·zzᵀ; in H a patient with S > 2C counts as if w were 2(C/S)²;
- *scores*: patients held out of all this, by bin of θᵀz and outcome (of counts, the sums of events
  and of person-time by bin); those who calibrate the model
  apart from those who evaluate it, and the latter once for each column of subgroups, by its values.

*Counts* (``POISSON``): y in 0..Y at person-time E in (0, U] has r = y/Y − min(1, exp(θᵀz)·E/U), and
totals Σ (y/Y, E/U).  *Hazards* (``HAZARD``): a patient is one row with one weight for all their
intervals of follow-up.  With a log hazard α_k in each of K public intervals in place of the
intercept and z = (1, u), the hazard that they lived through in interval k is Λ_k = exp(α_k + βᵀu)·
E_k/U, and they are followed until Λ_1 + Λ_2 + … reaches 1: a stopping time, so with r_k = (event in
k before that) − Λ_k every Σ w·r_k stays a martingale and draws no coefficient aside [ABGK93].  The
gradient is Σ G with G = w·(r_1, …, r_K, (Σ_k r_k)·u); curvature is Σ w·Λ·zzᵀ with Λ = Σ_k Λ_k; the
totals are exits by interval and outcome.  Cox's partial likelihood is no sum over patients (each
event's term holds all who are at risk), so no weight of one patient bounds what they move;
piecewise constant hazards are.

*Spread* of counts and hazards is the sum of squares of what patients do add, J = Σ w²r²·zzᵀ with r
= Σ_k r_k, so that a variance above Poisson's, or hazards that are not proportional, widen intervals
[Whi82].

The weights depend on the terms alone, so Σ w·r·z = 0 is an unbiased estimating equation (of
Mallows' type) and draws no coefficient aside; its error has covariance H⁻¹JH⁻¹ [CP93].

*Lemma* (one patient added or removed, in units of 1).  Moments are the entries of M = Σ xxᵀ on and
above the diagonal, and Σ_{i≤j} M_ij² = (‖M‖² + Σ M_ii²)/2.  M has no negative eigenvalue and trace
at most R, so ‖M‖² ≤ R² and Σ M_ii² ≤ R·max M_ii, where M_ii ≤ 1 for one row and ≤ R for several.  A
gradient moves by ‖Σ w·r·z‖ ≤ w·S ≤ C.  Curvature is a sum of uuᵀ with u = √(wv)·z, so it moves by
at most Σ‖u‖² ≤ V·w·S² ≤ 2V·C², V being the largest v; the spread by V·w²·S² ≤ V·C².  All of them
together move by Δ² = a²(R² + R·max M_ii)/2 + Σ_t b_t²C² + 5c²V²C⁴ with public whole numbers a, b_t,
c by which they are multiplied.  Totals are multiplied by a, so that a² grows by a²·2 for counts,
two numbers in [0, 1], and by a²·1 for hazards, one cell of many.  For counts |r| ≤ 1 and V = 1, and
a spread of w²r²‖z‖² ≤ C².  For hazards let s = Σ_k r_k: with an event before the stop s = 1 − Λ and
‖r‖² ≤ 1 + Λ²; without one s = −Λ and ‖r‖² ≤ Λ², with Λ ≤ 1.  So ‖G‖² = w²(s²‖u‖² + ‖r‖²) is convex
in Λ and at most w²·max(‖u‖² + 1, 2) ≤ C² for C² ≥ 2, as ‖z‖² = ‖u‖² + 1; v is Λ ≤ 1, so V = 1
again.  A patient who is held out moves one score by one, or with subgroups by m columns one score
of each column, and nothing else; the multiplier e of scores has m·e² ≤ Δ², m = 1 without subgroups.
Held-out counts and their person-time are two sums of numbers in [0, 1] in place of scores: m = 2.
*Substitution:* moments, curvature and spread of two patients have a non-negative product, so their
part doubles; gradients may oppose, so theirs is fourfold; a patient who is replaced by one that is
held out moves Δ² + m·e² ≤ 2Δ² at most, and one who is held out, by another such, 2m·e² ≤ 2Δ².  ∎

Later questions depend on earlier noisy answers alone: adaptive composition under zCDP costs what
the joint vector costs [BS16, lem. 1.7].

*Numbers:* everything is a whole number, and every product and sum that a float holds is below 2⁵³,
so a row's part does not depend on where it stands, on threads or on the library that multiplies.

References:
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
    [ABGK93] Andersen, Borgan, Gill, Keiding. Statistical models based on counting processes.
        Springer 1993, sec. II.3. https://doi.org/10.1007/978-1-4612-4348-9
    [Whi82] White. Maximum likelihood estimation of misspecified models. Econometrica 50(1), 1982.
        https://doi.org/10.2307/1912526
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.errors import InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import Expression
from confide.tables.relation import Relation, domain
from confide.tables.schema import Dataset

MOST_TERMS = 200
MOST_ROUNDS = 20
MOST_INTERVALS = 20
SCORE_CUTS = (3, 10, 22, 36, 50, 64, 78, 90, 97)
"""Percent of normal scores below each edge of the bins of scores.

The bins at both ends are open, so what is inside has to be guessed there: they are small.
"""
SCORE_BINS = len(SCORE_CUTS) + 1
"""Each adds noise to what is summed over all of them, and inside ten little is lost."""
MOST_SUBGROUPS = 4
"""Columns by which a model is evaluated."""
UNIT = 2**12
"""One, in terms and whitened terms."""
RESIDUAL = 2**16
"""One, in residuals."""
ROOT = 2**12
"""One, in square roots of variances."""
PARTS = 1_000
"""Patients are held out by thousandths."""
_MOMENTS, _CURVATURE = Fraction(30, 100), Fraction(8, 100)
_EARLY, _LATE = 2896, 4096  # the ratio of their squares is a half


class Family(enum.Enum):
    """Law of the outcome."""

    LOGISTIC = "logistic"
    POISSON = "poisson"
    HAZARD = "hazard"

    @property
    def largest_variance(self) -> Fraction:
        """V: the most that the slope of the mean of an outcome in [0, 1] can be."""
        match self:
            case Family.LOGISTIC:
                return Fraction(1, 4)
            case Family.POISSON | Family.HAZARD:
                return Fraction(1)
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentAggregate:
    """A model fitted in rounds.

    Attributes:
        relation: Which rows; those that lack a value are left out.
        covariates: Numbers, and categories of which the first value is the reference.
        outcome: 0 or 1 under ``LOGISTIC``; 0..Y under ``POISSON``; 1 under ``HAZARD`` where the
            follow-up ended with the event.
        family: Law of the outcome.
        bounds: Rows that each patient keeps.
        rounds: T, number of gradients.
        held_out: Thousandths of the patients, by keyed hash, that only the scores count.
        exposure: Person-time of a count, above 0, or None where it is the same for all; under
            ``HAZARD`` the time of follow-up.
        edges: Of the public intervals of follow-up under ``HAZARD``, from 0, in steps of it.
        calibrating: Thousandths of the patients, out of those held out, whose scores are counted
            apart; the others evaluate.
        subgroups: Categories by whose values those who evaluate are counted, column by column.
    """

    relation: Relation
    covariates: tuple[Expression, ...]
    outcome: Expression
    family: Family
    bounds: RowBound
    rounds: int
    held_out: int
    exposure: Expression | None = None
    edges: tuple[int, ...] = ()
    calibrating: int = 0
    subgroups: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise InvalidParameterError(
                f"Expected between 1 and {MOST_ROUNDS} rounds, got {self.rounds}.",
                hint="Five are enough; more only share the budget among more gradients.",
            )
        if not 0 <= self.held_out <= PARTS // 2:
            raise InvalidParameterError(
                "Expected at most half of the patients to be held out.",
                hint="Write hold-out: 0.2, or 0 for a model without evaluation.",
            )
        if (self.calibrating or self.subgroups) and not 0 <= self.calibrating < self.held_out:
            raise InvalidParameterError(
                "Recalibration and subgroups need patients who are held out.",
                hint="Write hold-out: 0.3.",
            )
        if len(self.subgroups) > MOST_SUBGROUPS:
            raise InvalidParameterError(
                f"Expected subgroups by at most {MOST_SUBGROUPS} columns, "
                f"got {len(self.subgroups)}.",
                hint="Each further column makes the noise of all larger; name the ones that count.",
            )

    @property
    def intercepts(self) -> int:
        """K: one for each interval of follow-up, else one."""
        return max(1, len(self.edges) - 1)

    @property
    def totals(self) -> int:
        """How many totals are asked for with the moments."""
        match self.family:
            case Family.LOGISTIC:
                return 0
            case Family.POISSON:
                return 2
            case Family.HAZARD:  # exits by interval and outcome, and those who reached the end
                return 2 * self.intercepts + 1
            case _:
                assert_never(self.family)

    @property
    def score_cells(self) -> int:
        """Cells of one histogram of those held out; of hazards with those who reached the end."""
        ends = 2 * self.intercepts + 1 if self.family is Family.HAZARD else 2
        return ends * SCORE_BINS

    @property
    def squared_scores(self) -> int:
        """Most that a patient who is held out adds to ‖scores‖².

        One in each histogram; under ``POISSON`` events and person-time, each at most UNIT².
        """
        if self.family is Family.POISSON:
            return 2 * UNIT**4
        return max(1, len(self.subgroups))


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One term of a row.

    Attributes:
        covariate: Its place among the covariates; −1 for the intercept.
        level: Index of the category that it indicates; None for a number.
    """

    covariate: int
    level: int | None = None


def terms(aggregate: DescentAggregate, *, dataset: Dataset) -> tuple[Term, ...]:
    """Return the terms of a row: intercept, then the covariates in their order."""
    found = [Term(covariate=-1)]
    for place, covariate in enumerate(aggregate.covariates):
        of = domain(covariate, dataset=dataset)
        if of.keys:
            found += [Term(covariate=place, level=level) for level in range(1, of.size())]
        else:
            found.append(Term(covariate=place))
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The public whole numbers by which answers are bounded and multiplied.

    Attributes:
        terms: d, number of terms of a row.
        size: Number of coefficients: d, and one more for each further interval.
        totals: Number of totals asked for with the moments.
        scored: Number of scores; 0 where nobody is held out.
        rounds: T.
        norm: R·UNIT².
        clip: C·UNIT.
        moments: a.
        gradients: b_t of each round; the first half of them cost half as much.
        curvature: c, of curvature and of spread.
        scores: e; 0 where nobody is held out.
        l2_squared: Most by which one privacy unit moves all answers together, squared.
    """

    terms: int
    size: int
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
        return self.terms * (self.terms + 1) // 2

    @property
    def opening(self) -> int:
        """Numbers of the first answer: moments of the terms, and totals."""
        return self.entries + self.totals

    @property
    def length(self) -> int:
        """Number of whole numbers answered in all."""
        return self.opening + 2 * self.entries + self.rounds * self.size + self.scored

    @property
    def early(self) -> int:
        """Rounds before the curvature is asked for."""
        return self.rounds // 2


def scale_of(aggregate: DescentAggregate, *, dataset: Dataset) -> Scale:
    """Return bounds and multipliers; 30 % of Δ² go to moments, 8 % to curvature and spread.

    R is 1 for the intercept and for each category, and a third for each number: its mean square if
    it were spread evenly over its bounds.  C is √d, as ‖z‖² is d on average.
    """
    size = len(terms(aggregate, dataset=dataset))
    numbers = sum(not domain(c, dataset=dataset).keys for c in aggregate.covariates)
    categories = len(aggregate.covariates) - numbers
    norm = math.ceil((1 + categories + Fraction(numbers, 3)) * UNIT**2)
    clip = math.isqrt(size * UNIT**2 - 1) + 1
    largest = Fraction(1) if aggregate.bounds.max_rows == 1 else Fraction(norm, UNIT**2)
    moments = math.ceil((norm**2 + norm * UNIT**2 * largest) / 2)  # squared, for a = 1
    moments += _squared_totals(aggregate.family) * UNIT**4
    curvature = math.ceil(aggregate.family.largest_variance * clip**2) ** 2
    late = aggregate.rounds - aggregate.rounds // 2
    each = (_EARLY,) * (aggregate.rounds - late) + (_LATE,) * late
    gradients = sum(b * b for b in each) * (clip * RESIDUAL) ** 2
    whole = gradients / (1 - _MOMENTS - _CURVATURE)
    a = math.isqrt(int(whole * _MOMENTS) // moments)
    c = math.isqrt(int(whole * _CURVATURE) // (5 * curvature))
    one = a * a * moments + gradients + 5 * c * c * curvature
    match dataset.adjacency:
        case Adjacency.ADD_REMOVE:
            moved = one
        case Adjacency.SUBSTITUTE:
            moved = 2 * one + 2 * gradients
        case _:
            assert_never(dataset.adjacency)
    return Scale(
        terms=size,
        size=size + aggregate.intercepts - 1,
        totals=aggregate.totals,
        scored=_scored(aggregate, dataset=dataset),
        rounds=aggregate.rounds,
        norm=norm,
        clip=clip,
        moments=a,
        gradients=each,
        curvature=c,
        scores=math.isqrt(one // aggregate.squared_scores) if aggregate.held_out else 0,
        l2_squared=moved,
    )


def _scored(aggregate: DescentAggregate, *, dataset: Dataset) -> int:
    """Return the number of scores: of those who calibrate, then of each subgroup."""
    if not aggregate.held_out:
        return 0
    groups = sum(domain(column, dataset=dataset).size() for column in aggregate.subgroups)
    histograms = bool(aggregate.calibrating) + (groups or 1)
    return aggregate.score_cells * histograms


def _squared_totals(family: Family) -> int:
    """Return the most that a patient adds to ‖totals‖², in units of 1."""
    match family:
        case Family.LOGISTIC:
            return 0
        case Family.POISSON:
            return 2
        case Family.HAZARD:
            return 1
        case _:
            assert_never(family)
