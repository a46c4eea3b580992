"""Rates of areas: how many of the people of each public area, per 100,000 of them.

*Lemma:* with public populations the cells are areas: at most k of them with r rows each, Δ₁ = k·r,
Δ₂² = k·r² under add-remove, and 1 and 1 for one area a patient; with the rows themselves as
denominators the cells are area × {without, with}, with the same bounds.  Weighted areas: the sums
of the k largest weights, and of their squares, in place of k.  Under substitution the old and the
new patient fill different cells, so twice as many count.

*Privacy:* populations are public facts of the plan.  Areas of one patient each are disjoint, so
every area has the whole budget and the charge is the largest loss, not the sum (see ``weights``).
*Utility:* a rate has expected error E|Z|/n: small areas have the worst.  The forecast states it by
fifths of area size, before anything is spent.  Two intervals: for the noise alone, and for noise
and a Poisson count (a binomial share where the rows are the denominator).  A rate whose relative
standard error passes 30 % is flagged unstable, the rule of the US National Center for Health
Statistics for rates [KSF02].

References:
    [KSF02] Klein, Proctor, Boudreault, Turczyn. Healthy People 2010 criteria for data suppression.
        2002. https://www.cdc.gov/nchs/data/statnt/statnt24.pdf
"""

import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import Component, noise_component, quantile, share, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.statistics.area_rate.poisson import poisson_interval, rows_in_a_cell
from confide.statistics.area_rate.preview import SizedArea, by_size, error_of
from confide.statistics.area_rate.weights import FULL, weights_by_size
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.pooled import PooledAggregate
from confide.tables.aggregates.value import Ones
from confide.tables.bound_contributions import CellBound, ContributionBounds
from confide.tables.conditions.known import where_told
from confide.tables.expression import Expression, Holds
from confide.tables.filter import All, Everything, Predicate
from confide.tables.relation import Relation, resolve
from confide.tables.schema import Dataset

UNSTABLE = 0.30  # relative standard error above which a rate is flagged


class Denominator(enum.Enum):
    """Whom a rate is per."""

    PUBLIC = "public"  # the declared population
    ROWS = "rows"  # the rows of the relation themselves, counted with noise


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaRate(Statistic):
    """The rate of each area of one level of a spine.

    Attributes:
        spine: Name of a declared spine.
        area: Which level; the finest when "".
        of: Which rows are counted in the numerator.
        denominator: The declared population, or the rows that ``where`` keeps.
        counted: Patients or events, in a numerator over the population.
        per: The rate is shown per this many.
        same_error_above: Areas with more people get the error of the rate that an area of this size
            has, and its patients lose less; None gives every area the whole budget.
        per_patient: Bounds, where the schema gives none.
    """

    spine: str
    area: str = ""
    of: Predicate = field(default_factory=Everything)
    denominator: Denominator = Denominator.PUBLIC
    counted: Counted = Counted.PATIENTS
    per: int = 100_000
    same_error_above: int | None = None
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if self.per < 1 or (self.same_error_above is not None and self.same_error_above < 1):
            raise ContractError(
                f"Area rate {self.id!r}: expected per ≥ 1 and same-error-above ≥ 1."
            )
        if self.denominator is Denominator.ROWS and self.of == Everything():
            raise ContractError(
                f"Area rate {self.id!r} with its rows as denominator would be 1 everywhere.",
                hint="Write of: {diabetes: [yes]}, or denominator: public.",
            )

    @property
    def key_names(self) -> tuple[str, ...]:
        """Names of the parts of an estimate's key."""
        return (self.area or "area",)

    def outlined(self, dataset: Dataset) -> tuple[str, str]:
        """Return the spine and the level of the areas."""
        return self.spine, dataset.spine(self.spine).levels[self.level_place(dataset)]

    def level_place(self, dataset: Dataset) -> int:
        """Return which level of the spine the areas are of, 0 for the finest."""
        spine = dataset.spine(self.spine)
        return spine.level(self.area) if self.area else 0

    def _column(self, dataset: Dataset) -> Expression:
        name = dataset.spine(self.spine).levels[0]
        return resolve(name, table=self.table, dataset=dataset)

    def _finest(self, dataset: Dataset) -> tuple[str, ...]:
        return tuple(key for (key,) in cell_keys((self._column(dataset),), dataset=dataset))

    def areas(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the labels of the areas, in the order of the estimates."""
        spine, place = dataset.spine(self.spine), self.level_place(dataset)
        return spine.grouped(self._finest(dataset), level=place)[0]

    def sizes(self, dataset: Dataset) -> list[int] | None:
        """Return the population of each area, or None where none is declared or needed.

        Raises:
            ContractError: If the rate is per population and none is declared.
        """
        spine, place = dataset.spine(self.spine), self.level_place(dataset)
        needed = self.denominator is Denominator.PUBLIC or self.same_error_above is not None
        if not spine.population and not needed:
            return None
        return spine.people(self._finest(dataset), level=place)

    def _weights(self, dataset: Dataset) -> tuple[int, ...]:
        sizes = self.sizes(dataset)
        if self.same_error_above is None or sizes is None:
            return ()
        return weights_by_size(sizes, full_up_to=self.same_error_above)

    def _per_area(self) -> int:
        """Return how many cells an area has: one, or those without and with."""
        return 2 if self.denominator is Denominator.ROWS else 1

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector of counts, area by area; without and with, if the rows divide.

        Raises:
            ContractError: If larger areas are asked for and a patient can be in several, or a rate
                per population where none is declared.
        """
        column = self._column(dataset)
        axes, where, counted = self._cells(column, dataset)
        counts = Aggregate(
            relation=Relation(table=self.table, where=where),
            axes=axes,
            value=Ones(),
            bounds=self._bounds(dataset),
        )
        place = self.level_place(dataset)
        _, groups = dataset.spine(self.spine).grouped(self._finest(dataset), level=place)
        self.sizes(dataset)  # refused here, before anything is planned
        weights = self._weights(dataset)
        if place:
            self._require_one_area(counts.bounds)
        if not place and not weights:
            return (question("count", counts, dataset=dataset, counted=counted.unit),)
        width = self._per_area()
        pooled = PooledAggregate(
            of=counts,
            groups=tuple(width * group + cell for group in groups for cell in range(width)),
            weights=tuple(weight for weight in weights for _ in range(width)),
        )
        return (question("count", pooled, dataset=dataset, counted=counted.unit),)

    def _cells(
        self, column: Expression, dataset: Dataset
    ) -> tuple[tuple[Expression, ...], Predicate, Counted]:
        match self.denominator:
            case Denominator.PUBLIC:
                parts = tuple(p for p in (self.where, self.of) if p != Everything())
                where = parts[0] if len(parts) == 1 else All(of=parts) if parts else Everything()
                return (column,), where, self.counted
            case Denominator.ROWS:
                told = where_told(self.where, of=self.of, table=self.table, dataset=dataset)
                return (column, Holds(of=self.of)), told, Counted.EVENTS
            case _:
                assert_never(self.denominator)

    def _require_one_area(self, bounds: ContributionBounds) -> None:
        if isinstance(bounds, CellBound) and bounds.max_cells > 1:
            raise ContractError(
                f"Area rate {self.id!r}: a patient in several finest areas would be counted "
                f"several times in one {self.area}.",
                hint="Write per-patient: {cells: 1}, or ask for the finest level.",
            )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the rate in an area of median size, and by fifths of size.

        Raises:
            ContractError: If no area has a size.
        """
        weights, sizes = self._weights(dataset), self._planned(dataset)
        areas = sorted(
            (
                SizedArea(size=size, weight=weights[place] if weights else 1)
                for place, size in enumerate(sizes)
                if size > 0
            ),
            key=lambda area: area.size,
        )
        if not areas:
            raise ContractError(
                f"Area rate {self.id!r}: no area has people.", hint="Check the population column."
            )
        noise, middle = additive(mechanisms["count"]), areas[len(areas) // 2]
        return Forecast(
            half_width=error_of(middle, noise=noise, level=float(level), per=self.per),
            median_error=error_of(middle, noise=noise, level=0.5, per=self.per),
            level=float(level),
            unit=self._unit(),
            notes=self._notes(middle.size, weights=weights),
            parts=by_size(
                areas, noise=noise, measure=dataset.measure, level=float(level), per=self.per
            ),
        )

    def _planned(self, dataset: Dataset) -> list[int]:
        """Return public numbers of people, or of rows, an area."""
        sizes = self.sizes(dataset)
        if self.expect is not None and self.denominator is Denominator.ROWS:
            return [max(1, round(self.expect))] * len(self.areas(dataset))
        if sizes is None:
            raise ContractError(
                f"The error of area rate {self.id!r} depends on the number of rows of an area.",
                hint="Write expect: {count: 500}, or declare a population for the spine.",
            )
        return sizes

    def _notes(self, size: int, *, weights: Sequence[int]) -> tuple[str, ...]:
        notes = [f"the error is that in an area of {size:,}, the median size; noise alone"]
        if self.denominator is Denominator.ROWS and self.expect is None:
            notes.append("sizes are the declared populations; of fewer rows the error is larger")
        if weights:
            lightest = min(weights)
            notes.append(
                f"areas above {self.same_error_above:,} have the error of the rate of that size; "
                f"their counts have up to {FULL / lightest:.3g} times the noise"
            )
        return tuple(notes)

    def _unit(self) -> str:
        return "1" if self.per == 1 else f"per {self.per}"

    def _bounds(self, dataset: Dataset) -> ContributionBounds:
        axes, _, counted = self._cells(self._column(dataset), dataset)
        return contribution_bounds(
            self.per_patient, table=self.table, axes=axes, counted=counted, dataset=dataset
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the rate of each area with two intervals: noise, and sampling and noise."""
        del simulation
        sizes = self.sizes(dataset)
        noise = noise_component(additive(mechanisms["count"]))
        rows = rows_in_a_cell(self._bounds(dataset))
        found: list[Estimate] = []
        areas = self._by_area(vector(noisy["count"]), dataset=dataset)
        for place, (label, weight, cells) in enumerate(areas):
            error = noise.times(1 / weight)
            match self.denominator:
                case Denominator.PUBLIC:
                    people = sizes[place] if sizes is not None else 0
                    found += self._of_people(label, cells[0], people, noise=error, rows=rows)
                case Denominator.ROWS:
                    found += self._of_rows(label, cells, noise=error)
                case _:
                    assert_never(self.denominator)
        return tuple(found)

    def counts_behind(
        self, noisy: Mapping[str, Sequence[float]], *, dataset: Dataset
    ) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield the counts behind the rate of each area; a house rule asks."""
        for label, _, cells in self._by_area(noisy["count"], dataset=dataset):
            for count in cells:
                yield "rate", (label,), count

    def _by_area(
        self, counts: Sequence[float], *, dataset: Dataset
    ) -> Iterator[tuple[str, int, list[float]]]:
        """Yield label, weight and counts of each area: one, or those without and with."""
        weights, width = self._weights(dataset), self._per_area()
        for place, label in enumerate(self.areas(dataset)):
            weight = weights[place] if weights else 1
            yield label, weight, [n / weight for n in counts[width * place : width * (place + 1)]]

    def _of_people(
        self, label: str, count: float, people: int, *, noise: Component, rows: int
    ) -> Iterator[Estimate]:
        level = float(self.level)
        if people == 0:
            yield from self._without(label)
            return
        each = self.per / people
        half = quantile([noise], level=level) * math.sqrt(noise.variance)
        value = max(0.0, count)
        low, _ = poisson_interval(count, noise=noise, rows=rows, level=level)
        _, high = poisson_interval(value, noise=noise, rows=rows, level=level)
        both = math.sqrt(variance([noise, Component(variance=rows * max(0.0, count))]))
        flags: tuple[str, ...] = ("below zero",) if count < 0 else ()
        flags += ("unstable",) if both > UNSTABLE * count else ()
        for covers, error, ends in (
            (Covers.NOISE, math.sqrt(noise.variance), (count - half, value + half)),
            (Covers.SAMPLING_AND_NOISE, both, (low, high)),
        ):
            yield self._published(
                label,
                covers,
                value=each * value,
                error=each * error,
                ends=(each * min(max(0.0, ends[0]), value), each * max(ends[1], value)),
                flags=flags,
            )

    def _without(self, label: str) -> Iterator[Estimate]:
        for covers in (Covers.NOISE, Covers.SAMPLING_AND_NOISE):
            yield self._published(
                label, covers, value=None, error=None, ends=None, flags=("nobody lives there",)
            )

    def _of_rows(
        self, label: str, cells: Sequence[float], *, noise: Component
    ) -> Iterator[Estimate]:
        without, having = cells
        small = having + without < 10 * math.sqrt(2 * noise.variance)
        both = share(
            having, without, noise=noise, spread=having + without, least=1, level=float(self.level)
        )
        alone = share(having, without, noise=noise, spread=0.0, least=1, level=float(self.level))
        flags: tuple[str, ...] = ()
        if small or both.value is None:
            flags = ("denominator too small",)
        if both.value is not None and both.standard_error is not None:
            flags += ("unstable",) if both.standard_error > UNSTABLE * both.value else ()
        for covers, found in ((Covers.NOISE, alone), (Covers.SAMPLING_AND_NOISE, both)):
            error = found.standard_error
            yield self._published(
                label,
                covers,
                value=None if found.value is None else self.per * found.value,
                error=None if error is None else self.per * error,
                ends=(self.per * found.lower, self.per * found.upper),
                flags=flags,
            )

    def _published(
        self,
        label: str,
        covers: Covers,
        *,
        value: float | None,
        error: float | None,
        ends: tuple[float, float] | None,
        flags: tuple[str, ...],
    ) -> Estimate:
        return Estimate(
            statistic=self.id,
            quantity="rate",
            key=(label,),
            value=value,
            standard_error=error,
            lower=None if ends is None else ends[0],
            upper=None if ends is None else ends[1],
            level=float(self.level),
            covers=covers,
            unit=self._unit(),
            flags=flags,
        )
