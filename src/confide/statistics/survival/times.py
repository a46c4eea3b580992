"""Times of a curve as readers count them: which are named, and how they are written.

*Privacy:* public times.
"""

import math
from collections.abc import Sequence

from confide.drawing.numbers import significant
from confide.drawing.words import Words

DAYS_A_YEAR = 365.25
_LEAST_YEARS = 2
_MOST = 7
_NEAR = 0.02
"""How far a public time may be from a round one, as a share of the step between round ones."""
_HALF_YEARS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
_ROUND = (1, 2, 3, 5, 6, 7, 10, 12, 13, 14, 15, 20, 25, 28, 30, 50, 90)
"""Steps that people count in, in the unit of the time, which may be weeks, months or days."""


def in_years(unit: str, *, until: float) -> bool:
    """Return whether days are many enough to be read as years."""
    return unit == "d" and until >= _LEAST_YEARS * 365


def named_times(times: Sequence[str], *, unit: str, at: Sequence[float] = ()) -> list[str]:
    """Return the times that a figure and a table name, the start first.

    Args:
        times: All public times, in order, the start first.
        unit: Of the times.
        at: Which of them a study asks for; few round ones when empty.

    Example:
        Half-years up to 15 years: every third year.

        >>> days = [str(365 * half / 2) for half in range(31)]
        >>> named_times(days, unit="d")
        ['0.0', '1095.0', '2190.0', '3285.0', '4380.0', '5475.0']
    """
    if at:
        return [times[0], *(time for time in times[1:] if float(time) in at)]
    whole = len(times) - 1
    one = 365.0 if in_years(unit, until=float(times[-1])) else 1.0
    steps = _HALF_YEARS if one > 1 else tuple(float(s * 10**p) for p in range(6) for s in _ROUND)
    for step in sorted(steps):
        found = _multiples(times, step=step * one)
        if found and 2 < len(found) <= _MOST:
            return found
    every = -(-whole // (_MOST - 1))
    return list(times[:: max(1, every)])


def _multiples(times: Sequence[str], *, step: float) -> list[str]:
    """Return the times nearest to multiples of a step up to the end; none if one has no time."""
    start, end = float(times[0]), float(times[-1])
    many = math.floor((end - start) * (1 + _NEAR / 2) / step)
    if many > _MOST or abs(start + many * step - end) > _NEAR * step:
        return []
    found = []
    for place in range(many + 1):
        nearest = min(times, key=lambda time: abs(float(time) - start - place * step))
        if abs(float(nearest) - start - place * step) > _NEAR * step:
            return []
        found.append(nearest)
    return found


def time_text(time: float, *, unit: str, until: float, words: Words) -> str:
    """Return a time with its unit, in years where the curve runs over years.

    Example:
        >>> from confide.drawing.words import load_words
        >>> time_text(1825, unit="d", until=4380, words=load_words("en"))
        '5 years'
    """
    if in_years(unit, until=until):
        return words.amount(significant(round(time / DAYS_A_YEAR, 1)), "a")
    return words.amount(significant(time, digits=6), unit)
