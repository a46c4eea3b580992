"""Cleaning: one cell of the source to a canonical integer or NULL, by explicit CASE.

Every rule looks at one cell.  NULL and NaN come first: LEAST and GREATEST skip NULL, and NaN is
larger than every number, so a plain clip would turn missing values into the *upper* bound.

- number: NULL, NaN and text that is no number follow the null policy; ±∞ and values outside the
  bounds are clipped or dropped as declared; the grid point is ⌊x/scale + ½⌋, multiplied by the
  exact inverse when 1/scale is an integer.  Halves go up: engines disagree about ROUND, not FLOOR.
- category: text in normal form C, compared as a whole; an integral number is its plain digits, so
  8507.0 in a floating-point column is ``8507``.
- date: days since 1970-01-01; a timestamp is cut to its date (with a time zone: its UTC date); text
  that is no date follows the null policy; a date outside the bounds is dropped.
- text: normal form C.  The empty text is NULL, in every column: CSV cannot tell them apart.
- person id: integers; floating-point and decimal ids only when integral (floats: up to 2⁵³ in
  size); text in normal form C.  An id that does not fit is quarantined: its row is dropped.

*Privacy:* all casts are total (TRY_CAST), so no cell can make a query fail.

References:
    [UAX15] Unicode Standard Annex 15: Unicode normalization forms. https://unicode.org/reports/tr15
"""

import re
import unicodedata
from fractions import Fraction

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.build import (
    BIGINT,
    DATE,
    DOUBLE,
    NULL,
    VARCHAR,
    at_most,
    call,
    case,
    cast,
    equal,
    every,
    less,
    minus,
    missing,
    num,
    plus,
    present,
    some,
    string,
    times,
    try_cast,
)
from confide.rows.layout import Found, Ids, Physical
from confide.tables.schema import LARGEST_VALUE, Column, Kind, Outside

_PLAIN_DIGITS = re.compile(r"0|-?[1-9][0-9]*")
"""How the engine writes an integer; another spelling equals none."""

MOST_CASES = 32
"""Longer code lists are joined: a CASE is tried code by code."""


def parsed(raw: exp.Expr, *, column: Column, physical: Physical) -> exp.Expr:
    """Return a cell read as a double, a date or text, by the declared kind of its column."""
    match column.kind:
        case Kind.NUMBER:
            return try_cast(raw, DOUBLE)
        case Kind.DATE:
            return try_cast(raw, DATE)
        case Kind.CATEGORY if physical is Physical.INTEGER:
            return raw  # compared as the integer that its plain digits are
        case Kind.CATEGORY | Kind.TEXT:
            return text(raw, physical=physical)


def text(raw: exp.Expr, *, physical: Physical) -> exp.Expr:
    """Return a cell as text; NULL when empty."""
    as_text = cast(raw, VARCHAR)
    match physical:
        case Physical.TEXT:
            return exp.Nullif(this=call("nfc_normalize", as_text), expression=string(""))
        case Physical.REAL | Physical.DECIMAL:
            return case(
                (exp.IsNan(this=try_cast(raw, DOUBLE)), NULL),
                (_integral(raw), cast(try_cast(raw, BIGINT), VARCHAR)),
                default=as_text,
            )
        case _:
            return as_text


def canonical(value: exp.Expr, *, column: Column, physical: Physical) -> exp.Expr:
    """Return the canonical integer of a parsed number, date or category with few codes."""
    match column.kind:
        case Kind.NUMBER:
            return _number(value, column)
        case Kind.DATE:
            return _date(value, column)
        case Kind.CATEGORY:
            listed = code_values(column, physical=physical)
            known = [(equal(value, code), num(index)) for code, index in listed]
            absent = (missing(value), _policy(column.nulls))
            return cast(case(absent, *known, default=_policy(column.other)), BIGINT)
        case Kind.TEXT:
            return value


def quality(raw: exp.Expr, *, column: Column, physical: Physical) -> exp.Expr:
    """Return whether a cell is ok (0), missing (1) or neither (2), before clipping and policies."""
    value = parsed(raw, column=column, physical=physical)
    absent = missing(text(raw, physical=physical))
    match column.kind:
        case Kind.NUMBER:
            absent = some(absent, exp.IsNan(this=value))
            within = _inside(_point(value, column), column)
        case Kind.DATE:
            within = _inside(_days(value), column)
        case Kind.CATEGORY:
            listed = [code for code, _ in code_values(column, physical=physical)]
            within = exp.In(this=value, expressions=listed) if listed else exp.false()
        case Kind.TEXT:
            within = exp.true()
    return case((absent, num(1)), (within, num(0)), default=num(2))


def looked_up(value: exp.Expr, *, index: exp.Expr, column: Column) -> exp.Expr:
    """Return the canonical integer of a category whose code list was joined."""
    absent = (missing(value), _policy(column.nulls))
    return cast(case(absent, (present(index), index), default=_policy(column.other)), BIGINT)


def codes(column: Column) -> tuple[tuple[str, int], ...]:
    """Return the declared codes in normal form C.

    Raises:
        ContractError: If a code is empty, or two codes are one text in normal form C.
    """
    normal: dict[str, int] = {}
    for code, index in column.codes:
        key = unicodedata.normalize("NFC", code)
        if not key:
            raise ContractError(
                f"Column {column.name!r} maps the empty text, which counts as missing.",
                hint="Say what missing means with `nulls`.",
            )
        if normal.setdefault(key, index) != index:
            raise ContractError(
                f"Column {column.name!r} maps two spellings of one Unicode text apart.",
                hint="Compare the codes in normal form C.",
            )
    return tuple(normal.items())


def code_values(column: Column, *, physical: Physical) -> tuple[tuple[exp.Expr, int], ...]:
    """Return the declared codes as values to compare with a parsed cell.

    Raises:
        ContractError: If :func:`codes` refuses them.
    """
    if physical is not Physical.INTEGER:
        return tuple((string(code), index) for code, index in codes(column))
    whole = [(int(code), index) for code, index in codes(column) if _PLAIN_DIGITS.fullmatch(code)]
    return tuple((num(code), index) for code, index in whole if abs(code) < 2**63)


def person(raw: exp.Expr, *, found: Found, ids: Ids) -> exp.Expr:
    """Return the canonical person id, NULL when the row must be quarantined."""
    if ids is Ids.TEXT:
        return text(raw, physical=found.physical)
    whole = try_cast(raw, BIGINT)
    match found.physical:
        case Physical.TEXT:  # only the plain digits: '1.5' would be rounded to 2
            same = equal(cast(whole, VARCHAR), cast(raw, VARCHAR))
            return case((same, whole), default=NULL)
        case Physical.REAL:
            return case((_integral(raw), whole), default=NULL)
        case Physical.DECIMAL:
            return case((equal(raw, call("floor", raw)), whole), default=NULL)
        case _:
            return whole


def _number(value: exp.Expr, column: Column) -> exp.Expr:
    domain = column.domain()
    lower, upper = num(domain.lower), num(domain.upper)
    point = _point(value, column)
    clip = column.outside is Outside.CLIP
    return cast(
        case(
            (some(missing(value), exp.IsNan(this=value)), _policy(column.nulls)),
            (less(point, lower), lower if clip else NULL),
            (less(upper, point), upper if clip else NULL),
            default=try_cast(point, BIGINT),
        ),
        BIGINT,
    )


def _point(value: exp.Expr, column: Column) -> exp.Expr:
    """Return the nearest grid point; halves go up."""
    scaled = _scaled(value, column.scale)
    floor = call("floor", scaled)
    half = exp.Literal.number("0.5")
    up = case((at_most(half, minus(scaled, floor)), num(1)), default=num(0))
    return plus(floor, up)


def _inside(point: exp.Expr, column: Column) -> exp.Expr:
    domain = column.domain()
    return every(at_most(num(domain.lower), point), at_most(point, num(domain.upper)))


def _days(value: exp.Expr) -> exp.Expr:
    """Return the days since 1970-01-01; NULL for an infinite date."""
    epoch = cast(string("1970-01-01"), DATE)
    return exp.DateDiff(this=value, expression=epoch, unit=exp.var("day"))


def _scaled(value: exp.Expr, scale: Fraction) -> exp.Expr:
    """Return value / scale: one exact-operand multiplication where the inverse is an integer."""
    if scale.denominator != 1:
        value = times(value, cast(num(scale.denominator), DOUBLE))
    if scale.numerator != 1:
        by = cast(num(scale.numerator), DOUBLE)
        value = exp.Paren(this=exp.Div(this=value, expression=by, typed=True))
    return value


def _date(value: exp.Expr, column: Column) -> exp.Expr:
    days = _days(value)
    return cast(
        case(
            (missing(value), _policy(column.nulls)),
            (_inside(days, column), days),  # the days of an infinite date are NULL: not inside
            default=NULL,
        ),
        BIGINT,
    )


def _integral(raw: exp.Expr) -> exp.Expr:
    value = try_cast(raw, DOUBLE)
    small = at_most(call("abs", value), cast(num(LARGEST_VALUE), DOUBLE))  # not NaN, not ±∞
    return every(equal(value, call("floor", value)), small)


def _policy(value: int | None) -> exp.Expr:
    return NULL if value is None else num(value)
