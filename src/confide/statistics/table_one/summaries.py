"""Means, standard deviations and quantiles of one column of a Table 1.

A mean is a ratio with Fieller's interval; a standard deviation's is the delta method's for the
variance, mapped by the root; a quantile's inverts ranks outwards, as for quantiles.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
"""

import itertools
import math
from collections.abc import Sequence

from confide.plans.cuts.found import levels_of_rounds, located_in_both
from confide.plans.estimation.consistency import Consistent, Weights
from confide.plans.estimation.cumulative import Ranked, component_widths
from confide.plans.estimation.intervals import Component, quantile, variance
from confide.plans.estimation.pooled import PooledColumn, PooledNumber, cut, ratio


def mean(column: PooledColumn, place: int) -> PooledNumber:
    """Return where the mean is between the bounds, for the population."""
    known: Weights = {place: (1.0, 1.0, 1.0)}
    number = column.sum(known)
    if number < 1:
        return PooledNumber(value=None, error=None, lower=0.0, upper=1.0)
    above: Weights = {place: (0.0, 0.5, 1.0)}
    middle = cut(column.sum(above) / number, most=1.0)
    sampling = number * cautious(column, place)
    normal = quantile((), level=column.level)
    sampling *= (1 + (normal**2 + 1) / (4 * max(number - 1, 1.0))) ** 2  # Student's
    return ratio(column, above, known, at=middle, spread=(sampling, 0.0, 0.0))


def deviation(column: PooledColumn, place: int) -> PooledNumber:
    """Return the standard deviation of the rows at hand, as a share of U − L."""
    number = column.sum({place: (1.0, 1.0, 1.0)})
    if number < 1:
        return PooledNumber(value=None, error=None, lower=0.0, upper=0.5)
    parts = column.parts({place: spread_weights(column, place)})
    spread = spread_of(column, place)
    width = quantile(parts, level=column.level) * math.sqrt(variance(parts))
    value = math.sqrt(spread)
    return PooledNumber(
        value=value,
        error=min(0.5, math.sqrt(variance(parts)) / (2 * value)) if value > 0 else 0.5,
        lower=math.sqrt(max(0.0, spread - width)),
        upper=math.sqrt(min(0.25, spread + width)),
    )


def spread_of(column: PooledColumn, place: int) -> float:
    """Return the variance of the rows at hand, in units of (U − L)²."""
    first, second = _moments(column, place)
    return cut(second - first**2, most=0.25)


def mean_of(column: PooledColumn, place: int) -> float:
    """Return the mean's place between the bounds."""
    return _moments(column, place)[0]


def cautious(column: PooledColumn, place: int) -> float:
    """Return the variance, raised where the noise makes it uncertain."""
    error = math.sqrt(variance(column.parts({place: spread_weights(column, place)})))
    spread = spread_of(column, place)
    return (spread + math.hypot(spread, 2 * error)) / 2


def mean_weights(column: PooledColumn, place: int) -> tuple[float, ...]:
    """Return how the mean moves with each moment."""
    first, _ = _moments(column, place)
    number = column.sum({place: (1.0, 1.0, 1.0)})
    return tuple((x - first) / number for x in (0.0, 0.5, 1.0))


def spread_weights(column: PooledColumn, place: int) -> tuple[float, ...]:
    """Return how the variance moves with each moment."""
    first, second = _moments(column, place)
    number = column.sum({place: (1.0, 1.0, 1.0)})
    rest = 2 * first**2 - second
    return tuple((rest + x) / number for x in (0.0, -first, 1 - 2 * first))


def _moments(column: PooledColumn, place: int) -> tuple[float, float]:
    number = max(1.0, column.sum({place: (1.0, 1.0, 1.0)}))
    first = cut(column.sum({place: (0.0, 0.5, 1.0)}) / number, most=1.0)
    return first, cut(column.sum({place: (0.0, 0.0, 1.0)}) / number, most=1.0)


def cumulative_noises(of: Consistent, place: int, *, q: float, bins: int) -> list[Component]:
    """Return the error of C(t) − q·N at each edge t of one group's histogram."""
    return [of.component({place: (1 - q,) * t + (-q,) * (bins - t)}) for t in range(bins + 1)]


def place_of_quantile(
    column: PooledColumn,
    place: int,
    *,
    q: float,
    edges: Sequence[int],
    upper: int,
    noises: Sequence[Component],
    rough: Ranked | None,
    sampled: bool,
) -> PooledNumber:
    """Return a quantile with its interval, in canonical units; see :mod:`.cumulative` of plans.

    ``rough``: ranks of a first round, where there was one.
    """
    parts = [[noise] * column.groups for noise in noises]
    level = column.level if rough is None else levels_of_rounds(column.level)[1]
    ranked = Ranked(
        cumulative=(0.0, *itertools.accumulate(column.values[place])),
        edges=edges,
        upper=upper,
        widths=component_widths(parts, level=level),
        q=q,
    )
    if rough is None:
        value, low, high = ranked.located(sampled=sampled, level=level)
    else:
        value, low, high = located_in_both(rough, ranked, sampled=sampled, level=column.level)
    if ranked.rows < 1:
        return PooledNumber(value=None, error=None, lower=low, upper=high)
    return PooledNumber(
        value=value,
        error=(high - low) / (2 * quantile((), level=column.level)),
        lower=low,
        upper=high,
    )
