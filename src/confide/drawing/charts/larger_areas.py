"""Outlines of larger areas out of those of the smaller ones that they are made of.

A side that two small areas of one larger area share is inside of it; what is left are its borders,
joined end to end.  Small areas must share the corners of their common sides, as those of a census
do; where a file's do not, a line inside of a larger area stays.

*Privacy:* geometry is public.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from confide.drawing.charts.outlines import Outlines, Ring

_FINE = 1e-7
"""Corners nearer than this share of the whole extent are one."""

_Corner: TypeAlias = tuple[int, int]


def larger(outlines: Outlines, *, within: Mapping[str, str]) -> Outlines:
    """Return the outlines of larger areas.

    Args:
        outlines: Of the small areas.
        within: The larger area of each small one; those without one are left out.

    Example:
        >>> left = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
        >>> both = larger({"a": (left,), "b": (left + [1, 0],)}, within={"a": "A", "b": "A"})
        >>> sorted(map(tuple, both["A"][0].tolist()))
        [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (2.0, 0.0), (2.0, 1.0)]
    """
    rings: dict[str, list[Ring]] = {}
    for label, parts in outlines.items():
        if label in within:
            rings.setdefault(within[label], []).extend(parts)
    if not rings:
        return {}
    corners = np.vstack([ring for parts in rings.values() for ring in parts])
    low = corners.min(axis=0)
    step = max(float(np.ptp(corners, axis=0).max()) * _FINE, 1e-300)
    return {
        label: tuple(
            np.array(ring, dtype=np.float64) * step + low for ring in _joined(parts, low, step)
        )
        for label, parts in rings.items()
    }


def _joined(rings: Sequence[Ring], low: Ring, step: float) -> list[list[_Corner]]:
    """Return the borders around rings as closed rings of corners on a fine grid."""
    starts = [np.round((ring - low) / step).astype(np.int64) for ring in rings]
    sides = np.hstack((np.vstack(starts), np.vstack([np.roll(ring, -1, 0) for ring in starts])))
    turned = (sides[:, 0] > sides[:, 2]) | (
        (sides[:, 0] == sides[:, 2]) & (sides[:, 1] > sides[:, 3])
    )
    sides[turned] = sides[turned][:, [2, 3, 0, 1]]
    found, times = np.unique(sides, axis=0, return_counts=True)
    single = found[(times % 2 == 1) & (found[:, :2] != found[:, 2:]).any(axis=1)]
    return _walked([((a, b), (c, d)) for a, b, c, d in single.tolist()])


def _walked(sides: Sequence[tuple[_Corner, _Corner]]) -> list[list[_Corner]]:
    """Return sides joined end to end; at every corner an even number of them meets."""
    at: dict[_Corner, dict[_Corner, None]] = {}
    for one, other in sides:
        at.setdefault(one, {})[other] = None
        at.setdefault(other, {})[one] = None
    rings = []
    for start, from_here in at.items():
        while from_here:
            ring, here = [], start
            while at[here]:
                ring.append(here)
                there = next(iter(at[here]))
                del at[here][there], at[there][here]
                here = there
            rings.append(ring)
    return [ring for ring in rings if len(ring) > 2]
