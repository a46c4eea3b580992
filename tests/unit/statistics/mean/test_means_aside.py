"""What a plan says of means that are not in the middle of their bounds."""

import re

import pytest

import confide

pd = pytest.importorskip("pandas")

ROWS = 1400
KINDS = {
    "mean": {"kind": "mean", "column": "glucose"},
    "weighted-mean": {"kind": "weighted-mean", "column": "glucose"},
}


def dataset(measure):
    delta = {} if measure == "pure" else {"delta": "1e-6"}
    glucose = {"kind": "number", "lower": "10", "upper": "1000", "unit": "mg/dL"}
    weight = {"kind": "number", "lower": "0", "upper": "2"}
    return {
        "dataset": {"id": "lab", "lineage": "lab", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": measure} | delta,
        "caps": {"lifetime": {"epsilon": "100"}},
        "tables": {
            "p": {
                "rows-per-patient": "1",
                "weight": "w",
                "columns": {"glucose": glucose, "w": weight},
            }
        },
    }


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_error_of_a_mean_at_its_bound_is_what_the_plan_says_of_one(kind, measure, tmp_path):
    frame = pd.DataFrame({"pid": range(ROWS), "glucose": 10.0, "w": 1.0})
    expect = {"count": str(ROWS)} | ({"weight": "1"} if kind == "weighted-mean" else {})
    with confide.open(dataset(measure), frames={"p": frame}, folder=tmp_path) as ws:
        plan = ws.plan({"id": "m", "table": "p", "expect": expect, **KINDS[kind]}, epsilon="5")
        (note,) = [each for each in ws.forecast(plan)["m"].notes if "bounds" in each]
        found = ws.release(plan).of("m")
    said = float(re.search(r"; ±([0-9.e+-]+)", note)[1])
    mean = next(each for each in found if "mean" in each.quantity)
    half = mean.standard_error * 1.96
    assert half == pytest.approx(said, rel=0.25), note
