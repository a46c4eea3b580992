"""What the intervals of a statistic take for granted stands beside them: report, methods and
show."""

import pytest

import command_line
import confide
from confide.report.pages.save import save

pd = pytest.importorskip("pandas", reason="pandas is not installed")

SAID = "as if the outcome spread alike whatever the covariates are"


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        ({"kind": "linear-regression", "outcome": "kappa", "covariates": ["age"]}, 1),
        ({"kind": "mean", "column": "kappa"}, 0),
    ],
    ids=["linear-regression", "mean"],
)
def test_a_linear_regression_says_that_it_takes_equal_spread(asked, times, tmp_path):
    columns = {
        "age": {"kind": "number", "lower": "20", "upper": "80"},
        "kappa": {"kind": "number", "lower": "0", "upper": "20"},
    }
    dataset = {
        "dataset": {"id": "spread", "lineage": "spread", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": "1e-6"},
        "caps": {"lifetime": {"rho": "10"}},
        "tables": {"people": {"rows-per-patient": "1", "columns": columns}},
    }
    ages = [20 + i % 61 for i in range(600)]
    people = pd.DataFrame({"pid": range(600), "age": ages, "kappa": [a % 19 for a in ages]})
    with confide.open(dataset, frames={"people": people}, folder=tmp_path / "work") as workspace:
        release = workspace.release(
            workspace.plan({"id": "one", "table": "people"} | asked, rho="1")
        )
        save(release, tmp_path / "out")
    assert (tmp_path / "out" / "methods.md").read_text("utf-8").count(SAID) == times
    assert (SAID in (tmp_path / "out" / "report.html").read_text("utf-8")) == bool(times)
    shown = command_line.confide("show", tmp_path / "out", "--json").json["tables"]
    assert sum(SAID in note for note in shown[0]["notes"]) == times
