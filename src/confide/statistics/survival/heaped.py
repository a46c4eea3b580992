"""How much further an interval goes where times may be heaped inside bins.

Curves take events and censoring as spread evenly over a bin.  Where all of them stand at one time,
as dates of visits do, everybody is at risk for the events of the bin; where they were censored
first, nobody of them is.  What a curve would be in either case is known, and which it is, not: an
estimate may be off by up to b, and one with the error s is within s·c(b/s) of the truth at a level,
c(t) being that quantile of |N(t, 1)| [AK20].  So an end goes s·(c(b/s) − c(0)) further: b²/s where
b is small, and b less 0.3 s where it is not.

*Privacy:* post-processing.

References:
    [AK20] Armstrong, Kolesár. Simple and honest confidence intervals in nonparametric regression.
        Quantitative Economics 11(1), 2020. https://doi.org/10.3982/QE1199
"""

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from confide.statistics.survival.curves import Array, falling, survival
from confide.statistics.survival.grouping import moved
from confide.statistics.survival.table import ExitTable

_FARTHEST, _POINTS, _HALVINGS = 4.0, 161, 60


def share_reach(table: ExitTable, curve: Callable[[Array], Array]) -> tuple[Array, Array]:
    """Return how much lower and how much higher a curve may be, (..., arms, bins) each.

    Args:
        table: What is published.
        curve: A share from exits, (..., arms, bins).
    """
    told = curve(table.grouped)
    several = (table.early > 0).astype(float)  # times in a bin: of one, none is before another
    others = [curve(moved(table.exits, early=share * several)) for share in (0.0, 1.0)]
    down, up = told - np.fmin(*others), np.fmax(*others) - told
    return np.fmax(down, 0.0), np.fmax(up, 0.0)


def mean_reach(table: ExitTable) -> Array:
    """Return how far a mean may move where the events of bins are heaped, (..., arms)."""
    with np.errstate(invalid="ignore", over="ignore"):
        curve = falling(np.clip(np.nan_to_num(survival(table.grouped)), 0.0, 1.0))
    gone = -np.diff(curve, axis=-1, prepend=1.0)
    found: Array = (gone * (table.widths - 1) / 2).sum(axis=-1)
    return found


def further(reach: Array, *, error: Array, level: float) -> Array:
    """Return how much further an end goes, of the shape of ``reach``.

    Args:
        reach: The most that the estimate may be off on this side, b ≥ 0.
        error: Its standard error, s.
        level: Coverage.

    Example:
        >>> further(np.array([0.0, 0.5, 1.0, 9.0]), error=np.ones(4), level=0.95).round(3)
        array([0.   , 0.222, 0.686, 8.685])
    """
    grid, found = _quantiles(level)
    some = error > 0
    off = reach / np.where(some, error, 1.0)
    added = np.interp(off, grid, found) - found[0] + np.maximum(off - _FARTHEST, 0.0)
    return np.where(some, error * added, reach)


@lru_cache(maxsize=8)
def _quantiles(level: float) -> tuple[Array, Array]:
    """Return t, and the quantile of |N(t, 1)|; far out it grows as t does."""
    grid = np.linspace(0.0, _FARTHEST, _POINTS)
    return grid, np.array([_quantile(t, level=level) for t in grid])


def _quantile(t: float, *, level: float) -> float:
    normal = NormalDist()
    low, high = 0.0, t + 2 * math.sqrt(-2 * math.log((1 - level) / 2))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = normal.cdf(middle - t) - normal.cdf(-middle - t)
        low, high = (middle, high) if inside < level else (low, middle)
    return high
