"""Spark: the engine for Parquet tables that outgrow one machine.

Rows are bounded and summed where they lie; (tag, cell, count, sums) alone reach this process, which
draws the noise.  What needs rows of its own is refused before a charge: contacts, models in rounds,
jobs; so is a source of which somebody withdrew consent.

Spark hands rows on in no order, so rows of a person are numbered in the keyed order instead of
streamed, and what each person kept is counted (:mod:`confide.rows.cells.bounding`).

*Privacy:* names and types are bound before the charge; afterwards an error names the class of
failure.  All that Spark is asked is a total function of rows, without an order of their own and
without random numbers, so that a task that is run again gives the same integers.
*Utility:* a sort and a shuffle of the rows of a question for each statement, and neither where the
ranks of prepared copies answer it (:mod:`confide.rows.cells.proved_ranks`); see the benchmarks.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from confide.errors import ContractError, UnsupportedError
from confide.rows.cells.build import own_table
from confide.rows.cells.keyed_order import coefficients
from confide.rows.cells.layout import Ids, Layout
from confide.rows.copies.copies import Copies, UseCopies
from confide.rows.copies.manifest import Standing, copies_in
from confide.rows.engine import Exact, ExactAggregates
from confide.rows.engines.asked_in_sql import AskedInSql, standing_alone
from confide.rows.engines.spark.spark_layout import spark_layout
from confide.rows.engines.spark.spark_session import SparkRows, new_session
from confide.rows.engines.spark.written_ids import identity_of
from confide.rows.relational.person_sums import PersonSums
from confide.rows.relational.sql import one_pass
from confide.rows.relational.statement import Statement, guarded, require_proved, vector
from confide.rows.sources.fingerprint import SourceState
from confide.rows.sources.prepare import existing, found_files, opened_files
from confide.tables.aggregates.shapes import Asked
from confide.tables.records import Records
from confide.tables.schema import Dataset
from confide.tables.source import Source

_Many: TypeAlias = tuple[Asked, ...]
_Bound: TypeAlias = tuple[tuple[Statement, Any], ...]
"""The statements of a release, bound to names and types."""
_FILES = "Write `kind: parquet`: DuckDB reads the same files."


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
        self._state, self._hash_key = state, hash_key
        self._standing, self._copies = standing, copies
        self._last: dict[_Many, _Bound] = {}

    @property
    def state(self) -> SourceState:
        """What the files of the source were like when they were opened."""
        return self._state

    def sound(self) -> bool:
        """Return whether the driver still answers."""
        return self._rows.sound()

    def check(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> None:
        """Bind the aggregates against the schema of the source, reading no rows.

        Raises:
            ContractError: If a table or column is missing, or of a type that cannot be read as
                declared.
            UnsupportedError: If Spark lacks what they need.
        """
        if dataset.patients:
            raise UnsupportedError(
                "Spark has no budgets of patients: what each of them adds would be stored.",
                hint="Leave `patients` out of the policy, or read the Parquet files in DuckDB.",
            )
        self._ready(aggregates, dataset=dataset)

    def aggregate(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> ExactAggregates:
        """Read the rows, bound them and sum them exactly.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        exact: dict[int, Exact] = {}
        for statement, bound in self._ready(aggregates, dataset=dataset):
            if self._copies is not None and statement.proved_at is not None:
                with self._rows.skipping():
                    rows = guarded(self._rows.rows(bound), limits=statement.limits)
                proved = self._copies.proved[statement.table]
                require_proved(rows, statement=statement, proved=proved)
            else:
                rows = guarded(self._rows.rows(bound), limits=statement.limits)
            for position, column in statement.answers:
                exact[position] = vector(rows, column=column, cells=statement.cells)
        return ExactAggregates([exact[position] for position in range(len(aggregates))])

    def person_sums(
        self,
        aggregates: tuple[Asked, ...],  # noqa: ARG002
        *,
        dataset: Dataset,  # noqa: ARG002
    ) -> PersonSums:
        """Refuse: :meth:`check` refuses what would ask for it, before a charge.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("Spark keeps no sums by person.", hint="Read the files in DuckDB.")

    def check_records(self, records: Records, *, dataset: Dataset) -> None:  # noqa: ARG002
        """Refuse the rows of a job, before a charge.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("Spark reads no rows for a job.", hint=_FILES)

    def records(self, records: Records, *, dataset: Dataset) -> NoReturn:  # noqa: ARG002
        """Refuse: :meth:`check_records` does, before a charge.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("Spark reads no rows for a job.", hint=_FILES)

    def identities(
        self, person_ids: Sequence[str], *, as_texts: bool = False
    ) -> tuple[tuple[int, int] | None, ...]:
        """Return the same of each of many ids, or of each as it is where ids are texts."""
        ids = Ids.TEXT if as_texts else self._layout.ids
        of = self._dataset.unit.entity
        return tuple(
            identity_of(each, ids=ids, hash_key=self._hash_key, of=of) for each in person_ids
        )

    def explain(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> tuple[str, ...]:
        """Return how the aggregates would be read; from public facts alone, reading no rows.

        Raises:
            ContractError: If the source lacks what they name.
        """
        statements = [each for each, _ in self._ready(aggregates, dataset=dataset)]
        standing = "the source" if self._standing is None else self._standing.value
        begins = f"Spark reads {standing}."
        return self._told(statements, asked=aggregates, dataset=dataset, begins=begins)

    def close(self) -> None:
        """Forget the views; the driver stays for the next engine of this process."""
        self._last = {}
        self._rows.close()

    def _ready(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> _Bound:
        self._require_same(dataset)
        asked = tuple(aggregates)
        if standing_alone(asked):
            raise UnsupportedError("Spark reads no contacts and no models in rounds.", hint=_FILES)
        if asked not in self._last:  # the gate checks and aggregates the same
            compiled = one_pass(
                asked,
                dataset=dataset,
                layout=self._layout,
                streams=False,
                stores=False,
                ranked=self._copies,
            )
            bound = tuple((each, self._rows.bind(each.query)) for each in compiled.statements)
            self._last = {asked: bound}
        return self._last[asked]


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
        withdrawn: Keyed hashes of persons who withdrew consent: refused where there are any.
        copying: Prepared copies to use, which a driver on this machine reads; a cluster does not.

    Raises:
        ContractError: If Spark is absent, or the source is missing or cannot be opened.
        UnsupportedError: If anybody withdrew consent.
    """
    if withdrawn:
        raise UnsupportedError("Spark leaves nobody out who withdrew consent.", hint=_FILES)
    if any(table.query for table in dataset.tables):
        raise ContractError("Only a table of a DuckDB file can be a query.")
    root = existing(source, base=base)
    found = found_files(source, root=root, dataset=dataset)
    state = SourceState.of(opened_files(found))
    session = new_session(threads=threads, memory_limit=memory_limit)
    rows = SparkRows(session, parameters=coefficients(hash_key))
    layout = spark_layout(found, dataset=dataset, on=rows)
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
