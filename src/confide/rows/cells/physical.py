"""Which types of the engine are read: one table, and everything else is refused when bound.

Either a type is refused from names and types alone, before a charge, or *every* cell of it is read,
whatever it holds (:func:`confide.rows.cells.clean.cell_of`): a cell that could stop a query would
tell of itself, and charge for it each time.

==================== ===============================================================================
type                 every cell of it
==================== ===============================================================================
integers to 64 bits  compared as they are
wider integers       as their digits; a number of them is rounded to a double
floating point       NaN is missing, ±∞ is outside
decimals             integral ones are their digits; of more digits than declared: NULL
longer decimals      of Parquet, more than 38 digits: as floating point, rounded; never a person id
text, ENUM, UUID     bytes in normal form C: the collation of a column is taken off
dates                ±∞ and years that nobody has are outside
timestamps           their date (with a time zone: in UTC); outside the years 1 to 9999 it is ∞
booleans             ``true`` and ``false``, or 1 and 0
no type              NULL
==================== ===============================================================================

Person ids are compared as integers of 64 bits, or as text where a type may hold more digits than
these, so that none is lost; fractions, and floating-point numbers from 2⁵³ on, are nobody's.

No type is taken at its word (:mod:`confide.rows.dialects.unenforced`).  A Parquet file keeps
integers of 8 and 16 bits, and decimals of up to 4 or 9 digits, in 32 or 64: the engine drops the
upper bits, so two of these may be one, and they are never a person id.

Refused: TIME in all forms, INTERVAL, durations, BLOB, BIT, BIGNUM, JSON, VARIANT, GEOMETRY, lists,
structs, maps, unions, and whatever a later version brings; of Parquet, timestamps in milliseconds
too, which the engine multiplies before anybody can look at them, and decimals in more bytes than
the engine has for their digits, where a cell may stop it; and columns that a DuckDB file
computes.
"""

import enum
import re
from collections.abc import Mapping

from sqlglot import exp


class Physical(enum.Enum):
    """Families of physical types."""

    INTEGER = "integers"
    WIDE = "integers of more than 64 bits"
    REAL = "floating-point numbers"
    DECIMAL = "decimals"
    ROUNDED = "decimals of more than 38 digits, which are rounded"
    LONG = "decimals in more bytes than their digits need, not all of which can be read"
    TEXT = "text"
    DATE = "dates"
    MOMENT = "timestamps"
    MILLISECONDS = "timestamps in milliseconds, not all of which can be read"
    COMPUTED = "values that are computed whenever they are read"
    BOOLEAN = "booleans"
    NOTHING = "no value at all"
    OTHER = "values of another type"


IN_MILLISECONDS = "TIMESTAMP of Parquet in milliseconds"
"""Our own name of a type that the engine calls TIMESTAMP."""

DURATION = "DURATION of Arrow in Parquet"
"""Our own name of a type that the engine calls BIGINT: spans of time in a unit it passes over."""

MOST_DIGITS = 38
"""Decimals of more digits are read as doubles, not always the nearest: two may become one."""

IN_MORE_DIGITS = "DECIMAL of Parquet of more than 38 digits"
"""Our own name of a type that the engine calls DOUBLE."""

IN_MORE_BYTES = "DECIMAL of Parquet in more bytes than its digits need"
"""Our own name of a type that the engine calls DECIMAL."""

COMPUTED = "a generated column of a DuckDB file"
"""Our own name of any type, where the column is an expression: it may draw random numbers."""

TYPES: Mapping[str, Physical] = {
    "TINYINT": Physical.INTEGER,
    "SMALLINT": Physical.INTEGER,
    "INTEGER": Physical.INTEGER,
    "BIGINT": Physical.INTEGER,
    "UTINYINT": Physical.INTEGER,
    "USMALLINT": Physical.INTEGER,
    "UINTEGER": Physical.INTEGER,
    "UBIGINT": Physical.INTEGER,
    "HUGEINT": Physical.WIDE,
    "UHUGEINT": Physical.WIDE,
    "FLOAT": Physical.REAL,
    "DOUBLE": Physical.REAL,
    "DECIMAL": Physical.DECIMAL,
    "VARCHAR": Physical.TEXT,
    "ENUM": Physical.TEXT,
    "UUID": Physical.TEXT,
    "DATE": Physical.DATE,
    "TIMESTAMP": Physical.MOMENT,
    "TIMESTAMP_S": Physical.MOMENT,
    "TIMESTAMP_MS": Physical.MOMENT,
    "TIMESTAMP_NS": Physical.MOMENT,
    "TIMESTAMP WITH TIME ZONE": Physical.MOMENT,
    "TIMESTAMPTZ_NS": Physical.MOMENT,
    IN_MILLISECONDS: Physical.MILLISECONDS,
    IN_MORE_DIGITS: Physical.ROUNDED,
    IN_MORE_BYTES: Physical.LONG,
    COMPUTED: Physical.COMPUTED,
    "BOOLEAN": Physical.BOOLEAN,
    '"NULL"': Physical.NOTHING,  # a column in memory without a single value has no type
}
"""By the name of the type without what stands in brackets; absent ones are refused."""

FAR_MOMENTS: Mapping[str, exp.DType] = {
    "TIMESTAMP": exp.DType.TIMESTAMP,
    "TIMESTAMP_S": exp.DType.TIMESTAMP_S,
    "TIMESTAMP_MS": exp.DType.TIMESTAMP_MS,
    "TIMESTAMP WITH TIME ZONE": exp.DType.TIMESTAMPTZ,
}
"""Timestamps beyond the years that a date has; those in nanoseconds lie between 1677 and 2262."""


_DECIMAL = re.compile(r"DECIMAL\(([0-9]+),\s*([0-9]+)\)")
_OCTETS = {"TINYINT": 1, "UTINYINT": 1, "SMALLINT": 2, "USMALLINT": 2, "INTEGER": 4, "UINTEGER": 4}


def digits_of(type_name: str) -> tuple[int, int]:
    """Return how many digits a decimal may have, and how many of them after the point.

    Raises:
        ValueError: If the type is no decimal.
    """
    found = _DECIMAL.fullmatch(type_name)
    if found is None:
        raise ValueError(type_name)
    return int(found[1]), int(found[2])


def octets_for(digits: int) -> int:
    """Return in how many bytes the engine keeps a decimal of so many digits."""
    return next(octets for octets in (2, 4, 8, 16) if 10**digits < 2 ** (8 * octets - 1))


def octets_of(type_name: str) -> int:
    """Return in how many bytes the engine keeps a number of a type; the most if it is no number.

    Example:
        >>> octets_of("SMALLINT"), octets_of("DECIMAL(9,2)")
        (2, 4)
    """
    if _DECIMAL.fullmatch(type_name):
        return octets_for(digits_of(type_name)[0])
    return _OCTETS.get(type_name, 16)


def physical(type_name: str) -> Physical:
    """Return the family of a DuckDB type, from its name.

    Example:
        >>> physical("DECIMAL(18,3)")
        <Physical.DECIMAL: 'decimals'>
        >>> physical("INTEGER[]")
        <Physical.OTHER: 'values of another type'>
    """
    if type_name.startswith(("DECIMAL(", "ENUM(")) and type_name.endswith(")"):
        type_name = type_name.partition("(")[0]
    return TYPES.get(type_name, Physical.OTHER)
