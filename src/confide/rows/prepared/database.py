"""``confide prepare`` of a PostgreSQL database: copies in a schema of the steward's.

All tables are made in one transaction that sees one state of the database: a run that is killed, a
full disk or a lost connection leaves what was there.  The manifest of the workspace comes last, and
only it says which copies are in use.  Those of the run before stay until the next run, for whoever
reads them.

*Privacy:* the role that prepares may write in that schema; the role that reads needs SELECT on the
copies alone.  Every number of a copy is held to its declared domain by a check of the server.  The
facts that come back are exact, for the steward's screen alone.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp

from confide.errors import ContractError, EngineError
from confide.rows.cells.operations import written
from confide.rows.copies.choice import streams
from confide.rows.copies.clustered import ClusteredTable
from confide.rows.copies.copies import UseCopies
from confide.rows.copies.in_database import (
    copies_in_database,
    fingerprint_in,
    generation_in,
    state_of_sources,
)
from confide.rows.copies.manifest import (
    MANIFEST,
    Manifest,
    Standing,
    TableFacts,
    read_manifest,
    write_manifest,
)
from confide.rows.dialects.postgres import ConfidePostgres
from confide.rows.engines.postgres import PostgresEngine, open_postgres
from confide.rows.engines.postgres_opened import OpenDatabase, connected_database
from confide.rows.engines.postgres_session import dropping_server_messages
from confide.rows.prepared.build import ROOM, none_of, of_contacts, writing_alone
from confide.rows.prepared.check import differing
from confide.rows.prepared.database_layouts import checks, rows_in_order, rows_without_rank
from confide.rows.prepared.facts import met_elsewhere, table_facts
from confide.rows.relational.table_rows import Scope
from confide.tables.schema import Dataset, Table
from confide.tables.source import Source

_MINE = """
SELECT n.nspname::text, c.relname::text
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE (starts_with(c.relname, $1) OR c.relname = ANY($2)) AND c.relkind = 'r'
ORDER BY n.nspname, c.relname
"""  # in whatever schema: copies-schema may have been another
_MAY_WRITE = "SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = $1"
_SIZE = "SELECT coalesce(sum(pg_table_size(t::regclass)), 0)::bigint FROM unnest($1::text[]) AS t"
_CONNECTS = (
    "Write `--role` for who prepares, and once: CREATE SCHEMA {0} AUTHORIZATION that_role; GRANT "
    "USAGE ON SCHEMA {0} TO reader; ALTER DEFAULT PRIVILEGES FOR ROLE that_role IN SCHEMA {0} "
    "GRANT SELECT ON TABLES TO reader."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabasePreparation:
    """What a source in PostgreSQL needs to be prepared.

    Attributes:
        source: What is declared.
        dataset: Public facts.
        hash_key: Secret key of the row order.
        folder: Of the manifest.
        withdrawn: Keyed hashes of persons who withdrew consent; none of their rows is copied.
        role: Who connects; whom the URL or PGUSER names if empty.
    """

    source: Source
    dataset: Dataset
    hash_key: bytes
    folder: Path
    withdrawn: tuple[str, ...] = ()
    role: str = ""

    def disk_needed(self) -> int:
        """Return the bytes that preparing may take on the server, from the size of the tables.

        Raises:
            ContractError: If the database cannot be used.
        """
        with self._database() as opened:
            tables = {each.relation for each in opened.layout.tables.values()}
            return ROOM * _size(opened, sorted(tables, key=str))

    def prepare(self, *, progress: Callable[[str], None] = lambda _: None) -> Manifest:
        """Write the copies unless they are current; return what is in use.

        Args:
            progress: Told the name of each stage.

        Raises:
            ContractError: If no schema is declared, the role may not write there, nothing can be
                prepared, or the source changed meanwhile.
            EngineError: If reading or writing failed; nothing was written.
        """
        self._require_suited()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writing_alone(self.folder), self._database() as opened:
            before = read_manifest(self.folder)
            if before is not None and self._standing(opened) is Standing.CURRENT:
                return before
            self._require_writable(opened)
            manifest = self._written(opened, before=before, progress=progress)
            progress("use the copies")
            write_manifest(self.folder, manifest)
        return manifest

    def differing(self) -> tuple[str, ...]:
        """Return the tables whose copies do not give what the source gives; none should.

        Raises:
            ContractError: If there are no current copies.
            EngineError: If reading failed.
        """
        with self._database() as opened:
            if self._standing(opened) is not Standing.CURRENT:
                raise ContractError("There are no current copies.", hint="Run: confide prepare")
        with self._engine() as source, self._engine(copying=True) as copies:
            unread = tuple(source.problems())
            return differing(source, copies=copies, dataset=self.dataset, unread=unread)

    def problems(self) -> Mapping[str, str]:
        """Return why a declared table cannot be read, by its name; reads no rows.

        Raises:
            ContractError: If the source cannot be opened.
        """
        with self._engine() as engine:
            return engine.problems()

    def drop(self) -> bool:
        """Drop all copies of this workspace; return whether any were in use.

        Raises:
            ContractError: If the role may not, or copies are being written.
            EngineError: If it failed.
        """
        self._require_suited()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writing_alone(self.folder), self._database() as opened:
            self._require_writable(opened)
            before = read_manifest(self.folder)
            with opened.session.writing():
                self._drop(opened, before=before, keep="")
            (self.folder / MANIFEST).unlink(missing_ok=True)
        return before is not None

    @contextmanager
    def _database(self) -> Iterator[OpenDatabase]:
        opened = connected_database(
            self.source,
            dataset=self.dataset,
            hash_key=self.hash_key,
            withdrawn=self.withdrawn,
            role=self.role,
        )
        try:
            yield opened
        finally:
            opened.connection.close()

    def _engine(self, *, copying: bool = False) -> PostgresEngine:
        return open_postgres(
            self.source,
            dataset=self.dataset,
            hash_key=self.hash_key,
            withdrawn=self.withdrawn,
            copying=UseCopies(folder=self.folder) if copying else None,
            role=self.role,
        )

    def _require_suited(self) -> None:
        if not self.source.copies:
            raise ContractError(
                "Copies of a database lie in a schema of the steward's, and none is named.",
                hint="Write source: {copies-schema: confide_copies} in dataset.yaml. "
                + _CONNECTS.format("confide_copies"),
            )
        if not streams(self.dataset):
            raise ContractError(
                f"With the {self.dataset.unit.entity.value} as privacy unit there is nothing to "
                "prepare in a database.",
                hint="Run the study: rows are read from the source as it is.",
            )

    def _require_writable(self, opened: OpenDatabase) -> None:
        found: list[tuple[bool]] = []
        with dropping_server_messages():
            found = opened.connection.execute(_MAY_WRITE, [self.source.copies]).fetchall()
        if found != [(True,)]:
            raise ContractError(
                f"Schema {self.source.copies!r} is not there, or who connects may not write in it.",
                hint=_CONNECTS.format(self.source.copies),
            )

    def _standing(self, opened: OpenDatabase) -> Standing:
        found = Standing.OUTDATED
        with dropping_server_messages():
            found, _ = copies_in_database(
                opened.connection,
                self.folder,
                schema=self.source.copies,
                layout=opened.layout,
                dataset=self.dataset,
                hash_key=self.hash_key,
                withdrawn=self.withdrawn,
            )
        return found

    def _stem(self) -> str:
        """Return what the names of this workspace's copies begin with."""
        said = f"confide copies of {self.dataset.lineage}".encode()
        return f"confide_{hmac.new(self.hash_key, said, hashlib.sha256).hexdigest()[:12]}_"

    def _written(
        self, opened: OpenDatabase, *, before: Manifest | None, progress: Callable[[str], None]
    ) -> Manifest:
        """Make the tables, and return what says that they are in use."""
        tables = _readable(opened.layout, dataset=self.dataset)
        sources = self._sources(opened)  # before the snapshot: what changes since is known by it
        name = generation_in(
            self.source.copies,
            self.dataset,
            sources=sources,
            hash_key=self.hash_key,
            withdrawn=self.withdrawn,
        )
        stem = f"{self._stem()}{name[:16]}_"
        copies = {
            table.name: self._named(table, stem=f"{stem}t{number}")
            for number, table in enumerate(tables)
        }
        session, scope = (
            opened.session,
            Scope(dataset=self.dataset, layout=opened.layout, streams=False),
        )
        others = before is not None and before.generation != name
        keep = before.generation if before is not None and others else ""
        with session.writing():
            session.hold(each.relation for each in opened.layout.tables.values())
            self._drop(opened, before=before, keep=keep)
            facts = []
            for table in tables:
                progress(f"cluster {table.name}")
                copy = copies[table.name]
                session.store(copy.rows, rows_in_order(table, scope=scope))
                if copy.partial is not None:
                    session.store(copy.partial, rows_without_rank(copy.rows))
                for made in copy.tables():
                    session.fetch_nothing(checks(table, copy=made))
                progress(f"examine {table.name}")
                facts.append(table_facts(table, scope=scope, run=session.rows, clustered=copy.rows))
            rows = {table: copy.rows for table, copy in copies.items()}
            told = met_elsewhere(facts, scope=scope, run=session.rows, clustered=rows)
            if self._sources(opened) != sources:
                raise ContractError(
                    "The source changed while it was being prepared; nothing new is in use.",
                    hint="Run `confide prepare` again once it is at rest.",
                )
        return self._manifest(opened, name=name, copies=copies, facts=told)

    def _manifest(
        self,
        opened: OpenDatabase,
        *,
        name: str,
        copies: Mapping[str, ClusteredTable],
        facts: tuple[TableFacts, ...],
    ) -> Manifest:
        stored: dict[str, str] = {}
        made = [table for copy in copies.values() for table in copy.tables()]
        with dropping_server_messages() as failed:
            opened.connection.execute("SELECT pg_stat_force_next_flush()")
            stored = {table.name: fingerprint_in(opened.connection, table) for table in made}
        if failed:
            raise EngineError(failed[0])
        return Manifest(
            generation=name,
            lineage=self.dataset.lineage,
            ids=opened.layout.ids.value,
            patients="",
            tables={
                table: (copy.rows.name, "", copy.partial.name if copy.partial else "")
                for table, copy in copies.items()
            },
            sizes={table.name: _size(opened, [table]) for table in made},
            stored=stored,
            facts=facts,
        )

    def _named(self, table: Table, *, stem: str) -> ClusteredTable:
        rows, partial = (
            exp.table_(name, db=self.source.copies, quoted=True) for name in (stem, f"{stem}p")
        )
        return ClusteredTable(rows=rows, partial=None if table.one_row_per_patient else partial)

    def _sources(self, opened: OpenDatabase) -> dict[str, str]:
        counted: list[tuple[str]] = []
        found: dict[str, str] = {}
        with dropping_server_messages() as failed:
            counted = opened.connection.execute("SHOW track_counts").fetchall()
            found = state_of_sources(opened.connection, opened.layout)
        if failed:
            raise EngineError(failed[0])
        if counted != [("on",)]:
            raise ContractError(
                "The server does not count changes of rows, so a stale copy would not be known.",
                hint="Set track_counts = on, which is its default, and prepare again.",
            )
        return found

    def _drop(self, opened: OpenDatabase, *, before: Manifest | None, keep: str) -> None:
        """Drop the copies of this workspace, whatever schema holds them, but a generation's."""
        mine: list[tuple[str, str]] = []
        named = (
            [n for rows, _, partial in before.tables.values() for n in (rows, partial) if n]
            if before
            else []
        )
        with dropping_server_messages() as failed:
            mine = opened.connection.execute(_MINE, [self._stem(), named]).fetchall()
        if failed:
            raise EngineError(failed[0])
        for schema, name in mine:
            if keep and name.startswith(f"{self._stem()}{keep[:16]}_"):
                continue
            text = written(exp.table_(name, db=schema, quoted=True), dialect=ConfidePostgres)
            try:
                opened.session.fetch_nothing(f"DROP TABLE IF EXISTS {text}")
            except EngineError:
                if schema == self.source.copies:
                    raise
                raise ContractError(
                    f"Copies of before lie in schema {schema!r}, and who connects may not drop "
                    "them, or somebody reads them.",
                    hint="Drop those tables as their owner; their names begin with "
                    f"{self._stem()!r}.",
                ) from None


def _readable(layout: Any, *, dataset: Dataset) -> list[Table]:
    problems = {table.name: layout.problem(table, dataset=dataset) for table in dataset.tables}
    tables = [
        table
        for table in dataset.tables
        if not problems[table.name] and not of_contacts(table, dataset=dataset)
    ]
    if not tables:
        raise none_of({name: why for name, why in problems.items() if why})
    return tables


def _size(opened: OpenDatabase, tables: list[exp.Table]) -> int:
    names = [written(each, dialect=ConfidePostgres) for each in tables]
    size = 0
    with dropping_server_messages() as failed:
        [(found,)] = opened.connection.execute(_SIZE, [names]).fetchall()
        size = int(found)
    if failed:
        raise EngineError(failed[0])
    return size
