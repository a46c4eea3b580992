"""Standardised mortality (or morbidity) ratio: observed over expected events, by group.

*Lemma:* a patient keeps at most m rows, and a row is an event or not.  The observed need no strata:
group × {without, with} moves by Δ₁ = m under add-remove.  The expected are Σλᵢ·Bᵢ with public
reference rates λ, and Bᵢ are persons, which move by m, or person-time Σt by group and stratum,
which moves by U·m for times in [0, U]; losses add.  With a public population only the observed are
measured.

*Privacy:* reference rates and population are public numbers in the plan.
*Utility:* summing the observed over S strata instead would multiply their noise by √S.  The budget
is split where the variance is least when the ratio is 1; reference rates are small, so the
expected need little of it.  Intervals invert the test of O = tE: with the noise alone, and with
Poisson (over persons: binomial) events.  Sampling error of the reference rates is not covered.

The funnel's limits hold what observed/expected would be if every group had the reference rates:
they include the noise, so a group is not blamed for it.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [BD87] Breslow, Day. Statistical methods in cancer research II. IARC, 1987, ch. 2.
    [Spi05] Spiegelhalter. Funnel plots for comparing institutional performance. Statistics in
        Medicine 24(8), 2005. https://doi.org/10.1002/sim.1970
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.at_risk import AtRisk
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import (
    Component,
    median_error,
    noise_component,
    quantile,
    variance,
)
from confide.plans.estimation.rate_estimates import FoundRate, Publishing
from confide.plans.estimation.rates import RateCell, RateNoise, control_limits, pooled, ratio
from confide.plans.mechanisms import additive, vector
from confide.plans.person_time import Per
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.pricing.best_split import best_split, reach
from confide.plans.public_numbers import PublicNumber
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones, Plain, Value
from confide.tables.expression import Expression
from confide.tables.filter import Everything, Predicate
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """Observed over expected events of one group.

    Attributes:
        cell: Observed events, and expected events as their base.
        curve: What a sample's variance of the observed is below the expected, at ratio 1.
    """

    cell: RateCell
    curve: float

    def limits(self, *, at: float, level: float) -> tuple[float, float]:
        """Return where the ratio of a group with ``at`` expected events is when it should be 1."""
        share = self.curve / self.cell.base if self.cell.base > 0 else 0.0
        noise = [s.noise.times(s.events - s.base) for s in self.cell.noise]
        return control_limits(at, noise=noise, curve=share * at, level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class SMR(Statistic):
    """Observed over expected events by group.

    Attributes:
        of: Which rows are events.
        reference: Public reference rates by stratum, per ``per``; one, if there are no strata.
        strata: What is adjusted for: age bands, sex.
        by: Groups; none gives one ratio.
        time: Column or per-patient value: the time at risk of a row; persons are counted if empty.
        population: Public number at risk by group and stratum, in place of the rows.
        per: What the reference rates are per.
        per_patient: Bounds, where the schema gives none.
    """

    reference: tuple[PublicNumber, ...]
    strata: tuple[str, ...] = ()
    of: Predicate = field(default_factory=Everything)
    by: tuple[str, ...] = ()
    time: str = ""
    population: tuple[PublicNumber, ...] = ()
    per: Per = field(default_factory=Per)
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        self.at_risk.check()
        if self.per_patient.cells is not None:
            raise ContractError(
                f"SMR {self.id!r} bounds the rows of a patient, not their cells.",
                hint="Write per-patient: {rows: 5}.",
            )

    @property
    def at_risk(self) -> AtRisk:
        """The denominator."""
        return AtRisk(
            id=self.id,
            table=self.table,
            by=self.by,
            strata=self.strata,
            time=self.time,
            population=self.population,
            per=self.per,
        )

    def _rates(self, dataset: Dataset) -> tuple[float, ...]:
        """Return the reference rates by stratum, in events per unit of the base."""
        numbers = self.at_risk.by_stratum(self.reference, name="reference", dataset=dataset)
        return tuple(number / self.per.number for number in numbers)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the observed events by group, and persons or time by group and stratum."""
        of, groups, cells = (
            self.at_risk,
            self.at_risk.groups(dataset),
            self.at_risk.cells(dataset),
        )
        rates, step = self._rates(dataset), of.step(dataset)
        relation, axes = of.events(self.of, where=self.where, by=groups, dataset=dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=(*cells, *axes),
            counted=Counted.EVENTS,
            dataset=dataset,
        )

        def asked(name: str, over: tuple[Expression, ...], value: Value) -> Question:
            summed = Aggregate(relation=relation, axes=over, value=value, bounds=bounds)
            return question(name, summed, dataset=dataset)

        events = asked("events", axes, Ones())
        if self.population:
            return (events,)
        base = (
            asked("time", cells, Plain(of=of.times(dataset)))
            if self.time
            else asked("persons", cells, Ones())
        )
        shares = best_split(
            reach(events.sensitivity, measure=dataset.measure),
            reach(base.sensitivity, measure=dataset.measure) * step * math.hypot(*rates),
            measure=dataset.measure,
        )
        return replace(events, weight=shares[0]), replace(base, weight=shares[1])

    def _noises(
        self, mechanisms: Mapping[str, Mechanism], dataset: Dataset
    ) -> tuple[tuple[RateNoise, ...], tuple[RateNoise, ...]]:
        """Return the noise of a group's observed, and that of the base of one stratum."""
        observed = (RateNoise(noise=noise_component(additive(mechanisms["events"])), events=1.0),)
        if self.population:
            return observed, ()
        base = noise_component(additive(mechanisms["time" if self.time else "persons"]))
        return observed, (RateNoise(noise=base, base=self.at_risk.step(dataset)),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of one group's ratio, when it is 1.

        Raises:
            ContractError: If there is no public number of expected events.
        """
        rates = self._rates(dataset)
        observed, within = self._noises(mechanisms, dataset)
        if self.population:
            numbers, width = self.at_risk.public(dataset), len(rates)
            each = sorted(
                sum(w * n for w, n in zip(rates, numbers[i : i + width], strict=True))
                for i in range(0, len(numbers), width)
            )
            expected, note = each[len(each) // 2], "for the middle group"
        elif self.expect is not None:
            expected = float(self.expect)
            note = f"for groups of {self.expect} expected events and a ratio of 1"
        else:
            raise ContractError(
                f"The error of SMR {self.id!r} depends on the expected events of a group.",
                hint="Write expect: {count: 40}, from a public source.",
            )
        parts = [s.noise.times(1 / expected) for s in observed]
        parts += [s.noise.times(w * s.base / expected) for w in rates for s in within]
        return Forecast(
            half_width=quantile(parts, level=float(level)) * math.sqrt(variance(parts)),
            median_error=median_error(parts),
            level=float(level),
            unit="1",
            planning=1.0,
            notes=(note,),
        )

    def expected(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
    ) -> dict[tuple[str, ...], Expected]:
        """Return observed and expected events by group."""
        rates, counts = self._rates(dataset), vector(noisy["events"])
        observed, within = self._noises(mechanisms, dataset)
        having = counts if self.population else counts[1::2]
        bases, width = self._bases(noisy, dataset=dataset), len(rates)
        found = {}
        for i, key in enumerate(self.at_risk.group_keys(dataset)):
            own = bases[i * width : (i + 1) * width]
            strata = [RateCell(events=0.0, base=base, noise=within) for base in own]
            apart = RateCell(events=float(having[i]), base=0.0, noise=observed)
            curve = sum(w * w * base for w, base in zip(rates, own, strict=True))
            found[key] = Expected(
                cell=pooled([apart, *strata], weights=(1.0, *rates)),
                curve=max(curve, 0.0) if self.at_risk.of_persons else 0.0,
            )
        return found

    def _bases(self, noisy: Mapping[str, Noisy], *, dataset: Dataset) -> tuple[float, ...]:
        if self.population:
            return self.at_risk.public(dataset)
        step = self.at_risk.step(dataset)
        return tuple(step * n for n in vector(noisy["time" if self.time else "persons"]))

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the ratio of each group, and its observed and expected events."""
        del simulation
        found = self.expected(noisy, mechanisms=mechanisms, dataset=dataset)
        publishing = Publishing(statistic=self.id, level=float(self.level), factor=1.0, unit="1")
        return (
            *(
                e
                for k, each in found.items()
                for e in publishing.ratio("smr", k, self._found(each))
            ),
            *(self._events("observed", k, each.cell, base=0.0) for k, each in found.items()),
            *(self._events("expected", k, each.cell, base=1.0) for k, each in found.items()),
        )

    def _found(self, each: Expected) -> FoundRate:
        cell, level = each.cell, float(self.level)
        return FoundRate(
            noise=ratio(cell, spread=0.0, curve=0.0, level=level),
            both=ratio(cell, spread=max(cell.base, 0.0), curve=each.curve, level=level),
            small=cell.base < 10 * cell.base_deviation,
        )

    def _events(
        self, quantity: str, key: tuple[str, ...], cell: RateCell, *, base: float
    ) -> Estimate:
        """Return the expected events (``base`` 1) or the observed ones (0), for the noise alone."""
        parts: list[Component] = [
            s.noise.times(base * s.base + (1 - base) * s.events) for s in cell.noise
        ]
        value = cell.base if base else cell.events
        half = quantile(parts, level=float(self.level)) * math.sqrt(variance(parts))
        return Estimate(
            statistic=self.id,
            quantity=quantity,
            key=key,
            value=max(value, 0.0),
            standard_error=math.sqrt(variance(parts)),
            lower=max(value - half, 0.0),
            upper=max(value, 0.0) + half,  # of a number below 0, not a point at 0
            level=float(self.level),
            covers=Covers.NOISE,
            unit="1",
        )
