"""Any figure laid out for a narrow screen: letters keep their size, everything else makes room.

What stood side by side stands one below another; labels that would take more than a third of the
width stand above their marks, with the numbers that stood at the right; axes name fewer values;
titles and legends have more lines.  A figure that a kind lays out by pixels (a map, a risk table)
is drawn by it for :data:`NARROW` pixels, and only what is still too wide is changed here.

*Privacy:* the chart alone.
"""

import math
import textwrap
from collections.abc import Iterator, Mapping

from confide.drawing.charts.style import LETTER, NARROW, ROW, room_for
from confide.drawing.charts.vega import Chart, Spec

_PADDING, _EDGE = 6, 20
"""Pixels around a figure, and for the half of the last number of an axis."""
_LEFT = 62
"""Pixels of an axis of numbers: its title, its longest numbers, the space between."""
_TITLE, _LONG = 36, 10_000
"""Pixels of the title of such an axis with the space around it, and what is a long number there."""
_BETWEEN = 22
_SHARE = 3
"""Labels may take this part of the width, and stand above their marks where they need more."""
_ABOVE, _LINE = 15, 40
"""From a mark up to its label, and from one mark to the next, where labels stand above."""
_HEAD = 6
"""From where a head stands to where it does above a first label."""
_BAR = 0.3
"""Of a line that a bar takes there."""
_HEADING = 20
"""Of a label above several series."""
_TICKS = 4
_SYMBOL = 46
"""Pixels of a symbol in a legend with the space around it."""


def narrowed(chart: Chart) -> Chart:
    """Return a titled chart without its title, at most :data:`NARROW` pixels wide.

    The page tells title and subtitle as text, which breaks into lines by itself.
    """
    spec = {name: part for name, part in chart.spec.items() if name != "title"}
    config = spec.get("config", {})
    names = [name for names in _legends(spec) for name in names]
    fitted = _fitted(spec)
    # a legend begins where the plot does
    across = max(1, (_widest(fitted) + _EDGE) // (_SYMBOL + room_for(names))) if names else 1
    legend = {**config.get("legend", {}), "columns": across, "columnPadding": 10}
    legend["labelLimit"] = NARROW - _SYMBOL
    small = {**config, "padding": _PADDING, "legend": legend}
    return Chart({**fitted, "config": small})


def _widest(spec: Spec) -> int:
    """Return the pixels of the widest plot."""
    parts = spec.get("hconcat", spec.get("vconcat"))
    if parts is not None:
        return max(map(_widest, parts))
    width = spec.get("width")
    return int(width) if isinstance(width, int | float) else NARROW


def _fitted(spec: Spec, *, left: int = 0) -> Spec:
    """Return a part of a chart that is no wider than a narrow figure.

    ``left`` are the pixels at the left that the parts above and below it need: all plots begin
    below one another.
    """
    parts = spec.get("hconcat", spec.get("vconcat"))
    if parts is not None:
        rest = {name: part for name, part in spec.items() if name not in {"hconcat", "vconcat"}}
        if "hconcat" in spec:  # each takes the whole width now
            rest |= {"spacing": _BETWEEN}
            parts = [{**part, "width": NARROW} if "width" in part else part for part in parts]
        most = max(left, *map(_left, parts))
        return {**rest, "vconcat": [_fitted(part, left=most) for part in parts]}
    width = spec.get("width")
    if not isinstance(width, int | float):
        return spec
    told = max((room_for([text]) for text in _told(spec)), default=0)
    above = _stands_above(spec)
    left = max(left, _left(spec))
    room = NARROW - 2 * _PADDING - (left or (_EDGE // 2 if above else 0))
    if _is_grid(spec):
        return {**spec, "width": _grid(spec, room=room)}
    room -= _EDGE if any(c.get("axis", {}) is not None for c in _channels(spec, "x")) else 0
    spec = _walked(spec, room=min(room, int(width)))
    if room >= width and not above:
        return spec
    if above:
        spec = _labels_above(spec, room=room, told=told)
    height = spec.get("height")
    square = height == width
    return {**spec, "width": room, **({"height": room} if square else {})}


def _left(spec: Spec) -> int:
    """Return the pixels that labels or numbers take at the left of a plot."""
    parts = spec.get("hconcat", spec.get("vconcat"))
    if parts is not None:
        return max(map(_left, parts))
    labels = _labels(spec)
    if labels is not None:
        return 0 if _stands_above(spec) else labels + 8
    return max(_LEFT, _TITLE + room_for(_highest(spec))) if _has_numbers(spec) else 0


def _highest(spec: Spec) -> Iterator[str]:
    """Yield the longest number that an axis of values may name."""
    for part in _layers(spec):
        for name in ("y", "y2"):
            channel = part.get("encoding", {}).get(name, {})
            at = str(channel.get("field", "")).partition(":")[0]
            for row in part["data"]["values"]:
                value = row.get(at)
                if isinstance(value, int | float) and abs(value) >= _LONG:
                    yield f"{round(value):,}"


def _stands_above(spec: Spec) -> bool:
    """Return whether labels are long, or share their lines with numbers at the right."""
    labels = _labels(spec)
    return labels is not None and (labels > NARROW // _SHARE or any(map(bool, _told(spec))))


def _layers(spec: Spec) -> Iterator[Spec]:
    """Yield every layer that has a mark."""
    for part in spec.get("layer", ()):
        yield from _layers(part)
    if "mark" in spec:
        yield spec


def _channels(spec: Spec, name: str) -> Iterator[Spec]:
    for part in _layers(spec):
        channel = part.get("encoding", {}).get(name)
        if channel is not None and "field" in channel:
            yield channel


def _labels(spec: Spec) -> int | None:
    """Return the pixels of labels that stand at the left; None where the axis has numbers."""
    for channel in _channels(spec, "y"):
        if channel["type"] in {"nominal", "ordinal"} and channel.get("axis", {}) is not None:
            return int(channel.get("axis", {}).get("minExtent", 0))
    return None


def _has_numbers(spec: Spec) -> bool:
    every = list(_channels(spec, "y"))
    return any(c["type"] == "quantitative" and c.get("axis", {}) is not None for c in every)


def _legends(spec: Spec) -> Iterator[list[str]]:
    for name in ("vconcat", "hconcat"):
        for part in spec.get(name, ()):
            yield from _legends(part)
    for channel in ("color", "shape"):
        for found in _channels(spec, channel):
            domain = (found.get("scale") or {}).get("domain")
            if domain and found.get("legend", {}) is not None:
                yield [str(each) for each in domain]


def _told(spec: Spec) -> Iterator[str]:
    """Yield the texts that stand at the right of the plot."""
    for part in _layers(spec):
        if _at_right(part):
            for row in part["data"]["values"]:
                yield str(row.get("told", row.get("head", "")))


def _at_right(part: Spec) -> bool:
    channel = part.get("encoding", {}).get("x", {})
    return bool(part["mark"]["type"] == "text" and channel.get("value") == {"expr": "width"})


def _is_grid(spec: Spec) -> bool:
    return any(part["mark"]["type"] == "rect" for part in _layers(spec)) and any(
        channel["type"] == "nominal" for channel in _channels(spec, "x")
    )


def _grid(spec: Spec, *, room: int) -> int:
    """Return the width of a grid whose cells hold their numbers."""
    layers = list(_layers(spec))
    texts = [row for part in layers for row in part["data"]["values"] if row.get("text")]
    across = len({row["series"] for row in texts}) or 1
    least = room_for(str(row["text"]) for row in texts) + 4
    return min(int(spec["width"]), across * max(least, room // across))


def _walked(spec: Spec, *, room: int) -> Spec:
    """Return a part with axes and headings for less room."""
    found = dict(spec)
    if "layer" in spec:
        found["layer"] = [_walked(part, room=room) for part in spec["layer"]]
    if isinstance(spec.get("title"), Mapping):
        found["title"] = {**spec["title"], "text": lines(spec["title"]["text"], room=NARROW - 20)}
    if "encoding" in spec:
        height = spec.get("height")
        encoding = dict(spec["encoding"])
        if "x" in encoding:
            encoding["x"] = _axis(encoding["x"], room=room)
        if "y" in encoding and isinstance(height, int | float):
            encoding["y"] = _titled(encoding["y"], room=int(height))
        found["encoding"] = encoding
    return found


def _axis(channel: Spec, *, room: int) -> Spec:
    """Return the value axis with fewer named values and a title in lines."""
    found = _titled(channel, room=room)
    axis = channel.get("axis", {})
    if "field" not in channel or axis is None:
        return found
    values = axis.get("values")
    if values is None:
        fewer: Spec = {"tickCount": min(axis.get("tickCount", 6), _TICKS)}
        fewer |= {"labelOverlap": "greedy", "labelFlush": _EDGE // 2}
    else:
        longest = 0 if "labelExpr" in axis else room_for(str(value) for value in values)
        wide = max(LETTER * 3, longest) + 10
        fewer = {"values": values[:: max(1, math.ceil(len(values) * wide / room))]}
        fewer["labelOverlap"] = "greedy"
    return {**found, "axis": {**axis, **fewer}}


def _titled(channel: Spec, *, room: int) -> Spec:
    title = channel.get("title")
    return {**channel, "title": lines(title, room=room)} if isinstance(title, str) else channel


def lines(text: str | list[str], *, room: int) -> str | list[str]:
    """Return a text in as many lines as it needs; one line as it is.

    Example:
        >>> lines("Change of systolic pressure, mmHg", room=150)
        ['Change of systolic', 'pressure, mmHg']
        >>> lines("share, %", room=150)
        'share, %'
    """
    if isinstance(text, list) or room_for([text]) <= room:
        return text
    return textwrap.wrap(text, width=max(8, int(room / LETTER)), break_long_words=False)


def _labels_above(spec: Spec, *, room: int, told: int) -> Spec:
    """Return a chart of groups whose labels stand above their marks."""
    series = [c["scale"]["domain"] for c in _channels(spec, "yOffset")]
    count = len(series[0]) if series else 0
    band = count * ROW / 1.7
    up = band / 2 + _ABOVE / 2 if count else _ABOVE
    share = _HEADING / (band + _HEADING) if count else 0.0
    axis = {"labelAlign": "left", "labelPadding": -4, "minExtent": 0, "maxExtent": 0}
    limit = room - told - 8 if told else room
    axis |= {"labelOffset": -up, "labelLimit": limit, "zindex": 1}
    above = _moved(spec, axis=axis, share=share, up=up)
    return {**above, "height": spec["height"] if count else {"step": _LINE}}


def _moved(part: Spec, *, axis: Spec, share: float, up: float) -> Spec:
    found = dict(part)
    if "layer" in part:
        found["layer"] = [_moved(each, axis=axis, share=share, up=up) for each in part["layer"]]
    if "mark" in part:
        mark = dict(part["mark"])
        if mark["type"] == "bar":
            mark["height"] = {"band": _BAR}
        if _at_right(part):
            mark |= {"align": "right", "dx": 0}
            mark |= {"dy": -up if "field" in part["encoding"].get("y", {}) else -_HEAD}
        found["mark"] = mark
    y = part.get("encoding", {}).get("y", {})
    if "field" in y:
        scale = {**y.get("scale", {}), **({"padding": share} if share else {})}
        if share:
            scale = {k: v for k, v in scale.items() if k != "padding"}
            scale |= {"paddingInner": share, "paddingOuter": share}
        y = {**y, "axis": {**y.get("axis", {}), **axis}, "scale": scale}
        found["encoding"] = {**part["encoding"], "y": y}
    return found
