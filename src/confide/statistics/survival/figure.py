"""Survival curves as readers of trials know them: bands, and a risk table below the time axis.

One line and band an arm, then for each arm the numbers at risk, censored and with the event at a
few of the public times [MJC19].  With competing events a panel of cumulative incidence follows for
each.  Between the public times lines are straight, since bins say nothing of what is inside.

*Privacy:* drawn from published cells.

References:
    [MJC19] Morris, Jarvis, Cragg, et al. Proposals on Kaplan–Meier plots in medical research and a
        survey of stakeholder views: KMunicate. BMJ Open 9(9), 2019.
        https://doi.org/10.1136/bmjopen-2019-030215
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confide.drawing.cells import Cell, label_of
from confide.drawing.charts.style import INK, MUTED, NARROW, SERIES, WIDTH, room_for
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import (
    Chart,
    Row,
    Spec,
    below,
    beside,
    constant,
    field,
    layer,
    mark,
    until,
)
from confide.drawing.numbers import clean, fixed, percent
from confide.drawing.words import Words
from confide.statistics.survival.times import DAYS_A_YEAR, in_years, named_times

MOST_ARMS = len(SERIES)
_FEW = 4
"""Times that the axis of a small panel names."""
_CURVE, _CURVE_ABOVE, _PANEL, _LINE = 300, 240, 130, 17
_ACROSS, _GAP = 3, 44
_NAME, _MOST_ROOM = 14, 150
"""Pixels from one name at the end of a curve to the next, and of the longest that stands there."""
_NARROWEST, _NUMBER, _EDGES = 120, 48, 30
"""Pixels of the narrowest curves, a short number of the risk table, and beside both ends of it."""
_COUNTED = frozenset(("at risk", "censored", "events"))
_BETWEEN = 0.45  # lines between two arms of the risk table
_DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 4), (1, 3))


_YEARS = f"format(datum.value / {DAYS_A_YEAR}, '.1~f')"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What the parts of a figure share.

    Attributes:
        arms: Labels in their order.
        times: Every public time, the first of them the start.
        title: Of the time axis.
        years: Whether times are days that the axis shows as years.
        named: The times that axis and risk table name, the start first.
        narrow: Whether it is for a narrow screen, where fewer times are named.
        room: Pixels for the curves, and for what is named at their ends.
    """

    arms: tuple[str, ...]
    times: tuple[float, ...]
    title: str
    years: bool
    named: tuple[float, ...]
    narrow: bool = False
    room: int = WIDTH

    def x(self, *, labels: bool, most: int = 0) -> Spec:
        shown = self.named
        if most and len(shown) > most:
            shown = shown[:: -(-(len(shown) - 1) // (most - 1))]
        axis = {
            "values": list(shown),
            "tickCount": len(shown),
            "labels": labels,
            "grid": labels,
            "labelFlush": False,
            "labelOverlap": False,
            **({"labelExpr": _YEARS} if self.years else {}),
        }
        scale = {"domain": [self.times[0], self.times[-1]], "nice": False}
        return field("time:Q", title=self.title if labels else None, scale=scale, axis=axis)

    def colour(self) -> Spec:
        """Return the colour of each arm; the risk table below is its legend too."""
        scale = {"domain": list(self.arms), "range": list(SERIES[: len(self.arms)])}
        return field("arm:N", scale=scale, legend=self._legend())

    def dash(self) -> Spec:
        dashes = [list(dash) for dash in _DASHES[: len(self.arms)]]
        scale = {"domain": list(self.arms), "range": dashes}
        return field("arm:N", scale=scale, legend=self._legend())

    @property
    def at_ends(self) -> bool:
        """Whether curves are named at their ends, which short names leave room for."""
        return not self.narrow and len(self.arms) > 1 and room_for(self.arms) <= _MOST_ROOM

    @property
    def width(self) -> int:
        """Of the curves, beside the names at their ends."""
        return self.room - (room_for(self.arms) + 8 if self.at_ends else 0)

    def _legend(self) -> Spec | None:
        style = {"symbolType": "stroke", "symbolStrokeWidth": 2.5, "symbolSize": 700}
        return style if len(self.arms) > 1 and not self.at_ends else None


def apart(times: Sequence[float], *, least: float) -> tuple[float, ...]:
    """Return the start, the last time, and those between that are at least so far apart.

    Example:
        >>> apart([0, 1, 3, 5, 10], least=2.0)
        (0, 3, 5, 10)
    """
    kept = [times[-1]]
    for time in reversed(times[1:-1]):
        if kept[-1] - time >= least and time - times[0] >= least:
            kept.append(time)
    return (times[0], *reversed(kept)) if len(times) > 1 else tuple(times)


def _number(cells: Sequence[Cell]) -> int:
    """Return the pixels of a number of the risk table, with the space around it."""
    counts = [c.value for c in cells if c.quantity in _COUNTED and c.value is not None]
    return max(_NUMBER, room_for(fixed(count, decimals=0) for count in counts) + 4)


def _narrow_room(events: Sequence[str], *, number: int, words: Words) -> int:
    """Return the pixels for curves beside the names of a risk table."""
    quantities = ("at-risk", "censored", "events")
    names = [words.say(f"quantity.{name}") for name in quantities] + [clean(e) for e in events]
    return max(_NARROWEST, NARROW - room_for(names) - number - _EDGES)


def draw(subject: Subject) -> Drawn:
    """Return the figure of a survival question; keys end with type of event and time."""
    cells, words = subject.cells, subject.words
    unit = subject.statistic.time_domain(subject.dataset).unit
    found = {(cell.quantity, cell.key): cell for cell in cells}
    every = dict.fromkeys(cell.key[:-2] for cell in cells if cell.quantity == "at risk")
    shown = tuple(every)[:MOST_ARMS]
    times = tuple(dict.fromkeys(c.key[-1] for c in cells if c.quantity == "at risk"))
    years = in_years(unit, until=float(times[-1]))
    shown_unit = clean(words.unit("a" if years else unit))
    named = tuple(map(float, named_times(times, unit=unit, at=words.look.at)))
    events = tuple(dict.fromkeys(c.key[-2] for c in cells if c.quantity == "events"))
    number = _number(cells)
    room = subject.width
    if subject.narrow:
        room = _narrow_room(events, number=number, words=words)
    frame = _Frame(
        arms=tuple(label_of(arm, words=words) for arm in shown),
        times=tuple(float(time) for time in times),
        title=words.say("head.time-unit", unit=shown_unit)
        if shown_unit
        else words.say("head.time"),
        years=years,
        named=apart(named, least=float(times[-1]) * number / room) if subject.narrow else named,
        narrow=subject.narrow,
        room=room,
    )
    arms = dict(zip(shown, frame.arms, strict=True))
    curve = _rows("survival", found, arms=arms, event="", times=times, start=1.0)
    free = words.look.event_free or words.say("chart.survival-share")
    panel = _Panel(
        title=clean(free),
        top=1.0,
        width=frame.width,
        height=_CURVE if len(events) < 2 else _CURVE_ABOVE,
    )
    parts = [
        _curve(curve, frame=frame, panel=panel),
        _risk_table(found, arms=arms, events=events, times=times, frame=frame, words=words),
    ]
    if len(events) > 1:
        rows = {
            event: _rows(
                "cumulative incidence", found, arms=arms, event=event, times=times, start=0.0
            )
            for event in events
        }
        parts.append(_incidences(rows, frame=frame, words=words))
    notes = [words.say("chart.survival-table"), words.say("chart.survival-line")]
    if any(cell.value is None for cell in cells if cell.quantity == "survival"):
        notes.append(words.say("chart.survival-ends"))
    if len(every) > len(shown):
        parts_shown = {"shown": str(len(shown)), "arms": f"{len(every):,}"}
        notes.append(words.say("chart.survival-rest", **parts_shown))
    return below(parts, spacing=14), tuple(notes)


def subtitle(subject: Subject) -> str:
    """Return what stands in place of the usual words on intervals."""
    return subject.words.say("chart.bands", level=percent(subject.cells[0].level))


def _rows(
    quantity: str,
    found: Mapping[tuple[str, tuple[str, ...]], Cell],
    *,
    arms: Mapping[tuple[str, ...], str],
    event: str,
    times: Sequence[str],
    start: float,
) -> list[Row]:
    """Return the points of the curves, from their common start to where each ends."""
    rows: list[Row] = []
    for arm, label in arms.items():
        rows.append(
            {"arm": label, "time": float(times[0]), "value": start, "low": start, "high": start}
        )
        for time in times[1:]:
            cell = found[quantity, (*arm, event, time)]
            if cell.value is None or cell.outer is None:
                break
            low, high = cell.outer
            rows.append(
                {"arm": label, "time": float(time), "value": cell.value, "low": low, "high": high}
            )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    """One pair of axes: title of its share, largest share, and size in pixels."""

    title: str
    top: float
    width: int
    height: int


def _curve(rows: Sequence[Row], *, frame: _Frame, panel: _Panel, most: int = 0) -> Chart:
    x, colour = frame.x(labels=True, most=most), frame.colour()
    scale = {"domain": [0.0, panel.top], "nice": panel.top < 1}
    axis = {"format": ".0%" if panel.top >= 0.05 else ".1%", "grid": True, "tickCount": 5}

    def y(name: str) -> Spec:
        return field(f"{name}:Q", title=panel.title or None, scale=scale, axis=axis)

    band = mark("area", rows, opacity=0.18)
    line = mark("line", rows, strokeWidth=2.2)
    layers = [
        band.encode(x=x, y=y("low"), y2=until("high"), color=colour),
        line.encode(x=x, y=y("value"), color=colour, strokeDash=frame.dash()),
    ]
    if frame.at_ends and rows and panel.height > _PANEL:
        names = mark("text", _ends(rows, panel), align="left", dx=7, fontWeight=600, fontSize=12)
        layers.append(names.encode(x=x, y=y("at"), text=field("arm:N"), color=colour))
    return layer(*layers).properties(width=panel.width, height=panel.height)


def _ends(rows: Sequence[Row], panel: _Panel) -> list[Row]:
    """Return where each curve ends, with room between the names that stand there."""
    last = {row["arm"]: row for row in rows}
    room = _NAME * panel.top / panel.height
    ends: list[Row] = []
    for row in sorted(last.values(), key=lambda row: float(row["value"])):
        at = max(row["value"], ends[-1]["at"] + room if ends else 0.0)
        ends.append({"arm": row["arm"], "time": row["time"], "at": at})
    over = ends[-1]["at"] - panel.top
    for row in reversed(ends):  # what was pushed above the axis goes down again
        if over <= 0:
            break
        row["at"] -= over
        over = 0.0
    for low, high in itertools.pairwise(reversed(ends)):
        high["at"] = min(high["at"], low["at"] - room)
    return ends


def _incidences(rows: Mapping[str, Sequence[Row]], *, frame: _Frame, words: Words) -> Chart:
    """Return a small panel for each type of event, all to one scale."""
    across = 1 if frame.narrow else 2 if len(rows) == 4 else min(_ACROSS, len(rows))
    top = min(1.0, max(row["high"] for panel in rows.values() for row in panel) or 1.0)
    width = (frame.room - (across - 1) * _GAP) // across
    heading = {"fontSize": 12.5, "fontWeight": "normal", "color": MUTED, "offset": 8}
    panels = []
    for place, (event, points) in enumerate(rows.items()):
        title = words.say("quantity.cumulative-incidence") if place % across == 0 else ""
        panel = _Panel(title=title, top=top, width=width, height=_PANEL)
        name = {"text": clean(event), "frame": "group", **heading}
        drawn = _curve(points, frame=frame, panel=panel, most=_FEW)
        panels.append(drawn.properties(title=name))
    if frame.narrow:
        return below(panels, spacing=20)
    lines = [panels[start : start + across] for start in range(0, len(panels), across)]
    return below([beside(line, spacing=12) for line in lines], spacing=20)


def _risk_table(
    found: Mapping[tuple[str, tuple[str, ...]], Cell],
    *,
    arms: Mapping[tuple[str, ...], str],
    events: Sequence[str],
    times: Sequence[str],
    frame: _Frame,
    words: Words,
) -> Chart:
    """Return numbers at risk, censored and with each event at a few times, arm by arm."""
    lines = [
        ("at risk", "", words.say("quantity.at-risk")),
        ("censored", "", words.say("quantity.censored")),
        *(("events", event, clean(event) or words.say("quantity.events")) for event in events),
    ]
    ticks = set(frame.named)
    names: list[Row] = []
    numbers: list[Row] = []
    level = 0.5
    for arm, label in arms.items():
        if len(arms) > 1:
            names.append({"arm": label, "text": label, "level": level, "head": True})
            level += 1
        for quantity, event, text in lines:
            names.append({"arm": label, "text": text, "level": level, "head": False})
            for time in times:
                if float(time) in ticks:
                    cell = found.get((quantity, (*arm, event, time)))
                    withheld = cell is not None and cell.value is None
                    count = 0.0 if cell is None or cell.value is None else cell.value
                    number = "–" if withheld else fixed(count, decimals=0)
                    numbers.append({"time": float(time), "text": number, "level": level})
            level += 1
        level += _BETWEEN
    level -= 0.5 + _BETWEEN
    scale = {"domain": [level, 0], "nice": False, "zero": False}
    y = field("level:Q", axis=None, scale=scale)
    layers = [
        mark("text", numbers, color=INK, fontSize=11.5).encode(
            x=frame.x(labels=False), y=y, text=field("text:N")
        )
    ]
    longest = max((number["text"] for number in numbers), key=len, default="")
    for head in (True, False):
        shown = [name for name in names if name["head"] is head]
        if shown:
            side = mark(
                "text",
                shown,
                align="right",
                fontSize=11.5,
                fontWeight=600 if head else "normal",
                color=MUTED,
                dx=-room_for([longest]) // 2 - 12,
            )
            colour = {"color": frame.colour()} if head else {}
            layers.append(side.encode(x=constant(0), y=y, text=field("text:N"), **colour))
    return layer(*layers).properties(width=frame.width, height=round(_LINE * level))
