"""Which declared codes a column of some physical type can hold, as codes are compared.

A code is compared with the text of a cell (:func:`confide.rows.cells.clean.text`), and every type
has one text for one value: integers are plain digits, booleans ``true`` and ``false``, decimals
that are not whole have all their decimals.  A code in another spelling equals no cell; its category
would be charged, and hold nobody.

*Privacy:* types and the labels of an ENUM type are the schema of the source.  The labels of a
column in memory are what somebody found in its rows, so they are not looked at.
"""

import datetime as dt
import re
import unicodedata
import uuid
from collections.abc import Callable

from confide.rows.cells.physical import Physical
from confide.tables.schema import Column

_PLAIN_DIGITS = re.compile(r"0|-?[1-9][0-9]*")
_DECIMAL_TYPE = re.compile(r"DECIMAL\(([0-9]+),\s*([0-9]+)\)")
_DECIMALS = re.compile(r"-?(?P<whole>0|[1-9][0-9]*|)\.(?P<decimals>[0-9]+)")
_LABEL = re.compile(r"'((?:[^']|'')*)'")
_MOST_INTEGER = 2**63
_ROUNDED_REAL = 9 * 10**15
"""Nearly 2⁵³: whole numbers from there on are printed as floating-point numbers."""
_LONG_REAL = re.compile(r"-?9[0-9]{15}\.0")
_YEARS_OF_PYTHON = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_FAR_DATE = re.compile(
    r"-?infinity|[0-9]{5,7}-[0-9]{2}-[0-9]{2}|[0-9]{4,7}-[0-9]{2}-[0-9]{2} \(BC\)"
)


def impossible(column: Column, *, physical: Physical, type_name: str) -> tuple[str, str] | None:
    """Return a code, of a category that no cell of a type can be, and what to write; None if none.

    What ``nulls`` and ``other`` become needs no code of its own.
    """
    can, hint = _reading(physical, type_name)
    if can is None:
        return None
    filled = {column.nulls, column.other}
    filled |= {index for code, index in column.codes if can(unicodedata.normalize("NFC", code))}
    code = next((code for code, index in column.codes if index not in filled), None)
    return None if code is None else (code, hint)


def _reading(physical: Physical, type_name: str) -> tuple[Callable[[str], bool] | None, str]:
    """Return whether a text can be a cell, None if any can; and how cells are written."""
    match physical:
        case Physical.INTEGER:
            return _integer, "Write whole numbers in plain digits, without zeros before them: 1."
        case Physical.WIDE:
            plain = "Write whole numbers in plain digits, without zeros before them: 1."
            return _plain, plain
        case Physical.REAL | Physical.ROUNDED:
            return _real, "Write whole numbers in plain digits, 1, and others as 0.5."
        case Physical.DECIMAL:
            scale = _DECIMAL_TYPE.fullmatch(type_name)
            if scale is None:
                return None, ""
            digits, places = int(scale[1]), int(scale[2])
            zero = "" if digits == places else "0"  # the engine prints .500 then
            example = f", and others with {places} decimals, {zero}.5{'0' * (places - 1)}"
            return (
                lambda code: _decimal(code, places=places, zero=zero),
                f"Write whole numbers in plain digits, 1{example if places else ''}.",
            )
        case Physical.BOOLEAN:
            return {"true", "false"}.__contains__, "Write true and false."
        case Physical.DATE:
            return _date, "Write dates as 2025-01-31."
        case Physical.TEXT if type_name == "UUID":
            return _uuid, "Write a UUID in lower case, in its groups of 8, 4, 4, 4 and 12."
        case Physical.TEXT if type_name.startswith("ENUM("):
            return _labels(type_name).__contains__, "Write the labels of its ENUM type exactly."
        case _:
            return None, ""


def _plain(code: str) -> bool:
    return _PLAIN_DIGITS.fullmatch(code) is not None


def _integer(code: str) -> bool:
    return _plain(code) and len(code) <= len(str(-_MOST_INTEGER)) and abs(int(code)) < _MOST_INTEGER


def _real(code: str) -> bool:
    """Return whether a code is a floating-point number as it is printed."""
    try:
        value = float(code)
    except ValueError:
        return False
    if value.is_integer() and abs(value) < _ROUNDED_REAL:
        return _plain(code)
    return (repr(value) == code != "nan") or _LONG_REAL.fullmatch(code) is not None


def _decimal(code: str, *, places: int, zero: str) -> bool:
    """Return whether a code is a decimal as it is printed: whole, or with all its decimals."""
    if _plain(code):
        return True
    found = _DECIMALS.fullmatch(code)
    if found is None or len(found["decimals"]) != places or not int(found["decimals"]):
        return False
    return found["whole"] == "" if not zero else found["whole"] != ""


def _date(code: str) -> bool:
    if _FAR_DATE.fullmatch(code):
        return True
    if not _YEARS_OF_PYTHON.fullmatch(code):
        return False
    try:
        dt.date.fromisoformat(code)
    except ValueError:
        return False
    return True


def _uuid(code: str) -> bool:
    try:
        return str(uuid.UUID(code)) == code
    except ValueError:
        return False


def _labels(type_name: str) -> frozenset[str]:
    """Return the labels of an ENUM type in normal form C, from its name.

    Example:
        >>> sorted(_labels("ENUM('male', 'don''t know')"))
        ["don't know", 'male']
    """
    found = (label.replace("''", "'") for label in _LABEL.findall(type_name))
    return frozenset(unicodedata.normalize("NFC", label) for label in found)
