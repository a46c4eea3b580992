"""Outlines of public areas in pixels: projected with equal areas, and rounded to a grid.

An area is a list of rings read by the even-odd rule, so holes and islands need no names.  Degrees
are projected by Albers' conic with its two parallels a sixth from the ends [Sny87, ch. 14]; any
other numbers are taken as planar already.  All corners are rounded to one grid: neighbours share
their corners before and after, so no gaps open between them, as they would if each outline were
simplified by itself.

*Privacy:* geometry is public and comes from a file of its own, never from patients.

References:
    [Sny87] Snyder. Map projections: a working manual. USGS Professional Paper 1395, 1987.
        https://doi.org/10.3133/pp1395
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ring: TypeAlias = NDArray[np.float64]
"""Corners of shape (n, 2): x to the east, y to the north; the last is joined to the first."""
Outlines: TypeAlias = Mapping[str, tuple[Ring, ...]]
Maps: TypeAlias = Mapping[tuple[str, str], Outlines]
"""Outlines of areas, by spine and level."""
"""Rings of each area, by its label."""

GRIDS = (0.25, 0.5, 1.0, 2.0)
MOST_CORNERS = 30_000
"""Corners that keep a figure below about half a megabyte; of the grids the finest such is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Areas in pixels, y downwards.

    Attributes:
        rings: Of each area that is large enough to be seen, by its label.
        width: Of the whole.
        height: Of the whole.
        lost: Labels of areas that are smaller than the grid.
    """

    rings: Outlines
    width: float
    height: float
    lost: tuple[str, ...]


def placed(outlines: Outlines, *, width: float, tallest: float, most: int = MOST_CORNERS) -> Placed:
    """Return outlines in a box of ``width`` by at most ``tallest`` pixels and ``most`` corners."""
    planar = _planar(outlines)
    corners = np.vstack([ring for rings in planar.values() for ring in rings])
    low, high = corners.min(axis=0), corners.max(axis=0)
    extent = np.maximum(high - low, 1e-12)
    factor = min(width / extent[0], tallest / extent[1])

    def to_pixels(ring: Ring) -> Ring:
        return np.column_stack(((ring[:, 0] - low[0]) * factor, (high[1] - ring[:, 1]) * factor))

    pixels = {label: tuple(map(to_pixels, rings)) for label, rings in planar.items()}
    on_grid: dict[str, tuple[Ring, ...]] = {}
    for grid in GRIDS:
        on_grid = {label: _rounded(rings, grid) for label, rings in pixels.items()}
        if sum(len(ring) for rings in on_grid.values() for ring in rings) <= most:
            break
    return Placed(
        rings={label: rings for label, rings in on_grid.items() if rings},
        width=float(extent[0] * factor),
        height=float(extent[1] * factor),
        lost=tuple(label for label, rings in on_grid.items() if not rings),
    )


def _planar(outlines: Outlines) -> Outlines:
    corners = np.vstack([ring for rings in outlines.values() for ring in rings])
    if (np.abs(corners[:, 0]) <= 360).all() and (np.abs(corners[:, 1]) <= 90).all():
        return _albers(outlines, corners)
    return outlines


def _albers(outlines: Outlines, corners: Ring) -> Outlines:
    east, north = corners[:, 0] % 360, corners[:, 1]  # across the antimeridian, or across 0°
    wrap = np.ptp(east) < np.ptp(corners[:, 0])
    longitudes = east if wrap else corners[:, 0]
    middle = (longitudes.min() + longitudes.max()) / 2
    low, high = np.radians(north.min()), np.radians(north.max())
    first, second = low + (high - low) / 6, high - (high - low) / 6
    n = (math.sin(first) + math.sin(second)) / 2

    def conic(ring: Ring) -> Ring:
        degrees = (ring[:, 0] % 360 if wrap else ring[:, 0]) - middle
        turn, phi = np.radians(degrees), np.radians(ring[:, 1])
        if abs(n) < 1e-6:  # about the equator the cone is a cylinder
            return np.column_stack((turn, np.sin(phi)))
        c = math.cos(first) ** 2 + 2 * n * math.sin(first)
        rho = np.sqrt(np.maximum(c - 2 * n * np.sin(phi), 0)) / n
        return np.column_stack((rho * np.sin(n * turn), -rho * np.cos(n * turn)))

    return {label: tuple(map(conic, rings)) for label, rings in outlines.items()}


def _rounded(rings: Iterable[Ring], grid: float) -> tuple[Ring, ...]:
    """Return rings on a grid without repeated corners or corners on a straight line."""
    found = []
    for ring in rings:
        points = np.round(ring / grid)
        points = points[(points != np.roll(points, 1, axis=0)).any(axis=1)]
        for _ in range(8):  # taking a spike away can leave another
            before, after = (
                points - np.roll(points, 1, axis=0),
                np.roll(points, -1, axis=0) - points,
            )
            bent = before[:, 0] * after[:, 1] != before[:, 1] * after[:, 0]
            if bent.all() or len(points) < 3:
                break
            points = points[bent]
        if len(points) >= 3:
            found.append(points * grid)
    return tuple(found)


def wound(rings: Sequence[Ring]) -> list[Ring]:
    """Return rings such that a hole runs against what it is in, as renderers want them.

    Example:
        >>> square = np.array([[0.0, 0], [4, 0], [4, 4], [0, 4]])
        >>> outer, hole = wound([square, 1 + square / 2])
        >>> bool(signed_area(outer) * signed_area(hole) < 0)
        True
    """
    found = []
    for place, ring in enumerate(rings):
        depth = sum(_holds(other, ring[0]) for number, other in enumerate(rings) if number != place)
        forward = (signed_area(ring) > 0) == (depth % 2 == 0)
        found.append(ring if forward else ring[::-1])
    return found


def signed_area(ring: Ring) -> float:
    """Return twice the area of a ring, negative when it runs the other way."""
    x, y = ring[:, 0], ring[:, 1]
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def _holds(ring: Ring, point: NDArray[np.float64]) -> bool:
    x, y = point
    x0, y0 = ring[:, 0], ring[:, 1]
    x1, y1 = np.roll(x0, -1), np.roll(y0, -1)
    crossed = (y0 > y) != (y1 > y)
    at = x0[crossed] + (y - y0[crossed]) * (x1 - x0)[crossed] / (y1 - y0)[crossed]
    return bool(np.count_nonzero(at > x) % 2)
