"""What published quantities are called, and to how many digits they are shown.

*Privacy:* reads what was published.
"""

from collections.abc import Sequence
from decimal import Decimal

from confide.drawing.cells import PERCENT, POINTS, Cell
from confide.drawing.numbers import decimals_for, percent
from confide.drawing.words import Words
from confide.plans.estimates import Covers


def quantity_text(quantity: str, *, words: Words) -> str:
    r"""Return what a published quantity is called.

    Example:
        >>> from confide.drawing.words import load_words
        >>> quantity_text("quantile 0.25", words=load_words("en"))
        '25\xa0% quantile'
    """
    rolling = quantity.removeprefix("rolling ")
    if rolling != quantity:
        return words.say("quantity.rolling", periods=rolling)
    kind, _, share = quantity.partition("quantile ")
    if kind or not share:
        return words.say(f"quantity.{quantity.replace(' ', '-')}")
    if float(share) == 0.5:
        return words.say("quantity.median")
    return words.say("quantity.quantile", share=percent(float(share)))


def covers_text(covers: Covers, *, words: Words) -> str:
    """Return which randomness an interval covers."""
    return words.say(f"covers.{covers.name.lower().replace('_', '-')}")


def intervals_text(key: str, cell: Cell, *, words: Words) -> str:
    """Return a sentence on intervals: their level, and which randomness they cover."""
    covers = covers_text(cell.covers, words=words)
    return words.say(key, level=percent(cell.level), covers=covers)


def digits(cells: Sequence[Cell], *, words: Words) -> int:
    """Return the decimals that suit all cells of a quantity: those of the narrowest interval.

    No more than the study or the data set says; a share in per cent has one at most.
    """
    found, most = _digits(cells), words.look.digits
    if most is None and all(cell.unit in (PERCENT, POINTS) for cell in cells):
        most = 2 if any(cell.quantity == "departure" for cell in cells) else 1
    return found if most is None else min(found, most)


def _digits(cells: Sequence[Cell]) -> int:
    widths = [cell.half_width for cell in cells if cell.value is not None and cell.half_width > 0]
    if all(cell.unit in ("persons", "rows") for cell in cells):
        return 0
    if all(cell.quantity.startswith("quantile ") for cell in cells):  # values of the column's grid
        return min([_written(cells), *([decimals_for(min(widths))] if widths else [])])
    if not widths:  # a p-value and its statistic have no interval
        return 3 if all(cell.outer is None and cell.unit == "1" for cell in cells) else 0
    return decimals_for(min(widths))


def _written(cells: Sequence[Cell]) -> int:
    """Return the decimals with which quantiles and their ends are written out in full."""
    ends = [end for cell in cells for span in (cell.outer, cell.inner) for end in span or ()]
    values = [cell.value for cell in cells if cell.value is not None]
    written = (Decimal(f"{each:.12g}").normalize().as_tuple().exponent for each in values + ends)
    return max((-each for each in written if isinstance(each, int) and each < 0), default=0)
