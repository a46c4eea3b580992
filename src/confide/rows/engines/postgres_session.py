"""One connection to a PostgreSQL database that is read: its settings, its snapshot, its failures.

*Privacy:* what a server says of a failure quotes cells, so an error names its class and SQLSTATE
alone.  The keyed order's coefficients are bound parameters; a server that is told to log those of
statements logs them (docs/known-weaknesses.md).  Rows are read in one transaction that is read-only
and sees one state of the database.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from confide.errors import ConfideError, ContractError, EngineError, MissingExtraError
from confide.regular_file import writing
from confide.rows.cells.identity import WITHDRAWN
from confide.rows.cells.operations import written
from confide.rows.cells.session import Parameter, Session, array_of
from confide.rows.dialects.postgres import PARAMETERS, ConfidePostgres

if TYPE_CHECKING:
    import psycopg

OLDEST_SERVER = 16
_SECONDS_TO_CONNECT = 10
_HINT = (
    "Check that the server runs, source: {url} in dataset.yaml, who connects (PGUSER), PGPASSWORD "
    "or ~/.pgpass, and for sslmode=verify-full the authority in PGSSLROOTCERT."
)
SETTINGS: Mapping[str, str] = {
    "search_path": "",  # what is named without a schema is the server's own
    "TimeZone": "UTC",  # the date of a timestamp with a time zone
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "row_security": "on",  # off: a policy would stop a query, after the charge
    "statement_timeout": "0",
    "lock_timeout": "120s",
    "idle_in_transaction_session_timeout": "0",
    "idle_session_timeout": "0",
    "transaction_timeout": "0",
    "max_parallel_workers_per_gather": "0",  # rows come in the order they were sorted in
    "synchronize_seqscans": "off",
    "enable_seqscan": "on",  # a table is read from front to back, whatever indexes it has
    "enable_indexscan": "off",
    "enable_indexonlyscan": "off",
    "enable_bitmapscan": "on",  # in the order of the table, as catalogues are read
    "seq_page_cost": "1",  # no cost is so high that what is off is chosen
    "random_page_cost": "4",
    "cpu_tuple_cost": "0.01",
    "cpu_operator_cost": "0.0025",
    "default_table_access_method": "heap",  # of copies that are made
    "stats_fetch_consistency": "none",  # counts of changed rows are those of now
    "jit": "off",
    "client_min_messages": "error",
    "tcp_keepalives_idle": "30",
    "tcp_keepalives_interval": "10",
    "tcp_keepalives_count": "6",
}
"""Of every session, whatever a role or a database sets."""
_SINCE = {"transaction_timeout": 17}
"""Versions of the server that have a setting, if not all."""

_SET = "SELECT pg_catalog.set_config($1, $2, false)"  # the first of them says where names are found
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_UNKNOWN_NAMES = "42"
"""Class of SQLSTATE of names and types, which may be told before a charge."""


def connect(url: str, *, role: str = "") -> "psycopg.Connection[tuple[Any, ...]]":
    """Return a connection with its settings made; it reads no rows.

    Args:
        url: Of the database.
        role: Who connects, in place of whom the URL or PGUSER names.

    Raises:
        MissingExtraError: If psycopg is not installed.
        ContractError: If there is no connection, or the server is too old or not of UTF-8.
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
            prepare_threshold=None,
            cursor_factory=psycopg.RawCursor,
            user=role or None,
        )
    except psycopg.Error as error:
        raise _unreachable(type(error).__name__) from None
    try:
        _settle(connection)
    except psycopg.Error as error:
        connection.close()
        raise _unreachable(type(error).__name__) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _unreachable(name: str) -> ContractError:
    return ContractError(f"The source's PostgreSQL cannot be used ({name}).", hint=_HINT)


def _settle(connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
    version = connection.info.server_version // 10_000
    if version < OLDEST_SERVER:
        raise ContractError(
            f"The source's PostgreSQL is of version {version}, which reads no texts as numbers.",
            hint=f"PostgreSQL {OLDEST_SERVER} or newer says without an error if a text is one.",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise ContractError(
            f"The source's database is of encoding {encoding}, where texts have no normal form.",
            hint="Restore it into a database of encoding UTF8.",
        )
    for name, value in SETTINGS.items():
        if version >= _SINCE.get(name, OLDEST_SERVER):
            connection.execute(_SET, [name, value])


class DatabaseSession(Session):
    """A connection with the parameters that queries may bind.

    Args:
        connection: With its settings made.
        parameters: By name.
    """

    def __init__(
        self,
        connection: "psycopg.Connection[tuple[Any, ...]]",
        *,
        parameters: Mapping[str, Parameter],
    ) -> None:
        super().__init__(connection, dialect=ConfidePostgres, parameters=parameters)

    def arrays(self, query: exp.Query) -> Mapping[str, Any]:
        """Return the columns of a query; raises as :meth:`fetch`."""
        sql, parameters = self.bound(query)
        names: list[str] = []
        rows: list[tuple[Any, ...]] = []
        with dropping_server_messages() as failed:
            found = self._connection.execute(sql, self._placed(parameters))
            names = [column.name for column in found.description or ()]
            rows = found.fetchall()
        if failed:
            raise EngineError(failed[0])
        columns = zip(*rows, strict=True) if rows else [()] * len(names)
        return {name: array_of(values) for name, values in zip(names, columns, strict=True)}

    def bind(self, sql: str, parameters: Mapping[str, Parameter]) -> bool:
        """Return whether names and types of a statement fit the database; reads no row.

        The server parses it and plans nothing, so nothing that is stored can be told of.
        """
        from psycopg.pq import DiagnosticField, ExecStatus

        placed = self._placed(parameters) or []
        types = [self._connection.adapters.types[_type_of(value)].oid for value in placed]
        result = None
        with dropping_server_messages() as failed:
            result = self._connection.pgconn.prepare(b"", sql.encode(), types)
        if failed or result is None or result.status == ExecStatus.COMMAND_OK:
            return True
        state = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
        return not state.startswith(_UNKNOWN_NAMES)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the database, and write nothing.

        Raises:
            EngineError: If the transaction cannot begin.
        """
        self.fetch_nothing(_BEGIN)
        try:
            yield
        finally:
            with dropping_server_messages():
                self._connection.rollback()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Read one state of the database, and write all that is written, or nothing.

        Raises:
            EngineError: If the transaction cannot begin or end.
        """
        self.fetch_nothing("BEGIN ISOLATION LEVEL REPEATABLE READ")
        written_all = False
        try:
            yield
            written_all = True
        finally:
            if not written_all:
                with dropping_server_messages():
                    self._connection.rollback()
        self.fetch_nothing("COMMIT")

    def store(self, table: exp.Table, query: exp.Query) -> None:
        """Make a table of the rows of a query, in its order; raises as :meth:`fetch`.

        A table that is made of a query is written from front to back, as one that is filled later
        need not be.
        """
        sql, parameters = self.bound(query)
        name = written(table, dialect=ConfidePostgres)
        with dropping_server_messages() as failed:
            self._connection.execute(f"CREATE TABLE {name} AS {sql}", self._placed(parameters))
        if failed:
            raise EngineError(failed[0])

    def hold(self, tables: Iterable[exp.Expr]) -> None:
        """Keep tables as they are declared until the transaction ends; raises as ``fetch``."""
        names = ", ".join(written(each, dialect=ConfidePostgres) for each in tables)
        if names:
            self.fetch_nothing(f"LOCK TABLE {names} IN ACCESS SHARE MODE")

    def hold_at_once(self, tables: Iterable[exp.Expr]) -> bool:
        """Keep tables as :meth:`hold` does; if any is gone, locked or closed, keep none.

        The transaction goes on either way.

        Raises:
            EngineError: If the connection is lost.
        """
        names = ", ".join(written(each, dialect=ConfidePostgres) for each in tables)
        if not names:
            return True
        self.fetch_nothing("SAVEPOINT held")
        try:
            self.fetch_nothing(f"LOCK TABLE {names} IN ACCESS SHARE MODE NOWAIT")
        except EngineError:
            self.fetch_nothing("ROLLBACK TO SAVEPOINT held")
            return False
        return True

    def fetch_nothing(self, sql: str) -> None:
        """Run a statement without rows; raises as :meth:`fetch`."""
        with dropping_server_messages() as failed:
            self._connection.execute(sql)
        if failed:
            raise EngineError(failed[0])

    def copy_rows(self, query: str, to: Path) -> None:
        """Write the rows of a query to a CSV file, every cell in quotes; raises as ``fetch``."""
        with dropping_server_messages() as failed, writing(to) as out:
            given = f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER true, FORCE_QUOTE *)"
            with self._connection.cursor().copy(given) as copy:
                for part in copy:
                    out.write(part)
        if failed:
            raise EngineError(failed[0])

    def list_withdrawn(self, hashes: Sequence[str]) -> None:
        """Make the temporary list of who withdrew consent.

        Raises:
            ContractError: If it cannot be made.
        """
        with dropping_server_messages() as failed:
            self._connection.execute(f'CREATE TEMPORARY TABLE "{WITHDRAWN}" (digest TEXT)')
            self._connection.execute(
                f'INSERT INTO pg_temp."{WITHDRAWN}" SELECT unnest($1::TEXT[])', [list(hashes)]
            )
        if failed:
            raise ContractError(
                f"The list of who withdrew consent cannot be made ({failed[0]}).",
                hint="The role needs the right TEMPORARY on the database.",
            )

    def giving(self, name: str, value: Parameter) -> "DatabaseSession":
        """Return the same connection with one more parameter."""
        return DatabaseSession(self._connection, parameters={**self._parameters, name: value})

    def _dropping(self) -> contextlib.AbstractContextManager[list[str]]:
        return dropping_server_messages()

    def _placed(self, parameters: Mapping[str, Parameter]) -> list[Parameter] | None:
        """Return the parameters by place; those that stand before one that is used, too."""
        if not parameters:
            return None
        last = max(PARAMETERS.index(name) for name in parameters)
        return [self._parameters[name] for name in PARAMETERS[: last + 1]]


def _type_of(value: Parameter) -> str:
    if isinstance(value, bytes):
        return "bytea"
    return "int8" if isinstance(value, int) else "text"


@contextlib.contextmanager
def dropping_server_messages() -> Iterator[list[str]]:
    """Collect the class of a failure; its message and its chain may quote cells."""
    import psycopg

    failed: list[str] = []
    try:
        yield failed
    except (psycopg.Error, ValueError, OSError) as error:
        if isinstance(error, ConfideError):
            raise
        failed.append(type(error).__name__)
