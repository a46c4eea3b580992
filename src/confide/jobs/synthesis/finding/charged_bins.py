"""Bins of a number that nobody knows beforehand: quantiles of noisy counts on a public grid.

::

    grid      cells of one width between the declared bounds
    counts    of each cell, with noise: the part "bins" of the job, for a stated share
    edges     those of cells at which the nearest counts that could be pass 1/k, 2/k, …

*Privacy:* the grid is public, and edges follow from released counts, so the charge of that part is
that of one table of counts a column.

*Utility:* a rank is off by the noise of up to half of the grid's cells, which is the square root of
their number times that of one; bins are as fine as the grid at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import ContractError
from confide.jobs.synthesis.counts import nearest_counts
from confide.tables.expression import BinOf, Expression, OrMissing

GRID_CELLS = 64
MOST_CHARGED = 50
"""Most bins of a column whose edges are found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargedBins:
    """A column whose bins are found.

    Attributes:
        column: Its name; what it reads are the cells of the grid.
        bins: Most bins.
    """

    column: str
    bins: int

    def __post_init__(self) -> None:
        if not 2 <= self.bins <= MOST_CHARGED:
            raise ContractError(f"Expected 2 to {MOST_CHARGED} charged bins, got {self.bins}.")


def edges_read(of: Expression) -> tuple[int, ...]:
    """Return the edges of the cells that a column reads.

    Raises:
        ContractError: If it reads none.
    """
    inner = of.of if isinstance(of, OrMissing) else of
    if not isinstance(inner, BinOf):
        raise ContractError("Charged bins are of a number or date on a grid.")
    return inner.edges


def read_in(of: Expression, edges: tuple[int, ...]) -> Expression:
    """Return what a column reads, in other bins."""
    if isinstance(of, OrMissing):
        return OrMissing(of=read_in(of.of, edges))  # type: ignore[arg-type]
    if not isinstance(of, BinOf):
        raise ContractError("Charged bins are of a number or date on a grid.")
    return BinOf(of=of.of, edges=edges)


def edges_between(lower: int, upper: int, *, bins: int) -> tuple[int, ...]:
    """Return the edges of bins of nearly one width between declared bounds."""
    bins = max(1, bins)
    return tuple(lower + (upper - lower) * i // bins for i in range(bins + 1))


def edges_of_one_width(grid: Sequence[int], *, bins: int) -> tuple[int, ...]:
    """Return edges of the grid that part it into bins of nearly one width, for a forecast.

    Example:
        >>> edges_of_one_width((0, 10, 20, 30, 40), bins=2)
        (0, 20, 40)
    """
    cells = len(grid) - 1
    places = {cells * i // min(bins, cells) for i in range(min(bins, cells) + 1)}
    return tuple(grid[place] for place in sorted(places))


def quantile_edges(noisy: Floats, *, grid: Sequence[int], bins: int) -> tuple[int, ...]:
    """Return edges of the grid between which nearly equal counts lie, at least three of them.

    Args:
        noisy: Counts of the cells; shape (cells,).
        grid: Edges of the cells.
        bins: Most bins.

    Example:
        >>> quantile_edges(np.array([0.0, 6, 6, 0]), grid=(0, 10, 20, 30, 40), bins=2)
        (0, 20, 40)
    """
    cells = len(grid) - 1
    counts = nearest_counts(noisy, total=max(1.0, float(noisy.sum())))
    below = np.concatenate([[0.0], np.cumsum(counts)])
    wanted = below[-1] * np.arange(1, bins) / bins
    places = np.abs(below[None, :] - wanted[:, None]).argmin(axis=1)
    inner = sorted({int(place) for place in places} - {0, cells}) or [cells // 2]
    return (grid[0], *(grid[place] for place in inner), grid[-1])


def coarse_names(grid: Sequence[int], *, edges: Sequence[int], levels: int) -> Ints:
    """Return of each level of a column the bin in which it lies; further levels follow in order.

    Example:
        >>> coarse_names((0, 10, 20, 30), edges=(0, 20, 30), levels=4).tolist()
        [0, 0, 1, 2]
    """
    inside = np.searchsorted(np.asarray(edges), np.asarray(grid[:-1]), side="right") - 1
    more = np.arange(levels - inside.size) + len(edges) - 1
    return np.concatenate([inside, more]).astype(np.int64)
