"""How scores fill the public bins by which held-out patients are counted.

Between two edges scores are taken to be normal, and little hangs on it.  Beyond the last edge on
either side they are as far out as normal ones times a stretch.  If the density fell exponentially
from the neighbouring bin on, the share r that lies beyond, of those in both bins, would put their
mean at width/ln(1/r) from the edge; so the stretch is ln(1/r) of normal scores over that of the
noisy numbers, which are drawn to those of normal scores by the part of their distance that is
error [EM73].

References:
    [EM73] Efron, Morris. Stein's estimation rule and its competitors. JASA 68(341), 1973.
        https://doi.org/10.1080/01621459.1973.10481350
"""

import functools
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats
from confide.plans.simulation import Simulation
from confide.tables.aggregates.descent_terms import SCORE_BINS, SCORE_CUTS

Stretch: TypeAlias = tuple[float, float]
"""Of the open bins, the lower one first."""

INSIDE = 10
"""Places inside a bin."""
_CUTS = np.array([0, *SCORE_CUTS, 100]) / 100
SHARES = np.diff(_CUTS)
"""Share of normal scores in each bin; shape (SCORE_BINS,)."""
PLACES = _CUTS[:-1, None] + SHARES[:, None] * (np.arange(INSIDE) + 0.5) / INSIDE
"""Shares of scores below evenly filled places of each bin; shape (SCORE_BINS, INSIDE)."""
NORMAL: Stretch = (1.0, 1.0)
ALIKE = "predictions alike"
"""Flag of what cannot be told of a model that predicts the same of everybody."""
UNBOUNDED = "slope without bounds"
"""Flag of a calibration slope of which patients do not say how far it may reach."""
_SHORTEST, _LONGEST = 0.2, 3.0
_MOST_PATIENTS = 2**60  # that a draw can count
_DIGITS = range(3, 7)


def other_patients(
    counts: Floats, *, noise: float, runs: int, simulation: Simulation, purpose: str
) -> Floats:
    """Return noisy counts, then those of other patients of the same population; (1 + runs, cells).

    Args:
        counts: Noisy, of all cells; shape (cells,).
        noise: Standard deviation of the noise of each.
        runs: How many other populations are drawn.
        simulation: Source of reproducible draws.
        purpose: What they are for.
    """
    rng = simulation.generator(purpose)
    shares = np.maximum(counts, 0)
    total = min(max(1, round(float(counts.sum()))), _MOST_PATIENTS)
    sampled = rng.multinomial(total, shares / max(shares.sum(), 1e-9), size=runs)
    drawn = sampled + rng.normal(0, noise, sampled.shape)
    return np.concatenate([counts[None], drawn])


def deviates(stretch: Stretch = NORMAL) -> Floats:
    """Return evenly filled places of the scores in the bins, in standard deviations.

    Shape (SCORE_BINS, INSIDE).

    Example:
        >>> deviates()[0].round(1).tolist()[-1], deviates()[5].round(1).tolist()[0]
        (-1.9, 0.0)
    """
    found = _normal().copy()
    low, high = (NormalDist().inv_cdf(float(_CUTS[k])) for k in (1, -2))
    found[0] = low + (found[0] - low) * stretch[0]
    found[-1] = high + (found[-1] - high) * stretch[1]
    return found


def stretch_of(sums: Floats, *, noise: float) -> Stretch:
    """Return how much farther out scores beyond the last edges are than normal ones.

    Args:
        sums: Noisy numbers of patients, or of what stands for them, by bin; shape (SCORE_BINS,).
        noise: Standard deviation of the noise of each.

    Example:
        A tail that holds as much of the last two bins as a normal one, and one that holds half:

        >>> sums = SHARES * 10_000 - np.array([0] * 9 + [200]) + np.array([0] * 8 + [200, 0])
        >>> [round(each, 1) for each in stretch_of(sums, noise=1.0)]
        [1.0, 0.5]
    """
    return _one(sums[:2], noise=noise), _one(sums[:-3:-1], noise=noise)


def _one(pair: Floats, *, noise: float) -> float:
    """Return the stretch from the sums of an open bin and its neighbour."""
    usual = float(SHARES[0] / (SHARES[0] + SHARES[1]))
    both = max(float(pair.sum()), 1.0)
    apart = min(max(float(pair[0]) / both, 0.0), 1.0) - usual
    error = usual * (1 - usual) / both + (usual**2 + (1 - usual) ** 2) * (noise / both) ** 2
    share = usual + apart * max(0.0, 1 - error / max(apart**2, 1e-12))
    found = math.log(1 / usual) / math.log(1 / min(max(share, 1e-4), 0.9))
    return min(max(found, _SHORTEST), _LONGEST)


def alike(edges: Sequence[float]) -> bool:
    """Return whether edges of the bins are too near for most of them to differ.

    Then patients are not told apart by their scores, and what is counted says nothing of ranks.

    Args:
        edges: In steps of the grid by which rows are counted, in ascending order.

    Example:
        >>> alike((5, 5, 5, 5, 5, 5, 5, 5, 6)), alike((-90, -60, -35, -17, 0, 17, 35, 60, 90))
        (True, False)
    """
    return edges[-1] - edges[0] < SCORE_BINS - 2


def labels(values: Sequence[float]) -> tuple[str, ...]:
    """Return numbers with as few significant digits as tell them apart: three to six.

    Numbers that six digits do not tell apart have the same label.

    Example:
        >>> labels([0.4581, 0.4583]), labels([0.25, 0.5])
        (('0.4581', '0.4583'), ('0.25', '0.5'))
    """
    found: tuple[str, ...] = ()
    for digits in _DIGITS:
        found = tuple(f"{value:.{digits}g}" for value in values)
        if len(set(found)) == len(found):
            break
    return found


def may_end(edges: Sequence[str], *, start: int, last: int) -> bool:
    """Return whether a range of bins has ends of its own, and leaves one for the next.

    Args:
        edges: Labels of all ends, SCORE_BINS + 1 of them.
        start: First bin of the range.
        last: Its last bin.
    """
    end = edges[last + 1]
    return end != edges[start] and (last == SCORE_BINS - 1 or end != edges[-1])


@functools.cache
def _normal() -> Floats:
    normal = NormalDist()
    return np.array([[normal.inv_cdf(float(p)) for p in row] for row in PLACES])
