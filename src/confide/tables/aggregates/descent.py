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
- *scores*: patients held out of all this, by bin of θᵀz and outcome (of counts, the sums of events
  and of person-time by bin), of several rows by the first; those who calibrate the model apart from
  those who evaluate it, and the latter once for each column of subgroups, by its values.

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

*Classes* (``MULTINOMIAL``): y is one of K classes, each with coefficients θ_c of its own, r_c = (y
is c) − p_c with p = softmax(θᵀz), and a gradient has K parts Σ w·r_c·z.  Curvature is, for each
pair of classes a < b, Σ h·p_a·p_b·zzᵀ, as Cov(y) = Σ_{a<b} p_a·p_b·(e_a − e_b)(e_a − e_b)ᵀ; spread
likewise, or that of patients' sums of all K parts.  Totals are patients by class.

*One look* (``LOGISTIC`` in no rounds): moments and Σ q·x·s with s = 1 where the condition holds and
−1 elsewhere, then scores; for few patients (:mod:`confide.plans.rounds.one_shot`).

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
hazards and classes, one cell of many.  Of classes, ‖r‖² = (1 − p_y)² + Σ_{c≠y} p_c² ≤ 2(1 − p_y)²
≤ 2, and to come near it the model must be sure of one other class: gradients move by √2·C, and
patients' sums by F = 2.  f = Σ_{a<b} p_a²p_b² is convex in the product of any two of the p with a
given sum, so at its largest any two are equal or one is 0; of k equal ones it is (k − 1)/(2k³) ≤
1/16.  So the curvature of all pairs moves by at most √f·h·Q with V = √f = 1/4, as for two classes.
For counts |r| ≤ 1 and V = F = 1.  For hazards let s = Σ_k r_k: with an event before the stop
s = 1 − Λ and ‖r‖² ≤ 1 + Λ²; without one s = −Λ and ‖r‖² ≤ Λ², with Λ ≤ 1.  So ‖G‖² = w²(s²‖u‖² +
‖r‖²) is convex in Λ and at most w²·max(‖u‖² + 1, 2) ≤ C² for C² ≥ 2, as ‖z‖² = ‖u‖² + 1; v is Λ ≤
1, so V = F = 1 again.  A patient who is held out moves m scores by one, and nothing else; the
multiplier e of scores has m·e² ≤ Δ².  m is 1, or one score of each column with subgroups by m
columns, times one for each class against the rest; of counts m is twice as
much, for the sums of events, cut at a number of them that the question names and in units of it,
and of person-time are of numbers in [0, 1].  *Substitution:* moments, curvature and spread of
two patients have a non-negative product, so their part doubles; gradients may oppose, so theirs is
fourfold; a patient who is replaced by one that is held out moves Δ² + m·e² ≤ 2Δ² at most, and one
who is held out, by another such, 2m·e² ≤ 2Δ².  ∎

*One look* moves by Δ² = a²(R² + R)/2 + b²R: Σ q·‖x‖ over the k rows of a patient is at most
q·√(k·Σ‖x‖²) = √(qk)·√(q·Σ‖x‖²) ≤ √R.  Under substitution that of a may double and that of b be
fourfold.  ∎

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

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never

from confide.errors import InvalidParameterError
from confide.privacy.sensitivity import Sensitivity
from confide.tables.aggregates.check_descent import check_descent, descent_sensitivity
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import (
    MOST_ROUNDS,
    MOST_SUBGROUPS,
    PARTS,
    RESIDUAL,
    SCORE_BINS,
    UNIT,
    Family,
)
from confide.tables.aggregates.told import Telling
from confide.tables.aggregates.value import Step
from confide.tables.aggregates.wide_models.scale import (
    GRADIENT,
    WIDE_ROUNDS,
    wide_scale_of,
)
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import Expression
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentAggregate:
    """A model fitted in rounds.

    Attributes:
        relation: Which rows; those that lack a value are left out.
        covariates: Numbers, and categories of which the first value is the reference.
        outcome: 0 or 1 under ``LOGISTIC``; 0..Y under ``POISSON``; 1 under ``HAZARD`` where the
            follow-up ended with the event; a category under ``MULTINOMIAL``.
        family: Law of the outcome.
        bounds: Rows that each patient keeps; they weigh as one together.
        rounds: T, number of gradients; 0 for one look, of logistic models only.
        held_out: Thousandths of the patients, by keyed hash, that only the scores count.
        exposure: Person-time of a count, above 0, or None where it is the same for all; under
            ``HAZARD`` the time of follow-up.
        edges: Of the public intervals of follow-up under ``HAZARD``, from 0, in steps of it.
        classes: K, number of public classes under ``MULTINOMIAL``; else 1.
        calibrating: Thousandths of the patients, out of those held out, whose scores are counted
            apart; the others evaluate.
        subgroups: Categories by whose values those who evaluate are counted, column by column.
        expected: Public number of rows that are fitted, or of events under ``HAZARD`` and
            ``POISSON``, by which a model of many terms goes as far as it does
            (:mod:`confide.tables.aggregates.wide_models.scale`); 0 of others.
    """

    shared: ClassVar[str] = (
        "A model is fitted in rounds, so nobody's own part of it is known before."
    )

    relation: Relation
    covariates: tuple[Expression, ...]
    outcome: Expression
    family: Family
    bounds: RowBound
    rounds: int
    held_out: int
    exposure: Expression | None = None
    edges: tuple[int, ...] = ()
    classes: int = 1
    calibrating: int = 0
    subgroups: tuple[Expression, ...] = ()
    expected: int = 0

    def __post_init__(self) -> None:
        fewest = 0 if self.family is Family.LOGISTIC else 1
        if self.expected and self.rounds != WIDE_ROUNDS:
            raise InvalidParameterError(f"Expected a model of many terms: {WIDE_ROUNDS} rounds.")
        if self.expected < 0:
            raise InvalidParameterError(f"Expected rows ≥ 0, got {self.expected}.")
        if not self.expected and not fewest <= self.rounds <= MOST_ROUNDS:
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
        """One for each interval of follow-up, or for each class but one; else one."""
        return max(1, self.intervals, self.classes - 1)

    @property
    def intervals(self) -> int:
        """Intervals of follow-up; 0 where nobody is followed."""
        return max(0, len(self.edges) - 1)

    @property
    def pairs(self) -> int:
        """Matrices of which curvature is made: one for each pair of classes, else one."""
        return max(1, self.classes * (self.classes - 1) // 2)

    @property
    def wide(self) -> bool:
        """Whether it is fitted as a model of many terms."""
        return self.expected > 0

    @property
    def one_look(self) -> bool:
        """Whether moments are all that is asked for."""
        return self.rounds == 0

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
            case Family.MULTINOMIAL:
                return self.classes
            case _:
                assert_never(self.family)

    @property
    def score_cells(self) -> int:
        """Cells of one count of those held out; of hazards with those who reached the end.

        Of classes, one histogram for each against the rest.
        """
        ends = 2 * self.intercepts + 1 if self.family is Family.HAZARD else 2
        return self.classes * ends * SCORE_BINS

    @property
    def squared_scores(self) -> int:
        """Most that a patient who is held out adds to ‖scores‖².

        One in each histogram; under ``POISSON`` events and person-time, each at most UNIT².
        """
        columns = max(1, len(self.subgroups))
        if self.family is Family.POISSON:
            return 2 * UNIT**4 * columns
        return self.classes * columns

    @property
    def reads(self) -> tuple[Expression, ...]:
        """What must be known of a row that is kept, beside what the filter says."""
        time = () if self.exposure is None else (self.exposure,)
        return (*self.covariates, self.outcome, *time)

    def coordinates(self, dataset: Dataset) -> int:
        """Return how many numbers are answered in all."""
        if self.wide:
            return wide_scale_of(self, dataset=dataset).length
        return scale_of(self, dataset=dataset).length

    def check(self, dataset: Dataset) -> None:
        """Refuse a model whose lemma would not hold, or that is not declared."""
        check_descent(self, dataset=dataset)

    def sensitivity(self, dataset: Dataset, *, counted: str) -> Sensitivity:
        """Return how far one patient moves all answers together."""
        del counted
        return descent_sensitivity(self, dataset=dataset)

    def step(self, dataset: Dataset) -> Step:
        """Return what one step of a late gradient is worth."""
        if self.wide:
            return Step(size=Fraction(1, GRADIENT), units=("1",))
        one = UNIT if self.one_look else UNIT * RESIDUAL
        scale = scale_of(self, dataset=dataset)
        return Step(size=Fraction(1, scale.gradients[-1] * one), units=("1",))

    def told(self, say: Telling) -> str:
        """Return what is measured, in words."""
        if self.one_look:
            asked = "moments and products with the outcome"
        elif self.wide:
            asked = f"means, squares, {self.rounds} gradients and recalibration"
        else:
            asked = f"moments, {self.rounds} gradients and curvature"
        names = ", ".join(map(say.of, self.covariates))
        return (
            f"{asked} of a {self.family.value} model of {say.of(self.outcome)} by {names}, "
            f"over rows of {say.rows(self.relation)}"
        )
