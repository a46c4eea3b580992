"""Data quality as a table and as stacked bars: which part of each field can be used.

*Privacy:* rearranges published numbers.
"""

from collections.abc import Sequence

from confide.release.release import Release
from confide.report.cells import Cell, cells_of
from confide.report.conditions import label
from confide.report.describe import digits
from confide.report.marks import Chart, Row, stacked_bars
from confide.report.numbers import clean, fixed, percent
from confide.report.table import Shown
from confide.report.words import Words
from confide.statistics.data_quality import DataQuality
from confide.tables.relation import MISSING, OVERALL

MOST_BARS = 48
_OK = "ok"


def quality(release: Release, statistic: DataQuality, *, words: Words) -> Shown:
    """Return a row a field (and group): the shares that are fine, missing, and neither."""
    cells = [cell for cell in cells_of(release.of(statistic)) if cell.quantity == "share"]
    places = min(digits(cells), 2)
    by_group = len({cell.key[2] for cell in cells}) > 1
    head = [words.say("head.field")]
    head += [words.say("head.group")] if by_group else []
    for state in ("ok", "missing", "other"):
        head += [words.say(f"quality.{state}"), words.say("head.half")]
    rows = []
    for field, group in dict.fromkeys((cell.key[0], cell.key[2]) for cell in cells):
        own = [cell for cell in cells if (cell.key[0], cell.key[2]) == (field, group)]
        row = [label(field)]
        row += [_group(group, words=words)] if by_group else []
        for state in ("ok", "missing", "other"):
            match = [cell for cell in own if _state(cell) == state]
            row += _numbers(match, places=places) if match else ["", ""]
        rows.append(tuple(row))
    return Shown(
        head=tuple(head),
        rows=tuple(rows),
        text_columns=2 if by_group else 1,
        numbers=6,
        notes=words.each("quality.notes", level=percent(cells[0].level)),
    )


def _numbers(match: Sequence[Cell], *, places: int) -> list[str]:
    (cell,) = match
    value = "–" if cell.value is None else fixed(cell.value, decimals=places)
    return [value, fixed(cell.half_width, decimals=places)]


def _state(cell: Cell) -> str:
    return {_OK: "ok", MISSING: "missing"}.get(cell.key[1], "other")


def _group(group: str, *, words: Words) -> str:
    return words.say("table-1.overall") if group == OVERALL else clean(group)


def usable_parts(cells: Sequence[Cell], *, words: Words) -> tuple[Chart, tuple[str, ...]]:
    """Return stacked bars a field, and a group where there is room; else of all groups."""
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
            "state": states[_state(cell)],
            "order": list(states).index(_state(cell)),
            "value": cell.value or 0.0,
            "low": cell.outer[0] if _state(cell) == "ok" and cell.outer else None,
            "high": cell.outer[1] if _state(cell) == "ok" and cell.outer else None,
        }
        for cell in shares
    ]
    chart = stacked_bars(rows, states=tuple(states.values()), x_title=words.say("quality.axis"))
    return chart, notes


def _bar(cell: Cell, *, several: bool, words: Words) -> str:
    parts = [label(cell.key[0])]
    parts += [_group(cell.key[2], words=words)] if several else []
    return words.say("key.joint").join(parts)
