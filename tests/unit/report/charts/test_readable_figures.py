"""Figures as readers expect them: numbers beside forests, curves named at their ends, round ticks."""

import json
import re

import pytest

from confide.drawing.cells import Cell, cells_of, key_part, readable_cells
from confide.drawing.charts.marks import ratio_axis
from confide.drawing.charts.periods import time_axis
from confide.plans.estimates import NOT_REACHED, Covers
from confide.report.charts.chart import figure
from confide.statistics.area_rate.kind import KIND as AREA_RATE


def drawn(release, name, words):
    statistic = next(each for each in release.plan.statistics if each.id == name)
    return json.dumps(figure(release, statistic, words=words).spec, ensure_ascii=False)


@pytest.mark.parametrize("name", ["line"])
def test_a_forest_has_each_estimate_with_its_interval_at_the_right(release, words, name):
    spec = drawn(release, name, words)
    assert words.say("chart.told", level="95\N{NO-BREAK SPACE}%") in spec
    assert re.search(r'"told": "[−\d.]+ \([−\d.]+(–| to )[−\d.]+\)"', spec)


def test_the_axis_of_ratios_fits_them_and_is_named_at_round_ones():
    axis = ratio_axis([0.3, 0.9, 2.6])
    low, high = axis["scale"]["domain"]
    assert 0.25 < low < 0.3
    assert 2.6 < high < 3
    assert axis["axis"]["values"] == [0.5, 1.0, 2.0]
    narrow = ratio_axis([0.95, 1.12])["axis"]["values"]
    assert 1.0 in narrow
    assert 3 <= len(narrow) <= 7
    assert len(ratio_axis([1e-5, 1e4])["axis"]["values"]) <= 10


def test_curves_are_named_at_their_ends_and_names_keep_apart(release, words):
    spec = drawn(release, "survival", words)
    assert '"legend": null' in spec
    places = sorted({float(at) for at in re.findall(r'"at": ([\d.]+)', spec)})
    assert len(places) == 2
    assert places[1] - places[0] > 14 / 300 - 1e-9


def test_minutes_of_two_days_are_told_in_hours_and_months_as_they_are():
    bins = [f"{start}-{start + 59}" for start in range(0, 2880, 60)]
    axis = time_axis(bins, unit="min")
    assert (axis.ticks, axis.unit) == (["0", "6", "12", "18", "24", "30", "36", "42"], "h")
    assert len(set(axis.names.values())) == len(bins)
    days = time_axis([f"{start}-{start + 29}" for start in range(0, 3650, 30)], unit="d")
    assert days.unit == "a"
    assert days.ticks == [f"{float(tick):g}" for tick in days.ticks]
    months = [f"2025-{month:02d}" for month in range(1, 13)]
    assert set(time_axis(months, unit="").ticks) <= set(months)


def test_ranges_on_both_sides_of_a_comparison_have_dashes(words):
    assert key_part("age: 40-49 vs 28-39", words=words) == "age: 40–49 vs 28–39"
    assert key_part("2026-10", words=words) == "2026-10"


def test_shares_of_one_are_told_in_per_cent_and_their_differences_in_points(release):
    for name, unit in (("share", "per 100"), ("difference", "percentage points")):
        bare = [c for c in cells_of(release.of("sexes")) if c.quantity == name]
        told = [c for c in readable_cells(release.of("sexes")) if c.quantity == name]
        assert {cell.unit for cell in told} == {unit}
        assert [c.value for c in told] == pytest.approx([100 * c.value for c in bare])


def rate(area, value, width, flags=()):
    return Cell(
        key=(area,),
        quantity="rate",
        value=value,
        outer=(value - width, value + width),
        inner=None,
        level=0.95,
        covers=Covers.SAMPLING_AND_NOISE,
        unit="per 10000",
        flags=flags,
    )


def test_where_no_rate_is_stable_the_headline_says_so_and_names_none(words):
    cells = [rate(f"area {n}", 10.0 + n, 9.0, ("unstable",)) for n in range(30)]
    said = AREA_RATE.headline(cells, words)
    assert "No rate of the 30 areas" in said
    assert "area 2" not in said


def test_of_many_areas_a_page_shows_the_ten_most_precise(words):
    cells = [rate(f"area {n}", 10.0, 1.0 + (n * 7) % 30) for n in range(30)]
    shown = AREA_RATE.cited(cells)
    assert len(shown) == 10
    assert max(cell.half_width for cell in shown) == 10.0
    assert AREA_RATE.cited(cells[:20]) == cells[:20]


def test_a_median_that_is_not_reached_is_no_warning(words):
    assert "event-free" in words.say(f"flag.{NOT_REACHED}.long")
