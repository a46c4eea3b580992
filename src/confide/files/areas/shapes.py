"""Outlines of areas from GeoJSON, shapefiles and GeoPackages.

GeoJSON is JSON and a GeoPackage is SQLite, which Python reads itself; shapefiles need the extra
``maps``.  Only polygons are read; other geometries are refused.

*Privacy:* these files are public.  Nothing in them is run: a column of a GeoPackage is looked up by
exact match and quoted, and the file is opened read-only.

References:
    [RFC7946] Butler, Daly, Doyle, Gillies, Hagen, Schaub. The GeoJSON format. 2016.
        https://www.rfc-editor.org/rfc/rfc7946
    [OGC12] Open Geospatial Consortium. GeoPackage encoding standard 1.3, sec. 2.1.3 (binary
        format). https://www.geopackage.org/spec131/
"""

import contextlib
import json
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from confide.drawing.charts.larger_areas import larger
from confide.drawing.charts.outlines import Maps, Outlines, Ring
from confide.errors import ContractError, MissingExtraError, UnknownNameError
from confide.files.areas.spines import ShapeFile
from confide.files.areas.well_known_binary import geopackage_rings
from confide.plans.plan import Plan
from confide.regular_file import read_bytes, require_regular
from confide.statistics.registry import kind_of

LARGEST_FILE = 512 * 2**20


def outlines_for(plan: Plan, *, shapes: Mapping[tuple[str, str], ShapeFile]) -> Maps:
    """Return the outlines that the figures of a plan draw, by spine and level.

    A level that no file draws is put together from the next smaller one that a file does.

    Raises:
        ContractError: If a file cannot be read.
    """
    drawn = [(each, kind_of(each).outlined) for each in plan.statistics]
    wanted = dict.fromkeys(of(each, plan.dataset) for each, of in drawn if of is not None)
    found = {}
    for spine, level in wanted:
        levels = plan.dataset.spine(spine).levels
        below = levels[levels.index(level) :: -1]
        known = next((each for each in below if (spine, each) in shapes), None)
        if known is not None:
            found[spine, level] = read_outlines(shapes[spine, known])
            if known != level:
                within = plan.dataset.spine(spine).within(known, level)
                found[spine, level] = larger(found[spine, level], within=within)
    return found


def read_outlines(shape: ShapeFile) -> Outlines:
    """Return the rings of every area, by its label; parts with the same label are one area.

    Raises:
        ContractError: If the file is missing or cannot be read, or holds no polygons.
        UnknownNameError: If areas have no attribute of that name.
        MissingExtraError: If a shapefile is named and pyshp is not installed.
    """
    path = shape.path
    if not path.exists():
        raise ContractError(f"There is no {path.name}.", hint="It is named under shapes.")
    if require_regular(path).st_size > LARGEST_FILE:
        raise ContractError(f"{path.name} is larger than 512 MB.")
    match path.suffix.lower():
        case ".geojson" | ".json":
            areas = _geojson(path, shape.key)
        case ".shp":
            areas = _shapefile(path, shape.key)
        case ".gpkg":
            areas = _geopackage(path, shape.key)
        case _:
            raise ContractError(
                f"{path.name} is no map that can be read.",
                hint="Use .geojson, .shp or .gpkg.",
            )
    found: dict[str, tuple[Ring, ...]] = {}
    for label, rings in areas:
        kept = tuple(ring for ring in rings if len(ring) >= 3 and np.isfinite(ring).all())
        found[label] = (*found.get(label, ()), *kept)
    if not any(found.values()):
        raise ContractError(f"{path.name} holds no polygons.")
    return {label: rings for label, rings in found.items() if rings}


def _label(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _key(attributes: Mapping[str, object], key: str, *, path: Path) -> str:
    if key not in attributes:
        raise UnknownNameError(f"attribute of {path.name}", key, known=list(attributes))
    return _label(attributes[key])


def _geojson(path: Path, key: str) -> Iterator[tuple[str, list[Ring]]]:
    try:
        features = json.loads(read_bytes(path, largest=LARGEST_FILE))["features"]
        for feature in features:
            geometry, attributes = feature["geometry"], feature["properties"] or {}
            label = _key(attributes, key, path=path)
            yield label, list(_geojson_rings(geometry, path=path))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        if isinstance(error, ContractError):
            raise
        raise ContractError(f"{path.name} cannot be read as GeoJSON.") from None


def _geojson_rings(geometry: Any, *, path: Path) -> Iterator[Ring]:
    if geometry is None:
        return
    match geometry["type"]:
        case "Polygon":
            yield from map(_ring, geometry["coordinates"])
        case "MultiPolygon":
            for polygon in geometry["coordinates"]:
                yield from map(_ring, polygon)
        case _:
            raise ContractError(f"{path.name} holds other shapes than polygons.")


def _ring(corners: Iterable[Iterable[float]]) -> Ring:
    return _open(np.array([tuple(corner)[:2] for corner in corners], dtype=np.float64))


def _open(ring: Ring) -> Ring:
    """Return a ring without its repeated first corner."""
    return ring[:-1] if len(ring) > 1 and (ring[0] == ring[-1]).all() else ring


def _shapefile(path: Path, key: str) -> Iterator[tuple[str, list[Ring]]]:
    try:
        import shapefile
    except ImportError:
        raise MissingExtraError("pyshp", extra="maps") from None
    polygons = {shapefile.POLYGON, shapefile.POLYGONZ, shapefile.POLYGONM}
    try:
        with shapefile.Reader(str(path), encoding="utf-8", encodingErrors="replace") as reader:
            if reader.shapeType not in polygons:
                raise ContractError(f"{path.name} holds other shapes than polygons.")
            for item in reader.iterShapeRecords():
                label = _key(item.record.as_dict(), key, path=path)
                points = np.array([point[:2] for point in item.shape.points], dtype=np.float64)
                starts = list(item.shape.parts)
                yield label, [_open(part) for part in np.split(points, starts[1:])]
    except (shapefile.ShapefileException, struct.error, OSError, ValueError) as error:
        if isinstance(error, ContractError):
            raise
        raise ContractError(
            f"{path.name} cannot be read as a shapefile.",
            hint="Keep its .shp, .shx and .dbf together.",
        ) from None


def _geopackage(path: Path, key: str) -> Iterator[tuple[str, list[Ring]]]:
    try:
        address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as file:
            table, column = file.execute(
                "SELECT table_name, column_name FROM gpkg_geometry_columns"
            ).fetchone() or ("", "")
            columns = file.execute("SELECT name FROM pragma_table_info(?)", (table,))
            known = [name for (name,) in columns]
            if key not in known:
                raise UnknownNameError(f"attribute of {path.name}", key, known=known)
            names = [_quoted(name) for name in (key, column, table)]
            query = "SELECT {}, {} FROM {}".format(*names)  # noqa: S608 - known and quoted
            for label, blob in file.execute(query):
                if label is not None and isinstance(blob, bytes):
                    yield _label(label), [_open(ring) for ring in geopackage_rings(blob)]
    except sqlite3.Error:
        raise ContractError(f"{path.name} cannot be read as a GeoPackage.") from None
    except ValueError as error:
        if isinstance(error, ContractError):
            raise
        raise ContractError(f"{path.name} holds other shapes than polygons.") from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
