"""Counts, shares, means, standard deviations and quantiles of one column of a Table 1.

Every number is a function of sums of least-squares values, whose errors are known sums of noises
(:mod:`confide.plans.consistency`).  A share and a mean are ratios A/K: their interval is Fieller's,
{t : (A − t·K)² ≤ q²·Var(A − t·K)}; a standard deviation's is the delta method's for the variance,
mapped by the root; a quantile's inverts the test of "C(t) = q·N" edge by edge, as for quantiles.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.plans.consistency import Consistent, Weights
from confide.plans.cumulative import interpolated, inverted, monotone
from confide.plans.intervals import Component, quantile, ratio_interval, variance


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A group of the table, or all groups together.

    Attributes:
        label: Of the group.
        values: Least-squares values, block by block, in rows.
        groups: How many groups it adds up, each with the same noise.
        of: The least squares.
        level: Coverage.
    """

    label: str
    values: Sequence[Sequence[float]]
    groups: int
    of: Consistent
    level: float

    def sum(self, weights: Weights) -> float:
        """Return a weighted sum of the values."""
        return math.fsum(
            a * x
            for place, own in weights.items()
            for a, x in zip(own, self.values[place], strict=True)
        )

    def parts(self, weights: Weights) -> list[Component]:
        """Return the error of a weighted sum, as independent parts."""
        return [self.of.component(weights)] * self.groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A number with its interval.

    Attributes:
        value: In the unit of its kind; None when the noise leaves none.
        error: Standard error.
        lower: At most ``value``.
        upper: At least ``value``.
    """

    value: float | None
    error: float | None
    lower: float
    upper: float


def count(column: Column, weights: Weights, *, whole: int) -> Found:
    """Return a number of rows, given as the whole number that adds up with the others."""
    parts = column.parts(weights)
    deviation = math.sqrt(variance(parts))
    width = quantile(parts, level=column.level) * deviation
    middle = column.sum(weights)
    return Found(
        value=float(whole),
        error=deviation,
        lower=min(float(whole), float(max(0, math.ceil(middle - width)))),
        upper=max(float(whole), float(math.floor(middle + width))),
    )


def few(column: Column, known: Weights) -> bool:
    """Return whether a denominator is less than ten of its standard deviations."""
    return column.sum(known) < 10 * math.sqrt(variance(column.parts(known)))


def share(
    column: Column, having: Weights, known: Weights, *, value: float | None, sampled: bool
) -> Found:
    """Return a share of the known rows, in [0, 1].

    Args:
        column: Of the table.
        having: The rows counted.
        known: The rows that they are a share of.
        value: The share, of whole numbers; None without known rows.
        sampled: Whether the interval covers other samples of the population too.
    """
    number = column.sum(known)
    if value is None or number < 1:
        return Found(value=None, error=None, lower=0.0, upper=1.0)
    rows = number if sampled else 0.0
    return _ratio(column, having, known, at=value, spread=(0.0, rows, -rows))


def mean(column: Column, place: int) -> Found:
    """Return where the mean is between the bounds, for the population."""
    known: Weights = {place: (1.0, 1.0, 1.0)}
    number = column.sum(known)
    if number < 1:
        return Found(value=None, error=None, lower=0.0, upper=1.0)
    above: Weights = {place: (0.0, 0.5, 1.0)}
    middle = _cut(column.sum(above) / number, most=1.0)
    sampling = number * cautious(column, place)
    normal = quantile((), level=column.level)
    sampling *= (1 + (normal**2 + 1) / (4 * max(number - 1, 1.0))) ** 2  # Student's
    return _ratio(column, above, known, at=middle, spread=(sampling, 0.0, 0.0))


def deviation(column: Column, place: int) -> Found:
    """Return the standard deviation of the rows at hand, as a share of U − L."""
    number = column.sum({place: (1.0, 1.0, 1.0)})
    if number < 1:
        return Found(value=None, error=None, lower=0.0, upper=0.5)
    parts = column.parts({place: spread_weights(column, place)})
    spread = spread_of(column, place)
    width = quantile(parts, level=column.level) * math.sqrt(variance(parts))
    value = math.sqrt(spread)
    return Found(
        value=value,
        error=min(0.5, math.sqrt(variance(parts)) / (2 * value)) if value > 0 else 0.5,
        lower=math.sqrt(max(0.0, spread - width)),
        upper=math.sqrt(min(0.25, spread + width)),
    )


def spread_of(column: Column, place: int) -> float:
    """Return the variance of the rows at hand, in units of (U − L)²."""
    first, second = _moments(column, place)
    return _cut(second - first**2, most=0.25)


def mean_of(column: Column, place: int) -> float:
    """Return the mean's place between the bounds."""
    return _moments(column, place)[0]


def cautious(column: Column, place: int) -> float:
    """Return the variance, raised where the noise makes it uncertain."""
    error = math.sqrt(variance(column.parts({place: spread_weights(column, place)})))
    spread = spread_of(column, place)
    return (spread + math.hypot(spread, 2 * error)) / 2


def mean_weights(column: Column, place: int) -> tuple[float, ...]:
    """Return how the mean moves with each moment."""
    first, _ = _moments(column, place)
    number = column.sum({place: (1.0, 1.0, 1.0)})
    return tuple((x - first) / number for x in (0.0, 0.5, 1.0))


def spread_weights(column: Column, place: int) -> tuple[float, ...]:
    """Return how the variance moves with each moment."""
    first, second = _moments(column, place)
    number = column.sum({place: (1.0, 1.0, 1.0)})
    rest = 2 * first**2 - second
    return tuple((rest + x) / number for x in (0.0, -first, 1 - 2 * first))


def _moments(column: Column, place: int) -> tuple[float, float]:
    number = max(1.0, column.sum({place: (1.0, 1.0, 1.0)}))
    first = _cut(column.sum({place: (0.0, 0.5, 1.0)}) / number, most=1.0)
    return first, _cut(column.sum({place: (0.0, 0.0, 1.0)}) / number, most=1.0)


def _ratio(
    column: Column,
    numerator: Weights,
    denominator: Weights,
    *,
    at: float,
    spread: tuple[float, float, float],
) -> Found:
    """Return a ratio in [0, 1]; ``spread``: the sampling variance as c₀ + c₁t + c₂t²."""
    of, groups = column.of, column.groups
    number = column.sum(denominator)
    first = groups * of.component(numerator).variance
    last = groups * of.component(denominator).variance
    both = groups * of.covariance(numerator, denominator)
    parts = [
        *column.parts(_combined(numerator, denominator, factor=-at)),
        Component(variance=spread[0] + at * spread[1] + at**2 * spread[2]),
    ]
    squared = quantile(parts, level=column.level) ** 2
    interval = ratio_interval(
        column.sum(numerator),
        number,
        coefficients=(
            squared * (first + spread[0]),
            squared * (spread[1] - 2 * both),
            squared * (last + spread[2]),
        ),
    )
    low, high = (0.0, 1.0) if interval is None else interval
    return Found(
        value=at,
        error=math.sqrt(variance(parts)) / number,
        lower=min(_cut(low, most=1.0), at),
        upper=max(_cut(high, most=1.0), at),
    )


def _combined(first: Weights, second: Weights, *, factor: float) -> Weights:
    found = {place: list(own) for place, own in first.items()}
    for place, own in second.items():
        earlier = found.get(place, [0.0] * len(own))
        found[place] = [a + factor * b for a, b in zip(earlier, own, strict=True)]
    return found


def cumulative_noises(of: Consistent, place: int, *, q: float, bins: int) -> list[Component]:
    """Return the error of C(t) − q·N at each edge t of one group's histogram."""
    return [of.component({place: (1 - q,) * t + (-q,) * (bins - t)}) for t in range(bins + 1)]


def place_of_quantile(
    column: Column,
    place: int,
    *,
    q: float,
    edges: Sequence[int],
    noises: Sequence[Component],
    sampled: bool,
) -> Found:
    """Return a quantile, in canonical units; its interval ends at edges."""
    counts = column.values[place]
    cumulative = [0.0, *itertools.accumulate(counts)]
    number = cumulative[-1]
    sampling = Component(variance=max(number, 0.0) * q * (1 - q) if sampled else 0.0)
    widths = []
    for noise in noises:
        parts = [*[noise] * column.groups, sampling]
        widths.append(quantile(parts, level=column.level) * math.sqrt(variance(parts)))
    low, high = inverted([c - q * number for c in cumulative], widths=widths)
    lower, upper = edges[low], edges[high]
    if number < 1:
        return Found(value=None, error=None, lower=float(lower), upper=float(upper))
    point = interpolated(monotone(cumulative), edges, target=q * number)
    return Found(
        value=min(max(point, float(lower)), float(upper)),
        error=(upper - lower) / (2 * quantile((), level=column.level)),
        lower=float(lower),
        upper=float(upper),
    )


def _cut(share: float, *, most: float) -> float:
    return min(most, max(0.0, share))
