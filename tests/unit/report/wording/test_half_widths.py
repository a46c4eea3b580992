"""A number ± half of its interval reaches the interval's ends, or the ends are printed instead."""

import re

import pytest

import confide
from confide.drawing.cells import Cell, plus_minus
from confide.plans.estimates import NEAR_ZERO, Covers
from confide.report.pages.save import contents

pd = pytest.importorskip("pandas")

WARDS = [f"w{number}" for number in range(6)]
DATASET = {
    "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "600"}},
    "tables": {
        "people": {
            "rows-per-patient": 1,
            "columns": {
                "ward": {"categories": WARDS},
                "ill": {"categories": ["no", "yes", "unsure"]},
                "cost": {"kind": "number", "lower": 0, "upper": 100_000, "unit": "EUR"},
            },
        }
    },
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A study of 300 patients, nobody of whom is ill, and all of whom cost the same."""
    frame = pd.DataFrame({"pid": range(300), "ill": "no", "cost": 1000})
    frame["ward"] = [WARDS[row % 6] for row in range(300)]
    people = {"table": "people", "by": ["ward"]}
    folder = tmp_path_factory.mktemp("clinic")
    with confide.open(DATASET, frames={"people": frame}, folder=folder) as ws:
        plan = ws.plan(
            {"id": "t1", "kind": "table-1", "variables": ["ill", "cost"], **people},
            {"id": "spread", "kind": "variance", "column": "cost", **people},
            epsilon="2",
        )
        return ws.release(plan)


def cell(value, lower, upper):
    return Cell(
        key=(),
        quantity="count",
        value=value,
        outer=(lower, upper),
        inner=None,
        level=0.95,
        covers=Covers.NOISE,
        unit="rows",
        flags=(),
    )


@pytest.mark.parametrize(
    ("value", "lower", "upper", "printed"),
    [(12, 0, 53, "0–53"), (0, 0, 27, "0–27"), (50, 36, 64, "14"), (50, 36, 65, "14")],
)
def test_an_interval_that_is_cut_is_printed_with_its_ends(value, lower, upper, printed, words):
    assert plus_minus(cell(value, lower, upper), decimals=0, words=words) == printed


def test_table_1_says_how_far_the_interval_of_a_label_that_nobody_has_may_end(release, words):

    page = contents(release, words=words)["report.html"].decode()
    upper = next(
        each.upper
        for each in release.of("t1")
        if each.quantity == "count" and each.key[:2] == ("ill", "yes") and each.value == 0
    )
    reach = re.search(r"farther from its number than this: numbers ±(\d+)", page)
    assert int(reach[1]) >= upper  # half of it would not get there


def test_a_standard_deviation_that_may_be_0_is_flagged(release):
    found = [each for each in release.estimates if each.quantity == "sd" and each.value is not None]
    assert {each.statistic for each in found} == {"t1", "spread"}
    assert all((NEAR_ZERO in each.flags) == (each.lower == 0) for each in found)
    assert any(NEAR_ZERO in each.flags for each in found)
