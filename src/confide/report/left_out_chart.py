"""Noise and bias of leaving patients out, against charging everybody for every release."""

from collections.abc import Sequence

from confide.budget.per_patient.preview import Outcome, Year
from confide.report.marks import Chart, titled
from confide.report.style import INK, MAIN, SERIES, WIDTH
from confide.report.words import Words

_HEIGHT = 260


def left_out_chart(year: Year, found: Sequence[Outcome], *, worst: Outcome, words: Words) -> Chart:
    """Return the error of a count by the number of releases that a patient may be in."""
    import altair as alt

    names = [words.say(f"left-out.{part}") for part in ("error", "noise", "missing")]
    rows = [
        {"releases": each.shares, "error": value, "series": name}
        for each in found
        for name, value in (
            (names[0], each.rmse),
            (names[1], each.noise),
            (names[2], max(each.bias, 1e-9)),
        )
        if value >= 0.1  # the axis is logarithmic
    ]
    colour = alt.Color(
        "series:N",
        scale=alt.Scale(domain=names, range=[MAIN, SERIES[2], SERIES[1]]),
        legend=alt.Legend(title=None, orient="top"),
    )
    dash = alt.StrokeDash(
        "series:N",
        scale=alt.Scale(domain=names, range=[[1, 0], [6, 3], [2, 3]]),
        legend=alt.Legend(title=None, orient="top"),
    )
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X(
                "releases:Q",
                title=words.say("left-out.releases", count=str(year.releases)),
                axis=alt.Axis(tickMinStep=1, format="d"),
            ),
            y=alt.Y("error:Q", title=words.say("left-out.persons"), scale=alt.Scale(type="log")),
            color=colour,
            strokeDash=dash,
        )
    )
    rule = alt.Chart(alt.Data(values=[{"error": worst.rmse}]))
    flat = rule.mark_rule(color=INK, strokeWidth=1.5).encode(y="error:Q")
    label = rule.mark_text(
        text=words.say("left-out.everybody", error=f"{worst.rmse:,.1f}"),
        align="left", baseline="bottom", dx=4, dy=-3, color=INK,
    ).encode(y="error:Q", x=alt.value(0))  # fmt: skip
    whole = alt.layer(lines, flat, label).properties(width=WIDTH, height=_HEIGHT)
    return titled(
        whole,
        title=words.say("left-out.title", count=f"{year.count:,.0f}"),
        subtitle=words.say("left-out.subtitle"),
    )
