"""Noise and bias of leaving patients out, against charging everybody for every release."""

from collections.abc import Sequence

from confide.budget.per_patient.preview import Outcome, Year
from confide.drawing.charts.marks import titled
from confide.drawing.charts.style import INK, MAIN, SERIES, WIDTH
from confide.drawing.charts.vega import Chart, constant, field, layer, mark
from confide.drawing.words import Words

_HEIGHT = 260
_LEAST = 0.1
"""Smaller errors are not drawn: the axis is logarithmic."""


def left_out_chart(year: Year, found: Sequence[Outcome], *, worst: Outcome, words: Words) -> Chart:
    """Return the error of a count by the number of releases that a patient may be in."""
    names = [words.say(f"left-out.{name}") for name in ("error", "noise", "missing")]
    rows = [
        {"releases": each.shares, "error": value, "series": name}
        for each in found
        for name, value in zip(names, (each.rmse, each.noise, each.bias), strict=True)
        if value >= _LEAST
    ]
    legend = {"title": None, "orient": "top"}
    colours = {"domain": names, "range": [MAIN, SERIES[2], SERIES[1]]}
    dashes = {"domain": names, "range": [[1, 0], [6, 3], [2, 3]]}
    lines = mark("line", rows, point=True, strokeWidth=2).encode(
        x=field(
            "releases:Q",
            title=words.say("left-out.x", releases=str(year.releases)),
            axis={"tickMinStep": 1, "format": "d"},
        ),
        y=field("error:Q", title=words.say("left-out.y"), scale={"type": "log"}),
        color=field("series:N", scale=colours, legend=legend),
        strokeDash=field("series:N", scale=dashes, legend=legend),
    )
    only = [{"error": worst.rmse}]
    flat = mark("rule", only, color=INK, strokeWidth=1.5).encode(y=field("error:Q"))
    said = words.say("left-out.worst", error=f"{worst.rmse:,.1f}")
    label = mark("text", only, text=said, align="left", baseline="bottom", dx=4, dy=-3, color=INK)
    layers = layer(lines, flat, label.encode(y=field("error:Q"), x=constant(0)))
    title = words.say("left-out.title", count=f"{year.count:,.0f}")
    whole = layers.properties(width=WIDTH, height=_HEIGHT)
    return titled(whole, title=title, subtitle=words.say("left-out.subtitle"))
