"""Figure of how far a linear regression is off in subgroups.

*Privacy:* drawn from published cells, so it costs nothing.
"""

from collections.abc import Mapping

from confide.drawing.charts.figure import Figure
from confide.drawing.charts.forest import null_line
from confide.drawing.charts.held_out import SUBGROUPS, missing
from confide.drawing.charts.marks import Frame, dots, row_of, titled
from confide.drawing.charts.subject import Subject
from confide.drawing.numbers import clean, percent
from confide.statistics.regression.subgroups import OFF


def off_in_subgroups(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return observed less predicted by subgroup, beside a line at 0; none without subgroups."""
    words, cells = subject.words, [cell for cell in subject.cells if cell.quantity == OFF]
    if all(cell.value is None for cell in cells):
        return {}
    rows = [
        row_of(cell, group=clean(cell.key[0]), missing=missing(cell, words=words)) for cell in cells
    ]
    groups = tuple(str(row["group"]) for row in rows)
    axis = words.say("quantity.observed-less-predicted")
    chart = null_line(0.0) + dots(rows, frame=Frame(groups=groups, x_title=axis))
    name = words.say("model.subgroups.title", title=title)
    subtitle = words.say("model.subgroups.subtitle", level=percent(cells[0].level))
    figure = Figure(
        chart=titled(chart, title=name, subtitle=subtitle),
        title=name,
        notes=(words.say("model.off.note"),),
        alt=words.say("model.off.alt", title=name, groups=str(len(cells))),
    )
    return {SUBGROUPS: figure}
