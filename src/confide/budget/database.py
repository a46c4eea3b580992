"""The ledger's SQLite file: opened with care, migrated, read and written row by row.

``synchronous=EXTRA`` with ``journal_mode=DELETE`` makes a commit survive a power cut; not WAL,
whose reset bug corrupts before SQLite 3.51.3.  The file is readable by its owner alone and lies in
a folder that nobody else may enter.

References:
    [SQLite] SQLite documentation: pragma synchronous; write-ahead logging, sec. 11.
        https://sqlite.org/pragma.html#pragma_synchronous
"""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from confide.budget.book import Book
from confide.budget.chain import Event
from confide.budget.ledger import Entry
from confide.errors import ContractError, LedgerFrozenError

_WAIT_MS = 120_000
_PRAGMAS = (
    f"PRAGMA busy_timeout = {_WAIT_MS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA cell_size_check = ON",
)


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create the file, with its rights checked.

    Raises:
        ContractError: If the folder or the file is open to others, or is no database.
    """
    folder = path.parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_private(folder, mode="700")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        _require_private(path, mode="600")
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


def migrate(database: sqlite3.Connection) -> None:
    """Apply the migrations that this file has not seen, each in its own transaction.

    Raises:
        ContractError: If the file is of a newer version, or is not what its version says.
    """
    scripts = list(_migrations())
    done = int(database.execute("PRAGMA user_version").fetchone()[0])
    if done > len(scripts):
        raise ContractError(
            f"Expected a ledger of version ≤ {len(scripts)}, got {done}.",
            hint="A newer Confide wrote it: upgrade.",
        )
    for number, script in enumerate(scripts[done:], start=done + 1):
        _apply(database, script, number=number)


def schema_of(database: sqlite3.Connection) -> list[tuple[str, ...]]:
    """Return every table, index and trigger with its text."""
    query = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY 1, 2"
    return list(database.execute(query))


def expected_schema() -> list[tuple[str, ...]]:
    """Return the schema that the migrations make."""
    with_all = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(with_all)
        return schema_of(with_all)
    finally:
        with_all.close()


def events_after(database: sqlite3.Connection, number: int) -> Iterator[Event]:
    """Yield the rows of the chain after ``number``, in order."""
    query = "SELECT number, body, previous, hash FROM event WHERE number > ? ORDER BY number"
    for row in database.execute(query, (number,)):
        yield Event(number=row[0], body=row[1], previous=row[2], hash=row[3])


def stored_payload(database: sqlite3.Connection, entry: int) -> bytes | None:
    """Return the stored answer of an entry."""
    row = database.execute("SELECT bytes FROM payload WHERE entry = ?", (entry,)).fetchone()
    return None if row is None else bytes(row[0])


def write_event(database: sqlite3.Connection, event: Event) -> None:
    """Append a row to the chain."""
    row = (event.number, event.body, event.previous, event.hash)
    database.execute("INSERT INTO event VALUES (?, ?, ?, ?)", row)


def write_head(database: sqlite3.Connection, *, book: Book, signature: str) -> None:
    """Record the signed head; replaces the one before."""
    row = (book.number, book.hash, signature)
    database.execute("INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?)", row)


def write_caps(database: sqlite3.Connection, *, book: Book, lineage: str) -> None:
    """Give every counter of ``lineage`` the cap that holds now."""
    counters = book.account(lineage).counters
    rows = [(lineage, name, each.start, each.cap) for name, each in counters.items()]
    database.executemany(
        "INSERT INTO counter VALUES (?, ?, ?, ?)"
        " ON CONFLICT (lineage, scope) DO UPDATE SET cap = excluded.cap",
        rows,
    )


def add_spent(
    database: sqlite3.Connection, *, lineage: str, scope: str, units: int, expect: int
) -> None:
    """Add to a counter, if its cap allows, and require that it then holds ``expect``.

    The condition is checked by the database in the statement that adds.
    """
    row = database.execute(
        "UPDATE counter SET spent = spent + :units WHERE lineage = :lineage AND scope = :scope"
        " AND (cap IS NULL OR spent + :units <= cap) RETURNING spent",
        {"units": units, "lineage": lineage, "scope": scope},
    ).fetchall()
    if row != [(expect,)]:
        raise LedgerFrozenError(f"The counter {scope} of {lineage!r} is not what its rows say.")


def write_request(database: sqlite3.Connection, entry: Entry) -> None:
    """Record a request, granted or refused."""
    database.execute(
        "INSERT INTO request VALUES (?, ?, ?, ?, ?)",
        (entry.number, entry.analyst, entry.plan_digest, entry.request_key, entry.state.value),
    )


def write_state(database: sqlite3.Connection, entry: Entry) -> None:
    """Record the state that a request has come to."""
    database.execute(
        "UPDATE request SET state = ? WHERE entry = ?", (entry.state.value, entry.number)
    )


def write_payload(database: sqlite3.Connection, *, entry: int, payload: bytes) -> None:
    """Store an answer."""
    database.execute("INSERT INTO payload VALUES (?, ?)", (entry, payload))


def write_counters(database: sqlite3.Connection, book: Book) -> None:
    """Write every counter anew from the chain."""
    database.execute("DELETE FROM counter")
    database.executemany(
        "INSERT INTO counter VALUES (?, ?, ?, ?)",
        [
            (lineage, name, counter.spent, counter.cap)
            for lineage, account in book.accounts.items()
            for name, counter in account.counters.items()
        ],
    )


def differences(database: sqlite3.Connection, book: Book) -> Iterator[str]:
    """Yield what in the tables is not what the chain adds up to."""
    counters = {
        (lineage, name, counter.spent, counter.cap)
        for lineage, account in book.accounts.items()
        for name, counter in account.counters.items()
    }
    if set(database.execute("SELECT lineage, scope, spent, cap FROM counter")) != counters:
        yield "A counter is not what the rows of the chain say."
    head = [(book.number, book.hash)] if book.number else []
    if list(database.execute("SELECT number, hash FROM head")) != head:
        yield "The signed head is not the last row of the chain."


def damage(database: sqlite3.Connection, book: Book) -> Iterator[str]:
    """Yield what cannot be written anew from the chain."""
    requests = {
        (e.number, e.analyst, e.plan_digest, e.request_key, e.state.value)
        for e in (held.entry for held in book.requests.values())
    }
    query = "SELECT entry, analyst, plan_digest, request_key, state FROM request"
    if set(database.execute(query)) != requests:
        yield "A request is not what the rows of the chain say."
    hashes = {
        number: held.entry.payload_sha256
        for number, held in book.requests.items()
        if held.entry.payload_sha256
    }
    stored = database.execute("SELECT entry, bytes FROM payload")
    if {number: hashlib.sha256(payload).hexdigest() for number, payload in stored} != hashes:
        yield "A stored answer is not what the rows of the chain say."
    if schema_of(database) != expected_schema():
        yield "A table or trigger is not what Confide made."


def _require_private(path: Path, *, mode: str) -> None:
    status = path.stat()
    if status.st_mode & 0o077 or status.st_uid != os.geteuid():
        raise ContractError(
            f"Expected {path} to be open to its owner alone, got mode {status.st_mode & 0o777:o}.",
            hint=f"Run: chmod {mode} {path}",
        )


def _migrations() -> Iterator[str]:
    folder = resources.files("confide.budget") / "migrations"
    scripts = [item for item in folder.iterdir() if item.name.endswith(".sql")]
    for script in sorted(scripts, key=lambda item: item.name):
        yield script.read_text(encoding="utf-8")


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
