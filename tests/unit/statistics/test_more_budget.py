"""More budget gives no wider interval, also where nobody, or everybody, has what is counted."""

import statistics
from collections import defaultdict

import pytest

import confide

pd = pytest.importorskip("pandas")

PATIENTS = 240
DATASET = {
    "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "caps": {"lifetime": {"epsilon": "10000"}},
    "tables": {
        "people": {
            "rows-per-patient": "1",
            "weight": "w",
            "columns": {
                "ill": {"categories": ["no", "yes"]},
                "sex": {"categories": ["female", "male"]},
                "time": {"kind": "number", "lower": "0", "upper": "10", "unit": "a"},
                "w": {"kind": "number", "lower": "0", "upper": "2"},
            },
        }
    },
}
OF = {"table": "people", "of": {"ill": ["yes"]}}
STUDIES = {
    "proportion": {"kind": "proportion", **OF},
    "weighted-proportion": {"kind": "weighted-proportion", **OF},
    "two-proportions": {"kind": "two-proportions-test", **OF, "by": ["sex"]},
    "incidence": {"kind": "incidence", **OF, "time": "time"},
    "standardized-rate": {
        "kind": "standardized-rate",
        **OF,
        "strata": ["sex"],
        "standard": {"female": "1", "male": "1"},
    },
    "standardized-rate-over-time": {
        "kind": "standardized-rate",
        **OF,
        "time": "time",
        "strata": ["sex"],
        "standard": {"female": "1", "male": "1"},
    },
    "table-1": {"kind": "table-1", "table": "people", "variables": ["ill", "time"], "by": ["sex"]},
    "data-quality": {"kind": "data-quality", "table": "people", "fields": ["ill", "time"]},
}


def widths(*, ill, measure, epsilon, folder):
    """Return the widths of the intervals with finite ends, by statistic, quantity, group, …"""
    accounting = {"measure": measure} | ({} if measure == "pure" else {"delta": "1e-6"})
    frame = pd.DataFrame(
        {
            "pid": range(PATIENTS),
            "ill": ["yes"] * ill + ["no"] * (PATIENTS - ill),
            "sex": ["female", "male"] * (PATIENTS // 2),
            "time": 5.0,
            "w": 1.0,
        }
    )
    dataset = {**DATASET, "accounting": accounting}
    asked = [{"id": name, **study} for name, study in STUDIES.items()]
    found = defaultdict(list)
    with confide.open(dataset, frames={"people": frame}, folder=folder) as ws:
        plan = ws.plan(*asked, epsilon=epsilon)
        for draw in "abc":  # one draw that counts somebody where nobody is has twice the width
            for each in ws.release(plan, request=f"{epsilon} {draw}").estimates:
                if each.lower is not None and each.upper is not None:
                    key = (each.statistic, each.quantity, *each.key, each.covers)
                    found[key].append(each.upper - each.lower)
    return {key: statistics.median(each) for key, each in found.items()}


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
@pytest.mark.parametrize("ill", [0, 1, PATIENTS // 2, PATIENTS])
def test_more_budget_gives_no_wider_interval(ill, measure, tmp_path):
    some, more = (
        widths(ill=ill, measure=measure, epsilon=epsilon, folder=tmp_path)
        for epsilon in ("160", "690")
    )
    assert {cell[0] for cell in some.keys() & more.keys()} == STUDIES.keys()
    for cell in some.keys() & more.keys():
        assert more[cell] <= 1.5 * some[cell] + 1e-9, cell
