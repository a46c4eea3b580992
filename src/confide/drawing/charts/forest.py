"""Forest plots: effects with their intervals beside a dashed line at no effect.

Coefficients of numbers are drawn per step of a round size, about a fifth of the declared range, so
that all of them are in the unit of the outcome and can be compared by eye.

References:
    [LC01] Lewis, Clarke. Forest plots: trying to see the wood and the trees. BMJ 322, 2001.
        https://doi.org/10.1136/bmj.322.7300.1479
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from confide.drawing.cells import POINTS, Cell, key_part, span_text
from confide.drawing.charts.marks import Frame, dots, row_of, side_by_side
from confide.drawing.charts.style import MUTED
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Chart, field, mark
from confide.drawing.numbers import clean, fixed, in_sentence, percent
from confide.drawing.quantities import digits, quantity_text
from confide.drawing.words import Words
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset

_RATIO = "ratio"
_OWN = ("share", "mean", "quantile 0.5")
"""What groups have of their own, where their difference is another number."""


def compared(subject: Subject) -> Drawn:
    """Return the groups' own numbers and, beside them, their difference."""
    cells, words = subject.cells, subject.words
    groups = [cell for cell in cells if cell.quantity in _OWN]
    unit = subject.axis(groups)
    effects = [cell for cell in cells if cell.quantity == "difference" and cell.value is not None]
    left = _plain(groups, title=unit, words=words)
    if not effects:
        return left, ()
    name = quantity_text("difference", words=words)
    apart = effects[0].unit == POINTS
    right = null_line() + _plain(
        effects, title=POINTS if apart else unit, words=words, lines=len(groups)
    )
    what = quantity_text(groups[0].quantity, words=words)
    chart = side_by_side([(what, left), (name, right)])
    return chart, (words.say("chart.forest"),)


def shares(subject: Subject) -> Drawn:
    """Return the share of each category, or of each label within each category."""
    chosen = [cell for cell in subject.cells if cell.quantity == "share"]
    return _plain(chosen, title=subject.axis(chosen), words=subject.words), ()


def coefficients(subject: Subject) -> Drawn:
    """Return the coefficients of a regression, each per step of a round size."""
    cells, statistic, dataset = subject.cells, subject.statistic, subject.dataset
    words = subject.words
    chosen = [cell for cell in cells if cell.quantity == "coefficient" and cell.value is not None]
    if not chosen:
        return _plain([c for c in cells if c.value is not None], title="", words=words), ()
    scaled = [_scaled(cell, statistic=statistic, dataset=dataset, words=words) for cell in chosen]
    outcome = domain(
        resolve(statistic.outcome, table=statistic.table, dataset=dataset), dataset=dataset
    )
    shown = clean(words.unit(outcome.unit))
    name = words.named(statistic.outcome)
    change = words.say("axis.change", column=in_sentence(name))
    title = words.say("axis.column", column=change, unit=shown) if shown else change
    notes = [words.say("chart.forest"), words.say("chart.scaled")]
    if all(cell.outer is None for cell in chosen):
        notes.append(words.say("chart.no-intervals"))
    return null_line() + _plain(scaled, title=title, words=words, told=True), tuple(notes)


def ratios(subject: Subject) -> Drawn:
    """Return odds, rate or hazard ratios on a logarithmic axis, each per step of a round size."""
    cells, words = subject.cells, subject.words
    chosen = [cell for cell in cells if cell.quantity == "coefficient" and cell.value is not None]
    notes = [words.say("chart.forest"), words.say("chart.ratios")]
    if not chosen:  # one look has what predicts, after its intercept
        predicting = [cell for cell in cells if cell.quantity == "prediction coefficient"]
        chosen = [cell for cell in predicting[1:] if cell.value is not None]
        notes.append(words.say("chart.no-intervals"))
    if not chosen:
        return _plain([c for c in cells if c.value is not None], title="", words=words), ()
    scaled = [
        _exponential(
            _scaled(cell, statistic=subject.statistic, dataset=subject.dataset, words=words)
        )
        for cell in chosen
    ]
    axis = subject.axis_of("1")
    figure = null_line(1.0) + _plain(scaled, title=axis, words=words, log=True, told=True)
    return figure, tuple(notes)


def _exponential(cell: Cell) -> Cell:
    """Return the logarithm of a ratio as the ratio."""

    def power(value: float) -> float:
        return math.exp(max(-30.0, min(30.0, value)))

    ends = None if cell.outer is None else (power(cell.outer[0]), power(cell.outer[1]))
    value = None if cell.value is None else power(cell.value)
    return replace(cell, value=value, outer=ends, unit=_RATIO)


def _scaled(
    cell: Cell,
    *,
    statistic: Any,
    dataset: Dataset,
    words: Words,
) -> Cell:
    name, *rest = cell.key
    if name not in statistic.covariates:  # a contrast of categories is in the outcome's unit
        return cell
    of = domain(resolve(name, table=statistic.table, dataset=dataset), dataset=dataset)
    step = round_step(float((of.upper - of.lower) * of.scale))
    amount = words.amount(f"{step:g}", of.unit or "1")
    key = words.say("chart.per-step", name=words.named(name), step=amount)
    ends = None if cell.outer is None else (cell.outer[0] * step, cell.outer[1] * step)
    value = None if cell.value is None else cell.value * step
    return replace(cell, key=(key, *rest), value=value, outer=ends)


def round_step(span: float) -> float:
    """Return a round number, 1, 2 or 5 times a power of ten, of about a fifth of ``span``.

    Example:
        >>> round_step(80.0), round_step(45.0), round_step(1.0)
        (20.0, 10.0, 0.2)
    """
    fifth = span / 5
    power = 10.0 ** math.floor(math.log10(fifth))
    return float(min((factor * power for factor in (1, 2, 5, 10)), key=lambda s: abs(s - fifth)))


def _told(cell: Cell, *, cells: Sequence[Cell], words: Words) -> str:
    """Return a number with its interval, to the decimals of the narrowest of all of them.

    A ratio is told to two decimals: its interval is as narrow below 1 as it is wide above.
    """
    if cell.value is None or cell.outer is None:
        return ""
    places = 2 if cell.unit == _RATIO else max(0, min(digits([c], words=words) for c in cells))
    ends = span_text(cell.outer, decimals=places, words=words)
    return words.say("table-1.interval", value=fixed(cell.value, decimals=places), ends=ends)


def null_line(at: float = 0.0) -> Chart:
    """Return a dashed line across all groups at no effect."""
    data = [{"value": at}]
    rule = mark("rule", data, color=MUTED, strokeDash=[4, 4], strokeWidth=1.2)
    return rule.encode(x=field("value:Q"))


def _plain(
    cells: Sequence[Cell],
    *,
    title: str,
    words: Words,
    log: bool = False,
    told: bool = False,
    lines: int = 0,
) -> Chart:
    """Return one dot a cell; a second key becomes a series, numbers stand at the right.

    ``lines`` are as many as a chart beside it has, so that both stand on one baseline.
    """
    across = tuple(dict.fromkeys(key_part(c.key[-1], words=words) for c in cells if len(c.key) > 1))
    two_way = 1 < len(across) <= 5
    level = percent(cells[0].level) if cells else ""
    ended = told and any(cell.outer is not None for cell in cells)
    rows = [
        row_of(
            cell,
            group=words.say("key.joint").join(
                key_part(part, words=words) for part in (cell.key[:-1] if two_way else cell.key)
            ),
            series=key_part(cell.key[-1], words=words) if two_way else "",
            told=_told(cell, cells=cells, words=words) if ended else "",
            missing=words.say("comma").join(words.say(f"flag.{f}.short") for f in cell.flags),
        )
        for cell in cells
    ]
    groups = tuple(dict.fromkeys(row["group"] for row in rows))
    groups += tuple(" " * (place + 1) for place in range(lines - len(groups)))
    ends = (end for cell in cells for end in (cell.value, *(cell.outer or ())) if end)
    frame = Frame(
        groups=groups,
        x_title=title,
        series=across if two_way else (),
        ratios=tuple(ends) if log else (),
        told=words.say("chart.told", level=level) if ended else "",
    )
    return dots(rows, frame=frame)
