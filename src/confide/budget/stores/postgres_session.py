"""One session with PostgreSQL: opened with what a ledger requires, and told apart when it fails.

*Privacy:* what libpq says about a connection names host, user and database, which the declared URL
holds as well; a password, which comes from the environment or ``~/.pgpass``, is cut out.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from confide.errors import ContractError, LedgerUnreachableError, MissingExtraError

if TYPE_CHECKING:
    import psycopg

OLDEST = 14
_SECONDS_TO_CONNECT = 10
_SETTINGS = {
    "synchronous_commit": "on",  # a charge is on disk before any row is read
    "lock_timeout": "120s",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "60s",  # a stopped process must not hold up the others
    "idle_session_timeout": "0",  # reading may take hours, and the session is the proof of life
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "6",
    "standard_conforming_strings": "on",
}
_REQUIRED = {"fsync": "on", "full_page_writes": "on", "server_encoding": "UTF8"}
_CUT = (
    "The server ended this session, as it does with a process that was stopped in the middle of a "
    "transaction for a minute. What was charged stays; run the same again."
)
_HINT = "Check that the server runs, the url in dataset.yaml, and PGPASSWORD or ~/.pgpass."


def open_session(url: str, *, schema: str) -> "PostgresSession":
    """Connect, with ``schema`` alone to be searched.

    Raises:
        MissingExtraError: If psycopg is not installed.
        LedgerUnreachableError: If there is no connection.
        ContractError: If the server does not keep what it commits, or is too old.
    """
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", extra="postgres") from None
    try:
        connection = psycopg.connect(
            url,
            autocommit=True,
            client_encoding="utf8",
            application_name="confide",
            connect_timeout=_SECONDS_TO_CONNECT,
        )
    except psycopg.Error as error:
        raise LedgerUnreachableError(_told(error), hint=_HINT) from None
    try:
        session = PostgresSession(connection)
        session.prepare(schema=schema)
    except BaseException:
        connection.close()
        raise
    return session


class PostgresSession:
    """One connection, and which errors mean what."""

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        from psycopg import errors

        self.connection = connection
        self.refusals: tuple[type[Exception], ...] = (errors.IntegrityError,)
        self.failures: tuple[type[Exception], ...] = (
            errors.ProgrammingError,
            errors.DataError,
            errors.InternalError,
        )
        self.denied = errors.InsufficientPrivilege
        self._lost, self._waited = errors.OperationalError, errors.LockNotAvailable
        self._failed = errors.Error
        self._backend = connection.info.backend_pid

    def prepare(self, *, schema: str) -> None:
        """Set what a ledger needs and refuse a server that does not keep what it commits.

        Raises:
            ContractError: If it does not, or is too old.
            LedgerUnreachableError: If it is a replica.
        """
        version = self.connection.info.server_version // 10_000
        if version < OLDEST:
            raise ContractError(
                f"Expected PostgreSQL {OLDEST} or newer, got {version}.", hint="Upgrade the server."
            )
        ((is_replica,),) = self.run("SELECT pg_is_in_recovery()")
        if is_replica:
            raise LedgerUnreachableError(
                "This PostgreSQL server is a replica, which takes no charge.",
                hint="Name the primary in dataset.yaml. Where a replica has to take its place, "
                "treat that as a restore.",
            )
        settings = _SETTINGS | {"search_path": f'"{schema}", pg_temp'}
        sets = ", ".join("set_config(%s, %s, false)" for _ in settings)
        self.run(f"SELECT {sets}", [text for pair in settings.items() for text in pair])
        gets = ", ".join("current_setting(%s)" for _ in _REQUIRED)
        (found,) = self.run(f"SELECT {gets}", list(_REQUIRED))
        for (name, wanted), got in zip(_REQUIRED.items(), found, strict=True):
            if got != wanted:
                raise ContractError(
                    f"Expected a PostgreSQL server with {name} = {wanted}, got {got}.",
                    hint="A charge must survive a power cut: keep the ledger on a server that "
                    "keeps what it commits.",
                )

    def run(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Any]:
        """Run one statement and return its rows."""
        with self._reaching():
            cursor = self.connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def run_many(self, query: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each row."""
        with self._reaching(), self.connection.cursor() as cursor:
            cursor.executemany(query.encode(), rows)

    def run_script(self, script: str) -> None:
        """Run several statements without values."""
        with self._reaching():
            self.connection.execute(script.encode())

    def begin(self) -> None:
        """Open a transaction in which each statement sees what was committed before it."""
        self.rollback()  # of one that an interrupt left open
        self.run("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")

    def commit(self) -> None:
        """Make the open transaction durable."""
        self.run("COMMIT")

    def rollback(self) -> bool:
        """Drop what is not committed; return whether a transaction was open."""
        from psycopg.pq import TransactionStatus

        status = self.connection.info.transaction_status
        if status is TransactionStatus.IDLE:
            return False
        if status is not TransactionStatus.UNKNOWN:  # else the connection is gone, and it with it
            with contextlib.suppress(LedgerUnreachableError):
                self.run("ROLLBACK")
        return True

    def require_own(self, backend: int) -> None:
        """Refuse a pool that lends another session: the proof of life would stay behind.

        Args:
            backend: Process of the server that answered.

        Raises:
            ContractError: If it is not the one that was connected to.
        """
        if backend != self._backend:
            raise ContractError(
                "The connection to PostgreSQL is shared by the transaction.",
                hint="Connect to the server itself, or to a pool in session mode.",
            )

    def close(self) -> None:
        """End the session.  The proof of life goes first: a busy server ends sessions late."""
        import psycopg

        with contextlib.suppress(psycopg.Error):  # a session that is lost holds nothing
            self.connection.execute("SELECT pg_advisory_unlock_all()")
        self.connection.close()

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[None]:
        """Tell a lost connection from what the server refuses."""
        try:
            yield
        except self._waited:
            raise LedgerUnreachableError(
                "Somebody else has held the ledger's lock for two minutes.",
                hint="Find the session in pg_stat_activity, where application_name is confide.",
            ) from None
        except self._lost as error:
            raise LedgerUnreachableError(_told(error), hint=_HINT) from None
        except self._failed as error:
            if not self.connection.closed:
                raise
            raise LedgerUnreachableError(_told(error), hint=_CUT) from None


def _told(error: Exception) -> str:
    """Return the first line of what libpq says, without the password."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    text, password = lines[0], os.environ.get("PGPASSWORD", "")
    if password:
        text = text.replace(password, "…")
    return f"The ledger's PostgreSQL cannot be used: {text.rstrip('.')}."
