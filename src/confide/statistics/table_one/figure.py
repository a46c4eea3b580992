"""The figure of a Table 1: the standardised differences with their intervals.

*Privacy:* drawn from published numbers alone.

References:
    [Aus09] Austin. Balance diagnostics for comparing the distribution of baseline covariates
        between treatment groups. Stat Med 28(25), 2009. https://doi.org/10.1002/sim.3697
"""

from confide.drawing.cells import Cell
from confide.drawing.charts.marks import Frame, dots, row_of, zone
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.numbers import clean
from confide.drawing.words import Words

_USUAL = 0.1
"""Differences below it are usually called negligible [Aus09]."""


def draw(subject: Subject) -> Drawn:
    """Return the standardised differences with their intervals; shares where there is one group."""
    cells, words = subject.cells, subject.words
    found = [cell for cell in cells if cell.quantity == "smd"]
    if found:
        pairs = tuple(dict.fromkeys(clean(cell.key[2]) for cell in found))
        title = words.say("table-1.axis")
    else:
        found = [cell for cell in cells if cell.quantity == "share"]
        found = found or [cell for cell in cells if cell.quantity == "count"]
        pairs, title = ("",), clean(words.unit(found[0].unit))
    several = len(pairs) > 1
    rows = [
        row_of(
            cell,
            group=_name(cell, words=words),
            series=clean(cell.key[2]) if several else "",
            missing=words.say("flag.denominator too small.short"),
        )
        for cell in found
    ]
    frame = Frame(
        groups=tuple(dict.fromkeys(str(row["group"]) for row in rows)),
        series=pairs if several else (),
        x_title=title,
        zero=True,
        bars=found[0].quantity != "smd",
    )
    chart = dots(rows, frame=frame)
    return (chart + zone(-_USUAL, _USUAL) if found[0].quantity == "smd" else chart), ()


def _name(cell: Cell, *, words: Words) -> str:
    variable, key, _ = cell.key
    parts = [part for part in (words.named(variable), clean(key)) if part]
    return words.say("key.joint").join(parts) or words.say("chart.all")
