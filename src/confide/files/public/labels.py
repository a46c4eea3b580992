"""Labels of dataset.yaml: what reports call columns, derived columns, values and tables.

They are no part of a plan (:mod:`confide.drawing.labels`), so a column has one label in all tables:
a plan's parts name columns without their table.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from confide.drawing.labels import Labels
from confide.errors import ContractError


class _Labelled(Protocol):
    """What may have a label."""

    @property
    def label(self) -> str: ...


class _Column(_Labelled, Protocol):
    """A declared column."""

    @property
    def digits(self) -> int | None: ...


class _Table(_Labelled, Protocol):
    """A declared table."""

    @property
    def columns(self) -> Mapping[str, _Column]: ...


def read_labels(
    tables: Mapping[str, _Table],
    *,
    derived: Mapping[str, _Labelled],
    per_patient: Mapping[str, _Labelled],
) -> Labels:
    """Return the labels that a dataset.yaml writes.

    Raises:
        ContractError: If one name has two labels, or other digits in another table.
    """
    columns = [each for table in tables.values() for each in table.columns.items()]
    named: dict[str, str] = {}
    for name, label in _labelled(columns, derived.items(), per_patient.items()):
        if named.setdefault(name, label) != label:
            raise _two(name, "labels")
    digits: dict[str, int] = {}
    for name, column in columns:
        if column.digits is not None and digits.setdefault(name, column.digits) != column.digits:
            raise _two(name, "digits")
    people = {name: table.label for name, table in tables.items() if table.label}
    return Labels(columns=named, tables=people, digits=digits)


def _labelled(*items: Iterable[tuple[str, _Labelled]]) -> Iterator[tuple[str, str]]:
    """Yield each name with its label, where it has one."""
    for name, section in itertools.chain(*items):
        if section.label:
            yield name, section.label


def _two(name: str, what: str) -> ContractError:
    return ContractError(
        f"Columns {name!r} of two tables have different {what}.",
        hint="Give one of them another name: name: {from: the column of the source, ...}.",
    )
