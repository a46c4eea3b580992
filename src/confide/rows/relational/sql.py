"""Compile aggregates to SQL: as few scans as the kept rows allow, one statement each.

SQL is built from SQLGlot's syntax tree only.  Names of the data are quoted identifiers, categories
are literals, the keyed order's coefficients are bound parameters; no text of a user is ever parsed.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp

from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.rows.cells.layout import Layout
from confide.rows.cells.session import Parameter, Session
from confide.rows.cells.stream import Summed
from confide.rows.copies.choice import Way
from confide.rows.copies.clustered import ClusteredTable
from confide.rows.copies.copies import Copies
from confide.rows.engine import Exact
from confide.rows.relational.compiler import Placed, Together
from confide.rows.relational.shapes import compiler_of
from confide.rows.relational.sorted_once import (
    LEAST,
    Streamed,
    can_be_sorted_once,
    sorting,
)
from confide.rows.relational.statement import Statement, guarded, vector
from confide.rows.relational.table_rows import Scope, sorted_name
from confide.tables.aggregates.degrees import DegreeBounds
from confide.tables.aggregates.shapes import Asked, check_aggregate
from confide.tables.bound_contributions import ContributionBounds, OneEvent
from confide.tables.expression import QualityOf
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class OnePass:
    """The statements of a release, and what is sorted once for several of them.

    Attributes:
        sorting: The rows of each temporary table that statements stream, by its name.
        statements: In any order after those.
    """

    sorting: Mapping[str, exp.Query]
    statements: tuple[Statement, ...]

    @contextlib.contextmanager
    def sorted(self, on: Session) -> Iterator[None]:
        """Let statements read the tables that are sorted for several of them.

        Raises:
            EngineError: If sorting failed.
        """
        try:
            for name, query in self.sorting.items():
                on.make(name, query)
            yield
        finally:
            for name in self.sorting:
                on.drop(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenStatement:
    """A statement as text, with its bound parameters."""

    statement: Statement
    sql: str
    parameters: Mapping[str, Parameter]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPass:
    """The statements of a release as texts, for one connection.

    Attributes:
        compiled: As trees.
        steps: Of its statements.
        bound: What can be bound before a row is read: what sorts can, what streams that cannot.
    """

    compiled: OnePass
    steps: tuple[WrittenStatement, ...]
    bound: tuple[tuple[str, Mapping[str, Parameter]], ...]

    @classmethod
    def of(cls, compiled: OnePass, *, on: Session) -> "WrittenPass":
        """Write statements for a connection."""
        steps = []
        for each in compiled.statements:
            sql, parameters = on.bound(each.query)
            steps.append(WrittenStatement(statement=each, sql=sql, parameters=parameters))
        sorts = [on.bound(query) for query in compiled.sorting.values()]
        own = [(s.sql, s.parameters) for s in steps if s.statement.way is not Way.ONCE]
        return cls(compiled=compiled, steps=tuple(steps), bound=(*sorts, *own))

    def exact(self, on: Session) -> dict[int, Exact]:
        """Read the rows, and return the exact vectors by position.

        Raises:
            EngineError: If reading failed, or somebody kept more than the bounds.
        """
        found: dict[int, Exact] = {}
        with self.compiled.sorted(on):
            for step in self.steps:
                statement = step.statement
                rows = guarded(on.fetch(step.sql, step.parameters), limits=statement.limits)
                for position, column in statement.answers:
                    found[position] = vector(rows, column=column, cells=statement.cells)
        return found


def one_pass(  # noqa: PLR0913 - one for each fact of an engine
    aggregates: Sequence[Asked],
    *,
    dataset: Dataset,
    layout: Layout,
    copies: Copies | None = None,
    summed: Summed = Summed.CELLS,
    streams: bool = True,
    stores: bool = True,
    clustered: Mapping[str, ClusteredTable] | None = None,
    ranked: Copies | None = None,
) -> OnePass:
    """Compile aggregates to the fewest statements, over prepared copies where there are.

    Those that have rows of their own are left out: :class:`confide.rows.relational.compiler.Alone`.
    What several stream of one table is sorted once; where an engine does not hand rows on in the
    order in which they were sorted (``streams``), a person's rows are numbered instead.  Where it
    works kept rows out each time that they are named (no ``stores``), they are named once.
    Where tables of the engine hold the cleaned rows in order (``clustered``), these are read.
    Such an engine reads the ranks of copies alone (``ranked``), which were proved when written.

    Raises:
        ContractError: If an aggregate is not declared, or does not fit the source.
        InvalidParameterError: If there are too many cells, or the sums could overflow.
    """
    scope = Scope(
        dataset=dataset,
        layout=layout,
        copies=copies,
        summed=summed,
        streams=streams,
        stores=stores,
        clustered=clustered or {},
        ranked=ranked,
    )
    groups = _grouped(aggregates, dataset=dataset)
    shared: dict[str, list[Streamed]] = {}
    sharing: list[bool] = []
    for compiler, group in groups:
        asked = None if compiler.streams is None else compiler.streams(group)
        sharing.append(asked is not None and can_be_sorted_once(asked, scope=scope))
        if asked is not None and sharing[-1]:
            shared.setdefault(asked.relation.table, []).append(asked)
    tables = {name: those for name, those in shared.items() if len(those) >= LEAST}
    compiled = []
    for (compiler, group), shares in zip(groups, sharing, strict=True):
        (_, first), *_ = group
        once = shares and first.relation.table in tables
        of = replace(_judging(group, scope=scope), once=once)
        compiled.append(compiler.statement(group, of))
    return OnePass(
        sorting={
            sorted_name(dataset, table): sorting(table, those, scope=replace(scope, named={}))
            for table, those in ((dataset.table(name), those) for name, those in tables.items())
        },
        statements=tuple(compiled),
    )


def _grouped(
    aggregates: Sequence[Asked], *, dataset: Dataset
) -> list[tuple[Together[Any], Placed[Any]]]:
    """Return aggregates that keep the same rows together, with their positions."""
    groups: dict[object, tuple[Together[Any], Placed[Any]]] = {}
    for position, aggregate in enumerate(aggregates):
        check_aggregate(aggregate, dataset=dataset)
        compiler = compiler_of(aggregate)
        if not isinstance(compiler, Together):
            continue
        _check_unit(aggregate.bounds, dataset=dataset)
        kept_by = compiler.of, compiler.kept_by(aggregate)
        groups.setdefault(kept_by, (compiler, []))[1].append((position, aggregate))
    return list(groups.values())


def _judging(group: Placed[Any], *, scope: Scope) -> Scope:
    """Return what a statement of its own can name: the quality of cells where it is asked for."""
    (_, first), *_ = group
    quality = frozenset(axis.of.table for axis in first.axes if isinstance(axis, QualityOf))
    return replace(scope, quality=quality, named={})


def _check_unit(bounds: ContributionBounds | DegreeBounds, *, dataset: Dataset) -> None:
    if (dataset.unit.entity is Entity.EVENT) != isinstance(bounds, OneEvent):
        raise ContractError(
            f"Expected bounds that suit the privacy unit {dataset.unit.entity.value!r}.",
            hint="Patients need max rows or cells; events are bounded by being one row.",
        )
