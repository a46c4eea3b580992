"""Cleaning: one cell of the source to a canonical integer or NULL, by explicit CASE.

Every rule looks at one cell, and is told that it may be NaN whatever a file's own statistics say
(:func:`cell_of`).  NULL and NaN come first: LEAST and GREATEST skip NULL, and NaN is
larger than every number, so a plain clip would turn missing values into the *upper* bound.

- number: NULL, NaN and text that is no number follow the null policy; ±∞ and values outside the
  bounds are clipped or dropped as declared; the grid point is ⌊x/scale + ½⌋, multiplied by the
  exact inverse when 1/scale is an integer.  Halves go up: engines disagree about ROUND, not FLOOR.
- category: text in normal form C, compared as a whole; an integral number is its plain digits, so
  8507.0 in a floating-point column is ``8507``.
- decimal: a whole one is its plain digits, exactly.
- date: days since 1970-01-01; a timestamp is cut to its date (with a time zone, or as text with an
  offset: its UTC date); text that is no date follows the null policy; a date outside the bounds is
  dropped.
- text: normal form C.  The empty text is NULL, in every column: CSV cannot tell them apart.
- person id: integers; floating-point and decimal ids only when integral (floats: below 2⁵³ in
  size); text in normal form C.  An id that does not fit is quarantined: its row is dropped.

*Privacy:* all casts are total (TRY_CAST), so no cell can make a query fail.

References:
    [UAX15] Unicode Standard Annex 15: Unicode normalization forms. https://unicode.org/reports/tr15
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import (
    BIGINT,
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
    own,
    plus,
    present,
    some,
    string,
    times,
)
from confide.rows.cells.layout import Found, Ids
from confide.rows.cells.operations import (
    Date,
    DateOfText,
    DaysSinceEpoch,
    Double,
    DoubleOf,
    Floor,
    Matches,
    Normal,
    SourceCell,
    Whole,
    Written,
    operation,
)
from confide.rows.cells.physical import Physical
from confide.tables.normal_codes import normal_codes
from confide.tables.schema import LARGEST_VALUE, Column, Kind, Outside

_PLAIN_DIGITS = re.compile(r"0|-?[1-9][0-9]*")
"""How the engine writes an integer; another spelling equals none."""

MOST_CASES = 32
"""Longer code lists are joined: a CASE is tried code by code."""


def cell_of(found: Found) -> exp.Expr:
    """Return a cell of the source, such that nothing done with it later can fail."""
    return operation(SourceCell, own(found.name, "s"), found=found)


def parsed(raw: exp.Expr, *, column: Column, physical: Physical) -> exp.Expr:
    """Return a cell as a double in steps of its grid, a date or text, by its column's kind."""
    match column.kind:
        case Kind.NUMBER:
            return in_steps(operation(DoubleOf, raw, physical=physical), column.scale)
        case Kind.DATE:
            return operation(DateOfText if physical is Physical.TEXT else Date, raw)
        case Kind.CATEGORY if physical is Physical.INTEGER:
            return raw  # compared as the integer that its plain digits are
        case Kind.CATEGORY | Kind.TEXT:
            return text(raw, of=Found(name="", physical=physical))


def in_steps(value: exp.Expr, scale: Fraction) -> exp.Expr:
    """Return value / scale: one exact-operand multiplication where the inverse is an integer."""
    if scale.denominator != 1:
        value = times(value, cast(num(scale.denominator), DOUBLE))
    if scale.numerator != 1:
        by = cast(num(scale.numerator), DOUBLE)
        value = exp.Paren(this=exp.Div(this=value, expression=by, typed=True))
    return value


def text(raw: exp.Expr, *, of: Found) -> exp.Expr:
    """Return a cell of a column as text; NULL when empty."""
    as_text = operation(Written, raw, physical=of.physical, type_name=of.type_name)
    match of.physical:
        case Physical.TEXT:
            return exp.Nullif(this=operation(Normal, as_text), expression=string(""))
        case Physical.REAL | Physical.ROUNDED:
            digits = cast(operation(Whole, raw, physical=of.physical), VARCHAR)
            return case(
                (exp.IsNan(this=operation(Double, raw)), NULL),
                (_integral(raw), digits),
                default=as_text,
            )
        case Physical.DECIMAL:
            whole, digits = _whole_digits(raw, of=of)
            return case((whole, digits), default=as_text)
        case _:
            return as_text


def nearest(steps: exp.Expr, *, floor: exp.Expr) -> exp.Expr:
    """Return ⌊steps + ½⌋ from ⌊steps⌋; the sum itself could round."""
    below = less(minus(steps, floor), exp.Literal.number("0.5"))
    return case((below, floor), default=plus(floor, num(1)))


def canonical_number(steps: exp.Expr, *, point: exp.Expr, column: Column) -> exp.Expr:
    """Return the canonical integer of a number from its grid point; NaN and NULL come first."""
    domain = column.domain()
    lower, upper = num(domain.lower), num(domain.upper)
    clip = column.outside is Outside.CLIP
    unknown = some(missing(steps), exp.IsNan(this=steps))
    if column.nulls is None:
        unknown = exp.IsNan(this=steps)  # NULL stays NULL in every other branch
    return cast(
        case(
            (unknown, _policy(column.nulls)),
            (less(point, lower), lower if clip else NULL),
            (less(upper, point), upper if clip else NULL),
            default=operation(Whole, point, physical=Physical.REAL),
        ),
        BIGINT,
    )


def canonical(value: exp.Expr, *, column: Column, physical: Physical) -> exp.Expr:
    """Return the canonical integer of a parsed date or category with few codes, or the text.

    Raises:
        ContractError: If the column is a number, which :func:`canonical_number` reads.
    """
    match column.kind:
        case Kind.NUMBER:
            raise ContractError("Numbers have a grid.")
        case Kind.DATE:
            return _date(value, column)
        case Kind.CATEGORY:
            if physical is Physical.INTEGER:
                known = [run.branch(value) for run in runs(column)]
            else:
                known = [(equal(value, string(code)), num(index)) for code, index in codes(column)]
            absent = (missing(value), _policy(column.nulls))
            return cast(case(absent, *known, default=_policy(column.other)), BIGINT)
        case Kind.TEXT:
            return value


def quality(blank: exp.Expr, *, value: exp.Expr, column: Column, physical: Physical) -> exp.Expr:
    """Return whether a cell, parsed to ``value``, is ok (0), missing (1) or neither (2)."""
    absent = blank
    match column.kind:
        case Kind.NUMBER:
            absent = some(absent, exp.IsNan(this=value))
            within = _inside(nearest(value, floor=operation(Floor, value)), column)
        case Kind.DATE:
            within = _inside(_days(value), column)
        case Kind.CATEGORY:
            within = known_code(value, column=column, physical=physical)
        case Kind.TEXT:
            within = exp.true()
    return case((absent, num(1)), (within, num(0)), default=num(2))


def known_code(value: exp.Expr, *, column: Column, physical: Physical) -> exp.Expr:
    """Return whether a parsed category is a declared code; NULL, or false, where it is missing."""
    if physical is Physical.INTEGER:
        return some(*(run.branch(value)[0] for run in runs(column)))
    known = [string(code) for code, _ in codes(column)]
    if len(known) > MOST_CASES:
        return exp.In(this=value, expressions=known)
    return some(*(equal(value, each) for each in known))


def looked_up(value: exp.Expr, *, index: exp.Expr, column: Column) -> exp.Expr:
    """Return the canonical integer of a category whose code list was joined."""
    absent = (missing(value), _policy(column.nulls))
    return cast(case(absent, (present(index), index), default=_policy(column.other)), BIGINT)


def codes(column: Column) -> tuple[tuple[str, int], ...]:
    """Return the declared codes in normal form C."""
    return tuple(normal_codes(column.codes, column=column.name).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Neighbouring integers that are codes of neighbouring canonical integers.

    Attributes:
        first: Least code.
        last: Greatest code.
        index: Canonical integer of the first.
    """

    first: int
    last: int
    index: int

    def branch(self, value: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
        """Return whether a value is one of the codes, and its canonical integer."""
        if self.first == self.last:
            return equal(value, num(self.first)), num(self.index)
        inside = every(at_most(num(self.first), value), at_most(value, num(self.last)))
        return inside, plus(cast(value, BIGINT), num(self.index - self.first))


def runs(column: Column) -> tuple[Run, ...]:
    """Return the declared codes of an integer column: those that are plain digits, in runs."""
    whole = sorted(
        (int(code), index) for code, index in codes(column) if _PLAIN_DIGITS.fullmatch(code)
    )
    found: list[Run] = []
    for code, index in whole:
        if abs(code) >= 2**63:
            continue
        if found:
            open_ = found[-1]
            if code == open_.last + 1 and index == open_.index + code - open_.first:
                found[-1] = Run(first=open_.first, last=code, index=open_.index)
                continue
        found.append(Run(first=code, last=code, index=index))
    return tuple(found)


def listed(column: Column, *, physical: Physical) -> tuple[tuple[exp.Expr, int], ...]:
    """Return the codes to be joined, as values to compare with a parsed cell; none if few."""
    if physical is not Physical.INTEGER:
        pairs = tuple((string(code), index) for code, index in codes(column))
        return pairs if len(pairs) > MOST_CASES else ()
    found = runs(column)
    if len(found) <= MOST_CASES:
        return ()
    return tuple(
        (num(run.first + i), run.index + i)
        for run in found
        for i in range(run.last - run.first + 1)
    )


def person(raw: exp.Expr, *, found: Found, ids: Ids) -> exp.Expr:
    """Return the canonical person id, NULL when the row must be quarantined."""
    if ids is Ids.TEXT:
        return _text_id(raw, found=found)
    whole = operation(Whole, raw, physical=found.physical)
    match found.physical:
        case Physical.TEXT:  # only the plain digits: '1.5' would be rounded to 2
            same = equal(cast(whole, VARCHAR), cast(raw, VARCHAR))
            return case((same, whole), default=NULL)
        case Physical.REAL:
            return case((_integral(raw), whole), default=NULL)
        case Physical.DECIMAL:
            integral, digits = _whole_digits(raw, of=found)
            return case((integral, operation(Whole, digits, physical=Physical.TEXT)), default=NULL)
        case _:
            return whole


def _text_id(raw: exp.Expr, *, found: Found) -> exp.Expr:
    """Return an id as text, unless two persons could have it.

    That is where broken bytes became one sign, and where a number was rounded: from 2⁵³ on two long
    ids are one floating-point number, 2⁵³ itself too.
    """
    identity = text(raw, of=found)
    match found.physical:
        case Physical.TEXT if found.broken:
            return case((call("contains", raw, string(found.broken)), NULL), default=identity)
        case Physical.REAL:
            return case((_integral(raw), identity), default=NULL)
        case Physical.DECIMAL:
            whole, _ = _whole_digits(raw, of=found)
            return case((whole, identity), default=NULL)
        case _:
            return identity


def _inside(point: exp.Expr, column: Column) -> exp.Expr:
    domain = column.domain()
    return every(at_most(num(domain.lower), point), at_most(point, num(domain.upper)))


def _days(value: exp.Expr) -> exp.Expr:
    """Return the days since 1970-01-01; NULL for an infinite date."""
    return operation(DaysSinceEpoch, value)


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
    """Return whether a floating-point number is whole, and no other whole number is written so."""
    value = operation(Double, raw)
    small = less(call("abs", value), cast(num(LARGEST_VALUE), DOUBLE))  # not NaN, not ±∞
    return every(equal(value, operation(Floor, value)), small)


def _whole_digits(raw: exp.Expr, *, of: Found) -> tuple[exp.Expr, exp.Expr]:
    """Return whether a decimal is a whole number, and its digits if it is.

    By its text: rounding the widest decimals overflows.
    """
    written = operation(Written, raw, physical=of.physical, type_name=of.type_name)
    whole = operation(Matches, written, pattern=r"-?[0-9]*(\.0*)?")
    before = exp.Nullif(
        this=call("split_part", written, string("."), num(1)), expression=string("")
    )
    return whole, call("coalesce", before, string("0"))


def _policy(value: int | None) -> exp.Expr:
    return NULL if value is None else num(value)
