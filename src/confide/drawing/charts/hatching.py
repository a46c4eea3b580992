"""Parallel lines across areas, cut to their outlines.

The lines of all areas lie on one ruler, so that hatching runs on from an area to its neighbour.
A line enters and leaves an area where it crosses its rings: between the first and the second
crossing it is inside, between the second and the third outside, and so on (even-odd rule).
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from confide.drawing.charts.outlines import Ring

Segment: TypeAlias = tuple[tuple[float, float], tuple[float, float]]

SPACING = 5.0
"""Pixels between lines."""
_COS = math.sqrt(0.5)


def hatching(rings: Sequence[Ring], *, spacing: float = SPACING) -> list[Segment]:
    """Return the parts of lines rising at 45° that are inside the rings, to a tenth of a pixel.

    Example:
        >>> square = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
        >>> len(hatching([square], spacing=5.0)), len(hatching([square, square], spacing=5.0))
        (3, 0)
    """
    turned = [_turned(ring) for ring in rings]
    starts = np.vstack(turned)
    ends = np.vstack([np.roll(ring, -1, axis=0) for ring in turned])
    low = math.ceil(starts[:, 1].min() / spacing - 0.5)
    high = math.floor(starts[:, 1].max() / spacing - 0.5)
    found = []
    for number in range(low, high + 1):
        level = (number + 0.5) * spacing
        cut = (starts[:, 1] > level) != (ends[:, 1] > level)
        first, last = starts[cut], ends[cut]
        part = (level - first[:, 1]) / (last[:, 1] - first[:, 1])
        crossings = np.sort(first[:, 0] + part * (last[:, 0] - first[:, 0]))
        found += [
            (_back(enter, level), _back(leave, level))
            for enter, leave in zip(crossings[::2], crossings[1::2], strict=True)
            if leave - enter > 0.1
        ]
    return found


def _turned(ring: Ring) -> Ring:
    """Return a ring turned so that the lines are level."""
    x, y = ring[:, 0], ring[:, 1]
    return np.column_stack(((x - y) * _COS, (x + y) * _COS))


def _back(along: float, level: float) -> tuple[float, float]:
    return round((along + level) * _COS, 1), round((level - along) * _COS, 1)
