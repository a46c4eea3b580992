"""Proportion, prevalence or rate: the share of rows that satisfy a condition, by group.

*Lemma:* cells are group × {without, with}, and with one row a patient each falls into one: Δ₁ =
Δ₂² = 1 under add-remove, 2 and 2 under substitution.

*Privacy:* disjoint cells share one charge; numerator and denominator apart would need two.
*Utility:* p = A/(A+B) has noise variance s²((1−p)² + p²)/n², 2–3 times less in sd than from a noisy
numerator and a noisy denominator.  Intervals invert the quadratic in p: for the patients at hand
(noise only), and for their population, which adds p(1−p)/n (a Wilson interval widened by the
noise).

References:
    [Wil27] Wilson. Probable inference, the law of succession, and statistical inference. JASA 1927.
        https://doi.org/10.1080/01621459.1927.10502953
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import (
    Component,
    median_error,
    noise_component,
    quantile,
    share,
    variance,
)
from confide.plans.estimation.sums import NoisySum
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.value import Ones
from confide.tables.conditions.known import rows_told
from confide.tables.expression import Expression, Holds
from confide.tables.filter import Predicate
from confide.tables.relation import axes_of
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportion(Statistic):
    """Share of rows (patients, where a patient has one row) that satisfy ``of``.

    Attributes:
        of: The condition whose share is wanted.
        by: Groups; none gives one number.
        per: The share is shown per this many: 1, 100, 1000, 100000.
        per_patient: Bounds, where the schema gives none.
        expect_share: Public planning value of the share itself, for relative errors.
    """

    of: Predicate
    by: tuple[str, ...] = ()
    per: int = 1
    per_patient: PerPatient = field(default_factory=PerPatient)
    expect_share: Fraction | None = None

    def __post_init__(self) -> None:
        if self.per < 1:
            raise ContractError(f"Proportion {self.id!r}: expected per ≥ 1, got {self.per}.")

    def _axes(self, dataset: Dataset) -> tuple[Expression, ...]:
        return (*axes_of(self.by, table=self.table, dataset=dataset), Holds(of=self.of))

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector of counts without and with, group by group."""
        axes = self._axes(dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        return (
            question(
                "count",
                Aggregate(
                    relation=rows_told(self.table, where=self.where, of=self.of, dataset=dataset),
                    axes=axes,
                    value=Ones(),
                    bounds=bounds,
                ),
                dataset=dataset,
            ),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of one group's share, for ``expect`` rows a group.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        del dataset
        error = noise_component(additive(mechanisms["count"]))
        return self._forecast((error, error), level=float(level))

    def _forecast(self, errors: tuple[Component, Component], *, level: float) -> Forecast:
        """Return the error of a group's share from those of its counts with and without."""
        if self.expect is None:
            raise ContractError(
                f"The error of proportion {self.id!r} depends on the number of rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        p = 0.0 if self.expect_share is None else float(self.expect_share)
        parts = [errors[0].times(1 - p), errors[1].times(p)]
        each = self.per / float(self.expect)
        return Forecast(
            half_width=each * quantile(parts, level=level) * math.sqrt(variance(parts)),
            median_error=each * median_error(parts),
            level=level,
            unit=self._unit(),
            planning=None if self.expect_share is None else self.per * p,
            notes=(f"for groups of {self.expect} rows",),
        )

    def _unit(self) -> str:
        return "1" if self.per == 1 else f"per {self.per}"

    def estimate(
        self,
        noisy: Mapping[str, Noisy],
        *,
        mechanisms: Mapping[str, Mechanism],
        dataset: Dataset,
        simulation: Simulation,
    ) -> tuple[Estimate, ...]:
        """Return the share of each group with two intervals: noise, and sampling and noise."""
        del simulation
        counts, error = vector(noisy["count"]), noise_component(additive(mechanisms["count"]))
        return tuple(
            estimate
            for key, without, having in zip(
                cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset),
                counts[::2],
                counts[1::2],
                strict=True,
            )
            for estimate in self._group(
                key,
                NoisySum(value=having, error=error),
                NoisySum(value=without, error=error),
            )
        )

    def forecast_sums(
        self, errors: Sequence[Component], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of the group whose two counts are sums of most published cells.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        del dataset
        pairs = zip(errors[1::2], errors[::2], strict=True)
        return max(
            (self._forecast(pair, level=float(level)) for pair in pairs),
            key=lambda found: found.half_width,
        )

    def estimate_sums(self, sums: Sequence[NoisySum], *, dataset: Dataset) -> tuple[Estimate, ...]:
        """Return the share of each group from sums of published cells."""
        keys = cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        return tuple(
            estimate
            for key, without, having in zip(keys, sums[::2], sums[1::2], strict=True)
            for estimate in self._group(key, having, without)
        )

    def _group(
        self, key: tuple[str, ...], having: NoisySum, without: NoisySum
    ) -> tuple[Estimate, Estimate]:
        number = having.value + without.value
        small = number < 10 * math.sqrt(variance([having.error, without.error]))

        def published(covers: Covers, *, spread: float) -> Estimate:
            found = share(
                having.value,
                without.value,
                noise=having.error,
                other=without.error,
                spread=spread,
                least=1,
                level=float(self.level),
            )
            return Estimate(
                statistic=self.id,
                quantity="share",
                key=key,
                value=None if found.value is None else self.per * found.value,
                standard_error=(
                    None if found.standard_error is None else self.per * found.standard_error
                ),
                lower=self.per * found.lower,
                upper=self.per * found.upper,
                level=float(self.level),
                covers=covers,
                unit=self._unit(),
                flags=("denominator too small",) if small or found.value is None else (),
            )

        return (
            published(Covers.NOISE, spread=0.0),
            published(Covers.SAMPLING_AND_NOISE, spread=max(number, 0.0)),
        )
