"""Which types of the engine are read: one table, and everything else is refused when bound.

Either a type is refused from names and types alone, before a charge, or *every* cell of it is read,
whatever it holds (:func:`confide.rows.clean.cell_of`): a cell that could stop a query would tell of
itself, and charge for it each time.

==================== ===============================================================================
type                 every cell of it
==================== ===============================================================================
integers to 64 bits  compared as they are
wider integers       as their digits; a number of them is rounded to a double
floating point       NaN is missing, ±∞ is outside
decimals             integral ones are their digits
longer decimals      of Parquet, more than 38 digits: as floating point, rounded; never a person id
text, ENUM, UUID     bytes in normal form C: the collation of a column is taken off
dates                ±∞ and years that nobody has are outside
timestamps           their date (with a time zone: in UTC); outside the years 1 to 9999 it is ∞
booleans             ``true`` and ``false``, or 1 and 0
no type              NULL
==================== ===============================================================================

Refused: TIME in all forms, INTERVAL, durations, BLOB, BIT, BIGNUM, JSON, VARIANT, GEOMETRY, lists,
structs, maps, unions, and whatever a later version brings; of Parquet, timestamps in milliseconds
too, which the engine multiplies before anybody can look at them; and columns that a DuckDB file
computes.
"""

import enum
from collections.abc import Mapping

from sqlglot import exp


class Physical(enum.Enum):
    """Families of physical types."""

    INTEGER = "integers"
    WIDE = "integers of more than 64 bits"
    REAL = "floating-point numbers"
    DECIMAL = "decimals"
    ROUNDED = "decimals of more than 38 digits, which are rounded"
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
