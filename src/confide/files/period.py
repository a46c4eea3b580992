"""One run of a study that repeats: the rows of one month, quarter or year.

A period is a calendar part of a date column, by its public label.  It is part of every statistic's
condition and of the study, so that each period has its own plan, its own request key and its own
charge, and the same period again is the same release.

*Privacy:* a patient can have rows in many periods; their charges add up in the ledger.
"""

from typing import Any

from confide.errors import ContractError, UnknownNameError
from confide.files.texts import Section
from confide.plans.plan import Study
from confide.tables.expression import ColumnOf, DatePart, PartOf, ValueOf
from confide.tables.filter import All, Everything, IsIn, Predicate
from confide.tables.relation import domain, resolve
from confide.tables.schema import Dataset


class PeriodSection(Section):
    """By which date a study repeats."""

    column: str
    of: DatePart


def in_period(
    where: Predicate,
    *,
    section: PeriodSection,
    period: str,
    table: str,
    dataset: Dataset,
) -> Predicate:
    """Return a condition, cut to the rows of a period.

    Raises:
        UnknownNameError: If the declared dates have no such period, or the table no such column.
        ContractError: If the column is no date.
    """
    date = resolve(section.column, table=table, dataset=dataset)
    if not isinstance(date, ColumnOf | ValueOf):
        raise ContractError(
            f"The period's column {section.column!r} is not a date.",
            hint="Name a date column, not a bin or part of one.",
        )
    part = PartOf(of=date, part=section.of)
    labels = domain(part, dataset=dataset).keys
    if period not in labels:
        raise UnknownNameError(f"{section.of.value} of {section.column}", period, known=labels)
    cut = IsIn(of=part, values=(labels.index(period),))
    return cut if where == Everything() else All(of=(cut, where))


def named_study(
    fields: dict[str, Any], *, section: PeriodSection | str, period: str | None
) -> Study:
    """Return the study with the name of its period.

    Args:
        fields: What the study says of itself, but its period.
        section: How it repeats; a text names its only period.
        period: Which one is asked for.

    Raises:
        ContractError: If a study that repeats is asked for no period, or another for one.
    """
    match section, period:
        case str(), None:
            return Study(**fields, period=section)
        case PeriodSection(), str():
            return Study(**fields, period=period)
        case PeriodSection(), _:
            raise ContractError(
                f"This study repeats by {section.of.value}; it was not said for which.",
                hint=f"Write --period {_example(section.of)}.",
            )
        case _:
            raise ContractError(
                "This study does not repeat, so no period can be asked for.",
                hint="Write study: {period: {column: visit_date, of: month}}.",
            )


def _example(part: DatePart) -> str:
    return {
        DatePart.YEAR: "2026",
        DatePart.QUARTER: "2026-Q4",
        DatePart.MONTH: "2026-10",
        DatePart.WEEK: "2026-W40",
        DatePart.DAY: "2026-10-01",
    }[part]
