"""Lines over time with their bands, one panel above another on one time axis.

A gap has no line, no band and no dot: nothing is drawn where nothing was published.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from confide.drawing.cells import Cell
from confide.drawing.charts.marks import row_of
from confide.drawing.charts.periods import TimeAxis, axis_title, time_axis
from confide.drawing.charts.style import MAIN, PALE, PAPER, SERIES, WIDTH
from confide.drawing.charts.subject import Subject
from confide.drawing.charts.vega import (
    Chart,
    Row,
    Spec,
    below,
    constant,
    field,
    layer,
    mark,
    until,
    when,
)
from confide.drawing.quantities import intervals_text
from confide.drawing.words import Words

_TALL, _SHORT = 220, 110
_MOST_DOTS = 120  # more periods than that are a line without dots


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One quantity over time.

    Attributes:
        cells: Earliest first; the last part of a key is its period.
        title: Of the value axis.
        series: Which series each cell is of; empty when there is one.
        low: Whether the value axis need not start at 0.
    """

    cells: Sequence[Cell]
    title: str
    series: Sequence[str] = ()
    low: bool = False


def subtitle(subject: Subject) -> str:
    """Return what bands over time cover."""
    return intervals_text("chart.time-bands", subject.cells[0], words=subject.words)


def stacked(panels: Sequence[Panel], *, x_title: str, unit: str, words: Words) -> Chart:
    """Return the panels; the first is the tallest, the last has the time axis.

    Args:
        panels: From top to bottom.
        x_title: Of the time axis, with its unit.
        unit: UCUM code of periods that are bins of a number; "1" or "" of others.
        words: Language.
    """
    last = len(panels) - 1
    periods = list(dict.fromkeys(c.key[-1] for panel in panels for c in panel.cells))
    axis = time_axis(periods, unit=unit)
    x_title = axis_title(x_title, axis=axis, unit=unit, words=words)
    charts = [
        _panel(panel, axis, tall=place == 0, x_title=x_title if place == last else None)
        for place, panel in enumerate(panels)
    ]
    return charts[0] if len(charts) == 1 else below(charts, spacing=14)


def _panel(panel: Panel, time: TimeAxis, *, tall: bool, x_title: str | None) -> Chart:
    names = panel.series or [""] * len(panel.cells)
    rows = [
        row_of(cell, group=time.names[cell.key[-1]], series=name)
        for cell, name in zip(panel.cells, names, strict=True)
    ]
    series = list(dict.fromkeys(names))
    periods, ticks = list(dict.fromkeys(time.names.values())), list(time.ticks)
    overlap = False if time.unit else "greedy"  # round numbers are short and few
    axis = {"labelAngle": 0, "values": ticks, "labelOverlap": overlap, "grid": False}
    if x_title is None:
        axis = {"labels": False, "title": None, "values": ticks, "grid": False}
    scale = {"domain": periods}
    x = field("group:O", sort=None, axis=axis, scale=scale, title=x_title)
    values = {"zero": not panel.low, "nice": True}
    grid = {"grid": True, "tickCount": 5 if tall else 3}

    def y(name: str) -> Spec:
        return field(f"{name}:Q", title=panel.title, scale=values, axis=grid)

    encoding, band_colour = {}, {"color": PALE, "opacity": 0.75}
    line_colour = {"color": MAIN}
    if len(series) > 1:
        colours = {"domain": series, "range": list(SERIES[: len(series)])}
        encoding = {"color": field("series:N", scale=colours, legend={"title": None})}
        band_colour, line_colour = {"opacity": 0.18}, {}
    broken = "break-paths-show-domains"
    band = mark("area", rows, invalid=broken, **band_colour)
    line = mark("line", rows, strokeWidth=1.6, invalid=broken, **line_colour)
    layers = [
        band.encode(x=x, y=y("low"), y2=until("high"), **encoding),
        line.encode(x=x, y=y("value"), **encoding),
    ]
    dotted = rows if len(periods) <= _MOST_DOTS else _alone(rows)
    shown = [row for row in dotted if row["value"] is not None]
    if len(series) == 1:
        rule = mark("rule", _alone(rows), color=PALE, strokeWidth=3)
        layers.insert(0, rule.encode(x=x, y=y("low"), y2=until("high")))
        fill = when("datum.flagged", constant(PAPER), constant(MAIN))
        point = mark("point", shown, stroke=MAIN, size=22, opacity=1, strokeWidth=1.2)
        layers.append(point.encode(x=x, y=y("value"), fill=fill))
    return layer(*layers).properties(width=WIDTH, height=_TALL if tall else _SHORT)


def _alone(rows: Sequence[Row]) -> list[Row]:
    """Return the rows between two gaps, which are on no line."""
    values = [None, *(row["value"] for row in rows), None]
    return [
        row
        for row, before, after in zip(rows, values, values[2:], strict=False)
        if row["value"] is not None and before is None and after is None
    ]
