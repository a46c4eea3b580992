"""The ledger's SQLite file: opened with care, migrated, read and written row by row.

For one host, any number of processes.  ``synchronous=EXTRA`` with ``journal_mode=DELETE`` makes a
commit survive a power cut; not WAL, whose reset bug corrupts before SQLite 3.51.3.  The file is
readable by its owner alone and lies in a folder that nobody else may enter.

References:
    [SQLite] SQLite documentation: pragma synchronous; write-ahead logging, sec. 11.
        https://sqlite.org/pragma.html#pragma_synchronous
"""

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from confide.budget.accounts.book import Book
from confide.budget.chain.chain import Event
from confide.budget.ledger import Entry
from confide.budget.stores.lease import Lease
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
from confide.regular_file import descriptor, require_regular

_WAIT_MS = 120_000
_COMPANIONS = ("-journal", "-wal", "-shm")
_OF_THE_FILE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}
_PRAGMAS = (
    f"PRAGMA busy_timeout = {_WAIT_MS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA cell_size_check = ON",
    "PRAGMA cache_size = -65536",  # at most 64 MiB: a long ledger's index is asked in any order
)


class SQLiteStore:
    """A ledger's rows in one SQLite file; satisfies :class:`confide.budget.stores.store.Store`."""

    refusals: tuple[type[Exception], ...] = (sqlite3.IntegrityError,)
    failures: tuple[type[Exception], ...] = (sqlite3.DatabaseError,)
    most_behind: int | None = 1

    def __init__(self, path: Path) -> None:
        """Open or create the file, in a folder of its own with mode 700.

        Raises:
            ContractError: If the folder or the file is open to others, or is no database.
        """
        self._path, self._process = path, os.getpid()
        self.database, self._file = open_database(path), _file(path)
        try:
            self.lease = Lease(path.with_name(path.name + ".leases"))
        except BaseException:
            self.database.close()
            raise

    @property
    def owner(self) -> str:
        """See :attr:`Store.owner`."""
        return self.lease.owner

    def is_alive(self, owner: str) -> bool:
        """See :meth:`Store.is_alive`."""
        return self.lease.is_alive(owner)

    def turn(self) -> AbstractContextManager[None]:
        """See :meth:`Store.turn`."""
        return self.lease.writing()

    def migrate(self) -> None:
        """See :meth:`Store.migrate`."""
        _migrate(self.database)

    def begin(self) -> None:
        """See :meth:`Store.begin`.

        Raises:
            LedgerFrozenError: If another file has the name of the one that was opened, as after a
                restore: what is written to the one that is open would be lost.
        """
        self.rollback()  # of one that an interrupt left open
        if _file(self._path) != self._file:
            raise LedgerFrozenError(f"{self._path.name} is another file than the one that is open.")
        self.database.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """See :meth:`Store.commit`."""
        self.database.execute("COMMIT")

    def rollback(self) -> bool:
        """See :meth:`Store.rollback`."""
        is_open = self.database.in_transaction
        if is_open:
            self.database.execute("ROLLBACK")
        return is_open

    def close(self) -> None:
        """See :meth:`Store.close`."""
        self.database.close()
        if self._process == os.getpid():
            self.lease.release()

    def set_aside(self) -> str:
        """See :meth:`Store.set_aside`."""
        _require_alone(self.lease)
        self.database.close()
        name = _rename(self._path)
        self.database, self._file = open_database(self._path), _file(self._path)
        self.migrate()
        return name

    def events_after(self, number: int) -> Iterator[Event]:
        """See :meth:`Store.events_after`."""
        query = "SELECT number, body, previous, hash FROM event WHERE number > ? ORDER BY number"
        for row in self.database.execute(query, (number,)):
            yield Event(number=row[0], body=row[1], previous=row[2], hash=row[3])

    def events(self, numbers: Sequence[int]) -> Iterator[Event]:
        """See :meth:`Store.events`."""
        query = "SELECT number, body, previous, hash FROM event WHERE number = ?"
        for number in numbers:
            for row in self.database.execute(query, (number,)):
                yield Event(number=row[0], body=row[1], previous=row[2], hash=row[3])

    def checkpoints(self, *, after: int = 0) -> list[StoredCheckpoint]:
        """See :meth:`Store.checkpoints`."""
        query = (
            "SELECT number, lines, header, signature FROM checkpoint WHERE number > ?"
            " ORDER BY number"
        )
        return [
            StoredCheckpoint(number=row[0], lines=row[1], header=row[2], signature=row[3])
            for row in self.database.execute(query, (after,))
        ]

    def write_checkpoint(self, checkpoint: StoredCheckpoint, *, alone: bool) -> None:
        """See :meth:`Store.write_checkpoint`."""
        if alone:
            self.database.execute("DELETE FROM checkpoint")
        self.database.execute("UPDATE checkpoint SET header = '' WHERE header <> ''")
        row = (checkpoint.number, checkpoint.lines, checkpoint.header, checkpoint.signature)
        self.database.execute("INSERT INTO checkpoint VALUES (?, ?, ?, ?)", row)

    def head(self) -> tuple[int, str, str] | None:
        """See :meth:`Store.head`."""
        row = self.database.execute("SELECT number, hash, signature FROM head").fetchone()
        return None if row is None else (row[0], row[1], row[2])

    def payload(self, entry: int) -> bytes | None:
        """See :meth:`Store.payload`."""
        query = "SELECT bytes FROM payload WHERE entry = ?"
        row = self.database.execute(query, (entry,)).fetchone()
        return None if row is None else bytes(row[0])

    def write_event(self, event: Event) -> None:
        """See :meth:`Store.write_event`."""
        row = (event.number, event.body, event.previous, event.hash)
        self.database.execute("INSERT INTO event VALUES (?, ?, ?, ?)", row)

    def write_head(self, *, book: Book, signature: str) -> None:
        """See :meth:`Store.write_head`."""
        row = (book.number, book.hash, signature)
        self.database.execute("INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?)", row)

    def write_caps(self, *, book: Book, lineage: str) -> None:
        """See :meth:`Store.write_caps`."""
        self.database.executemany(
            "INSERT INTO counter VALUES (?, ?, ?, ?)"
            " ON CONFLICT (lineage, scope) DO UPDATE SET cap = excluded.cap",
            capped_counters(book, lineage=lineage),
        )

    def add_spent(self, *, lineage: str, scope: str, units: int, expect: int) -> None:
        """See :meth:`Store.add_spent`."""
        row = self.database.execute(
            "UPDATE counter SET spent = spent + :units WHERE lineage = :lineage AND scope = :scope"
            " AND (cap IS NULL OR spent + :units <= cap) RETURNING spent",
            {"units": units, "lineage": lineage, "scope": scope},
        ).fetchall()
        if row != [(expect,)]:
            raise LedgerFrozenError(f"The counter {scope} of {lineage!r} is not what its rows say.")

    def write_request(self, entry: Entry) -> None:
        """See :meth:`Store.write_request`."""
        self.database.execute("INSERT INTO request VALUES (?, ?, ?, ?, ?)", request_row(entry))

    def write_state(self, entry: Entry) -> None:
        """See :meth:`Store.write_state`."""
        row = (entry.state.value, entry.number)
        self.database.execute("UPDATE request SET state = ? WHERE entry = ?", row)

    def write_payload(self, *, entry: int, payload: bytes) -> None:
        """See :meth:`Store.write_payload`."""
        self.database.execute("INSERT INTO payload VALUES (?, ?)", (entry, bytes(payload)))

    def write_counters(self, book: Book) -> None:
        """See :meth:`Store.write_counters`."""
        self.database.execute("DELETE FROM counter")
        rows = sorted(counters_of(book), key=lambda row: row[:2])
        self.database.executemany("INSERT INTO counter VALUES (?, ?, ?, ?)", rows)

    def differences(self, book: Book) -> Iterator[str]:
        """See :meth:`Store.differences`."""
        counters = set(self.database.execute("SELECT lineage, scope, spent, cap FROM counter"))
        yield from copy_problems(book, counters=counters, head=self.head())

    def recent_damage(self, book: Book) -> Iterator[str]:
        """See :meth:`Store.recent_damage`."""
        query = "SELECT entry, analyst, plan_digest, request_key, state FROM request"
        yield from recent_problems(
            book,
            request=lambda n: self.database.execute(f"{query} WHERE entry = ?", (n,)).fetchone(),
            payload=self.payload,
        )
        if _schema_of(self.database) != _expected_schema():
            yield "A table or trigger is not what Confide made."

    def damage(self, book: Book) -> Iterator[str]:
        """See :meth:`Store.damage`."""
        if self.database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            yield "The database file is corrupt."
        query = "SELECT entry, analyst, plan_digest, request_key, state FROM request"
        stored = self.database.execute("SELECT entry, bytes FROM payload")
        yield from table_problems(
            book,
            requests=set(self.database.execute(query)),
            answers={number: hashlib.sha256(answer).hexdigest() for number, answer in stored},
        )
        if _schema_of(self.database) != _expected_schema():
            yield "A table or trigger is not what Confide made."


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create the file, with its rights checked.

    Raises:
        ContractError: If the folder or the file is open to others, or is no database.
    """
    folder = path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_private(folder, mode="700")
    try:
        os.close(descriptor(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        _require_private(path, mode="600")
        for file in (path, *(path.with_name(path.name + end) for end in _COMPANIONS)):
            with contextlib.suppress(FileNotFoundError):
                require_regular(file)  # SQLite would wait for a named pipe
    database = sqlite3.connect(path, isolation_level=None, timeout=_WAIT_MS / 1000)
    try:
        for pragma in _PRAGMAS:
            database.execute(pragma)
    except sqlite3.DatabaseError as error:
        database.close()
        raise ContractError(
            f"{path.name} is not a ledger database.", hint="Restore it from a backup."
        ) from error
    return database


def _file(path: Path) -> tuple[int, int]:
    """Return which file has a name; (0, 0) if none has."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_dev, found.st_ino)


def set_aside_broken(path: Path) -> str:
    """Rename a file that no store can open, with its journal, and return the name it has now.

    "" if there is none, or it can be opened.

    Raises:
        PolicyError: If somebody has the ledger open.
        ContractError: If the folder or the file is open to others, or is of a newer version.
    """
    if not path.exists() or not _is_broken(path):
        return ""
    lease = Lease(path.with_name(path.name + ".leases"))
    try:
        _require_alone(lease)
        return _rename(path)
    finally:
        lease.release()


def _is_broken(path: Path) -> bool:
    _require_private(path.parent, mode="700")
    _require_private(path, mode="600")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        try:
            for statement in (*_PRAGMAS, "BEGIN IMMEDIATE"):
                database.execute(statement)
            version = database.execute("PRAGMA user_version").fetchone()[0]
            is_empty = not _schema_of(database)
            database.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _OF_THE_FILE:  # rights, locks and disks pass over
                raise
            return True
        except sqlite3.DatabaseError:
            return True
    return not version and not is_empty


def _require_alone(lease: Lease) -> None:
    if lease.others():
        raise PolicyError(
            "The ledger is open in another process.", hint="End it first, then run this again."
        )


def _rename(path: Path) -> str:
    name = f"{path.name}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    path.rename(path.with_name(name))
    with contextlib.suppress(FileNotFoundError):  # of a transaction that a crash cut off
        journal = path.with_name(path.name + "-journal")
        journal.rename(journal.with_name(f"{name}-journal"))
    return name


def _migrate(database: sqlite3.Connection) -> None:
    """Apply the migrations that this file has not seen, each in its own transaction."""
    scripts = migrations("sqlite")
    done = int(database.execute("PRAGMA user_version").fetchone()[0])
    if done > len(scripts):
        raise ContractError(
            f"Expected a ledger of version ≤ {len(scripts)}, got {done}.",
            hint="A newer Confide wrote it: upgrade.",
        )
    for number, script in enumerate(scripts[done:], start=done + 1):
        _apply(database, script, number=number)


def _schema_of(database: sqlite3.Connection) -> list[tuple[str, ...]]:
    """Return every table, index and trigger with its text."""
    query = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY 1, 2"
    return list(database.execute(query))


def _expected_schema() -> list[tuple[str, ...]]:
    """Return the schema that the migrations make."""
    with_all = sqlite3.connect(":memory:", isolation_level=None)
    try:
        _migrate(with_all)
        return _schema_of(with_all)
    finally:
        with_all.close()


def _require_private(path: Path, *, mode: str) -> None:
    status = path.stat()
    if status.st_uid != os.geteuid():
        raise ContractError(
            f"{path} is of user {status.st_uid}, and user {os.geteuid()} runs this.",
            hint="Run it as its owner, or change the owner of the folder and of all that is in it.",
        )
    if status.st_mode & 0o077:
        raise ContractError(
            f"Expected {path} to be open to its owner alone, got mode {status.st_mode & 0o777:o}.",
            hint=f"Run: chmod {mode} {path}",
        )


def _apply(database: sqlite3.Connection, script: str, *, number: int) -> None:
    database.execute("BEGIN IMMEDIATE")
    try:
        statement = ""
        for line in script.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                database.execute(statement)
                statement = ""
        database.execute(f"PRAGMA user_version = {number}")
        database.execute("COMMIT")
    except sqlite3.Error as error:
        raise ContractError(
            f"Migration {number} of the ledger does not apply.", hint="Restore it from a backup."
        ) from error
    finally:
        if database.in_transaction:
            database.execute("ROLLBACK")
