"""Noise and bias of leaving patients out, against charging everybody for every release."""

from collections.abc import Sequence

from confide.budget.per_patient.preview import Outcome, Year
from confide.report.marks import Chart, titled
from confide.report.style import INK, MAIN, SERIES, WIDTH
from confide.report.words import Words

_HEIGHT = 260
_LEAST = 0.1
"""Smaller errors are not drawn: the axis is logarithmic."""


def left_out_chart(year: Year, found: Sequence[Outcome], *, worst: Outcome, words: Words) -> Chart:
    """Return the error of a count by the number of releases that a patient may be in."""
    import altair as alt

    names = [words.say(f"left-out.{name}") for name in ("error", "noise", "missing")]
    rows = [
        {"releases": each.shares, "error": value, "series": name}
        for each in found
        for name, value in zip(names, (each.rmse, each.noise, each.bias), strict=True)
        if value >= _LEAST
    ]
    legend = alt.Legend(title=None, orient="top")
    colours = alt.Scale(domain=names, range=[MAIN, SERIES[2], SERIES[1]])
    dashes = alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 3]])
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(
                "releases:Q",
                title=words.say("left-out.x", releases=str(year.releases)),
                axis=alt.Axis(tickMinStep=1, format="d"),
            ),
            y=alt.Y("error:Q", title=words.say("left-out.y"), scale=alt.Scale(type="log")),
            color=alt.Color("series:N", scale=colours, legend=legend),
            strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=legend),
        )
    )
    rule = alt.Chart(alt.Data(values=[{"error": worst.rmse}]))
    flat = rule.mark_rule(color=INK, strokeWidth=1.5).encode(y=alt.Y("error:Q"))
    said = words.say("left-out.worst", error=f"{worst.rmse:,.1f}")
    label = rule.mark_text(text=said, align="left", baseline="bottom", dx=4, dy=-3, color=INK)
    layers = alt.layer(lines, flat, label.encode(y=alt.Y("error:Q"), x=alt.XValue(0)))
    title = words.say("left-out.title", count=f"{year.count:,.0f}")
    whole = layers.properties(width=WIDTH, height=_HEIGHT)
    return titled(whole, title=title, subtitle=words.say("left-out.subtitle"))
