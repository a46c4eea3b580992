"""Spines and shapes in dataset.yaml, and their statistics in study.yaml."""

import json
import sqlite3
import struct

import numpy as np
import pytest

from confide.errors import ContractError, UnknownNameError
from confide.files.areas.shapes import outlines_for, read_outlines
from confide.files.areas.spines import ShapeFile
from confide.files.areas.well_known_binary import geopackage_rings
from confide.files.dataset import read_dataset
from confide.files.study import ask_from, read_study
from confide.statistics.area_rate.spec import AreaRate, Denominator
from confide.statistics.hierarchy.spec import Hierarchy

DATASET = """
dataset: {id: land, lineage: land, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 5}}
tables:
  persons:
    from: persons.csv
    rows-per-patient: 1
    columns:
      tract: {categories: {file: tracts.csv, column: tract}}
      sick: {categories: [no, yes]}
spines:
  place:
    levels: [tract, county]
    file: tracts.csv
    population: people
    source: census
    shapes: {tract: {file: tracts.geojson, key: name}}
"""
STUDY = """
study: {id: maps}
statistics:
  - {id: cases, kind: hierarchy, where: {sick: [yes]}, shares: {county: 1, tract: 4}}
  - {id: rate, kind: area-rate, of: {sick: [yes]}, per: 1000, same-error-above: 100}
  - {id: share, kind: area-rate, area: county, of: {sick: [yes]}, denominator: rows, per: 100,
     error: {within: "5 per 100"}}
spend: {at-most: {rho: 1}}
"""
TRACTS = "tract,county,people,name\n1,north,120,one\n2,north,80,two\n3,south,40,three\n"


def polygon(x: float) -> list[list[float]]:
    return [[x, 0.0], [x + 1, 0.0], [x + 1, 1.0], [x, 1.0], [x, 0.0]]


def geojson(labels) -> str:
    kinds = [("Polygon", lambda x: [polygon(x)]), ("MultiPolygon", lambda x: [[polygon(x)]])]
    features = [
        {
            "type": "Feature",
            "properties": {"name": label},
            "geometry": {"type": kinds[i % 2][0], "coordinates": kinds[i % 2][1](float(i))},
        }
        for i, label in enumerate(labels)
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "dataset.yaml").write_text(DATASET)
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "tracts.csv").write_text(TRACTS)
    (tmp_path / "tracts.geojson").write_text(geojson(["1", "2", "3"]))
    return tmp_path


def test_a_spine_is_read_from_a_public_file(folder):
    spine = read_dataset(folder / "dataset.yaml").dataset.spine("place")
    assert spine.areas == (("1", "north"), ("2", "north"), ("3", "south"))
    assert spine.population == (120, 80, 40)
    assert spine.because == "census"


def test_rows_of_areas_that_are_no_category_are_left_out(folder):
    text = DATASET.replace("{file: tracts.csv, column: tract}", "[1, 3]")
    (folder / "dataset.yaml").write_text(text)
    spine = read_dataset(folder / "dataset.yaml").dataset.spine("place")
    assert spine.areas == (("1", "north"), ("3", "south"))
    assert spine.population == (120, 40)


def test_the_content_of_the_file_is_in_the_digest_of_the_plan(folder):
    before = read_study(folder / "study.yaml").plan().digest()
    (folder / "tracts.csv").write_text(TRACTS.replace("80", "81"))
    assert read_study(folder / "study.yaml").plan().digest() != before


def test_another_outline_of_the_same_areas_is_the_same_plan(folder):
    before = read_study(folder / "study.yaml").plan().digest()
    (folder / "tracts.geojson").write_text(geojson(["1", "2"]))
    assert read_study(folder / "study.yaml").plan().digest() == before


def test_a_study_of_areas_is_read(folder):
    study = read_study(folder / "study.yaml")
    cases, rate, share = (ask.statistic for ask in study.asks)
    assert isinstance(cases, Hierarchy)
    assert cases.shares == (4, 1)
    assert isinstance(rate, AreaRate)
    assert (rate.area, rate.per, rate.same_error_above) == ("tract", 1000, 100)
    assert share.denominator is Denominator.ROWS
    assert study.plan().measurements
    declared = study.declared
    outlines = outlines_for(study.plan(), shapes=declared.shapes)
    tracts, counties = outlines["place", "tract"], outlines["place", "county"]  # no file has these
    within = study.plan().dataset.spine("place").within("tract", "county")
    assert counties.keys() == {within[tract] for tract in tracts}


def test_a_spine_may_be_written_out(folder):
    text = DATASET[: DATASET.index("    file: tracts.csv\n    population")]
    text += "    areas: {1: [north], 2: [north], 3: [south]}\n"
    (folder / "dataset.yaml").write_text(text)
    dataset = read_dataset(folder / "dataset.yaml").dataset
    assert dataset.spine("place").areas[2] == ("3", "south")
    ask = ask_from({"id": "h", "kind": "hierarchy"}, dataset=dataset)
    assert ask.statistic.questions(dataset)[0].name == "count/tract"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("levels: [tract, county]", "levels: []", "no levels"),
        ("levels: [tract, county]", "levels: [village, county]", "no declared category"),
        ("levels: [tract, county]", "levels: [tract, land]", "land"),
        ("population: people", "population: name", "whole number"),
        ("    file: tracts.csv\n    pop", "    file: gone.csv\n    pop", "no gone.csv"),
        ("shapes: {tract:", "shapes: {village:", "village"),
        ("column: tract", "column: trakt", "trakt"),
    ],
)
def test_a_spine_that_does_not_fit_is_refused(folder, old, new, message):
    assert old in DATASET
    (folder / "dataset.yaml").write_text(DATASET.replace(old, new))
    with pytest.raises(ContractError, match=message):
        read_dataset(folder / "dataset.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [("tract,county\n", "head"), ("tract,tract\n1,2\n", "head"), ("tract,county\n1\n", "line 2")],
)
def test_a_public_file_without_head_or_with_short_rows_is_refused(folder, content, message):
    (folder / "tracts.csv").write_text(content)
    with pytest.raises(ContractError, match=message):
        read_dataset(folder / "dataset.yaml")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"kind": "hierarchy", "shares": {"county": 1}}, "leave out 'tract'"),
        ({"kind": "hierarchy", "shares": {"state": 1}}, "state"),
        ({"kind": "hierarchy", "spine": "nowhere"}, "nowhere"),
        ({"kind": "area-rate", "area": "state"}, "state"),
        ({"kind": "area-rate", "per": "0"}, "≥ 1"),
    ],
)
def test_a_statistic_of_areas_that_does_not_fit_is_refused(folder, item, message):
    dataset = read_dataset(folder / "dataset.yaml").dataset
    with pytest.raises(ContractError, match=message):
        ask_from({"id": "a", **item}, dataset=dataset)


def test_geojson_is_read_with_its_polygons(folder):
    found = read_outlines(ShapeFile(path=folder / "tracts.geojson", key="name"))
    assert set(found) == {"1", "2", "3"}
    assert found["2"][0].tolist() == [[1, 0], [2, 0], [2, 1], [1, 1]]


def test_an_unknown_attribute_is_refused_with_those_that_are_known(folder):
    with pytest.raises(UnknownNameError, match="nome"):
        read_outlines(ShapeFile(path=folder / "tracts.geojson", key="nome"))


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"features": 3}', '{"features": [{}]}', "[" * 5000],
)
def test_what_is_no_geojson_is_refused(tmp_path, text):
    (tmp_path / "x.geojson").write_text(text)
    with pytest.raises(ContractError, match=r"x\.geojson"):
        read_outlines(ShapeFile(path=tmp_path / "x.geojson", key="name"))


def test_lines_and_points_are_refused(tmp_path):
    feature = {"properties": {"name": "a"}, "geometry": {"type": "Point", "coordinates": [0, 0]}}
    (tmp_path / "x.geojson").write_text(json.dumps({"features": [feature]}))
    with pytest.raises(ContractError, match="other shapes"):
        read_outlines(ShapeFile(path=tmp_path / "x.geojson", key="name"))


def well_known(order: str, *, axes: int = 2, multi: bool = True) -> bytes:
    flag, base = (1 if order == "<" else 0), {2: 0, 3: 1000, 4: 3000}[axes]
    corners = [(*point, *[7.0] * (axes - 2)) for point in polygon(4.0)]
    body = struct.pack(f"{order}BIII", flag, base + 3, 1, len(corners)) if False else b""
    body = struct.pack(f"{order}B", flag) + struct.pack(f"{order}II", base + 3, 1)
    body += struct.pack(f"{order}I", len(corners))
    body += b"".join(struct.pack(f"{order}{axes}d", *corner) for corner in corners)
    if not multi:
        return body
    return struct.pack(f"{order}B", flag) + struct.pack(f"{order}II", base + 6, 1) + body


def geopackage_blob(body: bytes, *, envelope: int = 1, empty: bool = False) -> bytes:
    size = (0, 32, 48, 48, 64)[envelope]
    return b"GP\0" + bytes([(envelope << 1) | 1 | (16 if empty else 0)]) + b"\0" * (4 + size) + body


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("axes", [2, 3, 4])
@pytest.mark.parametrize("multi", [True, False])
def test_well_known_binary_is_read_in_both_orders_and_with_heights(order, axes, multi):
    (ring,) = geopackage_rings(geopackage_blob(well_known(order, axes=axes, multi=multi)))
    assert ring.tolist() == polygon(4.0)


def test_a_cut_or_foreign_geometry_is_refused_and_an_empty_one_is_none():
    whole = geopackage_blob(well_known("<"))
    assert geopackage_rings(geopackage_blob(b"", empty=True)) == []
    for broken in (b"", b"XX" + whole[2:], whole[:-9], whole[:50]):
        with pytest.raises(ValueError, match=r"GeoPackage|short|buffer"):
            geopackage_rings(broken)


def make_geopackage(path) -> None:
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT)")
        file.execute("INSERT INTO gpkg_geometry_columns VALUES ('my \"areas', 'geom')")
        file.execute('CREATE TABLE "my ""areas" (fid INTEGER, "area key" TEXT, geom BLOB)')
        blob = geopackage_blob(well_known("<"))
        file.executemany(
            'INSERT INTO "my ""areas" VALUES (?, ?, ?)', [(1, "a", blob), (2, "b", blob)]
        )
    file.close()


def test_a_geopackage_is_read_by_exact_names(tmp_path):
    make_geopackage(tmp_path / "x.gpkg")
    found = read_outlines(ShapeFile(path=tmp_path / "x.gpkg", key="area key"))
    assert set(found) == {"a", "b"}
    assert len(found["a"][0]) == 4
    with pytest.raises(UnknownNameError):
        read_outlines(ShapeFile(path=tmp_path / "x.gpkg", key='fid" FROM sqlite_master; --'))


def test_what_is_no_geopackage_is_refused(tmp_path):
    (tmp_path / "x.gpkg").write_bytes(b"not a database" * 100)
    with pytest.raises(ContractError, match="GeoPackage"):
        read_outlines(ShapeFile(path=tmp_path / "x.gpkg", key="a"))


def test_a_shapefile_is_read_with_its_holes(tmp_path):
    shapefile = pytest.importorskip("shapefile", reason="the extra maps is not installed")
    hole = [[0.2, 0.2], [0.2, 0.4], [0.4, 0.4], [0.2, 0.2]]
    with shapefile.Writer(str(tmp_path / "x"), shapeType=shapefile.POLYGON) as writer:
        writer.field("KEY", "N", size=11)
        for place in range(2):
            rings = [polygon(float(place))[::-1], *([hole] if place == 0 else [])]
            writer.poly(rings)
            writer.record(36007000100 + place)
    found = read_outlines(ShapeFile(path=tmp_path / "x.shp", key="KEY"))
    assert set(found) == {"36007000100", "36007000101"}
    assert [len(rings) for rings in found.values()] == [2, 1]
    assert np.allclose(found["36007000100"][1], hole[:-1])


def test_a_broken_shapefile_is_refused(tmp_path):
    pytest.importorskip("shapefile", reason="the extra maps is not installed")
    (tmp_path / "x.shp").write_bytes(b"\0" * 30)
    with pytest.raises(ContractError, match="shapefile"):
        read_outlines(ShapeFile(path=tmp_path / "x.shp", key="KEY"))


def test_another_kind_of_file_is_refused(tmp_path):
    (tmp_path / "x.kml").write_text("<kml/>")
    with pytest.raises(ContractError, match="no map"):
        read_outlines(ShapeFile(path=tmp_path / "x.kml", key="a"))
