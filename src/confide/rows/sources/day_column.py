"""A column of days between two public ones, as every common data model declares its dates.

*Privacy:* declared, from public facts; no data are looked at.
"""

import datetime as dt

from confide.tables.relation import EPOCH
from confide.tables.schema import Column, Kind


def day_column(
    name: str,
    source: str,
    *,
    since: dt.date,
    until: dt.date,
    because: str = "The public window of the data set.",
) -> Column:
    """Return a date between two public days.

    Args:
        name: Of the column.
        source: Where the data have it.
        since: First day.
        until: Last day, such as that of the snapshot.
        because: Why these days are public.

    Example:
        >>> days = {"since": dt.date(1970, 1, 2), "until": dt.date(1970, 1, 9)}
        >>> column = day_column("start", "visit_start_date", **days)
        >>> column.lower, column.upper
        (1, 8)
    """
    return Column(
        name=name,
        kind=Kind.DATE,
        source=source,
        lower=since.toordinal() - EPOCH,
        upper=until.toordinal() - EPOCH,
        because=because,
    )
