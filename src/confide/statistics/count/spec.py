"""Count of patients or events.

*Lemma:* the exact vector has one cell.  Counting patients, one patient moves it by at most 1 under
add-remove and under substitution; counting events with at most m kept rows, by at most m.

*Privacy:* Δ₁ = Δ₂ = 1 (patients) or m (events).
*Utility:* the noisy count is unbiased for the number of kept rows; a negative one is shown as 0 and
flagged (the noisy payload holds it as it is, for those who add counts up).  The interval is the
exact quantile of the discrete noise, so it covers at least as often as it says: the lattice adds up
to P(|Z| = w).  The posterior mean uses a flat prior on 0, 1, 2, …; its interval is widened upwards
to the posterior's own bound where the noisy count is near or below 0.

References:
    [GRS12] Ghosh, Roughgarden, Sundararajan. Universally utility-maximizing privacy mechanisms.
        SIAM J. Comput. 41(6), 2012. https://doi.org/10.1137/09076828X
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

import numpy as np

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
from confide.noise.half_width import least_width
from confide.noise.mechanism import Mechanism, NoiseLaw
from confide.plans.contribution import Counted, PerPatient, contribution_bounds, question
from confide.plans.estimates import Covers, Estimate, Forecast
from confide.plans.estimation.intervals import Component, median_error
from confide.plans.estimation.sums import NoisySum, rounding_variance
from confide.plans.mechanisms import additive, coordinate
from confide.plans.plan import Noisy, Question, Statistic
from confide.plans.simulation import Simulation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Ones
from confide.tables.relation import Relation
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Statistic):
    """How many patients, or events, satisfy a condition.

    Attributes:
        counted: Patients or events.
        per_patient: Bounds, where the schema gives none.
    """

    counted: Counted = Counted.PATIENTS
    per_patient: PerPatient = field(default_factory=PerPatient)

    def questions(self, dataset: Dataset) -> tuple[Question, ...]:
        """Return the one count."""
        bounds = contribution_bounds(
            self.per_patient, table=self.table, axes=(), counted=self.counted, dataset=dataset
        )
        return (
            question(
                "count",
                Aggregate(
                    relation=Relation(table=self.table, where=self.where),
                    axes=(),
                    value=Ones(),
                    bounds=bounds,
                ),
                dataset=dataset,
                counted=self.counted.unit,
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
        mean, most = _posterior(raw, noise=noise, level=float(self.level))

        def published(quantity: str, value: float, *, upper: int) -> Estimate:
            return Estimate(
                statistic=self.id,
                quantity=quantity,
                key=(),
                value=value,
                standard_error=math.sqrt(noise.variance()),
                lower=float(max(0, raw - width)),
                upper=float(upper),
                level=float(self.level),
                covers=Covers.NOISE,
                unit=self.counted.unit,
                flags=("below zero",) if raw < 0 else (),
            )

        return (
            published("count", float(max(0, raw)), upper=max(0, raw + width)),
            published("posterior mean", mean, upper=max(raw + width, most)),
        )

    def forecast_sums(
        self, errors: Sequence[Component], *, dataset: Dataset, level: Fraction
    ) -> Forecast:
        """Return the error of a sum of published cells."""
        del dataset
        return Forecast(
            half_width=max(NoisySum(value=0, error=e).width(level=float(level)) for e in errors),
            median_error=max(median_error([error]) for error in errors),
            level=float(level),
            unit=self.counted.unit,
            planning=None if self.expect is None else float(self.expect),
        )

    def estimate_sums(self, sums: Sequence[NoisySum], *, dataset: Dataset) -> tuple[Estimate, ...]:
        """Return a sum of published cells as the count; of a sum there is no posterior mean."""
        del dataset
        (found,) = sums
        low, high = found.ends(level=float(self.level))
        return (
            Estimate(
                statistic=self.id,
                quantity="count",
                key=(),
                value=float(max(0, math.floor(found.value + 0.5))),
                standard_error=math.sqrt(found.error.variance + rounding_variance(found.value)),
                lower=float(max(0, low)),
                upper=float(max(0, high)),
                level=float(self.level),
                covers=Covers.NOISE,
                unit=self.counted.unit,
                flags=("below zero",) if found.value < 0 else (),
            ),
        )


def _posterior(raw: int, *, noise: NoiseLaw, level: float) -> tuple[float, int]:
    """Return E[c | raw], and a bound that c passes with posterior chance at most 1 − level.

    The prior is flat on c = 0, 1, 2, …; the bound is at least the mean.
    """
    if raw > noise.half_width(1 - 1e-9):
        return float(raw), raw
    match noise:
        case DiscreteLaplace(scale=scale):
            mean, most = _laplace_posterior(raw, scale=float(scale), level=level)
        case DiscreteGaussian(sigma_squared=sigma_squared):
            mean, most = _gaussian_posterior(raw, variance=float(sigma_squared), level=level)
        case PolyaDifference():
            mean, most = _posterior_of_parts(raw, noise=noise, level=level)
        case _:
            assert_never(noise)
    return mean, max(most, math.ceil(mean))


def _posterior_of_parts(raw: int, *, noise: PolyaDifference, level: float) -> tuple[float, int]:
    """Return mean and quantile of c = raw − Z given Z ≤ raw: E max(raw − Z, 0)/P(Z ≤ raw)."""
    possible = noise.cdf(raw)
    beyond = raw + noise.excess(raw) if raw >= 0 else noise.excess(-raw)
    most = least_width(
        lambda c: noise.cdf(raw - c - 1), miss=(1 - level) * possible, guess=max(raw, 0)
    )
    return beyond / possible, most


def _laplace_posterior(raw: int, *, scale: float, level: float) -> tuple[float, int]:
    """Return mean and quantile of P(c) ∝ a^|raw − c|: geometric to the right of max(raw, 0)."""
    a, gap = math.exp(-1 / scale), -math.expm1(-1 / scale)
    right, excess = 1 / gap, a / gap**2  # Σ aʲ and Σ j·aʲ over j ≥ 0
    n = max(raw, 0)
    lost = a**n  # weight of j ≥ n on the left, relative to all of it
    left = a * (1 - lost) / gap  # Σ_{j=1..n} aʲ
    below = excess * (1 - lost) - n * lost * (right - 1)  # Σ_{j=1..n} j·aʲ
    total = right + left
    mean = n + (excess - below) / total
    beyond = (1 - level) * total / right  # P(c > n + j) = a^(j+1)·right/total
    return mean, n + max(0, math.ceil(-scale * math.log(beyond)) - 1)


def _gaussian_posterior(raw: int, *, variance: float, level: float) -> tuple[float, int]:
    """Return mean and quantile by summing at most 20,000 points of P(c) ∝ exp(−(raw−c)²/(2σ²))."""
    reach = math.ceil(7 * math.sqrt(variance)) + 7
    step = max(1, reach // 10_000)
    counts = np.arange(max(0, raw - reach), max(0, raw) + reach, step, dtype=np.float64)
    exponents = -((counts - raw) ** 2) / (2 * variance)
    weights = np.exp(exponents - exponents.max())
    running = np.cumsum(weights)
    index = int(np.searchsorted(running, level * running[-1]))
    return float(np.dot(counts, weights) / running[-1]), int(counts[index]) + step - 1
