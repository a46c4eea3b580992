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

import unicodedata
from fractions import Fraction

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.layout import Found, Ids, Physical
from confide.tables.schema import LARGEST_VALUE, Column, Kind, Outside

MOST_CASES = 32
"""Longer code lists are joined: a CASE is tried code by code."""

_ABSENT = exp.null()


def integer(value: int) -> exp.Expr:
    """Return an integer literal."""
    literal = exp.Literal.number(abs(value))
    return exp.paren(exp.Neg(this=literal)) if value < 0 else literal


def parsed(raw: exp.Expr, *, column: Column, physical: Physical) -> exp.Expr:
    """Return a cell read as a double, a date or text, by the declared kind of its column."""
    match column.kind:
        case Kind.NUMBER:
            return exp.TryCast(this=raw, to=exp.DataType.build("double"))
        case Kind.DATE:
            return exp.TryCast(this=raw, to=exp.DataType.build("date"))
        case Kind.CATEGORY | Kind.TEXT:
            return text(raw, physical=physical)


def text(raw: exp.Expr, *, physical: Physical) -> exp.Expr:
    """Return a cell as text; NULL when empty."""
    as_text = exp.cast(raw, "varchar")
    match physical:
        case Physical.TEXT:
            return exp.Nullif(
                this=exp.func("nfc_normalize", as_text), expression=exp.Literal.string("")
            )
        case Physical.REAL | Physical.DECIMAL:
            whole = exp.TryCast(this=raw.copy(), to=exp.DataType.build("bigint"))
            return (
                exp.Case()
                .when(exp.IsNan(this=_double(raw)), _ABSENT)
                .when(_integral(raw), exp.cast(whole, "varchar"))
                .else_(as_text)
            )
        case _:
            return as_text


def canonical(value: exp.Expr, *, column: Column) -> exp.Expr:
    """Return the canonical integer of a parsed number, date or category with few codes."""
    match column.kind:
        case Kind.NUMBER:
            return _number(value, column)
        case Kind.DATE:
            return _date(value, column)
        case Kind.CATEGORY:
            case = exp.Case().when(value.is_(exp.null()), _policy(column.nulls))
            for code, index in codes(column):
                case = case.when(value.eq(exp.Literal.string(code)), integer(index))
            return _big(case.else_(_policy(column.other)))
        case Kind.TEXT:
            return value


def looked_up(value: exp.Expr, *, index: exp.Expr, column: Column) -> exp.Expr:
    """Return the canonical integer of a category whose code list was joined."""
    case = exp.Case().when(value.is_(exp.null()), _policy(column.nulls))
    case = case.when(index.is_(exp.null()).not_(), index.copy())
    return _big(case.else_(_policy(column.other)))


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


def person(raw: exp.Expr, *, found: Found, ids: Ids) -> exp.Expr:
    """Return the canonical person id, NULL when the row must be quarantined."""
    if ids is Ids.TEXT:
        return text(raw, physical=found.physical)
    whole: exp.Expr = exp.TryCast(this=raw, to=exp.DataType.build("bigint"))
    match found.physical:
        case Physical.TEXT:  # only the plain digits: '1.5' would be rounded to 2
            same = exp.cast(whole, "varchar").eq(exp.cast(raw.copy(), "varchar"))
            return exp.Case().when(same, whole.copy())
        case Physical.REAL:
            return exp.Case().when(_integral(raw), whole)
        case Physical.DECIMAL:
            return exp.Case().when(raw.eq(exp.func("floor", raw.copy())), whole)
        case _:
            return whole


def _number(value: exp.Expr, column: Column) -> exp.Expr:
    domain = column.domain()
    scaled = exp.paren(_scaled(value, column.scale))
    floor = exp.func("floor", scaled)
    up = exp.Case().when(scaled - floor >= 0.5, integer(1)).else_(integer(0))
    point = exp.paren(floor.copy() + up)
    clip = column.outside is Outside.CLIP
    return _big(
        exp.Case()
        .when(value.is_(exp.null()).or_(exp.IsNan(this=value.copy())), _policy(column.nulls))
        .when(point < integer(domain.lower), integer(domain.lower) if clip else _ABSENT)
        .when(point > integer(domain.upper), integer(domain.upper) if clip else _ABSENT)
        .else_(exp.TryCast(this=point, to=exp.DataType.build("bigint")))
    )


def _scaled(value: exp.Expr, scale: Fraction) -> exp.Expr:
    """Return value / scale: one exact-operand multiplication where the inverse is an integer."""
    scaled = value.copy()
    if scale.denominator != 1:
        scaled = scaled * _float(scale.denominator)
    if scale.numerator != 1:
        scaled = exp.Div(this=scaled, expression=_float(scale.numerator), typed=True)
    return scaled


def _date(value: exp.Expr, column: Column) -> exp.Expr:
    domain = column.domain()
    epoch = exp.cast(exp.Literal.string("1970-01-01"), "date")
    days = exp.DateDiff(this=value, expression=epoch, unit=exp.var("day"))
    inside = exp.Between(this=days, low=integer(domain.lower), high=integer(domain.upper))
    return _big(
        exp.Case()
        .when(value.is_(exp.null()), _policy(column.nulls))
        .when(inside, days.copy())  # the days of an infinite date are NULL: not inside
        .else_(_ABSENT)
    )


def _integral(raw: exp.Expr) -> exp.Expr:
    number = _double(raw)
    small = exp.func("abs", number) <= _float(LARGEST_VALUE)  # false for NaN and ±∞
    return exp.and_(number.eq(exp.func("floor", number.copy())), small)


def _double(raw: exp.Expr) -> exp.Expr:
    return exp.TryCast(this=raw.copy(), to=exp.DataType.build("double"))


def _float(value: int) -> exp.Expr:
    return exp.cast(integer(value), "double")


def _policy(value: int | None) -> exp.Expr:
    return _ABSENT if value is None else integer(value)


def _big(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, "bigint")
