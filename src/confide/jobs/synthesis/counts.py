"""Exact tables of counts inside the job, and the merging of levels that the noise drowns.

A level whose noisy count is below three standard deviations of its noise is merged with the others
of its variable that are; tables of several variables count merged levels, and synthetic rows get
them back by their released shares.

*Privacy:* which levels are merged follows from released counts.  Exact counts die in the job.

*Utility:* noise of a table grows with its cells, most of which such levels make: without merging,
the error of tables of two variables was .057 instead of .050 (Adult, ε = 1).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats, Ints
from confide.jobs.synthesis.model.junction_tree import Clique, clique_cells

DROWNED_BELOW = 3
"""Standard deviations of noise below which a level is merged."""


def exact_table(codes: Ints, variables: Clique, *, sizes: Sequence[int]) -> Ints:
    """Return the number of rows in each cell.

    Args:
        codes: Levels of rows; shape (rows, variables).
        variables: Whose.
        sizes: Number of levels of each variable of ``codes``.
    """
    place = np.zeros(len(codes), dtype=np.int64)
    for v in variables:
        place = place * sizes[v] + codes[:, v]
    found = np.bincount(place, minlength=clique_cells(variables, sizes=sizes))
    return found.astype(np.int64).reshape([sizes[v] for v in variables])


def merged_levels(noisy: Sequence[NDArray[Any]], *, deviation: float) -> tuple[Ints, ...]:
    """Return of each variable what its levels are called after merging, from 0.

    Args:
        noisy: Noisy counts of the levels of each variable.
        deviation: Of the noise, in rows.

    Example:
        >>> merged_levels([np.array([900, 4, 700, -2])], deviation=10)[0].tolist()
        [0, 2, 1, 2]
    """
    return tuple(_merged(np.asarray(each), least=DROWNED_BELOW * deviation) for each in noisy)


def _merged(counts: NDArray[Any], *, least: float) -> Ints:
    rare = counts < least
    if rare.sum() < 2:
        return np.arange(counts.size, dtype=np.int64)
    names = np.where(rare, int((~rare).sum()), np.cumsum(~rare) - 1)
    return np.asarray(names, dtype=np.int64)


def sizes_of(merging: Sequence[Ints]) -> tuple[int, ...]:
    """Return the number of levels after merging."""
    return tuple(int(names.max()) + 1 for names in merging)


def renamed(codes: Ints, merging: Sequence[Ints]) -> Ints:
    """Return rows in merged levels."""
    columns = [names[codes[:, v]] for v, names in enumerate(merging)]
    return np.stack(columns, axis=1) if columns else codes


def added_up(counts: Floats, names: Ints) -> Floats:
    """Return counts of merged levels."""
    return np.asarray(np.bincount(names, weights=counts, minlength=int(names.max()) + 1))


def rows_in_all(noisy: Sequence[Floats]) -> float:
    """Return n̂, the number of rows that noisy counts of each variable say, at least 1.

    Each variable's sum has the variance of as many cells, so sums are weighed by its inverse.
    """
    weights = np.array([1 / each.size for each in noisy])
    sums = np.array([each.sum() for each in noisy])
    return max(1.0, float((weights * sums).sum() / weights.sum()))


def shares_of(counts: Floats) -> Floats:
    """Return counts, none below 0, as shares; even ones where nothing is left.

    Example:
        >>> shares_of(np.array([3.0, -1.0, 1.0])).tolist()
        [0.75, 0.0, 0.25]
    """
    kept = np.maximum(counts, 0)
    total = kept.sum()
    return kept / total if total > 0 else np.full(kept.shape, 1 / kept.size)


def nearest_counts(counts: Floats, *, total: float) -> Floats:
    """Return the nearest counts that are at least 0 and add up to a total.

    Example:
        >>> nearest_counts(np.array([5.0, -3.0, 2.0]), total=5).tolist()
        [4.0, 0.0, 1.0]
    """
    down = np.sort(counts, axis=None)[::-1]
    over = (np.cumsum(down) - total) / np.arange(1, down.size + 1)
    last = int(np.flatnonzero(down > over)[-1])
    return np.asarray(np.maximum(counts - over[last], 0))
