"""The figure of rates of areas: the map, and the equity preview below it."""

from confide.drawing.cells import label_of
from confide.drawing.charts.by_group import by_group
from confide.drawing.charts.choropleth import choropleth
from confide.drawing.charts.larger_areas import larger
from confide.drawing.charts.marks import one_below_another
from confide.drawing.charts.outlines import Outlines
from confide.drawing.charts.style import INK, MAIN, OUTER, PALE, ROW, room_for
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Chart, Row, constant, datum, field, layer, mark, until
from confide.drawing.numbers import significant
from confide.drawing.quantities import intervals_text
from confide.plans.estimates import Forecast
from confide.plans.pricing.allocate import forecasts

_NUMBER, _EDGES, _UP = 56, 26, 15
"""Pixels for the number at the end of a line, both edges of a narrow figure, a name above a bar."""


def draw(subject: Subject) -> Drawn:
    """Return the map, or dots where there are no outlines, with the preview of errors below."""
    outlines = _outlines(subject)
    if outlines is None:
        above = by_group(subject)
    else:
        above = choropleth(
            subject.cells,
            outlines=outlines,
            words=subject.words,
            unit=subject.axis(subject.cells),
            around=_around(subject, outlines),
            width=subject.width - (_EDGES if subject.narrow else 0),
        )
    expected = forecasts(subject.plan)[subject.statistic.id]
    if isinstance(expected, str):  # it needs a planning value that nobody gave
        return above
    below = _preview(expected, subject=subject)
    title = subject.words.say("map.preview")
    return one_below_another([("", above[0]), (title, below)]), above[1]


def subtitle(subject: Subject) -> str:
    """Return what stands in place of the usual words on intervals; "" where nothing does."""
    if not _outlines(subject):
        return ""
    return intervals_text("map.subtitle", subject.cells[0], words=subject.words)


def _outlines(subject: Subject) -> Outlines | None:
    """Return the outlines of the areas whose rates are drawn, if there are any of them."""
    statistic, dataset = subject.statistic, subject.dataset
    found = subject.outlines.get(statistic.outlined(dataset), {})
    return found if any(label in found for label in statistic.areas(dataset)) else None


def _around(subject: Subject, outlines: Outlines) -> Outlines:
    """Return the outlines of the areas one level up, if there is one."""
    name, level = subject.statistic.outlined(subject.dataset)
    spine = subject.dataset.spine(name)
    place = spine.level(level)
    if place + 1 == len(spine.levels):
        return {}
    return larger(outlines, within=spine.within(level, spine.levels[place + 1]))


def _preview(forecast: Forecast, *, subject: Subject) -> Chart:
    """Return the expected error of areas by size: a bar, and a thin line to the 95 % error.

    Names stand inside the figure, so that its left edge is that of the map above it.
    """
    words = subject.words
    rows: list[Row] = [
        {
            "group": words.say_count("map.fifth", part.cells, name=part.name),
            "value": part.expected_error,
            "high": part.half_width,
            "text": significant(part.expected_error, digits=2),
        }
        for part in forecast.parts
    ]
    groups = [row["group"] for row in rows]
    width = subject.width - (_EDGES if subject.narrow else 0)
    if subject.narrow and not _outlines(subject):  # it stands below dots, whose labels take room
        width -= room_for(label_of(cell.key, words=words) for cell in subject.cells) + 8
    room = 0 if subject.narrow else room_for(groups) + 8
    up = {"dy": -_UP} if subject.narrow else {}
    scale = {"zero": True, "nice": True, "range": [room, width - _NUMBER]}
    title = words.say("map.preview-axis", unit=words.unit(forecast.unit))
    axis = {"tickCount": 5}
    place = field("group:N", sort=None, scale={"domain": groups}, title=None, axis=None)
    x = field("value:Q", scale=scale, title=title, axis=axis)
    high = field("high:Q", scale=scale, title=title, axis=axis)
    bar = mark("bar", rows, color=PALE, height={"band": 0.3 if subject.narrow else 0.62})
    rule = mark("rule", rows, color=MAIN, strokeWidth=OUTER, strokeCap="round")
    end = mark("tick", rows, color=MAIN, thickness=OUTER, size=9)
    number = mark("text", rows, align="left", dx=6, color=INK, fontSize=11.5)
    name = mark("text", rows, align="left", color=INK, fontSize=12, **up)
    return layer(
        bar.encode(x=x, x2=datum(0), y=place),
        rule.encode(x=x, x2=until("high"), y=place),
        end.encode(x=high, y=place),
        number.encode(x=high, y=place, text=field("text:N")),
        name.encode(x=constant(0), y=place, text=field("group:N")),
    ).properties(width=width, height={"step": 2 * ROW - 6 if subject.narrow else ROW})
