"""Logistic regression: how the odds of a condition depend on numbers and categories, all at once.

What is measured are moments, gradients and curvature in rounds (:mod:`confide.tables.descent`, with
the lemma); the path is :mod:`confide.plans.descent`, the law of the estimate
:mod:`confide.plans.model_fit`.  Nothing is tuned: rounds, shares and clips are fixed by the number
of terms.

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
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError
from confide.plans.contribution import PerPatient, question, rows_of_each
from confide.plans.descent import walk
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import additive, vector
from confide.plans.model_estimates import Published, forecast_of, label_of, step_of
from confide.plans.model_fit import fitted
from confide.plans.one_shot import one_look_is_better
from confide.plans.plan import Mechanism, Noisy, Question
from confide.plans.simulation import Simulation
from confide.statistics.logistic.evaluation import Evaluation, Measure, evaluated, published
from confide.tables.descent import SCORE_BINS, UNIT, DescentAggregate, Family, terms
from confide.tables.descent_scale import scale_of
from confide.tables.expression import Holds
from confide.tables.filter import Everything, Predicate
from confide.tables.relation import Relation, resolve
from confide.tables.schema import Dataset

MODEL, ONE_LOOK = "model", "one-look"
ROUNDS = 5


class Method(enum.Enum):
    """How the model is fitted."""

    ROUNDS = "rounds"
    ONE_SHOT = "one-shot"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticRegression:
    """How the odds of a condition depend on covariates.

    Attributes:
        id: Unique within the study.
        table: Whose rows.
        of: The condition.
        covariates: Numbers, and categories of which the first value is the reference.
        where: Which rows; rows that lack one of the values are left out.
        per_patient: Most rows of a patient, where there may be several; they weigh as one together.
        hold_out: Share of the patients, by keyed hash, who are not fitted but evaluate the model.
        method: Rounds, or one look where there are few patients: it predicts and has no intervals.
        level: Coverage of each interval.
        expect: Public planning number of rows; needed to forecast the error.
        expect_share: Public planning share of them for whom the condition holds; 1/2 otherwise.
        title: Headline in the report.
    """

    id: str
    table: str
    of: Predicate
    covariates: tuple[str, ...]
    where: Predicate = field(default_factory=Everything)
    per_patient: PerPatient = field(default_factory=PerPatient)
    hold_out: Fraction = Fraction(0)
    method: Method = Method.ROUNDS
    level: Fraction = Fraction(95, 100)
    expect: Fraction | None = None
    expect_share: Fraction | None = None
    title: str = ""

    def __post_init__(self) -> None:
        if not self.covariates or len(set(self.covariates)) != len(self.covariates):
            raise ContractError(
                f"Regression {self.id!r} needs covariates, each named once.",
                hint="Write covariates: [age, sex].",
            )

    def aggregate(self, dataset: Dataset) -> DescentAggregate:
        """Return what is asked of the rows."""
        covariates = tuple(
            resolve(name, table=self.table, dataset=dataset) for name in self.covariates
        )
        return DescentAggregate(
            relation=Relation(table=self.table, where=self.where),
            covariates=covariates,
            outcome=Holds(of=self.of),
            family=Family.LOGISTIC,
            bounds=rows_of_each(self.per_patient, table=self.table, dataset=dataset),
            rounds=self._rounds(),
            held_out=math.floor(self.hold_out * 1000),
        )

    def _rounds(self) -> int:
        match self.method:
            case Method.ROUNDS:
                return ROUNDS
            case Method.ONE_SHOT:
                return 0
            case _:
                assert_never(self.method)

    def _question(self) -> str:
        return MODEL if self.method is Method.ROUNDS else ONE_LOOK

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector, asked in rounds."""
        return (question(self._question(), self.aggregate(dataset), dataset=dataset),)

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
                hint="Write expect: {count: 5000, share: 0.2}, from a public source or an earlier "
                "certificate.",
            )
        if self.method is Method.ONE_SHOT:
            raise ContractError(
                f"Regression {self.id!r} in one look predicts and has no interval to forecast.",
                hint="Hold patients out (hold-out: 0.2) to know how well it does.",
            )
        share = float(self.expect_share if self.expect_share is not None else Fraction(1, 2))
        rows = float(self.expect) * float(1 - self.hold_out)
        curve = rows * share * (1 - share)
        scale = scale_of(self.aggregate(dataset), dataset=dataset)
        noise = math.sqrt(additive(mechanisms[self._question()]).variance())
        note = _note(self.expect, share=share, sampling=1 / math.sqrt(curve))
        if one_look_is_better(rows, terms=scale.terms, mu=math.sqrt(scale.l2_squared) / noise):
            note += "; for so few rows `method: one-shot` is expected to rank better"
        return forecast_of(curve, noise=noise, scale=scale, level=float(level), note=note)

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
        found = fitted(aggregate, answers, sigma=sigma, dataset=dataset)
        labelled = [
            (label_of(term, self.covariates, aggregate=aggregate, dataset=dataset), term)
            for term in terms(aggregate, dataset=dataset)
        ]
        say = Published(statistic=self.id, ratio="odds ratio", level=float(self.level))
        estimates = []
        for place, (label, term) in enumerate(labelled):
            step = step_of(term, aggregate=aggregate, dataset=dataset)
            if aggregate.one_look:
                estimates.append(say.predicting(found, place, key=(label,), step=step))
            else:
                estimates += say.of_term(found, place, key=(label,), step=step, slope=place > 0)
        scale = scale_of(aggregate, dataset=dataset)
        width = 1.96 * sigma / (scale.moments * UNIT**2)
        rows = say.rows(found, unit=aggregate.counted, width=width)
        if not scale.scores:
            return (*estimates, rows)
        counts = [value / scale.scores for value in answers[-2 * SCORE_BINS :]]
        theta = walk(aggregate, answers, sigma=sigma, dataset=dataset).theta
        held = evaluated(
            counts,
            theta=theta,
            noise=sigma / scale.scores,
            family=aggregate.family,
            simulation=simulation,
        )
        return (*estimates, rows, *self._evaluation(held))

    def _evaluation(self, found: Evaluation) -> list[Estimate]:
        """Return what is published of the held-out patients."""

        def said(quantity: str, key: str, one: Measure) -> Estimate:
            return published(
                one,
                quantity,
                statistic=self.id,
                key=(key,),
                level=float(self.level),
                usable=found.usable,
            )

        edges = [f"{risk:.3g}" for risk in found.risks]
        ranges = [f"{a} to {b}" for a, b in zip(["0", *edges], [*edges, "1"], strict=True)]
        return [
            said("auc", "held out", found.auc),
            said("calibration slope", "held out", found.slope),
            said("calibration intercept", "held out", found.intercept),
            said("brier score", "held out", found.brier),
            *(
                said("observed share", f"risk {key}", one)
                for key, one in zip(ranges, found.shares, strict=True)
            ),
            *(
                said("net benefit", f"risk {key}", one)
                for key, one in zip(edges, found.benefits, strict=True)
            ),
        ]


def _note(rows: Fraction, *, share: float, sampling: float) -> str:
    return (
        f"log odds of one standard deviation of a covariate, for {rows} rows of which the "
        f"condition holds in {share:.0%}; sampling alone has ±{1.96 * sampling:.2g}"
    )
