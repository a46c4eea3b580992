"""Layers that figures are built of: dots with intervals, bars, bands, heat maps, ridges.

Rows are plain dictionaries with fixed field names; names from data occur as values only, never in
a field or an expression.  A hollow dot is a flagged number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confide.drawing.cells import Cell
from confide.drawing.charts.style import (
    DOT,
    INK,
    INNER,
    MAIN,
    MUTED,
    NARROW,
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
from confide.drawing.charts.vega import (
    Chart,
    Row,
    Spec,
    below,
    beside,
    constant,
    datum,
    field,
    layer,
    mark,
    until,
    when,
)

_MOST_STEPS = 60  # a law on few integers is drawn as steps, not as a curve

_SIDES = 44
"""Pixels beside a narrow grid: its title and padding."""
_NARROWEST, _USUAL = 110, 150
"""Pixels of the narrowest chart of several, and of all their labels where these are short."""
_FEWEST, _MOST = 3, 7
"""Ticks of an axis of ratios."""
_RATIOS = (
    [2.0**power for power in range(-3, 7)],
    [factor * 10.0**power for power in range(-6, 7) for factor in (1.0, 3.0)],
    [0.25, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0],
    [round(0.8 + 0.1 * step, 1) for step in range(8)],
    [round(0.9 + 0.05 * step, 2) for step in range(9)],
    [10.0**power for power in range(-12, 13)],
)
"""Round ratios; those of the widest steps come first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What the rows of a figure share.

    Attributes:
        groups: Labels from top to bottom.
        series: Labels of a second grouping, told apart by colour and shape; else empty.
        x_title: Title of the value axis.
        zero: Whether the value axis starts at 0.
        bars: Whether a pale bar leads to each value.
        ratios: All values and ends, where the logarithmic axis fits them and 1.
        told: Head of a column at the right that writes each row's "told"; "" for no column.
    """

    groups: tuple[str, ...]
    x_title: str
    series: tuple[str, ...] = ()
    zero: bool = False
    bars: bool = False
    ratios: tuple[float, ...] = ()
    told: str = ""


def row_of(cell: Cell, *, group: str, series: str = "", missing: str = "", told: str = "") -> Row:
    """Return a cell as a row; ``missing`` stands where there is no value, ``told`` at the right."""
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
        **({"told": told} if told else {}),
    }


def dots(rows: Sequence[Row], *, frame: Frame) -> Chart:
    """Return dots with one or two intervals, one line a group (and series)."""
    shown = [row for row in rows if row["value"] is not None]
    absent = [row for row in rows if row["value"] is None]
    place = _places(frame)
    colour = _colour(frame)
    value = _value_axis(frame)
    spare = [row for row in rows if row["inner_low"] is not None and row["value"] is not None]
    layers = []
    if frame.bars:
        bar = mark("bar", shown, color=PALE, height={"band": 0.62})
        layers.append(bar.encode(x=value, x2=datum(0), **place))
    outer = mark("rule", shown, strokeWidth=OUTER, strokeCap="round")
    layers.append(outer.encode(x=_x("low", frame), x2=until("high"), color=colour, **place))
    if spare:
        inner = mark("rule", spare, strokeWidth=INNER, opacity=0.45)
        inner_low = _x("inner_low", frame)
        layers.append(inner.encode(x=inner_low, x2=until("inner_high"), color=colour, **place))
    layers.append(_points(shown, frame=frame, value=value, place=place))
    if any(row["value"] is None for row in rows):
        text = mark("text", absent, align="left", fontStyle="italic", color=WARNING, dx=2)
        layers.append(text.encode(x=constant(0), text=field("missing:N"), **place))
    height = {"step": ROW / 1.7, "for": "offset"} if frame.series else {"step": ROW}
    width = WIDTH - max(0, room_for(frame.groups) - WIDTH // 3)
    if frame.told:
        texts = [row for row in rows if row.get("told")]
        width -= room_for([frame.told, *(row["told"] for row in texts)])
        look = {"align": "left", "fontSize": 12, "dx": 10}
        right = constant({"expr": "width"})
        number = mark("text", texts, color=INK, **look)
        head = mark("text", [{"head": frame.told}], color=MUTED, **look)
        layers.append(number.encode(x=right, text=field("told:N"), **place))
        layers.append(head.encode(x=right, y=constant(-9), text=field("head:N")))
    return layer(*layers).properties(width=width, height=height)


def _points(shown: Any, *, frame: Frame, value: Any, place: Mapping[str, Any]) -> Chart:
    colour, encoding = _colour(frame), {}
    if frame.series:
        shapes = {"domain": list(frame.series), "range": list(SHAPES[: len(frame.series)])}
        encoding["shape"] = field("series:N", scale=shapes, legend={"title": None})
    fill = when("datum.flagged", constant(PAPER), colour)
    point = mark("point", shown, size=DOT, strokeWidth=OUTER, opacity=1)
    return point.encode(x=value, stroke=_stroke(frame), fill=fill, **encoding, **place)


def _stroke(frame: Frame) -> Spec:
    if not frame.series:
        return constant(MAIN)
    colours = {"domain": list(frame.series), "range": list(SERIES[: len(frame.series)])}
    return field("series:N", scale=colours, legend=None)


def _colour(frame: Frame) -> Spec:
    if not frame.series:
        return constant(MAIN)
    colours = {"domain": list(frame.series), "range": list(SERIES[: len(frame.series)])}
    return field("series:N", scale=colours, legend={"title": None})


def _places(frame: Frame) -> dict[str, Any]:
    scale = {"domain": list(frame.groups), "paddingInner": 0.25 if frame.series else 0.1}
    axis = {"minExtent": room_for(frame.groups)}
    place = {"y": field("group:N", sort=None, scale=scale, title=None, axis=axis)}
    if frame.series:
        offset = {"domain": list(frame.series), "paddingOuter": 0.2}
        place["yOffset"] = field("series:N", sort=None, scale=offset)
    return place


def _x(name: str, frame: Frame) -> Spec:
    if frame.ratios:
        return field(f"{name}:Q", title=frame.x_title, **ratio_axis(frame.ratios))
    scale = {"zero": frame.zero, "nice": True}
    return field(f"{name}:Q", scale=scale, title=frame.x_title)


def _value_axis(frame: Frame) -> Spec:
    return _x("value", frame)


def ratio_axis(values: Sequence[float]) -> Spec:
    """Return scale and axis of ratios that fit the values and 1, named at round ratios.

    Example:
        >>> ratio_axis([0.4, 2.1])["axis"]["values"]
        [0.5, 1.0, 2.0]
    """
    low, high = min(*values, 1.0) / 1.04, max(*values, 1.0) * 1.04
    every = [[tick for tick in ticks if low <= tick <= high] for ticks in _RATIOS]
    fitting = (ticks for ticks in every if _FEWEST <= len(ticks) <= _MOST)
    shown = next((t for t in fitting if t[0] <= 3 * low and t[-1] >= high / 3), every[-1])
    scale = {"type": "log", "domain": [low, high], "nice": False}
    return {"scale": scale, "axis": {"values": shown, "format": "~g", "labelOverlap": False}}


def threshold_line(at: float, *, text: str, before: bool = False) -> Chart:
    """Return a dashed line across all groups with its text on top, after it or before."""
    data = [{"at": at, "text": text}]
    rule = mark("rule", data, color=WARNING, strokeDash=[5, 4], strokeWidth=1.4)
    look = {"align": "right", "dx": -4} if before else {"align": "left", "dx": 4}
    label = mark("text", data, baseline="bottom", dy=-3, color=WARNING, **look)
    return layer(
        rule.encode(x=field("at:Q")),
        label.encode(x=field("at:Q"), y=constant(0), text=field("text:N")),
    )


def zone(*ends: float) -> Chart:
    """Return a line at 0 and dashed ones at the ends of a zone around it, across all groups."""
    dashed = mark(
        "rule", [{"at": end} for end in ends], color=MUTED, strokeDash=[3, 4], strokeWidth=1
    )
    zero = mark("rule", [{"at": 0.0}], color=MUTED, strokeWidth=1)
    return layer(dashed.encode(x=field("at:Q")), zero.encode(x=field("at:Q")))


def stacked_bars(rows: Sequence[Row], *, states: tuple[str, ...], x_title: str) -> Chart:
    """Return one bar a group, cut into states in their order, with the first one's interval."""
    groups = tuple(dict.fromkeys(str(row["group"]) for row in rows))
    colours = {"domain": list(states), "range": [PALE, MAIN, WARNING][: len(states)]}
    y = field("group:N", sort=None, title=None, axis={"minExtent": room_for(groups)})
    across = {"domain": [0, 100]}
    ends = [row for row in rows if row["low"] is not None]
    rule = mark("rule", ends, strokeWidth=OUTER, color=INK)
    bars = mark("bar", rows, height={"band": 0.66})
    stack = bars.encode(
        x=field("value:Q", stack="zero", title=x_title, scale=across),
        y=y,
        color=field("state:N", scale=colours, sort=None, legend={"title": None}),
        order=field("order:Q"),
    )
    interval = rule.encode(x=field("low:Q", scale=across), x2=until("high"), y=y)
    return layer(stack, interval).properties(
        width=WIDTH - max(0, room_for(groups) - WIDTH // 3), height={"step": ROW}
    )


def over_time(rows: Sequence[Row], *, frame: Frame, y_title: str) -> Chart:
    """Return a line with a band, one point a calendar part, earliest first."""
    every = max(1, -(-len(frame.groups) // 12))
    axis = {"labelAngle": 0, "values": list(frame.groups[::every]), "labelOverlap": "greedy"}
    x = field("group:O", sort=None, axis=axis, title=frame.x_title)
    low = field("low:Q", title=y_title, axis={"grid": True, "tickCount": 5})
    band = mark("area", rows, color=PALE, opacity=0.75).encode(x=x, y=low, y2=until("high"))
    value = field("value:Q", title=y_title)
    line = mark("line", rows, color=MAIN, strokeWidth=1.8).encode(x=x, y=value)
    point = mark("point", rows, color=MAIN, fill=MAIN, size=26, opacity=1)
    return layer(band, line, point.encode(x=x, y=value)).properties(width=WIDTH, height=220)


def heat_map(
    rows: Sequence[Row], *, frame: Frame, titles: tuple[str, str], narrow: bool = False
) -> Chart:
    """Return a grid of cells with their numbers; group down, series across."""
    shown = [row for row in rows if row["value"] is not None]
    dark = 0.72 * max((row["value"] for row in shown), default=1.0)
    data = [row | {"dark": row["value"] is not None and row["value"] > dark} for row in rows]
    across = len(frame.series)
    room = NARROW - room_for(frame.groups) - _SIDES if narrow else WIDTH
    cell = min(96, max(26 if narrow else 44, room // max(1, across)))
    fits = room_for(frame.series) <= cell - 8
    turned = {"labelAngle": 0} if fits else {"labelAngle": -45, "labelAlign": "left"}
    x = field(
        "series:N",
        sort=None,
        title=titles[1],
        axis={"orient": "top", "grid": False, **turned},
    )
    side = {"titleAngle": -90, "minExtent": room_for(frame.groups)}
    y = field("group:N", sort=None, title=titles[0], axis=side)
    scale = {"range": list(SEQUENTIAL), "domainMin": 0}
    rect = mark("rect", data, stroke=PAPER, strokeWidth=2)
    boxes = rect.encode(x=x, y=y, color=field("value:Q", scale=scale, legend=None))
    ink = when("datum.dark", constant(PAPER), constant(INK))
    number = mark("text", data, fontSize=11.5)
    text = number.encode(x=x, y=y, text=field("text:N"), color=ink)
    return layer(boxes, text).properties(width=cell * across, height={"step": ROW + 4})


def plausible(curve: Sequence[tuple[float, float]], *, row: Row, frame: Frame) -> Chart:
    """Return one number: how plausible each true value is, the interval and the dot."""
    hill = [{"value": at, "plausible": height} for at, height in curve]
    single = [row]
    x = _value_axis(frame)
    up = field("plausible:Q", axis=None, scale={"domain": [-0.28, 1.02]})
    steps = "step" if len(curve) < _MOST_STEPS else "linear"
    outline = {"color": MAIN, "strokeWidth": 1.2, "interpolate": steps}
    area = mark("area", hill, color=PALE, line=outline, interpolate=steps)
    foot = datum(-0.16)
    rule = mark("rule", single, strokeWidth=OUTER + 0.6, color=MAIN, strokeCap="round")
    point = mark("point", single, size=DOT * 1.5, color=MAIN, fill=MAIN, opacity=1)
    return layer(
        area.encode(x=x, y=up, y2=datum(0)),
        rule.encode(x=_x("low", frame), x2=until("high"), y=foot),
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
    y_scale = {"domain": [-height, 0], "nice": False}
    x_title = frame.x_title

    def y(name: str) -> Spec:
        return field(f"{name}:Q", axis=None, scale=y_scale)

    def x(name: str) -> Spec:
        return field(f"{name}:Q", title=x_title, scale={"zero": False, "nice": False})

    bars = mark("rect", list(bins), color=PALE, stroke=PALE)
    layers = [bars.encode(x=x("low"), x2=until("high"), y=y("foot"), y2=until("top"))]
    data = [row for row in rows if row["value"] is not None]
    colour = _colour(frame)
    outer = mark("rule", data, strokeWidth=OUTER)
    inner = mark("rule", data, strokeWidth=INNER, opacity=0.45)
    layers.append(outer.encode(x=x("low"), x2=until("high"), y=y("level"), color=colour))
    layers.append(
        inner.encode(x=x("inner_low"), x2=until("inner_high"), y=y("level"), color=colour)
    )
    layers.append(_points(data, frame=frame, value=x("value"), place={"y": y("level")}))
    names = mark("text", labels, align="left", fontSize=12, fontWeight=600, color=INK)
    layers.append(names.encode(x=constant(0), y=y("level"), text=field("text:N")))
    return layer(*layers).properties(width=WIDTH, height=height)


def titled(chart: Chart, *, title: str, subtitle: str | list[str]) -> Chart:
    """Return the chart with its title and the theme; a top-level chart."""
    from confide.drawing.charts.style import theme

    heading = {"title": {"text": title, "subtitle": subtitle}} if title else {}
    return chart.properties(**heading, config=theme())


def side_by_side(charts: Sequence[tuple[str, Chart]]) -> Chart:
    """Return several charts of groups under their names; long labels leave less for values."""
    labels = sum(_label_room(chart.spec) for _, chart in charts)
    width = max(_NARROWEST, (WIDTH - max(0, labels - _USUAL)) // len(charts) - 20)
    named = [chart.properties(width=width, title=_heading(name)) for name, chart in charts]
    return beside(named, spacing=28)


def _label_room(spec: Spec) -> int:
    """Return the pixels that the labels of a chart of groups take."""
    parts = [_label_room(part) for part in spec.get("layer", ())]
    axis = spec.get("encoding", {}).get("y", {}).get("axis") or {}
    return max([int(axis.get("minExtent", 0)), *parts])


def one_below_another(charts: Sequence[tuple[str, Chart]]) -> Chart:
    """Return charts one below the other, each under its own name."""
    named = [chart.properties(title=_heading(name)) if name else chart for name, chart in charts]
    return below(named, spacing=24, own=("color", "y"))


def _heading(name: str) -> dict[str, object]:
    look = {"fontSize": 12.5, "fontWeight": "normal", "color": MUTED, "frame": "group", "offset": 8}
    return {"text": name, **look}
