"""Lines over time with their bands, one panel above another on one time axis.

A gap has no line, no band and no dot: nothing is drawn where nothing was published.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from confide.report.cells import Cell
from confide.report.describe import quantity_text
from confide.report.marks import Chart, Row, row_of
from confide.report.numbers import clean
from confide.report.style import MAIN, PALE, PAPER, SERIES, WIDTH
from confide.report.words import Words
from confide.statistics.running_counts import RUNNING

_TALL, _SHORT = 220, 110
_MOST_SERIES = 5
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


def series_lines(
    cells: Sequence[Cell], *, titles: tuple[str, str], words: Words
) -> tuple[Chart, tuple[str, ...]]:
    """Return the line of values and, below it, how many rows each period has; and notes.

    ``titles`` are those of the time axis and of the values.
    """
    x_title, value_title = titles
    values = [cell for cell in cells if cell.quantity != "count"]
    rows = [cell for cell in cells if cell.quantity == "count"]
    panels = [Panel(cells=values, title=value_title, low=True)]
    if rows:
        panels.append(Panel(cells=rows, title=clean(words.unit(rows[0].unit))))
    gaps = any(cell.value is None for cell in values)
    return _stacked(panels, x_title=x_title), (words.say("chart.gaps"),) if gaps else ()


def running_lines(
    cells: Sequence[Cell], *, x_title: str, words: Words
) -> tuple[Chart, tuple[str, ...]]:
    """Return one panel a quantity, of many series those that are largest at the end; and notes."""
    last = {cell.key[:-1]: cell.value or 0.0 for cell in cells if cell.quantity == RUNNING}
    chosen = sorted(last, key=lambda key: (-last[key], key))[:_MOST_SERIES]
    panels = []
    for quantity in dict.fromkeys(cell.quantity for cell in cells):
        own = [c for c in cells if c.quantity == quantity and c.key[:-1] in chosen]
        names = [words.say("key.joint").join(clean(part) for part in c.key[:-1]) for c in own]
        panels.append(Panel(cells=own, title=quantity_text(quantity, words=words), series=names))
    notes: tuple[str, ...] = ()
    if len(last) > len(chosen):
        notes = (words.say("chart.largest", shown=str(len(chosen)), cells=f"{len(last):,}"),)
    return _stacked(panels, x_title=x_title), notes


def _stacked(panels: Sequence[Panel], *, x_title: str) -> Chart:
    """Return the panels; the first is the tallest, the last has the time axis."""
    import altair as alt

    last = len(panels) - 1
    periods = list(dict.fromkeys(clean(c.key[-1]) for panel in panels for c in panel.cells))
    charts = [
        _panel(panel, periods, tall=place == 0, x_title=x_title if place == last else None)
        for place, panel in enumerate(panels)
    ]
    return charts[0] if len(charts) == 1 else alt.vconcat(*charts, spacing=14)


def _panel(panel: Panel, periods: list[str], *, tall: bool, x_title: str | None) -> Chart:
    import altair as alt

    names = panel.series or [""] * len(panel.cells)
    rows = [
        row_of(cell, group=clean(cell.key[-1]), series=name)
        for cell, name in zip(panel.cells, names, strict=True)
    ]
    series = list(dict.fromkeys(names))
    every = max(1, -(-len(periods) // 8))
    axis = alt.Axis(labelAngle=0, values=periods[::every], labelOverlap="greedy", grid=False)
    if x_title is None:
        axis = alt.Axis(labels=False, title=None, values=periods[::every], grid=False)
    scale = alt.Scale(domain=periods)
    x = alt.X("group:O", sort=None, axis=axis, scale=scale, title=x_title)
    values = alt.Scale(zero=not panel.low, nice=True)
    grid = alt.Axis(grid=True, tickCount=5 if tall else 3)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=panel.title, scale=values, axis=grid)

    data = alt.Data(values=rows)
    encoding, band_colour = {}, {"color": PALE, "opacity": 0.75}
    line_colour = {"color": MAIN}
    if len(series) > 1:
        colours = alt.Scale(domain=series, range=list(SERIES[: len(series)]))
        encoding = {"color": alt.Color("series:N", scale=colours, legend=alt.Legend(title=None))}
        band_colour, line_colour = {"opacity": 0.18}, {}
    broken = "break-paths-show-domains"
    band = alt.Chart(data).mark_area(invalid=broken, **band_colour)
    line = alt.Chart(data).mark_line(strokeWidth=1.6, invalid=broken, **line_colour)
    layers = [
        band.encode(x=x, y=y("low"), y2=alt.Y2("high:Q"), **encoding),
        line.encode(x=x, y=y("value"), **encoding),
    ]
    dotted = rows if len(periods) <= _MOST_DOTS else _alone(rows)
    shown = alt.Data(values=[row for row in dotted if row["value"] is not None])
    if len(series) == 1:
        rule = alt.Chart(alt.Data(values=_alone(rows))).mark_rule(color=PALE, strokeWidth=3)
        layers.insert(0, rule.encode(x=x, y=y("low"), y2=alt.Y2("high:Q")))
        fill = alt.condition("datum.flagged", alt.value(PAPER), alt.value(MAIN))
        point = alt.Chart(shown).mark_point(stroke=MAIN, size=22, opacity=1, strokeWidth=1.2)
        layers.append(point.encode(x=x, y=y("value"), fill=fill))
    return alt.layer(*layers).properties(width=WIDTH, height=_TALL if tall else _SHORT)


def _alone(rows: Sequence[Row]) -> list[Row]:
    """Return the rows between two gaps, which are on no line."""
    values = [None, *(row["value"] for row in rows), None]
    return [
        row
        for row, before, after in zip(rows, values, values[2:], strict=False)
        if row["value"] is not None and before is None and after is None
    ]
