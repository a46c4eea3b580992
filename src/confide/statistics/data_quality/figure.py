"""The figure of data quality: which part of each field can be used.

*Privacy:* drawn from published numbers alone.
"""

from confide.drawing.cells import Cell
from confide.drawing.charts.marks import stacked_bars
from confide.drawing.charts.subject import Drawn, Subject
from confide.drawing.charts.vega import Row
from confide.drawing.numbers import clean, percent
from confide.drawing.words import Words
from confide.tables.relation import MISSING, OVERALL

MOST_BARS = 48


def subtitle(subject: Subject) -> str:
    """Return what stands in place of the usual words on intervals."""
    return subject.words.say("quality.subtitle", level=percent(subject.cells[0].level))


def draw(subject: Subject) -> Drawn:
    """Return stacked bars a field, and a group where there is room; else of all groups."""
    cells, words = subject.cells, subject.words
    shares = [cell for cell in cells if cell.quantity == "share"]
    bars = list(dict.fromkeys((cell.key[0], cell.key[2]) for cell in shares))
    notes: tuple[str, ...] = ()
    if len(bars) > MOST_BARS:
        shares = [cell for cell in shares if cell.key[2] == OVERALL]
        notes = (words.say("quality.only-overall"),)
    several = len({cell.key[2] for cell in shares}) > 1
    states = {state: words.say(f"quality.{state}") for state in ("ok", "missing", "other")}
    rows: list[Row] = [
        {
            "group": _bar(cell, several=several, words=words),
            "state": states[state_of(cell)],
            "order": list(states).index(state_of(cell)),
            "value": cell.value or 0.0,
            "low": cell.outer[0] if state_of(cell) == "ok" and cell.outer else None,
            "high": cell.outer[1] if state_of(cell) == "ok" and cell.outer else None,
        }
        for cell in shares
    ]
    chart = stacked_bars(rows, states=tuple(states.values()), x_title=words.say("quality.axis"))
    return chart, notes


def _bar(cell: Cell, *, several: bool, words: Words) -> str:
    parts = [words.named(cell.key[0])]
    parts += [group_of(cell.key[2], words=words)] if several else []
    return words.say("key.joint").join(parts)


def state_of(cell: Cell) -> str:
    """Return whether a share is of cells that are "ok", "missing" or "other"."""
    return {"ok": "ok", MISSING: "missing"}.get(cell.key[1], "other")


def group_of(group: str, *, words: Words) -> str:
    """Return what a group is called."""
    return words.say("table-1.overall") if group == OVERALL else clean(group)
