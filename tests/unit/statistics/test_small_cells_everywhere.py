"""A house rule withholds every share, rate and mean of a handful, of whatever kind."""

import pytest

import confide
from confide.plans.house_rule import HouseRule, SmallCells
from confide.plans.plan import Study

pd = pytest.importorskip("pandas")

FEW, MANY = 6, 300
OF = {"table": "people", "of": {"ill": ["yes"]}, "by": ["site"]}
STUDIES = {
    "histogram": {"kind": "histogram", "table": "people", "by": ["site", "ill"]},
    "proportion": {"kind": "proportion", **OF},
    "weighted-proportion": {"kind": "weighted-proportion", **OF},
    "incidence": {"kind": "incidence", **OF, "time": "time"},
    "mean": {"kind": "mean", "table": "people", "column": "time", "by": ["site", "ill"]},
    "weighted-mean": {
        "kind": "weighted-mean",
        "table": "people",
        "column": "time",
        "by": ["site", "ill"],
    },
    "variance": {"kind": "variance", "table": "people", "column": "time", "by": ["site", "ill"]},
    "table-1": {
        "kind": "table-1",
        "table": "people",
        "variables": ["ill"],
        "by": ["site"],
    },
    "data-quality": {
        "kind": "data-quality",
        "table": "people",
        "fields": ["ill"],
        "by": ["site"],
    },
}
DATASET = {
    "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "pure"},
    "caps": {"lifetime": {"epsilon": "10000"}},
    "tables": {
        "people": {
            "rows-per-patient": "1",
            "weight": "w",
            "columns": {
                "ill": {"categories": ["no", "yes"]},
                "site": {"categories": ["one", "other"]},
                "time": {"kind": "number", "lower": "0", "upper": "10", "unit": "a"},
                "w": {"kind": "number", "lower": "0", "upper": "2"},
            },
        }
    },
}


@pytest.mark.parametrize("kind", STUDIES)
def test_a_share_rate_or_mean_of_a_handful_is_withheld_of_whatever_kind(kind, tmp_path):
    site, ill = (["one"] * MANY + ["other"] * MANY, ["yes"] * FEW + ["no"] * (MANY - FEW))
    frame = pd.DataFrame(
        {
            "pid": range(2 * MANY),
            "site": site,
            "ill": ill + ["yes"] * (MANY // 2) + ["no"] * (MANY // 2),
            "time": 5.0,
            "w": 1.0,
        }
    )
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    with confide.open(DATASET, frames={"people": frame}, folder=tmp_path) as ws:
        plan = ws.plan({"id": "s", **STUDIES[kind]}, epsilon="300", study=study)
        found = ws.release(plan).of("s")
    few = [e for e in found if "one" in e.key and ("no" not in e.key)]
    if kind in {"table-1", "data-quality"}:
        few = [e for e in few if "yes" in e.key or "missing" in e.key]
    assert few
    assert [(e.quantity, e.key, e.value) for e in few if e.value is not None] == []
    assert any(e.value is not None for e in found if "other" in e.key)
