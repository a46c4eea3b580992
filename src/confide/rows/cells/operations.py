"""Operations that engines spell differently, as nodes of their own.

Queries are trees.  What every engine means the same by is a node of SQLGlot; the rest is one of
these, and a dialect (:mod:`confide.rows.dialects`) writes each of them for its engine.  A tree that
one engine reads is never rewritten for another: rewriting what was written for one of them gave
wrong numbers without a word.  A node that a dialect does not know stops the writing.

*Privacy:* every operation is total: whatever a cell holds, no engine raises, and the answer is the
same integer, date or text on all of them, or NULL.
"""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect


class Operation(exp.Expression):
    """What one dialect of each engine writes."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class Xor(Operation):
    """The sum without carry of two integers of 64 bits."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expression": True}


class SourceCell(Operation):
    """A cell of the source (``this``, a column of type ``found``) that nothing later can fail on.

    Floating point and integers as they are; a decimal with more digits than its type, or NaN, is
    NULL; a text has no collation but that of its bytes; a timestamp is its date in UTC, and the
    infinite one outside the years 1 to 9999.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "found": True}


class Readable(Operation):
    """The bytes of a text as text of no collation, NULL where they are no UTF-8."""


class Normal(Operation):
    """A text in normal form C."""


class Double(Operation):
    """A floating-point cell as the same number in 64 bits; NaN and the infinite ones stay."""


class DoubleOf(Operation):
    """A cell of a family (``physical``) as the double that is computed with, NULL if it is none.

    Of a text: white space around, a sign, digits with single underscores within, a point, an
    exponent; ``inf``, ``infinity`` and ``nan`` in any case.  Beyond all doubles it is infinite.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "physical": True}


class Whole(Operation):
    """A whole cell of a family (``physical``) as BIGINT; NULL if it does not fit.

    What is not whole, or no plain digits, gives NULL or any integer: who asks looks first.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "physical": True}


class Floor(Operation):
    """The largest whole double that is not above a double; NaN and the infinite ones stay."""


class Written(Operation):
    """A cell of a family (``physical``) and type (``type_name``) as the text that it has."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "physical": True, "type_name": True}


class Matches(Operation):
    """Whether a text matches a pattern (``pattern``, a str) from its beginning to its end."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "pattern": True}


class NumberAndUnit(Operation):
    """Of a text its number (``group`` 1) or what stands behind (2); "" if it begins with none."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "group": True}


class Date(Operation):
    """A date, or nothing at all, as a date."""


class DateOfText(Operation):
    """The date that a text says: of a time with an offset in UTC, else the day as written."""


class DaysSinceEpoch(Operation):
    """The days from 1970-01-01 to a date; NULL for an infinite date."""


class CalendarPart(Operation):
    """The ``part`` (a str: year, quarter, month) of the date so many days after 1970-01-01."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "part": True}


class SixtyBits(Operation):
    """The first 60 bits of the SHA-256 of a text, as an integer."""


class ShortSum(Operation):
    """The sum of integers within ±2³¹, of fewer than 2³² rows."""


class KeyedHash(Operation):
    """The HMAC-SHA256 of an id, as 64 hexadecimal digits.

    ``inner`` and ``outer`` are the padded keys, as parameters.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "inner": True, "outer": True}


class Word(Operation):
    """Sixteen hexadecimal digits of a text from place ``start``, as the 64 bits of an integer.

    Engines without unsigned integers give the signed one of the same bits.
    """

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "start": True}


OPERATIONS: tuple[type[Operation], ...] = tuple(Operation.__subclasses__())


def operation(kind: type[Operation], value: exp.Expr, **given: Any) -> exp.Expr:
    """Return an operation on a value."""
    return kind(this=value, **given)


def written(query: exp.Expr, *, dialect: type[Dialect]) -> str:
    """Return the text of a tree; nothing is copied, and a second writing is the same."""
    return query.sql(dialect, copy=False)
