"""Fitting a generalised linear model by noisy steps: what is asked of the rows, round by round.

A row has terms x: 1, then numbers (2x − L − U)/(U − L) in [−1, 1], then indicators of categories.
The rows answer, one after another, vectors of whole numbers:

- *moments* Σ xxᵀ, each patient's rows scaled so that their ‖x‖² add up to at most R;
- *gradients* Σ w·r·z in T rounds, where z = (1, (x − m)W) are terms whitened with the noisy
  moments, r = y − μ(θᵀz) is the residual in [−1, 1], and w = min(1, C/S) with S the sum of ‖z‖ over
  the rows of the patient;
- after the first half of the rounds, *curvature* H = Σ w·v·zzᵀ, where v = v(θᵀz) is the variance,
  and *spread* J = Σ w²·v·zzᵀ; in H a patient with S > 2C counts as if w were 2(C/S)²;
- *scores*: patients held out of all this, by bin of θᵀz and outcome.

The weights depend on the terms alone, so Σ w·r·z = 0 is an unbiased estimating equation (of
Mallows' type) and draws no coefficient aside; its error has covariance H⁻¹JH⁻¹ [CP93].

*Lemma* (one patient added or removed, in units of 1).  Moments are the entries of M = Σ xxᵀ on and
above the diagonal, and Σ_{i≤j} M_ij² = (‖M‖² + Σ M_ii²)/2.  M has no negative eigenvalue and trace
at most R, so ‖M‖² ≤ R² and Σ M_ii² ≤ R·max M_ii, where M_ii ≤ 1 for one row and ≤ R for several.  A
gradient moves by ‖Σ w·r·z‖ ≤ w·S ≤ C.  Curvature is a sum of uuᵀ with u = √(wv)·z, so it moves by
at most Σ‖u‖² ≤ V·w·S² ≤ 2V·C², V being the largest v; the spread by V·w²·S² ≤ V·C².  All of them
together move by Δ² = a²(R² + R·max M_ii)/2 + Σ_t b_t²C² + 5c²V²C⁴ with public whole numbers a, b_t,
c by which they are multiplied.  A patient who is held out moves one score by one, and nothing else;
the multiplier e of scores has e² ≤ Δ².  *Substitution:* moments, curvature and spread of two
patients have a non-negative product, so their part doubles; gradients may oppose, so theirs is
fourfold; a patient who is replaced by one that is held out moves Δ² + e² at most.  ∎

Later questions depend on earlier noisy answers alone: adaptive composition under zCDP costs what
the joint vector costs [BS16, lem. 1.7].

*Numbers:* everything is a whole number, and every product and sum that a float holds is below 2⁵³,
so a row's part does not depend on where it stands, on threads or on the library that multiplies.

References:
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError, InvalidParameterError
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import Expression
from confide.tables.relation import Relation, check, domain
from confide.tables.schema import Dataset, Kind

MOST_TERMS = 200
MOST_ROUNDS = 20
SCORE_BINS = 20
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

    @property
    def largest_variance(self) -> Fraction:
        """V: the most that the variance of an outcome in [0, 1] can be."""
        match self:
            case Family.LOGISTIC:
                return Fraction(1, 4)
            case _:
                assert_never(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentAggregate:
    """A model fitted in rounds.

    Attributes:
        relation: Which rows; those that lack a value are left out.
        covariates: Numbers, and categories of which the first value is the reference.
        outcome: 0 or 1 under ``LOGISTIC``.
        family: Law of the outcome.
        bounds: Rows that each patient keeps.
        rounds: T, number of gradients.
        held_out: Thousandths of the patients, by keyed hash, that only the scores count.
    """

    relation: Relation
    covariates: tuple[Expression, ...]
    outcome: Expression
    family: Family
    bounds: RowBound
    rounds: int
    held_out: int

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
        size: d, number of terms.
        rounds: T.
        norm: R·UNIT².
        clip: C·UNIT.
        moments: a.
        gradients: b_t of each round; the first half of them cost half as much.
        curvature: c, of curvature and of spread.
        scores: e; 0 where nobody is held out.
        l2_squared: Most by which one privacy unit moves all answers together, squared.
    """

    size: int
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
        return self.size * (self.size + 1) // 2

    @property
    def length(self) -> int:
        """Number of whole numbers answered in all."""
        scored = 2 * SCORE_BINS if self.scores else 0
        return 3 * self.entries + self.rounds * self.size + scored

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
    clip = math.isqrt(size * UNIT**2)
    largest = Fraction(1) if aggregate.bounds.max_rows == 1 else Fraction(norm, UNIT**2)
    moments = math.ceil((norm**2 + norm * UNIT**2 * largest) / 2)  # squared, for a = 1
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
        size=size,
        rounds=aggregate.rounds,
        norm=norm,
        clip=clip,
        moments=a,
        gradients=each,
        curvature=c,
        scores=math.isqrt(one) if aggregate.held_out else 0,
        l2_squared=moved,
    )


def check_descent(aggregate: DescentAggregate, *, dataset: Dataset) -> None:
    """Refuse a model whose lemma would not hold, or that is not declared.

    Raises:
        ContractError: If a name or kind does not fit, or the unit or measure does not suit.
        InvalidParameterError: If there are too many terms.
    """
    check(aggregate.relation, *aggregate.covariates, aggregate.outcome, dataset=dataset)
    if dataset.unit.entity is not Entity.PATIENT:
        raise ContractError(
            "A model is fitted with the patient as privacy unit.",
            hint="Write protects: {unit: patient, …} in dataset.yaml.",
        )
    if dataset.measure is not Measure.ZCDP:
        raise ContractError(
            "Gradients are noised with Gaussian noise, which a ledger in pure ε cannot charge.",
            hint="Write accounting: {measure: zcdp, delta: 1e-6} for a data set of models.",
        )
    for covariate in aggregate.covariates:
        of = domain(covariate, dataset=dataset)
        if not of.keys and of.kind is not Kind.NUMBER:
            raise ContractError(
                "A covariate is neither a number nor a category.",
                hint="Declare a per-patient value days-between, or cut it into bins.",
            )
        if of.lower == of.upper:
            raise ContractError(
                "A covariate has one value alone, so it explains nothing.", hint="Leave it out."
            )
    of = domain(aggregate.outcome, dataset=dataset)
    if of.upper - of.lower != 1:
        raise ContractError("The outcome of a logistic model is a condition: it holds or not.")
    size = len(terms(aggregate, dataset=dataset))
    if size > MOST_TERMS:
        raise InvalidParameterError(
            f"Expected at most {MOST_TERMS} terms, got {size}.",
            hint="Use fewer covariates or coarser categories.",
        )


def descent_sensitivity(aggregate: DescentAggregate, *, dataset: Dataset) -> Sensitivity:
    """Return how far one patient moves all answers together.

    Raises:
        ContractError: As :func:`check_descent`.
    """
    check_descent(aggregate, dataset=dataset)
    scale = scale_of(aggregate, dataset=dataset)
    return Sensitivity(
        l1=math.isqrt(scale.length * scale.l2_squared) + 1,
        l2_squared=scale.l2_squared,
        linf=math.isqrt(scale.l2_squared),
        entity=dataset.unit.entity,
        unit="1",
        because="a patient's rows are scaled so that their terms have a bounded norm, and "
        f"moments, {scale.rounds} gradients, curvature and spread are one vector, asked in turn "
        "[BS16, lem. 1.7].",
    )
