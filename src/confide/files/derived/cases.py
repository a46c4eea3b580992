"""Cases of dataset.yaml: categories merged, bands named, conditions on several columns as labels.

A case is tried after those that stand above it.  Under none of them a row is ``else``, where all
columns that are asked are known, and ``missing`` where one of them is not: to who was never asked
nobody gives the label of the others unless it is written.

*Privacy:* a function of one row and of what is declared.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from confide.errors import ContractError
from confide.files.where import read_where
from confide.tables.expression import CaseOf
from confide.tables.filter import All, Between, Everything, Not, Predicate, expressions
from confide.tables.schema import Dataset

_DROP = "drop"


class _Written(Protocol):
    """What a derived column writes of its cases."""

    @property
    def of(self) -> str | None: ...

    @property
    def case(self) -> Mapping[str, Mapping[str, Any]] | None: ...

    @property
    def else_(self) -> str: ...

    @property
    def missing(self) -> str: ...


def read_cases(name: str, section: _Written, *, dataset: Dataset) -> CaseOf:
    """Return the cases of a derived column.

    Args:
        name: Of the column, for messages.
        section: As written.
        dataset: Public facts.

    Raises:
        ContractError: If it is not said of which table, or a case is of cases itself.
    """
    table = _table(name, section, dataset=dataset)
    written = section.case or {}
    cases: list[tuple[str, Predicate]] = []
    for label, where in written.items():
        if label == _DROP:
            raise ContractError(
                f"Derived {name!r}: {_DROP!r} is no label.",
                hint="Rows of no case are left out unless `else` names a label.",
            )
        when = read_where(where, table=table, dataset=dataset)
        if when == Everything():
            raise ContractError(
                f"Derived {name!r}: {label!r} has no condition.",
                hint="For all others write else: LABEL, and missing: LABEL.",
            )
        if any(isinstance(each, CaseOf) for each in expressions(when)):
            raise ContractError(
                f"Derived {name!r}: the case {label!r} asks for a column of cases.",
                hint="Write its conditions out.",
            )
        cases.append((label, when))
    if not cases:
        raise ContractError(
            f"Derived {name!r} has no case.", hint="Write case: {old: {age: {from: 65}}}."
        )
    cases += _others(section, cases=[when for _, when in cases])
    keys = tuple(dict.fromkeys(label for label, _ in cases))
    return CaseOf(keys=keys, cases=tuple((when, keys.index(label)) for label, when in cases))


def _others(section: _Written, *, cases: list[Predicate]) -> list[tuple[str, Predicate]]:
    """Return the cases of rows that are in no other one: all is known, or something is not."""
    read = dict.fromkeys(each for when in cases for each in expressions(when))
    known = All(of=tuple(Between(of=each) for each in read))
    others: list[tuple[str, Predicate]] = []
    if section.else_ != _DROP:
        others.append((section.else_, known))
    if section.missing != _DROP:
        lacking: Predicate = Everything() if others else Not(of=known)
        others.append((section.missing, lacking))
    return others


def _table(name: str, section: _Written, *, dataset: Dataset) -> str:
    if section.of is not None:
        return dataset.table(section.of).name
    if len(dataset.tables) > 1:
        raise ContractError(
            f"Derived {name!r} does not say of which table its cases are.",
            hint=f"Write of: {dataset.tables[0].name}.",
        )
    return dataset.tables[0].name
