"""PostgreSQL: rows are bounded and summed by the server; noise is drawn in this process alone.

*Privacy:* before the charge only names and types are bound, by parsing alone.  All that a release
reads it reads in one transaction, read-only and of one state of the database.  A failure names its
class; a connection that is lost after the charge leaves it burned.  Models in rounds, degrees of
contacts and budgets of patients are worked out here, of what each person's kept rows say: this
process is trusted with them, as it is with DuckDB's.

*Utility:* of prepared copies a statement is one pass over rows that lie in order, where it keeps
rows of one table; without them each person's rows are sorted for every statement.  Copies that
change, go or are locked between the charge and the reading are left alone, and the source is read:
the integers are the same.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError, EngineError
from confide.rows.cells.identity import identities_of
from confide.rows.cells.layout import Ids, Layout
from confide.rows.cells.session import Parameter
from confide.rows.cells.stream import Summed
from confide.rows.copies.choice import streams
from confide.rows.copies.clustered import ClusteredTable
from confide.rows.copies.copies import UseCopies
from confide.rows.copies.in_database import copies_in_database
from confide.rows.copies.manifest import Standing
from confide.rows.engine import ExactAggregates
from confide.rows.engines.asked_in_sql import AskedInSql
from confide.rows.engines.beside import DuckDBBeside
from confide.rows.engines.postgres_opened import OpenDatabase, connected_database
from confide.rows.engines.postgres_session import dropping_server_messages
from confide.rows.engines.same_dataset import without_more_values
from confide.rows.records import RecordRows
from confide.rows.relational.kept_rows import read_records, record_queries, require_numbers
from confide.rows.relational.person_sums import PersonSums, stored_sums
from confide.rows.relational.sql import OnePass, WrittenPass, one_pass
from confide.rows.relational.table_rows import Scope
from confide.rows.sources.fingerprint import SourceState
from confide.tables.aggregates.shapes import Asked
from confide.tables.records import Records
from confide.tables.schema import Dataset
from confide.tables.source import Source


class PostgresEngine(AskedInSql):
    """Exact sums by PostgreSQL; made by :func:`open_postgres`."""

    def __init__(
        self,
        *,
        dataset: Dataset,
        opened: OpenDatabase,
        close: contextlib.ExitStack,
        copies: Callable[[], tuple[Standing, Mapping[str, ClusteredTable]]],
        says_copies: bool,
    ) -> None:
        super().__init__(dataset=dataset, layout=opened.layout)
        self._session = opened.session
        self._catalogue = opened.catalogue
        self._close, self._beside = close, DuckDBBeside(opened.parameters)
        close.callback(self._beside.close)
        self._copies, self._says_copies = copies, says_copies
        self._standing, self._clustered = self._copies_now()

    @property
    def state(self) -> SourceState:
        """Nothing: a database has no files that could be looked at."""
        return SourceState()

    def sound(self) -> bool:
        """Return whether the server still answers, and its tables are those that were opened."""
        copies = (self._standing, self._clustered)
        return self._session.sound() and self._unchanged() and self._copies_now() == copies

    def check(self, aggregates: Sequence[Asked], *, dataset: Dataset) -> None:
        """Bind the aggregates against the database, reading no rows.

        Raises:
            ContractError: If a table or column is missing, or of a type that cannot be read as
                declared.
        """
        compiled = self._compiled(aggregates, dataset=dataset, clustered=self._clustered)
        together = WrittenPass.of(compiled, on=self._session).bound
        alone = self._alone(aggregates, dataset=dataset).values()
        self._bind([*together, *(self._session.bound(query) for query in alone)])

    def aggregate(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> ExactAggregates:
        """Read the rows, bound them and sum them exactly.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        alone = self._alone(aggregates, dataset=dataset)
        with self._snapshot_with_copies() as copies:
            once = self._compiled(aggregates, dataset=dataset, clustered=copies)
            compiled = WrittenPass.of(once, on=self._session)
            return self._exact(
                compiled.exact(self._session),
                asked=aggregates,
                dataset=dataset,
                columns=lambda each: self._session.arrays(alone[each]),
            )

    def person_sums(self, aggregates: tuple[Asked, ...], *, dataset: Dataset) -> PersonSums:
        """Read the rows, bound them and add them up by person and cell, to be closed after use.

        What each person adds to each cell is handed over, and kept by a DuckDB in memory here.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        with self._snapshot_with_copies() as copies:
            return stored_sums(
                self._compiled(
                    aggregates,
                    dataset=dataset,
                    clustered=copies,
                    summed=Summed.PERSONS,
                ),
                asked=len(aggregates),
                dataset=dataset,
                copies=None,
                on=self._beside.session(),
                read=self._session.arrays,
            )

    def check_records(self, records: Records, *, dataset: Dataset) -> None:
        """Bind the rows of a job against the database, reading none; as ``check``."""
        self._require_same(without_more_values(dataset, ours=self._dataset))
        require_numbers(records, engine="PostgreSQL")
        queries = record_queries(records, dataset=dataset, layout=self._layout)
        self._bind([self._session.bound(query) for query in queries])

    def records(self, records: Records, *, dataset: Dataset) -> RecordRows:
        """Read and bound the rows of a job.

        Raises:
            EngineError: If reading failed; carries the class of the failure and no data.
        """
        self._require_same(without_more_values(dataset, ours=self._dataset))
        with self.snapshot():
            return read_records(
                records, dataset=dataset, layout=self._layout, arrays=self._session.arrays
            )

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
        compiled = self._compiled(aggregates, dataset=dataset, clustered=self._clustered)
        what = f", {self._standing.value}" if self._says_copies else ""
        return self._told(
            compiled.statements,
            asked=aggregates,
            dataset=dataset,
            begins=f"Reads PostgreSQL{what}.",
        )

    @property
    def scope(self) -> Scope:
        """What queries over the source can name."""
        return Scope(dataset=self._dataset, layout=self._layout, streams=False)

    def run(self, query: exp.Query) -> list[tuple[object, ...]]:
        """Return the rows of a query, for the steward alone.

        Raises:
            EngineError: If reading failed.
        """
        return self._session.rows(query)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """See one state of the database, whose tables are those that were opened.

        Raises:
            EngineError: If one of them was replaced, or has other columns or policies by now.
        """
        with self._session.snapshot():
            self._hold_source()
            self._require_unchanged()
            yield

    def copy_rows(self, query: str, to: Path) -> None:
        """Write the rows of a query to a CSV file of this user alone; raises as :meth:`run`."""
        self._session.copy_rows(query, to)

    def close(self) -> None:
        """Close the connection, and what was kept here."""
        self._close.close()

    def _compiled(
        self,
        aggregates: Sequence[Asked],
        *,
        dataset: Dataset,
        clustered: Mapping[str, ClusteredTable],
        summed: Summed = Summed.CELLS,
    ) -> OnePass:
        self._require_same(dataset)
        return one_pass(
            aggregates,
            dataset=dataset,
            layout=self._layout,
            summed=summed,
            streams=False,
            clustered=clustered,
        )

    def _copies_now(self) -> tuple[Standing, Mapping[str, ClusteredTable]]:
        with dropping_server_messages():
            return self._copies()
        return Standing.OUTDATED, {}

    @contextlib.contextmanager
    def _snapshot_with_copies(self) -> Iterator[Mapping[str, ClusteredTable]]:
        """See one state of the database, and get the copies that answer of it.

        There are none if any is gone, changed, closed or locked by now: then the source answers.

        Raises:
            EngineError: As :meth:`snapshot`.
        """
        with self._session.snapshot():
            self._hold_source()
            copies = (each for of in self._clustered.values() for each in of.tables())
            held = self._session.hold_at_once(copies)
            self._require_unchanged()
            yield self._still_current() if held else {}

    def _still_current(self) -> Mapping[str, ClusteredTable]:
        """Return the copies of this snapshot if they are those that were opened, none if not."""
        self._session.fetch_nothing("SAVEPOINT looked")
        if self._copies_now()[1] == self._clustered:
            return self._clustered
        self._session.fetch_nothing("ROLLBACK TO SAVEPOINT looked")  # if looking failed
        return {}

    def _hold_source(self) -> None:
        self._session.hold(located.relation for located in self._layout.tables.values())

    def _require_unchanged(self) -> None:
        if not self._unchanged():
            raise EngineError("tables of the source changed")

    def _bind(self, written: Sequence[tuple[str, Mapping[str, Parameter]]]) -> None:
        for sql, parameters in written:
            if not self._session.bind(sql, parameters):
                raise ContractError(
                    "The source cannot answer the plan.",
                    hint="Compare the types of its columns with dataset.yaml.",
                )

    def _unchanged(self) -> bool:
        now: Layout | None = None
        with dropping_server_messages():
            now = self._catalogue()
        return now == self._layout


def open_postgres(
    source: Source,
    *,
    dataset: Dataset,
    hash_key: bytes,
    withdrawn: Sequence[str] = (),
    copying: UseCopies | None = None,
    role: str = "",
) -> PostgresEngine:
    """Open a declared database; reads its catalogue, no rows.

    Args:
        source: What is declared.
        dataset: Public facts.
        hash_key: Secret key of the order in which a patient's rows are kept, 16 bytes or more.
        withdrawn: Keyed hashes, 32 hexadecimal digits each, of persons who withdrew consent.
        copying: Where the manifest of prepared copies lies that may be read.
        role: Who connects, in place of whom the URL or PGUSER names.

    Raises:
        ContractError: If the database cannot be reached, is too old, or a table asks for what no
            database has.
        MissingExtraError: If psycopg is not installed.
    """
    opened = connected_database(
        source, dataset=dataset, hash_key=hash_key, withdrawn=withdrawn, role=role
    )

    def copies() -> tuple[Standing, Mapping[str, ClusteredTable]]:
        if copying is None or not source.copies or not streams(dataset):
            return Standing.ABSENT, {}
        return copies_in_database(
            opened.connection,
            copying.folder,
            schema=source.copies,
            layout=opened.layout,
            dataset=dataset,
            hash_key=hash_key,
            withdrawn=withdrawn,
        )

    closing = contextlib.ExitStack()
    closing.callback(opened.connection.close)
    return PostgresEngine(
        dataset=dataset,
        opened=opened,
        close=closing,
        copies=copies,
        says_copies=bool(source.copies) and streams(dataset),
    )
