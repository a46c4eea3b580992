import importlib
import json

import pytest

import cohorts
from confide.drawing.charts.by_group import MOST_CELLS
from confide.drawing.charts.render import draw, inline
from confide.report.charts.chart import figure
from confide.statistics.histogram.spec import Histogram
from confide.statistics.mean.spec import Mean
from confide.statistics.quantiles.spec import Quantiles
from confide.statistics.registry import KINDS, kind_of
from valid_charts import valid


def _figure(statistic, words, **options):
    plan = cohorts.plan_of((statistic,), dataset=cohorts.hospital())
    return figure(cohorts.release_of(plan, **options), statistic, words=words)


def _rows(built):
    datasets = built.chart.to_dict()
    found = []

    def walk(node):
        if isinstance(node, dict):
            if isinstance(node.get("values"), list):
                found.extend(row for row in node["values"] if isinstance(row, dict))
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(datasets)
    return found


@pytest.mark.parametrize("statistic", cohorts.every_statistic(), ids=lambda s: s.id)
def test_every_kind_has_a_valid_figure_with_title_and_intervals(statistic, words):
    built = _figure(statistic, words)
    spec = valid(built.chart)
    assert spec["title"]["text"] == built.title
    if kind_of(statistic).chooses:  # names, and the chance that a lead is enough
        assert spec["title"]["subtitle"].startswith("Chosen of")
        assert any("lead" in row and "chance" in row for row in _rows(built))
    else:
        assert "interval" in str(spec["title"]["subtitle"])
        assert any("low" in row and "high" in row for row in _rows(built))
    assert "http" not in json.dumps({k: v for k, v in spec.items() if k != "$schema"})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_has_a_figure(kind):
    for reference in filter(None, (kind.figure, kind.subtitle)):
        module, _, name = reference.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


def test_more_than_thirty_cells_show_the_largest_with_a_note(words):
    built = _figure(cohorts.wards_statistic(), words)
    groups = {row["group"] for row in _rows(built) if "group" in row}
    assert len(groups) == MOST_CELLS
    assert "30 largest of 60" in built.notes[0]


def test_months_are_drawn_in_their_order_and_not_by_size(words):
    rows = _rows(_figure(cohorts.months_statistic(), words))
    months = list(dict.fromkeys(row["group"] for row in rows if "group" in row))
    assert months == sorted(months)
    assert len(months) == 24


def test_a_wide_crosstab_is_a_grid_of_numbers(words):
    crosstab = Histogram(id="grid", table="person", by=("age_band", "district"))
    rows = _rows(_figure(crosstab, words))
    assert len({(row["group"], row["series"]) for row in rows}) == 48
    assert all("text" in row for row in rows)


def test_a_flagged_mean_is_marked_and_a_missing_one_is_said(words):
    by_sex = Mean(id="sbp", table="person", column="systolic", by=("sex",))
    built = _figure(by_sex, words, answers={"sbp/sum": (40, 100), "sbp/count": (-3, 50)})
    rows = [row for row in _rows(built) if "missing" in row]
    assert {row["missing"] for row in rows} == {"too few", ""}
    assert all(row["flagged"] for row in rows)
    assert any("Hollow" in note for note in built.notes)


def test_many_groups_of_quantiles_have_a_panel_each(words):
    wards = Quantiles(
        id="stay",
        table="visit",
        column="days",
        by=("ward",),
        bins=6,
        per_patient=cohorts.PerPatient(rows=1),
    )
    assert "hconcat" in _figure(wards, words).chart.to_dict()


def test_labels_that_look_alike_stay_apart(words):
    long = "x" * 90
    districts = (f"{long}a", f"{long}b", "North")
    statistic = Histogram(id="d", table="person", by=("district",))
    plan = cohorts.plan_of((statistic,), dataset=cohorts.hospital(districts=districts))
    built = figure(cohorts.release_of(plan), statistic, words=words)
    assert len({row["group"] for row in _rows(built) if "group" in row}) == 3


def test_a_figure_is_static_and_the_same_each_time(words):
    built = _figure(cohorts.every_statistic()[1], words)
    first, second = draw(built.chart), draw(built.chart)
    assert first == second
    assert first.png.startswith(b"\x89PNG")
    assert "<script" not in first.svg
    assert built.title in first.svg
    assert built.title not in first.untitled


def test_ids_of_inline_figures_do_not_meet():
    svg = '<svg><clipPath id="a"/><g clip-path="url(#a)"/></svg>'
    assert inline(svg, name="f2") == '<svg><clipPath id="f2-a"/><g clip-path="url(#f2-a)"/></svg>'
