"""Why a plan has its noise: how wide intervals would be with the other, at the same ε.

*Law.*  Laplace noise that is r times as wide as Gaussian noise of σᵢ in every measurement has
scales r·σᵢ/√2, so it loses √2·ΣΔ₁ᵢ/σᵢ/r in all: r = √2·Σ(Δ₁ᵢ/σᵢ)/ε.  Gaussian noise that is r times
as wide as Laplace noise of scales bᵢ has σᵢ = r·√2·bᵢ and ρ = Σ Δ₂ᵢ²/(4r²bᵢ²), which is that of ε.

*Privacy:* a function of the plan.
"""

import enum
import math
from dataclasses import dataclass
from fractions import Fraction

from confide.errors import InvalidParameterError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.plan import Plan
from confide.plans.pricing.both_noises import has_both
from confide.privacy.accounting.concentrated import epsilon_at, rho_for
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.measure import Measure

_ALIKE = 1.05
"""Widths that differ by less are taken for the same."""


class NoiseReason(enum.Enum):
    """Which noise a plan has, and why."""

    GAUSSIAN_NARROWER = "gaussian-narrower"
    GAUSSIAN_FOR_MANY = "gaussian-for-many"
    GAUSSIAN_BY_BUDGET = "gaussian-by-budget"
    LAPLACE_NARROWER = "laplace-narrower"
    LAPLACE_AS_DECIDED = "laplace-as-decided"
    LAPLACE_BY_BUDGET = "laplace-by-budget"
    BOTH = "both"
    CHOICES = "choices"
    OVER_SITES = "over-sites"
    OVER_SITES_PURE = "over-sites-pure"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNoise:
    """Which noise a plan has, and why.

    Attributes:
        reason: The sentence.
        times: How many times as wide intervals would be with the other noise; None if not told.
    """

    reason: NoiseReason
    times: float | None = None


def why_noise(plan: Plan) -> WhyNoise:
    """Return why a plan has the noise that it has rather than the other.

    Of key selections and choices among candidates nothing is said where noise is added as well.
    """
    if plan.federation is not None:
        pure = plan.dataset.measure is Measure.PURE
        return WhyNoise(reason=NoiseReason.OVER_SITES_PURE if pure else NoiseReason.OVER_SITES)
    gaussian = [m for m in plan.measurements if isinstance(m.mechanism, DiscreteGaussian)]
    laplace = [m for m in plan.measurements if isinstance(m.mechanism, DiscreteLaplace)]
    if not gaussian and not laplace:
        return WhyNoise(reason=NoiseReason.CHOICES)
    if has_both(plan):
        return WhyNoise(reason=NoiseReason.BOTH)
    if plan.dataset.measure is Measure.ZCDP:
        times = _with_laplace(plan)
        if times >= _ALIKE:
            return WhyNoise(reason=NoiseReason.GAUSSIAN_NARROWER, times=times)
        if plan.dataset.mixed:
            return WhyNoise(reason=NoiseReason.GAUSSIAN_FOR_MANY)
        return WhyNoise(reason=NoiseReason.GAUSSIAN_BY_BUDGET)
    if not plan.dataset.mixed:
        return WhyNoise(reason=NoiseReason.LAPLACE_BY_BUDGET)
    times = _with_gaussian(plan)
    if times >= _ALIKE:
        return WhyNoise(reason=NoiseReason.LAPLACE_NARROWER, times=times)
    return WhyNoise(reason=NoiseReason.LAPLACE_AS_DECIDED)


def _with_laplace(plan: Plan) -> float:
    """Return how many times as wide intervals would be with Laplace noise of the same ε."""
    rho, moved = Fraction(0), 0.0
    for each in plan.measurements:
        if isinstance(each.mechanism, DiscreteGaussian):
            rho += each.event.rho()
            moved += each.sensitivity.l1 / math.sqrt(each.mechanism.sigma_squared)
    epsilon = epsilon_at(ZeroConcentratedDP(rho=rho), delta=plan.dataset.delta)
    return math.sqrt(2) * moved / epsilon


def _with_gaussian(plan: Plan) -> float:
    """Return how many times as wide intervals would be with Gaussian noise of the same ε."""
    epsilon, squares = Fraction(0), Fraction(0)
    for each in plan.measurements:
        if isinstance(each.mechanism, DiscreteLaplace):
            epsilon += each.event.epsilon()
            squares += each.sensitivity.l2_squared / (4 * each.mechanism.scale**2)
    try:
        rho = rho_for(epsilon, delta=plan.dataset.delta)
    except InvalidParameterError:  # no Gaussian noise is of so small an ε
        return math.inf
    return math.sqrt(squares / rho)
