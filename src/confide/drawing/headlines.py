"""Headlines: the main number of a statistic in one sentence.

*Privacy:* reads what was published.
"""

import math
from collections.abc import Sequence

from confide.drawing.cells import Cell, interval_text, key_text, span_text
from confide.drawing.numbers import fixed, percent
from confide.drawing.quantities import digits, quantity_text
from confide.drawing.words import Words

_FEW = 3
"""Groups that a headline names when it sets them aside."""


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
    what = quantity_text(middle, words=words)
    main = [cell for cell in known if cell.quantity == middle]
    if len(main) == 1:
        return words.say("headline.quantile", quantity=what, **number(main[0], None, words=words))
    return _told(main, "headline.quantiles", words=words, quantity=what)


def _range(main: Sequence[Cell], *, words: Words) -> str:
    if len(main) == 1:
        return one(main[0], words=words)
    return _told(main, "headline.range", words=words)


def _told(main: Sequence[Cell], key: str, *, words: Words, **more: str) -> str:
    """Return the lowest and highest of several numbers, and which were not looked at.

    A number that is flagged is neither; the sentence says so.
    """
    cells = [cell for cell in main if not cell.flags]
    if not cells:
        return words.say("headline.flagged")
    if len(cells) == 1:
        said = words.say(
            "headline.single",
            key=key_text(cells[0], words=words),
            found=_bare(cells[0], words=words),
        )
    elif alike := _alike(cells, words=words):
        said = words.say(f"{key}-alike", **alike, **more)
    else:
        said = words.say(key, **extremes(cells, words=words), **more)
    return " ".join((said, *aside([cell for cell in main if cell.flags], words=words)))


def aside(flagged: Sequence[Cell], *, words: Words) -> tuple[str, ...]:
    """Return the sentence on groups that a headline left out because they are flagged."""
    if not flagged:
        return ()
    if len(flagged) > _FEW:
        return (words.say("headline.aside-many", count=str(len(flagged))),)
    names = [words.say("headline.quoted", name=key_text(cell, words=words)) for cell in flagged]
    return (words.say("headline.aside", groups=words.listed(names)),)


def _bare(cell: Cell, *, words: Words) -> str:
    return one(cell, words=words).removesuffix(".")


def _alike(cells: Sequence[Cell], *, words: Words) -> dict[str, str]:
    """Return the one number that all groups show, with where their intervals lie; else nothing."""
    decimals = digits(cells, words=words)
    told = {words.amount(fixed(value_of(cell), decimals=decimals), cell.unit) for cell in cells}
    spans = [cell.outer for cell in cells if cell.outer is not None]
    if len(told) > 1 or len(spans) < len(cells):
        return {}
    whole = (min(low for low, _ in spans), max(high for _, high in spans))
    return {
        "value": told.pop(),
        "count": f"{len(cells):,}",
        "level": percent(cells[0].level),
        "ends": span_text(whole, decimals=decimals, words=words),
    }


def extremes(cells: Sequence[Cell], *, words: Words) -> dict[str, str]:
    """Return the lowest and the highest number, each with its group and its interval."""
    decimals = digits(cells, words=words)
    parts = {"level": percent(cells[0].level)}
    for name, cell in (("low", min(cells, key=value_of)), ("high", max(cells, key=value_of))):
        parts[name] = words.amount(fixed(value_of(cell), decimals=decimals), cell.unit)
        parts[f"{name}_key"] = key_text(cell, words=words)
        parts[f"{name}_ends"] = words.say("no-interval")
        if cell.outer is not None:
            parts[f"{name}_ends"] = span_text(cell.outer, decimals=decimals, words=words)
    return parts


def one(cell: Cell, *, words: Words) -> str:
    """Return a single number with its interval."""
    return words.say("headline.one", **number(cell, None, words=words))


def value_of(cell: Cell) -> float:
    """Return a number to compare by."""
    return cell.value if cell.value is not None else -math.inf


def number(cell: Cell, decimals: int | None, *, words: Words) -> dict[str, str]:
    """Return a number with its unit, and its interval, as parts of a sentence."""
    places = digits([cell], words=words) if decimals is None else decimals
    interval = interval_text(cell, decimals=places, words=words)
    amount = words.amount(fixed(value_of(cell), decimals=places), cell.unit)
    return {"amount": amount, "interval": interval}
