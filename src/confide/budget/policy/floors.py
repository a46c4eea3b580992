"""Floors: the least that a release may spend to be as useful as the policy demands.

A demand is P[|Z| ≤ reach] ≥ level, or a standard deviation of at most reach, where the noise Z has
sensitivity Δ and reach is in counts:

================  =======  ==========
metric            level    reach
================  =======  ==========
mdape ≤ α         1/2      α·N
p95 ≤ α           0.95     α·N
interval-width    0.95     width/2
rmse ≤ r          –        r
================  =======  ==========

- ``laplace`` is the textbook's continuous law: ε ≥ ln(1/(1 − level))·Δ/reach, or √2·Δ/r.
- ``discrete-laplace`` is the law that is drawn [GRS12]: with a = e^(−ε/Δ) and m = ⌊reach⌋,
  2a^(m+1) ≤ (1 − level)(1 + a) (for the median: 4a^(m+1) ≤ 1 + a), or 2a ≤ r²(1 − a)².  The left
  side minus the right one is convex in a, below 0 at a = 0 and above at 1, so it has one root.
- ``gaussian`` is the textbook's continuous law: ρ ≥ (z·Δ/reach)²/2, z the normal quantile of
  (1 + level)/2, or Δ²/(2r²); only under zcdp.

Under zcdp an ε costs ρ = ε²/2 [BS16, prop. 1.4].

*Utility:* floors are exact: the least multiple of 1e-9 with which the demand holds for real
numbers.  What the engine draws is discrete.  P[|Z| ≤ m] of the discrete laws is at least that of
the continuous one within m + 1/2, and their variance is no larger, so where reach is a whole number
the textbook's floor is enough for what is drawn; ``drawn`` says what is needed in general.

References:
    [GRS12] Ghosh, Roughgarden, Sundararajan. Universally utility-maximizing privacy mechanisms.
        SIAM J. Comput. 41(6), 2012, def. 2.2. https://doi.org/10.1137/09076828X
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
    [CKS20] Canonne, Kamath, Steinke. The discrete Gaussian for differential privacy. NeurIPS 2020,
        sec. 3. https://arxiv.org/abs/2004.00010
"""

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from confide.budget.policy.policy import Metric, Noise, PlannedRelease, Policy, Utility
from confide.errors import ContractError
from confide.privacy.amount import NANO
from confide.privacy.directed import exp_ceil, exp_floor, log_ceil
from confide.privacy.measure import Measure

HALF, MOST = Fraction(1, 2), Fraction(95, 100)
_GRID = 10**30  # of a = e^(−ε/Δ), far finer than what a step of ε changes
_QUANTILES: Mapping[Fraction, Fraction] = {  # Φ⁻¹((1 + level)/2), rounded up in the last digit
    HALF: Fraction("0.6744897501960817432023"),
    MOST: Fraction("1.9599639845400542355246"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What noise has to keep.

    Attributes:
        reach: In counts, > 0.
        level: Chance that the error stays within reach; None when reach bounds its RMSE.
    """

    reach: Fraction
    level: Fraction | None


def demand(utility: Utility) -> Demand:
    """Return what a floor of utility asks of the noise.

    Example:
        Half of all published counts within 10 % of 40:

        >>> from confide.budget.policy.policy import Utility
        >>> asked = Utility(id="u", priority=3, metric=Metric.MDAPE, at_most=Fraction("0.1"),
        ...     planning_count=40, source="registry bulletin")
        >>> demand(asked)
        Demand(reach=Fraction(4, 1), level=Fraction(1, 2))
    """
    match utility.metric:
        case Metric.MDAPE:
            return Demand(reach=utility.at_most * utility.planning_count, level=HALF)
        case Metric.P95:
            return Demand(reach=utility.at_most * utility.planning_count, level=MOST)
        case Metric.INTERVAL_WIDTH:
            return Demand(reach=utility.at_most / 2, level=MOST)
        case Metric.RMSE:
            return Demand(reach=utility.at_most, level=None)
        case _:
            assert_never(utility.metric)


def floors(policy: Policy) -> dict[str, int]:
    """Return the floor of each planned release, in 1e-9 of the policy's measure."""
    return {release.id: floor_of(release, measure=policy.measure) for release in policy.releases}


@functools.lru_cache(maxsize=65_536)
def floor_of(release: PlannedRelease, *, measure: Measure) -> int:
    """Return the least spend that meets a release's utility, in 1e-9 of the measure; 0 without one.

    Raises:
        ContractError: If Gaussian noise is planned under pure.

    Example:
        >>> from confide.budget.policy.policy import Utility
        >>> asked = Utility(id="u", priority=3, metric=Metric.MDAPE, at_most=Fraction("0.1"),
        ...     planning_count=40, source="registry bulletin")
        >>> rare = PlannedRelease(id="rare", tier="critical", utility=asked)
        >>> floor_of(rare, measure=Measure.PURE)
        173286796
        >>> floor_of(replace(rare, noise=Noise.DISCRETE_LAPLACE), measure=Measure.PURE)
        153379864
    """
    if release.utility is None:
        return 0
    asked, delta = demand(release.utility), release.sensitivity
    match release.noise:
        case Noise.LAPLACE:
            return _charged(_laplace(asked, sensitivity=delta), measure=measure)
        case Noise.DISCRETE_LAPLACE:
            return _charged(_discrete_laplace(asked, sensitivity=delta), measure=measure)
        case Noise.GAUSSIAN if measure is Measure.ZCDP:
            return _gaussian(asked, sensitivity=delta)
        case Noise.GAUSSIAN:
            raise ContractError(
                f"Release {release.id!r} plans Gaussian noise, which no finite ε bounds.",
                hint="Plan mechanism: discrete-laplace, or accounting: {measure: zcdp}.",
            )
        case _:
            assert_never(release.noise)


def drawn(release: PlannedRelease, *, measure: Measure) -> int:
    """Return the floor under the law that the engine draws: discrete Laplace or discrete Gaussian.

    P[|Z| ≤ m] of the discrete Gaussian is at least that of the continuous one within m + 1/2
    [CKS20, sec. 3], so the reach is cut to ⌊reach⌋ + 1/2 where that is less.
    """
    utility = release.utility
    if utility is None or release.noise is Noise.DISCRETE_LAPLACE:
        return floor_of(release, measure=measure)
    if release.noise is Noise.LAPLACE:
        return floor_of(replace(release, noise=Noise.DISCRETE_LAPLACE), measure=measure)
    asked = demand(utility)
    if asked.level is not None:
        asked = replace(asked, reach=min(asked.reach, math.floor(asked.reach) + HALF))
    return _gaussian(asked, sensitivity=release.sensitivity)


def _charged(epsilon: int, *, measure: Measure) -> int:
    match measure:
        case Measure.PURE:
            return epsilon
        case Measure.ZCDP:
            return max(1, -(-(epsilon**2) // (2 * NANO)))
        case _:
            assert_never(measure)


def _laplace(asked: Demand, *, sensitivity: int) -> int:
    ratio = sensitivity / asked.reach
    if asked.level is None:
        square = 2 * (ratio * NANO) ** 2
        return _ceil_sqrt(math.ceil(square))
    steps = ratio * NANO
    # ⌈x/q⌉ = ⌈⌈x⌉/q⌉ for whole q, so that only ⌈p·ln(1/miss)⌉ has to be exact.
    times = log_ceil(1 / (1 - asked.level), grid=steps.numerator)
    return -(-times // steps.denominator)


def _ceil_sqrt(square: int) -> int:
    """Return ⌈√x⌉ of a whole number; ⌈√x⌉ = ⌈√⌈x⌉⌉ for any x."""
    root = math.isqrt(square)
    return root + (root * root < square)


def _discrete_laplace(asked: Demand, *, sensitivity: int) -> int:
    scale = NANO * sensitivity

    if asked.level is None:
        square = asked.reach**2

        def holds(units: int) -> bool:
            ratio = Fraction(exp_ceil(Fraction(-units, scale), grid=_GRID), _GRID)
            return 2 * ratio <= square * (1 - ratio) ** 2

        rate = 2 * math.asinh(1 / (math.sqrt(2) * float(asked.reach)))
    else:
        miss, power = 1 - asked.level, math.floor(asked.reach) + 1

        def holds(units: int) -> bool:
            rest = exp_ceil(Fraction(-units * power, scale), grid=_GRID)
            ratio = exp_floor(Fraction(-units, scale), grid=_GRID)
            return 2 * rest <= miss * (_GRID + ratio)

        rate = _rate(power, miss=float(miss))
    return _least(holds, near=math.floor(rate * scale))


def _rate(power: int, *, miss: float) -> float:
    """Return ε/Δ with 2a^power = miss·(1 + a), nearly."""
    low, high = 0.0, math.log(2 / miss)
    for _ in range(200):
        middle = (low + high) / 2
        short = 2 * math.exp(-middle * power) > miss * (1 + math.exp(-middle))
        low, high = (middle, high) if short else (low, middle)
    return high


def _least(holds: Callable[[int], bool], *, near: int) -> int:
    """Return the least n ≥ 1 that holds, for a demand that goes on holding, searched from near."""
    found = max(1, near)
    while found > 1 and holds(found - 1):
        found -= 1
    while not holds(found):
        found += 1
    return found


def _gaussian(asked: Demand, *, sensitivity: int) -> int:
    quantile = Fraction(1) if asked.level is None else _QUANTILES[asked.level]
    return max(1, math.ceil((quantile * sensitivity / asked.reach) ** 2 / 2 * NANO))
