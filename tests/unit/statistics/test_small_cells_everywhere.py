"""A house rule withholds every share, rate and mean of a handful, of whatever kind."""

import pytest

import confide
import every_kind
from confide.plans.house_rule import HouseRule, NoisyFile, SmallCells
from confide.plans.plan import Study
from confide.plans.reuse import Summed

pd = pytest.importorskip("pandas")

FEW, MANY = 6, 300
ILL = {"table": "people", "of": {"ill": ["yes"]}}
OF = {**ILL, "by": ["site"]}
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
    "area-rate": {"kind": "area-rate", **ILL, "spine": "town"},
    "area-rate of larger areas": {"kind": "area-rate", **ILL, "spine": "town", "area": "bank"},
    "area-rate with weights": {
        "kind": "area-rate",
        **ILL,
        "spine": "town",
        "same-error-above": "500",
    },
    "area-rate per row": {
        "kind": "area-rate",
        **ILL,
        "spine": "town",
        "area": "bank",
        "denominator": "rows",
    },
    "crude rate": {
        "kind": "standardized-rate",
        **OF,
        "strata": ["band"],
        "standard": {"young": "1", "old": "1"},
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
                "band": {"categories": ["young", "old"]},
                "time": {"kind": "number", "lower": "0", "upper": "10", "unit": "a"},
                "w": {"kind": "number", "lower": "0", "upper": "2"},
            },
        }
    },
    "spines": {
        "town": {
            "levels": ["site", "bank"],
            "file": "areas.csv",
            "population": "people",
            "source": "atlas",
        }
    },
}
AREAS = "site,bank,people\none,left,1000\nother,right,1000\n"


def opened(folder):
    site, ill = (["one"] * MANY + ["other"] * MANY, ["yes"] * FEW + ["no"] * (MANY - FEW))
    frame = pd.DataFrame(
        {
            "pid": range(2 * MANY),
            "site": site,
            "ill": ill + ["yes"] * (MANY // 2) + ["no"] * (MANY // 2),
            "band": ["young", "old"] * MANY,
            "time": 5.0,
            "w": 1.0,
        }
    )
    (folder / "areas.csv").write_text(AREAS)
    return confide.open(DATASET, frames={"people": frame}, folder=folder)


@pytest.mark.parametrize("kind", STUDIES)
def test_a_share_rate_or_mean_of_a_handful_is_withheld_of_whatever_kind(kind, tmp_path):
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    with opened(tmp_path) as ws:
        plan = ws.plan({"id": "s", **STUDIES[kind]}, epsilon="300", study=study)
        found = ws.release(plan).of("s")
    few = [e for e in found if {"one", "left"} & {*e.key} and "no" not in e.key]
    if kind in {"table-1", "data-quality"}:
        few = [e for e in few if "yes" in e.key or "missing" in e.key]
    if kind == "crude rate":  # a standardised one is no cell
        few = [e for e in few if e.quantity == kind]
    assert few
    assert [(e.quantity, e.key, e.value) for e in few if e.value is not None] == []
    assert any(e.value is not None for e in found if {"other", "right"} & {*e.key})


@pytest.mark.parametrize(("persons", "shown"), [(8, False), (60, True)])
def test_a_mean_degree_of_a_handful_of_persons_is_withheld(persons, shown, tmp_path):
    study = Study(id="s", small_cells=SmallCells(rule=HouseRule.CMS))
    town = {name: each[each["pid"] < persons] for name, each in every_kind.frames().items()}
    with confide.open(every_kind.dataset(measure="zcdp"), frames=town, folder=tmp_path) as ws:
        asked = {"id": "s", "kind": "degree-histogram", **every_kind.STUDIES["degree-histogram"]}
        found = ws.release(ws.plan(asked, epsilon="600", study=study)).of("s")
    (mean,) = [each for each in found if each.quantity == "mean degree"]
    assert (mean.value is not None) == shown


@pytest.mark.parametrize("times", [1, 2])
def test_a_share_of_a_handful_is_withheld_where_it_is_made_of_earlier_counts(times, tmp_path):
    rule = SmallCells(rule=HouseRule.CMS, noisy=NoisyFile.PUBLISHED)
    with opened(tmp_path) as ws:
        counts = ws.plan(
            {"id": "s", **STUDIES["histogram"]},
            epsilon="300",
            study=Study(id="c", small_cells=rule),
        )
        for number in range(times):
            ws.release(counts, request=f"r{number}")
        asked = ws.plan(
            {"id": "s", **STUDIES["proportion"]},
            epsilon="300",
            study=Study(id="s", small_cells=rule),
        )
        release = ws.reuse(asked)
    assert isinstance(release.reused.answers[0], Summed)
    assert {e.key: e.value is None for e in release.of("s")} == {("one",): True, ("other",): False}
