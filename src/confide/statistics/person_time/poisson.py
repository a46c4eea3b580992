"""Poisson regression: how a rate of events depends on numbers and categories, all at once.

The mean of a patient's number of events is their person-time × a rate whose logarithm is linear in
the covariates; the power of a coefficient is a rate ratio.  What is measured are moments, gradients
and curvature in rounds (:mod:`confide.tables.aggregates.descent`, with the lemma).

*Privacy:* a number of events is bounded publicly by Y, and more count as Y; residuals are taken in
units of Y, and means are cut at Y, so they stay in [−1, 1].  Person-time is a number with public
bounds above zero; its logarithm is looked up.  ρ-zCDP; a patient is one contribution.

*Utility:* noise of a coefficient goes with Y over the number of events, so Y should be no larger
than needed.  With the noise off it is maximum likelihood weighted by the covariates.  Intervals
take the spread of what patients do add, so a variance above Poisson's widens them [Whi82].

*Few events for their bound* are fitted as models of many terms are: residuals are clipped at a
scale that noisy answers choose, and the fit predicts only (:mod:`confide.plans.rounds.wide`).

References:
    [MN89] McCullagh, Nelder. Generalized linear models, 2nd ed., ch. 6. Chapman and Hall 1989.
        https://doi.org/10.1201/9780203753736
    [Whi82] White. Maximum likelihood estimation of misspecified models. Econometrica 50(1), 1982.
        https://doi.org/10.2307/1912526
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.arrays import Floats
from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.canonical import ABSENT
from confide.plans.contribution import PerPatient, question, rows_of_each
from confide.plans.estimates import Estimate, Forecast
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.rounds.answered import FoundModel, told
from confide.plans.rounds.held_out import Recalibration, calibrating, judges, require_judges
from confide.plans.rounds.model_estimates import Published, forecast_of, label_of, step_of
from confide.plans.rounds.model_fit import ModelFit
from confide.plans.rounds.wide import TURN_OF_HAZARDS, few_events, width_ratio
from confide.plans.simulation import Simulation
from confide.statistics.person_time.few_events import HazardFit, chosen_fit, events_unknown
from confide.statistics.person_time.held_out_rates import Sums
from confide.statistics.person_time.published_rates import (
    OF_SUBGROUPS,
    JudgedRates,
    RateSums,
    RateUnits,
    published_rates,
)
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import PARTS, UNIT, Family, terms
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from confide.tables.relation import Relation, axes_of, domain, resolve
from confide.tables.schema import Dataset

MODEL, WIDE = "model", "wide"
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PoissonRegression(Statistic):
    """How a rate of events depends on covariates.

    Attributes:
        events: Number of events of a row, declared from 0 to Y.
        covariates: Numbers, and categories of which the first value is the reference.
        time: Person-time, a number above zero; where it is left out, events are per row.
        per_patient: Most rows of a patient, where there may be several; they weigh as one together.
        hold_out: Share of the patients, by keyed hash, who are not fitted but evaluate the model.
        expect_share: Public planning mean of events ÷ Y; 1/10 otherwise.
        method: Rounds; or the fit for few events, which predicts and has no intervals.  Of "auto"
            public numbers choose once the budget is known.
        recalibrate: What of the log rates half of those who are held out put right; the other half
            evaluates.
        subgroups: Categories by whose values the evaluation is repeated; rows that lack one are
            left out.
    """

    events: str
    covariates: tuple[str, ...]
    time: str | None = None
    per_patient: PerPatient = field(default_factory=PerPatient)
    expect_share: Fraction | None = None
    hold_out: Fraction = Fraction(0)
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

    def aggregate(self, dataset: Dataset) -> DescentAggregate:
        """Return what is asked of the rows."""
        named = {
            name: resolve(name, table=self.table, dataset=dataset)
            for name in (*self.covariates, self.events, self.time)
            if name is not None
        }
        held_out = math.floor(self.hold_out * PARTS)
        return DescentAggregate(
            relation=Relation(table=self.table, where=self.where),
            covariates=tuple(named[name] for name in self.covariates),
            outcome=named[self.events],
            family=Family.POISSON,
            bounds=rows_of_each(self.per_patient, table=self.table, dataset=dataset),
            rounds=WIDE_ROUNDS if self.method is HazardFit.WIDE else ROUNDS,
            expected=self._expected(dataset),
            held_out=held_out,
            calibrating=calibrating(held_out, self.recalibrate),
            subgroups=axes_of(self.subgroups, table=self.table, dataset=dataset),
            exposure=None if self.time is None else named[self.time],
        )

    def settled(self, amount: Fraction | None, *, dataset: Dataset) -> "PoissonRegression":
        """Return the same, fitted as public numbers say that it ranks best; see :mod:`.wide`."""
        if self.method is not HazardFit.AUTO:
            return self
        rounds = replace(self, method=HazardFit.ROUNDS)
        events = None if self.expect is None else self._bounded()
        asked = rounds.aggregate(dataset)
        chosen = chosen_fit(asked, events=events, amount=amount, dataset=dataset)
        return replace(self, method=chosen)

    def _share(self) -> float:
        return float(self.expect_share if self.expect_share is not None else Fraction(1, 10))

    def _bounded(self) -> float:
        """Return the public planning number of events of those who are fitted, over their bound."""
        return float(self.expect or 0) * float(1 - self.hold_out) * self._share()

    def _expected(self, dataset: Dataset) -> int:
        if self.method is not HazardFit.WIDE:
            return 0
        if self.expect is None:
            example = "{count: 5000, share: 0.02}, the share being mean events over their bound"
            raise events_unknown(self.id, example=example)
        most = domain(resolve(self.events, table=self.table, dataset=dataset), dataset=dataset)
        return max(1, math.floor(self._bounded() * most.upper))

    @property
    def _question(self) -> str:
        return WIDE if self.method is HazardFit.WIDE else MODEL

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector, asked in rounds."""
        return (question(self._question, self.aggregate(dataset), dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the log rate ratio of one standard deviation of a covariate.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of regression {self.id!r} depends on the number of rows.",
                hint="Write expect: {count: 5000, share: 0.1}, the share being mean events over "
                "their bound, from a public source or an earlier certificate.",
            )
        aggregate, share = self.aggregate(dataset), self._share()
        squared = descent_sensitivity(aggregate, dataset=dataset).l2_squared
        noise = math.sqrt(additive(mechanisms[self._question]).variance())
        size, mu = len(terms(aggregate, dataset=dataset)) - 1, math.sqrt(squared) / noise
        ratio, few = self._said(size, mu=mu), few_events(self._bounded(), terms=size, mu=mu)
        if self.method is HazardFit.WIDE:
            side = "below" if few else "not below"
            raise ContractError(
                f"Regression {self.id!r} is fitted as one of few events for their bound: {ratio}, "
                f"{side} {TURN_OF_HAZARDS:g}; it predicts only, with no rate ratio and no interval."
            )
        note = (
            f"log rate ratio of one standard deviation of a covariate, for {self.expect} rows "
            f"with {share:.0%} of their bound in events on average"
        )
        if few:
            note += f"; for so few events ({ratio}) `method: wide` is expected to rank better"
        return forecast_of(
            self._bounded(),
            noise=noise,
            scale=scale_of(aggregate, dataset=dataset),
            level=float(level),
            note=note,
        )

    def _said(self, size: int, *, mu: float) -> str:
        """Return the ratio by which the fit is chosen, with what it is made of."""
        events = self._bounded()
        ratio = width_ratio(events, terms=size, mu=mu)
        of = "events over their bound × √(2ρ) / terms"
        return f"{of} = {events:.0f} × {mu:.2g} / {size} = {ratio:.2g}"

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return rate ratios, coefficients, those that predict, weights, and the evaluation."""
        aggregate, answers = self.aggregate(dataset), vector(noisy[self._question])
        sigma = math.sqrt(additive(mechanisms[self._question]).variance())
        found = told(aggregate, answers, sigma=sigma, dataset=dataset)
        model = self._per_unit(found.model, aggregate=aggregate, dataset=dataset)
        say = Published(statistic=self.id, ratio="rate ratio", level=float(self.level))
        estimates = []
        for place, term in enumerate(terms(aggregate, dataset=dataset)):
            label = label_of(term, self.covariates, aggregate=aggregate, dataset=dataset)
            step = step_of(term, aggregate=aggregate, dataset=dataset)
            if aggregate.wide:
                estimates.append(say.predicting_only(model, place, key=(label,), step=step))
            else:
                estimates += say.of_term(model, place, key=(label,), step=step, slope=place > 0)
        weights = say.weighed(model, width=1.96 * found.noise)
        if not found.scored:
            return (*estimates, weights)
        held = self._held_out(
            found,
            answers,
            sigma=sigma,
            predicting=[e for e in estimates if e.quantity == "prediction coefficient"],
            dataset=dataset,
            simulation=simulation,
        )
        return (*estimates, weights, *held)

    def _held_out(
        self,
        model: FoundModel,
        answers: Sequence[int],
        *,
        sigma: float,
        predicting: Sequence[Estimate],
        dataset: Dataset,
        simulation: Simulation,
    ) -> Iterator[Estimate]:
        """Yield what held-out patients tell."""
        aggregate = self.aggregate(dataset)
        one = model.scores * UNIT**2
        bound = domain(aggregate.outcome, dataset=dataset).upper
        cut = model.cut or bound
        found = judges(
            [value / one for value in answers[-model.scored :]],
            aggregate=aggregate,
            names=self.subgroups,
            dataset=dataset,
        )

        def sums(cells: Floats, *, blurred: float = 1.0) -> Sums:
            events, time = cells.reshape(2, -1)
            dispersion = max(1 / cut, model.dispersion * bound / cut)
            noise = blurred * sigma / one
            return Sums(events=events, time=time, noise=noise, dispersion=dispersion)

        first = found.calibrating
        theta = model.theta.copy()
        theta[0] += math.log(bound / cut)
        judged = JudgedRates(
            statistic=self.id,
            level=float(self.level),
            theta=theta,
            kind=self.recalibrate,
            simulation=simulation,
        )
        return published_rates(
            judged,
            RateSums(
                calibrating=None if first is None else sums(first),
                evaluating=sums(found.evaluating, blurred=found.blurred),
                subgroups=tuple((label, sums(each)) for label, each in found.subgroups),
            ),
            units=self._units(aggregate, cut=cut, dataset=dataset),
            predicting=predicting,
        )

    def counts_behind(
        self, noisy: Mapping[str, Sequence[float]], *, dataset: Dataset
    ) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield what is told of each subgroup, with fewest patients that its person-time is of.

        They are at least their person-time over the most that one of them has.
        """
        aggregate = self.aggregate(dataset)
        if not aggregate.subgroups:
            return
        scaled = wide_scale_of if aggregate.wide else scale_of
        scale = scaled(aggregate, dataset=dataset)
        found = judges(
            [v / (scale.scores * UNIT**2) for v in noisy[self._question][-scale.scored :]],
            aggregate=aggregate,
            names=self.subgroups,
            dataset=dataset,
        )
        for label, each in found.subgroups:
            _, time = each.reshape(2, -1)
            for quantity in OF_SUBGROUPS:
                yield quantity, (label,), float(time.sum())

    def _units(self, aggregate: DescentAggregate, *, cut: int, dataset: Dataset) -> RateUnits:
        """Return what sums of held-out patients are in."""
        if aggregate.exposure is None:
            return RateUnits(shift=math.log(cut), rate="1", time=1.0, time_unit="persons")
        time = domain(aggregate.exposure, dataset=dataset)
        most, unit = time.physical(time.upper), time.unit or "1"
        return RateUnits(
            shift=math.log(cut) - math.log(most), rate=f"1/({unit})", time=most, time_unit=unit
        )

    def _per_unit(
        self, found: ModelFit, *, aggregate: DescentAggregate, dataset: Dataset
    ) -> ModelFit:
        """Return the fit with its intercept as a log rate per unit of person-time."""
        shift = self._shift(aggregate, dataset=dataset)
        both = found.coefficients.copy(), found.predicting.copy()
        for each in both:
            each[0] += shift
        return replace(found, coefficients=both[0], predicting=both[1])

    def _shift(self, aggregate: DescentAggregate, *, dataset: Dataset) -> float:
        """Return the logarithm of the bound of the events over that of the person-time."""
        shift = math.log(domain(aggregate.outcome, dataset=dataset).upper)
        if aggregate.exposure is not None:
            time = domain(aggregate.exposure, dataset=dataset)
            shift -= math.log(time.physical(time.upper))
        return shift
