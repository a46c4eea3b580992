"""Logistic regression: how the odds of a condition depend on numbers and categories, all at once.

What is measured are moments, gradients and curvature in rounds
(:mod:`confide.tables.aggregates.descent`, with the lemma); the path is
:mod:`confide.plans.rounds.descent`, the law of the estimate :mod:`confide.plans.rounds.model_fit`.
Nothing is tuned: rounds, shares and clips are fixed by the number of terms.  Where terms are many
for the rows and the loss, by public numbers, another fit predicts and has no odds ratios
(:mod:`confide.plans.rounds.wide`, :mod:`confide.tables.aggregates.wide_models.scale`).

*Privacy:* bounds of numbers and categories are declared; a scale or a category taken from the data
would not be covered by the guarantee.  ρ-zCDP; a patient is one contribution.

*Utility:* intervals cover sampling and noise.  With the noise off it is weighted maximum
likelihood: rows of unusual covariates weigh less, by the norm of their whitened terms alone.

References:
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

import enum
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import PerPatient, question, rows_of_each
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.rounds.answered import told
from confide.plans.rounds.held_out import Recalibration, calibrating, require_judges
from confide.plans.rounds.model_estimates import (
    Published,
    forecast_of,
    label_of,
    step_of,
)
from confide.plans.rounds.wide import (
    TURN_OF_WIDE,
    told_by_share,
    wide_fit_is_better,
    width_ratio,
)
from confide.plans.simulation import Simulation
from confide.privacy.measure import Measure
from confide.statistics.logistic.feasibility import Feasibility, Planned, feasibility
from confide.statistics.logistic.held_out import HeldOut, scores_of
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import PARTS, Family, terms
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from confide.tables.conditions.known import rows_told
from confide.tables.expression import Holds
from confide.tables.filter import Predicate
from confide.tables.relation import axes_of, domain, resolve
from confide.tables.schema import Dataset

MODEL, ONE_LOOK, WIDE = "model", "one-look", "wide"
ROUNDS = 5
PLANNED_AUC = Fraction(3, 4)
LEAST_AUC, MOST_AUC = Fraction(51, 100), Fraction(99, 100)


class Method(enum.Enum):
    """How the model is fitted."""

    AUTO = "auto"
    ROUNDS = "rounds"
    ONE_SHOT = "one-shot"
    WIDE = "wide"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticRegression(Statistic):
    """How the odds of a condition depend on covariates.

    Attributes:
        of: The condition.
        covariates: Numbers, and categories of which the first value is the reference.
        per_patient: Most rows of a patient, where there may be several; they weigh as one together.
        hold_out: Share of the patients, by keyed hash, who are not fitted but evaluate the model.
        recalibrate: What of the log odds half of those who are held out put right; the other half
            evaluates.
        subgroups: Categories by whose values the evaluation is repeated; rows that lack one are
            left out.
        method: Rounds; or the fit for many terms, or one look, which predict and have no intervals.
            Of "auto" public numbers choose the first or the second once the budget is known.
        expect_share: Public planning share of them for whom the condition holds; 1/2 otherwise.
        expect_auc: Public planning C-statistic; 3/4 otherwise.
    """

    of: Predicate
    covariates: tuple[str, ...]
    per_patient: PerPatient = field(default_factory=PerPatient)
    hold_out: Fraction = Fraction(0)
    method: Method = Method.ROUNDS
    expect_share: Fraction | None = None
    recalibrate: Recalibration = Recalibration.NONE
    subgroups: tuple[str, ...] = ()
    expect_auc: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.covariates or len(set(self.covariates)) != len(self.covariates):
            raise ContractError(
                f"Regression {self.id!r} needs covariates, each named once.",
                hint="Write covariates: [age, sex].",
            )
        if self.expect_auc is not None and not LEAST_AUC <= self.expect_auc <= MOST_AUC:
            raise ContractError(
                f"Regression {self.id!r}: expected a planning C-statistic between "
                f"{float(LEAST_AUC):g} and {float(MOST_AUC):g}, got {float(self.expect_auc):g}.",
                hint="Write expect: {count: 5000, share: 0.2, auc: 0.75}.",
            )
        require_judges(
            self.id,
            hold_out=self.hold_out,
            recalibrate=self.recalibrate,
            subgroups=self.subgroups,
        )

    def aggregate(self, dataset: Dataset) -> DescentAggregate:
        """Return what is asked of the rows."""
        covariates = tuple(
            resolve(name, table=self.table, dataset=dataset) for name in self.covariates
        )
        held_out = math.floor(self.hold_out * PARTS)
        return DescentAggregate(
            relation=rows_told(self.table, where=self.where, of=self.of, dataset=dataset),
            covariates=covariates,
            outcome=Holds(of=self.of),
            family=Family.LOGISTIC,
            bounds=rows_of_each(self.per_patient, table=self.table, dataset=dataset),
            rounds=self._rounds(),
            expected=self._expected(),
            held_out=held_out,
            calibrating=calibrating(held_out, self.recalibrate),
            subgroups=axes_of(self.subgroups, table=self.table, dataset=dataset),
        )

    def settled(self, amount: Fraction | None, *, dataset: Dataset) -> "LogisticRegression":
        """Return the same, fitted as public numbers say that it ranks best; see :mod:`.wide`."""
        if self.method is not Method.AUTO:
            return self
        rounds = replace(self, method=Method.ROUNDS)
        if amount is None or self.expect is None or dataset.measure is not Measure.ZCDP:
            return rounds
        size = len(terms(rounds.aggregate(dataset), dataset=dataset)) - 1
        mu = math.sqrt(2 * float(amount))
        rare = None if self.expect_share is None else float(self.expect_share)
        if not wide_fit_is_better(float(self._fitted()), terms=size, mu=mu, share=rare):
            return rounds
        return replace(self, method=Method.WIDE)

    def _fitted(self) -> Fraction:
        """Return the public planning number of rows that are fitted."""
        return (self.expect or Fraction(0)) * (1 - self.hold_out)

    def _share(self) -> float:
        """Return the public planning share of rows for which the condition holds."""
        return float(self.expect_share if self.expect_share is not None else Fraction(1, 2))

    def _rounds(self) -> int:
        match self.method:
            case Method.ROUNDS | Method.AUTO:
                return ROUNDS
            case Method.ONE_SHOT:
                return 0
            case Method.WIDE:
                return WIDE_ROUNDS
            case _:
                assert_never(self.method)

    def _expected(self) -> int:
        if self.method is not Method.WIDE:
            return 0
        if self.expect is None:
            raise ContractError(
                f"How far regression {self.id!r} goes by its fit for many terms depends on the "
                "number of rows, and that of the data is not public.",
                hint="Write expect: {count: 5000}, from a public source or an earlier certificate.",
            )
        return max(1, math.floor(self._fitted()))

    def _question(self) -> str:
        match self.method:
            case Method.ROUNDS | Method.AUTO:
                return MODEL
            case Method.ONE_SHOT:
                return ONE_LOOK
            case Method.WIDE:
                return WIDE
            case _:
                assert_never(self.method)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector, asked in rounds."""
        return (question(self._question(), self.aggregate(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the log odds of one standard deviation of a covariate.

        Notes say what to expect of the C-statistic.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of regression {self.id!r} depends on the number of rows.",
                hint="Write expect: {count: 5000, share: 0.2}, from a public source or an earlier "
                "certificate.",
            )
        if self.method is Method.ONE_SHOT:
            raise ContractError(
                f"Regression {self.id!r} in one look predicts and has no interval to forecast.",
                hint="Hold patients out (hold-out: 0.2) to know how well it does.",
            )
        if self.method is Method.WIDE:
            raise ContractError(self._predicts(mechanisms, dataset=dataset))
        share, rows = self._share(), float(self.expect) * float(1 - self.hold_out)
        curve = rows * share * (1 - share)
        aggregate = self.aggregate(dataset)
        scale = scale_of(aggregate, dataset=dataset)
        noise = math.sqrt(additive(mechanisms[self._question()]).variance())
        values = self._planned(aggregate, dataset=dataset, share=share)
        note = _note(self.expect, share=share, sampling=1 / math.sqrt(curve))
        ratio = width_ratio(rows, terms=scale.terms - 1, mu=math.sqrt(scale.l2_squared) / noise)
        if ratio < TURN_OF_WIDE:
            note += "; for so few rows a term `method: wide` is expected to rank better"
        elif self.expect_share is not None and told_by_share(ratio, share=share) < TURN_OF_WIDE:
            note += "; for so rare an outcome rounds may end without slopes, and `method: wide` is "
            note += "expected to rank better"
        found = forecast_of(curve, noise=noise, scale=scale, level=float(level), note=note)
        expected = feasibility(values, noise=noise, scale=scale)
        return replace(found, notes=(*found.notes, *_expected(expected, values=values)))

    def _predicts(self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset) -> str:
        """Return in one line what the fit for many terms is chosen by, and gives."""
        aggregate = self.aggregate(dataset)
        scale = wide_scale_of(aggregate, dataset=dataset)
        sigma = math.sqrt(additive(mechanisms[self._question()]).variance())
        mu = math.sqrt(scale.l2_squared) / sigma
        ratio = width_ratio(aggregate.expected, terms=scale.slopes, mu=mu)
        side = "below" if ratio < TURN_OF_WIDE else "not below"
        rare, share = "", self._share()
        weighed = told_by_share(ratio, share=share)
        if weighed < TURN_OF_WIDE <= ratio:
            rare = f", but times 4p(1 − p), p = {share:.2g}, {weighed:.2g}, below {TURN_OF_WIDE:g}"
        return (
            f"Regression {self.id!r} is fitted as one of many terms: rows × √(2ρ) / terms = "
            f"{aggregate.expected} × {mu:.2g} / {scale.slopes} = {ratio:.2g}, {side} "
            f"{TURN_OF_WIDE:g}{rare}; it predicts only, with no odds ratio and no interval."
        )

    def _planned(self, aggregate: DescentAggregate, *, dataset: Dataset, share: float) -> Planned:
        sizes = [domain(column, dataset=dataset).size() for column in aggregate.subgroups]
        evaluating = (aggregate.held_out - aggregate.calibrating) / PARTS
        rows = float(self.expect or 0)
        return Planned(
            fitted=rows * (1 - aggregate.held_out / PARTS),
            evaluating=rows * evaluating,
            joined=1 / sum(1 / size for size in sizes) if sizes else 1.0,
            share=share,
            auc=float(self.expect_auc if self.expect_auc is not None else PLANNED_AUC),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return odds ratios, coefficients, those that predict, and the number of rows."""
        aggregate, answers = self.aggregate(dataset), vector(noisy[self._question()])
        sigma = math.sqrt(additive(mechanisms[self._question()]).variance())
        found = told(aggregate, answers, sigma=sigma, dataset=dataset)
        labelled = [
            (label_of(term, self.covariates, aggregate=aggregate, dataset=dataset), term)
            for term in terms(aggregate, dataset=dataset)
        ]
        say = Published(statistic=self.id, ratio="odds ratio", level=float(self.level))
        estimates = []
        for place, (label, term) in enumerate(labelled):
            step = step_of(term, aggregate=aggregate, dataset=dataset)
            if aggregate.one_look:
                estimates.append(say.predicting(found.model, place, key=(label,), step=step))
            elif aggregate.wide:
                estimates.append(say.predicting_only(found.model, place, key=(label,), step=step))
            else:
                estimates += say.of_term(
                    found.model, place, key=(label,), step=step, slope=place > 0
                )
        weights = say.weighed(found.model, width=1.96 * found.noise)
        if not aggregate.held_out:
            return (*estimates, weights)
        scores = scores_of(
            [value / found.scores for value in answers[-found.scored :]],
            noise=sigma / found.scores,
            aggregate=aggregate,
            names=self.subgroups,
            dataset=dataset,
        )
        held = HeldOut(
            statistic=self.id,
            level=float(self.level),
            theta=found.theta,
            kind=self.recalibrate,
            simulation=simulation,
        )
        predicting = [each for each in estimates if each.quantity == "prediction coefficient"]
        return (*estimates, weights, *held.published(scores, predicting=predicting))


def _expected(found: Feasibility, *, values: Planned) -> Iterator[str]:
    yield (
        f"C-statistic: {found.auc:.3f}, of which noise takes {found.loss:.2g}, planned with "
        f"{values.auc:.3g} without any error; a rule of thumb, right within a factor of 2.5 in "
        "simulations with bounds that values fill"
    )
    if values.evaluating and found.error is None:
        yield "too few patients would be held out to tell how the model does on them"
    elif found.error is not None:
        yield (
            f"held-out patients would tell the C-statistic to ±{1.96 * found.error:.2g}, for "
            f"{values.evaluating:.0f} of them"
        )


def _note(rows: Fraction, *, share: float, sampling: float) -> str:
    return (
        f"log odds of one standard deviation of a covariate, for {rows} rows of which the "
        f"condition holds in {share:.0%}; sampling alone has ±{1.96 * sampling:.2g}"
    )
