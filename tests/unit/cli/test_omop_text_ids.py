"""Person ids of an OMOP source are read as the type of their column is: integers, or any text."""

import csv

import duckdb
import pytest

from command_line import confide

DATASET = """\
dataset: {id: cdm, lineage: cdm, snapshot: "1"}
source: {kind: omop, version: "5.4", path: PATH}
protects: {unit: patient, id: person_id, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 1000}}
tables:
  person:
    rows-per-patient: 1
    columns: {sex: {from: gender_concept_id, categories: {8507: male, 8532: female}}}
  visits:
    from: visit_occurrence
    columns: {day: {from: visit_start_date, kind: date, lower: 2020-01-01, upper: 2020-12-31}}
"""
STUDY = """\
study: {id: s, title: S}
statistics: [{id: sexes, kind: histogram, table: person, by: [sex]}]
spend: {at-most: {epsilon: 100}}
"""
PLAIN, PADDED, HASHED = "i", "lpad(i::VARCHAR, 6, '0')", "md5(i::VARCHAR)"


def warehouse(folder, *, ending, person, visits):
    """Write 300 men who came once each, with ids as they are said in SQL."""
    of = "FROM range(1, 301) t(i)"
    tables = {
        "person": f"SELECT {person} AS person_id, 8507 AS gender_concept_id {of}",
        "visit_occurrence": f"SELECT {visits} AS person_id, DATE '2020-05-05' "
        f"AS visit_start_date {of}",
    }
    path = "cdm.duckdb" if ending == "duckdb" else "."
    with duckdb.connect(str(folder / path) if ending == "duckdb" else ":memory:") as connection:
        for name, query in tables.items():
            if ending == "duckdb":
                connection.execute(f"CREATE TABLE {name} AS {query}")
            else:
                connection.execute(f"COPY ({query}) TO '{folder / name}.{ending}'")
    (folder / "dataset.yaml").write_text(DATASET.replace("PATH", path))
    (folder / "study.yaml").write_text(STUDY)


@pytest.mark.parametrize("ending", ["duckdb", "parquet", "csv"])
@pytest.mark.parametrize("ids", [PLAIN, PADDED, HASHED])
def test_patients_of_omop_count_whatever_their_ids_look_like(tmp_path, ending, ids):
    warehouse(tmp_path, ending=ending, person=ids, visits=ids)
    ran = confide("run", tmp_path / "study.yaml", "--out", tmp_path / "r", "--json")
    assert ran.code == 0
    with (tmp_path / "r" / "tables" / "sexes.csv").open() as file:
        men, women = csv.DictReader(file)
    assert abs(float(men["value"]) - 300) < 10  # the noise has a standard error below 1
    assert abs(float(women["value"])) < 10


def test_the_steward_is_told_of_omop_tables_that_write_ids_differently(tmp_path):
    warehouse(tmp_path, ending="duckdb", person=PADDED, visits=PLAIN)
    reading = " ".join(confide("plan", tmp_path / "study.yaml", "--json").json["reading"])
    assert "ids are numbers in 'visits' and text in 'person'" in reading
    ran = confide("prepare", tmp_path / "dataset.yaml")
    assert "No patient of table 'person' has a row in another" in ran.err
