"""Incidence rate: events over person-time, by group.

*Lemma:* a patient keeps at most m rows.  Events are either rows that satisfy a condition or a
number from 0 to e.

- With a condition, the cells are group × {without, with}: a row adds 1 to one of them, so Δ₁ = m
  under add-remove.  Of the same rows, Σ(t − c) with the public centre c of the time's bounds [L, U]
  moves by at most h·m, h = ⌈(U−L)/2⌉; the person-time is c·n + Σ(t − c), and n is known from the
  cells.
- With a number, Σe moves by at most e·m, and Σt by at most U·m.

Both vectors are over the same kept rows: those whose time and number are known.  Losses add.

*Privacy:* events and person-time are clipped to declared bounds before they are summed.
*Utility:* centring halves the noise of the person-time, for the little that the counts add to it.
The budget is split where the forecast's variance is least at the planning rate, or, without one, at
an event in ten full follow-ups; most of it goes to rare events.  Numbers are in
docs/design/018-rates.md.  Intervals invert the test of E = tT: with the noise alone for the
patients at hand, and with Poisson events for their population.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
    [Rao48] Rao. Large sample tests of statistical hypotheses concerning several parameters. 1948.
        https://doi.org/10.1017/S0305004100023987
    [RGL08] Rothman, Greenland, Lash. Modern epidemiology. 3rd ed., 2008, ch. 3 and 14.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Estimate, Forecast
from confide.plans.estimation.intervals import median_error, noise_component, quantile, variance
from confide.plans.estimation.rate_estimates import FoundRate, Publishing, baseline_of
from confide.plans.estimation.rates import RateCell, RateNoise, ratio
from confide.plans.mechanisms import additive, vector
from confide.plans.person_time import Per, step_of
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.pricing.best_split import best_split, reach
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.value import Centred, Ones, Plain, Value
from confide.tables.conditions.known import where_told
from confide.tables.expression import Expression, Holds
from confide.tables.filter import All, Between, Everything, Predicate
from confide.tables.relation import Relation, centre, domain, resolve
from confide.tables.schema import Dataset, Domain

_FOLLOW_UPS = 10
"""Assumed full follow-ups per event without a planning rate; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incidence(Statistic):
    """Events per person-time.

    Attributes:
        time: Column or per-patient value: the time at risk of a row.
        of: Which rows are events.
        events: Column or per-patient value: the number of events of a row; in place of ``of``.
        by: Groups; none gives one rate.
        per: What the rate is reported per.
        compare: Labels of the group that the others are compared to; none: no comparison.
        per_patient: Bounds, where the schema gives none.
        expect_rate: Public planning value of the rate, as reported.
    """

    time: str
    of: Predicate = field(default_factory=Everything)
    events: str = ""
    by: tuple[str, ...] = ()
    per: Per = field(default_factory=Per)
    compare: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)
    expect_rate: Fraction | None = None

    def __post_init__(self) -> None:
        if self.events and self.of != Everything():
            raise ContractError(
                f"Incidence {self.id!r} names both a condition and a number of events.",
                hint="Keep one of `of` and `events`.",
            )
        if not self.events and self.of == Everything():
            raise ContractError(
                f"Incidence {self.id!r} does not say what an event is: every row would be one.",
                hint="Write of: {status: [dead]}, or events: and the column of their number.",
            )
        if self.per_patient.cells is not None:
            raise ContractError(
                f"Incidence {self.id!r} bounds the rows of a patient, not their cells.",
                hint="Write per-patient: {rows: 5}.",
            )

    def _read(self, name: str, dataset: Dataset) -> Expression:
        return resolve(name, table=self.table, dataset=dataset)

    def _time(self, dataset: Dataset) -> Domain:
        return domain(self._read(self.time, dataset), dataset=dataset)

    def _step(self, dataset: Dataset) -> float:
        return step_of(self._time(dataset), per=self.per, name=self.time)

    def _number(self, dataset: Dataset) -> Domain | None:
        """Return the bounds of the number of events; None when rows are events."""
        if not self.events:
            return None
        of = domain(self._read(self.events, dataset), dataset=dataset)
        if of.lower < 0:
            raise ContractError(
                f"The number of events {self.events!r} could be negative.", hint="Declare lower: 0."
            )
        return of

    def _groups(self, dataset: Dataset) -> tuple[Expression, ...]:
        return tuple(self._read(name, dataset) for name in self.by)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the events and the person-time of the same rows."""
        groups, time = self._groups(dataset), self._read(self.time, dataset)
        self._step(dataset)
        baseline_of(self.compare, by=self.by, keys=cell_keys(groups, dataset=dataset))
        axes: tuple[Expression, ...] = groups
        counted: Value = Ones()
        timed: Value = Centred(of=time)
        known: tuple[Predicate, ...] = (self.where, Between(of=time))
        if self._number(dataset) is None:
            axes = (*groups, Holds(of=self.of))
            told = where_told(self.where, of=self.of, table=self.table, dataset=dataset)
            known = (told, Between(of=time))
        else:
            number = self._read(self.events, dataset)
            counted, timed = Plain(of=number), Plain(of=time)
            known = (*known, Between(of=number))
        relation = Relation(table=self.table, where=All(of=known))
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

        events, times = asked("events", axes, counted), asked("time", groups, timed)
        return self._weighed(events, times, dataset=dataset)

    def _weighed(
        self, events: Question, times: Question, *, dataset: Dataset
    ) -> tuple[Question, ...]:
        """Return both questions with the shares that make the forecast's variance least."""
        rate, measure = self._planned(dataset), dataset.measure
        moves = {"events": 0.0, "time": 0.0}
        for name, events_each, base_each in self._noises(dataset):
            moves[name] = math.hypot(moves[name], events_each - rate * base_each)
        shares = best_split(
            reach(events.sensitivity, measure=measure) * moves["events"],
            reach(times.sensitivity, measure=measure) * moves["time"],
            measure=measure,
        )
        return tuple(
            replace(asked, weight=share)
            for asked, share in zip((events, times), shares, strict=True)
        )

    def _planned(self, dataset: Dataset) -> float:
        """Return the planning rate in events per unit of time."""
        if self.expect_rate is not None:
            return float(self.expect_rate) / self.per.number
        number = self._number(dataset)
        most = 1.0 if number is None else number.physical(number.upper)
        return most / (_FOLLOW_UPS * self._time(dataset).upper * self._step(dataset))

    def _noises(self, dataset: Dataset) -> tuple[tuple[str, float, float], ...]:
        """Return every noise of one group: its question, and what it adds to events and time."""
        step, number = self._step(dataset), self._number(dataset)
        if number is not None:
            return ("events", float(number.scale), 0.0), ("time", 0.0, step)
        middle = centre(self._time(dataset))[0] * step
        return ("events", 0.0, middle), ("events", 1.0, middle), ("time", 0.0, step)

    def _sources(
        self, mechanisms: Mapping[str, Mechanism], dataset: Dataset
    ) -> tuple[RateNoise, ...]:
        return tuple(
            RateNoise(noise=noise_component(additive(mechanisms[name])), events=events, base=base)
            for name, events, base in self._noises(dataset)
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of one group's rate, for ``expect`` person-time a group.

        Raises:
            ContractError: If there is no planning number of person-time.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of incidence {self.id!r} depends on the person-time of a group.",
                hint=f"Write expect: {{count: 2000, rate: 12}}: person-{self.per.time.value}, and "
                f"events {self.per.unit}.",
            )
        rate = self._planned(dataset)
        parts = [
            s.noise.times(s.events - rate * s.base) for s in self._sources(mechanisms, dataset)
        ]
        each = self.per.number / float(self.expect)
        return Forecast(
            half_width=each * quantile(parts, level=float(level)) * math.sqrt(variance(parts)),
            median_error=each * median_error(parts),
            level=float(level),
            unit=self.per.unit,
            planning=None if self.expect_rate is None else float(self.expect_rate),
            notes=(
                f"for groups of {self.expect} person-{self.per.time.value}",
                *self.per.assumed(rate, unit=self.per.unit, said=self.expect_rate is not None),
            ),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the rate of each group, and how it compares to the group named."""
        del simulation
        keys = cell_keys(self._groups(dataset), dataset=dataset)
        sources = self._sources(mechanisms, dataset)
        cells = self._cells(vector(noisy["events"]), vector(noisy["time"]), dataset=dataset)
        publishing = Publishing(
            statistic=self.id,
            level=float(self.level),
            factor=self.per.number,
            unit=self.per.unit,
        )
        found = {
            key: self._found(RateCell(events=events, base=base, noise=sources))
            for key, (events, base) in zip(keys, cells, strict=True)
        }
        rates = [e for key, each in found.items() for e in publishing.rate("rate", key, each)]
        baseline = baseline_of(self.compare, by=self.by, keys=keys)
        compared = () if baseline is None else publishing.compared(found, baseline=baseline)
        return (*rates, *compared)

    def _cells(
        self, events: tuple[int, ...], times: tuple[int, ...], *, dataset: Dataset
    ) -> Iterator[tuple[float, float]]:
        """Yield the events and the person-time of each group."""
        step, number = self._step(dataset), self._number(dataset)
        if number is not None:
            for count, time in zip(events, times, strict=True):
                yield number.physical(count), step * time
            return
        middle, _ = centre(self._time(dataset))
        for without, having, time in zip(events[::2], events[1::2], times, strict=True):
            yield float(having), step * (time + middle * (without + having))

    def _found(self, cell: RateCell) -> FoundRate:
        level = float(self.level)
        return FoundRate(
            noise=ratio(cell, spread=0.0, curve=0.0, level=level),
            both=ratio(cell, spread=max(cell.base, 0.0), curve=0.0, level=level),
            small=cell.base < 10 * cell.base_deviation,
        )
