"""A series whose budget is split over the periods, of patients of whom rows alone are bounded."""

import pytest
import yaml

from command_line import confide

DATASET = """\
dataset: {id: t, lineage: t, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: "1e-6"}
caps: {lifetime: {epsilon: 50}}
tables:
  visits:
    columns:
      day: {kind: date, lower: 2025-01-01, upper: 2025-12-31}
      cost: {kind: number, lower: 0, upper: 1000}
"""


@pytest.mark.parametrize(("every", "bounds"), [("month", {"rows": 2}), ("day", {"rows": 2})])
def test_a_split_series_of_bounded_rows_is_published_as_planned(tmp_path, every, bounds):
    (tmp_path / "dataset.yaml").write_text(DATASET)
    rows = [f"{i},2025-{1 + i % 12:02d}-03,{i % 900}" for i in range(200)]
    (tmp_path / "visits.csv").write_text("\n".join(["pid,day,cost", *rows]) + "\n")
    asked = {"id": "cost", "kind": "series", "table": "visits", "column": "cost", "over": "day"}
    asked |= {"every": every, "budget": "split", "per-patient": bounds}
    study = {"study": {"id": "s"}, "statistics": [asked], "spend": {"at-most": {"epsilon": "1"}}}
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(study))
    assert confide("plan", tmp_path / "study.yaml").code == 0
    done = confide("run", tmp_path / "study.yaml", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert (tmp_path / "out/report.html").exists()
