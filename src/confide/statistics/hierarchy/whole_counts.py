"""From estimates of areas within areas to whole numbers ≥ 0 that still add up.

From the top down: the largest areas are rounded and cut at 0; the parts of an area whose count N is
settled take the point of {c ≥ 0, Σc = N} that is nearest to their estimates, which subtracts one
number from all of them and cuts at 0 [DSSC08, sec. 3], then whole numbers by largest remainders.

*Privacy:* looks at noisy numbers only.
*Utility:* counts that were cut at 0 make their neighbours smaller; so these numbers are for tables
that must add up, and the unrounded estimates are for computing.

References:
    [DSSC08] Duchi, Shalev-Shwartz, Singer, Chandra. Efficient projections onto the ℓ1-ball. ICML
        2008. https://doi.org/10.1145/1390156.1390191
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from confide.statistics.hierarchy.least_squares import Tree


def nearest(estimates: NDArray[np.float64], *, total: int) -> NDArray[np.int64]:
    """Return whole numbers ≥ 0 that add up to ``total``, near the estimates.

    Example:
        >>> nearest(np.array([3.7, 0.4, -1.2]), total=4).tolist()
        [4, 0, 0]
    """
    order = np.sort(estimates)[::-1]
    excess = (np.cumsum(order) - total) / np.arange(1, len(order) + 1)
    active = int(np.flatnonzero(order > excess)[-1]) if total > 0 else -1
    if active < 0:
        return np.zeros(len(estimates), dtype=np.int64)
    real = np.maximum(estimates - excess[active], 0.0)
    whole: NDArray[np.int64] = np.floor(real).astype(np.int64)
    missing = total - int(whole.sum())
    if missing > 0:
        chosen = np.argsort(-(real - whole), kind="stable")[:missing]
        whole[chosen] += 1
    elif missing < 0:  # a sum of floors can pass the total only by rounding of floats
        whole[np.argmax(whole)] += missing
    found: NDArray[np.int64] = whole
    return found


def whole_counts(
    estimates: Sequence[NDArray[np.float64]], *, tree: Tree
) -> tuple[NDArray[np.int64], ...]:
    """Return whole counts ≥ 0 of every level, finest first; each is the sum of its parts."""
    top = np.maximum(np.rint(estimates[-1]), 0).astype(np.int64)
    found = [top]
    for level in range(len(tree.sizes) - 2, -1, -1):
        counts = np.zeros(tree.sizes[level], dtype=np.int64)
        order = np.argsort(tree.parents[level], kind="stable")
        starts = np.searchsorted(tree.parents[level][order], np.arange(tree.sizes[level + 1]))
        for parts, total in zip(np.split(order, starts[1:]), found[0], strict=True):
            counts[parts] = nearest(estimates[level][parts], total=int(total))
        found.insert(0, counts)
    return tuple(found)
