"""``confide prepare`` says where the ids of a table are in no other table of the source."""

import pytest

from command_line import confide

DATASET = """\
dataset: {id: town, lineage: town, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 8}}
tables:
  labs: {from: labs.csv, columns: {value: {kind: number, lower: 0, upper: 10}}}
  others: {from: labs.csv, columns: {value: {kind: number, lower: 5, upper: 20}}}
"""
PEOPLE = "  people: {from: people.csv, columns: {age: {kind: number, lower: 0, upper: 99}}}\n"


@pytest.fixture
def town(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "labs.csv").write_text("pid,value\n00012,3\n00013,8\n")
    (tmp_path / "people.csv").write_text("pid,age\n12a,30\n13a,60\n")
    return tmp_path / "dataset.yaml"


def prepared():
    done = confide("prepare")
    assert done.code == 0, done.err
    return done.out + done.err, {
        each["table"]: each["patients-elsewhere"]
        for each in confide("prepare", "--json").json["tables"]
    }


def test_tables_of_one_source_table_do_not_vouch_for_one_another(town):
    town.write_text(DATASET + PEOPLE)
    said, facts = prepared()
    assert facts == {"labs": 0, "others": 0, "people": 0}
    for name in facts:
        assert f"No patient of table '{name}' has a row in another table" in said


def test_where_there_is_no_other_table_of_the_source_nothing_is_said(town):
    town.write_text(DATASET)
    said, facts = prepared()
    assert facts == {"labs": None, "others": None}
    assert "No patient of table" not in said
