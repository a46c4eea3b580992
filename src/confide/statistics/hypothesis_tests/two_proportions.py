"""Two proportions compared: difference, ratio, odds ratio, and the test that they are equal.

*Lemma:* cells are group × {without, with}, and one row of a patient is counted, so one measurement
has Δ₁ = Δ₂² = 1 under add-remove, 2 and 2 under substitution.  Numerator and denominator of both
shares come from it; released apart they would need four measurements.

*Utility:* the test is that of independence of the 2 × 2 table with the noise in its covariance and
its law (:mod:`.null_law`); with the noise off z² is Pearson's X².  Intervals combine those of the
two shares, which hold sampling and noise (:mod:`.effects`).

References:
    [New98] Newcombe. Interval estimation for the difference between independent proportions.
        Statistics in Medicine 17, 1998.
    [KR17] Kifer, Rogers. A new class of private chi-square hypothesis tests. AISTATS 2017.
        https://arxiv.org/abs/1610.07662
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import (
    Component,
    Share,
    median_error,
    noise_component,
    quantile,
    share,
    variance,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.two_groups import categories, two_groups
from confide.statistics.hypothesis_tests.contingency import independence
from confide.statistics.hypothesis_tests.effects import Effect, effects
from confide.statistics.hypothesis_tests.null_law import mixing, tail
from confide.statistics.hypothesis_tests.published import TOO_FEW, number, solid
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.conditions.known import rows_told
from confide.tables.expression import Expression, Holds
from confide.tables.filter import Predicate
from confide.tables.relation import resolve
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoProportionsTest(Statistic):
    """Does a condition hold equally often in two groups?

    Attributes:
        of: The condition.
        by: The one category that makes the groups.
        groups: The reference, and what is compared with it; needed if there are more than two.
        per_patient: ``rows=1`` where a patient may have several.
        expect_share: Public planning value of the shares.
    """

    of: Predicate
    by: tuple[str, ...]
    groups: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)
    expect_share: Fraction | None = None

    def __post_init__(self) -> None:
        if len(self.by) != 1:
            raise ContractError(
                f"Two-proportions test {self.id!r} compares groups of one category.",
                hint="Write by: [sex].",
            )

    def _axis(self, dataset: Dataset) -> Expression:
        return resolve(self.by[0], table=self.table, dataset=dataset)

    def _groups(self, dataset: Dataset) -> tuple[tuple[int, str], tuple[int, str]]:
        keys = categories(self._axis(dataset), name=self.by[0], dataset=dataset)
        return two_groups(self.groups, keys=keys, name=self.by[0])

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one table of counts without and with, group by group."""
        self._groups(dataset)
        axes = (self._axis(dataset), Holds(of=self.of))
        aggregate = Aggregate(
            relation=rows_told(self.table, where=self.where, of=self.of, dataset=dataset),
            axes=axes,
            value=Ones(),
            bounds=one_row_each(self.per_patient, table=self.table, axes=axes, dataset=dataset),
        )
        return (question("count", aggregate, dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the difference, for ``expect`` rows a group.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        del dataset
        if self.expect is None:
            raise ContractError(
                f"The error of two-proportions test {self.id!r} depends on the rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        rows = float(self.expect)
        p = 0.5 if self.expect_share is None else float(self.expect_share)
        noise = noise_component(additive(mechanisms["count"]))
        parts = [noise.times(factor) for factor in (1 - p, p, 1 - p, p)]
        both = [*parts, Component(variance=2 * rows * p * (1 - p))]
        found = (quantile((), level=0.95) + quantile((), level=0.6)) * math.sqrt(variance(both))
        return Forecast(
            half_width=quantile(parts, level=float(level)) * math.sqrt(variance(parts)) / rows,
            median_error=median_error(parts) / rows,
            level=float(level),
            unit="1",
            notes=(
                f"for groups of {self.expect} rows",
                f"a difference of {found / rows:.3f} is found significant in 8 of 10 studies",
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
        """Return both shares, their difference, ratio and odds ratio, and p."""
        counts = np.array(vector(noisy["count"]), dtype=np.float64).reshape(-1, 2)
        groups = self._groups(dataset)
        table = counts[[place for place, _ in groups]]
        mechanism = additive(mechanisms["count"])
        noise = noise_component(mechanism)
        found = independence(table, noise_variance=noise.variance)
        few = not solid(float(found.least_expected), noise_variance=noise.variance)
        p = tail(
            found.statistic,
            loadings=found.loadings,
            noise_variance=noise.variance,
            mixed=mixing(mechanism, degrees=1, numbers=4, simulation=simulation, purpose=self.id),
        )
        level = float(self.level)
        shares = [
            share(
                float(having),
                float(without),
                noise=noise,
                spread=max(float(having + without), 0.0),
                least=1,
                level=level,
            )
            for without, having in table
        ]
        pair = f"{groups[1][1]} vs {groups[0][1]}"
        return (
            *(self._share(name, s, few=few) for (_, name), s in zip(groups, shares, strict=True)),
            *(self._effect(pair, e, few=few) for e in effects(shares[1], of=shares[0])),
            number(self.id, "p-value", (pair,), None if few else float(p), level=level, few=few),
        )

    def _share(self, name: str, found: Share, *, few: bool) -> Estimate:
        return Estimate(
            statistic=self.id,
            quantity="share",
            key=(name,),
            value=found.value,
            standard_error=found.standard_error,
            lower=found.lower,
            upper=found.upper,
            level=float(self.level),
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=(TOO_FEW,) if few else (),
        )

    def _effect(self, pair: str, found: Effect, *, few: bool) -> Estimate:
        open_ended = found.value is None or found.lower is None
        return Estimate(
            statistic=self.id,
            quantity=found.quantity,
            key=(pair,),
            value=found.value,
            standard_error=None,
            lower=found.lower,
            upper=found.upper,
            level=float(self.level),
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=(TOO_FEW,) if few or open_ended else (),
        )
