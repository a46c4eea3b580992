"""One hardened connection: queries in, rows out; what the engine says of a failure is dropped.

*Privacy:* messages of the engine print cells, so an error names the class of failure alone.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from confide.errors import ConfideError, EngineError
from confide.rows.cells.operations import written

Parameter: TypeAlias = int | str | bytes | list[str]


class Session:
    """A connection with the parameters that queries may bind.

    Args:
        connection: Hardened.
        dialect: What it reads.
        parameters: By name.
        before: Told the text of each query before it is run.
    """

    def __init__(
        self,
        connection: Any,
        *,
        dialect: type[Dialect],
        parameters: Mapping[str, Parameter],
        before: Callable[[str], None] | None = None,
    ) -> None:
        self._connection, self._dialect = connection, dialect
        self._parameters = dict(parameters)
        self._before = before or _nothing

    def bound(self, query: exp.Expr) -> tuple[str, dict[str, Parameter]]:
        """Return SQL text and the parameters that occur in it."""
        names = {place.name for place in query.find_all(exp.Placeholder)}
        text = written(query, dialect=self._dialect)
        return text, {name: self._parameters[name] for name in sorted(names)}

    def sound(self) -> bool:
        """Return whether the connection answers a constant: a failure inside it ends all others."""
        with self._dropping() as failed:
            self._connection.execute("SELECT 1").fetchall()
        return not failed

    def fetch(self, sql: str, parameters: Mapping[str, Parameter]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement.

        Raises:
            EngineError: If it failed.
        """
        rows: list[tuple[Any, ...]] = []
        self._before(sql)
        with self._dropping() as failed:
            rows = self._connection.execute(sql, self._placed(parameters)).fetchall()
        if failed:
            raise EngineError(failed[0])
        return rows

    def rows(self, query: exp.Expr) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raises as :meth:`fetch`."""
        return self.fetch(*self.bound(query))

    def arrays(self, query: exp.Query) -> Mapping[str, Any]:
        """Return the columns of a query; raises as :meth:`fetch`."""
        sql, parameters = self.bound(query)
        columns: Mapping[str, Any] = {}
        self._before(sql)
        with dropping_messages() as failed:
            columns = self._connection.execute(sql, parameters).fetchnumpy()
        if failed:
            raise EngineError(failed[0])
        return columns

    def make(self, name: str, query: exp.Query) -> None:
        """Keep the rows of a query as a temporary table; raises as :meth:`fetch`."""
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        self.rows(
            exp.Create(
                this=_table(name),
                kind="TABLE",
                replace=True,
                expression=query,
                properties=temporary,
            )
        )

    def drop(self, name: str) -> None:
        """Drop a temporary table, if it is there; raises as :meth:`fetch`."""
        self.rows(exp.Drop(tables=[_table(name)], kind="TABLE", exists=True))

    def lend(self, name: str, columns: Mapping[str, Any]) -> None:
        """Let queries read columns as a table, which must be taken back.

        Whole numbers beyond 64 bits are decimals of 38 digits.
        """
        import pyarrow as pa

        wide = pa.decimal128(38, 0)
        lent = {
            key: pa.array(values, wide) if _beyond_64_bits(values) else values
            for key, values in columns.items()
        }
        self._connection.register(name, pa.table(lent))

    def take_back(self, name: str) -> None:
        """End what :meth:`lend` began."""
        self._connection.unregister(name)

    def giving(self, name: str, value: Parameter) -> "Session":
        """Return the same connection with one more parameter."""
        given = {**self._parameters, name: value}
        return Session(
            self._connection, dialect=self._dialect, parameters=given, before=self._before
        )

    def _dropping(self) -> contextlib.AbstractContextManager[list[str]]:
        """Collect the class of a failure of this engine."""
        return dropping_messages()

    def _placed(self, parameters: Mapping[str, Parameter]) -> Any:
        """Return parameters as the connection takes them."""
        return dict(parameters)


def _table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def _beyond_64_bits(values: Any) -> bool:
    objects = len(values) > 0 and getattr(values, "dtype", None) == "O"
    return objects and isinstance(values[0], int)


def _nothing(_: str) -> None:
    """Nothing is to be done before a query."""


def array_of(values: Sequence[Any]) -> Any:
    """Return a column: whole numbers of 64 bits, larger ones and texts as objects."""
    if not values:
        return np.empty(0, dtype=np.int64)
    if isinstance(values[0], str):
        return np.array(values, dtype=object)
    whole = [int(value) for value in values]
    small = min(whole) >= -(2**63) and max(whole) < 2**63
    return np.array(whole, dtype=np.int64 if small else object)


@contextlib.contextmanager
def dropping_messages() -> Iterator[list[str]]:
    """Collect the class of an engine's failure; its message and its chain may print cells."""
    import duckdb

    failed: list[str] = []
    try:
        yield failed
    except (duckdb.Error, ValueError, RuntimeError) as error:
        if isinstance(error, ConfideError):
            raise
        failed.append(type(error).__name__)
