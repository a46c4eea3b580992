"""Noisy numbers that must add up: least squares under linear constraints, and whole numbers.

Vectors of the same rows measure the same totals several times.  With independent noise of known
variances Σ and constraints C·x = 0, the least-squares answer to noisy y is

    x̂ = y − Σ·Cᵀ·(C·Σ·Cᵀ)⁻¹·C·y,

which has the smallest variance of all linear unbiased answers (Gauss–Markov), satisfies the
constraints, and is linear in y, so the error of any sum a·x̂ is a known sum of the noises.

*Privacy:* post-processing.
*Utility:* a coordinate's correction depends on its block alone, because a constraint looks at all
coordinates of a block alike.  So everything is arithmetic on as many numbers as there are blocks.

References:
    [HRMS10] Hay, Rastogi, Miklau, Suciu. Boosting the accuracy of differentially private histograms
        through consistency. PVLDB 3(1), 2010. https://doi.org/10.14778/1920841.1920970
    [DSSC08] Duchi, Shalev-Shwartz, Singer, Chandra. Efficient projections onto the l1-ball for
        learning in high dimensions. ICML 2008. https://doi.org/10.1145/1390156.1390191
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.plans.estimation.intervals import Component

_LEAST, _RATIO = 1e-12, 1e-9
_REMEMBERED = 1024

Weights: TypeAlias = Mapping[int, Sequence[float]]
"""Weights of the coordinates of some blocks, by position of the block; of all others 0."""


_Frozen: TypeAlias = tuple[tuple[int, tuple[float, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Coordinates of one noisy vector that every constraint looks at alike.

    Attributes:
        size: Number of coordinates.
        noise: Error of each of them, independent.
    """

    size: int
    noise: Component


class Consistent:
    """Blocks with constraints between their sums.

    Args:
        blocks: In the order that weights and values refer to.
        constraints: Each a factor for the sum of some blocks; together these sums are 0.

    Example:
        Two counts of the same people, the second by sex: all three numbers move by a third.

        >>> one = Component(variance=2.0)
        >>> of = Consistent([Block(size=1, noise=one), Block(size=2, noise=one)], [{0: -1, 1: 1}])
        >>> [[round(x, 3) for x in block] for block in of.values([[100.0], [46.0, 51.0]])]
        [[99.0], [47.0, 52.0]]
        >>> round(of.component({0: [1.0]}).variance, 3)
        1.333
    """

    def __init__(self, blocks: Sequence[Block], constraints: Sequence[Mapping[int, float]]) -> None:
        # a large budget leaves so little noise that its variance is 0 in floating point
        floor = max(_LEAST, _RATIO * max(block.noise.variance for block in blocks))
        self._blocks = tuple(
            replace(block, noise=replace(block.noise, variance=max(block.noise.variance, floor)))
            for block in blocks
        )
        self._sizes = [block.size for block in self._blocks]
        self._starts = [0, *itertools.accumulate(self._sizes)]
        self._variances = np.array([block.noise.variance for block in self._blocks])
        kurtoses = np.array([block.noise.excess_kurtosis for block in self._blocks])
        steps = np.array([block.noise.step for block in self._blocks])
        self._per_square, self._per_cube, self._per_fourth = (
            np.repeat(each, self._sizes)
            for each in (
                self._variances,
                self._variances * steps,
                self._variances**2 * kurtoses,
            )
        )
        self._asked = tuple(constraints)
        self._constraints = np.zeros((len(constraints), len(self._blocks)))
        for row, constraint in zip(self._constraints, constraints, strict=True):
            row[list(constraint)] = list(constraint.values())
        spread = [block.size * block.noise.variance for block in self._blocks]
        gram = [
            [sum(a.get(i, 0) * b.get(i, 0) * v for i, v in enumerate(spread)) for b in constraints]
            for a in constraints
        ]
        # the same sums are asked of every group, and of every quartile
        self._factors = lru_cache(maxsize=_REMEMBERED)(self._factors_of)
        self._component_of = lru_cache(maxsize=_REMEMBERED)(self._component_of_sum)
        self._inverse = np.array(inverse(gram)).reshape(len(constraints), len(constraints))

    def values(self, noisy: Sequence[Sequence[float]]) -> list[list[float]]:
        """Return the least-squares values; one list a block.

        Many are halves of whole numbers: they are computed in one order on every machine, so that
        what is rounded of them is the same on all.
        """
        sums = [math.fsum(values) for values in noisy]
        off = [sum(k * sums[place] for place, k in each.items()) for each in self._asked]
        multipliers = [
            math.fsum(a * b for a, b in zip(row, off, strict=True))
            for row in self._inverse.tolist()
        ]
        shifts = [0.0] * len(sums)
        for each, multiplier in zip(self._asked, multipliers, strict=True):
            for place, factor in each.items():
                shifts[place] += factor * multiplier
        of = [v * shift for v, shift in zip(self._variances.tolist(), shifts, strict=True)]
        return [[v - s for v in values] for values, s in zip(noisy, of, strict=True)]

    def component(self, weights: Weights) -> Component:
        """Return the error of a weighted sum of the least-squares values."""
        return self._component_of(_frozen(weights))

    def along(self, first: Weights, second: Weights) -> Callable[[float], Component]:
        """Return the error of the first weighted sum plus t times the second, as a function of t.

        Example:
            >>> one = Component(variance=2.0)
            >>> of = Consistent([Block(size=2, noise=one)], [])
            >>> of.along({0: [1.0, 0.0]}, {0: [0.0, 1.0]})(3.0).variance
            20.0
        """
        one, other = self._factors(_frozen(first)), self._factors(_frozen(second))
        return lambda t: self._component(one + t * other)

    def _component(self, factors: NDArray[np.float64]) -> Component:
        """Return the error of the sum of the noises, each times its factor, (coordinates,)."""
        squares = factors * factors
        total = float(self._per_square @ squares)
        if total <= 0:
            return Component(variance=0.0)
        return Component(
            variance=total,
            excess_kurtosis=float(self._per_fourth @ (squares * squares)) / total**2,
            step=float(self._per_cube @ (squares * np.abs(factors))) / total,
        )

    def covariance(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two weighted sums of the least-squares values."""
        both = self._factors(_frozen(first)) * self._factors(_frozen(second))
        return float(self._per_square @ both)

    def _component_of_sum(self, weights: _Frozen) -> Component:
        return self._component(self._factors(weights))

    def _factors_of(self, weights: _Frozen) -> NDArray[np.float64]:
        """Return how often each noise is in a weighted sum of the values, (coordinates,)."""
        sums = np.zeros(len(self._blocks))
        for place, own in weights:
            sums[place] = math.fsum(own)
        found = np.repeat(-self._shifts(self._variances * sums), self._sizes)
        for place, own in weights:
            found[self._starts[place] : self._starts[place + 1]] += own
        return found

    def _shifts(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Cᵀ·(C·Σ·Cᵀ)⁻¹ times what the constraints say of the sums of blocks, (blocks,)."""
        found: NDArray[np.float64] = (
            self._inverse @ (self._constraints @ sums)
        ) @ self._constraints
        return found


def _frozen(weights: Weights) -> _Frozen:
    return tuple((place, tuple(own)) for place, own in weights.items())


@lru_cache(maxsize=8)
def least_squares(
    blocks: tuple[Block, ...], constraints: tuple[tuple[tuple[int, float], ...], ...]
) -> Consistent:
    """Return the least squares of blocks, remembered: they depend on public facts alone."""
    return Consistent(blocks, [dict(each) for each in constraints])


def inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the inverse of a positive definite matrix (Gauss–Jordan, largest pivot first).

    Example:
        >>> inverse([[4.0, 0.0], [0.0, 2.0]])
        [[0.25, 0.0], [0.0, 0.5]]
    """
    size = len(matrix)
    rows = [
        [*map(float, row), *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)
    ]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        lead = rows[i][i]
        rows[i] = [value / lead for value in rows[i]]
        for k in range(size):
            if k != i and rows[k][i] != 0:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[size:] for row in rows]


def whole_parts(parts: Sequence[float], *, total: int) -> list[int]:
    """Return the whole numbers ≥ 0 nearest to ``parts`` that add up to ``total``.

    First the nearest real ones, max(0, x − τ) [DSSC08], then those rounded down, and the rest given
    to the largest fractions.

    Example:
        >>> whole_parts([6.4, -1.0, 3.4], total=9)
        [6, 0, 3]
        >>> whole_parts([6.4, -1.0, 3.4], total=10)
        [7, 0, 3]
    """
    if not parts:
        return []
    cut = _cut(parts, total=total)
    kept = [max(0.0, x - cut) for x in parts]
    found = [math.floor(x) for x in kept]
    order = sorted(range(len(parts)), key=lambda i: (found[i] - kept[i], i))
    for i in order[: max(0, total - sum(found))]:
        found[i] += 1
    apart = total - sum(found)  # rounding errors of floats alone
    found[order[0]] += max(0, apart)
    for i in reversed(order):
        taken = min(max(0, -apart), found[i])
        found[i], apart = found[i] - taken, apart + taken
    return found


def _cut(parts: Sequence[float], *, total: int) -> float:
    """Return τ with Σ max(0, x − τ) = total."""
    running, cut = 0.0, math.inf
    for count, x in enumerate(sorted(parts, reverse=True), start=1):
        running += x
        level = (running - total) / count
        if count > 1 and x <= cut:
            break
        cut = level
    return cut
