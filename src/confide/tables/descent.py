"""Fitting a generalised linear model by noisy steps: what is asked of the rows, round by round.

A row has terms x: 1, then numbers (2x − L − U)/(U − L) in [−1, 1], then indicators of categories.
The rows answer, one after another, vectors of whole numbers:

- *moments* Σ q·xxᵀ with q = min(1/k, R/Σ‖x‖²), k the number of rows of the patient and the sum
  over these; for counts and hazards also *totals*, of what the first step starts from;
- *gradients* Σ w·r·z in T rounds, where z = (1, (x − m)W) are terms whitened with the noisy
  moments, r = y − μ(θᵀz) is the residual in [−1, 1], and w = min(1/k, C/S) with S = Σ‖z‖ over the
  rows of the patient;
- after the first half of the rounds, *curvature* H = Σ h·v·zzᵀ, where v = v(θᵀz) is the variance
  and h is w or, where that is less, 2C²/Q with Q = Σ‖z‖² over the rows of the patient; and *spread*
  J = Σ w²·v·zzᵀ;
- *scores*: patients held out of all this, by bin of θᵀz and outcome; of several rows, of the first.

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

*Several rows* of a patient weigh as one together: w·k ≤ 1, so the model is that of a row drawn at
random from a patient drawn at random, however many rows they have [WDS03].  They are not
independent, so spread is that of patients' sums for every family: J = Σ uuᵀ, one u = Σ w·r·z each.

The weights depend on the terms alone, so Σ w·r·z = 0 is an unbiased estimating equation (of
Mallows' type) and draws no coefficient aside; its error has covariance H⁻¹JH⁻¹ [CP93].

*Lemma* (one patient added or removed, in units of 1).  Moments are the entries of M = Σ xxᵀ on and
above the diagonal, and Σ_{i≤j} M_ij² = (‖M‖² + Σ M_ii²)/2.  M has no negative eigenvalue and trace
at most R, and M_ii ≤ q·k ≤ 1, so ‖M‖² ≤ R² and Σ M_ii² ≤ R.  A gradient moves by ‖Σ w·r·z‖ ≤ w·S ≤
C.  Curvature is a sum of uuᵀ with u = √(hv)·z, so it moves by at most Σ‖u‖² ≤ V·h·Q ≤ 2V·C², V
being the largest v; the spread by V·w²·S² ≤ V·C², and that of patients' sums by ‖u‖² ≤ C².  All of
them together move by Δ² = a²(R² + R)/2 + Σ_t b_t²C² + c²(4V² + F²)C⁴ with public whole numbers a,
b_t, c by which they are multiplied; F is V, and 1 for patients' sums.  Totals, 1/k of each row's,
are multiplied by a, so that a² grows by a²·2 for counts, two numbers in [0, 1], and by a²·1 for
hazards, one cell of many.  For counts |r| ≤ 1 and V = F = 1.  For hazards let s = Σ_k r_k: with an
event before the stop s = 1 − Λ and ‖r‖² ≤ 1 + Λ²; without one s = −Λ and ‖r‖² ≤ Λ², with Λ ≤ 1.  So
‖G‖² = w²(s²‖u‖² + ‖r‖²) is convex in Λ and at most w²·max(‖u‖² + 1, 2) ≤ C² for C² ≥ 2, as ‖z‖² =
‖u‖² + 1; v is Λ ≤ 1, so V = F = 1 again.  A patient who is held out moves one score by one, and
nothing else; the multiplier e of scores has e² ≤ Δ².  *Substitution:* moments, curvature and spread
of two patients have a non-negative product, so their part doubles; gradients may oppose, so theirs
is fourfold; a patient who is replaced by one that is held out moves Δ² + e² at most.  ∎

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
    [WDS03] Williamson, Datta, Satten. Marginal analyses of clustered data when cluster size is
        informative. Biometrics 59(1), 2003. https://doi.org/10.1111/1541-0420.00005
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
MOST_ROWS = 100
MOST_INTERVALS = 20
SCORE_BINS = 20
HAZARD_BINS = 10
"""Bins of scores where they are counted by interval of follow-up too."""
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
        bounds: Rows that each patient keeps; they weigh as one together.
        rounds: T, number of gradients.
        held_out: Thousandths of the patients, by keyed hash, that only the scores count.
        exposure: Person-time of a count, above 0, or None where it is the same for all; under
            ``HAZARD`` the time of follow-up.
        edges: Of the public intervals of follow-up under ``HAZARD``, from 0, in steps of it.
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

    @property
    def intercepts(self) -> int:
        """K: one for each interval of follow-up, else one."""
        return max(1, len(self.edges) - 1)

    @property
    def clustered(self) -> bool:
        """Whether a patient may have several rows, so that spread is that of patients' sums."""
        return self.bounds.max_rows > 1

    @property
    def counted(self) -> str:
        """What weighs as one."""
        return "persons" if self.clustered else "rows"

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
    def score_bins(self) -> int:
        """Bins of θᵀz by which patients who are held out are counted."""
        return HAZARD_BINS if self.family is Family.HAZARD else SCORE_BINS


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
    moments = math.ceil(Fraction(norm**2 + norm * UNIT**2, 2))  # squared, for a = 1
    moments += _squared_totals(aggregate.family) * UNIT**4
    curved = math.ceil(aggregate.family.largest_variance * clip**2) ** 2
    curvature = 4 * curved + (clip**4 if aggregate.clustered else curved)
    late = aggregate.rounds - aggregate.rounds // 2
    each = (_EARLY,) * (aggregate.rounds - late) + (_LATE,) * late
    gradients = sum(b * b for b in each) * (clip * RESIDUAL) ** 2
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
    return Scale(
        terms=size,
        size=size + aggregate.intercepts - 1,
        totals=aggregate.totals,
        scored=2 * aggregate.score_bins * aggregate.intercepts if aggregate.held_out else 0,
        rounds=aggregate.rounds,
        norm=norm,
        clip=clip,
        moments=a,
        gradients=each,
        curvature=c,
        scores=math.isqrt(one) if aggregate.held_out else 0,
        l2_squared=moved,
    )


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
