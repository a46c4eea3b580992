"""Figures of how models of events do on held-out patients: by predicted rate, and by horizon.

*Privacy:* drawn from published cells, so it costs nothing.
"""

from collections.abc import Mapping

from confide.drawing.charts.figure import Figure
from confide.drawing.charts.forest import null_line
from confide.drawing.charts.held_out import (
    CALIBRATION,
    against_predicted,
    by_quantity,
    missing,
    told,
    top_of,
    value_of,
)
from confide.drawing.charts.marks import Frame, dots, row_of, titled
from confide.drawing.charts.risks import observed_by_risk
from confide.drawing.charts.subject import Subject
from confide.drawing.numbers import clean, percent, significant
from confide.statistics.person_time.published_rates import HELD_OUT, RATIO


def by_rate(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return observed over expected events by predicted rate, beside a line at 1."""
    words, found = subject.words, subject.cells
    cells = [cell for cell in found if cell.quantity == RATIO]
    if len(cells) < 2 or all(cell.value is None for cell in cells):  # nothing by predicted rate
        return {}
    slope = next(cell for cell in found if cell.quantity == "calibration slope")
    rows = [
        row_of(
            cell,
            group=words.say("chart.all") if cell.key[0] == HELD_OUT else clean(cell.key[0]),
            missing=missing(cell, words=words),
        )
        for cell in cells
    ]
    groups = tuple(str(row["group"]) for row in rows)
    axis = words.say("quantity.observed-to-expected")
    chart = null_line(1.0) + dots(rows, frame=Frame(groups=groups, x_title=axis))
    name = words.say("model.calibration.title", title=title)
    subtitle = words.say("model.rates.subtitle", level=percent(slope.level))
    said = {"groups": str(len(cells) - 1), "all": told(cells[0], words=words)}
    said["slope"] = told(slope, words=words)
    figure = Figure(
        chart=titled(chart, title=name, subtitle=subtitle),
        title=name,
        notes=(words.say("model.rates.note"),),
        alt=words.say("model.rates.alt", title=name, **said),
    )
    return {CALIBRATION: figure}


def by_horizon(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return observed against predicted risk by the last edge; none where nobody was held out."""
    cells, words = by_quantity(subject.cells), subject.words
    rows = against_predicted(
        [c for (name, key), c in cells.items() if name == "observed risk" and key != HELD_OUT],
        cells,
        predicted="predicted risk",
        series=words.say("model.as-predicted"),
    )
    if not rows:
        return {}
    chart = observed_by_risk(
        rows, top=top_of(rows), x_title=words.say("model.predicted"), words=words
    )
    whole = cells["observed risk", HELD_OUT]
    name = words.say("model.calibration.title", title=title)
    subtitle = words.say("model.horizon.subtitle", level=percent(whole.level))
    said = {
        "groups": str(len(rows)),
        "observed": told(whole, words=words),
        "predicted": significant(value_of(cells, "predicted risk", HELD_OUT) or 0.0),
    }
    figure = Figure(
        chart=titled(chart, title=name, subtitle=subtitle),
        title=name,
        notes=(words.say("model.horizon.note"),),
        alt=words.say("model.horizon.alt", title=name, **said),
    )
    return {CALIBRATION: figure}
