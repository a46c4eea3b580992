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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from confide.plans.estimation.intervals import Component

_LEAST, _RATIO = 1e-12, 1e-9

Weights: TypeAlias = Mapping[int, Sequence[float]]
"""Weights of the coordinates of some blocks, by position of the block; of all others 0."""


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
        self._constraints = tuple(constraints)
        spread = [block.size * block.noise.variance for block in self._blocks]
        gram = [
            [sum(a.get(i, 0) * b.get(i, 0) * v for i, v in enumerate(spread)) for b in constraints]
            for a in constraints
        ]
        self._inverse = inverse(gram)

    def values(self, noisy: Sequence[Sequence[float]]) -> list[list[float]]:
        """Return the least-squares values; one list a block."""
        multipliers = self._multipliers([math.fsum(values) for values in noisy])
        shifts = [
            block.noise.variance * shift
            for block, shift in zip(self._blocks, self._spread_out(multipliers), strict=True)
        ]
        return [[v - s for v in values] for values, s in zip(noisy, shifts, strict=True)]

    def component(self, weights: Weights) -> Component:
        """Return the error of a weighted sum of the least-squares values."""
        total = fourths = steps = 0.0
        for block, factors in zip(self._blocks, self._factors(weights), strict=True):
            noise = block.noise
            squares = math.fsum(f * f * n for f, n in factors)
            total += noise.variance * squares
            fourths += noise.excess_kurtosis * noise.variance**2 * sum(f**4 * n for f, n in factors)
            steps += noise.step * noise.variance * sum(abs(f) ** 3 * n for f, n in factors)
        if total <= 0:
            return Component(variance=0.0)
        return Component(variance=total, excess_kurtosis=fourths / total**2, step=steps / total)

    def covariance(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two weighted sums of the least-squares values.

        The answers are a projection, orthogonal in Σ⁻¹, so one of the two may be left as it is.
        """
        shifts = self._spread_out(self._multipliers(self._sums(first)))
        total = 0.0
        for place, weights in second.items():
            own = first.get(place, (0.0,) * len(weights))
            factors = (a - shifts[place] for a in own)
            products = math.fsum(f * b for f, b in zip(factors, weights, strict=True))
            total += self._blocks[place].noise.variance * products
        return total

    def _factors(self, weights: Weights) -> list[list[tuple[float, int]]]:
        """Return, block by block, the factors of the noises and how often each occurs."""
        shifts = self._spread_out(self._multipliers(self._sums(weights)))
        return [
            [(a - shift, len(list(run))) for a, run in itertools.groupby(weights[place])]
            if place in weights
            else [(-shift, block.size)]
            for place, (block, shift) in enumerate(zip(self._blocks, shifts, strict=True))
        ]

    def _sums(self, weights: Weights) -> list[float]:
        return [
            math.fsum(weights.get(place, ())) * block.noise.variance
            for place, block in enumerate(self._blocks)
        ]

    def _multipliers(self, sums: Sequence[float]) -> list[float]:
        """Return (C·Σ·Cᵀ)⁻¹ times what the constraints say of the sums."""
        off = [sum(k * sums[place] for place, k in c.items()) for c in self._constraints]
        return [math.fsum(a * b for a, b in zip(row, off, strict=True)) for row in self._inverse]

    def _spread_out(self, multipliers: Sequence[float]) -> list[float]:
        """Return Cᵀ times the multipliers, one number a block."""
        found = [0.0] * len(self._blocks)
        for constraint, multiplier in zip(self._constraints, multipliers, strict=True):
            for place, factor in constraint.items():
                found[place] += factor * multiplier
        return found


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
