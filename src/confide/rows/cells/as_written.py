"""Numbers and dates of a CSV dialect, cell by cell, in the spelling that every other source has.

A cell that is not written as declared is NULL: under a decimal comma ``6.5`` is none, because
``1.234`` would be two numbers.  Groups of thousands are of three digits.  After a date a time may
stand, as everywhere.

*Privacy:* functions of one cell; every cast is total, so no cell makes a query fail.
"""

import re

from sqlglot import exp

from confide.rows.cells.build import (
    DATE,
    INT,
    NULL,
    VARCHAR,
    call,
    case,
    cast,
    negated,
    plus,
    string,
    try_cast,
)
from confide.tables.dialect import SERIAL, Dialect, Thousands, date_parts

_BEFORE, _AFTER = r"^\s*", r"((?:[T ].*)?)$"
_DIGITS = {"YYYY": "([0-9]{4})", "MM": "([0-9]{1,2})", "DD": "([0-9]{1,2})"}
_MONTHS = (
    "jan", "feb", "mar|mär|mrz", "apr", "may|mai", "jun", "jul", "aug", "sep", "oct|okt", "nov",
    "dec|dez",
)  # fmt: skip
_DAY_ZERO = "1899-12-30"
_SPACES = "[ \u00a0\u202f\u2009]"
_APOSTROPHES = "['\u2019]"


def plain_number(text: exp.Expr, *, dialect: Dialect) -> exp.Expr:
    """Return the text of a number with a point and without groups; NULL if it is none."""
    groups = {Thousands.SPACE: _SPACES, Thousands.APOSTROPHE: _APOSTROPHES}.get(
        dialect.thousands, re.escape(dialect.thousands.value)
    )
    point = re.escape(dialect.decimal)
    bare = text
    branches: list[tuple[exp.Expr, exp.Expr]] = []
    if dialect.thousands is not Thousands.NONE:
        grouped = rf"^\s*[+-]?[0-9]{{1,3}}(?:{groups}[0-9]{{3}})+(?:{point}[0-9]*)?\s*$"
        joined = _made("regexp_replace", text, groups, "", "g")
        branches.append((_matches(text, grouped), _with_point(joined, dialect=dialect)))
        inside = negated(_made("regexp_matches", exp.Trim(this=text), groups))
        bare = case((inside, text), default=NULL)
    if dialect.decimal != "." and dialect.thousands is not Thousands.POINT:
        bare = case((call("contains", text, string(".")), NULL), default=bare)
    bare = _with_point(bare, dialect=dialect)
    return case(*branches, default=bare) if branches else bare


def plain_date(text: exp.Expr, *, dialect: Dialect) -> exp.Expr:
    """Return the text of a date as YYYY-MM-DD with the time after it; NULL if it is none."""
    return case(*(each for form in dialect.dates for each in _dates(text, form)), default=NULL)


def _dates(text: exp.Expr, form: str) -> list[tuple[exp.Expr, exp.Expr]]:
    parts = date_parts(form)
    if parts == (SERIAL,):
        return [(_matches(text, r"^\s*[0-9]{1,6}(?:[.,][0-9]*)?\s*$"), _of_serial(text))]
    named = [part for part in parts if part in (*_DIGITS, "MON")]
    year, day = (rf"\{named.index(part) + 1}" for part in ("YYYY", "DD"))
    if "MM" in named:
        return [_dated(text, parts=parts, month="", to=rf"{year}-\{named.index('MM') + 1}-{day}")]
    return [
        _dated(text, parts=parts, month=month, to=rf"{year}-{number:02}-{day}")
        for number, month in enumerate(_MONTHS, start=1)
    ]


def _dated(
    text: exp.Expr, *, parts: tuple[str, ...], month: str, to: str
) -> tuple[exp.Expr, exp.Expr]:
    """Return whether a text has a form, and the date that it then is."""
    signs = {**_DIGITS, "MON": rf"((?i:{month})[a-zA-ZäÄ]*\.?)"}
    written = "".join(signs.get(part) or re.escape(part) for part in parts)
    pattern = f"{_BEFORE}{written}{_AFTER}"
    return _matches(text, pattern), _made("regexp_replace", text, pattern, to + r"\4")


def _of_serial(text: exp.Expr) -> exp.Expr:
    """Return the date of a spreadsheet's day number; its time of day is passed over."""
    days = try_cast(_made("regexp_extract", text, "[0-9]+"), INT)
    return cast(plus(cast(string(_DAY_ZERO), DATE), days), VARCHAR)


def _matches(text: exp.Expr, pattern: str) -> exp.Expr:
    return call("regexp_full_match", text, string(pattern))


def _with_point(text: exp.Expr, *, dialect: Dialect) -> exp.Expr:
    if dialect.decimal == ".":
        return text
    return _made("replace", text, dialect.decimal, ".")


def _made(function: str, text: exp.Expr, *given: str) -> exp.Expr:
    """Return a function of the engine of a text, with constants as it takes them."""
    return exp.Anonymous(this=function, expressions=[text, *map(string, given)])
