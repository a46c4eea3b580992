"""Periods as readers count them, in the table of a series and in its headline.

A period that is a bin of minutes is told in hours where there are many of them: "36–38 h".
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from confide.drawing.asking import Asking, by_axes
from confide.drawing.cells import Cell, key_part, span_text
from confide.drawing.charts.periods import larger_unit
from confide.drawing.numbers import clean, fixed, opening
from confide.drawing.quantities import digits, quantity_text
from confide.drawing.shown import Shown
from confide.drawing.words import Words
from confide.statistics.series.spec import Series
from confide.tables.expression import BinOf
from confide.tables.relation import domain

_BIN = re.compile(r"(\d+)-(\d+)")


def with_periods(statistic: Series, cells: Sequence[Cell], asking: Asking) -> Sequence[Cell]:
    """Return the cells with periods in the unit in which people count so many of them."""
    axis = statistic.axes(asking.dataset)[-1]
    if not isinstance(axis, BinOf):
        return cells
    of = domain(axis.of, dataset=asking.dataset)
    step, last = float(of.scale), float(of.physical(of.upper))
    ends = [_BIN.fullmatch(cell.key[-1]) for cell in cells if cell.key]
    if not ends or any(each is None for each in ends):
        return cells
    span = max(float(each[2]) for each in ends if each is not None)
    unit, factor = larger_unit(of.unit, span=span)
    if factor == 1:
        return cells
    shown = clean(asking.words.unit(unit))

    def told(period: str) -> str:
        found = _BIN.fullmatch(period)
        if found is None:
            return period
        low, high = (each / factor for each in (float(found[1]), min(last, float(found[2]) + step)))
        return f"{low:.4g}\N{EN DASH}{high:.4g} {shown}"

    return [replace(cell, key=(*cell.key[:-1], told(cell.key[-1]))) for cell in cells]


def period_table(statistic: Series, cells: Sequence[Cell], asking: Asking) -> Shown:
    """Return a row a period, with a column for each number of it."""
    words = asking.words
    told = with_periods(statistic, cells, asking)
    quantities = tuple(dict.fromkeys(cell.quantity for cell in told))
    of = {(cell.key, cell.quantity): cell for cell in told}
    *names, period = by_axes(statistic, asking)
    if told != cells:  # each says its unit itself
        period = period.rpartition(", ")[0] or period
    names.append(period)
    flagged = any(cell.flags for cell in told)
    head = [opening(name) for name in names]
    for quantity in quantities:
        unit = clean(words.unit(next(c.unit for c in told if c.quantity == quantity)))
        name = opening(quantity_text(quantity, words=words))
        head.append(words.say("axis.column", column=name, unit=unit) if unit else name)
    head += [words.say("head.flags")] if flagged else []
    places = {q: digits([c for c in told if c.quantity == q], words=words) for q in quantities}
    rows = []
    for key in dict.fromkeys(cell.key for cell in told):
        found = [of.get((key, quantity)) for quantity in quantities]
        row = [key_part(part, words=words) for part in key]
        row += [_number(cell, places=places, words=words) for cell in found]
        flags = dict.fromkeys(flag for cell in found if cell is not None for flag in cell.flags)
        row += ["; ".join(words.say(f"flag.{f}.short") for f in flags)] if flagged else []
        rows.append(tuple(row))
    return Shown(
        head=tuple(head), rows=tuple(rows), text_columns=len(names), numbers=len(quantities)
    )


def _number(cell: Cell | None, *, places: dict[str, int], words: Words) -> str:
    """Return a number with its interval."""
    if cell is None:
        return ""
    if cell.value is None or cell.outer is None:
        return words.say("table.withheld")
    decimals = places[cell.quantity]
    value = fixed(cell.value, decimals=decimals)
    ends = span_text(cell.outer, decimals=decimals, words=words)
    return words.say("table-1.interval", value=value, ends=ends)
