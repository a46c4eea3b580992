"""Person ids that two tables write differently are told to who plans and to the steward."""

import duckdb
import pytest

from command_line import confide

DATASET = """\
dataset: {id: t, lineage: t, snapshot: "1"}
source: {kind: duckdb, path: d.duckdb}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 10}}
tables:
  people: {rows-per-patient: 1, columns: {sex: {categories: [f, m]}}}
  visits: {columns: {code: {categories: [a, b]}}}
"""
STUDY = """\
study: {id: s}
statistics: [{id: n, kind: count, table: people}]
spend: {at-most: {epsilon: 1}}
"""
FIVE_DIGITS, PLAIN = "lpad(i::VARCHAR, 5, '0')", "i"


def stored(folder, *, people, visits):
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT {people} AS pid, 'f' AS sex FROM range(9) r(i)"
        )
        connection.execute(
            f"CREATE TABLE visits AS SELECT {visits} AS pid, 'a' AS code FROM range(9) r(i)"
        )
    (folder / "dataset.yaml").write_text(DATASET)
    (folder / "study.yaml").write_text(STUDY)


@pytest.mark.parametrize(
    ("people", "visits", "told"),
    [(FIVE_DIGITS, PLAIN, True), (PLAIN, PLAIN, False), (FIVE_DIGITS, FIVE_DIGITS, False)],
)
def test_a_plan_remarks_on_ids_that_are_text_in_one_table_and_numbers_in_another(
    tmp_path, people, visits, told
):
    stored(tmp_path, people=people, visits=visits)
    reading = " ".join(confide("plan", tmp_path / "study.yaml", "--json").json["reading"])
    remark = "ids are numbers in 'visits' and text in 'people'"
    assert (remark in reading) is told


@pytest.mark.parametrize(
    ("people", "visits", "told"),
    [
        (FIVE_DIGITS, PLAIN, True),
        (FIVE_DIGITS, f"{FIVE_DIGITS} || ' '", True),
        (PLAIN, PLAIN, False),
    ],
)
def test_the_steward_is_told_of_tables_that_share_no_patient(tmp_path, people, visits, told):
    stored(tmp_path, people=people, visits=visits)
    ran = confide("prepare", tmp_path / "dataset.yaml")
    assert ran.code == 0
    for table in ("people", "visits"):
        assert (f"No patient of table '{table}' has a row in another" in ran.err) is told
