"""What a spend is good for: the error of a planned release, in the metric of its utility.

The laws are those of ``floors.py``; floats, for display.

*Utility:* errors are rounded up and chances down by the caller, so that what is printed holds.
"""

import math
from fractions import Fraction
from typing import assert_never

from confide.budget.policy.change import utility_of
from confide.budget.policy.floors import HALF, MOST, demand
from confide.budget.policy.policy import Metric, Noise, PlannedRelease
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure

_QUANTILES = {HALF: 0.6744897501960817, MOST: 1.959963984540054}


def error(release: PlannedRelease, *, units: int, measure: Measure) -> float:
    """Return the metric that a spend attains: a share for mdape and p95, counts otherwise.

    Args:
        release: One with a utility.
        units: Spend of one run, in 1e-9 of the measure.
        measure: ε or ρ.

    Example:
        The textbook's Laplace noise at ε = 0.238 on a count planned as 40:

        >>> from confide.budget.policy.policy import Utility
        >>> asked = Utility(id="u", priority=3, metric=Metric.MDAPE, at_most=Fraction("0.1"),
        ...     planning_count=40, source="registry bulletin")
        >>> rare = PlannedRelease(id="rare", tier="critical", utility=asked)
        >>> round(error(rare, units=238_000_000, measure=Measure.PURE), 4)
        0.0728
    """
    utility = utility_of(release)
    match utility.metric:
        case Metric.MDAPE:
            return _reach(release, HALF, units=units, measure=measure) / utility.planning_count
        case Metric.P95:
            return _reach(release, MOST, units=units, measure=measure) / utility.planning_count
        case Metric.INTERVAL_WIDTH:
            return 2 * _reach(release, MOST, units=units, measure=measure)
        case Metric.RMSE:
            return deviation(release, units=units, measure=measure)
        case _:
            assert_never(utility.metric)


def chance(release: PlannedRelease, *, units: int, measure: Measure) -> tuple[int, float] | None:
    """Return the whole counts that the demand reaches, and P[|error| ≤ them] as drawn.

    None where the demand is about RMSE, or the noise is not discrete.

    Example:
        >>> from confide.budget.policy.policy import Utility
        >>> asked = Utility(id="u", priority=3, metric=Metric.MDAPE, at_most=Fraction("0.1"),
        ...     planning_count=40, source="registry bulletin")
        >>> rare = PlannedRelease(
        ...     id="rare", tier="critical", utility=asked, noise=Noise.DISCRETE_LAPLACE
        ... )
        >>> reach, kept = chance(rare, units=166_666_666, measure=Measure.PURE)
        >>> reach, round(kept, 3)
        (4, 0.529)
    """
    asked = demand(utility_of(release))
    if asked.level is None or release.noise is not Noise.DISCRETE_LAPLACE:
        return None
    reach = math.floor(asked.reach)
    return reach, 1 - _drawn(release, units=units, measure=measure).tail(reach)


def deviation(release: PlannedRelease, *, units: int, measure: Measure) -> float:
    """Return the standard deviation of a release's noise, in counts."""
    match release.noise:
        case Noise.LAPLACE:
            return math.sqrt(2) * release.sensitivity / _epsilon(units, measure=measure)
        case Noise.DISCRETE_LAPLACE:
            return _drawn(release, units=units, measure=measure).standard_deviation()
        case Noise.GAUSSIAN:
            return release.sensitivity / math.sqrt(2 * units / NANO)
        case _:
            assert_never(release.noise)


def _reach(release: PlannedRelease, level: Fraction, *, units: int, measure: Measure) -> float:
    """Return the least w with P[|Z| ≤ w] ≥ level, in counts."""
    match release.noise:
        case Noise.LAPLACE:
            scale = release.sensitivity / _epsilon(units, measure=measure)
            return -scale * math.log(1 - level)
        case Noise.DISCRETE_LAPLACE:
            return _drawn(release, units=units, measure=measure).half_width(float(level))
        case Noise.GAUSSIAN:
            return _QUANTILES[level] * deviation(release, units=units, measure=measure)
        case _:
            assert_never(release.noise)


def _epsilon(units: int, *, measure: Measure) -> float:
    return units / NANO if measure is Measure.PURE else math.sqrt(2 * units / NANO)


def _drawn(release: PlannedRelease, *, units: int, measure: Measure) -> DiscreteLaplace:
    return DiscreteLaplace(scale=release.sensitivity / Fraction(_epsilon(units, measure=measure)))
