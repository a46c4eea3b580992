"""What the clock showed at each row, as far as it can still end an approval.

Ledger time never runs backwards, so one row written under a clock that was put forward holds it in
the future, and nothing would grow old any more.  A row therefore also says what the clock really
showed, where that is less, and an approval is old once *any* row since, or the clock now, has shown
more than its days; or if it was given later than the clock shows now.  A wrong clock can end an
approval early, which costs a signature; it cannot keep one alive past a row that was dated right.
A row that tells its day alone, as it may follow reading, counts as the end of that day.

*Privacy:* dates of the chain alone.
"""

import datetime as dt
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from confide.errors import LedgerFrozenError

SKEW = dt.timedelta(hours=1)
"""By how much the clocks of two hosts may differ."""


@dataclass(slots=True)
class Readings:
    """The latest that the clock showed since each row; one entry unless it was put back.

    Attributes:
        peaks: Rows whose reading no later row has reached, oldest first, with it.
        lapsed: Row by which an officer last went on though rows are lost, or may be; 0 before.
            Such rows may have used every approval that was given before.
    """

    peaks: list[tuple[int, str]] = field(default_factory=list)
    lapsed: int = 0

    def add(self, number: int, reading: str) -> None:
        """Take in the next row."""
        while self.peaks and self.peaks[-1][1] <= reading:
            self.peaks.pop()
        self.peaks.append((number, reading))

    def latest_since(self, number: int) -> str:
        """Return the latest reading of a row and those after it; "" if there are none.

        Example:
            >>> shown = Readings()
            >>> for row, day in enumerate(["2027-06-01", "2099-01-01", "2027-06-02"], 1):
            ...     shown.add(row, day)
            >>> shown.latest_since(1), shown.latest_since(3)
            ('2099-01-01', '2027-06-02')
        """
        place = bisect_left(self.peaks, (number, ""))
        return self.peaks[place][1] if place < len(self.peaks) else ""


class Moment(NamedTuple):  # one for each row; made in a fifth of a dataclass's time
    """When something is decided.

    Attributes:
        at: Ledger time.
        reading: What the clock shows.
        readings: What it showed before.
    """

    at: str
    reading: str
    readings: Readings

    def is_past(self, *, number: int, given: str, days: int) -> bool:
        """Return whether what row ``number`` said, when the clock showed ``given``, is over."""
        latest = max(self.reading, self.readings.latest_since(number))
        start, now = dt.datetime.fromisoformat(given), dt.datetime.fromisoformat(self.reading)
        over = dt.datetime.fromisoformat(latest) - start > dt.timedelta(days=days)
        return over or start - now > SKEW


def moment_of(fields: Mapping[str, Any], *, last: str, readings: Readings) -> Moment:
    """Return when a row was written.

    Args:
        fields: Of the row.
        last: Ledger time of the row before it.
        readings: Of the rows before it.

    Raises:
        LedgerFrozenError: If it is older than the row before, or than the clock showed.
    """
    at, number = fields["at"], fields["number"]
    if at < last:
        raise LedgerFrozenError(f"Row {number} of the ledger is older than the one before.")
    reading = fields.get("clock", at)
    if reading > at:
        raise LedgerFrozenError(f"Row {number} of the ledger is dated before its clock.")
    return Moment(at, reading, readings)
