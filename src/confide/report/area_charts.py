"""Figures of rates of areas and of hierarchies: the map, the equity preview, a panel a level."""

from collections.abc import Sequence

from confide.plans.estimates import PartForecast
from confide.report.marks import Chart, Row
from confide.report.numbers import significant
from confide.report.style import INK, MAIN, MUTED, OUTER, PALE, ROW, WIDTH, room_for
from confide.report.words import Words

_NUMBER = 56
"""Pixels for the number at the end of a line."""


def preview(parts: Sequence[PartForecast], *, unit: str, words: Words) -> Chart:
    """Return the expected error of areas by size: a bar, and a thin line to the 95 % error.

    Names stand inside the figure, so that its left edge is that of the map above it.
    """
    import altair as alt

    rows: list[Row] = [
        {
            "group": words.say_count("map.fifth", part.cells, name=part.name),
            "value": part.expected_error,
            "high": part.half_width,
            "text": significant(part.expected_error, digits=2),
        }
        for part in parts
    ]
    groups = [row["group"] for row in rows]
    data = alt.Data(values=rows)
    room = room_for(groups) + 8
    scale = alt.Scale(zero=True, nice=True, range=[room, WIDTH - _NUMBER])
    title = words.say("map.preview-axis", unit=unit)
    axis = alt.Axis(tickCount=5)
    place = alt.Y("group:N", sort=None, scale=alt.Scale(domain=groups), title=None, axis=None)
    x = alt.X("value:Q", scale=scale, title=title, axis=axis)
    high = alt.X("high:Q", scale=scale, title=title, axis=axis)
    bar = alt.Chart(data).mark_bar(color=PALE, height={"band": 0.62})
    rule = alt.Chart(data).mark_rule(color=MAIN, strokeWidth=OUTER, strokeCap="round")
    end = alt.Chart(data).mark_tick(color=MAIN, thickness=OUTER, size=9)
    number = alt.Chart(data).mark_text(align="left", dx=6, color=INK, fontSize=11.5)
    name = alt.Chart(data).mark_text(align="left", color=INK, fontSize=12)
    return alt.layer(
        bar.encode(x=x, x2=alt.datum(0), y=place),
        rule.encode(x=x, x2="high:Q", y=place),
        end.encode(x=high, y=place),
        number.encode(x=high, y=place, text="text:N"),
        name.encode(x=alt.value(0), y=place, text="group:N"),
    ).properties(width=WIDTH, height=alt.Step(ROW))


def stacked(charts: Sequence[tuple[str, Chart]]) -> Chart:
    """Return charts one below the other, each under its own name."""
    import altair as alt

    named = []
    for name, chart in charts:
        heading = alt.TitleParams(
            text=name, fontSize=12.5, fontWeight="normal", color=MUTED, frame="group", offset=8
        )
        named.append(chart.properties(title=heading) if name else chart)
    rows = alt.vconcat(*named, spacing=24)
    return rows.resolve_scale(color="independent", y="independent")
