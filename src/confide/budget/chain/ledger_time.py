"""Ledger time: when a charge was made, and to which calendar year it belongs.

Time never runs backwards in a ledger: a row is dated max(now, the row before it).  The one way in
which a clock could give budget back is by starting a new calendar year, so a year that has a cap
starts only when the clock shows it *and* an officer has said so (``open_year``).  Until then
nothing is granted, and the clock's reading is not recorded, so a wrong one leaves no mark.  Why not
freeze on any jump: a ledger that was idle for a week looks the same.

Where no year has a cap, years begin by the clock alone; when a first one is set, they all count
with the year that is open, unless somebody vouched for one (``open_year``).

*Privacy:* no reading of the clock, forwards or backwards, raises what remains of any cap.  Rows
that are written once rows of patients may have been read tell their day alone: how long reading
takes depends on the patients, and the chain is handed out.
"""

from datetime import UTC, datetime
from typing import Protocol

from confide.errors import InvalidParameterError, PolicyError


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the time, with its time zone."""


class SystemClock:
    """The clock of this computer."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)


def utc_now(clock: Clock) -> datetime:
    """Return the clock's time in UTC; a time without a zone is refused."""
    now = clock.now()
    if now.tzinfo is None:
        raise InvalidParameterError("Expected a clock with a time zone, got a naive time.")
    return now.astimezone(UTC)


def ledger_time(now: datetime, *, last: str, by_day: bool = False) -> str:
    """Return the time of the next row: RFC 3339 of fixed width, so that text order is time order.

    Args:
        now: What the clock shows.
        last: Time of the row before.
        by_day: Whether the row may tell its day alone: then the row before dates it, or midnight.

    Example:
        A clock that was set back a day:

        >>> ledger_time(datetime(2027, 3, 1, tzinfo=UTC), last="2027-03-02T00:00:00.000000Z")
        '2027-03-02T00:00:00.000000Z'
    """
    form = "%Y-%m-%dT00:00:00.000000Z" if by_day else "%Y-%m-%dT%H:%M:%S.%fZ"
    return max(now.strftime(form), last)


def end_of_day(time: str) -> str:
    """Return the latest that the clock may have shown when a row tells its day alone.

    Example:
        >>> end_of_day("2027-03-01T00:00:00.000000Z")
        '2027-03-01T23:59:59.999999Z'
    """
    return f"{time[:10]}T23:59:59.999999Z"


def charged_year(now: datetime, *, open_year: int, capped: bool) -> int:
    """Return the calendar year that a charge made now belongs to.

    Example:
        >>> charged_year(datetime(2027, 3, 1, tzinfo=UTC), open_year=2027, capped=True)
        2027

    Raises:
        PolicyError: If the clock shows a year that was not opened, and years are capped.
    """
    if now.year <= open_year:
        return open_year
    if capped:
        raise PolicyError(
            f"The clock shows {now.year}, but the budget of {open_year} is the one that is open.",
            hint=f"If the clock is right, run: confide ledger open-year {now.year} --reason ...; "
            "with --officer KEY where the policy names people.",
        )
    return now.year
