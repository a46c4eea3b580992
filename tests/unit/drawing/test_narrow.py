"""Figures for narrow screens: letters keep their size, everything else makes room."""

import re

import pytest

from confide.drawing.charts.marks import Frame, dots, heat_map, side_by_side, titled
from confide.drawing.charts.narrow import narrowed
from confide.drawing.charts.render import draw, svg_of
from confide.drawing.charts.style import NARROW


def row(group, *, told="", series=""):
    ends = {"low": 1.0, "high": 3.0, "inner_low": None, "inner_high": None}
    more = {"told": told} if told else {}
    return {"group": group, "series": series, "value": 2.0, "flagged": False, "missing": ""} | (
        ends | more
    )


def chart(groups, *, told="", series=()):
    rows = [row(group, told=told, series=name) for group in groups for name in series or ("",)]
    frame = Frame(groups=tuple(groups), x_title="rate, %", series=tuple(series), told=told and "CI")
    return titled(dots(rows, frame=frame), title="Rates", subtitle="Lines: 95 % intervals")


def width_of(svg):
    return float(re.search(r'width="([0-9.]+)"', svg)[1])


LONG = ("Hypertensive heart and kidney disease", "Other acute ischaemia")
CHARTS = {
    "short": chart(["women", "men"]),
    "long": chart(LONG),
    "told": chart(["age, per 10 years", "sex"], told="1.34 (1.10–1.62)"),
    "series": chart(LONG, series=["not readmitted", "later", "within 30 days"]),
    "beside": titled(
        side_by_side([("share", chart(["normal"])), ("difference", chart(LONG))]),
        title="",
        subtitle="",
    ),
}


@pytest.mark.parametrize("wide", CHARTS.values(), ids=CHARTS)
def test_every_chart_fits_a_narrow_screen_with_letters_of_the_same_size(wide):
    svg = svg_of(narrowed(wide))
    assert width_of(svg) <= NARROW + 2
    sizes = {float(size) for size in re.findall(r'font-size="([0-9.]+)px"', svg)}
    assert min(sizes) >= 11


def test_the_wide_chart_does_not_fit():
    assert width_of(svg_of(CHARTS["long"])) > 1.5 * NARROW


def test_labels_that_are_long_or_share_a_line_with_numbers_stand_above_their_marks():
    def axis(wide):
        (found,) = {
            str(part["encoding"]["y"]["axis"])
            for part in narrowed(wide).spec["layer"]
            if "field" in part["encoding"].get("y", {})
        }
        return found

    assert "labelOffset" not in axis(CHARTS["short"])
    assert "labelOffset" in axis(CHARTS["long"])
    assert "labelOffset" in axis(CHARTS["told"])


def test_what_stood_beside_stands_below():
    spec = narrowed(CHARTS["beside"]).spec
    assert "hconcat" not in spec
    first, second = spec["vconcat"]
    assert first["width"] == second["width"]


def test_cells_of_a_grid_keep_room_for_their_numbers():
    names = [f"g{place}" for place in range(5)]
    cells = [
        {"group": one, "series": other, "value": 1234.0, "text": "1,234"}
        for one in names
        for other in names
    ]
    frame = Frame(groups=tuple(names), series=tuple(names), x_title="")
    grid = heat_map(cells, frame=frame, titles=("from", "to"))
    spec = narrowed(titled(grid, title="", subtitle="")).spec
    assert 5 * 40 <= spec["width"] < grid.spec["width"]


def test_a_drawing_without_its_title_is_the_same_drawing_cut_below_it():
    drawn = draw(CHARTS["short"], narrow=narrowed(CHARTS["short"]))
    assert "Rates" in drawn.svg
    for svg in (drawn.untitled, drawn.narrow):
        assert "Rates" not in svg
        assert "95 % intervals" not in svg
        assert "women" in svg
    box = re.search(r'height="([0-9.]+)" viewBox="0 ([0-9.]+) [0-9.]+ ([0-9.]+)"', drawn.untitled)
    whole = float(re.search(r'height="([0-9.]+)"', drawn.svg)[1])
    assert box[1] == box[3]
    assert float(box[2]) + float(box[3]) == whole
    marks = re.compile(r'<path aria-label="[^"]*"')
    assert marks.findall(drawn.untitled) == marks.findall(drawn.svg)
