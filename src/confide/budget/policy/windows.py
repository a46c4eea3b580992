"""Windows of time: which planned releases one window of a cap can hold together.

A release happens on some day of its declared period, and nobody knows which.  A window therefore
holds every release whose period it touches.  For rolling windows it is enough to look at those that
start on the last day of some period: moving a window's start up to the next such day loses no
period, and may gain some.

*Privacy:* a release without a period is in every window, so a set is never too small.
"""

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from confide.budget.policy.policy import PlannedRelease, Window
from confide.errors import ContractError

YEAR = 365
"""Days of a rolling window."""

_PERIOD = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(\d{2})(?:-(\d{2}))?))?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySpan:
    """Days from ``first`` to ``last``, both included."""

    first: dt.date
    last: dt.date


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldWindow:
    """One window: its name, and the releases that can fall into it."""

    name: str
    releases: tuple[PlannedRelease, ...]


def span(period: str) -> DaySpan | None:
    """Return the days of a period; None for any time.

    Raises:
        ContractError: If it is not a period.

    Example:
        >>> span("2027-Q1").last, span("2028-02").last, span("2027-01-05/2027-01-31").first
        (datetime.date(2027, 3, 31), datetime.date(2028, 2, 29), datetime.date(2027, 1, 5))
    """
    if not period:
        return None
    try:
        if "/" in period:
            first, last = map(dt.date.fromisoformat, period.split("/"))
            if first <= last:
                return DaySpan(first=first, last=last)
        elif found := _PERIOD.fullmatch(period):
            return _calendar(*found.groups())
    except ValueError:
        pass
    raise ContractError(
        f"Expected a period, got {period[:40]!r}.",
        hint="Write 2027, 2027-Q1, 2027-03, 2027-03-15, or 2027-01-15/2027-02-14.",
    )


def _calendar(year: str, quarter: str | None, month: str | None, day: str | None) -> DaySpan:
    if month and day:
        date = dt.date(int(year), int(month), int(day))
        return DaySpan(first=date, last=date)
    start, end = 1, 12
    if quarter:
        start, end = 3 * int(quarter) - 2, 3 * int(quarter)
    elif month:
        start = end = int(month)
    days = calendar.monthrange(int(year), end)[1]
    return DaySpan(first=dt.date(int(year), start, 1), last=dt.date(int(year), end, days))


def windows(releases: Sequence[PlannedRelease], *, window: Window) -> tuple[HeldWindow, ...]:
    """Return every window that can be the fullest, with what it can hold.

    Example:
        Two counts that are both in 2027 but can be more than 365 days apart from a third:

        >>> planned = [PlannedRelease(id=p, tier="t", period=p) for p in ("2027-01", "2028-06")]
        >>> [held.name for held in windows(planned, window=Window.CALENDAR_YEAR)]
        ['2027', '2028']
    """
    match window:
        case Window.RELEASE:
            return tuple(HeldWindow(name="", releases=(release,)) for release in releases)
        case Window.LIFETIME:
            return (HeldWindow(name="", releases=tuple(releases)),)
        case Window.CALENDAR_YEAR:
            spans = _years(releases)
        case Window.ROLLING:
            spans = _rolling(releases)
        case _:
            assert_never(window)
    if not spans:
        return (HeldWindow(name="", releases=tuple(releases)),)
    return tuple(
        HeldWindow(name=name, releases=tuple(r for r in releases if _touches(r, within)))
        for name, within in spans.items()
    )


def _years(releases: Sequence[PlannedRelease]) -> dict[str, DaySpan]:
    found: set[int] = set()
    for release in releases:
        when = span(release.period)
        if when is not None:
            found |= set(range(when.first.year, when.last.year + 1))
    return {
        str(year): DaySpan(first=dt.date(year, 1, 1), last=dt.date(year, 12, 31))
        for year in sorted(found)
    }


def _rolling(releases: Sequence[PlannedRelease]) -> dict[str, DaySpan]:
    starts = {when.last for release in releases if (when := span(release.period)) is not None}
    length = dt.timedelta(days=YEAR - 1)
    return {
        f"{YEAR} d from {first}": DaySpan(first=first, last=first + length)
        for first in sorted(starts)
    }


def _touches(release: PlannedRelease, window: DaySpan) -> bool:
    when = span(release.period)
    return when is None or (when.first <= window.last and when.last >= window.first)
