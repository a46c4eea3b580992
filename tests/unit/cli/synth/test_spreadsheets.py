"""A synthetic table in a spreadsheet: a name or label runs nothing on a reader's machine."""

import csv
import json

import pytest

from command_line import confide
from synth_clinic import clinic

RUN = '=HYPERLINK("http://x";1)'
COLUMNS = {RUN: {"of": "age"}, "@SUM(A1)": {"of": "sex"}, "stage": {}}


def head_and_rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, rows


@pytest.fixture
def file(tmp_path):
    """A synth.yaml whose author names two columns, and a label, so that a spreadsheet runs them."""
    found = clinic(tmp_path, columns=COLUMNS)
    dataset = json.loads((tmp_path / "dataset.yaml").read_text())
    columns = dataset["tables"]["people"]["columns"]
    columns["sex"] = {"categories": {"F": "=F", "M": "M"}}
    (tmp_path / "dataset.yaml").write_text(json.dumps(dataset))
    return found


def test_no_spreadsheet_runs_a_name_or_a_label_of_a_synthetic_table(tmp_path, file):
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    head, rows = head_and_rows(tmp_path / "out" / "synthetic.csv")
    assert head == [f"'{RUN}", "'@SUM(A1)", "stage"]
    assert {row[1] for row in rows} == {"'=F", "M"}
    model = json.loads((tmp_path / "out" / "synthetic-model.json").read_text())
    assert [each["name"] for each in model["columns"]] == list(COLUMNS)
