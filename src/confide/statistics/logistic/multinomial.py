"""Multinomial logistic regression: how the odds of each of several classes depend on covariates.

The share of class c among those with terms x is softmax(xᵀβ_c); the power of β_c − β_ref is the
odds ratio of c against a reference class.  What is measured are moments, gradients and curvature in
rounds (:mod:`confide.tables.aggregates.descent`, with the lemma), in coordinates that favour no
class (:mod:`confide.plans.rounds.classes`).

*Privacy:* classes are declared; whether one occurs is not public.  A patient's residual e_y − p has
a norm of at most √2, and all classes are one contribution.  ρ-zCDP.

*Utility:* intervals cover sampling and noise.  With the noise off it is weighted maximum
likelihood: rows of unusual covariates weigh less.  Noise of a class goes with its number of rows.

References:
    [McF74] McFadden. Conditional logit analysis of qualitative choice behavior. In: Frontiers in
        Econometrics, 1974.
    [CP93] Carroll, Pederson. On robustness in the logistic regression model. JRSS B 55(3), 1993.
        https://doi.org/10.1111/j.2517-6161.1993.tb01934.x
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError, UnknownNameError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import ABSENT
from confide.plans.contribution import PerPatient, question, rows_of_each
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.rounds.classes import by_class
from confide.plans.rounds.descent import walk
from confide.plans.rounds.held_out import Recalibration, calibrating, judges, require_judges
from confide.plans.rounds.model_estimates import Published, forecast_of, label_of, step_of
from confide.plans.rounds.model_fit import fitted_classes
from confide.plans.simulation import Simulation
from confide.statistics.logistic.judged_classes import JudgedClasses
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import (
    PARTS,
    UNIT,
    Family,
    terms,
)
from confide.tables.relation import Relation, axes_of, domain, resolve
from confide.tables.schema import Dataset

MODEL = "model"
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
            rounds=ROUNDS,
            held_out=held_out,
            calibrating=calibrating(held_out, self.recalibrate),
            subgroups=axes_of(self.subgroups, table=self.table, dataset=dataset),
            classes=len(self.classes(dataset)),
        )

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector, asked in rounds."""
        self.reference_place(dataset)
        return (question(MODEL, self.aggregate(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the log odds of one standard deviation of a covariate.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of regression {self.id!r} depends on the number of rows.",
                hint="Write expect: {count: 5000, share: 0.2}, the share being that of the rarest "
                "class, from a public source or an earlier certificate.",
            )
        classes = len(self.classes(dataset))
        share = self.expect_share if self.expect_share is not None else Fraction(1, classes)
        rows = float(self.expect) * float(1 - self.hold_out) * float(share)
        return forecast_of(
            rows / math.sqrt(2),  # a difference of two classes has √2 of the noise
            noise=math.sqrt(additive(mechanisms[MODEL]).variance()),
            scale=scale_of(self.aggregate(dataset), dataset=dataset),
            level=float(level),
            note=f"log odds of one standard deviation of a covariate, for {self.expect} rows of "
            f"{classes} classes, {float(share):.0%} of them of the rarest; sampling alone has "
            f"±{1.96 * math.sqrt(2 / rows):.2g}",
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
        aggregate, answers = self.aggregate(dataset), vector(noisy[MODEL])
        sigma = math.sqrt(additive(mechanisms[MODEL]).variance())
        reference = self.reference_place(dataset)
        found = fitted_classes(
            aggregate, answers, reference=reference, sigma=sigma, dataset=dataset
        )
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
                estimates += say.of_term(found, at, key=key, step=step, slope=place > 0)
        scale = scale_of(aggregate, dataset=dataset)
        width = 1.96 * sigma / (scale.moments * UNIT**2)
        key = ("all", "all classes")
        weights = say.weighed(found, width=width, key=key)
        if not scale.scores:
            return (*estimates, weights)
        theta = by_class(
            walk(aggregate, answers, sigma=sigma, dataset=dataset).theta, classes=len(classes)
        )
        held = judges(
            [value / scale.scores for value in answers[-scale.scored :]],
            aggregate=aggregate,
            names=self.subgroups,
            dataset=dataset,
        )
        judged = JudgedClasses(
            statistic=self.id,
            level=float(self.level),
            theta=theta,
            names=classes,
            reference=reference,
            kind=self.recalibrate,
            noise=sigma / scale.scores,
            simulation=simulation,
        )
        predicting = [e for e in estimates if e.quantity == "prediction coefficient"]
        return (*estimates, weights, *judged.published(held, predicting=predicting))
