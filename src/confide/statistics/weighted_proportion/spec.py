"""Weighted proportion: the share of a population that a survey's weights stand for, by group.

*Lemma:* cells are group × {without, with}.  A row of weight w in [0, W] adds, to one of them,
((W−w)², 2(W−w)w, w²), three numbers ≥ 0 that add up to W²: with m rows a patient Δ₁ = Δ₂ = m·W²
under add-remove; see ``tables/aggregates/aggregate.py``.

*Privacy:* weights are clipped to a public bound; a row of the largest weight moves the share most.
*Utility:* p = Σw(with)/Σw.  The noise of Σw is that of a measurement of it alone times √(5/4), and
Σw² comes with it, which gives the effective sample size (Σw)²/Σw² and the sampling error.  Both
intervals are Wilson's, inverted as for the plain proportion: with the noise alone, and with the
variance of the linearised share.  Strata and clusters of the design are not used.

References:
    [Kis65] Kish. Survey sampling. Wiley, 1965, sec. 11.7.
    [KG98] Korn, Graubard. Confidence intervals for proportions with small expected number of
        positive counts estimated from survey data. Survey Methodology 24(2), 1998.
    [Wil27] Wilson. Probable inference, the law of succession, and statistical inference. JASA 1927.
        https://doi.org/10.1080/01621459.1927.10502953
    [Lor53] Lorentz. Bernstein polynomials. University of Toronto Press, 1953, sec. 1.1.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import (
    Share,
    median_error,
    noise_component,
    quantile,
    share,
    variance,
)
from confide.plans.estimation.weighted_sums import (
    WeightSums,
    drowned,
    effective_size,
    spread_of_share,
    weight_sums,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.conditions.known import rows_told
from confide.tables.expression import Holds
from confide.tables.filter import Predicate
from confide.tables.relation import axes_of
from confide.tables.schema import Dataset, Domain
from confide.tables.survey_weight import require_weight, weight_domain


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedProportion(Statistic):
    """Share of the weights of rows that satisfy ``of``.

    Attributes:
        of: The condition whose share is wanted.
        by: Groups; none gives one number.
        per: The share is shown per this many.
        per_patient: Bounds, where the schema gives none.
        expect_share: Public planning value of the share, as a number from 0 to 1.
        expect_weight: Public planning value of the mean weight; needed to forecast the error.
    """

    of: Predicate
    by: tuple[str, ...] = ()
    per: int = 1
    per_patient: PerPatient = field(default_factory=PerPatient)
    expect_share: Fraction | None = None
    expect_weight: Fraction | None = None

    def __post_init__(self) -> None:
        if self.per < 1:
            raise ContractError(f"Proportion {self.id!r}: expected per ≥ 1, got {self.per}.")

    def _weights(self, dataset: Dataset) -> Domain:
        return weight_domain(require_weight(self.table, dataset=dataset), dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the moments of the weights, without and with, group by group."""
        weight = require_weight(self.table, dataset=dataset)
        axes = (*axes_of(self.by, table=self.table, dataset=dataset), Holds(of=self.of))
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        moments = MomentAggregate(
            relation=rows_told(self.table, where=self.where, of=self.of, dataset=dataset),
            axes=axes,
            of=weight,
            degree=2,
            bounds=bounds,
        )
        return (question("weights", moments, dataset=dataset),)

    def _unit(self) -> str:
        return "1" if self.per == 1 else f"per {self.per}"

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of one group's share, for ``expect`` rows a group.

        Raises:
            ContractError: If there is no planning number of rows and of their mean weight.
        """
        if self.expect is None or self.expect_weight is None:
            raise ContractError(
                f"The error of {self.id!r} depends on the rows of a group and their mean weight.",
                hint="Write expect: {count: 500, weight: 1.2}, from a public source.",
            )
        of = self._weights(dataset)
        noise = noise_component(additive(mechanisms["weights"]))
        one = weight_sums((0, 0, 0), reach=of.upper, noise=noise).total_noise
        p = 0.0 if self.expect_share is None else float(self.expect_share)
        parts = [one.times(1 - p), one.times(p)]
        each = self.per / float(self.expect * self.expect_weight / of.scale)
        return Forecast(
            half_width=each * quantile(parts, level=float(level)) * math.sqrt(variance(parts)),
            median_error=each * median_error(parts),
            level=float(level),
            unit=self._unit(),
            planning=None if self.expect_share is None else self.per * p,
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
        """Return the weighted share of each group, twice, and its effective sample size."""
        del simulation
        moments, reach = vector(noisy["weights"]), self._weights(dataset).upper
        noise = noise_component(additive(mechanisms["weights"]))
        shares: list[Estimate] = []
        sizes: list[Estimate] = []
        for i, key in enumerate(
            cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        ):
            without, having = (
                weight_sums(moments[at : at + 3], reach=reach, noise=noise)
                for at in (6 * i, 6 * i + 3)
            )
            shares += self._shares(key, having, without)
            sizes.append(self._size(key, having.plus(without)))
        return (*shares, *sizes)

    def _shares(
        self, key: tuple[str, ...], having: WeightSums, without: WeightSums
    ) -> tuple[Estimate, Estimate]:
        total, noise = having.total + without.total, having.total_noise
        small = total < 10 * math.sqrt(2 * noise.variance)
        spread = spread_of_share(having, without)
        return (
            self._published(key, self._share(having, without, spread=0.0), Covers.NOISE, small),
            self._published(
                key,
                self._share(having, without, spread=spread),
                Covers.SAMPLING_AND_NOISE,
                small,
            ),
        )

    def _share(self, having: WeightSums, without: WeightSums, *, spread: float) -> Share:
        return share(
            having.total,
            without.total,
            noise=having.total_noise,
            spread=spread,
            least=1,
            level=float(self.level),
        )

    def _published(
        self, key: tuple[str, ...], found: Share, covers: Covers, small: bool
    ) -> Estimate:
        error = found.standard_error
        return Estimate(
            statistic=self.id,
            quantity="weighted share",
            key=key,
            value=None if found.value is None else self.per * found.value,
            standard_error=None if error is None else self.per * error,
            lower=self.per * found.lower,
            upper=self.per * found.upper,
            level=float(self.level),
            covers=covers,
            unit=self._unit(),
            flags=("denominator too small",) if small or found.value is None else (),
        )

    def _size(self, key: tuple[str, ...], whole: WeightSums) -> Estimate:
        found = effective_size(whole, level=float(self.level))
        small = drowned(whole)
        return Estimate(
            statistic=self.id,
            quantity="effective sample size",
            key=key,
            value=found.value,
            standard_error=found.standard_error,
            lower=found.lower,
            upper=found.upper,
            level=float(self.level),
            covers=Covers.NOISE,
            unit="1",
            flags=("denominator too small",) if small or found.value is None else (),
        )
