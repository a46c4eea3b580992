"""``confide check`` and the tables of ``prepare`` on a screen: rows of the table, no name broken."""

import pytest

from command_line import confide
from confide.cli.output import table
from confide.cli.preparing.prepare import _show_prepared
from confide.service.preparing.prepare import Prepared, TableCounts

DATASET = """\
dataset: {id: a, lineage: a, snapshot: "1"}
source: {kind: csv, path: data}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 1}}
tables:
  systolic:
    from: measured.csv
    only: {code: ["s"]}
    columns:
      value: {kind: number, lower: 60, upper: 260, unit: "mm[Hg]"}
"""


def test_the_title_counts_the_rows_of_the_table_and_those_of_the_file(tmp_path):
    (tmp_path / "data").mkdir()
    lines = [f"p{i},{'s' if i % 4 == 0 else 'd'},120" for i in range(20)]
    (tmp_path / "data" / "measured.csv").write_text("\n".join(["pid,code,value", *lines, ""]))
    (tmp_path / "dataset.yaml").write_text(DATASET)
    said = confide("check", tmp_path / "dataset.yaml").out
    assert "systolic: 5 of 20 rows of 5 patients (for the steward alone)" in said


def test_no_title_and_no_name_of_a_table_is_broken(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    title = "condition_occurrence: 115,653 rows of 100 patients (for the steward alone)"
    table(("a",), [("1",)], title=title)
    assert title in capsys.readouterr().out
    counts = dict.fromkeys(TableCounts.__dataclass_fields__, 1_234_567)
    made = dict.fromkeys(Prepared.__dataclass_fields__, ())
    _show_prepared(
        Prepared(
            **made | {"tables": (TableCounts(**counts | {"table": "creatinine"}),), "bytes": 1}
        )
    )
    said = capsys.readouterr().out
    for name in ("creatinine", "unreadable", "patients", "repeated", "complete", "elsewhere"):
        assert name in said


@pytest.mark.parametrize("model", ["omop", "fhir", "mimic-iv"])
def test_a_draft_of_a_source_that_is_not_there_says_so(model, tmp_path):
    ran = confide("describe", "--model", model, "--source", tmp_path / "nope")
    assert ran.code == 0
    assert "Nothing is at" in ran.err
    assert "Nothing is at" not in confide("describe", "--model", model, "--source", tmp_path).err
