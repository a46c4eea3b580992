"""Spark: the engine for Parquet tables that outgrow one machine.

Rows are bounded and summed where they lie; (tag, cell, count, sums) alone reach this process, which
draws the noise.  Models in rounds, degrees of contacts, budgets of patients and jobs are worked out
here, of what each person's kept rows say: the driver is trusted with those rows.

Spark hands rows on in no order, so rows of a person are numbered in the keyed order instead of
streamed, and what each person kept is counted (:mod:`confide.rows.cells.bounding`).

*Privacy:* names and types are bound before the charge; afterwards an error names the class of
failure.  All that Spark is asked is a total function of rows, without an order of their own and
without random numbers, so that a task that is run again gives the same integers.
*Utility:* a sort and a shuffle of the rows of a question for each statement, and neither where the
ranks of prepared copies answer it (:mod:`confide.rows.cells.proved_ranks`); see the benchmarks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import own_table
from confide.rows.cells.identity import WITHDRAWN, identities_of, identity_parameters
from confide.rows.cells.keyed_order import coefficients
from confide.rows.cells.layout import Ids, Layout
from confide.rows.cells.stream import Summed
from confide.rows.copies.copies import Copies, UseCopies
from confide.rows.copies.manifest import Standing, copies_in
from confide.rows.engine import Exact, ExactAggregates
from confide.rows.engines.asked_in_sql import AskedInSql
from confide.rows.engines.beside import DuckDBBeside
from confide.rows.engines.same_dataset import without_more_values
from confide.rows.engines.spark.spark_layout import spark_layout
from confide.rows.engines.spark.spark_session import SparkRows, new_session
from confide.rows.records import RecordRows
from confide.rows.relational.kept_rows import read_records, record_queries, require_numbers
from confide.rows.relational.person_sums import PersonSums, stored_sums
from confide.rows.relational.sql import OnePass, one_pass
from confide.rows.relational.statement import Statement, guarded, require_proved, vector
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.prepare import existing, found_files, opened_files
from confide.tables.aggregates.shapes import Asked
from confide.tables.records import Records
from confide.tables.schema import Dataset
from confide.tables.source import Source

_Many: TypeAlias = tuple[Asked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bound:
    """A release, bound to names and types: its statements, and what has rows of its own."""

    statements: tuple[tuple[Statement, Any], ...]
    alone: Mapping[Asked, Any]


class SparkEngine(AskedInSql):
    """Exact sums by Spark; made by :func:`open_spark`."""

    def __init__(
        self,
        rows: SparkRows,
        *,
        dataset: Dataset,
        layout: Layout,
        state: SourceState,
        hash_key: bytes,
        standing: Standing | None = None,
        copies: Copies | None = None,
    ) -> None:
        super().__init__(dataset=dataset, layout=layout)
        self._rows = rows
        self._state = state
        self._beside = DuckDBBeside(identity_parameters(hash_key, of=dataset.unit.entity))
        self._standing, self._copies = standing, copies
        self._copied = SourceState.of(copies.files() if copies else ())
        self._last: dict[_Many, _Bound] = {}

    @property
    def state(self) -> SourceState:
        """What the files of the source were like when they were opened."""
        return self._state

    def sound(self) -> bool:
        """Return whether the driver still answers, and copies are those that were opened."""
        return self._rows.sound() and self._copied.holds()

    def check(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> None:
        """Bind the aggregates against the schema of the source, reading no rows.

        Raises:
            ContractError: If a table or column is missing, or of a type that cannot be read as
                declared.
            UnsupportedError: If Spark lacks what they need.
        """
        self._ready(aggregates, dataset=dataset)
        if dataset.patients:  # what each of them adds is read by other statements
            for each in self._compiled(aggregates, dataset=dataset, summed=Summed.PERSONS):
                self._rows.bind(each.query)

    def aggregate(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> ExactAggregates:
        """Read the rows, bound them and sum them exactly.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        ready = self._ready(aggregates, dataset=dataset)
        summed: dict[int, Exact] = {}
        for statement, bound in ready.statements:
            if self._copies is not None and statement.proved_at is not None:
                with self._rows.skipping():
                    rows = guarded(self._rows.rows(bound), limits=statement.limits)
                proved = self._copies.proved[statement.table]
                require_proved(rows, statement=statement, proved=proved)
            else:
                rows = guarded(self._rows.rows(bound), limits=statement.limits)
            for position, column in statement.answers:
                summed[position] = vector(rows, column=column, cells=statement.cells)
        return self._exact(
            summed,
            asked=aggregates,
            dataset=dataset,
            columns=lambda each: self._rows.arrays(ready.alone[each]),
        )

    def person_sums(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> PersonSums:
        """Read the rows, bound them and add them up by person and cell, to be closed after use.

        What each person adds to each cell is handed over, and kept by a DuckDB in memory here.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        statements = self._compiled(aggregates, dataset=dataset, summed=Summed.PERSONS)
        return stored_sums(
            OnePass(sorting={}, statements=statements),
            asked=len(aggregates),
            dataset=dataset,
            copies=None,
            on=self._beside.session(),
            read=self._arrays,
        )

    def check_records(self, records: Records, *, dataset: Dataset) -> None:
        """Bind the rows of a job against the schema of the source, reading none; as ``check``."""
        self._require_same(without_more_values(dataset, ours=self._dataset))
        require_numbers(records, engine="Spark")
        for query in record_queries(records, dataset=dataset, layout=self._layout):
            self._rows.bind(query)

    def records(self, records: Records, *, dataset: Dataset) -> RecordRows:
        """Read and bound the rows of a job.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        self._require_same(without_more_values(dataset, ours=self._dataset))
        return read_records(records, dataset=dataset, layout=self._layout, arrays=self._arrays)

    def identities(
        self, person_ids: Sequence[str], *, as_texts: bool = False
    ) -> tuple[tuple[int, int] | None, ...]:
        """Return the same of each of many ids, or of each as it is where ids are texts."""
        ids = Ids.TEXT if as_texts else self._layout.ids
        return identities_of(person_ids, ids=ids, on=self._beside.session())

    def explain(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> tuple[str, ...]:
        """Return how the aggregates would be read; from public facts alone, reading no rows.

        Raises:
            ContractError: If the source lacks what they name.
        """
        statements = [each for each, _ in self._ready(aggregates, dataset=dataset).statements]
        standing = "the source" if self._standing is None else self._standing.value
        begins = f"Spark reads {standing}."
        return self._told(statements, asked=aggregates, dataset=dataset, begins=begins)

    def close(self) -> None:
        """Forget the views; the driver stays for the next engine of this process."""
        self._last = {}
        self._beside.close()
        self._rows.close()

    def _arrays(self, query: exp.Query) -> Mapping[str, Any]:
        return self._rows.arrays(self._rows.bind(query))

    def _ready(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> _Bound:
        self._require_same(dataset)
        asked = tuple(aggregates)
        if asked not in self._last:  # the gate checks and aggregates the same
            self._last = {}
            self._rows.forget()
            compiled = self._compiled(asked, dataset=dataset)
            statements = tuple((each, self._rows.bind(each.query)) for each in compiled)
            queries = self._alone(asked, dataset=dataset)
            alone = {each: self._rows.bind(query) for each, query in queries.items()}
            self._last = {asked: _Bound(statements=statements, alone=alone)}
        return self._last[asked]

    def _compiled(
        self, aggregates: Sequence[Asked], *, dataset: Dataset, summed: Summed = Summed.CELLS
    ) -> tuple[Statement, ...]:
        """Return the statements of a release; nothing is sorted for several of them."""
        self._require_same(dataset)
        return one_pass(
            aggregates,
            dataset=dataset,
            layout=self._layout,
            summed=summed,
            streams=False,
            stores=False,
            ranked=self._copies if summed is Summed.CELLS else None,
        ).statements


def open_spark(
    source: Source,
    *,
    base: Path,
    dataset: Dataset,
    hash_key: bytes,
    threads: int | None = None,
    memory_limit: str | None = None,
    withdrawn: Sequence[str] = (),
    copying: UseCopies | None = None,
) -> SparkEngine:
    """Open a declared folder of Parquet files in Spark; reads names and types, no rows.

    Args:
        source: What is declared; its path is relative to ``base``.
        base: Folder of dataset.yaml.
        dataset: Public facts.
        hash_key: Secret key of the order in which a patient's rows are kept, 16 bytes or more.
        threads: Threads of this machine where no cluster is named; all by default.
        memory_limit: Of the driver, such as "4GB".
        withdrawn: Keyed hashes, 32 hexadecimal digits each, of persons who withdrew consent: none
            of their rows is read.
        copying: Prepared copies to use, which a driver on this machine reads; a cluster does not.

    Raises:
        ContractError: If Spark is absent, or the source is missing or cannot be opened.
    """
    if any(table.query for table in dataset.tables):
        raise ContractError("Only a table of a DuckDB file can be a query.")
    root = existing(source, base=base)
    found = found_files(source, root=root, dataset=dataset)
    state = SourceState.of(opened_files(found))
    session = new_session(threads=threads, memory_limit=memory_limit)
    keys: dict[str, int | bytes] = {**coefficients(hash_key)}
    if withdrawn:
        keys |= identity_parameters(hash_key, of=dataset.unit.entity)
    rows = SparkRows(session, parameters=keys)
    if withdrawn:
        rows.lend(WITHDRAWN, texts=withdrawn, column="digest")
    layout = spark_layout(found, dataset=dataset, on=rows, withdrawn=bool(withdrawn))
    standing: Standing | None = None
    copies: Copies | None = None
    if copying is not None and rows.on_this_machine():
        standing, copies = copies_in(
            copying.folder, dataset=dataset, state=state, hash_key=hash_key, withdrawn=withdrawn
        )
    return SparkEngine(
        rows,
        dataset=dataset,
        layout=layout,
        state=state,
        hash_key=hash_key,
        standing=standing,
        copies=copies and _in_views(copies, on=rows),
    )


def _in_views(copies: Copies, *, on: SparkRows) -> Copies:
    """Let queries read the ranks that were proved, and the rows of the patients left out there."""
    names: dict[Path, str] = {}
    for table in copies.proved:
        copy = copies.tables[table]
        for path in (copy.ranks, copy.partial):
            if path is not None:
                names[path] = f"confide_copy_{len(names)}"
                on.read(names[path], files=(path,))
    return replace(copies, relation=lambda path: own_table(names[path]))
