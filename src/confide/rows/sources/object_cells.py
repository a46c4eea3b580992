"""Cells that are Python objects, as the texts that typed columns would be read as.

A column of objects has no type but what its cells suggest, so each cell is read alone, whatever
stands beside it.  What is missing has no text, and a number has one, whatever object says it.

=================================== ================================================================
object                              text
=================================== ================================================================
None, NaN, NaT, pandas' NA, a       none, also NaN of Decimal and of NumPy
masked cell
texts                               as they are, of a subclass (an Enum) too; half a character: none
bytes                               as UTF-8; others: none
UUID                                in lower case
whole numbers                       plain digits: 12, 12.0, Decimal("1.2E+1") and NumPy's are "12";
                                    floats below 2⁵³; of more digits than Python prints: none
other numbers                       as a double is printed: "0.5" also of Decimal("0.50")
booleans                            true and false, or 1 and 0
dates, moments                      ISO
all else                            none: times of day, durations, lists, …
=================================== ================================================================

A person id is a text or a whole number, as in a typed column: other numbers, booleans, dates and
moments identify nobody, since nothing says that two of them are one, or that one is not two.
"""

import datetime as dt
import math
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from confide.tables.schema import LARGEST_VALUE

MOST_DIGITS = 4300
"""Python prints no longer integer, unless it is told to."""

_FINER = {"ns", "ps", "fs", "as"}
"""Units in which Python has no moments: of these NumPy gives counts."""


def object_text(cell: Any, *, flags_are_numbers: bool = False) -> str | None:
    """Return one Python object as text; None where it is missing, or is no value.

    What an object does when it is asked is its own affair: it may refuse, or hold 5,000 digits.

    Args:
        cell: Any object.
        flags_are_numbers: Whether True is 1, and not ``true``.

    Example:
        >>> object_text(Decimal("12.0")), object_text(np.float32(0.5)), object_text(float("nan"))
        ('12', '0.5', None)
    """
    try:
        return _text_of(cell, flags_are_numbers=flags_are_numbers)
    except Exception:  # noqa: BLE001 - a patient's cell may refuse nothing
        return None


def object_id(cell: Any) -> str | None:
    """Return a person id as text; None where it identifies nobody.

    Example:
        >>> object_id(7.0), object_id(2.0**53), object_id(2**53 + 1), object_id(True)
        ('7', None, '9007199254740993', None)
    """
    try:
        match cell:
            case str() | bytes() | uuid.UUID():
                return _text_of(cell, flags_are_numbers=False)
            case bool():
                return None
            case _:
                whole = _whole(cell)
                return None if whole is None else str(whole)
    except Exception:  # noqa: BLE001 - a patient's cell may refuse nothing
        return None


def _text_of(cell: Any, *, flags_are_numbers: bool) -> str | None:
    match cell:
        case None:
            return None
        case str():
            return str.encode(cell).decode()
        case bool() | np.bool():
            return str(int(cell)) if flags_are_numbers else str(bool(cell)).lower()
        case int() | float():
            return _number(cell)
        case bytes():
            return bytes.decode(cell)
        case np.datetime64():
            return _moment(cell)
        case dt.date() | uuid.UUID():
            return str(cell) if cell == cell else None  # noqa: PLR0124 - NaT is a date
        case _:
            return _number(cell)


def _number(cell: Any) -> str | None:
    whole = _whole(cell)
    if whole is not None:
        return str(whole)
    match cell:
        case float() | Decimal():
            nearest = float(cell)
        case np.floating() | Fraction():
            with np.errstate(over="ignore"):  # a long double may be beyond all doubles
                nearest = float(cell)
        case _:
            return None
    return None if math.isnan(nearest) else str(nearest)


def _whole(cell: Any) -> int | None:
    """Return the integer that a number is; None where it is none, or is no number."""
    match cell:
        case float():  # from 2⁵³ on two integers are one of these
            return int(cell) if cell.is_integer() and abs(cell) < LARGEST_VALUE else None
        case int():
            return int(cell)
        case np.timedelta64():  # of NumPy's integers
            return None
        case np.integer():
            return int(cell)
        case np.floating():
            whole = int(cell) if cell.is_integer() else LARGEST_VALUE
            return whole if abs(whole) < LARGEST_VALUE else None
        case Decimal():
            return _whole_decimal(cell)
        case Fraction() if cell.denominator == 1:
            return int(cell)
        case _:
            return None


def _whole_decimal(cell: Decimal) -> int | None:
    """Return the integer that a decimal is, if any.

    Raises:
        ValueError: If nobody would print it; making an integer of 1E+999999999 would not end.
    """
    if not cell.is_finite() or cell != cell.to_integral_value():
        return None
    if cell and cell.adjusted() >= MOST_DIGITS:
        raise ValueError("more digits than are printed")
    return int(cell) if cell else 0


def _moment(cell: np.datetime64) -> str | None:
    """Return a moment of NumPy as Python writes it; far ones, which Python lacks, as NumPy does."""
    if np.datetime_data(cell.dtype)[0] in _FINER:
        cell = cell.astype("datetime64[us]")
    said = cell.item()
    if said is None:
        return None
    return str(said if isinstance(said, dt.date) else cell)
