"""Count of patients or events.

*Lemma:* the exact vector has one cell.  Counting patients, one patient moves it by at most 1 under
add-remove and under substitution; counting events with at most m kept rows, by at most m.

*Privacy:* Δ₁ = Δ₂ = 1 (patients) or m (events).
*Utility:* unbiased; the interval is the exact quantile of the discrete noise; the posterior mean
uses a flat prior on 0, 1, 2, … and is never negative.

References:
    [GRS12] Ghosh, Roughgarden, Sundararajan. Universally utility-maximizing privacy mechanisms.
        SIAM J. Comput. 41(6), 2012. https://doi.org/10.1137/09076828X
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.contribution import Counted, PerPatient, contribution_bounds
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.mechanisms import additive, coordinate
from confide.plans.plan import Mechanism, Noisy, Question
from confide.plans.simulation import Simulation
from confide.tables.aggregate import Aggregate, Ones, cell_count, value_range
from confide.tables.bound_contributions import sensitivity
from confide.tables.filter import Everything, Predicate
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many patients, or events, satisfy a condition.

    Attributes:
        id: Unique within the study.
        table: Whose rows.
        where: Which rows.
        counted: Patients or events.
        per_patient: Bounds, where the schema gives none.
        level: Coverage of the interval.
        expect: Public planning value, for relative errors.
        title: Headline in the report.
    """

    id: str
    table: str
    where: Predicate = field(default_factory=Everything)
    counted: Counted = Counted.PATIENTS
    per_patient: PerPatient = field(default_factory=PerPatient)
    level: Fraction = Fraction(95, 100)
    expect: Fraction | None = None
    title: str = ""

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one count."""
        bounds = contribution_bounds(
            self.per_patient, table=self.table, axes=(), counted=self.counted, dataset=dataset
        )
        values = value_range(Ones(), dataset=dataset, counted=self.counted.unit)
        return (
            Question(
                name="count",
                aggregate=Aggregate(
                    relation=Relation(table=self.table, where=self.where),
                    axes=(),
                    value=Ones(),
                    bounds=bounds,
                ),
                sensitivity=sensitivity(
                    bounds,
                    values=values,
                    cells=cell_count((), dataset=dataset),
                    entity=dataset.unit.entity,
                    adjacency=dataset.adjacency,
                ),
            ),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's quantiles; nothing else errs."""
        del dataset
        noise = additive(mechanisms["count"])
        return Forecast(
            half_width=noise.half_width(float(level)),
            median_error=noise.half_width(0.5),
            level=float(level),
            unit=self.counted.unit,
            planning=None if self.expect is None else float(self.expect),
        )

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the noisy count and its posterior mean."""
        del dataset, simulation
        noise = additive(mechanisms["count"])
        raw = coordinate(noisy["count"], 0)
        width = noise.half_width(float(self.level))

        def published(quantity: str, value: float) -> Estimate:
            return Estimate(
                statistic=self.id,
                quantity=quantity,
                key=(),
                value=value,
                standard_error=math.sqrt(noise.variance()),
                lower=float(max(0, raw - width)),
                upper=float(max(0, raw + width)),
                level=float(self.level),
                covers=Covers.NOISE,
                unit=self.counted.unit,
            )

        return (
            published("count", float(raw)),
            published("posterior mean", _posterior_mean(raw, noise=noise)),
        )


def _posterior_mean(raw: int, *, noise: DiscreteLaplace | DiscreteGaussian) -> float:
    """Return E[c | raw] for a flat prior on c = 0, 1, 2, …, on a grid of at most 40,000 points."""
    width = noise.half_width(1 - 1e-9)
    if raw > width:
        return float(raw)
    grid = range(0, max(raw, 0) + width + 1, max(1, width // 10_000))
    weights = [(count, noise.pmf(raw - count)) for count in grid]
    total = sum(weight for _, weight in weights)
    return sum(count * weight for count, weight in weights) / total if total > 0 else 0.0
