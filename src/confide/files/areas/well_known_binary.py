"""Polygons in the binary format of GeoPackages: a short head, then well-known binary.

References:
    [OGC12] Open Geospatial Consortium. GeoPackage encoding standard 1.3, sec. 2.1.3 (binary
        format). https://www.geopackage.org/spec131/
"""

import struct

import numpy as np

from confide.drawing.charts.outlines import Ring

_ENVELOPES = (0, 32, 48, 48, 64)
_POLYGON, _MULTI_POLYGON = 3, 6


def geopackage_rings(blob: bytes) -> list[Ring]:
    """Return the rings of a polygon or several; nothing for an empty geometry.

    Raises:
        ValueError: If it is not one, or is cut short.
    """
    if len(blob) < 8 or blob[:2] != b"GP":
        raise ValueError("no GeoPackage geometry")
    envelope = (blob[3] >> 1) & 7
    if envelope >= len(_ENVELOPES):
        raise ValueError("unknown envelope")
    if blob[3] & 0x10:
        return []
    rings, _ = _geometry(blob, 8 + _ENVELOPES[envelope])
    return rings


def _geometry(blob: bytes, at: int) -> tuple[list[Ring], int]:
    try:
        order = "<" if blob[at] == 1 else ">"
        kind, parts = struct.unpack_from(f"{order}II", blob, at + 1)
        at += 9
        base, axes = kind % 1000, 2 + (kind // 1000 in (1, 2)) + 2 * (kind // 1000 == 3)
        rings: list[Ring] = []
        for _ in range(parts):
            if base == _MULTI_POLYGON:
                inner, at = _geometry(blob, at)
                rings += inner
            elif base == _POLYGON:
                (corners,) = struct.unpack_from(f"{order}I", blob, at)
                count = corners * axes
                flat = np.frombuffer(blob, dtype=f"{order}f8", count=count, offset=at + 4)
                rings.append(flat.reshape(corners, axes)[:, :2].astype(np.float64))
                at += 4 + 8 * count
            else:
                raise ValueError("not a polygon")
    except (struct.error, IndexError, RecursionError):
        raise ValueError("cut short") from None
    return rings, at
