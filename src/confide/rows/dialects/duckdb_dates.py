"""Dates of timestamps and texts: the same instant has the same date, in UTC, however it is stored.

*Privacy:* every cast is total, so no cell can make a query fail.  The time zone of a connection is
UTC and locked (:mod:`confide.rows.cells.hardening`).
"""

from sqlglot import exp

from confide.rows.cells.build import (
    DATE,
    NULL,
    VARCHAR,
    at_most,
    call,
    case,
    cast,
    every,
    less,
    missing,
    string,
    try_cast,
)

_DAY = r"[0-9]{4}(?:-[0-9]{1,2}-[0-9]{1,2}|/[0-9]{1,2}/[0-9]{1,2}| [0-9]{1,2} [0-9]{1,2})"
_TIME = r"[T ]\s*[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]*)?)?"
_OFFSET = r"[+-](?:0[0-9]|1[0-5])(?::?[0-5][0-9](?::?[0-5][0-9])?)?"  # what zones can have
_WORD = r"\s*Z|\s+[A-Za-z][A-Za-z0-9_/+-]*"  # UTC, or a name that is passed over
_WRITTEN = rf"^\s*({_DAY})(?:({_TIME})(?:\s*({_OFFSET})|{_WORD})?)?\s*$"


def date_of_moment(moment: exp.Expr, *, of: exp.DType | None) -> exp.Expr:
    """Return the date of a timestamp; far ones overflow when they are cast or printed.

    Args:
        moment: The timestamp.
        of: Its type, if it may lie beyond the years that a date has.
    """
    if of is None:
        return try_cast(moment, DATE)
    first, end = (cast(string(f"{year}-01-01"), of) for year in ("0001", "10000"))
    return case(
        (missing(moment), NULL),
        (every(at_most(first, moment), less(moment, end)), cast(moment, DATE)),
        default=cast(string("infinity"), DATE),
    )


def date_of_text(text: exp.Expr) -> exp.Expr:
    """Return the date that a text says: of a time with an offset in UTC, else the day as written.

    The engine alone would read more (``epoch``, offsets of days), and pass over an offset, or the
    hour 24, where it casts a text to a date.
    """
    plain = call("regexp_replace", text, string(_WRITTEN), string(r"\1\2\3"))
    moment = try_cast(cast(plain, VARCHAR), exp.DType.TIMESTAMPTZ)
    return case(
        (call("regexp_full_match", text.copy(), string(_WRITTEN)), _in_utc(moment)), default=NULL
    )


def _in_utc(moment: exp.Expr) -> exp.Expr:
    return date_of_moment(moment, of=exp.DType.TIMESTAMPTZ)
