"""A median whose interval is cut by the horizon has no upper end, wherever it is written."""

import math

import numpy as np
import pytest

import confide
from confide.report.pages.save import save

pd = pytest.importorskip("pandas", reason="pandas is not installed")

HAZARD, UNTIL, PATIENTS = 0.119, 6, 1000


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A release in which the curve ends just below one half."""
    chance = (np.arange(PATIENTS) + 0.5) / PATIENTS
    died, lost = -np.log(chance) / HAZARD, np.where(np.arange(PATIENTS) % 4, 8.0, 3.0)
    frame = pd.DataFrame(
        {
            "pid": range(PATIENTS),
            "status": np.where(died <= lost, "dead", "alive"),
            "time": np.round(np.minimum(died, lost), 2),
        }
    )
    time = {"kind": "number", "lower": 0, "upper": 8, "step": "0.01", "unit": "a"}
    dataset = {
        "dataset": {"id": "trial", "lineage": "trial", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "100"}},
        "tables": {
            "people": {
                "rows-per-patient": 1,
                "columns": {"status": {"categories": ["alive", "dead"]}, "time": time},
            }
        },
    }
    asked = {
        "id": "s",
        "kind": "survival",
        "table": "people",
        "time": "time",
        "status": "status",
        "censored": "alive",
        "until": UNTIL,
        "bins": 24,
    }
    folder = tmp_path_factory.mktemp("trial")
    with confide.open(dataset, frames={"people": frame}, folder=folder) as workspace:
        return workspace.release(workspace.plan(asked, epsilon="20"))


def test_a_median_cut_by_the_horizon_has_no_upper_end_and_says_why(release):
    (median,) = (e for e in release.of("s") if e.quantity == "median survival")
    assert "beyond the horizon" in median.flags
    assert median.upper is None
    assert median.lower < median.value < UNTIL


def test_the_tables_and_the_report_leave_it_open(release, tmp_path):
    save(release, tmp_path / "out")
    (file,) = (tmp_path / "out").rglob("s.csv")
    table = pd.read_csv(file)
    (row,) = table[table["quantity"] == "median survival"].to_dict("records")
    assert math.isnan(row["upper"])
    assert row["lower"] > 0
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Upper end beyond the horizon" in report
    assert f"from {row['lower']:.1f}" in report or f"from {row['lower']:.2f}" in report
