"""Standardised mean differences between two columns of a Table 1, for their populations.

- number: d = (m₂ − m₁)/s with s² = (s₁² + s₂²)/2; by the delta method, with the errors of noise and
  of sampling (of variances as of normal data) [HO85, sec. 5.B];
- two labels: the same with the share p of the last label and s² = (p₁q₁ + p₂q₂)/2;
- more labels: D = √(δ'S⁻¹δ), with δ the differences of all shares but the last's and S the mean of
  the two multinomial covariances [YD12].  D ≥ 0 has no sign, and noise raises D̂² on average by
  tr(S⁻¹V), V the noise's covariance of δ̂: that much is taken off.  Where what is left is less than
  the noise's own deviation of D̂², √(2·tr((S⁻¹V)²)), the noise alone could have made all of it, and
  no value is given: 0 would be read as balance.  The interval holds every D that
  is not rejected on either side by simulation along the direction found; where it reaches 0, only
  one side can reject, so it covers 97.5 %.

References:
    [HO85] Hedges, Olkin. Statistical methods for meta-analysis. Academic Press, 1985.
    [YD12] Yang, Dalton. A unified approach to measuring the effect size between two groups using
        SAS. SAS Global Forum 2012, paper 335.
"""

import math
from typing import TYPE_CHECKING, Any

from confide.plans.intervals import Component, quantile, variance
from confide.plans.pooled import Column, Found
from confide.plans.simulation import Simulation
from confide.statistics.table_one.summaries import (
    mean_of,
    mean_weights,
    spread_of,
    spread_weights,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = Found(value=None, error=None, lower=-math.inf, upper=math.inf)
"""No difference: there are too few rows, or none of them differ."""
_RUNS = 2000


def of_numbers(first: Column, second: Column, place: int) -> Found:
    """Return the difference of two means, second minus first."""
    number = [column.sum({place: (1.0, 1.0, 1.0)}) for column in (first, second)]
    spreads = [spread_of(column, place) for column in (first, second)]
    pooled = sum(spreads) / 2
    if min(number) < 2 or pooled <= 0:
        return NONE
    d = (mean_of(second, place) - mean_of(first, place)) / math.sqrt(pooled)
    parts = []
    for column, sign, rows, spread in zip((first, second), (-1, 1), number, spreads, strict=True):
        means, squares = mean_weights(column, place), spread_weights(column, place)
        to_mean, to_spread = sign / math.sqrt(pooled), -d / (4 * pooled)
        weights = [to_mean * m + to_spread * s for m, s in zip(means, squares, strict=True)]
        sampling = (to_mean**2 * spread + to_spread**2 * 2 * spread**2) / rows
        parts += [*column.parts({place: weights}), Component(variance=sampling)]
    return _normal(d, parts, level=first.level)


def of_two_labels(first: Column, second: Column, place: int) -> Found:
    """Return the difference of the last label's two shares, second minus first."""
    number = [column.sum({place: (1.0, 1.0)}) for column in (first, second)]
    if min(number) < 2:
        return NONE
    shares = [
        min(1.0, max(0.0, column.sum({place: (0.0, 1.0)}) / rows))
        for column, rows in zip((first, second), number, strict=True)
    ]
    spread = sum(p * (1 - p) for p in shares) / 2
    if spread <= 0:
        return NONE
    d = (shares[1] - shares[0]) / math.sqrt(spread)
    parts = []
    for column, sign, rows, p in zip((first, second), (-1, 1), number, shares, strict=True):
        slope = sign / math.sqrt(spread) - d * (1 - 2 * p) / (4 * spread)
        weights = (-slope * p / rows, slope * (1 - p) / rows)
        sampling = Component(variance=slope**2 * p * (1 - p) / rows)
        parts += [*column.parts({place: weights}), sampling]
    return _normal(d, parts, level=first.level)


def _normal(d: float, parts: list[Component], *, level: float) -> Found:
    error = math.sqrt(variance(parts))
    width = quantile(parts, level=level) * error
    return Found(value=d, error=error, lower=d - width, upper=d + width)


def of_labels(
    first: Column, second: Column, place: int, *, simulation: Simulation, purpose: str
) -> Found:
    """Return the distance of the shares of three labels or more."""
    import numpy as np

    labels = len(first.values[place])
    number = [column.sum({place: (1.0,) * labels}) for column in (first, second)]
    if min(number) < 2:
        return NONE
    raw = [np.array(c.values[place]) / n for c, n in zip((first, second), number, strict=True)]
    sampling = [_multinomial(p * n, n) for p, n in zip(raw, number, strict=True)]
    noise = sum(
        _noise(c, place, p, n) for c, p, n in zip((first, second), raw, number, strict=True)
    )
    root = np.linalg.cholesky((sampling[0] + sampling[1]) / 2)
    whole = noise + sampling[0] / number[0] + sampling[1] / number[1]

    def whitened(matrix: Any) -> Any:
        return np.linalg.solve(root, np.linalg.solve(root, matrix).T)

    found = np.linalg.solve(root, (raw[1] - raw[0])[:-1])
    size = float(np.sqrt(found @ found))
    spread = whitened(whole)
    # numerically symmetric, and a floor far below any error
    spread = (spread + spread.T) / 2 + 1e-12 * np.eye(labels - 1)
    drawn = simulation.generator(purpose).standard_normal((_RUNS, labels - 1))
    errors = drawn @ np.linalg.cholesky(spread).T
    along = errors @ (found / size) if size > 0 else errors[:, 0]
    squares = (errors**2).sum(axis=1)
    lower, upper = _not_rejected(size, along=along, squares=squares, level=first.level)
    of_noise = whitened(noise)
    left = size**2 - float(np.trace(of_noise))
    if left <= math.sqrt(2 * float((of_noise**2).sum())):
        return Found(value=None, error=None, lower=lower, upper=upper)
    value = math.sqrt(left)
    return Found(
        value=value,
        error=(upper - lower) / (2 * quantile((), level=first.level)),
        lower=min(lower, value),
        upper=max(upper, value),
    )


def _multinomial(counts: "NDArray[np.float64]", number: float) -> "NDArray[np.float64]":
    """Return the covariance of one row's labels but the last; half a row is added to each."""
    import numpy as np

    p = (np.maximum(counts, 0) + 0.5) / (
        max(number, float(np.maximum(counts, 0).sum())) + 0.5 * len(counts)
    )
    p = p[:-1]
    return np.asarray(np.diag(p) - np.outer(p, p))


def _noise(column: Column, place: int, p: Any, number: float) -> Any:
    """Return the noise's covariance of the shares but the last."""
    import numpy as np

    labels = len(p)
    weights = [
        {place: tuple(((i == j) - float(p[i])) / number for j in range(labels))}
        for i in range(labels - 1)
    ]
    return column.groups * np.array(
        [[column.of.covariance(a, b) for b in weights] for a in weights]
    )


def _not_rejected(size: float, *, along: Any, squares: Any, level: float) -> tuple[float, float]:
    """Return the least and the greatest D with both tails of |D·u + Z|² at least (1 − level)/2."""
    import numpy as np

    tail = (1 - level) / 2

    def above(distance: float) -> float:
        return float(np.mean(distance**2 + 2 * distance * along + squares >= size**2))

    most = size + 8 * math.sqrt(float(squares.mean()))
    lower = 0.0 if above(0.0) >= tail else _bisect(above, 0.0, size, level=tail)
    return lower, _bisect(above, lower, most, level=1 - tail)


def _bisect(rising: Any, low: float, high: float, *, level: float) -> float:
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < level else (low, middle)
    return (low + high) / 2
