"""Two means compared: Welch's test, and the difference with its interval.

*Lemma:* with R = U − L the vector (Σ(U−x)², 2Σ(U−x)(x−L), Σ(x−L)²) of a group moves by at most
Δ₁ = Δ₂ = R² under add-remove, whatever the values, because a row adds numbers ≥ 0 with sum R²; by
2R² and √2·R² under substitution.  Groups are disjoint, so both are one measurement.

*Utility:* number, mean and variance of a group are ratios of its vector.  The difference of the
means has the sampling variance V₁/(n₁−1) + V₂/(n₂−1), and the noise's by the delta method; its law
is Student's with Welch's degrees of freedom, mixed over the noise (:mod:`.null_law`); with the
noise off it is Welch's test.  A group whose noisy number is below ten standard deviations of its
noise withholds p.

References:
    [Wel47] Welch. The generalization of "Student's" problem when several different population
        variances are involved. Biometrika 34, 1947. https://doi.org/10.2307/2332510
    [Lor53] Lorentz. Bernstein polynomials. University of Toronto Press, 1953, sec. 1.1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import PerPatient, one_row_each, question
from confide.plans.estimates import Covers, Estimate, Forecast, at_bound
from confide.plans.estimation.intervals import median_error, noise_component, quantile, variance
from confide.plans.estimation.student import student_width
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.plans.two_groups import categories, two_groups
from confide.statistics.hypothesis_tests.null_law import mixing
from confide.statistics.hypothesis_tests.published import TOO_FEW, number
from confide.statistics.hypothesis_tests.welch import Compared, compared, p_value
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.expression import Expression
from confide.tables.relation import Relation, domain, resolve
from confide.tables.schema import Dataset, Domain

_TYPICAL = 1 / 6
"""Assumed SD as a share of U − L; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoMeansTest(Statistic):
    """Is a clipped number equally large in two groups, on average?

    Attributes:
        column: What is compared.
        by: The one category that makes the groups.
        groups: The reference, and what is compared with it; needed if there are more than two.
        per_patient: ``rows=1`` where a patient may have several.
    """

    column: str
    by: tuple[str, ...]
    groups: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)

    def __post_init__(self) -> None:
        if len(self.by) != 1:
            raise ContractError(
                f"Two-means test {self.id!r} compares groups of one category.",
                hint="Write by: [sex].",
            )

    def _axis(self, dataset: Dataset) -> Expression:
        return resolve(self.by[0], table=self.table, dataset=dataset)

    def _column(self, dataset: Dataset) -> Expression:
        return resolve(self.column, table=self.table, dataset=dataset)

    def _domain(self, dataset: Dataset) -> Domain:
        return domain(self._column(dataset), dataset=dataset)

    def _groups(self, dataset: Dataset) -> tuple[tuple[int, str], tuple[int, str]]:
        keys = categories(self._axis(dataset), name=self.by[0], dataset=dataset)
        return two_groups(self.groups, keys=keys, name=self.by[0])

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one vector of moments, group by group."""
        self._groups(dataset)
        axes = (self._axis(dataset),)
        aggregate = MomentAggregate(
            relation=Relation(table=self.table, where=self.where),
            axes=axes,
            of=self._column(dataset),
            degree=2,
            bounds=one_row_each(self.per_patient, table=self.table, axes=axes, dataset=dataset),
        )
        return (question("moments", aggregate, dataset=dataset),)

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of the difference, for ``expect`` rows a group.

        Raises:
            ContractError: If there is no planning number of rows.
        """
        if self.expect is None:
            raise ContractError(
                f"The error of two-means test {self.id!r} depends on the rows of a group.",
                hint="Write expect: {count: 500}, from a public source or an earlier certificate.",
            )
        of = self._domain(dataset)
        reach, rows = of.upper - of.lower, float(self.expect)
        noise = noise_component(additive(mechanisms["moments"]), factor=1 / (rows * reach**2))
        parts = [noise.times(factor) for factor in (0.5, -0.5, 0.5, -0.5)]  # means in the middle
        physical = float(of.scale) * reach
        both = variance(parts) + 2 * _TYPICAL**2 / rows
        found = (quantile((), level=0.95) + quantile((), level=0.6)) * math.sqrt(both) * physical
        return Forecast(
            half_width=physical * quantile(parts, level=float(level)) * math.sqrt(variance(parts)),
            median_error=physical * median_error(parts),
            level=float(level),
            unit=of.unit,
            notes=(
                f"for groups of {self.expect} rows",
                f"a difference of {found:.3g} is found significant in 8 of 10 studies",
                "if the standard deviation is a sixth of the range",
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
        """Return both means, their difference, t, its degrees of freedom and p."""
        of, groups = self._domain(dataset), self._groups(dataset)
        moments = np.array(vector(noisy["moments"]), dtype=np.float64).reshape(-1, 3)
        mechanism = additive(mechanisms["moments"])
        noise = noise_component(mechanism)
        reach = of.upper - of.lower
        found = compared(
            moments[[place for place, _ in groups]] / reach**2,
            noise=noise.times(1 / reach**2),
            level=float(self.level),
        )
        mixed = mixing(mechanism, degrees=1, numbers=6, simulation=simulation, purpose=self.id)
        return self._published(found, p=p_value(found, mixed=mixed), of=of, groups=groups)

    def _published(
        self,
        found: Compared,
        *,
        p: float,
        of: Domain,
        groups: tuple[tuple[int, str], tuple[int, str]],
    ) -> tuple[Estimate, ...]:
        reach, level = float(of.upper - of.lower), float(self.level)
        few, pair = found.few, (f"{groups[1][1]} vs {groups[0][1]}",)

        def estimate(
            quantity: str,
            key: tuple[str, ...],
            place: float,
            *,
            error: float,
            width: float,
            at: int,
        ) -> Estimate:
            scale = float(of.scale)
            middle = scale * (at + reach * place)
            return Estimate(
                statistic=self.id,
                quantity=quantity,
                key=key,
                value=None if few else middle,
                standard_error=None if few else scale * reach * error,
                lower=None if few else middle - scale * reach * width,
                upper=None if few else middle + scale * reach * width,
                level=level,
                covers=Covers.SAMPLING_AND_NOISE,
                unit=of.unit,
                flags=(TOO_FEW,) if few else at_bound(place) if quantity == "mean" else (),
            )

        means = (
            estimate("mean", (name,), group.mean, error=group.error, width=group.width, at=of.lower)
            for (_, name), group in zip(groups, found.groups, strict=True)
        )
        width = student_width(found.parts, degrees=found.degrees, level=level)
        return (
            *means,
            estimate("difference", pair, found.difference, error=found.error, width=width, at=0),
            number(self.id, "t", pair, None if few else found.t, level=level, few=few),
            number(
                self.id,
                "degrees of freedom",
                pair,
                None if few else found.degrees,
                level=level,
                few=few,
            ),
            number(self.id, "p-value", pair, None if few else p, level=level, few=few),
        )
