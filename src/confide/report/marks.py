"""Layers that figures are built of: dots with intervals, bars, bands, heat maps, ridges.

Rows are plain dictionaries with fixed field names; names from data occur as values only, never in
a field or an expression.  A hollow dot is a flagged number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from confide.report.cells import Cell
from confide.report.style import (
    DOT,
    INK,
    INNER,
    MAIN,
    MUTED,
    OUTER,
    PALE,
    PAPER,
    ROW,
    SEQUENTIAL,
    SERIES,
    SHAPES,
    WARNING,
    WIDTH,
    room_for,
)

_MOST_STEPS = 60  # a law on few integers is drawn as steps, not as a curve

Row: TypeAlias = dict[str, Any]
Chart: TypeAlias = Any
"""An Altair chart; Altair has no types that mypy could check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the rows of a figure share.

    Attributes:
        groups: Labels from top to bottom.
        series: Labels of a second grouping, told apart by colour and shape; else empty.
        x_title: Title of the value axis.
        zero: Whether the value axis starts at 0.
        bars: Whether a pale bar leads to each value.
        log: Whether the value axis is logarithmic.
    """

    groups: tuple[str, ...]
    x_title: str
    series: tuple[str, ...] = ()
    zero: bool = False
    bars: bool = False
    log: bool = False


def row_of(cell: Cell, *, group: str, series: str = "", missing: str = "") -> Row:
    """Return a cell as a row; ``missing`` is written where there is no value."""
    low, high = cell.outer or (None, None)
    inner_low, inner_high = cell.inner or (None, None)
    return {
        "group": group,
        "series": series,
        "value": cell.value,
        "low": low,
        "high": high,
        "inner_low": inner_low,
        "inner_high": inner_high,
        "flagged": bool(cell.flags),
        "missing": missing if cell.value is None else "",
    }


def dots(rows: Sequence[Row], *, frame: Frame) -> Chart:
    """Return dots with one or two intervals, one line a group (and series)."""
    import altair as alt

    shown = alt.Data(values=[row for row in rows if row["value"] is not None])
    absent = alt.Data(values=[row for row in rows if row["value"] is None])
    place = _places(frame)
    colour = _colour(frame)
    value = _value_axis(frame)
    spare = [row for row in rows if row["inner_low"] is not None and row["value"] is not None]
    layers = []
    if frame.bars:
        bar = alt.Chart(shown).mark_bar(color=PALE, height={"band": 0.62})
        layers.append(bar.encode(x=value, x2=alt.X2Datum(0), **place))
    outer = alt.Chart(shown).mark_rule(strokeWidth=OUTER, strokeCap="round")
    layers.append(outer.encode(x=_x("low", frame), x2=alt.X2("high:Q"), color=colour, **place))
    if spare:
        inner = alt.Chart(alt.Data(values=spare)).mark_rule(strokeWidth=INNER, opacity=0.45)
        inner_low = _x("inner_low", frame)
        layers.append(inner.encode(x=inner_low, x2=alt.X2("inner_high:Q"), color=colour, **place))
    layers.append(_points(shown, frame=frame, value=value, place=place))
    if any(row["value"] is None for row in rows):
        text = alt.Chart(absent).mark_text(align="left", fontStyle="italic", color=WARNING, dx=2)
        layers.append(text.encode(x=alt.XValue(0), text=alt.Text("missing:N"), **place))
    height = alt.Step(ROW / 1.7, **{"for": "offset"}) if frame.series else alt.Step(ROW)
    width = WIDTH - max(0, room_for(frame.groups) - WIDTH // 3)
    return alt.layer(*layers).properties(width=width, height=height)


def _points(shown: Any, *, frame: Frame, value: Any, place: Mapping[str, Any]) -> Chart:
    import altair as alt

    colour, encoding = _colour(frame), {}
    if frame.series:
        shapes = alt.Scale(domain=list(frame.series), range=list(SHAPES[: len(frame.series)]))
        encoding["shape"] = alt.Shape("series:N", scale=shapes, legend=alt.Legend(title=None))
    fill = alt.condition("datum.flagged", alt.value(PAPER), colour)
    point = alt.Chart(shown).mark_point(size=DOT, strokeWidth=OUTER, opacity=1)
    return point.encode(x=value, stroke=_stroke(frame), fill=fill, **encoding, **place)


def _stroke(frame: Frame) -> Any:
    import altair as alt

    if not frame.series:
        return alt.StrokeValue(MAIN)
    colours = alt.Scale(domain=list(frame.series), range=list(SERIES[: len(frame.series)]))
    return alt.Stroke("series:N", scale=colours, legend=None)


def _colour(frame: Frame) -> Any:
    import altair as alt

    if not frame.series:
        return alt.ColorValue(MAIN)
    colours = alt.Scale(domain=list(frame.series), range=list(SERIES[: len(frame.series)]))
    return alt.Color("series:N", scale=colours, legend=alt.Legend(title=None))


def _places(frame: Frame) -> dict[str, Any]:
    import altair as alt

    scale = alt.Scale(domain=list(frame.groups), paddingInner=0.25 if frame.series else 0.1)
    axis = alt.Axis(minExtent=room_for(frame.groups))
    place = {"y": alt.Y("group:N", sort=None, scale=scale, title=None, axis=axis)}
    if frame.series:
        offset = alt.Scale(domain=list(frame.series), paddingOuter=0.2)
        place["yOffset"] = alt.YOffset("series:N", sort=None, scale=offset)
    return place


def _x(field: str, frame: Frame) -> Any:
    import altair as alt

    scale = alt.Scale(type="log") if frame.log else alt.Scale(zero=frame.zero, nice=True)
    return alt.X(f"{field}:Q", scale=scale, title=frame.x_title)


def _value_axis(frame: Frame) -> Any:
    return _x("value", frame)


def threshold_line(at: float, *, text: str) -> Chart:
    """Return a dashed line across all groups with its text on top."""
    import altair as alt

    data = alt.Data(values=[{"at": at, "text": text}])
    rule = alt.Chart(data).mark_rule(color=WARNING, strokeDash=[5, 4], strokeWidth=1.4)
    label = alt.Chart(data).mark_text(
        align="left", baseline="bottom", dx=4, dy=-3, color=WARNING, fontSize=11
    )
    return alt.layer(
        rule.encode(x=alt.X("at:Q")),
        label.encode(x=alt.X("at:Q"), y=alt.YValue(0), text=alt.Text("text:N")),
    )


def zone(*ends: float) -> Chart:
    """Return a line at 0 and dashed ones at the ends of a zone around it, across all groups."""
    import altair as alt

    dashed = alt.Chart(alt.Data(values=[{"at": end} for end in ends])).mark_rule(
        color=MUTED, strokeDash=[3, 4], strokeWidth=1
    )
    zero = alt.Chart(alt.Data(values=[{"at": 0.0}])).mark_rule(color=MUTED, strokeWidth=1)
    return alt.layer(dashed.encode(x=alt.X("at:Q")), zero.encode(x=alt.X("at:Q")))


def stacked_bars(rows: Sequence[Row], *, states: tuple[str, ...], x_title: str) -> Chart:
    """Return one bar a group, cut into states in their order, with the first one's interval."""
    import altair as alt

    groups = tuple(dict.fromkeys(str(row["group"]) for row in rows))
    colours = alt.Scale(domain=list(states), range=[PALE, MAIN, WARNING][: len(states)])
    y = alt.Y("group:N", sort=None, title=None, axis=alt.Axis(minExtent=room_for(groups)))
    across = alt.Scale(domain=[0, 100])
    ends = alt.Data(values=[row for row in rows if row["low"] is not None])
    rule = alt.Chart(ends).mark_rule(strokeWidth=OUTER, color=INK)
    bars = alt.Chart(alt.Data(values=list(rows))).mark_bar(height={"band": 0.66})
    stack = bars.encode(
        x=alt.X("value:Q", stack="zero", title=x_title, scale=across),
        y=y,
        color=alt.Color("state:N", scale=colours, sort=None, legend=alt.Legend(title=None)),
        order=alt.Order("order:Q"),
    )
    interval = rule.encode(x=alt.X("low:Q", scale=across), x2=alt.X2("high:Q"), y=y)
    return alt.layer(stack, interval).properties(
        width=WIDTH - max(0, room_for(groups) - WIDTH // 3), height=alt.Step(ROW)
    )


def over_time(rows: Sequence[Row], *, frame: Frame, y_title: str) -> Chart:
    """Return a line with a band, one point a calendar part, earliest first."""
    import altair as alt

    data = alt.Data(values=list(rows))
    every = max(1, -(-len(frame.groups) // 12))
    axis = alt.Axis(labelAngle=0, values=list(frame.groups[::every]), labelOverlap="greedy")
    x = alt.X("group:O", sort=None, axis=axis, title=frame.x_title)
    low = alt.Y("low:Q", title=y_title, axis=alt.Axis(grid=True, tickCount=5))
    band = (
        alt.Chart(data).mark_area(color=PALE, opacity=0.75).encode(x=x, y=low, y2=alt.Y2("high:Q"))
    )
    value = alt.Y("value:Q", title=y_title)
    line = alt.Chart(data).mark_line(color=MAIN, strokeWidth=1.8).encode(x=x, y=value)
    point = alt.Chart(data).mark_point(color=MAIN, fill=MAIN, size=26, opacity=1)
    return alt.layer(band, line, point.encode(x=x, y=value)).properties(width=WIDTH, height=220)


def heat_map(rows: Sequence[Row], *, frame: Frame, titles: tuple[str, str]) -> Chart:
    """Return a grid of cells with their numbers; group down, series across."""
    import altair as alt

    shown = [row for row in rows if row["value"] is not None]
    dark = 0.8 * max((row["value"] for row in shown), default=1.0)
    values = [row | {"dark": row["value"] is not None and row["value"] > dark} for row in rows]
    data = alt.Data(values=values)
    across = len(frame.series)
    cell = min(96, max(44, WIDTH // max(1, across)))
    fits = room_for(frame.series) <= cell - 8
    turned = {"labelAngle": 0} if fits else {"labelAngle": -45, "labelAlign": "left"}
    x = alt.X(
        "series:N",
        sort=None,
        title=titles[1],
        axis=alt.Axis(orient="top", grid=False, **turned),
    )
    side = alt.Axis(titleAngle=-90, minExtent=room_for(frame.groups))
    y = alt.Y("group:N", sort=None, title=titles[0], axis=side)
    scale = alt.Scale(range=list(SEQUENTIAL), domainMin=0)
    rect = alt.Chart(data).mark_rect(stroke=PAPER, strokeWidth=2)
    boxes = rect.encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=None))
    ink = alt.condition("datum.dark", alt.value(PAPER), alt.value(INK))
    number = alt.Chart(data).mark_text(fontSize=11.5)
    text = number.encode(x=x, y=y, text=alt.Text("text:N"), color=ink)
    return alt.layer(boxes, text).properties(width=cell * across, height=alt.Step(ROW + 4))


def plausible(curve: Sequence[tuple[float, float]], *, row: Row, frame: Frame) -> Chart:
    """Return one number: how plausible each true value is, the interval and the dot."""
    import altair as alt

    hill = alt.Data(values=[{"value": at, "plausible": height} for at, height in curve])
    single = alt.Data(values=[row])
    x = _value_axis(frame)
    up = alt.Y("plausible:Q", axis=None, scale=alt.Scale(domain=[-0.28, 1.02]))
    steps = "step" if len(curve) < _MOST_STEPS else "linear"
    outline = {"color": MAIN, "strokeWidth": 1.2, "interpolate": steps}
    area = alt.Chart(hill).mark_area(color=PALE, line=outline, interpolate=steps)
    foot = alt.YDatum(-0.16)
    rule = alt.Chart(single).mark_rule(strokeWidth=OUTER + 0.6, color=MAIN, strokeCap="round")
    point = alt.Chart(single).mark_point(size=DOT * 1.5, color=MAIN, fill=MAIN, opacity=1)
    return alt.layer(
        area.encode(x=x, y=up, y2=alt.Y2Datum(0)),
        rule.encode(x=_x("low", frame), x2=alt.X2("high:Q"), y=foot),
        point.encode(x=x, y=foot),
    ).properties(width=WIDTH, height=150)


def ridges(
    bins: Sequence[Row], *, rows: Sequence[Row], frame: Frame, labels: Sequence[Row], height: int
) -> Chart:
    """Return one distribution a group, with its quantiles and their intervals below each.

    Args:
        bins: low, high, foot and top of each bin.
        rows: Quantiles; their ``level`` is where they stand on the y axis.
        frame: Series are the quantiles.
        labels: text and level of each group, above its bars.
        height: Of the whole in pixels; levels, feet and tops are pixels below the upper edge.
    """
    import altair as alt

    y_scale = alt.Scale(domain=[-height, 0], nice=False)
    x_title = frame.x_title

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", axis=None, scale=y_scale)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", title=x_title, scale=alt.Scale(zero=False, nice=False))

    bars = alt.Chart(alt.Data(values=list(bins))).mark_rect(color=PALE, stroke=PALE)
    layers = [bars.encode(x=x("low"), x2=alt.X2("high:Q"), y=y("foot"), y2=alt.Y2("top:Q"))]
    data = alt.Data(values=[row for row in rows if row["value"] is not None])
    colour = _colour(frame)
    outer = alt.Chart(data).mark_rule(strokeWidth=OUTER)
    inner = alt.Chart(data).mark_rule(strokeWidth=INNER, opacity=0.45)
    layers.append(outer.encode(x=x("low"), x2=alt.X2("high:Q"), y=y("level"), color=colour))
    layers.append(
        inner.encode(x=x("inner_low"), x2=alt.X2("inner_high:Q"), y=y("level"), color=colour)
    )
    layers.append(_points(data, frame=frame, value=x("value"), place={"y": y("level")}))
    text = alt.Chart(alt.Data(values=list(labels)))
    names = text.mark_text(align="left", fontSize=12, fontWeight=600, color=INK)
    layers.append(names.encode(x=alt.XValue(0), y=y("level"), text=alt.Text("text:N")))
    return alt.layer(*layers).properties(width=WIDTH, height=height)


def titled(chart: Chart, *, title: str, subtitle: str) -> Chart:
    """Return the chart with its title and the theme; a top-level chart."""
    import altair as alt

    from confide.report.style import theme

    heading = alt.TitleParams(text=title, subtitle=subtitle) if title else alt.Undefined
    return chart.properties(title=heading).configure(**theme())


def side_by_side(charts: Sequence[tuple[str, Chart]]) -> Chart:
    """Return several charts of the same groups, each under its own name."""
    import altair as alt

    named = []
    for name, chart in charts:
        heading = alt.TitleParams(
            text=name, fontSize=12.5, fontWeight="normal", color=MUTED, frame="group", offset=8
        )
        named.append(chart.properties(width=WIDTH // len(charts) - 20, title=heading))
    return alt.hconcat(*named, spacing=28)
