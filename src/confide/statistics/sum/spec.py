"""Sum of a clipped number over patients or events, optionally by group.

*Lemma:* a row adds its canonical value v with |v| ≤ M = max(|L|, |U|), so a patient with at most m
rows moves the vector by Δ₁ = m·M and Δ₂ = m·M under add-remove, and one with k cells of r rows by
Δ₁ = k·r·M, Δ₂² = k·(r·M)²; see ``tables/bound_contributions.py``.

*Privacy:* values are clipped to declared bounds on an integer grid before they are summed.
*Utility:* the noisy sum is unbiased for the sum of the clipped, kept values (it is cut at 0 where
no value has the other sign); clipping and contribution bounds bias that sum itself, by an amount
that is private.  The interval is the exact quantile of the discrete noise.

References:
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.value import Plain
from confide.tables.expression import Expression
from confide.tables.filter import All, Between
from confide.tables.relation import Relation, axes_of, domain, resolve
from confide.tables.schema import Dataset, Domain


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum(Statistic):
    """Sum of a column, clipped to its declared bounds.

    Attributes:
        column: What is summed.
        by: Groups; none gives one number.
        per_patient: Bounds, where the schema gives none.
    """

    column: str
    by: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def _column(self, dataset: Dataset) -> Expression:
        return resolve(self.column, table=self.table, dataset=dataset)

    def _domain(self, dataset: Dataset) -> Domain:
        return domain(self._column(dataset), dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector of sums."""
        axes, column = axes_of(self.by, table=self.table, dataset=dataset), self._column(dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        known = All(of=(self.where, Between(of=column)))
        return (
            question(
                "sum",
                Aggregate(
                    relation=Relation(table=self.table, where=known),
                    axes=axes,
                    value=Plain(of=column),
                    bounds=bounds,
                ),
                dataset=dataset,
            ),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's quantiles in physical units."""
        noise, of = additive(mechanisms["sum"]), self._domain(dataset)
        return Forecast(
            half_width=of.physical(noise.half_width(float(level))),
            median_error=of.physical(noise.half_width(0.5)),
            level=float(level),
            unit=of.unit,
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
        """Return one sum a group, in physical units."""
        del simulation
        noise, of = additive(mechanisms["sum"]), self._domain(dataset)
        width = noise.half_width(float(self.level))
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        least, most = min(of.lower, 0), max(of.upper, 0)

        def possible(canonical: int) -> int:
            """Cut what no sum of such values can be: a negative sum of ages."""
            low = canonical if least < 0 else max(canonical, 0)
            return low if most > 0 else min(low, 0)

        def published(key: tuple[str, ...], raw: int) -> Estimate:
            """Return a sum; where noise led beyond what is possible, its interval is no point."""
            value = possible(raw)
            return Estimate(
                statistic=self.id,
                quantity="sum",
                key=key,
                value=of.physical(value),
                standard_error=float(of.scale) * math.sqrt(noise.variance()),
                lower=of.physical(possible(min(raw, value) - width)),
                upper=of.physical(possible(max(raw, value) + width)),
                level=float(self.level),
                covers=Covers.NOISE,
                unit=of.unit,
            )

        answers = vector(noisy["sum"])
        return tuple(published(key, raw) for key, raw in zip(keys, answers, strict=True))
