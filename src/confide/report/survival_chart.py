"""Survival curves as readers of trials know them: bands, and a risk table below the time axis.

One line and band an arm, then for each arm the numbers at risk, censored and with the event at a
few of the public times [MJC+19].  With competing events a panel of cumulative incidence follows for
each.  Between the public times lines are straight, since bins say nothing of what is inside.

*Privacy:* drawn from published cells.

References:
    [MJC+19] Morris, Jarvis, Cragg, et al. Proposals on Kaplan–Meier plots in medical research and a
        survey of stakeholder views: KMunicate. BMJ Open 9(9), 2019.
        https://doi.org/10.1136/bmjopen-2019-030215
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confide.report.cells import Cell
from confide.report.marks import Chart, Row
from confide.report.numbers import clean, fixed
from confide.report.style import FAINT, INK, MUTED, SERIES, WIDTH
from confide.report.words import Words

MOST_ARMS = len(SERIES)
_TIMES = 7
_CURVE, _PANEL, _LINE = 300, 170, 17
_DASHES = ((1, 0), (7, 3), (2, 2), (9, 3, 2, 3), (4, 4), (1, 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What the parts of a figure share.

    Attributes:
        arms: Labels in their order.
        times: Every public time, the first of them the start.
        title: Of the time axis.
    """

    arms: tuple[str, ...]
    times: tuple[float, ...]
    title: str

    def ticks(self) -> tuple[float, ...]:
        """Return the times that the risk table shows: evenly chosen, the start among them."""
        every = -(-(len(self.times) - 1) // (_TIMES - 1))
        return self.times[::every]

    def x(self, *, labels: bool) -> Any:
        import altair as alt

        axis = alt.Axis(values=list(self.ticks()), labels=labels, grid=labels, labelFlush=False)
        scale = alt.Scale(domain=[self.times[0], self.times[-1]], nice=False)
        return alt.X("time:Q", title=self.title if labels else None, scale=scale, axis=axis)

    def colour(self, *, legend: bool) -> Any:
        import altair as alt

        scale = alt.Scale(domain=list(self.arms), range=list(SERIES[: len(self.arms)]))
        if not legend or len(self.arms) == 1:
            return alt.Color("arm:N", scale=scale, legend=None)
        style = alt.Legend(symbolType="stroke", symbolStrokeWidth=3, symbolSize=260)
        return alt.Color("arm:N", scale=scale, legend=style)

    def dash(self) -> Any:
        import altair as alt

        dashes = [list(dash) for dash in _DASHES[: len(self.arms)]]
        scale = alt.Scale(domain=list(self.arms), range=dashes)
        legend = alt.Legend() if len(self.arms) > 1 else None
        return alt.StrokeDash("arm:N", scale=scale, legend=legend)


def survival_curves(
    cells: Sequence[Cell], *, time_title: str, words: Words
) -> tuple[Chart, tuple[str, ...]]:
    """Return the figure of a survival question and its notes.

    Args:
        cells: As published; the key ends with type of event and time.
        time_title: Title of the time axis, with its unit.
        words: Language.
    """
    import altair as alt

    found = {(cell.quantity, cell.key): cell for cell in cells}
    every = dict.fromkeys(cell.key[:-2] for cell in cells if cell.quantity == "at risk")
    shown = tuple(every)[:MOST_ARMS]
    times = tuple(dict.fromkeys(c.key[-1] for c in cells if c.quantity == "at risk"))
    frame = _Frame(
        arms=tuple(_label(arm, words=words) for arm in shown),
        times=tuple(float(time) for time in times),
        title=time_title,
    )
    arms = dict(zip(shown, frame.arms, strict=True))
    events = tuple(dict.fromkeys(c.key[-2] for c in cells if c.quantity == "events"))
    parts = [
        _curve(
            _rows("survival", found, arms=arms, event="", times=times, start=1.0),
            frame=frame,
            title=words.say("chart.survival-share"),
            height=_CURVE,
            top=1.0,
            legend=True,
        ),
        _risk_table(found, arms=arms, events=events, times=times, frame=frame, words=words),
    ]
    for event in events if len(events) > 1 else ():
        rows = _rows("cumulative incidence", found, arms=arms, event=event, times=times, start=0.0)
        parts.append(
            _curve(
                rows,
                frame=frame,
                title=words.say("chart.survival-incidence", event=clean(event)),
                height=_PANEL,
                top=None,
                legend=False,
            )
        )
    notes = [words.say("chart.survival-table"), words.say("chart.survival-line")]
    curve = [cell for cell in cells if cell.quantity == "survival"]
    if any(cell.value is None for cell in curve):
        notes.append(words.say("chart.survival-ends"))
    if len(every) > len(shown):
        parts_shown = {"shown": str(len(shown)), "arms": f"{len(every):,}"}
        notes.append(words.say("chart.survival-rest", **parts_shown))
    return alt.vconcat(*parts, spacing=14), tuple(notes)


def _label(arm: tuple[str, ...], *, words: Words) -> str:
    return words.say("key.joint").join(clean(part) for part in arm) or words.say("chart.all")


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


def _curve(
    rows: Sequence[Row],
    *,
    frame: _Frame,
    title: str,
    height: int,
    top: float | None,
    legend: bool,
) -> Chart:
    import altair as alt

    data = alt.Data(values=list(rows))
    ends = [0.0, top] if top is not None else [0.0, max(row["high"] for row in rows)]
    scale = alt.Scale(domain=ends, nice=top is None)
    axis = alt.Axis(format=".0%", grid=True, tickCount=5)
    x, colour = frame.x(labels=True), frame.colour(legend=False)
    band = alt.Chart(data).mark_area(opacity=0.18, interpolate="linear")
    line = alt.Chart(data).mark_line(strokeWidth=2.2, interpolate="linear")
    y = alt.Y("value:Q", title=title, scale=scale, axis=axis)
    return alt.layer(
        band.encode(
            x=x, y=alt.Y("low:Q", title=title, scale=scale, axis=axis), y2="high:Q", color=colour
        ),
        line.encode(
            x=x,
            y=y,
            color=frame.colour(legend=legend),
            strokeDash=frame.dash() if legend else alt.Undefined,
        ),
    ).properties(width=WIDTH, height=height)


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
    import altair as alt

    lines: list[tuple[str, str, str]] = [("at risk", "", words.say("quantity.at-risk"))]
    lines.append(("censored", "", words.say("quantity.censored")))
    for event in events:
        lines.append(("events", event, clean(event) if event else words.say("quantity.events")))
    ticks = set(frame.ticks())
    names: list[Row] = []
    numbers: list[Row] = []
    level = 0
    for arm, label in arms.items():
        if len(arms) > 1:
            names.append({"arm": label, "text": label, "level": level, "head": True})
            level += 1
        for quantity, event, text in lines:
            names.append({"arm": label, "text": text, "level": level, "head": False})
            for time in times:
                if float(time) in ticks:
                    cell = found.get((quantity, (*arm, event, time)))
                    count = 0.0 if cell is None or cell.value is None else cell.value
                    number = fixed(count, decimals=0)
                    numbers.append({"time": float(time), "text": number, "level": level})
            level += 1
    y = alt.Y("level:O", axis=None, sort=None, scale=alt.Scale(domain=list(range(level))))
    layers = [
        alt.Chart(alt.Data(values=numbers))
        .mark_text(color=INK, fontSize=11.5)
        .encode(x=frame.x(labels=False), y=y, text="text:N")
    ]
    for head in (True, False):
        shown = [name for name in names if name["head"] is head]
        if shown:
            text = alt.Chart(alt.Data(values=shown)).mark_text(
                align="right", fontSize=11.5, fontWeight=600 if head else "normal", color=MUTED, dx=-22
            )
            colour = frame.colour(legend=False) if head else alt.Undefined
            layers.append(text.encode(x=alt.value(0), y=y, text="text:N", color=colour))
    rule = {"stroke": FAINT, "strokeWidth": 0}
    return alt.layer(*layers).properties(
        width=WIDTH, height=_LINE * level, view=alt.ViewConfig(**rule)
    )
