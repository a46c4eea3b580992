"""Figures of rates: dots with intervals by group, and ratios beside them.

*Privacy:* drawn from the release alone, so it costs nothing.
"""

from collections.abc import Sequence

from confide.drawing.cells import Cell, hollow_note, label_of
from confide.drawing.charts.marks import Frame, dots, row_of, side_by_side
from confide.drawing.charts.style import MUTED
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Chart, field, mark
from confide.drawing.quantities import quantity_text
from confide.drawing.words import Words

MOST_GROUPS = 40
_MOST_IN_ORDER = 12  # more groups than these are drawn in the order of their rates


def rates(subject: Subject) -> Drawn:
    """Return the rates of the groups, and beside them their ratios to one of them."""
    published, words = subject.cells, subject.words
    axis = subject.axis(published)
    first = published[0].quantity
    cells = [cell for cell in published if cell.quantity == first]
    ratios = {cell.key: cell for cell in published if cell.quantity == "rate ratio"}
    shown, notes = _in_order(cells, words=words)
    notes += hollow_note(shown, words=words)
    groups = tuple(label_of(cell.key, words=words) for cell in shown)
    left = rate_dots(shown, words=words, groups=groups, title=axis)
    if not ratios:
        return left, notes
    title = quantity_text("rate ratio", words=words)
    right = rate_dots(
        [ratios[cell.key] for cell in shown if cell.key in ratios],
        words=words,
        groups=groups,
        title=words.say("chart.ratio"),
        at_one=True,
    )
    (baseline,) = {label_of(cell.key, words=words) for cell in cells if cell.key not in ratios}
    panels = [(quantity_text(first, words=words), left), (title, right)]
    return side_by_side(panels), (words.say("chart.baseline", group=baseline), *notes)


def _in_order(cells: Sequence[Cell], *, words: Words) -> tuple[list[Cell], tuple[str, ...]]:
    """Return the cells to draw: as published when few, else by rate, the largest first."""
    if len(cells) <= _MOST_IN_ORDER:
        return list(cells), ()
    known = [cell for cell in cells if cell.value is not None]
    by_rate = sorted(known, key=lambda cell: (-(cell.value or 0.0), cell.key))
    if len(cells) <= MOST_GROUPS:
        unknown = [cell for cell in cells if cell.value is None]
        return [*by_rate, *unknown], (words.say("chart.caterpillar"),)
    note = words.say("chart.largest", shown=str(MOST_GROUPS), cells=f"{len(cells):,}")
    return by_rate[:MOST_GROUPS], (words.say("chart.caterpillar"), note)


def rate_dots(
    cells: Sequence[Cell],
    *,
    words: Words,
    groups: tuple[str, ...],
    title: str,
    at_one: bool = False,
) -> Chart:
    """Return dots with intervals, and a line at 1 where ratios are drawn."""
    rows = [
        row_of(
            cell,
            group=label_of(cell.key, words=words),
            missing=words.say("comma").join(words.say(f"flag.{f}.short") for f in cell.flags),
        )
        for cell in cells
    ]
    ratios = tuple(row[end] for row in rows for end in ("value", "low", "high") if row[end])
    above = all(row["low"] is None or row["low"] > 0 for row in rows)
    fitted = ratios if at_one and above else ()
    chart = dots(rows, frame=Frame(groups=groups, x_title=title, ratios=fitted))
    if not at_one:
        return chart
    line = mark("rule", [{"at": 1.0}], color=MUTED, strokeDash=[4, 4])
    return chart + line.encode(x=field("at:Q"))
