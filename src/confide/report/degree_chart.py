"""The figure of a degree histogram: a bar a degree, with intervals, degrees from left to right.

*Privacy:* drawn from published numbers alone.
"""

from collections.abc import Sequence
from typing import Any

from confide.report.cells import Cell
from confide.report.marks import Chart
from confide.report.numbers import clean
from confide.report.style import MAIN, OUTER, PALE, PAPER, WIDTH

_MOST_LABELS = 40


def degree_bars(cells: Sequence[Cell], *, titles: tuple[str, str]) -> Chart:
    """Return bars with intervals.

    Args:
        cells: Counts, in the order of the degrees.
        titles: Of the degrees and of the counts.
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    for cell in cells:
        low, high = cell.outer or (None, None)
        degree = clean(cell.key[0])
        flagged = bool(cell.flags)
        rows.append(
            {"degree": degree, "value": cell.value, "low": low, "high": high, "flagged": flagged}
        )
    names = [row["degree"] for row in rows]
    step = max(1, len(names) // _MOST_LABELS)
    axis = alt.Axis(values=names[::step], labelAngle=0, title=titles[0])
    x = alt.X("degree:N", sort=None, scale=alt.Scale(domain=names, paddingInner=0.25), axis=axis)
    y = alt.Y("value:Q", title=titles[1], axis=alt.Axis(grid=True))
    base = alt.Chart(alt.Data(values=rows))
    bars = base.mark_bar(color=PALE).encode(x=x, y=y)
    lines = base.mark_rule(strokeWidth=OUTER, strokeCap="round", color=MAIN)
    fill = alt.condition("datum.flagged", alt.value(PAPER), alt.value(MAIN))
    dots = base.mark_point(size=30, strokeWidth=OUTER, opacity=1, stroke=MAIN)
    layers = (
        bars,
        lines.encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q")),
        dots.encode(x=x, y=y, fill=fill),
    )
    return alt.layer(*layers).properties(width=WIDTH, height=260)
