"""An empty DuckDB in this process, beside an engine elsewhere: for lists of ids and sums by person.

It opens no file but its own temporary folder, and has no network.
"""

import contextlib
from collections.abc import Mapping

from confide.rows.cells.session import Parameter, Session
from confide.rows.dialects.duckdb import ConfideDuckDB
from confide.rows.engines.hardening import hardening
from confide.rows.engines.spill import SpillFolder


class DuckDBBeside:
    """A session of DuckDB in this process, which is opened when it is first needed.

    Args:
        parameters: What queries may bind, by name.
    """

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self._parameters = dict(parameters)
        self._session: Session | None = None
        self._close = contextlib.ExitStack()

    def session(self) -> Session:
        """Return the session, the same each time."""
        if self._session is not None:
            return self._session
        import duckdb

        spill = SpillFolder()
        self._close.callback(spill.close)
        connection = duckdb.connect(":memory:")
        self._close.callback(connection.close)
        settings = hardening((), temporary=spill.path, threads=1, memory_limit=None)
        for setting in settings:
            connection.execute(setting.sql("duckdb"))
        self._session = Session(connection, dialect=ConfideDuckDB, parameters=self._parameters)
        return self._session

    def close(self) -> None:
        """Close it, and remove what it kept."""
        self._session = None
        self._close.close()
