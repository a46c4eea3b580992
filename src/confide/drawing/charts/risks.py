"""Charts over predicted risk: observed shares, how risks are spread, net benefit.

References:
    [VC16] Van Calster et al. A calibration hierarchy for risk models. J. Clin. Epidemiol. 74, 2016.
        https://doi.org/10.1016/j.jclinepi.2015.12.005
    [VE06] Vickers, Elkin. Decision curve analysis. Medical Decision Making 26(6), 2006.
        https://doi.org/10.1177/0272989X06295361
"""

from collections.abc import Sequence

from confide.drawing.cells import Cell
from confide.drawing.charts.style import DOT, INK, MAIN, MUTED, OUTER, PALE, SERIES, SHAPES
from confide.drawing.charts.vega import Chart, Row, Spec, constant, datum, field, layer, mark, until
from confide.drawing.words import Words

_WIDTH, _HEIGHT, _BELOW = 420, 420, 70
_CURVE_HEIGHT = 300
_LINE = 17
_POINTS = 60  # of the curve of treating all


def treat_all(share: float, risk: float) -> float:
    """Return the net benefit of treating all, of whom a share has the condition."""
    return share - (1 - share) * risk / (1 - risk)


def _across(name: str, *, top: float, title: str | None) -> Spec:
    scale = {"domain": [0, top], "nice": False}
    axis = {"format": ".0%", "labels": title is not None, "grid": True, "tickCount": 6}
    return field(f"{name}:Q", scale=scale, title=title, axis=axis)


def observed_by_risk(
    rows: Sequence[Row],
    *,
    top: float,
    words: Words,
    x_title: str | None = None,
    inside: Sequence[str] = (),
) -> Chart:
    """Return points with intervals beside the diagonal, and lines of text in the free corner."""
    x = _across("predicted", top=top, title=x_title)
    up = {"domain": [0, top], "nice": False}
    axis = {"format": ".0%", "grid": True, "tickCount": 6}

    def y(name: str) -> Spec:
        return field(f"{name}:Q", title=words.say("model.observed"), scale=up, axis=axis)

    names = list(dict.fromkeys(str(row["series"]) for row in rows))
    ends = [{"predicted": at, "value": at} for at in (0.0, top)]
    diagonal = mark("line", ends, color=MUTED, strokeDash=[4, 4], strokeWidth=1.2)
    legend = {"title": None} if len(names) > 1 else None
    colours = {"domain": names, "range": list(SERIES[: len(names)])}
    shapes = {"domain": names, "range": list(SHAPES[: len(names)])}
    colour = field("series:N", scale=colours, legend=legend)
    rule = mark("rule", rows, strokeWidth=OUTER, strokeCap="round")
    point = mark("point", rows, size=DOT, strokeWidth=OUTER, opacity=1, filled=True)
    texts = [
        mark("text", [{"text": text}], align="left", color=INK, fontSize=12).encode(
            x=constant(_LINE / 2), y=constant(_LINE * (place + 0.6)), text=field("text:N")
        )
        for place, text in enumerate(inside)
    ]
    return layer(
        *texts,
        diagonal.encode(x=x, y=y("value")),
        rule.encode(x=x, y=y("low"), y2=until("high"), color=colour),
        point.encode(
            x=x,
            y=y("value"),
            color=colour,
            shape=field("series:N", scale=shapes, legend=legend),
        ),
    ).properties(width=_WIDTH, height=_HEIGHT)


def spread_of_risks(rows: Sequence[Row], *, top: float, words: Words) -> Chart:
    """Return how many patients there are a percentage point of risk."""
    bars = mark("rect", rows, color=PALE, stroke=MAIN, strokeWidth=0.6)
    axis = {"grid": False, "tickCount": 2}
    up = field("height:Q", title=words.say("model.spread"), axis=axis, scale={"zero": True})
    x = _across("from", top=top, title=words.say("model.predicted"))
    return bars.encode(x=x, x2=until("to"), y=up, y2=datum(0)).properties(
        width=_WIDTH, height=_BELOW
    )


def decision_curve(rows: Sequence[Row], *, share: Cell, words: Words) -> Chart:
    """Return net benefit of the model, of treating all and of treating nobody."""
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
    up = {"domain": [-top / 4, top], "nice": False}
    colours = {"domain": names, "range": [MAIN, SERIES[1], MUTED]}
    dashes = {"domain": names, "range": [[1, 0], [7, 3], [2, 2]]}
    style = {"symbolType": "stroke", "symbolStrokeWidth": 2.5, "symbolSize": 700, "title": None}
    colour = field("series:N", scale=colours, legend=style)
    x = _across("risk", top=last, title=words.say("model.threshold"))

    def y(name: str) -> Spec:
        axis = {"grid": True, "tickCount": 5}
        return field(f"{name}:Q", title=words.say("quantity.net-benefit"), scale=up, axis=axis)

    dots = [row for row in every[1:] if row["series"] == names[0]]
    band = mark("area", every, opacity=0.16, clip=True)
    line = mark("line", every, strokeWidth=2.2, clip=True)
    point = mark("point", dots, size=DOT * 0.6, filled=True, opacity=1, color=MAIN)
    return layer(
        band.encode(x=x, y=y("low"), y2=until("high"), color=colour),
        line.encode(
            x=x,
            y=y("value"),
            color=colour,
            strokeDash=field("series:N", scale=dashes, legend=style),
        ),
        point.encode(x=x, y=y("value")),
    ).properties(width=_WIDTH + 60, height=_CURVE_HEIGHT)
