"""The figure of a degree histogram: a bar a degree, with intervals, degrees from left to right.

*Privacy:* drawn from published numbers alone.
"""

from collections.abc import Sequence
from typing import Any

from confide.drawing.cells import Cell, hollow_note
from confide.drawing.charts.style import MAIN, OUTER, PALE, PAPER, WIDTH
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Chart, constant, field, layer, mark, until, when
from confide.drawing.numbers import clean

_MOST_LABELS = 40


def draw(subject: Subject) -> Drawn:
    """Return bars with intervals, in the order of the degrees."""
    cells = [cell for cell in subject.cells if cell.quantity == "count"]
    titles = (subject.names[0], subject.axis(cells))
    return _bars(cells, titles=titles), hollow_note(cells, words=subject.words)


def _bars(cells: Sequence[Cell], *, titles: tuple[str, str]) -> Chart:
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
    axis = {"values": names[::step], "labelAngle": 0, "title": titles[0]}
    x = field("degree:N", sort=None, scale={"domain": names, "paddingInner": 0.25}, axis=axis)
    y = field("value:Q", title=titles[1], axis={"grid": True})
    bars = mark("bar", rows, color=PALE).encode(x=x, y=y)
    lines = mark("rule", rows, strokeWidth=OUTER, strokeCap="round", color=MAIN)
    fill = when("datum.flagged", constant(PAPER), constant(MAIN))
    dots = mark("point", rows, size=30, strokeWidth=OUTER, opacity=1, stroke=MAIN)
    layers = (
        bars,
        lines.encode(x=x, y=field("low:Q"), y2=until("high")),
        dots.encode(x=x, y=y, fill=fill),
    )
    return layer(*layers).properties(width=WIDTH, height=260)
