"""Conditions that no row can satisfy, refused before they cost anything.

*Privacy:* whether a condition is possible follows from the declared bounds alone.
*Utility:* a range that is written the wrong way round would be charged and give noise about zero.
"""

from fractions import Fraction
from typing import assert_never

from confide.errors import ContractError
from confide.tables.expression import (
    BinOf,
    CaseOf,
    ColumnOf,
    DaysOf,
    Expression,
    Holds,
    OrMissing,
    PartOf,
    QualityOf,
    TextAmong,
    ValueOf,
)
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.relation import date_of, domain
from confide.tables.schema import Dataset, Domain, Kind


def shown(canonical: int, *, of: Domain) -> str:
    """Return a canonical integer as people write it: a label, a date or a number.

    Example:
        >>> shown(250, of=Domain(kind=Kind.NUMBER, lower=100, upper=700, scale=Fraction(1, 10)))
        '25'
    """
    if of.kind is Kind.DATE:
        return date_of(canonical).isoformat()
    if of.keys and 0 <= canonical < len(of.keys):
        return of.keys[canonical]
    return f"{float(Fraction(canonical) * of.scale):.12g}"


def require_possible(predicate: Predicate, *, dataset: Dataset) -> None:
    """Refuse a predicate with a part that no declared value satisfies.

    Raises:
        ContractError: If a range is empty or outside the bounds, or a list holds no possible value.
    """
    match predicate:
        case Everything():
            return
        case Between(of=of, lower=lower, upper=upper):
            _require_range(of, lower=lower, upper=upper, dataset=dataset)
        case IsIn(of=of, values=values):
            _require_value(of, values=values, dataset=dataset)
        case All(of=parts) | AnyOf(of=parts):
            for part in parts:
                require_possible(part, dataset=dataset)
        case Not(of=part):
            require_possible(part, dataset=dataset)
        case _:
            assert_never(predicate)


def _require_range(
    of: Expression, *, lower: int | None, upper: int | None, dataset: Dataset
) -> None:
    within, name = domain(of, dataset=dataset), _name(of)
    low, high = (None if end is None else _end(end, of=within) for end in (lower, upper))
    if lower is not None and upper is not None and lower > upper:
        raise ContractError(
            f"Condition on {name!r}: no value lies from {low} to {high}.",
            hint="Write the lower end as from, the upper as to; both are included.",
        )
    above = lower is not None and lower > within.upper
    below = upper is not None and upper < within.lower
    if above or below:
        asked = f"from {low}" if above else f"to {high}"
        raise ContractError(
            f"Condition on {name!r}: {asked} lies outside the declared bounds, "
            f"{_end(within.lower, of=within)} to {_end(within.upper, of=within)}.",
            hint="No row can satisfy it; correct the condition, or the bounds in dataset.yaml.",
        )


def _require_value(of: Expression, *, values: tuple[int, ...], dataset: Dataset) -> None:
    within, name = domain(of, dataset=dataset), _name(of)
    if not any(within.lower <= value <= within.upper for value in values):
        asked = ", ".join(_end(value, of=within) for value in values) or "an empty list"
        raise ContractError(
            f"Condition on {name!r}: no declared value is in {asked}.",
            hint="No row can satisfy it; list values within the bounds of dataset.yaml.",
        )


def _end(canonical: int, *, of: Domain) -> str:
    try:
        return shown(canonical, of=of)
    except (ValueError, OverflowError):  # a date beyond the calendar
        return str(canonical)


def _name(expression: Expression) -> str:
    match expression:
        case ColumnOf(column=name) | ValueOf(name=name):
            return name
        case (
            BinOf(of=inner)
            | PartOf(of=inner)
            | TextAmong(of=inner)
            | OrMissing(of=inner)
            | QualityOf(of=inner)
        ):
            return _name(inner)
        case DaysOf(start=start, end=end):
            return f"days from {_name(start)} to {_name(end)}"
        case Holds() | CaseOf():
            return "condition"
        case _:
            assert_never(expression)
