"""Standardised mean differences between two columns of a Table 1, for their populations.

- number: d = (m₂ − m₁)/s with s² = (s₁² + s₂²)/2, shown where the noise leaves s² known; with the
  errors of noise and of sampling (of variances as of normal data) [HO85, sec. 5.B], given that it
  is shown (:mod:`.selected`);
- two labels: the same with the share p of the last label and s² = (p₁q₁ + p₂q₂)/2;
- more labels: D = √(δ'S⁻¹δ), with δ the differences of all shares but the last's and S the mean of
  the two multinomial covariances [YD12].  D ≥ 0 has no sign, and noise raises D̂² on average by
  tr(S⁻¹V), V the noise's covariance of δ̂: that much is taken off.  Where what is left is less than
  the noise's own deviation of D̂², √(2·tr((S⁻¹V)²)), the noise alone could have made all of it, and
  no value is given: 0 would be read as balance.  The interval holds every D that
  is not rejected on either side by simulation along the direction found, given that a value is
  shown; where it reaches 0, only one side can reject, so it covers 97.5 %.  Without a value it ends
  at the D that is without one a fortieth as often as 0 is.

References:
    [HO85] Hedges, Olkin. Statistical methods for meta-analysis. Academic Press, 1985.
    [YD12] Yang, Dalton. A unified approach to measuring the effect size between two groups using
        SAS. SAS Global Forum 2012, paper 335.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confide.plans.estimation.intervals import Component, quantile, variance
from confide.plans.estimation.pooled import PooledColumn, PooledNumber
from confide.plans.simulation import Simulation
from confide.statistics.table_one.selected import LEAST, DifferencePair
from confide.statistics.table_one.summaries import (
    mean_of,
    mean_weights,
    spread_of,
    spread_weights,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NONE = PooledNumber(value=None, error=None, lower=-math.inf, upper=math.inf)
"""No difference: there are too few rows, or none of them differ."""
_RUNS = 4000
_LEAST_SHARE = 1e-12  # half a row, of as many as no data hold


def of_numbers(first: PooledColumn, second: PooledColumn, place: int) -> PooledNumber:
    """Return the difference of two means, second minus first, where their spread is known."""
    columns = (first, second)
    number = [column.sum({place: (1.0, 1.0, 1.0)}) for column in columns]
    if min(number) < 2:
        return NONE
    spreads = [spread_of(column, place) for column in columns]
    means = [mean_weights(column, place) for column in columns]
    squares = [[w / 2 for w in spread_weights(column, place)] for column in columns]
    pooled = sum(spreads) / 2
    shown = LEAST * math.sqrt(sum(_noises(columns, place, squares, squares)))
    if pooled <= shown:
        return NONE
    sampled = [spread / rows for spread, rows in zip(spreads, number, strict=True)]
    shared = _noises(columns, place, means, squares)
    pair = DifferencePair(
        difference=mean_of(second, place) - mean_of(first, place),
        pooled=pooled,
        shown=shown,
        of_difference=sum(_noises(columns, place, means, means)) + sum(sampled),
        of_pooled=sum(_noises(columns, place, squares, squares))
        + sum(s * spread / 2 for s, spread in zip(sampled, spreads, strict=True)),
        both=shared[1] - shared[0],
    )
    to_mean, to_spread = pair.slopes
    parts = [
        Component(
            variance=sum(
                to_mean**2 * s + to_spread**2 * s * spread / 2
                for s, spread in zip(sampled, spreads, strict=True)
            )
        )
    ]
    for column, sign, m, q in zip(columns, (-1, 1), means, squares, strict=True):
        weights = [sign * to_mean * x + to_spread * y for x, y in zip(m, q, strict=True)]
        parts += column.parts({place: weights})
    longer = quantile(parts, level=first.level) / quantile((), level=first.level)
    lower, upper = pair.interval(level=first.level, longer=longer)
    return PooledNumber(
        value=pair.ratio, error=math.sqrt(variance(parts)), lower=lower, upper=upper
    )


def _noises(
    columns: Sequence[PooledColumn], place: int, one: Sequence[Any], other: Sequence[Any]
) -> list[float]:
    """Return the noise's covariance of two weighted sums of each column."""
    return [
        column.of.covariance({place: a}, {place: b})
        for column, a, b in zip(columns, one, other, strict=True)
    ]


def of_two_labels(first: PooledColumn, second: PooledColumn, place: int) -> PooledNumber:
    """Return the difference of the last label's two shares, second minus first."""
    number = [column.sum({place: (1.0, 1.0)}) for column in (first, second)]
    if min(number) < 2:
        return NONE
    shares = [
        min(1.0, max(0.0, column.sum({place: (0.0, 1.0)}) / rows))
        for column, rows in zip((first, second), number, strict=True)
    ]
    half = [max(0.5 / rows, _LEAST_SHARE) for rows in number]
    held = [  # half a row has either label: of nobody's share alone, noise would make the spread
        min(1 - least, max(least, p)) for p, least in zip(shares, half, strict=True)
    ]
    spread = sum(p * (1 - p) for p in held) / 2
    d = (shares[1] - shares[0]) / math.sqrt(spread)
    parts = []
    for column, sign, rows, p in zip((first, second), (-1, 1), number, held, strict=True):
        slope = sign / math.sqrt(spread) - d * (1 - 2 * p) / (4 * spread)
        weights = (-slope * p / rows, slope * (1 - p) / rows)
        sampling = Component(variance=slope**2 * p * (1 - p) / rows)
        parts += [*column.parts({place: weights}), sampling]
    return _normal(d, parts, level=first.level)


def _normal(d: float, parts: list[Component], *, level: float) -> PooledNumber:
    error = math.sqrt(variance(parts))
    width = quantile(parts, level=level) * error
    return PooledNumber(value=d, error=error, lower=d - width, upper=d + width)


def of_labels(
    first: PooledColumn, second: PooledColumn, place: int, *, simulation: Simulation, purpose: str
) -> PooledNumber:
    """Return the distance of the shares of three labels or more."""
    import numpy as np

    labels = len(first.values[place])
    number = [column.sum({place: (1.0,) * labels}) for column in (first, second)]
    if min(number) < 2:
        return NONE
    raw = [np.array(c.values[place]) / n for c, n in zip((first, second), number, strict=True)]
    sampling = [_multinomial(p * n, n) for p, n in zip(raw, number, strict=True)]
    noises = [_noise(c, place, p, n) for c, p, n in zip((first, second), raw, number, strict=True)]
    noise = noises[0] + noises[1]
    root = np.linalg.cholesky((sampling[0] + sampling[1]) / 2)
    whole = noise + sampling[0] / number[0] + sampling[1] / number[1]

    def whitened(matrix: Any) -> Any:
        return np.linalg.solve(root, np.linalg.solve(root, matrix).T)

    found = np.linalg.solve(root, (raw[1] - raw[0])[:-1])
    size = float(np.sqrt(found @ found))
    spread = whitened(whole)
    # numerically symmetric, and a floor far below any error
    spread = (spread + spread.T) / 2 + 1e-12 * np.eye(labels - 1)
    chance = simulation.generator(purpose)
    drawn = chance.standard_normal((_RUNS, labels - 1))
    errors = drawn @ np.linalg.cholesky(spread).T
    along = errors @ (found / size) if size > 0 else errors[:, 0]
    of_noise = whitened(noise)
    added = float(np.trace(of_noise))
    law = _Squares(
        along=along,
        squares=(errors**2).sum(axis=1),
        stretch=1
        + chance.standard_normal(_RUNS)
        * _of_scale(
            np.linalg.solve(root.T, found),
            [p[:-1] for p in raw],
            [n + s / rows for n, s, rows in zip(noises, sampling, number, strict=True)],
        ),
        shown=added + math.sqrt(2 * float((of_noise**2).sum())),
        tail=(1 - first.level) / 2,
    )
    if size**2 <= law.shown:
        return PooledNumber(value=None, error=None, lower=0.0, upper=law.most_hidden())
    value = math.sqrt(size**2 - added)
    lower, upper = law.not_rejected(size)
    return PooledNumber(
        value=value,
        error=(upper - lower) / (2 * quantile((), level=first.level)),
        lower=min(lower, value),
        upper=max(upper, value),
    )


def _of_scale(slope: Any, shares: Sequence[Any], errors: Sequence[Any]) -> float:
    """Return the relative error of D that is not in the difference δ but in S.

    dD² = Σ ±2v·dp − ½Σ(vᵢ² − 2vᵢ(p·v))dpᵢ, with v = S⁻¹δ and D² = δ·v.

    Args:
        slope: v.
        shares: p of each column, but the last.
        errors: Their covariances.
    """
    whole = alone = square = 0.0
    for sign, p, error in zip((-1, 1), shares, errors, strict=True):
        both = 2 * sign * slope - (slope**2 - 2 * slope * (p @ slope)) / 2
        whole += float(both @ error @ both)
        alone += float(4 * slope @ error @ slope)
        square += sign * float(p @ slope)
    return math.sqrt(max(0.0, whole - alone)) / (2 * square) if square > 0 else 0.0


def _multinomial(counts: "NDArray[np.float64]", number: float) -> "NDArray[np.float64]":
    """Return the covariance of one row's labels but the last; half a row is added to each."""
    import numpy as np

    p = (np.maximum(counts, 0) + 0.5) / (
        max(number, float(np.maximum(counts, 0).sum())) + 0.5 * len(counts)
    )
    p = p[:-1]
    return np.asarray(np.diag(p) - np.outer(p, p))


def _noise(column: PooledColumn, place: int, p: Any, number: float) -> Any:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Squares:
    """The simulated law of |D·u·(1 + e) + Z|², which is shown above a threshold.

    Attributes:
        along: Errors along the direction found, one a run.
        stretch: What D is multiplied by, as S has an error too.
        squares: Their squared lengths.
        shown: Threshold.
        tail: (1 − level)/2.
    """

    along: "NDArray[np.float64]"
    squares: "NDArray[np.float64]"
    stretch: "NDArray[np.float64]"
    shown: float
    tail: float

    def _above(self, least: float, *, distance: float) -> float:
        """Return how often the square is ``least`` or more, at a distance D."""
        seen = distance * self.stretch
        square = seen**2 + 2 * seen * self.along + self.squares
        return float((square >= least).mean())

    def most_hidden(self) -> float:
        """Return the D that is hidden ``tail`` times as often as 0 is: all that being hidden says.

        Of the chance at 0, as a sample may be so large that even 0 is seldom hidden.
        """
        hidden = max(1 - self._above(self.shown, distance=0.0), 1 / len(self.along))
        return _bisect(
            lambda d: self._above(self.shown, distance=d),
            0.0,
            self._far,
            level=1 - self.tail * hidden,
        )

    def not_rejected(self, size: float) -> tuple[float, float]:
        """Return the least and the greatest D that neither tail rejects, given that it is shown."""

        def given(distance: float) -> float:
            shown = max(self._above(self.shown, distance=distance), 1 / len(self.along))
            return self._above(size**2, distance=distance) / shown

        most = size + self._far
        lower = 0.0 if given(0.0) >= self.tail else _bisect(given, 0.0, size, level=self.tail)
        return lower, _bisect(given, lower, most, level=1 - self.tail)

    @property
    def _far(self) -> float:
        return math.sqrt(self.shown) + 8 * math.sqrt(float(self.squares.mean()))


def _bisect(rising: Any, low: float, high: float, *, level: float) -> float:
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < level else (low, middle)
    return (low + high) / 2
