"""What a vector adds to the norm of a person, in SQL: one expression over rows of stored tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, assert_never

from sqlglot import exp

from confide.plans.pricing.individual import Norm, OwnLoss
from confide.rows.cells.build import (
    HUGEINT,
    call,
    cast,
    plus,
    times,
)
from confide.tables.schema import Dataset

NARROW = 62
"""Bits of products that are not wide."""
Lend = Callable[[str, dict[str, Any]], None]
"""Lets queries read columns of numbers under a name."""
A = TypeVar("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Where the engine's answer to one part of a vector is stored: a table and a column."""

    table: str
    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summand:
    """Rows with ``p``, and what is added up over them; ``key`` tells sources apart."""

    rows: exp.Query | exp.Table
    key: str
    value: exp.Expr


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Where the parts of a vector are stored that somebody pays for.

    Attributes:
        parts: The engine's answers, in the order of the parts.
        charge: What is paid.
        dataset: Public facts.
        name: Of weights that may be lent.
        lend: For weights of cells.
    """

    parts: tuple[Part, ...]
    charge: OwnLoss
    dataset: Dataset
    name: str
    lend: Lend


@dataclass(frozen=True, slots=True, kw_only=True)
class OfPerson(Generic[A]):
    """What vectors of one shape add to the norm of a person.

    Attributes:
        of: The shape.
        summand: Makes it of where a vector's parts are stored.
    """

    of: type[A]
    summand: Callable[[A, Stored], Summand]


def size(coordinates: Sequence[exp.Expr], norm: Norm) -> exp.Expr:
    """Return what coordinates of a cell add to a norm."""
    match norm:
        case Norm.L1 | Norm.L1_SQUARED:
            sizes = [call("abs", each) for each in coordinates]
        case Norm.L2_SQUARED:
            sizes = [times(each, each) for each in coordinates]
        case _:
            assert_never(norm)
    total = sizes[0]
    for each in sizes[1:]:
        total = plus(total, each)
    return total


def wide(value: exp.Expr, charge: OwnLoss) -> exp.Expr:
    """Return a value that products with it fit in."""
    moved = charge.measurement.sensitivity
    narrow = max(moved.l1, moved.l2_squared).bit_length() < NARROW
    return value if narrow else cast(value, HUGEINT)
