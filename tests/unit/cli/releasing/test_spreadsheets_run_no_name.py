"""A table of a release in a spreadsheet: the name of a column runs nothing on a reader's machine."""

import csv
import json

from command_line import confide
from small_clinic import DATASET, make_clinic

RUN = '=HYPERLINK("http://x";1)'


def test_no_spreadsheet_runs_the_name_of_a_column_of_a_release(tmp_path):
    named = DATASET.replace("sex: {categories", f"{json.dumps(RUN)}: {{from: sex, categories")
    clinic = make_clinic(tmp_path / "clinic", dataset=named)
    asked = {
        "study": {"id": "names"},
        "statistics": [{"id": "n", "kind": "histogram", "table": "patients", "by": [RUN]}],
        "spend": {"at-most": {"epsilon": "0.5"}},
    }
    clinic.study.write_text(json.dumps(asked))
    ran = confide("run", clinic.study, "--out", tmp_path / "out", "--quiet")
    assert ran.code == 0, ran.err
    (table,) = (tmp_path / "out" / "tables").glob("*.csv")
    with table.open(newline="", encoding="utf-8") as file:
        head = next(csv.reader(file))
    assert head[1] == f"'{RUN}"
    assert confide("verify", tmp_path / "out").code == 0
