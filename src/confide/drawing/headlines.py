"""Headlines: the main number of a statistic in one sentence.

*Privacy:* reads what was published.
"""

import math
from collections.abc import Sequence

from confide.drawing.cells import Cell, interval_text, key_text
from confide.drawing.numbers import fixed, percent
from confide.drawing.quantities import digits, quantity_text
from confide.drawing.words import Words


def usable(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells that hold a number."""
    return [cell for cell in cells if cell.value is not None]


def main_range(cells: Sequence[Cell], words: Words) -> str:
    """Return the one number of the first quantity, or its lowest and highest by group."""
    main = [cell for cell in usable(cells) if cell.quantity == cells[0].quantity]
    return _range(main, words=words) if main else words.say("headline.none")


def chosen(cells: Sequence[Cell], words: Words) -> str:
    """Return the names of what was chosen."""
    names = [key_text(cell, words=words) for cell in cells]
    return words.say("headline.choice", chosen=words.listed(names))


def medians(cells: Sequence[Cell], words: Words) -> str:
    """Return the median, or the lowest and highest by group."""
    known = usable(cells)
    quantities = list(dict.fromkeys(cell.quantity for cell in known))
    middle = "quantile 0.5" if "quantile 0.5" in quantities else quantities[0]
    cells = _solid([cell for cell in known if cell.quantity == middle])
    what = quantity_text(middle, words=words)
    if len(cells) == 1:
        return words.say("headline.quantile", quantity=what, **number(cells[0], None, words=words))
    return words.say("headline.quantiles", quantity=what, **_ends(cells, words=words))


def _range(main: Sequence[Cell], *, words: Words) -> str:
    cells = _solid(main)
    if len(cells) == 1:
        return one(cells[0], words=words)
    return words.say("headline.range", **_ends(cells, words=words))


def _ends(cells: Sequence[Cell], *, words: Words) -> dict[str, str]:
    """Return the lowest and the highest number, each with its group and its interval."""
    decimals = digits(cells)
    parts = {"level": percent(cells[0].level)}
    for name, cell in (("low", min(cells, key=value_of)), ("high", max(cells, key=value_of))):
        parts[name] = words.amount(fixed(value_of(cell), decimals=decimals), cell.unit)
        parts[f"{name}_key"] = key_text(cell, words=words)
        parts[f"{name}_ends"] = words.say("no-interval")
        if cell.outer is not None:
            lower, upper = (fixed(end, decimals=decimals) for end in cell.outer)
            parts[f"{name}_ends"] = words.say("headline.ends", lower=lower, upper=upper)
    return parts


def _solid(cells: Sequence[Cell]) -> Sequence[Cell]:
    """Return the cells that a headline may name: those without flags, or with intervals, if any."""
    known = [cell for cell in cells if cell.outer is not None]
    return [cell for cell in known if not cell.flags] or known or cells


def one(cell: Cell, *, words: Words) -> str:
    """Return a single number with its interval."""
    return words.say("headline.one", **number(cell, None, words=words))


def value_of(cell: Cell) -> float:
    """Return a number to compare by."""
    return cell.value if cell.value is not None else -math.inf


def number(cell: Cell, decimals: int | None, *, words: Words) -> dict[str, str]:
    """Return a number with its unit, and its interval, as parts of a sentence."""
    places = digits([cell]) if decimals is None else decimals
    interval = interval_text(cell, decimals=places, words=words)
    amount = words.amount(fixed(value_of(cell), decimals=places), cell.unit)
    return {"amount": amount, "interval": interval}
