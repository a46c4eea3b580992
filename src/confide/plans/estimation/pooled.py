"""Counts and shares of least-squares values, for one group of rows or for all groups together.

Every number is a function of sums of least-squares values, whose errors are known sums of noises
(:mod:`confide.plans.estimation.consistency`).  A ratio A/K has Fieller's interval
{t : (A − t·K)² ≤ q²·Var(A − t·K)}.

*Privacy:* post-processing.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from confide.plans.estimation.consistency import Consistent, Weights
from confide.plans.estimation.intervals import Component, quantile, score_interval, variance


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledColumn:
    """A group of rows, or all groups together.

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
class PooledNumber:
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


def count(column: PooledColumn, weights: Weights, *, whole: int) -> PooledNumber:
    """Return a number of rows, given as the whole number that adds up with the others."""
    parts = column.parts(weights)
    deviation = math.sqrt(variance(parts))
    width = quantile(parts, level=column.level) * deviation
    middle = max(0.0, column.sum(weights))  # else noise far below 0 would leave no interval
    return PooledNumber(
        value=float(whole),
        error=deviation,
        lower=min(float(whole), float(max(0, math.ceil(middle - width)))),
        upper=max(float(whole), float(math.floor(middle + width))),
    )


def few(column: PooledColumn, known: Weights) -> bool:
    """Return whether a denominator is less than ten of its standard deviations."""
    return column.sum(known) < 10 * math.sqrt(variance(column.parts(known)))


def share(
    column: PooledColumn, having: Weights, known: Weights, *, value: float | None, sampled: bool
) -> PooledNumber:
    """Return a share of the known rows, in [0, 1].

    Args:
        column: Whose rows.
        having: The rows counted.
        known: The rows that they are a share of.
        value: The share, of whole numbers; None without known rows.
        sampled: Whether the interval covers other samples of the population too.
    """
    number = column.sum(known)
    if value is None or number < 1:
        return PooledNumber(value=None, error=None, lower=0.0, upper=1.0)
    rows = number if sampled else 0.0
    return ratio(column, having, known, at=value, spread=(0.0, rows, -rows))


def ratio(
    column: PooledColumn,
    numerator: Weights,
    denominator: Weights,
    *,
    at: float,
    spread: tuple[float, float, float],
) -> PooledNumber:
    """Return a ratio in [0, 1]; ``spread``: the sampling variance as c₀ + c₁t + c₂t²."""
    of, groups = column.of, column.groups
    number = column.sum(denominator)
    first = groups * of.component(numerator).variance
    last = groups * of.component(denominator).variance
    both = groups * of.covariance(numerator, denominator)
    noise = of.along(numerator, denominator)

    def parts(t: float) -> list[Component]:
        sampled = max(spread[0] + t * spread[1] + t**2 * spread[2], 0.0)
        return [*[noise(-t)] * groups, Component(variance=sampled)]

    interval = score_interval(
        min(number, max(0.0, column.sum(numerator))),
        number,
        coefficients=(first + spread[0], spread[1] - 2 * both, last + spread[2]),
        parts=parts,
        level=column.level,
    )
    low, high = (0.0, 1.0) if interval is None else interval
    return PooledNumber(
        value=at,
        error=math.sqrt(variance(parts(at))) / number,
        lower=min(cut(low, most=1.0), at),
        upper=max(cut(high, most=1.0), at),
    )


def cut(share: float, *, most: float) -> float:
    """Return a share, cut to [0, most]."""
    return min(most, max(0.0, share))
