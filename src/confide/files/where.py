"""Conditions in files: ``where: {diabetes: [yes], age: {from: 20, to: 80}, not: {sex: [male]}}``.

A mapping holds when every line holds: a list of labels, a range with both ends included, ``known``,
or ``any``, ``all`` and ``not`` of further mappings.  Ranges are in physical units or dates.

*Utility:* values lie on the grid of their column, so a number between two grid points is refused:
moved to one of them, it would ask something else, and be charged.
"""

from collections.abc import Mapping
from typing import Any

from confide.errors import ContractError, UnknownNameError
from confide.files.texts import _date
from confide.statistics.section import exact
from confide.tables.conditions.conditions import require_possible
from confide.tables.expression import Expression
from confide.tables.filter import All, AnyOf, Between, Everything, IsIn, Not, Predicate
from confide.tables.grid import on_grid
from confide.tables.relation import EPOCH, domain, resolve
from confide.tables.schema import Dataset, Domain, Kind


def read_where(value: object, *, table: str, dataset: Dataset) -> Predicate:
    """Return the predicate that a mapping writes.

    Raises:
        ContractError: If a name, label, number or date does not fit.
    """
    if not isinstance(value, Mapping):
        raise ContractError(
            "A condition is a mapping.", hint="Write where: {diabetes: [yes], age: {from: 20}}."
        )
    parts = [
        _line(str(name), content, table=table, dataset=dataset) for name, content in value.items()
    ]
    if not parts:
        return Everything()
    return parts[0] if len(parts) == 1 else All(of=tuple(parts))


def _line(name: str, content: Any, *, table: str, dataset: Dataset) -> Predicate:
    match name:
        case "any" | "all":
            if not isinstance(content, list) or not content:
                raise ContractError(f"`{name}` needs a list of conditions.")
            parts = tuple(read_where(part, table=table, dataset=dataset) for part in content)
            return AnyOf(of=parts) if name == "any" else All(of=parts)
        case "not":
            return Not(of=read_where(content, table=table, dataset=dataset))
        case _:
            of = resolve(name, table=table, dataset=dataset)
            found = _condition(name, content, of=of, domain_of=domain(of, dataset=dataset))
            require_possible(found, dataset=dataset)
            return found


def _condition(name: str, content: Any, *, of: Expression, domain_of: Domain) -> Predicate:
    match content:
        case list():
            return IsIn(of=of, values=tuple(_value(name, item, domain_of) for item in content))
        case {"from": low, "to": high, **rest} if not rest:
            return _range(name, of, domain_of, low=low, high=high)
        case {"from": low, **rest} if not rest:
            return _range(name, of, domain_of, low=low, high=None)
        case {"to": high, **rest} if not rest:
            return _range(name, of, domain_of, low=None, high=high)
        case "known":
            return Between(of=of)
        case str() | int():
            return IsIn(of=of, values=(_value(name, content, domain_of),))
        case _:
            raise ContractError(
                f"The condition on {name!r} cannot be read.",
                hint="Write a list of labels, {from: ..., to: ...}, or known.",
            )


def _range(name: str, of: Expression, domain_of: Domain, *, low: object, high: object) -> Predicate:
    if domain_of.kind is Kind.CATEGORY:
        raise ContractError(
            f"{name!r} has labels, not a range.", hint=f"Write {name}: [label, label]."
        )
    lower = None if low is None else canonical(name, low, domain_of)
    upper = None if high is None else canonical(name, high, domain_of)
    return Between(of=of, lower=lower, upper=upper)


def canonical(name: str, value: object, domain_of: Domain) -> int:
    """Return a physical number or date in canonical units.

    Raises:
        ContractError: If it is not a number or date, or lies between two steps of the grid.
    """
    try:
        if domain_of.kind is Kind.DATE:
            return _date(value).toordinal() - EPOCH
        physical = exact(value)
    except ValueError as error:
        raise ContractError(f"{name}: {error}.") from None
    return on_grid(physical, of=domain_of, name=name)


def _value(name: str, value: object, domain_of: Domain) -> int:
    if domain_of.kind is Kind.CATEGORY:
        if str(value) not in domain_of.keys:
            raise UnknownNameError(f"label of {name}", str(value), known=domain_of.keys)
        return domain_of.keys.index(str(value))
    return canonical(name, value, domain_of)
