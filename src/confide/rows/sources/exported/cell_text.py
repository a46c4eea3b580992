"""Cells of other programs as text, exactly, so that every rule of CSV cells holds for them too.

A number that is whole and below 2⁵³ is its plain digits, any other the shortest decimal that is
that number again.  From 2⁵³ on two long ids may be one number: it keeps its exponent, by which
`confide check` knows it.  A date is YYYY-MM-DD, a moment has its time after it, a time of day and a
duration are hours:minutes:seconds, true and false are words.

Half of a character is U+FFFD, which no id may hold.

*Privacy:* functions of one cell, total: whatever a cell holds, it becomes a text.
"""

import datetime as dt
import math
from collections.abc import Callable, Mapping
from typing import Any

from confide.plans.canonical import SURROGATE
from confide.tables.encoding import UNREADABLE

_EXACT = 2**53
LONGEST_TEXT = 2**16
"""Characters; a longer text is no cell of a table, and reads as damaged."""


def cell_text(value: object) -> str:
    """Return a cell as text; empty where nothing is there.

    Example:
        >>> cell_text(70.1), cell_text(3.0), cell_text(dt.date(2020, 1, 31))
        ('70.1', '3', '2020-01-31')
    """
    return _BY_TYPE.get(type(value), _unknown)(value)


def _text(value: str) -> str:
    if len(value) > LONGEST_TEXT:
        return UNREADABLE
    return value if value.isascii() else SURROGATE.sub(UNREADABLE, value)


def _unknown(_: object) -> str:
    return UNREADABLE


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    if not value.is_integer():  # nor is ±∞
        return repr(value)
    return str(int(value)) if abs(value) < _EXACT else f"{value:.16e}"


def _duration(value: dt.timedelta) -> str:
    sign, whole = ("-", -value) if value < dt.timedelta() else ("", value)
    minutes, seconds = divmod(whole.days * 86_400 + whole.seconds, 60)
    return f"{sign}{minutes // 60}:{minutes % 60:02}:{seconds:02}"


_BY_TYPE: Mapping[type, Callable[[Any], str]] = {
    str: _text,
    float: _number,
    int: str,
    type(None): lambda _: "",
    bool: lambda value: "true" if value else "false",
    dt.date: dt.date.isoformat,
    dt.datetime: lambda value: value.isoformat(sep=" "),
    dt.time: dt.time.isoformat,
    dt.timedelta: _duration,
}
