"""Weighted mean of a clipped number: that of the population that a survey's weights stand for.

*Lemma:* with weights in [0, W], values in [L, U], c and h as for the mean and m kept rows of a
patient, Σw(x−c) moves by at most W·h·m under add-remove, since |w(x−c)| ≤ W·h, and Σw(x−c)² by
W·h²·m.  Of the same rows, the moments ((W−w)², 2(W−w)w, w²) add up to W² a row and move by W²·m.
Losses add.

*Privacy:* weights and values are clipped to public bounds before they are multiplied.
*Utility:* the mean is c + Σw(x−c)/Σw; the moments also give the effective sample size n′.  A tenth
of the budget goes to the squares, the rest is split where the variance is least for a mean a third
of the way from the centre to a bound.  Two intervals, both Fieller's: for the noise alone, and for
the population too, with the sampling variance s²·Σw² of the numerator, s² the weighted variance of
x (raised where noise makes it uncertain) [Kis65], and Student's correction for n′.  It holds where
the squared distance from the mean does not go with the weight; else Σw²(x−m)² is larger or smaller.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
    [Kis65] Kish. Survey sampling. Wiley, 1965, sec. 11.7.
    [DMNS06] Dwork, McSherry, Nissim, Smith. Calibrating noise to sensitivity. TCC 2006.
        https://doi.org/10.1007/11681878_14
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from confide.errors import ContractError
from confide.noise.mechanism import Mechanism
from confide.plans.cell_means import aside_note
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast, at_bound
from confide.plans.estimation.intervals import (
    Component,
    cautious_variance,
    median_error,
    noise_component,
    quantile,
    score_interval,
    variance,
)
from confide.plans.estimation.weighted_sums import (
    WeightSums,
    drowned,
    effective_size,
    weight_sums,
)
from confide.plans.mechanisms import additive, vector
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.pricing.best_split import best_split, reach
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.cells import cell_keys
from confide.tables.aggregates.moments import MomentAggregate
from confide.tables.aggregates.value import Centred, Plain, Product
from confide.tables.expression import Expression
from confide.tables.filter import All, Between
from confide.tables.relation import Relation, axes_of, centre, domain, resolve
from confide.tables.schema import Dataset, Domain
from confide.tables.survey_weight import require_weight, weight_domain

_FOR_SQUARES = Fraction(1, 10)
_TYPICAL = 1 / 3
"""Assumed distance of a mean from the centre, as a share of h; fixed, never taken from data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMean(Statistic):
    """Weighted mean of a column, clipped to its declared bounds.

    Attributes:
        column: What is averaged.
        by: Groups; none gives one number.
        per_patient: Bounds, where the schema gives none.
        expect_weight: Public planning value of the mean weight; needed to forecast the error.
    """

    column: str
    by: tuple[str, ...] = ()
    per_patient: PerPatient = field(default_factory=PerPatient)
    expect_weight: Fraction | None = None

    def _column(self, dataset: Dataset) -> Expression:
        return resolve(self.column, table=self.table, dataset=dataset)

    def _domain(self, dataset: Dataset) -> Domain:
        return domain(self._column(dataset), dataset=dataset)

    def _weights(self, dataset: Dataset) -> Domain:
        return weight_domain(require_weight(self.table, dataset=dataset), dataset=dataset)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the weighted sum, the moments of the weights, and the weighted squares."""
        axes, column = axes_of(self.by, table=self.table, dataset=dataset), self._column(dataset)
        weight = require_weight(self.table, dataset=dataset)
        bounds = contribution_bounds(
            self.per_patient,
            table=self.table,
            axes=axes,
            counted=Counted.EVENTS,
            dataset=dataset,
        )
        known = All(of=(self.where, Between(of=column), Between(of=weight)))
        relation = Relation(table=self.table, where=known)

        def weighted(name: str, *factors: Centred) -> Question:
            value = Product(of=(Plain(of=weight), *factors))
            asked = Aggregate(relation=relation, axes=axes, value=value, bounds=bounds)
            return question(name, asked, dataset=dataset)

        centred = Centred(of=column)
        total, squares = (
            weighted("weighted-sum", centred),
            weighted("weighted-squares", centred, centred),
        )
        weights = question(
            "weights",
            MomentAggregate(relation=relation, axes=axes, of=weight, degree=2, bounds=bounds),
            dataset=dataset,
        )
        _, half = centre(self._domain(dataset))
        shares = best_split(
            reach(total.sensitivity, measure=dataset.measure),
            reach(weights.sensitivity, measure=dataset.measure)
            * math.sqrt(5 / 4)
            / self._weights(dataset).upper
            * _TYPICAL
            * half,
            measure=dataset.measure,
        )
        rest = 1 - _FOR_SQUARES
        return (
            replace(total, weight=shares[0] * rest),
            replace(weights, weight=shares[1] * rest),
            replace(squares, weight=_FOR_SQUARES),
        )

    def forecast(
        self, mechanisms: Mapping[str, Mechanism], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the noise's error of one group's mean, for ``expect`` rows a group.

        Raises:
            ContractError: If there is no planning number of rows and of their mean weight.
        """
        if self.expect is None or self.expect_weight is None:
            raise ContractError(
                f"The error of {self.id!r} depends on the rows of a group and their mean weight.",
                hint="Write expect: {count: 500, weight: 1.2}, from a public source.",
            )
        of, weights = self._domain(dataset), self._weights(dataset)
        middle, half = centre(of)
        noise = noise_component(additive(mechanisms["weights"]))
        one = weight_sums((0, 0, 0), reach=weights.upper, noise=noise).total_noise
        total = noise_component(additive(mechanisms["weighted-sum"]))

        def width(parts: list[Component]) -> float:
            return quantile(parts, level=float(level)) * math.sqrt(variance(parts))

        parts = [total, one.times(_TYPICAL * half)]
        each = float(of.scale) / float(self.expect * self.expect_weight / weights.scale)
        return Forecast(
            half_width=each * width(parts),
            median_error=each * median_error(parts),
            level=float(level),
            unit=of.unit,
            planning=of.physical(middle),
            notes=(
                f"for groups of {self.expect} rows",
                aside_note(of=of, widest=each * width([total, one.times(half)])),
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
        """Return the mean of each group with both intervals, and its effective sample size."""
        del simulation
        totals, moments = vector(noisy["weighted-sum"]), vector(noisy["weights"])
        squares = vector(noisy["weighted-squares"])
        reach_of, of = self._weights(dataset).upper, self._domain(dataset)
        sums = noise_component(additive(mechanisms["weighted-sum"]))
        noise = noise_component(additive(mechanisms["weights"]))
        of_squares = noise_component(additive(mechanisms["weighted-squares"]))
        level = float(self.level)
        means: list[Estimate] = []
        sizes: list[Estimate] = []
        for i, key in enumerate(
            cell_keys(axes_of(self.by, table=self.table, dataset=dataset), dataset=dataset)
        ):
            whole = weight_sums(moments[3 * i : 3 * i + 3], reach=reach_of, noise=noise)
            total, square = float(totals[i]), float(squares[i])
            spread = _sampling(total, square, whole, noises=(sums, of_squares), of=of, level=level)
            means += [
                self._mean(key, total, whole, noise=sums, spread=each, covers=covers, of=of)
                for covers, each in ((Covers.NOISE, 0.0), (Covers.SAMPLING_AND_NOISE, spread))
            ]
            sizes.append(self._size(key, whole))
        return (*means, *sizes)

    def _mean(
        self,
        key: tuple[str, ...],
        total: float,
        whole: WeightSums,
        *,
        noise: Component,
        spread: float,
        covers: Covers,
        of: Domain,
    ) -> Estimate:
        """Return the mean; ``spread`` is the sampling variance of the numerator."""
        middle, _ = centre(of)
        low: float = of.lower - middle
        high: float = of.upper - middle
        ends_of = (low, high)
        weights, value, error = whole.total_noise, None, None
        if whole.total >= 1:
            ratio = min(max(total / whole.total, low), high)

            def parts(t: float) -> list[Component]:
                return [noise, weights.times(t), Component(variance=spread)]

            found = score_interval(
                total,
                whole.total,
                coefficients=(noise.variance + spread, 0.0, weights.variance),
                parts=parts,
                level=float(self.level),
            )
            ends = (low, high) if found is None else found
            value, error = ratio, math.sqrt(variance(parts(ratio))) / whole.total
            low, high = min(max(ends[0], low), ratio), max(min(ends[1], high), ratio)
        few = value is None or whole.total < 10 * math.sqrt(weights.variance)
        return Estimate(
            statistic=self.id,
            quantity="weighted mean",
            key=key,
            value=None if value is None else of.physical(middle + value),
            standard_error=None if error is None else float(of.scale) * error,
            lower=of.physical(middle + low),
            upper=of.physical(middle + high),
            level=float(self.level),
            covers=covers,
            unit=of.unit,
            flags=(
                *(("denominator too small",) if few else ()),
                *at_bound(
                    None if value is None else (value - ends_of[0]) / (ends_of[1] - ends_of[0])
                ),
            ),
        )

    def _size(self, key: tuple[str, ...], whole: WeightSums) -> Estimate:
        found = effective_size(whole, level=float(self.level))
        few = found.value is None or drowned(whole)
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
            flags=("denominator too small",) if few else (),
        )


def _sampling(
    total: float,
    square: float,
    whole: WeightSums,
    *,
    noises: tuple[Component, Component],
    of: Domain,
    level: float,
) -> float:
    """Return the sampling variance of Σw(x − mean): s²·Σw², with Student's correction.

    ``noises``: errors of Σw(x−c) and Σw(x−c)².
    """
    if whole.total < 1:
        return 0.0
    _, half = centre(of)
    mean = min(max(total / whole.total, -half), half)
    second = min(max(square / whole.total, 0.0), float(half) ** 2)
    weights = whole.total_noise
    parts = [
        noises[1],
        noises[0].times(2 * mean),
        weights.times(2 * mean**2 - second),
    ]
    error = math.sqrt(variance(parts)) / whole.total
    spread = cautious_variance(max(second - mean**2, 0.0), error=error)
    squares = whole.plausible_squares
    freedom = max(whole.total**2 / max(squares, 1.0) - 1, 1.0)
    normal = quantile((), level=level)
    return spread * squares * (1 + (normal**2 + 1) / (4 * freedom)) ** 2
