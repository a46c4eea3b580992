"""Data quality as a table: which part of each field can be used.

*Privacy:* rearranges published numbers.
"""

from collections.abc import Sequence

from confide.drawing.asking import Asking
from confide.drawing.cells import Cell, plus_minus
from confide.drawing.numbers import fixed, percent
from confide.drawing.quantities import digits
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.statistics.data_quality.figure import group_of, state_of
from confide.statistics.data_quality.spec import DataQuality


def table(statistic: DataQuality, found: Sequence[Cell], asking: Asking) -> Shown:
    """Return a row a field (and group): the shares that are fine, missing, and neither."""
    del statistic
    words = asking.words
    cells = [cell for cell in found if cell.quantity == "share"]
    places = min(digits(cells, words=words), 2)
    by_group = len({cell.key[2] for cell in cells}) > 1
    head = [words.say("head.field")]
    head += [words.say("head.group")] if by_group else []
    for state in ("ok", "missing", "other"):
        head += [words.say(f"quality.{state}"), words.say("head.half")]
    rows = []
    for field, group in dict.fromkeys((cell.key[0], cell.key[2]) for cell in cells):
        own = [cell for cell in cells if (cell.key[0], cell.key[2]) == (field, group)]
        row = [words.named(field)]
        row += [group_of(group, words=words)] if by_group else []
        for state in ("ok", "missing", "other"):
            match = [cell for cell in own if state_of(cell) == state]
            row += _numbers(match, places=places, words=words) if match else ["", ""]
        rows.append(tuple(row))
    return Shown(
        head=tuple(head),
        rows=tuple(rows),
        text_columns=2 if by_group else 1,
        numbers=6,
        notes=words.each("quality.notes", level=percent(cells[0].level)),
    )


def _numbers(match: Sequence[Cell], *, places: int, words: Words) -> list[str]:
    (cell,) = match
    value = "–" if cell.value is None else fixed(cell.value, decimals=places)
    return [value, plus_minus(cell, decimals=places, words=words)]
