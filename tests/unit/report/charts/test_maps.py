"""Maps: rings on a grid, hatching inside outlines, classes, and what a reader is told."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import cohorts
from areas import SQUARE, land, squares
from confide.drawing.charts.choropleth import classes_of
from confide.drawing.charts.hatching import hatching
from confide.drawing.charts.larger_areas import larger
from confide.drawing.charts.outlines import MOST_CORNERS, placed, signed_area, wound
from confide.drawing.charts.render import draw
from confide.plans.mechanisms import additive
from confide.report.charts.chart import figure
from confide.report.pages.save import contents
from confide.report.wording.section import section
from confide.statistics import AreaRate, Hierarchy
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from valid_charts import valid

SICK = IsIn(of=ColumnOf(table="persons", column="sick"), values=(1,))


def release_of(statistic, counts, *, population=(), **more):
    to = land([3, 2], population=population, **more)
    plan = cohorts.plan_of((statistic,), dataset=to, nano=500_000_000)
    return cohorts.release_of(plan, answers={f"{statistic.id}/count": counts})


def rate(**more) -> AreaRate:
    return AreaRate(id="r", table="persons", spine="place", of=SICK, **more)


LABELS = ("t0.0", "t0.1", "t0.2", "t1.0", "t1.1")
PEOPLE = (9, 800, 1_500, 4_000, 0)


@pytest.fixture
def mapped(words):
    release = release_of(rate(), (4, 300, -2, 2000, 1), population=PEOPLE)
    outlines = {("place", "tract"): squares(LABELS)}
    return release, figure(replace(release, outlines=outlines), rate(), words=words)


def values(spec, panel: int, layer: int = 0):
    """Return the rows of one layer of a panel, inline or from the chart's shared data."""
    below = spec["vconcat"][panel]
    data = below["layer"][layer].get("data", below.get("data"))
    return data["values"] if "values" in data else spec["datasets"][data["name"]]


def shades(spec) -> list[str]:
    return [feature["properties"]["shade"] for feature in values(spec, 0)]


def test_hatching_is_inside_the_outline_and_nowhere_else():
    ring = np.array([[0.0, 0], [40, 0], [40, 40], [20, 15], [0, 40]])  # a notch from below
    hole = np.array([[4.0, 4], [12, 4], [12, 10], [4, 10]])
    lines = hatching([ring, hole], spacing=3.0)
    assert len(lines) > 10
    for (x0, y0), (x1, y1) in lines:
        assert x1 - x0 == pytest.approx(y0 - y1, abs=0.25)  # rising at 45 degrees
        for part in (0.1, 0.5, 0.9):
            x, y = x0 + part * (x1 - x0), y0 + part * (y1 - y0)
            assert inside(ring, x, y), (x, y)
            assert not inside(hole, x, y), (x, y)


def inside(ring, x, y) -> bool:
    """Sum of the angles under which the edges are seen."""
    angles = np.arctan2(ring[:, 1] - y, ring[:, 0] - x)
    turned = (np.roll(angles, -1) - angles + math.pi) % (2 * math.pi) - math.pi
    return abs(turned.sum()) > 1


def test_hatching_covers_an_area_in_proportion_to_its_size():
    big = SQUARE * 30
    length = sum(math.dist(start, end) for start, end in hatching([big], spacing=5.0))
    assert length * 5.0 == pytest.approx(300 * 300, rel=0.01)


def test_neighbours_share_their_corners_after_rounding():
    rng = np.random.default_rng(2)
    border = np.column_stack((50 + rng.normal(0, 3, 40), np.linspace(0, 100, 40)))
    left = np.vstack(([[0.0, 0.0]], border, [[0.0, 100.0]])) * 1000
    right = np.vstack((border[::-1], [[100.0, 0.0], [100.0, 100.0]])) * 1000
    found = placed({"left": (left,), "right": (right,)}, width=300, tallest=300).rings
    total = sum(abs(signed_area(rings[0])) for rings in found.values()) / 2
    assert total == pytest.approx(300 * 300, rel=0.01)  # no gap, no overlap


def test_degrees_are_projected_with_equal_areas():
    north, south = SQUARE / 10 + np.array([-80.0, 44.0]), SQUARE / 10 + np.array([-80.0, 30.0])
    found = placed({"n": (north,), "s": (south,)}, width=2000, tallest=2000).rings
    sizes = {label: abs(signed_area(rings[0])) for label, rings in found.items()}
    exact = math.sin(math.radians(45)) - math.sin(math.radians(44))
    exact /= math.sin(math.radians(31)) - math.sin(math.radians(30))
    assert sizes["n"] / sizes["s"] == pytest.approx(exact, rel=0.03)


def test_areas_across_the_antimeridian_stay_together():
    west, east = SQUARE / 10 + np.array([178.5, 60.0]), SQUARE / 10 + np.array([-180.0, 60.0])
    found = placed({"w": (west,), "e": (east,)}, width=300, tallest=300)
    assert min(ring[:, 0].min() for (ring,) in found.rings.values()) == 0
    assert found.rings["e"][0][:, 0].min() > found.rings["w"][0][:, 0].mean()


def test_a_hole_runs_against_its_outline():
    hole = SQUARE / 4 + 3
    island = SQUARE / 20 + 3.5
    found = [signed_area(ring) > 0 for ring in wound([SQUARE, hole[::-1], island])]
    assert found == [True, False, True]


def test_detailed_outlines_are_thinned_until_the_figure_is_small():
    turns = np.linspace(0, 2 * math.pi, 4000, endpoint=False)
    ripple = 1 + 0.02 * np.sin(300 * turns)
    one = np.column_stack((np.cos(turns) * ripple, np.sin(turns) * ripple)) * 40_000
    many = {f"a{i}": (one + np.array([i % 10, i // 10]) * 90_000,) for i in range(60)}
    found = placed(many, width=560, tallest=600)
    assert sum(len(ring) for rings in found.rings.values() for ring in rings) <= MOST_CORNERS
    assert not found.lost


def test_an_area_smaller_than_a_pixel_is_reported_as_lost():
    tiny = SQUARE / 1e6 + np.array([5.0, 5.0])
    found = placed({"big": (SQUARE,), "tiny": (tiny,)}, width=500, tallest=500)
    assert found.lost == ("tiny",)


def test_classes_are_few_and_hold_about_equal_numbers():
    rng = np.random.default_rng(5)
    values = rng.gamma(3, 20, 281).tolist()
    classes = classes_of(values)
    sizes = np.bincount([classes.of(value) for value in values])
    assert len(sizes) == 5
    assert sizes.min() > 40


def test_unstable_areas_are_hatched_and_areas_without_a_rate_are_grey(mapped, words):
    _, built = mapped
    spec = valid(built.chart)
    assert shades(spec).count("none") == 1
    hatched = values(spec, 0, 2)[0]["geometry"]["coordinates"]
    assert len(hatched) > 5
    texts = [row["text"] for row in values(spec, 0, -3)]
    assert words.say("map.unstable") in texts
    assert words.say("map.none") in texts
    assert any("hatched" in note for note in built.notes)


def test_hatching_is_drawn_over_unstable_areas_alone(mapped):
    release, built = mapped
    spec = built.chart.to_dict()
    rings = {
        label: np.array(feature["geometry"]["coordinates"][0])
        for label, feature in zip(LABELS, values(spec, 0), strict=True)
    }
    boxes = [np.array(f["geometry"]["coordinates"][0]) for f in values(spec, 0, 1)]
    flagged = {e.key[0] for e in release.of("r") if "unstable" in e.flags}
    assert flagged == {"t0.0", "t0.2"}
    for (x0, y0), (x1, y1) in values(spec, 0, 2)[0]["geometry"]["coordinates"]:
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        inside_of = {label for label, ring in rings.items() if inside(ring, x, y)}
        assert inside_of <= flagged
        assert inside_of or any(inside(box, x, y) for box in boxes)


def test_a_map_is_static_and_the_same_each_time(mapped):
    _, built = mapped
    first = draw(built.chart)
    assert first == draw(built.chart)
    assert "<script" not in first.svg
    assert "http" not in first.svg.replace("http://www.w3.org", "")


def test_a_map_of_planar_coordinates_is_drawn_as_it_is(words):
    release = release_of(rate(), (4, 300, 30, 2000, 1), population=PEOPLE)
    planar = {("place", "tract"): squares(LABELS, degrees=False)}
    spec = figure(replace(release, outlines=planar), rate(), words=words).chart.to_dict()
    assert len(shades(spec)) == 5


def test_areas_without_an_outline_are_counted_in_a_note(words):
    release = release_of(rate(), (4, 300, 30, 2000, 1), population=PEOPLE)
    some = {("place", "tract"): squares(LABELS[:3])}
    notes = figure(replace(release, outlines=some), rate(), words=words).notes
    assert any(note.startswith("2 areas have no outline") for note in notes)


def test_without_outlines_rates_are_dots_and_the_preview_is_there(words):
    release = release_of(rate(), (4, 300, 30, 2000, 1), population=PEOPLE)
    spec = figure(release, rate(), words=words).chart.to_dict()
    rows = values(spec, 1)
    assert [row["value"] for row in rows] == sorted((row["value"] for row in rows), reverse=True)


def test_the_preview_in_the_report_is_the_forecast_of_the_plan(mapped):
    release, built = mapped
    noise = release.plan.mechanisms("r")
    rows = values(built.chart.to_dict(), 1)
    expected = [
        100_000 * additive(noise["count"]).mean_absolute() / n for n in (9, 800, 1500, 4000)
    ]
    assert [row["value"] for row in rows] == pytest.approx(expected)


def test_a_hierarchy_has_a_panel_a_level_and_counts_of_three_kinds(words):
    spec = Hierarchy(id="h", table="persons", spine="place")
    to = land([3, 2])
    plan = cohorts.plan_of((spec,), dataset=to, nano=500_000_000)
    answers = {"h/count/tract": (5, 0, 7, 2, 9), "h/count/county": (12, 11)}
    release = cohorts.release_of(plan, answers=answers)
    built = figure(release, spec, words=words)
    assert len(built.chart.to_dict()["vconcat"]) == 2
    said = section(release, spec, words=words)
    assert said.headline.startswith("Of 2 areas, the largest county is c0, with 12 patients")
    assert any("least squares" in sentence for sentence in said.bounded)
    files = contents(release, words=words)
    table = files["tables/h.csv"].decode().splitlines()
    assert table[0].startswith("quantity,level_,area,value")
    assert {line.split(",")[0] for line in table[1:]} == {"count", "unrounded", "measurement"}


def test_a_report_with_a_map_of_many_detailed_areas_is_below_two_megabytes(words):
    many = 90
    labels = [f"t0.{place}" for place in range(many)]
    turns = np.linspace(0, 2 * math.pi, 1500, endpoint=False)
    ripple = 1 + 0.04 * np.sin(60 * turns)
    ring = np.column_stack((np.cos(turns) * ripple, np.sin(turns) * ripple)) * 40_000
    outlines = {
        label: (ring + np.array([place % 17, place // 17]) * 80_000,)
        for place, label in enumerate(labels)
    }
    to = land([many], population=tuple(range(1000, 1000 + many)))
    plan = cohorts.plan_of((rate(),), dataset=to, nano=500_000_000)
    answers = {"r/count": tuple(i % 40 for i in range(many))}
    release = cohorts.release_of(plan, answers=answers)
    files = contents(replace(release, outlines={("place", "tract"): outlines}), words=words)
    assert len(files["report.html"]) < 2_000_000
    assert b"MultiLineString" not in files["report.html"]


def test_what_patients_in_large_areas_lose_less_is_said(words):
    spec = rate(same_error_above=1000)
    release = release_of(spec, (4096, 30_000, 20_000, 9_000, 10), population=PEOPLE)
    said = section(release, spec, words=words)
    assert any("1,000 people" in sentence for sentence in said.bounded)
    assert any("1 patient" in sentence and "noise" in sentence for sentence in said.bounded)


def test_the_spine_is_among_the_facts_taken_as_public():
    release = release_of(rate(), (4, 30, 20, 9, 10), population=PEOPLE)
    facts = release.certificate["data"]["facts-taken-as-public"]
    assert {
        "name": "place",
        "value": "5 tract < 2 county, 6,309 people",
        "source": "census of 2020",
    } in facts


def test_a_plan_holds_no_outline():
    plan = cohorts.plan_of((rate(),), dataset=land([3, 2], population=PEOPLE), nano=1_000_000)
    text = json.dumps(plan.to_json())
    assert "shapes" not in text
    assert "coordinates" not in text


def test_a_map_says_its_unit_and_names_and_bounds_the_larger_areas(mapped, words):
    _, built = mapped
    spec = built.chart.to_dict()
    assert values(spec, 0, -3)[0]["text"] == "rate, per 100,000"
    assert [row["text"] for row in values(spec, 0, -1)] == ["c0", "c1"]
    (borders,) = values(spec, 0, -4)
    assert borders["geometry"]["type"] == "MultiLineString"
    assert len(borders["geometry"]["coordinates"]) == 2


def test_a_level_that_no_file_draws_is_put_together_from_a_smaller_one():
    tracts = squares(LABELS, degrees=False)
    found = larger(tracts, within={label: label[1] for label in LABELS})
    assert found.keys() == {"0", "1"}
    for county, count in (("0", 3), ("1", 2)):
        (ring,) = found[county]
        assert abs(signed_area(ring)) == pytest.approx(2 * count * 1e10)
    assert larger(tracts, within={}) == {}


def test_a_lake_inside_of_an_area_stays_a_hole():
    around = [
        SQUARE + np.array([10.0 * east, 10.0 * north])
        for east in range(3)
        for north in range(3)
        if (east, north) != (1, 1)
    ]
    found = larger(
        {f"t{i}": (ring,) for i, ring in enumerate(around)},
        within={f"t{i}": "county" for i in range(8)},
    )
    assert sorted(abs(signed_area(ring)) for ring in found["county"]) == [
        pytest.approx(200.0),
        pytest.approx(1800.0),
    ]
