"""Directly standardised rate: what the rate would be in a public standard population, by group.

*Lemma:* a patient keeps at most m rows, and a row is an event or not: the cells are group × stratum
× {without, with}, a row adds 1 to one of them, and Δ₁ = m under add-remove.  With person-time,
Σ(t − c) by group and stratum, of the same rows, moves by at most h·m, with c and h as for the mean;
c·n is known from the cells; losses add.  With a public population at risk, events alone are counted
by group and stratum: Δ₁ = m.

*Privacy:* the standard and the population are public numbers in the plan.
*Utility:* Σwᵢrᵢ is unbiased for what it stands for up to the bias of each ratio, of order 1/Bᵢ²; a
stratum with a large weight and few patients dominates its noise.  Intervals: see
``plans/estimation/rates.py``; they cover the noise, and sampling too: Poisson events over time or a
public population, binomial ones over persons.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [BD87] Breslow, Day. Statistical methods in cancer research II. IARC, 1987, ch. 2.
    [DKES91] Dobson, Kuulasmaa, Eberle, Scherer. Confidence intervals for weighted sums of Poisson
        parameters. Statistics in Medicine 10(3), 1991. https://doi.org/10.1002/sim.4780100317
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.at_risk import AtRisk
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Estimate, Forecast
from confide.plans.estimation.intervals import (
    Component,
    median_error,
    noise_component,
    quantile,
    variance,
)
from confide.plans.estimation.rate_estimates import FoundRate, Publishing, baseline_of
from confide.plans.estimation.rates import Rate, RateCell, RateNoise, pooled, ratio, standardized
from confide.plans.mechanisms import additive, vector
from confide.plans.person_time import Per
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.pricing.best_split import best_split, reach
from confide.plans.public_numbers import PublicNumber
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Centred, Ones, Value
from confide.tables.expression import Expression
from confide.tables.filter import Everything, Predicate
from confide.tables.schema import Dataset

_CRUDE = "crude rate"
_PLANNED = 0.1
"""Assumed events per full follow-up without a planning rate; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardizedRate(Statistic):
    """Rates by group, weighted to a standard population.

    Attributes:
        of: Which rows are events.
        strata: What is adjusted for: age bands, sex.
        standard: Weights of the standard population by stratum; in any unit.
        by: Groups; none gives one rate.
        time: Column or per-patient value: the time at risk of a row; persons are counted if empty.
        population: Public number at risk by group and stratum, in place of the rows.
        per: What the rate is reported per.
        compare: Labels of the group that the others are compared to; none: no comparison.
        per_patient: Bounds, where the schema gives none.
        expect_rate: Public planning value of the rate, as reported.
    """

    strata: tuple[str, ...]
    standard: tuple[PublicNumber, ...]
    of: Predicate = field(default_factory=Everything)
    by: tuple[str, ...] = ()
    time: str = ""
    population: tuple[PublicNumber, ...] = ()
    per: Per = field(default_factory=Per)
    compare: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)
    expect_rate: Fraction | None = None

    def __post_init__(self) -> None:
        self.at_risk.check()
        if not self.strata:
            raise ContractError(
                f"Rate {self.id!r} has no strata to adjust for.", hint="Write strata: [age_band]."
            )
        if self.per_patient.cells is not None:
            raise ContractError(
                f"Rate {self.id!r} bounds the rows of a patient, not their cells.",
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

    def _weights(self, dataset: Dataset) -> tuple[float, ...]:
        """Return the shares of the strata in the standard population."""
        numbers = self.at_risk.by_stratum(self.standard, name="standard", dataset=dataset)
        return tuple(number / sum(numbers) for number in numbers)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the events by stratum, and the time at risk of the same rows."""
        of, cells = self.at_risk, self.at_risk.cells(dataset)
        of.step(dataset)
        self._weights(dataset)
        baseline_of(self.compare, by=self.by, keys=of.group_keys(dataset))
        relation, axes = of.events(self.of, where=self.where, by=cells, dataset=dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )

        def asked(name: str, over: tuple[Expression, ...], value: Value) -> Question:
            summed = Aggregate(relation=relation, axes=over, value=value, bounds=bounds)
            return question(name, summed, dataset=dataset)

        events = asked("events", axes, Ones())
        if not self.time:
            return (events,)
        times = asked("time", cells, Centred(of=of.times(dataset)))
        rate, middle = self._planned(dataset), of.middle(dataset)
        shares = best_split(
            reach(events.sensitivity, measure=dataset.measure)
            * math.hypot(rate * middle, 1 - rate * middle),
            reach(times.sensitivity, measure=dataset.measure) * rate * of.step(dataset),
            measure=dataset.measure,
        )
        return replace(events, weight=shares[0]), replace(times, weight=shares[1])

    def _planned(self, dataset: Dataset) -> float:
        """Return the planning rate in events per unit of the base."""
        if self.expect_rate is not None:
            return float(self.expect_rate) / self.per.number
        return _PLANNED / self.at_risk.full(dataset)

    def _sources(
        self, mechanisms: Mapping[str, Mechanism], dataset: Dataset
    ) -> tuple[RateNoise, ...]:
        """Return the noises of one stratum."""
        events = noise_component(additive(mechanisms["events"]))
        if self.population:
            return (RateNoise(noise=events, events=1.0),)
        each = self.at_risk.middle(dataset)
        cells = (RateNoise(noise=events, base=each), RateNoise(noise=events, events=1.0, base=each))
        if not self.time:
            return cells
        times = noise_component(additive(mechanisms["time"]))
        return (*cells, RateNoise(noise=times, base=self.at_risk.step(dataset)))

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of one group's rate.

        The group is the middle one of a public population, or has ``expect`` at risk, spread over
        the strata as the standard population is.

        Raises:
            ContractError: If there is no public number at risk.
        """
        rate, weights = self._planned(dataset), self._weights(dataset)
        sources = self._sources(mechanisms, dataset)

        def errors(bases: Sequence[float]) -> list[Component]:
            return [
                s.noise.times(w / base * (s.events - rate * s.base))
                for w, base in zip(weights, bases, strict=True)
                if w > 0 and base > 0
                for s in sources
            ]

        if self.population:
            groups = sorted((errors(each) for each in self._split(dataset)), key=variance)
            parts, note = groups[len(groups) // 2], "for the middle group"
        elif self.expect is not None:
            parts = errors([float(self.expect) * w for w in weights])
            note = (
                f"for groups of {self.expect} {self._at_risk_word()} that lie in the strata as the "
                "standard does; more where a stratum has a larger part of the standard"
            )
        else:
            raise ContractError(
                f"The error of rate {self.id!r} depends on how many are at risk in a group.",
                hint="Write expect: {count: 2000, rate: 12}, from a public source.",
            )
        return Forecast(
            half_width=self.per.number
            * quantile(parts, level=float(level))
            * math.sqrt(variance(parts)),
            median_error=self.per.number * median_error(parts),
            level=float(level),
            unit=self.at_risk.unit(dataset),
            planning=None if self.expect_rate is None else float(self.expect_rate),
            notes=(
                note,
                *self.per.assumed(
                    rate, unit=self.at_risk.unit(dataset), said=self.expect_rate is not None
                ),
            ),
        )

    def _at_risk_word(self) -> str:
        return f"person-{self.per.time.value}" if self.time else "rows"

    def _split(self, dataset: Dataset) -> list[tuple[float, ...]]:
        """Return the public population of each group by stratum."""
        numbers, width = self.at_risk.public(dataset), len(self._weights(dataset))
        return [numbers[i : i + width] for i in range(0, len(numbers), width)]

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the standardised and the crude rate of each group, and the comparisons."""
        del simulation
        cells = self._cells(noisy, mechanisms=mechanisms, dataset=dataset)
        weights, keys = self._weights(dataset), self.at_risk.group_keys(dataset)
        width = len(weights)
        publishing = Publishing(
            statistic=self.id,
            level=float(self.level),
            factor=self.per.number,
            unit=self.at_risk.unit(dataset),
        )
        groups = {key: cells[i * width : (i + 1) * width] for i, key in enumerate(keys)}
        found = {key: self._found(strata, weights) for key, strata in groups.items()}
        baseline = baseline_of(self.compare, by=self.by, keys=keys)
        return (
            *(
                e
                for key, each in found.items()
                for e in publishing.rate("standardised rate", key, each)
            ),
            *(
                e
                for key, strata in groups.items()
                for e in publishing.rate(_CRUDE, key, self._crude(strata))
            ),
            *(() if baseline is None else publishing.compared(found, baseline=baseline)),
        )

    def counts_behind(
        self, noisy: Mapping[str, Sequence[float]], *, dataset: Dataset
    ) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield the counts behind the crude rate of each group; a house rule asks."""
        keys, counts = self.at_risk.group_keys(dataset), noisy["events"]
        width, parts = len(counts) // len(keys), 1 if self.population else 2
        for place, key in enumerate(keys):
            of_group = counts[width * place : width * (place + 1)]
            for part in range(parts):  # of rows at risk those without an event, and those with one
                yield _CRUDE, key, sum(of_group[part::parts])

    def _cells(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
    ) -> tuple[RateCell, ...]:
        """Return events and base by group and stratum."""
        sources, counts = self._sources(mechanisms, dataset), vector(noisy["events"])
        if self.population:
            having, bases = counts, self.at_risk.public(dataset)
        else:
            middle, step = self.at_risk.middle(dataset), self.at_risk.step(dataset)
            having, rows = counts[1::2], map(sum, zip(counts[::2], counts[1::2], strict=True))
            times = vector(noisy["time"]) if self.time else (0,) * len(having)
            bases = tuple(middle * n + step * t for n, t in zip(rows, times, strict=True))
        return tuple(
            RateCell(events=float(events), base=base, noise=sources)
            for events, base in zip(having, bases, strict=True)
        )

    def _found(self, strata: Sequence[RateCell], weights: Sequence[float]) -> FoundRate:
        def rate(*, sampled: bool) -> Rate:
            return standardized(
                strata,
                weights=weights,
                persons=self.at_risk.of_persons,
                sampled=sampled,
                level=float(self.level),
            )

        used = [cell for cell, weight in zip(strata, weights, strict=True) if weight > 0]
        small = any(cell.base < 10 * cell.base_deviation for cell in used)
        return FoundRate(noise=rate(sampled=False), both=rate(sampled=True), small=small)

    def _crude(self, strata: Sequence[RateCell]) -> FoundRate:
        cell, level = pooled(strata), float(self.level)
        base = max(cell.base, 0.0)
        curve = base if self.at_risk.of_persons else 0.0
        return FoundRate(
            noise=ratio(cell, spread=0.0, curve=0.0, level=level),
            both=ratio(cell, spread=base, curve=curve, level=level),
            small=cell.base < 10 * cell.base_deviation,
        )
