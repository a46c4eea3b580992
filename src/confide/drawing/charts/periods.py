"""Periods of a time axis as readers count them: hours in place of minutes, round numbers as ticks.

A period is a bin such as "120-239" minutes; its tick stands where it begins.  Calendar periods keep
their labels.

*Privacy:* public labels.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confide.drawing.numbers import clean
from confide.drawing.words import Words

_BIN = re.compile(r"(\d+)-(\d+)")
_MOST = 9
_LARGER = {"s": ("min", 60), "min": ("h", 60), "h": ("d", 24), "d": ("a", 365.25)}
"""The next unit that people count in, and how many of this one it holds."""
_STEPS = {"h": (1, 2, 3, 6, 12, 24), "mo": (1, 2, 3, 6, 12), "d": (1, 7, 14, 28)}
_ROUND = tuple(factor * 10**power for power in range(7) for factor in (1, 2, 5))
_LEAST = 3
"""Of a larger unit that an axis must hold to be told in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAxis:
    """How the periods of an axis are written.

    Attributes:
        names: What each period is called.
        ticks: Which of these names stand on the axis.
        unit: UCUM code in which they are; "" for the labels as they are.
    """

    names: Mapping[str, str]
    ticks: Sequence[str]
    unit: str = ""


def time_axis(periods: Sequence[str], *, unit: str, most: int = _MOST) -> TimeAxis:
    """Return which periods are named, and how.

    Args:
        periods: Labels in their order.
        unit: UCUM code of the numbers in them; "" where they are dates.
        most: Ticks at most.

    Example:
        Two days in bins of two hours, declared in minutes:

        >>> bins = [f"{start}-{start + 119}" for start in range(0, 2880, 120)]
        >>> time_axis(bins, unit="min").ticks, time_axis(bins, unit="min").unit
        (['0', '6', '12', '18', '24', '30', '36', '42'], 'h')
        >>> time_axis(["2026-01", "2026-02"], unit="").ticks
        ['2026-01', '2026-02']
    """
    found = [_BIN.fullmatch(period) for period in periods]
    starts = [float(each[1]) for each in found if each is not None]
    if len(starts) < len(periods) or not unit or starts != sorted(starts):
        every = max(1, -(-len(periods) // (most - 1)))
        told = {period: clean(period) for period in periods}
        return TimeAxis(names=told, ticks=list(told.values())[::every])
    span = starts[-1] - starts[0]
    unit, factor = larger_unit(unit, span=span)
    step = _step(span / factor, steps=_STEPS.get(unit, _ROUND), most=most)
    half = (starts[1] - starts[0]) / factor / 4 if len(starts) > 1 else 0.0
    names, ticks = {}, []
    for period, start in zip(periods, starts, strict=True):
        round_one = round(start / factor / step) * step
        on = abs(start / factor - round_one) <= half
        names[period] = f"{round_one if on else start / factor:.6g}"
        ticks += [names[period]] if on else []
    return TimeAxis(names=names, ticks=ticks, unit=unit)


def larger_unit(unit: str, *, span: float) -> tuple[str, float]:
    """Return the unit in which people count so many of ``unit``, and how many it holds.

    Example:
        >>> larger_unit("min", span=2760), larger_unit("d", span=90)
        (('h', 60.0), ('d', 1.0))
    """
    factor = 1.0
    while unit in _LARGER and span / factor >= _LEAST * _LARGER[unit][1]:
        factor, unit = factor * _LARGER[unit][1], _LARGER[unit][0]
        if unit == "h" and span / factor < _LEAST * 24 + 1:
            break  # two or three days are told in hours
    return unit, factor


def told_periods(periods: Sequence[str], *, unit: str, words: Words) -> tuple[dict[str, str], str]:
    """Return what periods are called in the unit of their axis, and that unit.

    Both are empty where an axis keeps the unit, or where a period does not begin on a whole number.

    Example:
        >>> from confide.drawing.words import load_words
        >>> bins = [f"{start}-{start + 119}" for start in range(0, 2880, 120)]
        >>> told_periods(bins, unit="min", words=load_words("en"))[0]["120-239"]
        '2–4 hours'
    """
    axis = time_axis(periods, unit=unit)
    starts = [axis.names[period] for period in periods]
    if axis.unit in {"", unit} or len(starts) < _LEAST or not all(map(str.isdigit, starts)):
        return {}, ""
    last = 2 * int(starts[-1]) - int(starts[-2])
    ends = [*map(int, starts[1:]), last]
    told = (
        words.amount(f"{start}\N{EN DASH}{end}", axis.unit)
        for start, end in zip(starts, ends, strict=True)
    )
    return dict(zip(periods, told, strict=True)), axis.unit


def _step(span: float, *, steps: Sequence[float], most: int) -> float:
    """Return the smallest round step of which an axis holds few."""
    return next((s for s in (*steps, *_ROUND) if span / s <= most - 1), 10.0 ** math.ceil(span))


def axis_title(name: str, *, axis: TimeAxis, unit: str, words: Words) -> str:
    """Return the title of a time axis in the unit that its ticks are in."""
    if not axis.unit or axis.unit == unit:
        return name
    return name.replace(words.unit(unit), words.unit(axis.unit))
