"""The time axis of a series: the calendar parts of a date over a declared range, or public bins.

*Privacy:* the range is declared, so the set of periods says nothing about the data; a period
without rows is published like any other.
"""

from confide.errors import ContractError
from confide.tables.expression import BinOf, ColumnOf, DatePart, Expression, PartOf, ValueOf
from confide.tables.relation import EPOCH, date_of, day_range, domain, part_index, resolve
from confide.tables.schema import Dataset, Kind

CUT_PERIOD = "part of a period"
"""Flag of a first or last period that the declared range cuts."""


def period_axis(
    over: str,
    *,
    every: DatePart | None,
    since: int | None,
    until: int | None,
    table: str,
    dataset: Dataset,
) -> Expression:
    """Return the axis of periods.

    Args:
        over: A date, or a derived column of bins or calendar parts.
        every: Length of a period of a date; days when None.
        since: First day, in days since 1970-01-01; the first declared one when None.
        until: Last day.
        table: Whose rows.
        dataset: Public facts.

    Raises:
        ContractError: If ``over`` has no order, or has its own periods and others are asked for.

    Example:
        Weeks of a declared date: ``over="start", every=DatePart.WEEK``.
    """
    found = resolve(over, table=table, dataset=dataset)
    match found:
        case BinOf() | PartOf() if every is None and since is None and until is None:
            return found
        case BinOf() | PartOf():
            raise ContractError(
                f"{over!r} has its own periods.", hint="Leave out every, from and to."
            )
        case ColumnOf() | ValueOf() if domain(found, dataset=dataset).kind is Kind.DATE:
            axis = PartOf(of=found, part=every or DatePart.DAY, since=since, until=until)
            domain(axis, dataset=dataset)
            return axis
        case _:
            raise ContractError(
                f"{over!r} is not a time.", hint="Name a date, or a derived column of bins."
            )


def completed(axis: Expression, *, through: int, dataset: Dataset) -> int:
    """Return how many periods are over once the day ``through`` is.

    Raises:
        ContractError: If the axis has no days, the day is outside it, or no period is over.
    """
    if not isinstance(axis, PartOf):
        raise ContractError("Only a date has days.", hint="Leave `through` out.")
    first, last = day_range(axis, dataset=dataset)
    if not first <= through <= last:
        raise ContractError(
            f"Expected through within {date_of(first)} to {date_of(last)}, got {date_of(through)}."
        )
    over = part_index(date_of(through + 1), axis.part) - part_index(date_of(first), axis.part)
    if through == last:  # the range ends the last period, whether or not the calendar does
        return domain(axis, dataset=dataset).size()
    if over < 1:
        raise ContractError(
            f"No {axis.part.value} is complete by {date_of(through)}.", hint="Choose a later day."
        )
    return over


def cut_periods(axis: Expression, *, dataset: Dataset) -> frozenset[int]:
    """Return the places of the first and last period where the range cuts them."""
    if not isinstance(axis, PartOf):
        return frozenset()
    first, last = day_range(axis, dataset=dataset)
    cut = set()
    if _index(first - 1, axis.part) == _index(first, axis.part):
        cut.add(0)
    if _index(last + 1, axis.part) == _index(last, axis.part):
        cut.add(_index(last, axis.part) - _index(first, axis.part))
    return frozenset(cut)


def _index(day: int, part: DatePart) -> int:
    year_one = 1 - EPOCH
    return part_index(date_of(max(day, year_one)), part)
