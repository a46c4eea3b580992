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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.identity import WITHDRAWN, identities_of, identity_parameters
from confide.rows.cells.keyed_order import coefficients
from confide.rows.cells.layout import Ids, Layout
from confide.rows.cells.session import Parameter, Session, dropping_messages
from confide.rows.cells.stream import Summed
from confide.rows.copies.copies import Copies, MakeCopies, UseCopies
from confide.rows.copies.manifest import Standing, copies_in
from confide.rows.dialects.duckdb import ConfideDuckDB
from confide.rows.engine import ExactAggregates
from confide.rows.engines.asked_in_sql import AskedInSql
from confide.rows.engines.catalogue import found_layout
from confide.rows.engines.examine import findings
from confide.rows.engines.hardening import attach, hardening
from confide.rows.engines.same_dataset import without_more_values
from confide.rows.engines.spill import SpillFolder
from confide.rows.records import RecordRows
from confide.rows.relational.kept_rows import read_records, record_queries
from confide.rows.relational.person_sums import PersonSums, stored_sums
from confide.rows.relational.sql import WrittenPass, one_pass
from confide.rows.relational.table_rows import Scope
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.prepare import prepared
from confide.rows.sources.text_files import TextFiles
from confide.tables.aggregates.shapes import Asked
from confide.tables.records import Records
from confide.tables.schema import Dataset
from confide.tables.source import Source

_Many: TypeAlias = tuple[Asked, ...]
_FRAMES = "Give frames one level of columns, with texts as names, of types that Arrow has."

TOLD = frozenset({"BinderException", "CatalogException"})
"""Failures of names and types, which may be told before a charge; any other may be of a cell."""


class DuckDBEngine(AskedInSql):
    """Exact sums by DuckDB; made by :func:`open_engine`."""

    def __init__(
        self,
        connection: Any,
        *,
        dataset: Dataset,
        layout: Layout,
        session: Session,
        spill: SpillFolder,
        standing: Standing = Standing.ABSENT,
        copies: Copies | None = None,
        state: SourceState | None = None,
    ) -> None:
        super().__init__(dataset=dataset, layout=layout)
        self._connection = connection
        self._session = session
        self._spill = spill
        self._standing = standing
        self._copies = copies
        self._copied = SourceState.of(copies.files() if copies else ())
        self._state = state or SourceState()
        self._last: dict[_Many, WrittenPass] = {}

    @property
    def state(self) -> SourceState:
        """What the files of the source were like when they were opened."""
        return self._state

    def sound(self) -> bool:
        """Return whether it still answers, and copies that it reads are those that it opened.

        Some failures break the connection for good.
        """
        return self._session.sound() and self._copied.holds()

    def check(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> None:
        """Bind the aggregates against the schema of the source, reading no rows.

        Raises:
            ContractError: If a table or column is missing, or of a type that cannot be read as
                declared.
        """
        together = self._ready(aggregates, dataset=dataset).bound
        alone = self._alone(aggregates, dataset=dataset).values()
        self._bind([*together, *(self._session.bound(query) for query in alone)])

    def aggregate(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> ExactAggregates:
        """Read the rows, bound them and sum them exactly.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        summed = self._ready(aggregates, dataset=dataset).exact(self._session)
        alone = self._alone(aggregates, dataset=dataset)
        return self._exact(
            summed,
            asked=aggregates,
            dataset=dataset,
            columns=lambda each: self._session.arrays(alone[each]),
        )

    def person_sums(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> PersonSums:
        """Read the rows, bound them and add them up by person and cell, to be closed after use.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        self._require_same(dataset)
        compiled = one_pass(
            aggregates,
            dataset=dataset,
            layout=self._layout,
            copies=self._copies,
            summed=Summed.PERSONS,
        )
        return stored_sums(
            compiled, asked=len(aggregates), dataset=dataset, copies=self._copies, on=self._session
        )

    def check_records(self, records: Records, *, dataset: Dataset) -> None:
        """Bind the rows of a job against the schema of the source, reading none; as ``check``.

        A job may ask for per-patient values of its own, after those of the data set.
        """
        self._require_same(without_more_values(dataset, ours=self._dataset))
        queries = record_queries(records, dataset=dataset, layout=self._layout)
        self._bind([self._session.bound(query) for query in queries])

    def records(self, records: Records, *, dataset: Dataset) -> RecordRows:
        """Read and bound the rows of a job.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        self._require_same(without_more_values(dataset, ours=self._dataset))
        return read_records(
            records, dataset=dataset, layout=self._layout, arrays=self._session.arrays
        )

    def _bind(self, written: Sequence[tuple[str, Mapping[str, Parameter]]]) -> None:
        """Bind statements, reading no rows.

        Only names and types are looked at: an optimiser looks at what a file says of its own cells,
        and may refuse for one of them, for free and as often as anybody asks.  A failure of another
        kind is not told, because earlier queries may have caused it (a connection that one broke
        refuses everything): it comes again when rows are read, after the charge.
        """
        for sql, parameters in written:
            with dropping_messages() as failed:
                self._connection.execute(f"DESCRIBE {sql}", dict(parameters)).fetchall()
            if failed and failed[0] in TOLD:
                raise ContractError(
                    f"The source cannot answer the plan ({failed[0]}).",
                    hint="Compare the types of its columns with dataset.yaml.",
                )

    def identities(
        self, person_ids: Sequence[str], *, as_texts: bool = False
    ) -> tuple[tuple[int, int] | None, ...]:
        """Return the same of each of many ids, or of each as it is where ids are texts."""
        ids = Ids.TEXT if as_texts else self._layout.ids
        return identities_of(person_ids, ids=ids, on=self._session)

    def explain(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> tuple[str, ...]:
        """Return how the aggregates would be read; from public facts alone, reading no rows.

        Raises:
            ContractError: If the source lacks what they name.
        """
        steps = self._ready(aggregates, dataset=dataset).steps
        return self._told(
            (step.statement for step in steps),
            asked=aggregates,
            dataset=dataset,
            begins=f"Reads {self._standing.value}.",
        )

    @property
    def scope(self) -> Scope:
        """What queries over the source can name."""
        return Scope(dataset=self._dataset, layout=self._layout)

    def run(self, query: exp.Query) -> list[tuple[Any, ...]]:
        """Return the rows of a query, for the steward's preparation alone.

        Raises:
            EngineError: If reading failed.
        """
        return self._run_query(query)

    def write(self, query: exp.Query, *, to: Path) -> None:
        """Write the rows of a query to a Parquet file in the folder opened for writing.

        Raises:
            EngineError: If it failed.
        """
        sql, parameters = self._session.bound(query)
        place = exp.Literal.string(str(to)).sql("duckdb")
        self._session.fetch(
            f"COPY ({sql}) TO {place} (FORMAT parquet, PARQUET_VERSION v2)", parameters
        )

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

    def _ready(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> WrittenPass:
        self._require_same(dataset)
        asked = tuple(aggregates)
        if asked not in self._last:  # the gate checks and aggregates the same
            compiled = one_pass(asked, dataset=dataset, layout=self._layout, copies=self._copies)
            self._last = {asked: WrittenPass.of(compiled, on=self._session)}
        return self._last[asked]

    def _run_query(self, query: exp.Query) -> list[tuple[Any, ...]]:
        return self._session.rows(query)


def open_engine(  # noqa: PLR0913 - one for each fact of a site
    source: Source,
    *,
    base: Path,
    dataset: Dataset,
    hash_key: bytes,
    frames: Mapping[str, object] | None = None,
    threads: int | None = None,
    memory_limit: str | None = None,
    copying: UseCopies | MakeCopies | None = None,
    withdrawn: Sequence[str] = (),
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
        copying: Prepared copies to use, or to make; nothing else can be written.
        withdrawn: Keyed hashes, 32 hexadecimal digits each, of persons who withdrew consent: none
            of their rows is read.

    Raises:
        ContractError: If the source is missing, lies outside ``base`` or cannot be opened.
    """
    import duckdb

    hashing = identity_parameters(hash_key, of=dataset.unit.entity)
    parameters: dict[str, Parameter] = {**coefficients(hash_key), **hashing}
    opened = prepared(source, base=base, dataset=dataset, frames=frames)
    standing, copies = Standing.ABSENT, None
    writing = copying.folder if isinstance(copying, MakeCopies) else None
    if isinstance(copying, UseCopies):
        standing, copies = copies_in(
            copying.folder,
            dataset=dataset,
            state=opened.state,
            hash_key=hash_key,
            withdrawn=withdrawn,
        )
    with contextlib.ExitStack() as undo:
        spill = SpillFolder(writing)
        undo.callback(spill.close)
        texts = TextFiles(spill.path, state=opened.state)
        opened = texts.linked(opened)
        connection = duckdb.connect(":memory:")
        undo.callback(connection.close)
        with dropping_messages() as failed:
            if opened.attach is not None:
                connection.execute(attach(opened.attach).sql("duckdb"))
            for name, frame in opened.frames.items():
                connection.register(name, frame)
            if withdrawn:
                connection.register(WITHDRAWN, _listed(withdrawn))
            settings = hardening(
                opened.files + (() if copies is None else copies.files()),
                temporary=spill.path,
                threads=threads,
                memory_limit=memory_limit,
                writing=writing,
            )
            for setting in settings:
                connection.execute(setting.sql("duckdb"))
        if failed:
            raise ContractError(
                f"The {source.kind.value} source {source.path!r} cannot be opened ({failed[0]}).",
                hint=_FRAMES if opened.frames else "Check its path, format, and who may read it.",
            )
        layout = found_layout(connection, opened=opened, dataset=dataset, withdrawn=bool(withdrawn))
        undo.pop_all()
    return DuckDBEngine(
        connection,
        dataset=dataset,
        layout=layout,
        session=Session(
            connection, dialect=ConfideDuckDB, parameters=parameters, before=texts.settle
        ),
        spill=spill,
        standing=standing,
        copies=copies,
        state=opened.state,
    )


def _listed(withdrawn: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.table({"digest": pa.array(withdrawn, type=pa.string())})
