"""Variance and standard deviation of a clipped number, with its mean, optionally by group.

*Lemma:* with h = ⌈(U−L)/2⌉ and m kept rows, Σ(x−c) moves by at most h·m, Σ(x−c)² by h²·m and the
count by m.  Three measurements of the same kept rows; losses add.

*Privacy:* as for the mean; squares are integers on the squared grid.
*Utility:* V = Q/N − (S/N)², post-processed to ≥ 0; its interval is the delta method's,
dV = (dQ − 2μ·dS + (2μ² − q)·dN)/N.  With V at hand the mean also gets an interval for the
population (sampling and noise), V/N by the central limit theorem.

References:
    [DR14] Dwork, Roth. The algorithmic foundations of differential privacy. 2014, sec. 3.3.
        https://doi.org/10.1561/0400000042
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.plans.contribution import Counted, PerPatient, contribution_bounds
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.intervals import Component, noise_component, quantile, variance
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Mechanism, Noisy, Question
from confide.plans.simulation import Simulation
from confide.tables.aggregate import (
    Aggregate,
    Centred,
    CentredSquare,
    Ones,
    cell_count,
    cell_keys,
    value_range,
)
from confide.tables.bound_contributions import sensitivity
from confide.tables.expression import Expression
from confide.tables.filter import All, Between, Everything, Predicate
from confide.tables.relation import Relation, centre, domain, resolve
from confide.tables.schema import Dataset, Domain

_TYPICAL = 1 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """Mean and standard deviation of a column, clipped to its declared bounds.

    Attributes:
        id: Unique within the study.
        table: Whose rows.
        column: What is described.
        by: Groups; none gives one set of numbers.
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
        """Return the centred sums, centred squares and counts of the same rows."""
        axes, column = self._axes(dataset), self._column(dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        relation = Relation(table=self.table, where=All(of=(self.where, Between(of=column))))
        wanted = (
            ("sum", Centred(of=column), 2),
            ("square", CentredSquare(of=column), 2),
            ("count", Ones(), 1),
        )
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
            for name, value, weight in wanted
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of one group's SD, if the SD is a third of the half width.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of variance {self.id!r} depends on the number of rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        of = self._domain(dataset)
        _, half = centre(of)
        spread = half * _TYPICAL
        parts = _parts(mechanisms, number=float(self.expect), mean=0.0, square=spread**2)
        deviation = float(of.scale) * math.sqrt(variance(parts)) / (2 * spread)
        return Forecast(
            half_width=quantile(parts, level=float(level)) * deviation,
            median_error=0.6745 * deviation,
            level=float(level),
            unit=of.unit,
            planning=float(of.scale) * spread,
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
        """Return mean and SD of each group, in physical units."""
        del simulation
        keys = cell_keys(self._axes(dataset), dataset=dataset)
        of = self._domain(dataset)
        columns = (vector(noisy[name]) for name in ("sum", "square", "count"))
        return tuple(
            estimate
            for key, total, square, number in zip(keys, *columns, strict=True)
            for estimate in self._group(
                key,
                (float(total), float(square), float(number)),
                mechanisms=mechanisms,
                of=of,
            )
        )

    def _group(
        self,
        key: tuple[str, ...],
        moments: tuple[float, float, float],
        *,
        mechanisms: Mapping[str, Mechanism],
        of: Domain,
    ) -> tuple[Estimate, Estimate]:
        total, square, number = moments
        middle, half = centre(of)
        scale = float(of.scale)
        small = number < 10 * math.sqrt(additive(mechanisms["count"]).variance())
        usable = number >= 1
        n = max(number, 1.0)
        mean = max(-half, min(half, total / n))
        second = max(0.0, min(float(half**2), square / n))
        spread = max(0.0, second - mean**2)
        mean_parts = [
            noise_component(additive(mechanisms["sum"]), factor=1 / n),
            noise_component(additive(mechanisms["count"]), factor=mean / n),
            Component(variance=spread / n),
        ]
        mean_width = quantile(mean_parts, level=float(self.level)) * math.sqrt(variance(mean_parts))
        parts = _parts(mechanisms, number=n, mean=mean, square=second)
        width = quantile(parts, level=float(self.level)) * math.sqrt(variance(parts))
        deviation = math.sqrt(spread)
        flags = ("denominator too small",) if small else ()

        def published(
            quantity: str, value: float, error: float, ends: tuple[float, float], covers: Covers
        ) -> Estimate:
            return Estimate(
                statistic=self.id,
                quantity=quantity,
                key=key,
                value=value if usable else None,
                standard_error=error if usable else None,
                lower=ends[0],
                upper=ends[1],
                level=float(self.level),
                covers=covers,
                unit=of.unit,
                flags=flags,
            )

        def inside(canonical: float) -> float:
            return scale * min(max(canonical, of.lower), of.upper)

        return (
            published(
                "mean",
                inside(middle + mean),
                scale * math.sqrt(variance(mean_parts)),
                (inside(middle + mean - mean_width), inside(middle + mean + mean_width)),
                Covers.SAMPLING_AND_NOISE,
            ),
            published(
                "sd",
                scale * deviation,
                scale * math.sqrt(variance(parts)) / (2 * deviation) if deviation > 0 else 0.0,
                (
                    scale * math.sqrt(max(0.0, spread - width)),
                    scale * math.sqrt(max(0.0, min(spread + width, float(half**2)))),
                ),
                Covers.NOISE,
            ),
        )


def _parts(
    mechanisms: Mapping[str, Mechanism], *, number: float, mean: float, square: float
) -> list[Component]:
    factors = {"square": 1.0, "sum": -2 * mean, "count": 2 * mean**2 - square}
    return [
        noise_component(additive(mechanisms[name]), factor=factor / number)
        for name, factor in factors.items()
    ]
