"""How an engine answers aggregates of one shape: many by one statement, or each by its own rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from sqlglot import exp

from confide.rows.cells.bounding import KEPT, Bounded
from confide.rows.cells.layout import Layout
from confide.rows.engine import Exact
from confide.rows.relational.sorted_once import Streamed
from confide.rows.relational.statement import Statement
from confide.rows.relational.table_rows import Scope
from confide.tables.schema import Dataset

A = TypeVar("A")
Placed: TypeAlias = list[tuple[int, A]]
"""Aggregates with their positions among those that are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Together(Generic[A]):
    """Aggregates that keep the same rows share a statement.

    Attributes:
        of: The shape.
        kept_by: What must be equal of aggregates that keep the same rows.
        statement: Compiles aggregates of which that is equal.
        streams: What rows they stream, where a sort may be shared; None: they share none.
    """

    of: type[A]
    kept_by: Callable[[A], object]
    statement: Callable[[Placed[A], Scope], Statement]
    streams: Callable[[Placed[A]], Streamed] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone(Generic[A]):
    """Each has rows of its own, which this process makes an answer of.

    Attributes:
        of: The shape.
        query: Compiles the rows; refuses what is not declared, or does not fit the source.
        answer: Makes the exact answer of their columns.
        way: How they are read, in words.
    """

    of: type[A]
    query: Callable[[A, Dataset, Layout], exp.Query]
    answer: Callable[[A, Mapping[str, Any], Dataset], Exact]
    way: str


Compiler: TypeAlias = Together[Any] | Alone[Any]


def with_front(scope: Scope, bounded: Bounded) -> exp.Query:
    """Put the cleaned tables, the per-patient values and the kept rows in front of a query."""
    ordered = scope.copies is not None or scope.once
    inline = False if ordered else None  # what is in order is streamed as it comes
    front = [_shared(name, rows, materialized=inline) for name, rows in scope.named.items()]
    query = bounded.query
    if not scope.stores and bounded.counted is not None:
        query = bounded.counted
    elif bounded.kept is not None:
        front.append(_shared(KEPT, bounded.kept, materialized=True))
    query.set("with_", exp.With(expressions=front))
    return query


def _shared(name: str, query: exp.Query, *, materialized: bool | None) -> exp.CTE:
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True))
    return exp.CTE(this=query, alias=alias, materialized=materialized)
