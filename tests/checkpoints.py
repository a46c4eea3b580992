"""Ledgers with checkpoints, and what somebody without the signing key may do to their tables."""

import shutil
import sqlite3

from ledgers import HandClock, open_ledger, released, terms, used

RELEASES = 6


def made(folder, *, releases=RELEASES, first="k"):
    """A ledger of several releases of a tenth, closed."""
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms(year=None))
    for number in range(releases):
        released(ledger, f"{first}{number}", b"answer", nano=10_000_000)
    ledger.close()
    return folder


def opened(folder):
    return open_ledger(folder, clock=HandClock())


def began_at(ledger):
    """The row of the checkpoint from which a ledger was opened; 0 if all of it was read."""
    journal = ledger._journal
    return 0 if journal.book.requests._settled is None else journal._keeper.basis.number


def spent_at(folder):
    ledger = opened(folder)
    try:
        return used(ledger)["lifetime"]
    finally:
        ledger.close()


def tamper(folder, *statements):
    """Change the tables in spite of their triggers, which are put back."""
    database = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    for statement, *values in statements:
        database.execute(statement, values)
    for _, sql in triggers:
        database.execute(sql)
    database.close()


def rows_of(folder):
    database = sqlite3.connect(folder / "ledger.sqlite")
    rows = list(database.execute("SELECT * FROM checkpoint ORDER BY number"))
    database.close()
    return rows


def put_rows(folder, rows):
    """Let the table of checkpoints hold other rows."""
    inserts = [("INSERT INTO checkpoint VALUES (?, ?, ?, ?)", *row) for row in rows]
    tamper(folder, ("DELETE FROM checkpoint",), *inserts)


def copied(folder, to):
    to.mkdir(mode=0o700)
    for name in ("ledger.sqlite", "anchor"):
        shutil.copy(folder / name, to / name)
    return to
