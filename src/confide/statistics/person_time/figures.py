"""Figures of how models of events do on held-out patients: by predicted rate, and by horizon.

*Privacy:* drawn from published cells, so it costs nothing.
"""

from collections.abc import Mapping, Sequence

from confide.drawing.cells import Cell
from confide.drawing.charts.figure import Figure
from confide.drawing.charts.forest import null_line
from confide.drawing.charts.held_out import (
    CALIBRATION,
    SUBGROUPS,
    Cells,
    against_predicted,
    by_quantity,
    missing,
    put_right,
    told,
    top_of,
    value_of,
)
from confide.drawing.charts.marks import Frame, dots, row_of, side_by_side, titled
from confide.drawing.charts.risks import observed_by_risk
from confide.drawing.charts.subject import Subject
from confide.drawing.charts.vega import Chart
from confide.drawing.numbers import clean, percent, significant
from confide.drawing.words import Words
from confide.plans.rounds.held_out import BY_RISK, HELD_OUT
from confide.statistics.person_time.published_rates import BY_RATE, CONCORDANCE, RATIO


def by_rate(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return observed over expected events by predicted rate, beside a line at 1."""
    words, found = subject.words, subject.cells
    apart = subgroups(subject, title)
    cells = [
        cell
        for cell in found
        if cell.quantity == RATIO and (cell.key[0] == HELD_OUT or cell.key[0].startswith(BY_RATE))
    ]
    if len(cells) < 2 or all(cell.value is None for cell in cells):  # nothing by predicted rate
        return apart
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
    return {CALIBRATION: figure, **apart}


def by_horizon(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return observed against predicted risk by the last edge; none where nobody was held out."""
    cells, words = by_quantity(subject.cells), subject.words
    apart, observed = subgroups(subject, title), _by_risk(cells)
    rows = against_predicted(
        observed, cells, predicted="predicted risk", series=words.say("model.as-predicted")
    )
    number = len(rows)
    if put_right(cells):
        after = words.say("model.recalibrated")
        rows += against_predicted(observed, cells, predicted="recalibrated risk", series=after)
    if not rows:
        return apart
    chart = observed_by_risk(
        rows, top=top_of(rows), x_title=words.say("model.predicted"), words=words
    )
    whole = cells["observed risk", HELD_OUT]
    name = words.say("model.calibration.title", title=title)
    subtitle = words.say("model.horizon.subtitle", level=percent(whole.level))
    said = {
        "groups": str(number),
        "observed": told(whole, words=words),
        "predicted": significant(value_of(cells, "predicted risk", HELD_OUT) or 0.0),
    }
    figure = Figure(
        chart=titled(chart, title=name, subtitle=subtitle),
        title=name,
        notes=(words.say("model.horizon.note"),),
        alt=words.say("model.horizon.alt", title=name, **said),
    )
    return {CALIBRATION: figure, **apart}


def subgroups(subject: Subject, title: str) -> Mapping[str, Figure]:
    """Return C-statistic and observed over expected events of each subgroup, if there are any."""
    cells, words = by_quantity(subject.cells), subject.words
    names = [key for (quantity, key) in cells if quantity == CONCORDANCE and key != HELD_OUT]
    known = [cells.get((quantity, HELD_OUT)) for quantity in (CONCORDANCE, RATIO)]
    if not names or all(cell is None or cell.value is None for cell in known):
        return {}
    groups = (words.say("chart.all"), *(clean(name) for name in names))
    panels = [
        _panel(cells, quantity, (HELD_OUT, *names), groups=groups, null=null, words=words)
        for quantity, null in ((CONCORDANCE, None), (RATIO, 1.0))
    ]
    name = words.say("model.subgroups.title", title=title)
    whole = cells[CONCORDANCE, HELD_OUT]
    subtitle = words.say("model.subgroups.subtitle", level=percent(whole.level))
    said = {"groups": str(len(names)), "c": told(whole, words=words)}
    figure = Figure(
        chart=titled(side_by_side(panels), title=name, subtitle=subtitle),
        title=name,
        notes=(words.say("model.rates.subgroups-note"),),
        alt=words.say("model.rates.subgroups-alt", title=name, **said),
    )
    return {SUBGROUPS: figure}


def _panel(
    cells: Cells,
    quantity: str,
    keys: Sequence[str],
    *,
    groups: tuple[str, ...],
    null: float | None,
    words: Words,
) -> tuple[str, Chart]:
    """Return the name and the chart of one measure, group by group."""
    chosen = zip(groups, keys, strict=True)
    rows = [
        row_of(
            cells[quantity, key], group=group, missing=missing(cells[quantity, key], words=words)
        )
        for group, key in chosen
    ]
    chart = dots(rows, frame=Frame(groups=groups, x_title=""))
    name = words.say(f"quantity.{quantity.replace(' ', '-')}")
    return name, chart if null is None else null_line(null) + chart


def _by_risk(cells: Cells) -> Sequence[Cell]:
    """Return observed risks by range of predicted risk."""
    return [
        cell
        for (name, key), cell in cells.items()
        if name == "observed risk" and key.startswith(BY_RISK)
    ]
