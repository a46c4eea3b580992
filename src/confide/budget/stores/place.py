"""Where a ledger is: a SQLite file of this host, or a schema of a PostgreSQL server for a team.

*Privacy:* a declared URL holds no password; it comes from the environment or ``~/.pgpass``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from confide.budget.stores.sqlite_store import SQLiteStore
from confide.budget.stores.sqlite_store import set_aside_broken as set_aside_broken_file
from confide.budget.stores.store import Store
from confide.postgres_url import require_public_url, require_schema_name

LEDGER, QUEUE = "ledger.sqlite", "ledger.queue"


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLitePlace:
    """``ledger.sqlite`` in the workspace folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresPlace:
    """A schema on a PostgreSQL server.

    Attributes:
        url: ``postgresql://user@host:port/database?sslmode=verify-full``, without a password.
        schema: That holds the ledger's tables and nothing else.

    Raises:
        ContractError: If the URL holds a password, or is none; its text is not repeated.
    """

    url: str
    schema: str = "confide"

    def __post_init__(self) -> None:
        require_schema_name(self.schema, where="ledger", example="confide")
        require_public_url(self.url, where="ledger")


Place = SQLitePlace | PostgresPlace


def open_store(place: Place, *, folder: Path) -> Store:
    """Open the store of a place.

    Args:
        place: As declared.
        folder: The workspace folder; a PostgreSQL ledger queues its processes there.

    Raises:
        ContractError: If what is there cannot be a ledger, or is open to others.
        MissingExtraError: If PostgreSQL is asked for and psycopg is not installed.
        LedgerUnreachableError: If the server cannot be reached.
    """
    match place:
        case SQLitePlace():
            return SQLiteStore(folder / LEDGER)
        case PostgresPlace():
            from confide.budget.stores.postgres_store import PostgresStore

            return PostgresStore(place.url, schema=place.schema, folder=folder / QUEUE)
        case _:
            assert_never(place)


def set_aside_broken(place: Place, *, folder: Path) -> str:
    """Rename a ledger file that cannot be opened at all; return its new name, "" if there is none.

    A schema in PostgreSQL is left alone: what cannot be opened there may be somebody else's.
    """
    match place:
        case SQLitePlace():
            return set_aside_broken_file(folder / LEDGER)
        case PostgresPlace():
            return ""
        case _:
            assert_never(place)


def exists(place: Place, *, folder: Path) -> bool:
    """Return whether a ledger may be there already; a server's is not asked."""
    match place:
        case SQLitePlace():
            return (folder / LEDGER).exists()
        case PostgresPlace():
            return True
        case _:
            assert_never(place)
