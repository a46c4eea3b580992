"""Figures of rates of areas and of hierarchies: the map, the equity preview, a panel a level."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from confide.plans.estimates import Forecast
from confide.plans.plan import Plan, Statistic
from confide.report.cells import Cell
from confide.report.conditions import label
from confide.report.marks import Chart, Row
from confide.report.numbers import significant
from confide.report.outlines import Outlines
from confide.report.style import INK, MAIN, MUTED, OUTER, PALE, ROW, WIDTH, room_for
from confide.report.words import Words
from confide.statistics.area_rate.spec import AreaRate

_NUMBER = 56
"""Pixels for the number at the end of a line."""


def outlines_of(
    statistic: Statistic, *, plan: Plan, outlines: Mapping[tuple[str, str], Outlines]
) -> Outlines | None:
    """Return the outlines of the areas whose rates are drawn, if there are any of them."""
    if not isinstance(statistic, AreaRate):
        return None
    level = plan.dataset.spine(statistic.spine).levels[statistic.level_place(plan.dataset)]
    found = outlines.get((statistic.spine, level), {})
    return found if any(label in found for label in statistic.areas(plan.dataset)) else None


def levels(
    cells: Sequence[Cell],
    *,
    draw: Callable[[Sequence[Cell]], tuple[Chart, tuple[str, ...]]],
    words: Words,
) -> tuple[Chart, tuple[str, ...]]:
    """Return a panel a level, largest areas first; ``draw`` makes the dots of one."""
    charts, notes = [], []
    counts = [cell for cell in cells if cell.quantity == "count"]
    for level in dict.fromkeys(cell.key[0] for cell in counts):
        chart, said = draw([replace(c, key=c.key[1:]) for c in counts if c.key[0] == level])
        name = label(level)
        charts.append((name, chart))
        notes += [words.say("map.level-note", level=name, note=note) for note in said]
    return _stacked(charts), tuple(notes)


def with_preview(chart: Chart, below: Chart, *, words: Words) -> Chart:
    """Return rates with their preview below."""
    return _stacked([("", chart), (words.say("map.preview"), below)])


def preview(forecast: Forecast, *, words: Words) -> Chart:
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
        for part in forecast.parts
    ]
    groups = [row["group"] for row in rows]
    data = alt.Data(values=rows)
    room = room_for(groups) + 8
    scale = alt.Scale(zero=True, nice=True, range=[room, WIDTH - _NUMBER])
    title = words.say("map.preview-axis", unit=words.unit(forecast.unit))
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
        bar.encode(x=x, x2=alt.X2Datum(0), y=place),
        rule.encode(x=x, x2=alt.X2("high:Q"), y=place),
        end.encode(x=high, y=place),
        number.encode(x=high, y=place, text=alt.Text("text:N")),
        name.encode(x=alt.XValue(0), y=place, text=alt.Text("group:N")),
    ).properties(width=WIDTH, height=alt.Step(ROW))


def _stacked(charts: Sequence[tuple[str, Chart]]) -> Chart:
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
