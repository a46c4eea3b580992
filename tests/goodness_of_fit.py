"""χ² goodness of fit for integer samples, with no library: the law is cut at its own quantiles."""

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from confide.noise.half_width import least_width

CELLS = 24


def p_value(
    draws: NDArray[np.int64], *, cdf: Callable[[int], float], symmetric: bool = True
) -> float:
    """Return the p-value of ``draws`` against the integer law with this cdf."""
    edges = _quantiles(cdf, symmetric=symmetric)
    observed = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    steps = [0.0, *map(cdf, edges), 1.0]
    shares = [b - a for a, b in itertools.pairwise(steps)]
    return p_value_of_counts(observed.tolist(), shares)


def p_value_of_counts(observed: Sequence[int], shares: Sequence[float]) -> float:
    """Return the p-value of counts against probabilities; cells expecting < 5 are pooled."""
    total = sum(observed)
    cells: list[tuple[float, float]] = []
    seen = expected = 0.0
    for count, share in zip(observed, shares, strict=True):
        seen, expected = seen + count, expected + total * share
        if expected >= 5:
            cells.append((seen, expected))
            seen = expected = 0.0
    if cells and (seen or expected):
        last_seen, last_expected = cells.pop()
        cells.append((last_seen + seen, last_expected + expected))
    statistic = sum((o - e) ** 2 / e for o, e in cells)
    return chi_squared_survival(statistic, len(cells) - 1)


def chi_squared_survival(x: float, freedom: int) -> float:
    """Return P[χ² > x], by recurrence over two degrees of freedom at a time."""
    half = x / 2
    even = freedom % 2 == 0
    survival = math.exp(-half) if even else math.erfc(math.sqrt(half))
    shape = 1.0 if even else 0.5
    while shape < freedom / 2:
        survival += (
            math.exp(shape * math.log(half) - half - math.lgamma(shape + 1)) if half else 0.0
        )
        shape += 1
    return min(1.0, survival)


def _quantiles(cdf: Callable[[int], float], *, symmetric: bool) -> list[int]:
    """Return distinct upper ends of about ``CELLS`` cells of equal probability."""
    above = [
        least_width(lambda z: 1 - cdf(z), miss=1 - level, guess=1.0)
        for level in (k / CELLS for k in range(CELLS // 2 if symmetric else 1, CELLS))
    ]
    below = [-z - 1 for z in above] if symmetric else []
    return sorted({*above, *below})
