"""One Spark session: queries in, rows out; what Spark says of a failure is dropped.

The process has one driver, which is started once and ends with it; each engine has a session of its
own, so that settings and views of others are not its own.  A question is a few short queries: each
common table expression is a view, so that what several statements share is read and bound once.

*Privacy:* messages of Spark print cells, and so do its logs: the driver's are off, and so is the
logger of PySpark that prints them whatever the level.  Keys are a view of one row, and no literal
of a query: a plan, which is printed and kept, holds none.  What is interrupted is cancelled.
Every view has a name of its engine alone, so that none reads the rows or keys of another, even
where a server gave both one session.
"""

import contextlib
import hashlib
import logging
import os
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from confide.errors import ContractError, EngineError
from confide.rows.cells.operations import written
from confide.rows.cells.session import array_of
from confide.rows.dialects.spark import KEYS, ConfideSpark, require_known
from confide.rows.engines.spark.spark_connect import (
    REMOTE,
    connected,
    is_remote,
    without_messages,
)
from confide.rows.engines.spark.spark_driver import MASTER, session_of_driver

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_PATIENCE = 10.0
"""Seconds in which a query that was cancelled ends."""

_PATTERN = "{}[]*?\\"
"""Characters that make a path a pattern to Hadoop."""
PUSHED = "spark.sql.parquet.filterPushdown"
SESSION_SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",  # what overflows raises
    "spark.sql.session.timeZone": "UTC",  # the date of a timestamp with a time zone
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.collation.default": "UTF8_BINARY",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.mergeSchema": "false",
    PUSHED: "false",  # statistics pass over NaN
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.python.sql.dataFrameDebugging.enabled": "false",
}
"""What a session of ours is set to, whatever the cluster is."""


class SparkRows:
    """A session with what queries may name.

    Args:
        spark: A session of its own.
        parameters: What queries may bind, by name.
    """

    def __init__(self, spark: Any, *, parameters: Mapping[str, int | bytes]) -> None:
        self._spark = spark
        self._stem = uuid.uuid4().hex
        self._views: set[str] = set()
        self._lent: dict[str, str] = {}
        self._lend_keys(parameters)

    def sound(self) -> bool:
        """Return whether the driver answers."""
        with without_messages() as failed:
            self._spark.sql("SELECT 1").schema  # noqa: B018 — asks the driver
        return not failed

    def bind(self, query: exp.Query) -> Any:
        """Return a query bound to names and types; reads no rows.

        Raises:
            ContractError: If names or types do not fit.
            UnsupportedError: If Spark may answer it otherwise than other engines.
        """
        require_known(query)
        query = query.copy()
        front = query.args.pop("with_", None)
        bound = None
        known = dict(self._lent)
        with without_messages() as failed:
            for part in [] if front is None else front.expressions:
                text = written(_named(part.this, known), dialect=ConfideSpark)
                known[part.alias] = self._view(text)
            query = _named(query, known)
            bound = self._spark.sql(written(query, dialect=ConfideSpark))
            bound.schema  # noqa: B018 — binds
        if failed:
            raise ContractError(
                f"The source does not fit what dataset.yaml declares ({failed[0]}).",
                hint="Check the types of the columns that are declared.",
            )
        return bound

    def table(self, bound: Any) -> Any:
        """Return the rows of a bound query as an Arrow table.

        Raises:
            EngineError: If it failed.
        """
        tag = f"confide-{uuid.uuid4().hex}"
        found: list[Any] = []
        failed: list[str] = []

        def answer() -> None:
            with without_messages() as why:
                self._begin(tag)
                found.append(bound.toArrow())
            failed.extend(why)

        # a thread has a connection of its own to the driver, and this one's is free to cancel
        worker = threading.Thread(target=answer, daemon=True)
        worker.start()
        try:
            worker.join()
        except BaseException:
            with without_messages():
                self._cancel(tag)
            worker.join(_PATIENCE)
            raise
        if failed:
            raise EngineError(failed[0])
        return found[0]

    def _begin(self, tag: str) -> None:
        """Give what this thread asks a name to be cancelled by."""
        if is_remote(self._spark):
            self._spark.addTag(tag)
        else:  # where tags cancel nothing of what is fetched as Arrow
            self._spark.sparkContext.setJobGroup(tag, "confide", interruptOnCancel=True)

    def _cancel(self, tag: str) -> None:
        if is_remote(self._spark):
            self._spark.interruptTag(tag)
        else:
            self._spark.sparkContext.cancelJobGroup(tag)

    def rows(self, bound: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a bound query; raises as :meth:`table`."""
        columns = [column.to_pylist() for column in self.table(bound).columns]
        return list(zip(*columns, strict=True))

    def arrays(self, bound: Any) -> Mapping[str, Any]:
        """Return the columns of a bound query; raises as :meth:`table`.

        Whole numbers are of 64 bits, or Python's where one is larger.
        """
        import pyarrow as pa

        table = self.table(bound)
        return {
            name: each.to_numpy() if pa.types.is_integer(each.type) else array_of(each.to_pylist())
            for name, each in zip(table.column_names, table.columns, strict=True)
        }

    def read(self, name: str, files: Sequence[Path]) -> list[tuple[str, str]]:
        """Let queries read Parquet files under a name; return their columns and types.

        Raises:
            ContractError: If Spark cannot read what they declare, or would read other files.
        """
        if any(character in str(file) for file in files for character in _PATTERN):
            raise ContractError(
                f"The path of a file that Spark reads may not contain any of {_PATTERN}, "
                "which make it a pattern that could match other files.",
                hint="Rename the folder or the file.",
            )
        columns: list[tuple[str, str]] = []
        with without_messages() as failed:
            # folders that look like columns are none
            reader = self._spark.read.option("recursiveFileLookup", "true")
            found = reader.parquet(*(str(file) for file in files))
            found.createOrReplaceTempView(self._own(name))
            columns = [(field.name, field.dataType.simpleString()) for field in found.schema.fields]
        if failed:
            raise ContractError(
                f"Spark cannot read the files of a table ({failed[0]}).",
                hint="Write them again; timestamps in microseconds.",
            )
        return columns

    @contextlib.contextmanager
    def skipping(self) -> Iterator[None]:
        """Let queries skip what a file says that it lacks: of copies, which hold integers."""
        with without_messages():
            self._spark.conf.set(PUSHED, "true")
        try:
            yield
        finally:
            with without_messages():
                self._spark.conf.set(PUSHED, "false")

    def on_this_machine(self) -> bool:
        """Return whether what reads files is a process of this account and no cluster."""
        with without_messages():
            master = str(self._spark.sparkContext.master)
            return master == "local" or master.startswith("local[")
        return False

    def lend(self, name: str, *, texts: Sequence[str], column: str) -> None:
        """Let queries read texts as a table of one column; raises as :meth:`table`."""
        import pyarrow as pa

        with without_messages() as failed:
            rows = self._spark.createDataFrame(pa.table({column: pa.array(texts, pa.string())}))
            rows.createOrReplaceTempView(self._own(name))
        if failed:
            raise EngineError(failed[0])

    def forget(self) -> None:
        """Drop the views of queries: what was bound before is not asked again."""
        with without_messages():
            for name in self._views:
                self._spark.catalog.dropTempView(name)
        self._views.clear()

    def close(self) -> None:
        """Forget all views of this session; the driver stays for the next one."""
        self.forget()
        with without_messages():
            for name in self._lent.values():
                self._spark.catalog.dropTempView(name)
        if is_remote(self._spark):
            with without_messages():
                self._spark.stop()

    def _view(self, text: str) -> str:
        """Return the name of the view of a text, which is made if there is none.

        Its name is that of what it says, so no other view ever has it: a session of Spark Connect
        looks views up when a query is run, one of a driver when it is bound.
        """
        name = f"confide_{hashlib.sha256((self._stem + text).encode()).hexdigest()[:32]}"
        if name not in self._views:
            self._spark.sql(text).createOrReplaceTempView(name)
            self._views.add(name)
        return name

    def _own(self, name: str) -> str:
        """Return what a view is called that queries of this engine alone read under a name."""
        return self._lent.setdefault(name, f"{name}_{self._stem}")

    def _lend_keys(self, parameters: Mapping[str, int | bytes]) -> None:
        from pyspark.sql.types import BinaryType, LongType, StructField, StructType

        schema = StructType(
            [
                StructField(name, BinaryType() if isinstance(value, bytes) else LongType())
                for name, value in parameters.items()
            ]
        )
        values = tuple(
            bytearray(value) if isinstance(value, bytes) else value for value in parameters.values()
        )
        with without_messages() as failed:
            self._spark.createDataFrame([values], schema).createOrReplaceTempView(self._own(KEYS))
        if failed:
            raise EngineError(failed[0])


def new_session(*, threads: int | None, memory_limit: str | None) -> Any:
    """Return a new session: of a server of Spark Connect, if the environment names one.

    It is otherwise one of the driver of this process, which is started if there is none.

    Args:
        threads: Of this machine, where there is no cluster; all by default.
        memory_limit: Of the driver, such as "4GB"; Spark's default otherwise.

    Raises:
        MissingExtraError: If PySpark is absent.
        ContractError: If Java is, or the driver cannot be started.
    """
    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    url = os.environ.get(MASTER, "")
    if url.startswith(REMOTE):
        session = connected(url)
    else:
        session = session_of_driver(threads=threads, memory_limit=memory_limit)
    with without_messages() as failed:
        for name, value in SESSION_SETTINGS.items():
            session.conf.set(name, value)
    if failed:
        raise ContractError(
            f"Spark does not take its settings ({failed[0]}).", hint="PySpark 4 or later is needed."
        )
    return session


def _named(query: exp.Query, views: Mapping[str, str]) -> exp.Query:
    """Return a query that reads the views of tables, keys and common table expressions."""
    query = query.copy()
    for key in query.find_all(exp.Placeholder):
        key.set("kind", views[KEYS])
    for table in query.find_all(exp.Table):
        if table.name in views:
            alias = table.alias or table.name
            table.set("this", exp.to_identifier(views[table.name], quoted=True))
            table.set("alias", exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
    return query
