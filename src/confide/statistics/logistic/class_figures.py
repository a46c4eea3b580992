"""Figure of how a model of several classes does in subgroups.

*Privacy:* drawn from published cells, so it costs nothing.
"""

from collections.abc import Mapping

from confide.drawing.charts.figure import Figure
from confide.drawing.charts.forest import null_line
from confide.drawing.charts.held_out import SUBGROUPS, missing
from confide.drawing.charts.marks import Frame, dots, row_of, side_by_side, titled
from confide.drawing.charts.subject import Subject
from confide.drawing.numbers import clean, percent
from confide.plans.rounds.held_out import RECALIBRATED


def classes_in_subgroups(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return C-statistic and calibration of each class in each subgroup, if there are any."""
    words = subject.words
    if not subject.statistic.subgroups:
        return {}
    panels, groups = [], 0
    for quantity, null in (("auc", None), ("calibration intercept", 0.0)):
        cells = [
            cell
            for cell in subject.cells
            if cell.quantity == quantity and cell.key[-1] != RECALIBRATED
        ]
        if all(cell.value is None for cell in cells):
            return {}
        rows = [
            row_of(cell, group=clean(", ".join(cell.key)), missing=missing(cell, words=words))
            for cell in cells
        ]
        groups = len(rows)
        chart = dots(rows, frame=Frame(groups=tuple(str(row["group"]) for row in rows), x_title=""))
        name = words.say(f"quantity.{quantity.replace(' ', '-')}")
        panels.append((name, chart if null is None else null_line(null) + chart))
    name = words.say("model.subgroups.title", title=title)
    level = percent(subject.cells[0].level)
    figure = Figure(
        chart=titled(
            side_by_side(panels),
            title=name,
            subtitle=words.say("model.subgroups.subtitle", level=level),
        ),
        title=name,
        notes=(words.say("model.subgroups.note"),),
        alt=words.say("model.classes.alt", title=name, groups=str(groups)),
    )
    return {SUBGROUPS: figure}
