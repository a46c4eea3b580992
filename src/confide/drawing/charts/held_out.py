"""What figures of how a model does on held-out patients share: their names, cells and words.

*Privacy:* drawn from published cells, so it costs nothing.
"""

import math
from collections.abc import Mapping, Sequence

from confide.drawing.cells import Cell
from confide.drawing.charts.vega import Row
from confide.drawing.numbers import significant
from confide.drawing.words import Words
from confide.plans.rounds.held_out import RECALIBRATED

CALIBRATION, BENEFIT, SUBGROUPS = "calibration", "benefit", "subgroups"

Cells = Mapping[tuple[str, str], Cell]
"""By quantity and label."""


def by_quantity(cells: Sequence[Cell]) -> Cells:
    """Return cells by quantity and label."""
    return {(cell.quantity, cell.key[0]): cell for cell in cells}


def value_of(cells: Cells, quantity: str, key: str) -> float | None:
    """Return what was published; None where nothing was."""
    found = cells.get((quantity, key))
    return None if found is None else found.value


def put_right(cells: Cells) -> bool:
    """Return whether a recalibration that changes something was found."""
    line = [
        value_of(cells, f"recalibration {name}", RECALIBRATED) for name in ("intercept", "slope")
    ]
    return line not in ([None, None], [0.0, 1.0])


def against_predicted(
    observed: Sequence[Cell], cells: Cells, *, predicted: str, series: str
) -> list[Row]:
    """Return published shares with intervals at a predicted risk."""
    rows: list[Row] = []
    for cell in observed:
        at = value_of(cells, predicted, cell.key[0])
        if at is not None and cell.outer is not None:
            low, high = cell.outer
            row = {"predicted": at, "value": cell.value, "low": low, "high": high}
            rows.append(row | {"series": series})
    return rows


def top_of(rows: Sequence[Row]) -> float:
    """Return where the axes of risks end."""
    highest: float = max(max(row["high"], row["predicted"]) for row in rows)
    return min(1.0, math.ceil(highest * 10) / 10)


def told(cell: Cell, *, words: Words) -> str:
    """Return a value with its interval, or why there is none."""
    if cell.value is None:
        return missing(cell, words=words)
    low, high = cell.outer or (math.nan, math.nan)
    ends = words.say("span", lower=significant(low), upper=significant(high))
    return f"{significant(cell.value)} ({ends})"


def missing(cell: Cell, *, words: Words) -> str:
    """Return why there is no value."""
    return words.say("comma").join(words.say(f"flag.{f}.short") for f in cell.flags)
