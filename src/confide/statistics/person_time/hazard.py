"""Hazard regression: how the hazard of an event depends on numbers and categories, all at once.

Time is cut into public intervals, with a hazard of its own in each of them, constant there, and
covariates multiply all of them (piecewise exponential: Poisson regression of patients by interval
[Hol80]); the power of a coefficient is a hazard ratio.  What is measured are moments and exits,
gradients and curvature in rounds (:mod:`confide.tables.aggregates.descent`, with the lemma).

*Privacy:* all intervals of a patient are one contribution with one weight, of covariates alone.  A
patient is followed until the hazard they lived through, by the model of that round, reaches 1.
Cox's partial likelihood is not offered: each event's term holds the covariates of all who are at
risk, so it is no sum over patients and no weight of a patient bounds what they move.  Delayed
entry is refused: the exits from which fits start, and by which they are judged, do not say who was
at risk then.  ρ-zCDP.
Where events are few for the terms and the loss, by public numbers, another fit predicts and has no
hazard ratios (:mod:`confide.plans.rounds.wide`, :mod:`.few_events`).

*Utility:* with the noise off it is maximum likelihood weighted by the covariates, of follow-up
until that stop.  Being a stopping time it draws no coefficient aside [ABGK93]; what is lost is what
patients at high risk would have added later.  Intervals take the spread of what patients do add,
so hazards that are not proportional widen them.

References:
    [Hol80] Holford. The analysis of rates and of survivorship using log-linear models. Biometrics
        36(2), 1980. https://doi.org/10.2307/2529982
    [ABGK93] Andersen, Borgan, Gill, Keiding. Statistical models based on counting processes.
        Springer 1993, sec. II.3. https://doi.org/10.1007/978-1-4612-4348-9
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import ABSENT
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.rounds.answered import FoundModel, told
from confide.plans.rounds.held_out import Recalibration, calibrating, judges, require_judges
from confide.plans.rounds.model_estimates import Published, forecast_of, label_of, step_of
from confide.plans.rounds.model_fit import ModelFit
from confide.plans.rounds.wide import few_events
from confide.plans.simulation import Simulation
from confide.statistics.person_time.few_events import (
    HazardFit,
    PlannedEvents,
    chosen_fit,
    events_unknown,
)
from confide.statistics.person_time.judged_hazards import JudgedHazards
from confide.statistics.person_time.published_rates import JudgedRates
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import PARTS, Family, terms
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from confide.tables.bound_contributions import RowBound
from confide.tables.conditions.known import rows_told
from confide.tables.expression import ColumnOf, Holds
from confide.tables.filter import Predicate
from confide.tables.grid import on_grid
from confide.tables.relation import axes_of, domain, resolve
from confide.tables.schema import Dataset, Domain, Outside

MODEL, WIDE = "model", "wide"
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardRegression(Statistic):
    """How the hazard of an event depends on covariates.

    Attributes:
        time: Number from 0: time from the start to the event or to the end of follow-up.
        of: The condition that follow-up ended with the event; otherwise it was censored.
        covariates: Numbers, and categories of which the first value is the reference; all known
            at the start.
        edges: Of the intervals, in the unit of ``time``; the first is 0, the last the horizon.
        per_patient: ``rows=1`` where a patient may have several.
        hold_out: Share of the patients, by keyed hash, who are not fitted but give the C-statistic.
        expect_share: Public planning share of them who have the event; 1/4 otherwise.
        method: Rounds; or the fit for few events, which predicts and has no intervals.  Of "auto"
            public numbers choose once the budget is known.
        recalibrate: What of the log hazards half of those who are held out put right; the other
            half evaluates.
        subgroups: Categories by whose values the evaluation is repeated; rows that lack one are
            left out.
    """

    time: str
    of: Predicate
    covariates: tuple[str, ...]
    edges: tuple[Fraction, ...]
    per_patient: PerPatient = field(default_factory=PerPatient)
    hold_out: Fraction = Fraction(0)
    expect_share: Fraction | None = None
    method: HazardFit = HazardFit.ROUNDS
    recalibrate: Recalibration = field(
        default=Recalibration.NONE, metadata={ABSENT: Recalibration.NONE}
    )
    subgroups: tuple[str, ...] = field(default=(), metadata={ABSENT: ()})

    def __post_init__(self) -> None:
        if not self.covariates or len(set(self.covariates)) != len(self.covariates):
            raise ContractError(
                f"Regression {self.id!r} needs covariates, each named once.",
                hint="Write covariates: [age, sex].",
            )
        require_judges(
            self.id,
            hold_out=self.hold_out,
            recalibrate=self.recalibrate,
            subgroups=self.subgroups,
        )

    def time_domain(self, dataset: Dataset) -> Domain:
        """Return the public domain of the time.

        Raises:
            ContractError: If it is left out above its upper bound.
        """
        expression = resolve(self.time, table=self.table, dataset=dataset)
        if isinstance(expression, ColumnOf):
            column = dataset.table(expression.table).column(expression.column)
            if column.outside is Outside.DROP:
                raise ContractError(
                    f"Regression {self.id!r} would leave out those followed beyond the upper bound "
                    f"of {self.time!r}, who have gone longest without the event.",
                    hint=f"Declare outside: clip for {self.time!r}.",
                )
        return domain(expression, dataset=dataset)

    def canonical_edges(self, dataset: Dataset) -> tuple[int, ...]:
        """Return the edges in steps of the time.

        Raises:
            ContractError: If they are not on its grid.
        """
        of = self.time_domain(dataset)
        return tuple(on_grid(edge, of=of, name=self.time) for edge in self.edges)

    def aggregate(self, dataset: Dataset) -> DescentAggregate:
        """Return what is asked of the rows."""
        one_row_each(self.per_patient, table=self.table, axes=(), dataset=dataset)
        held_out = math.floor(self.hold_out * PARTS)
        return DescentAggregate(
            relation=rows_told(self.table, where=self.where, of=self.of, dataset=dataset),
            covariates=tuple(
                resolve(name, table=self.table, dataset=dataset) for name in self.covariates
            ),
            outcome=Holds(of=self.of),
            family=Family.HAZARD,
            bounds=RowBound(max_rows=1),
            rounds=WIDE_ROUNDS if self.method is HazardFit.WIDE else ROUNDS,
            expected=self._expected(),
            held_out=held_out,
            calibrating=calibrating(held_out, self.recalibrate),
            subgroups=axes_of(self.subgroups, table=self.table, dataset=dataset),
            exposure=resolve(self.time, table=self.table, dataset=dataset),
            edges=self.canonical_edges(dataset),
        )

    def settled(self, amount: Fraction | None, *, dataset: Dataset) -> "HazardRegression":
        """Return the same, fitted as public numbers say that it ranks best; see :mod:`.wide`."""
        if self.method is not HazardFit.AUTO:
            return self
        rounds = replace(self, method=HazardFit.ROUNDS)
        events = None if self.expect is None else self._events()
        asked = rounds.aggregate(dataset)
        chosen = chosen_fit(asked, events=events, amount=amount, dataset=dataset)
        return replace(self, method=chosen)

    def _events(self) -> float:
        """Return the public planning number of events of those who are fitted."""
        return float(self.expect or 0) * float(1 - self.hold_out) * self._share()

    def _share(self) -> float:
        return float(self.expect_share if self.expect_share is not None else Fraction(1, 4))

    def _expected(self) -> int:
        if self.method is not HazardFit.WIDE:
            return 0
        if self.expect is None:
            raise events_unknown(self.id, example="{count: 800, share: 0.3}")
        return max(1, math.floor(self._events()))

    @property
    def _question(self) -> str:
        return WIDE if self.method is HazardFit.WIDE else MODEL

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector, asked in rounds."""
        return (question(self._question, self.aggregate(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the log hazard ratio of one standard deviation.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of regression {self.id!r} depends on the number of rows.",
                hint="Write expect: {count: 5000, share: 0.2}, the share of them who have the "
                "event, from a public source or an earlier certificate.",
            )
        aggregate, events = self.aggregate(dataset), self._events()
        squared = descent_sensitivity(aggregate, dataset=dataset).l2_squared
        noise = math.sqrt(additive(mechanisms[self._question]).variance())
        planned = PlannedEvents(
            fitted=float(1 - self.hold_out),
            share=self._share(),
            events=events,
            terms=len(terms(aggregate, dataset=dataset)) - 1,
            mu=math.sqrt(squared) / noise,
        )
        if self.method is HazardFit.WIDE:
            raise ContractError(
                f"Regression {self.id!r} is fitted as one of few events: {planned.said()}, "
                f"{planned.side()}; {planned.expected()}; it predicts only, with no hazard ratio "
                "and no interval."
            )
        note = (
            f"log hazard ratio of one standard deviation of a covariate, for {self.expect} "
            f"rows of which {self._share():.0%} have the event; sampling alone has "
            f"±{1.96 / math.sqrt(events):.2g}"
        )
        if few_events(events, terms=planned.terms, mu=planned.mu):
            note += f"; for so few events a term ({planned.said()}) `method: wide` is expected to "
            note += f"rank better, where {planned.expected()}"
        scale = scale_of(aggregate, dataset=dataset)
        return forecast_of(events, noise=noise, scale=scale, level=float(level), note=note)

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return hazard ratios, coefficients, baseline log hazards, weights and the C-statistic."""
        aggregate, answers = self.aggregate(dataset), vector(noisy[self._question])
        sigma = math.sqrt(additive(mechanisms[self._question]).variance())
        found = told(aggregate, answers, sigma=sigma, dataset=dataset)
        say = Published(statistic=self.id, ratio="hazard ratio", level=float(self.level))
        intercept, *slopes = terms(aggregate, dataset=dataset)
        centre = label_of(intercept, self.covariates, aggregate=aggregate, dataset=dataset)
        shifted = self._per_unit(found.model, aggregate=aggregate, dataset=dataset)
        estimates = []
        for place, (start, end) in enumerate(pairwise(self.edges)):
            label = f"{float(start):g} to {float(end):g}: {centre}"
            step = (1.0, "1")
            if aggregate.wide:
                estimates.append(say.predicting_only(shifted, place, key=(label,), step=step))
            else:
                estimates += say.of_term(shifted, place, key=(label,), step=step, slope=False)
        for place, term in enumerate(slopes, start=aggregate.intercepts):
            label = label_of(term, self.covariates, aggregate=aggregate, dataset=dataset)
            step = step_of(term, aggregate=aggregate, dataset=dataset)
            if aggregate.wide:
                estimates.append(say.predicting_only(found.model, place, key=(label,), step=step))
            else:
                estimates += say.of_term(found.model, place, key=(label,), step=step, slope=True)
        weights = say.weighed(found.model, width=1.96 * found.noise)
        if not found.scores:
            return (*estimates, weights)
        predicting = [e for e in estimates if e.quantity == "prediction coefficient"]
        held = self._held_out(
            found, answers, noise=sigma / found.scores, dataset=dataset, simulation=simulation
        )
        return (*estimates, weights, *held.published(predicting=predicting))

    def _held_out(
        self,
        found: FoundModel,
        answers: Sequence[int],
        *,
        noise: float,
        dataset: Dataset,
        simulation: Simulation,
    ) -> JudgedHazards:
        """Return the model and its held-out patients."""
        aggregate = self.aggregate(dataset)
        widths = np.diff(np.array(aggregate.edges)) / aggregate.edges[-1]
        levels, slopes = np.split(found.theta, [aggregate.intercepts])
        return JudgedHazards(
            rates=JudgedRates(
                statistic=self.id,
                level=float(self.level),
                theta=np.concatenate([[0.0], slopes]),
                kind=self.recalibrate,
                simulation=simulation,
            ),
            hazards=np.exp(levels) * widths,
            judges=judges(
                [value / found.scores for value in answers[-found.scored :]],
                aggregate=aggregate,
                names=self.subgroups,
                dataset=dataset,
            ),
            noise=noise,
        )

    def _per_unit(
        self, found: ModelFit, *, aggregate: DescentAggregate, dataset: Dataset
    ) -> ModelFit:
        """Return the fit with its hazards per unit of time, not per whole follow-up."""
        horizon = self.time_domain(dataset).physical(aggregate.edges[-1])
        both = found.coefficients.copy(), found.predicting.copy()
        for each in both:
            each[: aggregate.intercepts] -= math.log(horizon)
        return replace(found, coefficients=both[0], predicting=both[1])
