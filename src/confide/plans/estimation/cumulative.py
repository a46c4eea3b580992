"""Counts over public cells of a grid: ranks inverted outwards, and the quantile they point to.

With C(t) the noisy rows below edge t and N all rows, the test of rank t looks at g(t) = C(t) − qN,
whose noise is (1−q)·ΣZ below t − q·ΣZ above.  The interval begins at the first value of the first
cell j with g(j+1) ≥ −w(j+1) and ends at the last value of the last cell j with g(j) ≤ w(j), where
w(t) is the noise's quantile.

*Lemma:* each end misses the quantile with at most half of 1 − level.  Let the least value with at
least qN rows up to it lie in cell j*: then C(j*+1) ≥ qN and C(j*) < qN without noise.  The lower
end is past it only if no cell up to j* passed, so only if g(j*+1) < −w(j*+1); the upper end is
before it only if g(j*) > w(j*).  One test each, whatever the other cells hold: no shape inside a
cell is assumed, and values that are heaped or clipped need no case of their own.

For other samples of the population, N(N⁺ + 1)-wide binomial ranks are added to w (normal).

*Privacy:* post-processing.

References:
    [RWB88] Robertson, Wright, Dykstra. Order restricted statistical inference. 1988, ch. 1.
"""

import enum
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, assert_never

from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.mechanism import NoiseLaw
from confide.plans.estimation.intervals import Component, noise_component, quantile, variance
from confide.tables.grid import on_grid
from confide.tables.schema import Domain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FINE = 4.0
"""Standard deviations of all cells' noise together, in rows, up to which its law is summed up."""
_TIE = 1e-9


class Ends(enum.Enum):
    """What the first and the last cell between two bounds hold."""

    APART = "apart"  # each bound alone
    MERGED = "merged"  # neighbours too, as in releases made before bounds had cells of their own


def cell_edges(of: Domain, *, cells: int, ends: Ends) -> tuple[int, ...]:
    """Return the edges of at most so many cells over a grid, each of which is [edge, next edge).

    Where there are enough, one for each value; else one for each bound, where what lies beyond was
    clipped to, and equal ones between.

    Example:
        >>> from confide.tables.schema import Kind
        >>> cell_edges(Domain(kind=Kind.NUMBER, lower=0, upper=3), cells=10, ends=Ends.APART)
        (0, 1, 2, 3, 4)
        >>> cell_edges(Domain(kind=Kind.NUMBER, lower=0, upper=21), cells=6, ends=Ends.APART)
        (0, 1, 6, 11, 16, 21, 22)
    """
    match ends:
        case Ends.APART:
            between = min(of.upper - of.lower - 1, max(1, cells - 2))
            first, reach = of.lower + 1, of.upper - of.lower - 1
            inner = (first + reach * i // between for i in range(between))
            return (of.lower, *inner, of.upper, of.upper + 1)
        case Ends.MERGED:
            count = min(cells, of.upper - of.lower)
            return tuple(of.lower + (of.upper - of.lower) * i // count for i in range(count + 1))
        case _:
            assert_never(ends)


def given_edges(edges: Sequence[Fraction], *, of: Domain, name: str) -> tuple[int, ...]:
    """Return the edges of cells that a study names, each bound in a cell of its own.

    Args:
        edges: In the unit of the column, from the lower bound to the upper.
        of: Its domain.
        name: What is asked, for errors.

    Raises:
        ContractError: If they do not rise from bound to bound in steps of the grid.
    """
    steps = [on_grid(edge, of=of, name=name) for edge in edges]
    if (
        any(a >= b for a, b in itertools.pairwise(steps))
        or steps[0] != of.lower
        or steps[-1] != of.upper
    ):
        low, high = of.physical(of.lower), of.physical(of.upper)
        raise ContractError(
            f"{name}: expected edges that rise from {low:g} to {high:g}, the declared bounds, in "
            f"steps of {float(of.scale):g}.",
            hint=f"Write edges: [{low:g}, …, {high:g}]; each begins a cell.",
        )
    whole = {*steps, of.lower + 1, of.upper + 1}
    return tuple(sorted(whole))


def monotone(cumulative: Sequence[float]) -> list[float]:
    """Return the least-squares increasing sequence (pool adjacent violators [RWB88])."""
    blocks: list[tuple[float, int]] = []
    for value in cumulative:
        blocks.append((float(value), 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, i), (b, j) = blocks.pop(-2), blocks.pop()
            blocks.append(((a * i + b * j) / (i + j), i + j))
    return [value for value, size in blocks for _ in range(size)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A noisy distribution over cells of a grid, for the quantile q.

    Attributes:
        cumulative: Noisy rows below each edge, from 0 to all of them.
        edges: Of the cells; the last cell ends with ``upper``.
        upper: Greatest value of the grid.
        widths: At each edge, what the noise of C − qN is within at the level of the interval.
        q: In (0, 1).
        weight: What a row adds to the counts.
    """

    cumulative: Sequence[float]
    edges: Sequence[int]
    upper: int
    widths: Sequence[float]
    q: float
    weight: int = 1

    @property
    def rows(self) -> float:
        """All rows."""
        return self.cumulative[-1] / self.weight

    def first(self, cell: int) -> int:
        """Return the least value of a cell."""
        return self.edges[cell]

    def last(self, cell: int) -> int:
        """Return the greatest value of a cell."""
        return self.upper if cell == len(self.edges) - 2 else self.edges[cell + 1] - 1

    def interval(self, *, sampled: bool, level: float) -> tuple[int, int]:
        """Return the least and the greatest value that the quantile may have.

        Args:
            sampled: Whether the interval covers other samples of the population too.
            level: Coverage; that of ``widths``.
        """
        rows = (max(self.rows, 0.0) + 1) * self.weight**2
        ranks = quantile((), level=level) ** 2 * rows * self.q * (1 - self.q) if sampled else 0.0
        cells = range(len(self.edges) - 1)
        gaps = [c - self.q * self.cumulative[-1] for c in self.cumulative]
        reach = [math.sqrt(w * w + ranks) + _TIE for w in self.widths]
        low = next((j for j in cells if gaps[j + 1] >= -reach[j + 1]), cells[0])
        high = next((j for j in reversed(cells) if gaps[j] <= reach[j]), cells[-1])
        return self.first(min(low, high)), self.last(max(low, high))

    def located(self, *, sampled: bool, level: float) -> tuple[int, int, int]:
        """Return the quantile and the ends of its interval, within which it is kept."""
        lower, upper = self.interval(sampled=sampled, level=level)
        return min(max(self.point(), lower), upper), lower, upper

    def point(self) -> int:
        """Return the value at rank qN; rows inside a cell are taken as evenly spread over it."""
        cell, share = self.cell()
        values = self.last(cell) - self.first(cell) + 1
        place = math.ceil(values * min(1.0, max(0.0, share)) - _TIE) - 1
        return self.first(cell) + min(values - 1, max(0, place))

    def cell(self) -> tuple[int, float]:
        """Return the cell at rank qN, and how far into it that rank is."""
        rising, target = monotone(self.cumulative), self.q * self.cumulative[-1]
        cells = range(len(self.edges) - 1)
        cell = next((j for j in cells if rising[j + 1] >= target - _TIE), cells[-1])
        below, above = rising[cell], rising[cell + 1]
        return cell, (target - below) / (above - below) if above > below else 0.5


def component_widths(parts: Sequence[Sequence[Component]], *, level: float) -> list[float]:
    """Return what sums of independent errors are within, at ``level``, edge by edge."""
    return [quantile(each, level=level) * math.sqrt(variance(each)) for each in parts]


@lru_cache(maxsize=256)
def rank_widths(noise: NoiseLaw, *, cells: int, q: float, level: float) -> tuple[float, ...]:
    """Return w with P(|(1−q)A − qB| > w) ≤ 1 − level, A the noise of t cells, B of the others.

    Shape (cells + 1,): t from 0 to all.  Little noise is a lattice on which normal limits would
    fail at ties, so its law is summed up.
    """
    part = noise_component(noise)
    if part.variance * cells > _FINE**2:
        return tuple(
            component_widths(
                [[_error(t, cells=cells, q=q, noise=part)] for t in range(cells + 1)], level=level
            )
        )
    laws = _laws(noise, cells=cells)
    return tuple(_within(laws[t], laws[cells - t], q=q, level=level) for t in range(cells + 1))


def _error(t: int, *, cells: int, q: float, noise: Component) -> Component:
    """Return the error of C(t) − qN at edge t: (1 − q) times cells below, q times the others."""
    squares = t * (1 - q) ** 2 + (cells - t) * q**2
    fourths = t * (1 - q) ** 4 + (cells - t) * q**4
    return Component(
        variance=noise.variance * squares,
        excess_kurtosis=noise.excess_kurtosis * fourths / squares**2,
        step=noise.step * min(q, 1 - q),
    )


def _laws(noise: NoiseLaw, *, cells: int) -> "list[NDArray[np.float64]]":
    """Return the laws of the sum of 0 to ``cells`` noises, each centred on 0."""
    import numpy as np

    reach = 24 + math.ceil(8 * _FINE)
    at = np.arange(-reach, reach + 1)
    if isinstance(noise, DiscreteGaussian):
        one = np.exp(-(at**2) / (2 * float(noise.sigma_squared)))
    elif isinstance(noise, DiscreteLaplace):
        one = np.exp(-np.abs(at) * float(1 / noise.scale))
    else:
        one = np.array([noise.pmf(z) for z in at.tolist()])
    law = np.fft.fft(np.fft.ifftshift(one / one.sum()))
    return [np.fft.fftshift(np.fft.ifft(law**t).real) for t in range(cells + 1)]


def _within(
    below: "NDArray[np.float64]", above: "NDArray[np.float64]", *, q: float, level: float
) -> float:
    """Return the least w of the lattice with P(X > w) ≤ (1 − level)/2, X symmetric."""
    import numpy as np

    kept = [np.flatnonzero(law > 1e-7) for law in (below, above)]
    middle = len(below) // 2
    values = (1 - q) * (kept[0] - middle)[:, None] - q * (kept[1] - middle)[None, :]
    chances = below[kept[0]][:, None] * above[kept[1]][None, :]
    order = np.argsort(-values, axis=None)
    falling, tail = values.ravel()[order], np.cumsum(chances.ravel()[order])
    over = int(np.searchsorted(tail, (1 - level) / 2, side="right"))
    return max(0.0, float(falling[min(over, falling.size - 1)]))
