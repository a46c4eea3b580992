"""How each shape of :mod:`confide.tables.aggregates.shapes` is read from rows: all or none."""

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar, get_args

from confide.errors import ContractError
from confide.rows.relational.compiler import Compiler
from confide.rows.relational.degrees import DEGREES
from confide.rows.relational.descent import DESCENT
from confide.rows.relational.keys import KEYS
from confide.rows.relational.moments import MOMENTS
from confide.rows.relational.pooled import POOLED
from confide.rows.relational.running import RUNNING
from confide.rows.relational.summand import OfPerson
from confide.rows.relational.sums import OF_PERSON, SUMS
from confide.tables.aggregates.shapes import Asked, OfPersons


class _Of(Protocol):
    @property
    def of(self) -> type[Any]:
        """The shape."""


R = TypeVar("R", bound=_Of)


def by_shape(*known: R, of: object) -> Mapping[type[Any], R]:
    """Return what is known of each shape of a union.

    Raises:
        ContractError: If a shape is lacking, or known twice.
    """
    found = {each.of: each for each in known}
    lacking = set(get_args(of)) ^ set(found)
    if lacking or len(found) != len(known):
        names = " and ".join(sorted(shape.__name__ for shape in lacking)) or "each shape once"
        raise ContractError(f"Rows lack {names}.")
    return found


_COMPILERS: Mapping[type[Any], Compiler] = by_shape(SUMS, KEYS, DEGREES, DESCENT, of=Asked)
_OF_PERSONS: Mapping[type[Any], OfPerson[Any]] = by_shape(
    OF_PERSON, MOMENTS, POOLED, RUNNING, of=OfPersons
)


def compiler_of(aggregate: Asked) -> Compiler:
    """Return how an engine answers an aggregate."""
    return _COMPILERS[type(aggregate)]


def of_person(aggregate: OfPersons) -> OfPerson[Any]:
    """Return what an aggregate adds to the norm of a person's own vector."""
    return _OF_PERSONS[type(aggregate)]
