"""How an exact vector is told in words: the words are given, a shape says in which order."""

from typing import Protocol

from confide.tables.aggregates.value import Value
from confide.tables.expression import Expression
from confide.tables.relation import Relation


class Telling(Protocol):
    """What names expressions, values and rows of a data set."""

    def of(self, expression: Expression) -> str:
        """Return an expression in words."""

    def value(self, value: Value) -> str:
        """Return what is summed, in words."""

    def rows(self, relation: Relation, axes: tuple[Expression, ...] = ()) -> str:
        """Return which rows, and by what, in words."""
