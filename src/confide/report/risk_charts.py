"""Charts over predicted risk: observed shares, how risks are spread, net benefit.

References:
    [VC16] Van Calster et al. A calibration hierarchy for risk models. J. Clin. Epidemiol. 74, 2016.
        https://doi.org/10.1016/j.jclinepi.2015.12.005
    [VE06] Vickers, Elkin. Decision curve analysis. Medical Decision Making 26(6), 2006.
        https://doi.org/10.1177/0272989X06295361
"""

from collections.abc import Sequence
from typing import Any

from confide.report.cells import Cell
from confide.report.marks import Chart, Row
from confide.report.style import DOT, MAIN, MUTED, OUTER, PALE, SERIES, SHAPES
from confide.report.words import Words

_WIDTH, _HEIGHT, _BELOW = 420, 420, 70
_CURVE_HEIGHT = 300
_POINTS = 60  # of the curve of treating all


def treat_all(share: float, risk: float) -> float:
    """Return the net benefit of treating all, of whom a share has the condition."""
    return share - (1 - share) * risk / (1 - risk)


def _across(field: str, *, top: float, title: str | None) -> Any:
    import altair as alt

    scale = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(format=".0%", labels=title is not None, grid=True, tickCount=6)
    return alt.X(f"{field}:Q", scale=scale, title=title, axis=axis)


def observed_by_risk(
    rows: Sequence[Row], *, top: float, words: Words, x_title: str | None = None
) -> Chart:
    """Return points with intervals beside the diagonal."""
    import altair as alt

    x = _across("predicted", top=top, title=x_title)
    up = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(format=".0%", grid=True, tickCount=6)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", title=words.say("model.observed"), scale=up, axis=axis)

    names = list(dict.fromkeys(str(row["series"]) for row in rows))
    ends = alt.Data(values=[{"predicted": at, "value": at} for at in (0.0, top)])
    diagonal = alt.Chart(ends).mark_line(color=MUTED, strokeDash=[4, 4], strokeWidth=1.2)
    data = alt.Data(values=list(rows))
    legend = alt.Legend(title=None) if len(names) > 1 else None
    colours = alt.Scale(domain=names, range=list(SERIES[: len(names)]))
    shapes = alt.Scale(domain=names, range=list(SHAPES[: len(names)]))
    colour = alt.Color("series:N", scale=colours, legend=legend)
    rule = alt.Chart(data).mark_rule(strokeWidth=OUTER, strokeCap="round")
    point = alt.Chart(data).mark_point(size=DOT, strokeWidth=OUTER, opacity=1, filled=True)
    return alt.layer(
        diagonal.encode(x=x, y=y("value")),
        rule.encode(x=x, y=y("low"), y2=alt.Y2("high:Q"), color=colour),
        point.encode(
            x=x,
            y=y("value"),
            color=colour,
            shape=alt.Shape("series:N", scale=shapes, legend=legend),
        ),
    ).properties(width=_WIDTH, height=_HEIGHT)


def spread_of_risks(rows: Sequence[Row], *, top: float, words: Words) -> Chart:
    """Return how many patients there are a percentage point of risk."""
    import altair as alt

    bars = alt.Chart(alt.Data(values=list(rows))).mark_rect(
        color=PALE, stroke=MAIN, strokeWidth=0.6
    )
    axis = alt.Axis(grid=False, tickCount=2)
    up = alt.Y("height:Q", title=words.say("model.spread"), axis=axis, scale=alt.Scale(zero=True))
    x = _across("from", top=top, title=words.say("model.predicted"))
    return bars.encode(x=x, x2=alt.X2("to:Q"), y=up, y2=alt.Y2Datum(0)).properties(
        width=_WIDTH, height=_BELOW
    )


def decision_curve(rows: Sequence[Row], *, share: Cell, words: Words) -> Chart:
    """Return net benefit of the model, of treating all and of treating nobody."""
    import altair as alt

    low, high = share.outer or (0.0, 1.0)
    value = share.value or 0.0
    last = max(row["risk"] for row in rows)
    names = [words.say(f"model.{name}") for name in ("by-model", "treat-all", "treat-none")]
    start = {"risk": 0.0, "value": value, "low": low, "high": high}
    steps = [last * place / _POINTS for place in range(_POINTS + 1)]
    every: list[Row] = [row | {"series": names[0]} for row in (start, *rows)]
    every += [
        {
            "risk": risk,
            "value": treat_all(value, risk),
            "low": treat_all(low, risk),
            "high": treat_all(high, risk),
            "series": names[1],
        }
        for risk in steps
    ]
    every += [
        {"risk": risk, "value": 0.0, "low": 0.0, "high": 0.0, "series": names[2]}
        for risk in (0.0, last)
    ]
    top = max(row["high"] for row in (start, *rows)) * 1.05
    up = alt.Scale(domain=[-top / 4, top], nice=False)
    colours = alt.Scale(domain=names, range=[MAIN, SERIES[1], MUTED])
    dashes = alt.Scale(domain=names, range=[[1, 0], [7, 3], [2, 2]])
    style = alt.Legend(symbolType="stroke", symbolStrokeWidth=2.5, symbolSize=700, title=None)
    colour = alt.Color("series:N", scale=colours, legend=style)
    x = _across("risk", top=last, title=words.say("model.threshold"))

    def y(field: str) -> Any:
        axis = alt.Axis(grid=True, tickCount=5)
        return alt.Y(f"{field}:Q", title=words.say("quantity.net-benefit"), scale=up, axis=axis)

    data = alt.Data(values=every)
    dots = alt.Data(values=[row for row in every[1:] if row["series"] == names[0]])
    band = alt.Chart(data).mark_area(opacity=0.16, clip=True)
    line = alt.Chart(data).mark_line(strokeWidth=2.2, clip=True)
    point = alt.Chart(dots).mark_point(size=DOT * 0.6, filled=True, opacity=1, color=MAIN)
    return alt.layer(
        band.encode(x=x, y=y("low"), y2=alt.Y2("high:Q"), color=colour),
        line.encode(
            x=x,
            y=y("value"),
            color=colour,
            strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=style),
        ),
        point.encode(x=x, y=y("value")),
    ).properties(width=_WIDTH + 60, height=_CURVE_HEIGHT)
