"""Counts of areas within areas, made consistent: weighted least squares on a tree, in two passes.

Each area of each level has an independent unbiased measurement y with a variance v that its level
shares.  Going up, an area's own measurement is averaged with the sum of its parts,

    S = ΣV(parts),  1/V = 1/v + 1/S,  z = V·(y/v + Σz(parts)/S),

and going down, what is left between an area and its parts is spread over them in proportion to
their V: x(part) = z(part) + (V(part)/S)·(x(area) − Σz(parts)).  That is the least-squares solution
[Hay10, sec. 4.2] for any numbers of parts and any variances [Hon15, sec. 2], hence the best linear
unbiased estimate; both passes are linear in the number of areas.

*Utility:* with D the share of z that is left in x (1 at the top), x(area) = D·z + rest, where the
rest is independent of z.  So variances and fourth cumulants of every x follow exactly on the way
down.  For a county of k tracts measured with variances σ_c² and σ_t²:
Var(county) = 1/(1/σ_c² + 1/(kσ_t²)), Var(tract) = σ_t²(1 − 1/k) + Var(county)/k².

References:
    [Hay10] Hay, Rastogi, Miklau, Suciu. Boosting the accuracy of differentially private histograms
        through consistency. VLDB 2010. https://doi.org/10.14778/1920841.1920970
    [Hon15] Honaker. Efficient use of differentially private binary trees. TPDP 2015.
        https://hona.kr/papers/files/privatetrees.pdf
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.plans.estimation.intervals import Component


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Areas within areas, by position.

    Attributes:
        sizes: Number of areas of each level, finest first.
        parents: For each level but the last, the place at the next level of each of its areas.
    """

    sizes: tuple[int, ...]
    parents: tuple[NDArray[np.int64], ...]

    def up(self, values: Floats, *, level: int) -> Floats:
        """Return the sums over the parts of each area of ``level``, of shape (…, areas)."""
        total: Floats = np.zeros((self.sizes[level], *values.shape[:-1]))
        np.add.at(total, self.parents[level - 1], np.moveaxis(values, -1, 0))
        return np.moveaxis(total, 0, -1)

    def down(self, values: Floats, *, level: int) -> Floats:
        """Return, for each area of ``level``, the value of the area that holds it."""
        held: Floats = values[..., self.parents[level]]
        return held


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The errors of the estimates of one level.

    Attributes:
        variance: Of shape (areas,).
        cumulant: Fourth cumulants, of shape (areas,).
        whole: Least variance of a sum of measurements that estimates the area, of shape (areas,).
    """

    variance: Floats
    cumulant: Floats
    whole: Floats

    def error(self, area: int, *, step: float) -> Component:
        """Return the error of one estimate; measurements lie on a lattice of that step.

        The estimate is the least noisy sum of measurements plus what least squares adds, of
        variance ``whole`` − ``variance``, which blurs the lattice: its first harmonic is damped by
        exp(−2π²·that/step²), and so is the step.
        """
        variance = float(self.variance[area])
        square = variance**2  # 0 where the noise is all but none, and its tails matter no more
        blur = max(0.0, float(self.whole[area]) - variance)
        return Component(
            variance=variance,
            excess_kurtosis=float(self.cumulant[area]) / square if square > 0 else 0.0,
            step=step * math.exp(-2 * math.pi**2 * blur / step**2),
        )


def _upward(tree: Tree, variances: Sequence[float]) -> tuple[list[Floats], list[Floats]]:
    """Return V of each area from its own subtree, and S of its parts (0 at the finest level)."""
    best = [np.full(tree.sizes[0], variances[0])]
    parts = [np.zeros(tree.sizes[0])]
    for level in range(1, len(tree.sizes)):
        parts.append(tree.up(best[-1], level=level))
        best.append(1 / (1 / variances[level] + 1 / parts[level]))
    return best, parts


def consistent(
    noisy: Sequence[Floats], *, tree: Tree, variances: Sequence[float]
) -> tuple[Floats, ...]:
    """Return the least-squares estimates of every level, finest first.

    Args:
        noisy: Measurements of each level, of shape (…, areas); leading axes are repetitions.
        tree: Areas within areas.
        variances: Of one measurement of each level.

    Example:
        Two wards of 3 and 4, whose site was counted 9, all with the same noise:

        >>> site = Tree(sizes=(2, 1), parents=(np.array([0, 0]),))
        >>> wards, total = consistent(
        ...     [np.array([3.0, 4.0]), np.array([9.0])], tree=site, variances=(1.0, 1.0)
        ... )
        >>> [round(float(x), 3) for x in (*wards, *total)]
        [3.667, 4.667, 8.333]
    """
    best, parts = _upward(tree, variances)
    z = [np.asarray(noisy[0], dtype=np.float64)]
    sums: list[Floats] = [np.zeros(0)]
    for level in range(1, len(tree.sizes)):
        sums.append(tree.up(z[-1], level=level))
        z.append(best[level] * (noisy[level] / variances[level] + sums[level] / parts[level]))
    found = [z[-1]]
    for level in range(len(tree.sizes) - 2, -1, -1):
        left = (found[0] - sums[level + 1]) / parts[level + 1]
        found.insert(0, z[level] + best[level] * tree.down(left, level=level))
    return tuple(found)


def spreads(tree: Tree, measured: Sequence[Component]) -> tuple[Spread, ...]:
    """Return the exact variances and fourth cumulants of the estimates, finest first.

    Args:
        tree: Areas within areas.
        measured: Error of one measurement of each level.
    """
    variances = [part.variance for part in measured]
    fourth = [part.excess_kurtosis * part.variance**2 for part in measured]
    best, parts = _upward(tree, variances)
    cumulants = [np.full(tree.sizes[0], fourth[0])]
    sums: list[Floats] = [np.zeros(0)]
    for level in range(1, len(tree.sizes)):
        sums.append(tree.up(cumulants[-1], level=level))
        alone, together = best[level] / variances[level], best[level] / parts[level]
        cumulants.append(alone**4 * fourth[level] + together**4 * sums[level])
    top = len(tree.sizes) - 1
    left = np.ones(tree.sizes[top])  # D: what is left of z in x
    wholes = [np.full(tree.sizes[0], variances[0])]
    for level in range(1, len(tree.sizes)):
        wholes.append(np.minimum(variances[level], tree.up(wholes[-1], level=level)))
    found = [Spread(variance=best[top], cumulant=cumulants[top], whole=wholes[top])]
    for level in range(top - 1, -1, -1):
        above = found[0]
        passed = left * best[level + 1] / parts[level + 1]  # of Σz(parts) in x(area)
        rest = above.cumulant - passed**4 * sums[level + 1]
        held = (parts[level + 1], passed, rest, sums[level + 1])
        kept, passed_down, rest_down, all_parts = (tree.down(each, level=level) for each in held)
        share = best[level] / kept
        others = share * (1 - passed_down)
        left = 1 - others
        variance = best[level] * (1 - share) + share**2 * tree.down(above.variance, level=level)
        cumulant = (
            left**4 * cumulants[level]
            + others**4 * (all_parts - cumulants[level])
            + share**4 * rest_down
        )
        found.insert(0, Spread(variance=variance, cumulant=cumulant, whole=wholes[level]))
    return tuple(found)
