"""A table that holds several rows of a patient, declared as one row each, and as it is."""

import pytest

import confide
from confide.drawing.words import load_words
from confide.plans.estimates import Covers
from confide.report.wording.bounding import bounded

pd = pytest.importorskip("pandas", reason="pandas is not installed")

PATIENTS = 1000


def released(folder, *, one, **asked):
    """How many patients have code a, which each of them has in one of two rows; and the words."""
    codes = {"code": {"kind": "category", "categories": ["a", "b"]}}
    dataset = {
        "dataset": {"id": "codes", "lineage": "codes", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "100"}},
        "tables": {"rows": {"columns": codes} | ({"rows-per-patient": 1} if one else {})},
    }
    rows = pd.DataFrame(
        {"pid": [i // 2 for i in range(2 * PATIENTS)], "code": ["a", "b"] * PATIENTS}
    )
    count = {
        "id": "n",
        "kind": "count",
        "table": "rows",
        "count": "events",
        "where": {"code": ["a"]},
    }
    with confide.open(dataset, frames={"rows": rows}, folder=folder) as ws:
        plan = ws.plan(count | asked, epsilon="50")
        found = {each.covers: each.value for each in ws.release(plan).of("n")}
    return found[Covers.NOISE], bounded(plan.statistics[0], plan=plan, words=load_words("en"))


def test_with_one_row_each_declared_the_row_is_kept_before_the_condition_and_the_report_says_so(
    tmp_path,
):
    value, told = released(tmp_path, one=True)
    assert 0.3 * PATIENTS < value < 0.7 * PATIENTS
    assert [sentence for sentence in told if "kept before any condition" in sentence]


def test_with_one_row_each_asked_for_the_condition_comes_first(tmp_path):
    value, told = released(tmp_path, one=False, **{"per-patient": {"rows": 1}})
    assert abs(value - PATIENTS) <= 2
    assert not [sentence for sentence in told if "before any condition" in sentence]
