"""Multinomial logistic regression: how the odds of each of several classes depend on covariates.

The share of class c among those with terms x is softmax(xᵀβ_c); the power of β_c − β_ref is the
odds ratio of c against a reference class.  What is measured are moments, gradients and curvature in
rounds (:mod:`confide.tables.aggregates.descent`, with the lemma), in coordinates that favour no
class (:mod:`confide.plans.rounds.classes`).

*Privacy:* classes are declared; whether one occurs is not public.  A patient's residual e_y − p has
a norm of at most √2, and all classes are one contribution.  ρ-zCDP.

*Utility:* intervals cover sampling and noise.  With the noise off it is weighted maximum
likelihood: rows of unusual covariates weigh less.  Noise of a class goes with its number of rows;
where those of the rarest are few for the terms and the loss, by public numbers, another fit
predicts and has no odds ratios (:mod:`confide.plans.rounds.class_walk`, :mod:`.rare_classes`).

References:
    [McF74] McFadden. Conditional logit analysis of qualitative choice behavior. In: Frontiers in
        Econometrics, 1974.
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.errors import ContractError, UnknownNameError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import ABSENT
from confide.plans.contribution import PerPatient, question, rows_of_each
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.rounds.answered import told_classes
from confide.plans.rounds.held_out import Recalibration, calibrating, judges, require_judges
from confide.plans.rounds.model_estimates import Published, forecast_of, label_of, step_of
from confide.plans.simulation import Simulation
from confide.privacy.measure import Measure
from confide.statistics.logistic.judged_classes import JudgedClasses
from confide.statistics.logistic.rare_classes import ClassFit, PlannedClass
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import (
    PARTS,
    Family,
    terms,
)
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from confide.tables.relation import Relation, axes_of, domain, resolve
from confide.tables.schema import Dataset

MODEL, WIDE = "model", "wide"
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MultinomialRegression(Statistic):
    """How the odds of each class of a category depend on covariates.

    Attributes:
        outcome: A category with three public values or more.
        covariates: Numbers, and categories of which the first value is the reference.
        reference: The class that others are compared with; the first one when empty.
        per_patient: Most rows of a patient, where there may be several; they weigh as one together.
        hold_out: Share of the patients, by keyed hash, who are not fitted but evaluate the model.
        expect_share: Public planning share of the rarest class; as many of each otherwise.
        method: Rounds; or the fit for a rare class, which predicts and has no intervals.  Of "auto"
            public numbers choose once the budget is known.
        recalibrate: What of the linear predictors half of those who are held out put right; the
            other half evaluates.
        subgroups: Categories by whose values the evaluation is repeated; rows that lack one are
            left out.
    """

    outcome: str
    covariates: tuple[str, ...]
    reference: str = ""
    per_patient: PerPatient = field(default_factory=PerPatient)
    hold_out: Fraction = Fraction(0)
    expect_share: Fraction | None = None
    method: ClassFit = field(default=ClassFit.ROUNDS, metadata={ABSENT: ClassFit.ROUNDS})
    recalibrate: Recalibration = field(
        default=Recalibration.NONE, metadata={ABSENT: Recalibration.NONE}
    )
    subgroups: tuple[str, ...] = field(default=(), metadata={ABSENT: ()})

    def __post_init__(self) -> None:
        names = (self.outcome, *self.covariates)
        if not self.covariates or len(set(names)) != len(names):
            raise ContractError(
                f"Regression {self.id!r} needs an outcome and other variables, each named once.",
                hint="Write outcome: stage and covariates: [age, sex].",
            )
        require_judges(
            self.id,
            hold_out=self.hold_out,
            recalibrate=self.recalibrate,
            subgroups=self.subgroups,
        )

    def classes(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the public classes."""
        of = resolve(self.outcome, table=self.table, dataset=dataset)
        return domain(of, dataset=dataset).keys

    def reference_place(self, dataset: Dataset) -> int:
        """Return the place of the reference among the classes.

        Raises:
            UnknownNameError: If there is no such class.
        """
        classes = self.classes(dataset)
        if not self.reference:
            return 0
        if self.reference not in classes:
            raise UnknownNameError("class", self.reference, known=classes)
        return classes.index(self.reference)

    def aggregate(self, dataset: Dataset) -> DescentAggregate:
        """Return what is asked of the rows."""
        held_out = math.floor(self.hold_out * PARTS)
        return DescentAggregate(
            relation=Relation(table=self.table, where=self.where),
            covariates=tuple(
                resolve(name, table=self.table, dataset=dataset) for name in self.covariates
            ),
            outcome=resolve(self.outcome, table=self.table, dataset=dataset),
            family=Family.MULTINOMIAL,
            bounds=rows_of_each(self.per_patient, table=self.table, dataset=dataset),
            rounds=WIDE_ROUNDS if self.method is ClassFit.WIDE else ROUNDS,
            expected=self._expected(),
            held_out=held_out,
            calibrating=calibrating(held_out, self.recalibrate),
            subgroups=axes_of(self.subgroups, table=self.table, dataset=dataset),
            classes=len(self.classes(dataset)),
        )

    def settled(self, amount: Fraction | None, *, dataset: Dataset) -> "MultinomialRegression":
        """Return the same, fitted as public numbers say that it ranks its rarest class best."""
        if self.method is not ClassFit.AUTO:
            return self
        chosen = ClassFit.ROUNDS
        if amount is not None and self.expect is not None and dataset.measure is Measure.ZCDP:
            planned = self._planned(math.sqrt(2 * float(amount)), dataset=dataset)
            chosen = ClassFit.WIDE if planned.few else ClassFit.ROUNDS
        return replace(self, method=chosen)

    def _fitted(self) -> Fraction:
        """Return the public planning number of rows that are fitted."""
        return (self.expect or Fraction(0)) * (1 - self.hold_out)

    def _planned(self, mu: float, *, dataset: Dataset) -> PlannedClass:
        """Return the public numbers by which the fit is chosen, at a μ."""
        share = self.expect_share
        if share is None:
            share = Fraction(1, len(self.classes(dataset)))
        return PlannedClass(
            fitted=float(1 - self.hold_out),
            share=float(share),
            rows=float(self._fitted()),
            terms=len(terms(self.aggregate(dataset), dataset=dataset)) - 1,
            mu=mu,
        )

    def _expected(self) -> int:
        if self.method is not ClassFit.WIDE:
            return 0
        if self.expect is None:
            raise ContractError(
                f"How far regression {self.id!r} goes by its fit for a rare class depends on the "
                "number of rows, and that of the data is not public.",
                hint="Write expect: {count: 5000, share: 0.03}, the share being that of the "
                "rarest class, from a public source or an earlier certificate.",
            )
        return max(1, math.floor(self._fitted()))

    @property
    def _question(self) -> str:
        return WIDE if self.method is ClassFit.WIDE else MODEL

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector, asked in rounds."""
        self.reference_place(dataset)
        return (question(self._question, self.aggregate(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the log odds of one standard deviation of a covariate.

        Raises:
            ContractError: If there is no planning number of rows, or no interval to forecast.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of regression {self.id!r} depends on the number of rows.",
                hint="Write expect: {count: 5000, share: 0.2}, the share being that of the rarest "
                "class, from a public source or an earlier certificate.",
            )
        aggregate = self.aggregate(dataset)
        noise = math.sqrt(additive(mechanisms[self._question]).variance())
        squared = descent_sensitivity(aggregate, dataset=dataset).l2_squared
        planned = self._planned(math.sqrt(squared) / noise, dataset=dataset)
        if self.method is ClassFit.WIDE:
            raise ContractError(
                f"Regression {self.id!r} is fitted as one with a rare class: {planned.said()}; it "
                f"predicts only, with no odds ratio and no interval. {planned.expected()}."
            )
        share, classes = planned.share, aggregate.classes
        rows = planned.rows * share
        note = (
            f"log odds of one standard deviation of a covariate, for {self.expect} rows of "
            f"{classes} classes, {share:.0%} of them of the rarest; sampling alone has "
            f"±{1.96 * math.sqrt(2 / rows):.2g}"
        )
        if planned.few:
            note += (
                f"; for so few of the rarest class ({planned.said()}) `method: wide` is expected "
                "to rank it better"
            )
        return forecast_of(
            rows / math.sqrt(2),  # a difference of two classes has √2 of the noise
            noise=noise,
            scale=scale_of(aggregate, dataset=dataset),
            level=float(level),
            note=note,
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return odds ratios and coefficients by term and class, and the number of rows."""
        aggregate, answers = self.aggregate(dataset), vector(noisy[self._question])
        sigma = math.sqrt(additive(mechanisms[self._question]).variance())
        reference = self.reference_place(dataset)
        found = told_classes(aggregate, answers, reference=reference, sigma=sigma, dataset=dataset)
        known, classes = terms(aggregate, dataset=dataset), self.classes(dataset)
        labels = [
            label_of(term, self.covariates, aggregate=aggregate, dataset=dataset) for term in known
        ]
        others = [name for name in classes if name != classes[reference]]
        say = Published(statistic=self.id, ratio="odds ratio", level=float(self.level))
        estimates = []
        for place, term in enumerate(known):
            step = step_of(term, aggregate=aggregate, dataset=dataset)
            for number, name in enumerate(others):
                key = (labels[place], f"{name} vs {classes[reference]}")
                at = number * len(known) + place
                if aggregate.wide:
                    estimates.append(say.predicting_only(found.model, at, key=key, step=step))
                else:
                    estimates += say.of_term(found.model, at, key=key, step=step, slope=place > 0)
        key = ("all", "all classes")
        weights = say.weighed(found.model, width=1.96 * found.noise, key=key)
        if not found.scores:
            return (*estimates, weights)
        held = judges(
            [value / found.scores for value in answers[-found.scored :]],
            aggregate=aggregate,
            names=self.subgroups,
            dataset=dataset,
        )
        judged = JudgedClasses(
            statistic=self.id,
            level=float(self.level),
            theta=found.theta,
            names=classes,
            reference=reference,
            kind=self.recalibrate,
            noise=sigma / found.scores,
            simulation=simulation,
        )
        predicting = [e for e in estimates if e.quantity == "prediction coefficient"]
        return (*estimates, weights, *judged.published(held, predicting=predicting))
