"""Cumulative counts over public bins: made monotone, interpolated, and inverted for an interval.

*Privacy:* post-processing.

References:
    [RWB88] Robertson, Wright, Dykstra. Order restricted statistical inference. 1988, ch. 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confide.plans.intervals import Component, quantile, variance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PLACES = 8
"""Places of a bin that are tried; between them the test is taken as linear."""


def monotone(cumulative: Sequence[float]) -> list[float]:
    """Return the least-squares increasing sequence (pool adjacent violators [RWB88])."""
    blocks: list[tuple[float, int]] = []
    for value in cumulative:
        blocks.append((float(value), 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (a, i), (b, j) = blocks.pop(-2), blocks.pop()
            blocks.append(((a * i + b * j) / (i + j), i + j))
    return [value for value, size in blocks for _ in range(size)]


def interpolated(cumulative: Sequence[float], edges: Sequence[int], *, target: float) -> float:
    """Return where an increasing cumulative count reaches ``target``, in the unit of the edges."""
    for i in range(1, len(cumulative)):
        if cumulative[i] >= target:
            below, above = cumulative[i - 1], cumulative[i]
            share = (target - below) / (above - below) if above > below else 0.5
            return edges[i - 1] + min(1.0, max(0.0, share)) * (edges[i] - edges[i - 1])
    return float(edges[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Binned:
    """A noisy distribution over bins, for the quantile q.

    Attributes:
        counts: Noisy rows of each bin.
        edges: Of the bins.
        noises: Error of C(t) − qN at each edge t, N the sum of all counts.
        own: Noise variance of each bin's count.
        q: In (0, 1).
    """

    counts: Sequence[float]
    edges: Sequence[int]
    noises: Sequence[Sequence[Component]]
    own: float
    q: float


def quantile_interval(of: Binned, *, sampled: bool, level: float) -> tuple[float, float]:
    """Return where the quantile may be, in the unit of the edges.

    At a place x, a share f into bin j, the test of "x is the quantile" looks at
    G(x) = C(j) + f·c_j − (c_{j+1} − c_{j−1})·f(1−f)/4 − qN: the density is linear in the bin, with
    the slope that its neighbours have.  Its noise has variance (1−f)v_j + f·v_{j+1} − f(1−f)v, with
    v_j that at the edges; that of the slope is at most v/128, and left out.  Rows that fall into
    the bin, each by itself, bring c_j·f(1−f) for the patients at hand, and q(1−q)N − c_j·f(1−f) for
    their population.

    Places are left out from both ends as long as each is rejected, so that the interval misses only
    if the quantile's own place is.

    Args:
        of: The distribution.
        sampled: Whether the interval covers other samples of the population too.
        level: Coverage.
    """
    import numpy as np

    counts = np.array(of.counts, dtype=np.float64)
    number = max(float(counts.sum()), 0.0)
    spread = number * of.q * (1 - of.q) if sampled else 0.0
    sampling = Component(variance=spread)
    at_edges = [[*parts, sampling] for parts in of.noises]
    factor = np.array([quantile(parts, level=level) for parts in at_edges])
    noise = np.array([variance(parts) for parts in of.noises])
    f = np.linspace(0.0, 1.0, _PLACES + 1)[None, :]
    inside = np.maximum(counts, 0.0)[:, None] * f * (1 - f)
    squared = (1 - f) * noise[:-1, None] + f * noise[1:, None] - f * (1 - f) * of.own
    squared += np.maximum(spread - inside, 0.0) if sampled else inside
    padded = np.concatenate([counts[:1], counts, counts[-1:]])
    bend = (padded[2:] - padded[:-2])[:, None] * f * (1 - f) / 4
    multiple = (1 - f) * factor[:-1, None] + f * factor[1:, None]
    width = multiple * np.sqrt(np.maximum(squared, 0.0))
    start = np.concatenate([[0.0], np.cumsum(counts)[:-1]])
    gap = start[:, None] + f * counts[:, None] - bend - of.q * counts.sum()
    left = np.diff(np.array(of.edges, dtype=np.float64))[:, None] * f
    place = np.array(of.edges[:-1], dtype=np.float64)[:, None] + left
    return _first(place.ravel(), (gap + width).ravel()), -_first(
        -place.ravel()[::-1], (width - gap).ravel()[::-1]
    )


def _first(places: "NDArray[np.float64]", slack: "NDArray[np.float64]") -> float:
    """Return the first place whose slack is not negative, between two of them by a line."""
    kept = slack >= 0
    if not kept.any():
        return float(places[-1])
    i = int(kept.argmax())
    if i == 0 or places[i] == places[i - 1]:
        return float(places[i])
    share = slack[i] / (slack[i] - slack[i - 1])
    return float(places[i] - share * (places[i] - places[i - 1]))
