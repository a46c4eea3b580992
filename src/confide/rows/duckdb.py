"""DuckDB, embedded: the default engine.

The connection lives in memory, attaches the declared source read-only and is then locked: no file
but the declared ones and its own temporary folder, no network, no extensions, no Python variables,
no change of these settings.

*Privacy:* DuckDB's messages print cells, so they are dropped: before the charge only names and
types are bound and errors name the declared fact; afterwards an error names the class of failure.
Sums are BIGINT and HUGEINT, so they do not depend on the order of rows, on threads or on files.

*Utility:* bounding sorts the kept rows of each person; measured costs are in the benchmarks, and a
layout registered beforehand makes them small.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias

from sqlglot import exp

from confide.errors import ConfideError, ContractError, EngineError
from confide.rows.bounding import SUMS
from confide.rows.build import STAR, num, select
from confide.rows.engine import Exact, ExactAggregates
from confide.rows.examine import findings
from confide.rows.keyed_order import coefficients
from confide.rows.layout import Found, Ids, Layout, Located, ids_of, physical
from confide.rows.sources.prepare import Opened, in_catalog, prepared
from confide.rows.spill import SpillFolder
from confide.rows.sql import CELL, Statement, statements
from confide.tables.aggregate import Aggregate, KeyedAggregate
from confide.tables.schema import Dataset
from confide.tables.source import Source

ATTACHED = "source"

_Asked: TypeAlias = tuple[Aggregate | KeyedAggregate, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A statement as text, with its bound parameters."""

    statement: Statement
    sql: str
    parameters: Mapping[str, int]


class DuckDBEngine:
    """Exact sums by DuckDB; made by :func:`open_engine`."""

    def __init__(
        self,
        connection: Any,
        *,
        dataset: Dataset,
        layout: Layout,
        parameters: Mapping[str, int],
        spill: SpillFolder,
    ) -> None:
        self._connection = connection
        self._dataset = dataset
        self._layout = layout
        self._parameters = parameters
        self._spill = spill
        self._last: dict[_Asked, tuple[_Ready, ...]] = {}

    def __repr__(self) -> str:
        return f"DuckDBEngine({self._dataset.id!r})"

    def check(self, aggregates: Sequence[Aggregate | KeyedAggregate], *, dataset: Dataset) -> None:
        """Bind the aggregates against the schema of the source, reading no rows.

        Raises:
            ContractError: If a table or column is missing, or of a type that cannot be read as
                declared.
        """
        for ready in self._ready(aggregates, dataset=dataset):
            with _dropping_messages() as failed:
                self._connection.execute(f"EXPLAIN {ready.sql}", dict(ready.parameters)).fetchall()
            if failed:
                raise ContractError(
                    f"The source cannot answer the plan ({failed[0]}).",
                    hint="Compare the types of its columns with dataset.yaml.",
                )

    def aggregate(
        self, aggregates: tuple[Aggregate | KeyedAggregate, ...], *, dataset: Dataset
    ) -> ExactAggregates:
        """Read the rows, bound them and sum them exactly.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        exact: dict[int, Exact] = {}
        for ready in self._ready(aggregates, dataset=dataset):
            statement = ready.statement
            rows = _guarded(self._run(ready.sql, ready.parameters), limits=statement.limits)
            for position, column in statement.answers:
                exact[position] = _vector(rows, column=column, cells=statement.cells)
        return ExactAggregates([exact[position] for position in range(len(aggregates))])

    def problems(self) -> Mapping[str, str]:
        """Return why declared tables cannot be used, by table; from names and types alone."""
        found = {
            table.name: self._layout.problem(table, dataset=self._dataset)
            for table in self._dataset.tables
        }
        return {name: problem for name, problem in found.items() if problem}

    def examine(self) -> tuple[str, ...]:
        """Return oddities of the rows, for the steward's eyes alone.

        Raises:
            EngineError: If reading failed.
        """
        return findings(self._dataset, layout=self._layout, run=self._run_query)

    def close(self) -> None:
        """Close the connection and remove its temporary folder."""
        self._connection.close()
        self._spill.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ready(
        self, aggregates: Sequence[Aggregate | KeyedAggregate], *, dataset: Dataset
    ) -> tuple[_Ready, ...]:
        if dataset != self._dataset:
            raise ContractError(
                "The engine was opened for another data set.", hint="Open it for this one."
            )
        asked = tuple(aggregates)
        if asked not in self._last:  # the gate checks and aggregates the same
            compiled = statements(asked, dataset=dataset, layout=self._layout)
            self._last = {asked: tuple(self._written(s) for s in compiled)}
        return self._last[asked]

    def _written(self, statement: Statement) -> _Ready:
        sql, parameters = _bound(statement.query, self._parameters)
        return _Ready(statement=statement, sql=sql, parameters=parameters)

    def _run(self, sql: str, parameters: Mapping[str, int]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        with _dropping_messages() as failed:
            rows = self._connection.execute(sql, dict(parameters)).fetchall()
        if failed:
            raise EngineError(failed[0])
        return rows

    def _run_query(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return self._run(*_bound(query, self._parameters))


def open_engine(
    source: Source,
    *,
    base: Path,
    dataset: Dataset,
    hash_key: bytes,
    frames: Mapping[str, object] | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
) -> DuckDBEngine:
    """Open a declared source on a hardened connection; reads names and types, no rows.

    Args:
        source: What is declared; its path is relative to ``base``.
        base: Folder of dataset.yaml.
        dataset: Public facts.
        hash_key: Secret key of the order in which a patient's rows are kept, 16 bytes or more.
        frames: Tables in memory by name, for a source of frames.
        threads: Threads; all by default.  No result depends on it.
        memory_limit: Such as "4GB"; DuckDB's default otherwise.  Larger sorts spill to disk.

    Raises:
        ContractError: If the source is missing, lies outside ``base`` or cannot be opened.
    """
    import duckdb

    parameters = coefficients(hash_key)
    opened = prepared(source, base=base, dataset=dataset, frames=frames)
    spill = SpillFolder()
    connection = duckdb.connect(":memory:")
    with _closing_on_error(connection, spill):
        with _dropping_messages() as failed:
            if opened.attach is not None:
                connection.execute(_attach(opened.attach).sql("duckdb"))
            for name, frame in opened.frames.items():
                connection.register(name, frame)
            settings = hardening(
                opened, temporary=spill.path, threads=threads, memory_limit=memory_limit
            )
            for setting in settings:
                connection.execute(setting.sql("duckdb"))
        if failed:
            raise ContractError(
                f"The {source.kind.value} source {source.path!r} cannot be opened ({failed[0]}).",
                hint="Check its path, its format, and who may read it.",
            )
        layout = _layout(connection, opened, dataset=dataset)
    return DuckDBEngine(
        connection, dataset=dataset, layout=layout, parameters=parameters, spill=spill
    )


def hardening(
    opened: Opened, *, temporary: Path, threads: int | None, memory_limit: str | None
) -> tuple[exp.Set, ...]:
    """Return the settings of a connection, in order; the last one locks them.

    ``disabled_filesystems`` is left alone: it would block Parquet and spilling to disk.
    """
    files = exp.array(*(exp.Literal.string(str(path)) for path in opened.files))
    wanted: dict[str, exp.Expr] = {
        "temp_directory": exp.Literal.string(str(temporary)),
        "preserve_insertion_order": exp.false(),  # no result depends on the order of rows
        "TimeZone": exp.Literal.string("UTC"),  # the date of a timestamp with a time zone
    }
    if threads is not None:
        wanted["threads"] = num(threads)
    if memory_limit is not None:
        wanted["memory_limit"] = exp.Literal.string(memory_limit)
    wanted |= {
        "allowed_paths": files,
        "allowed_directories": exp.array(exp.Literal.string(str(temporary))),
        "enable_external_access": exp.false(),
        "autoload_known_extensions": exp.false(),
        "autoinstall_known_extensions": exp.false(),
        "allow_community_extensions": exp.false(),
        "python_enable_replacements": exp.false(),
        "lock_configuration": exp.true(),
    }
    return tuple(
        exp.Set(expressions=[exp.SetItem(this=exp.EQ(this=exp.var(name), expression=value))])
        for name, value in wanted.items()
    )


def _attach(path: Path) -> exp.Attach:
    name = exp.alias_(exp.Literal.string(str(path)), ATTACHED, quoted=True)
    return exp.Attach(this=name, expressions=[exp.AttachOption(this=exp.var("READ_ONLY"))])


def _layout(connection: Any, opened: Opened, *, dataset: Dataset) -> Layout:
    relations, missing = dict(opened.relations), dict(opened.missing)
    if opened.attach is not None:
        rows = connection.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $name",
            {"name": ATTACHED},
        ).fetchall()
        relations, missing = in_catalog(
            [(str(schema), str(table)) for schema, table in rows],
            database=ATTACHED,
            dataset=dataset,
            fold_case=opened.fold_case,
        )
    tables: dict[str, Located] = {}
    for table in dataset.tables:
        relation = relations.get(table.name)
        if relation is None:
            continue
        columns: dict[str, Found] = {}
        with _dropping_messages() as failed:
            query = select(STAR, of=relation).limit(0)
            described = connection.execute(query.sql("duckdb")).description
            columns = {
                str(name): Found(name=str(name), physical=physical(str(kind)))
                for name, kind, *_ in described
            }
        if failed:
            missing[table.name] = f"Table {table.name!r} cannot be opened ({failed[0]})."
            continue
        if opened.fold_case:
            columns = {**{name.lower(): found for name, found in columns.items()}, **columns}
        tables[table.name] = Located(relation=relation, columns=columns)
    ids = Ids.INTEGER if opened.integer_ids else ids_of(dataset, tables=tables)
    return Layout(tables=tables, ids=ids, missing=missing)


def _bound(query: exp.Query, parameters: Mapping[str, int]) -> tuple[str, dict[str, int]]:
    """Return SQL text and the parameters that occur in it."""
    names = {place.name for place in query.find_all(exp.Placeholder)}
    return query.sql("duckdb"), {name: parameters[name] for name in sorted(names)}


@contextlib.contextmanager
def _dropping_messages() -> Iterator[list[str]]:
    """Collect the class of an engine's failure; its message and its chain may print cells."""
    import duckdb

    failed: list[str] = []
    try:
        yield failed
    except (duckdb.Error, ValueError, RuntimeError) as error:
        if isinstance(error, ConfideError):
            raise
        failed.append(type(error).__name__)


@contextlib.contextmanager
def _closing_on_error(connection: Any, spill: SpillFolder) -> Iterator[None]:
    opened = False
    try:
        yield
        opened = True
    finally:
        if not opened:
            connection.close()
            spill.close()


def _guarded(rows: list[tuple[Any, ...]], *, limits: Mapping[int, int]) -> list[tuple[Any, ...]]:
    """Return the rows with sums, once nobody kept more than the bound."""
    for tag, _, worst, *_ in rows:
        if tag != SUMS and (worst or 0) > limits[tag]:
            raise EngineError("contribution bound not enforced")
    return [row for row in rows if row[0] == SUMS]


def _vector(rows: list[tuple[Any, ...]], *, column: int, cells: int | None) -> Exact:
    if cells is None:
        return {row[CELL]: int(row[column]) for row in rows}
    sums = [0] * cells
    for row in rows:
        sums[row[CELL]] = int(row[column])
    return tuple(sums)
