"""Dates of timestamps and texts: the same instant has the same date, in UTC, however it is stored.

*Privacy:* every cast is total, so no cell can make a query fail.  The time zone of a connection is
UTC and locked (:mod:`confide.rows.hardening`).
"""

from sqlglot import exp

from confide.rows.build import (
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
    some,
    string,
    try_cast,
)

_BEFORE_OFFSET = r"\s+([+-][0-9:]+)\s*$"


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

    The engine's cast of a text to a date reads the day and passes over the offset.
    """
    written = try_cast(text, DATE)
    offset = some(
        *(exp.Like(this=text.copy(), expression=string(shape)) for shape in ("%:%+%", "%:%-%"))
    )
    close = call("regexp_replace", text, string(_BEFORE_OFFSET), string(r"\1"))
    moment = try_cast(cast(close, VARCHAR), exp.DType.TIMESTAMPTZ)
    in_utc = date_of_moment(moment, of=exp.DType.TIMESTAMPTZ)
    return case((offset, exp.Coalesce(this=in_utc, expressions=[written.copy()])), default=written)
