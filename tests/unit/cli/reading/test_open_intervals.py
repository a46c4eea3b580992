"""An interval without an upper end has a lower one, and the terminal shows it."""

import csv

from command_line import confide

DATASET = """
dataset: {id: cohort, lineage: cohort, snapshot: "1"}
source: {kind: csv, path: data}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 100}}
tables:
  cohort:
    from: cohort.csv
    rows-per-patient: 1
    columns:
      days: {kind: number, lower: 0, upper: 100, unit: d}
      end: {categories: [alive, dead]}
"""
STUDY = """
study: {id: s}
statistics:
  - {id: c, kind: survival, time: days, status: end, censored: alive, until: 100, bins: 10}
spend: {at-most: {epsilon: 50}}
"""


def test_the_median_whose_interval_is_open_above_is_shown_from_its_lower_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "data").mkdir()
    (tmp_path / "dataset.yaml").write_text(DATASET)
    (tmp_path / "study.yaml").write_text(STUDY)
    with (tmp_path / "data" / "cohort.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["pid", "days", "end"])
        for pid in range(202):  # half of them, and one more, by the end
            rows.writerow([pid, pid % 100, "dead"] if pid < 102 else [pid, 100, "alive"])
    assert confide("run", "study.yaml", "--out", "out").code == 0
    (median,) = [
        line
        for line in confide("show", "out", "--only", "c").out.splitlines()
        if "Median survival" in line
    ]
    assert "(from " in median
    assert median.rstrip().endswith("*"), "flagged"
