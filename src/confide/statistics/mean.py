"""Mean of a clipped number, optionally by group: noisy centred sum over noisy count.

*Lemma:* with h = ⌈(U−L)/2⌉ and m kept rows of a patient, Σ(x−c) moves by at most h·m and the count
by at most m (twice as far under substitution for the signed sum).  Two measurements; losses add.
The textbook's (U−L)/n holds for substitution with a *public* n; under add-remove n is private.

*Privacy:* both measurements read the same kept rows, those whose value is known.
*Utility:* the ratio has a bias of order 1/n²; the interval inverts |S − tN| (Fieller), so it stays
valid for small groups, and is cut to the declared bounds.  The budget is split so that a mean a
third of the way from the centre to a bound has the least variance.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.plans.contribution import Counted, PerPatient, contribution_bounds
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.intervals import noise_component, quantile, ratio_interval, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Mechanism, Noisy, Question
from confide.plans.simulation import Simulation
from confide.tables.aggregate import Aggregate, Centred, Ones, cell_count, cell_keys, value_range
from confide.tables.bound_contributions import sensitivity
from confide.tables.expression import Expression
from confide.tables.filter import All, Between, Everything, Predicate
from confide.tables.relation import Relation, centre, domain, resolve
from confide.tables.schema import Dataset, Domain

_TYPICAL = 1 / 3
"""Assumed distance of a mean from the centre, as a share of h; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """Mean of a column, clipped to its declared bounds.

    Attributes:
        id: Unique within the study.
        table: Whose rows.
        column: What is averaged.
        by: Groups; none gives one number.
        where: Which rows.
        per_patient: Bounds, where the schema gives none.
        level: Coverage of each interval.
        expect: Public planning number of rows in a group; needed to forecast the error.
        title: Headline in the report.
    """

    id: str
    table: str
    column: str
    by: tuple[str, ...] = ()
    where: Predicate = field(default_factory=Everything)
    per_patient: PerPatient = field(default_factory=PerPatient)
    level: Fraction = Fraction(95, 100)
    expect: Fraction | None = None
    title: str = ""

    def _column(self, dataset: Dataset) -> Expression:
        return resolve(self.column, table=self.table, dataset=dataset)

    def _domain(self, dataset: Dataset) -> Domain:
        return domain(self._column(dataset), dataset=dataset)

    def _axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        return tuple(resolve(name, table=self.table, dataset=dataset) for name in self.by)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the centred sums and the counts of the same rows."""
        axes, column = self._axes(dataset), self._column(dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        relation = Relation(table=self.table, where=All(of=(self.where, Between(of=column))))
        return tuple(
            Question(
                name=name,
                aggregate=Aggregate(relation=relation, axes=axes, value=value, bounds=bounds),
                sensitivity=sensitivity(
                    bounds,
                    values=value_range(value, dataset=dataset, counted="rows"),
                    cells=cell_count(axes, dataset=dataset),
                    entity=dataset.unit.entity,
                    adjacency=dataset.adjacency,
                ),
                weight=Fraction(weight),
            )
            for name, value, weight in (("sum", Centred(of=column), 3), ("count", Ones(), 1))
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of one group's mean, for ``expect`` rows a group.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of mean {self.id!r} depends on the number of rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        of = self._domain(dataset)
        _, half = centre(of)
        parts = [
            noise_component(additive(mechanisms["sum"])),
            noise_component(additive(mechanisms["count"]), factor=_TYPICAL * half),
        ]
        deviation = float(of.scale) * math.sqrt(variance(parts)) / float(self.expect)
        return Forecast(
            half_width=quantile(parts, level=float(level)) * deviation,
            median_error=0.6745 * deviation,
            level=float(level),
            unit=of.unit,
            planning=of.physical(sum(centre(of)[:1])),
            notes=(f"for groups of {self.expect} rows",),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return one mean a group, with the interval of its noise, in physical units."""
        del simulation
        keys = cell_keys(self._axes(dataset), dataset=dataset)
        sums, counts = vector(noisy["sum"]), vector(noisy["count"])
        of = self._domain(dataset)
        return tuple(
            self._group(key, float(total), float(number), mechanisms=mechanisms, of=of)
            for key, total, number in zip(keys, sums, counts, strict=True)
        )

    def _group(
        self,
        key: tuple[str, ...],
        total: float,
        number: float,
        *,
        mechanisms: Mapping[str, Mechanism],
        of: Domain,
    ) -> Estimate:
        middle, half = centre(of)
        in_sum, in_count = additive(mechanisms["sum"]), additive(mechanisms["count"])
        ratio = max(-half, min(half, total / number)) if number >= 1 else 0.0
        parts = [noise_component(in_sum), noise_component(in_count, factor=ratio)]
        squared = quantile(parts, level=float(self.level)) ** 2
        interval = ratio_interval(
            total,
            number,
            coefficients=(squared * in_sum.variance(), 0.0, squared * in_count.variance()),
        )
        low, high = interval if interval is not None and number > 0 else (-half, half)
        small = number < 10 * math.sqrt(in_count.variance())
        usable = number >= 1 and interval is not None
        return Estimate(
            statistic=self.id,
            quantity="mean",
            key=key,
            value=_physical(of, middle + ratio) if usable else None,
            standard_error=float(of.scale) * math.sqrt(variance(parts)) / number
            if usable
            else None,
            lower=_physical(of, middle + max(-half, low)),
            upper=_physical(of, middle + min(half, high)),
            level=float(self.level),
            covers=Covers.NOISE,
            unit=of.unit,
            flags=("denominator too small",) if small else (),
        )


def _physical(of: Domain, canonical: float) -> float:
    return float(of.scale) * min(max(canonical, of.lower), of.upper)
