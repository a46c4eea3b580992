"""The ledger's rows in PostgreSQL, for a team: many hosts, many processes, one budget.

One writer at a time, by a lock on the table of the head that ends with its transaction: who has no
right to write there cannot take it, while an advisory lock is anybody's who may connect.  The
condition ``spent + units ≤ cap`` is in the statement that adds, and a ``CHECK`` of the table.  A
commit is on disk when it returns (``synchronous_commit``, ``fsync``).  Rows of the chain and
answers are never updated or deleted: triggers refuse it, and :file:`grants.sql` gives a role no
right to.

Each open store holds an advisory lock under its own name.  The server drops it when the session
ends, however it ends and on whatever host, so where nobody holds it who may write here, the owner
is gone; a stranger who holds the lock of one that died keeps nothing alive.  A host that vanished
without a word is found out by keep-alives within two minutes.  This needs a session of its own: a
pool that lends sessions by the transaction is refused.

*Privacy:* a password is never part of the declared URL and of no message.

References:
    [PG] PostgreSQL documentation: explicit locking, sec. 13.3 (table and advisory locks);
        write-ahead log settings, sec. 19.5.
        https://www.postgresql.org/docs/current/explicit-locking.html
"""

import contextlib
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from confide.budget.accounts.book import Book
from confide.budget.chain.chain import Event
from confide.budget.ledger import Entry
from confide.budget.stores.lease import Door
from confide.budget.stores.postgres_session import PostgresSession, open_session
from confide.budget.stores.postgres_tables import expected_tables, tables_of
from confide.budget.stores.store import (
    StoredCheckpoint,
    capped_counters,
    copy_problems,
    counters_of,
    migrations,
    recent_problems,
    request_row,
    table_problems,
)
from confide.errors import ContractError, LedgerFrozenError, PolicyError

_NAME = re.compile(r"[0-9a-f]{32}")
_WRITER = 0x43F1DE  # first half of the key of the writer's lock; the second is the schema's
_GRANTS = "Its owner gives the rights: confide ledger grants --role ROLE | psql ..."
_HELD = """
SELECT EXISTS (
    SELECT 1 FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
      JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = current_database()
     WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
       AND l.classid::bigint = %(high)s AND l.objid::bigint = %(low)s
       AND EXISTS (
        SELECT 1 FROM pg_catalog.pg_class c
          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
          CROSS JOIN pg_catalog.pg_roles r
         WHERE n.nspname = %(schema)s AND c.relname = 'head'
           AND pg_has_role(a.usesysid, r.oid, 'MEMBER')
           AND has_schema_privilege(r.oid, n.oid, 'USAGE')
           AND has_table_privilege(r.oid, c.oid, 'UPDATE')))
"""
_ROWS = 500  # of the chain fetched at once
_HEADERS = 64  # of checkpoints kept for hosts that did not look for a while


class PostgresStore:
    """A ledger's rows in one schema; satisfies :class:`confide.budget.stores.store.Store`."""

    most_behind: int | None = None

    def __init__(self, url: str, *, schema: str, folder: Path) -> None:
        """Connect.

        Args:
            url: As in dataset.yaml, without a password.
            schema: Of the ledger's tables; made by the first migration.
            folder: Where the processes of this host queue.

        Raises:
            MissingExtraError: If psycopg is not installed.
            LedgerUnreachableError: If there is no connection.
            ContractError: If the server does not keep what it commits, or is too old.
        """
        self.schema, self._process = schema, os.getpid()
        self.owner = uuid.uuid4().hex
        self._session: PostgresSession = open_session(url, schema=schema)
        self.refusals, self.failures = self._session.refusals, self._session.failures
        try:
            self._door = Door(folder)
        except BaseException:
            self._session.close()
            raise
        self._run("SELECT pg_advisory_lock(%s)", (_lock_of(self.owner),))

    def is_alive(self, owner: str) -> bool:
        """See :meth:`Store.is_alive`."""
        if owner == self.owner or not _NAME.fullmatch(owner):
            return True
        lock = _lock_of(owner) % 2**64
        parts = {"high": lock >> 32, "low": lock % 2**32, "schema": self.schema}
        ((held,),) = self._run(_HELD, parts)
        return bool(held)

    def turn(self) -> AbstractContextManager[None]:
        """See :meth:`Store.turn`."""
        return self._door.writing()

    def migrate(self) -> None:
        """See :meth:`Store.migrate`."""
        scripts = migrations("postgres")
        done = self._version()
        if done > len(scripts):
            raise ContractError(
                f"Expected a ledger of version ≤ {len(scripts)}, got {done}.",
                hint="A newer Confide wrote it: upgrade.",
            )
        for number in range(done + 1, len(scripts) + 1):
            self._apply(scripts[number - 1], number=number)

    def begin(self) -> None:
        """See :meth:`Store.begin`."""
        self._session.begin()
        try:
            self._lock()
        except BaseException:
            self._session.rollback()
            raise

    def commit(self) -> None:
        """See :meth:`Store.commit`."""
        self._session.commit()

    def rollback(self) -> bool:
        """See :meth:`Store.rollback`."""
        return self._session.rollback()

    def close(self) -> None:
        """See :meth:`Store.close`."""
        if self._process == os.getpid():  # a child must not end the session of its parent
            self._session.close()
            self._door.close()

    def set_aside(self) -> str:
        """See :meth:`Store.set_aside`."""
        name = f"{self.schema[:30]}_replaced_{datetime.now(UTC):%Y%m%dt%H%M%S%f}"
        self._session.begin()
        try:
            self._lock()
            self._run(f'ALTER SCHEMA "{self.schema}" RENAME TO "{name}"')
            self._session.commit()
        except self._session.denied as error:
            raise PolicyError(
                "This role may not rename the ledger's schema.",
                hint="Restore as the role that owns the schema.",
            ) from error
        finally:
            self._session.rollback()
        self.migrate()
        return name

    def events_after(self, number: int) -> Iterator[Event]:
        """See :meth:`Store.events_after`."""
        query = (
            "SELECT number, body, previous, hash FROM event WHERE number > %s"
            " ORDER BY number LIMIT %s"
        )
        while rows := self._run(query, (number, _ROWS)):
            for row in rows:
                yield Event(number=row[0], body=row[1], previous=row[2], hash=row[3])
            number = rows[-1][0]
            if len(rows) < _ROWS:
                return

    def events(self, numbers: Sequence[int]) -> Iterator[Event]:
        """See :meth:`Store.events`."""
        query = (
            "SELECT number, body, previous, hash FROM event WHERE number = ANY(%s) ORDER BY number"
        )
        for start in range(0, len(numbers), _ROWS):
            for row in self._run(query, (list(numbers[start : start + _ROWS]),)):
                yield Event(number=row[0], body=row[1], previous=row[2], hash=row[3])

    def checkpoints(self, *, after: int = 0) -> list[StoredCheckpoint]:
        """See :meth:`Store.checkpoints`."""
        query = (
            "SELECT number, lines, header, signature FROM checkpoint WHERE number > %s"
            " ORDER BY number"
        )
        return [
            StoredCheckpoint(number=row[0], lines=bytes(row[1]), header=row[2], signature=row[3])
            for row in (self._run(query, (after,)) if self._may_keep_checkpoints() else ())
        ]

    def write_checkpoint(self, checkpoint: StoredCheckpoint, *, alone: bool) -> None:
        """See :meth:`Store.write_checkpoint`."""
        if not self._may_keep_checkpoints():
            return
        if alone:
            self._run("DELETE FROM checkpoint")
        self._run(
            "UPDATE checkpoint SET header = '' WHERE header <> '' AND number <="
            " (SELECT number FROM checkpoint ORDER BY number DESC LIMIT 1 OFFSET %s)",
            (_HEADERS,),
        )
        row = (checkpoint.number, checkpoint.lines, checkpoint.header, checkpoint.signature)
        self._run("INSERT INTO checkpoint VALUES (%s, %s, %s, %s)", row)

    def _may_keep_checkpoints(self) -> bool:
        """Return whether this role was given the rights to it, which no release needs."""
        needed = ("SELECT", "INSERT", "UPDATE", "DELETE")
        query = "SELECT has_table_privilege('checkpoint', %s)"
        return all(self._run(query, (right,)) == [(True,)] for right in needed)

    def head(self) -> tuple[int, str, str] | None:
        """See :meth:`Store.head`."""
        rows = self._run("SELECT number, hash, signature FROM head")
        return None if not rows else (rows[0][0], rows[0][1], rows[0][2])

    def payload(self, entry: int) -> bytes | None:
        """See :meth:`Store.payload`."""
        rows = self._run("SELECT bytes FROM payload WHERE entry = %s", (entry,))
        return None if not rows else bytes(rows[0][0])

    def write_event(self, event: Event) -> None:
        """See :meth:`Store.write_event`."""
        row = (event.number, event.body, event.previous, event.hash)
        self._run("INSERT INTO event VALUES (%s, %s, %s, %s)", row)

    def write_head(self, *, book: Book, signature: str) -> None:
        """See :meth:`Store.write_head`."""
        self._run(
            "INSERT INTO head VALUES (1, %s, %s, %s) ON CONFLICT (place) DO UPDATE SET"
            " number = excluded.number, hash = excluded.hash, signature = excluded.signature",
            (book.number, book.hash, signature),
        )

    def write_caps(self, *, book: Book, lineage: str) -> None:
        """See :meth:`Store.write_caps`."""
        self._session.run_many(
            "INSERT INTO counter VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (lineage, scope) DO UPDATE SET cap = excluded.cap",
            capped_counters(book, lineage=lineage),
        )

    def add_spent(self, *, lineage: str, scope: str, units: int, expect: int) -> None:
        """See :meth:`Store.add_spent`."""
        rows = self._run(
            "UPDATE counter SET spent = spent + %(units)s"
            " WHERE lineage = %(lineage)s AND scope = %(scope)s"
            " AND (cap IS NULL OR spent + %(units)s <= cap) RETURNING spent",
            {"units": units, "lineage": lineage, "scope": scope},
        )
        if rows != [(expect,)]:
            raise LedgerFrozenError(f"The counter {scope} of {lineage!r} is not what its rows say.")

    def write_request(self, entry: Entry) -> None:
        """See :meth:`Store.write_request`."""
        self._run("INSERT INTO request VALUES (%s, %s, %s, %s, %s)", request_row(entry))

    def write_state(self, entry: Entry) -> None:
        """See :meth:`Store.write_state`."""
        row = (entry.state.value, entry.number)
        self._run("UPDATE request SET state = %s WHERE entry = %s", row)

    def write_payload(self, *, entry: int, payload: bytes) -> None:
        """See :meth:`Store.write_payload`."""
        self._run("INSERT INTO payload VALUES (%s, %s)", (entry, bytes(payload)))

    def write_counters(self, book: Book) -> None:
        """See :meth:`Store.write_counters`."""
        self._run("DELETE FROM counter")
        rows = sorted(counters_of(book), key=lambda row: row[:2])
        self._session.run_many("INSERT INTO counter VALUES (%s, %s, %s, %s)", rows)

    def differences(self, book: Book) -> Iterator[str]:
        """See :meth:`Store.differences`."""
        counters = set(self._run("SELECT lineage, scope, spent, cap FROM counter"))
        yield from copy_problems(book, counters=counters, head=self.head())

    def recent_damage(self, book: Book) -> Iterator[str]:
        """See :meth:`Store.recent_damage`."""
        query = "SELECT entry, analyst, plan_digest, request_key, state FROM request"
        numbers = [held.entry.number for held in book.requests.recent()]
        rows = self._run(f"{query} WHERE entry = ANY(%s)", (numbers,))
        answers = self._run("SELECT entry, bytes FROM payload WHERE entry = ANY(%s)", (numbers,))
        yield from recent_problems(
            book,
            request={row[0]: row for row in rows}.get,
            payload={entry: bytes(answer) for entry, answer in answers}.get,
        )
        if tables_of(self._run, schema=self.schema) != expected_tables():
            yield "A table or trigger is not what Confide made."

    def damage(self, book: Book) -> Iterator[str]:
        """See :meth:`Store.damage`."""
        query = "SELECT entry, analyst, plan_digest, request_key, state FROM request"
        answers = self._run("SELECT entry, encode(sha256(bytes), 'hex') FROM payload")
        yield from table_problems(book, requests=set(self._run(query)), answers=dict(answers))
        if tables_of(self._run, schema=self.schema) != expected_tables():
            yield "A table or trigger is not what Confide made."

    def _run(self, query: str, values: Sequence[Any] | dict[str, Any] = ()) -> list[Any]:
        return self._session.run(query, values)

    def _lock(self) -> None:
        """Wait for every other writer, of any host; to the end of the transaction."""
        query = (
            "SELECT pg_backend_pid(), EXISTS (SELECT 1 FROM pg_catalog.pg_tables"
            " WHERE schemaname = %s AND tablename = 'head')"
        )
        ((backend, has_tables),) = self._run(query, (self.schema,))
        self._session.require_own(backend)
        if not has_tables:  # to be made, or taken away: who may lock nothing yet
            self._run("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_WRITER, self.schema))
            return
        try:
            self._run(f'LOCK TABLE "{self.schema}".head IN SHARE ROW EXCLUSIVE MODE')
        except self._session.denied as error:
            raise ContractError(
                f"This role may not write to the ledger in schema {self.schema}.", hint=_GRANTS
            ) from error

    def _version(self) -> int:
        """Return the number of the last migration; 0 of a schema that is not there."""
        # Read from the catalogue: the names that the session remembers may be older.
        query = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = %s"
        if not self._run(query, (self.schema, "migration")):
            return 0
        query = f'SELECT coalesce(max(number), 0) FROM "{self.schema}".migration'  # noqa: S608
        try:
            ((number,),) = self._run(query)
        except self._session.denied as error:
            raise ContractError(
                f"This role may not read the ledger in schema {self.schema}.",
                hint=_GRANTS,
            ) from error
        return int(number)

    def _apply(self, script: str, *, number: int) -> None:
        self._session.begin()
        try:
            self._lock()
            if self._version() >= number:  # another host was first
                return
            query = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s"
            if number == 1 and not self._run(query, (self.schema,)):
                self._run(f'CREATE SCHEMA "{self.schema}"')
            self._session.run_script(script)
            self._run("INSERT INTO migration (number) VALUES (%s)", (number,))
            self._session.commit()
        except self._session.denied as error:
            raise ContractError(
                f"This role may not make the ledger's tables in schema {self.schema}.",
                hint="Open the ledger once as the role that owns the schema.",
            ) from error
        except self._session.failures as error:
            raise ContractError(
                f"Migration {number} of the ledger does not apply in schema {self.schema}.",
                hint="Is something else there? Name another schema in dataset.yaml.",
            ) from error
        finally:
            with contextlib.suppress(Exception):
                self._session.rollback()


def _lock_of(owner: str) -> int:
    """Return the number of an owner's lock, a signed 64-bit integer.

    Example:
        >>> _lock_of("ff" * 16)
        -1
    """
    return int.from_bytes(bytes.fromhex(owner)[:8], "big", signed=True)
