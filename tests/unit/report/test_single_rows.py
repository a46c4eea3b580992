"""What is said of a table with one row per patient where single rows are protected."""

import pytest

import confide
from confide.drawing.population import about
from confide.drawing.words import load_words
from confide.report.wording.bounding import bounded

pd = pytest.importorskip("pandas")

ROWS = 400


@pytest.mark.parametrize(("unit", "counted"), [("event", ROWS), ("patient", ROWS // 2)])
def test_where_single_rows_are_protected_none_is_left_out_and_none_is_said_to_be(
    unit, counted, tmp_path
):
    dataset = {
        "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": unit, "id": "pid", "adjacency": "add-remove"},
        "accounting": {"measure": "pure"},
        "caps": {"lifetime": {"epsilon": "10000"}},
        "tables": {"p": {"rows-per-patient": "1", "columns": {"x": {"categories": ["no", "yes"]}}}},
    }
    frame = pd.DataFrame({"pid": [i // 2 for i in range(ROWS)], "x": "yes"})
    asked = {"id": "n", "kind": "proportion", "table": "p", "of": {"x": ["yes"]}}
    words = load_words("en")
    with confide.open(dataset, frames={"p": frame}, folder=tmp_path) as ws:
        plan = ws.plan({**asked, "where": {"x": ["yes", "no"]}}, epsilon="400")
        (statistic,) = plan.statistics
        counts = ws.plan(
            {"id": "c", "kind": "histogram", "table": "p", "by": ["x"], "count": "events"},
            epsilon="400",
        )
        found = ws.release(counts).of("c")
        assert max(e.value for e in found) == counted
        said = " ".join((*bounded(statistic, plan=plan, words=words),))
        assert ("of several, one is kept" in said) == (unit == "patient")
        assert ("patients" in about(statistic, plan=plan, words=words).lower()) == (
            unit == "patient"
        )
