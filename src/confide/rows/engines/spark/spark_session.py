"""One Spark session: queries in, rows out; what Spark says of a failure is dropped.

The process has one driver, which is started once and ends with it; each engine has a session of its
own, so that settings and views of others are not its own.  A question is a few short queries: each
common table expression is a view, so that what several statements share is read and bound once.

*Privacy:* messages of Spark print cells, and so do its logs: the driver's are off, and so is the
logger of PySpark that prints them whatever the level.  What a driver on this machine shuffles and
spills lies in a folder of this account alone.  Keys are a view of one row, and no literal
of a query: a plan, which is printed and kept, holds none.  What is interrupted is cancelled.
"""

import contextlib
import hashlib
import logging
import os
import signal
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlglot import exp

from confide.errors import ConfideError, ContractError, EngineError, MissingExtraError
from confide.regular_file import create_text
from confide.rows.cells.operations import written
from confide.rows.dialects.spark import KEYS, ConfideSpark, require_known
from confide.rows.engines.spill import SpillFolder

MASTER = "CONFIDE_SPARK_MASTER"
"""Environment variable: where the driver finds its cluster; all cores of this machine if unset."""
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_QUIET = """\
appender.none.type = Null
appender.none.name = none
rootLogger.level = off
rootLogger.appenderRef.none.ref = none
"""
_JAVA = 17
_LOCAL = "SPARK_LOCAL_DIRS"
_SPILLED: list[SpillFolder] = []
_PATIENCE = 10.0
"""Seconds in which a query that was cancelled ends."""

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
    "spark.sql.parquet.filterPushdown": "false",  # statistics pass over NaN
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


DRIVER: Mapping[str, str] = {
    "spark.app.name": "confide",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.sql.codegen.logging.maxLines": "0",  # what is compiled holds the values of keys
    "spark.sql.adaptive.enabled": "true",
}
"""What the driver is started with."""


class SparkRows:
    """A session with what queries may name.

    Args:
        spark: A session of its own.
        parameters: What queries may bind, by name.
    """

    def __init__(self, spark: Any, *, parameters: Mapping[str, int | bytes]) -> None:
        self._spark = spark
        self._views: dict[str, str] = {}
        self._lent: list[str] = []
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
        known: dict[str, str] = {}
        with without_messages() as failed:
            for part in [] if front is None else front.expressions:
                text = written(part.this, dialect=ConfideSpark)
                read = sorted({table.name for table in part.this.find_all(exp.Table)})
                of = [f"{name} {known[name]}" for name in read if name in known]
                known[part.alias] = hashlib.sha256("\0".join([text, *of]).encode()).hexdigest()
                self._define(part.alias, text, of=known[part.alias])
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
        context, group = self._spark.sparkContext, uuid.uuid4().hex
        found: list[Any] = []
        failed: list[str] = []

        def answer() -> None:
            with without_messages() as why:
                context.setJobGroup(group, "confide", interruptOnCancel=True)
                found.append(bound.toArrow())
            failed.extend(why)

        # a thread has a connection of its own to the driver, and this one's is free to cancel
        worker = threading.Thread(target=answer, daemon=True)
        worker.start()
        try:
            worker.join()
        except BaseException:
            with without_messages():
                context.cancelJobGroup(group)
            worker.join(_PATIENCE)
            raise
        if failed:
            raise EngineError(failed[0])
        return found[0]

    def rows(self, bound: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a bound query; raises as :meth:`table`."""
        columns = [column.to_pylist() for column in self.table(bound).columns]
        return list(zip(*columns, strict=True))

    def arrays(self, bound: Any) -> Mapping[str, Any]:
        """Return the columns of a bound query; raises as :meth:`table`.

        Whole numbers are of 64 bits, or Python's where one is larger.
        """
        table = self.table(bound)
        return {name: _array(table[name]) for name in table.column_names}

    def read(self, name: str, files: Sequence[Path]) -> list[tuple[str, str]]:
        """Let queries read Parquet files under a name; return their columns and types.

        Raises:
            ContractError: If Spark cannot read what they declare.
        """
        columns: list[tuple[str, str]] = []
        with without_messages() as failed:
            # folders that look like columns are none
            reader = self._spark.read.option("recursiveFileLookup", "true")
            found = reader.parquet(*(str(file) for file in files))
            found.createOrReplaceTempView(name)
            columns = [(field.name, field.dataType.simpleString()) for field in found.schema.fields]
        if failed:
            raise ContractError(
                f"Spark cannot read the files of a table ({failed[0]}).",
                hint="Write them again; timestamps in microseconds.",
            )
        return columns

    def lend(self, name: str, *, texts: Sequence[str], column: str) -> None:
        """Let queries read texts as a table of one column; raises as :meth:`table`."""
        import pyarrow as pa

        with without_messages() as failed:
            rows = self._spark.createDataFrame(pa.table({column: pa.array(texts, pa.string())}))
            rows.createOrReplaceTempView(name)
        self._lent.append(name)
        if failed:
            raise EngineError(failed[0])

    def close(self) -> None:
        """Forget the views of this session; the driver stays for the next one."""
        with without_messages():
            for name in (*self._views, *self._lent, KEYS):
                self._spark.catalog.dropTempView(name)
        self._views.clear()

    def _define(self, name: str, text: str, *, of: str) -> None:
        """Make a view, unless it stands for the same text over the same views (``of``) already.

        A view keeps what it was made of: one of the same text reads the views of before, though
        these were made anew.
        """
        if self._views.get(name) != of:
            self._spark.sql(text).createOrReplaceTempView(name)
            self._views[name] = of

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
            self._spark.createDataFrame([values], schema).createOrReplaceTempView(KEYS)
        if failed:
            raise EngineError(failed[0])


def new_session(*, threads: int | None, memory_limit: str | None) -> Any:
    """Return a new session of the driver of this process, which is started if there is none.

    Args:
        threads: Of this machine, where there is no cluster; all by default.
        memory_limit: Of the driver, such as "4GB"; Spark's default otherwise.

    Raises:
        MissingExtraError: If PySpark is absent.
        ContractError: If Java is, or the driver cannot be started.
    """
    require_spark()
    from pyspark.sql import SparkSession as Builder

    for name in _LOGGERS:
        logging.getLogger(name).disabled = True
    spark = Builder.getActiveSession()
    if spark is None:
        spark = _driver(threads=threads, memory_limit=memory_limit)
    session = spark.newSession()
    with without_messages() as failed:
        for name, value in SESSION_SETTINGS.items():
            session.conf.set(name, value)
    if failed:
        raise ContractError(
            f"Spark does not take its settings ({failed[0]}).", hint="PySpark 4 or later is needed."
        )
    return session


def require_spark() -> None:
    """Refuse where Spark cannot be run.

    Raises:
        MissingExtraError: If PySpark is absent.
        ContractError: If Java is.
    """
    lacking = what_is_lacking()
    if lacking == "PySpark":
        raise MissingExtraError("pyspark", extra="spark")
    if lacking:
        raise ContractError(
            f"A Spark source needs {lacking}.",
            hint=f"Install Java {_JAVA} or later; on Debian it is openjdk-{_JAVA}-jre-headless.",
        )


def what_is_lacking() -> str:
    """Return what Spark needs and is absent; "" if nothing is."""
    import importlib.util
    import shutil

    if importlib.util.find_spec("pyspark") is None:
        return "PySpark"
    home = os.environ.get("JAVA_HOME", "")
    found = shutil.which("java") or (home and shutil.which("java", path=f"{home}/bin"))
    return "" if found else "Java"


def _driver(*, threads: int | None, memory_limit: str | None) -> Any:
    from pyspark.sql import SparkSession as Builder

    spilled = _spill_folder()
    quiet = _quiet_logs(spilled)
    java = (
        f"-Dlog4j2.configurationFile={quiet.as_uri()} -Dlog4j.configurationFile={quiet.as_uri()} "
        "-Dlog4j2.StatusLogger.level=OFF"
    )
    settings = {**DRIVER, "spark.driver.extraJavaOptions": java}
    master = os.environ.get(MASTER, "") or f"local[{threads or '*'}]"
    builder = Builder.builder.master(master)
    local = master.startswith("local")
    if local:
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.local.dir": str(spilled),
            "spark.sql.shuffle.partitions": str(max(2, threads or os.cpu_count() or 2)),
        }
    if memory_limit:
        settings["spark.driver.memory"] = memory_limit.strip().lower().removesuffix("b")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = None
    with without_messages() as failed, _signals_kept(), _no_other_folder(local=local):
        spark = builder.getOrCreate()
    if failed or spark is None:
        raise ContractError(
            f"Spark cannot be started ({''.join(failed)}).",
            hint=f"Check Java, and {MASTER} if a cluster is named there.",
        )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _spill_folder() -> Path:
    """Return where the driver shuffles rows and spills them, for the rest of the process.

    Spark's own folders may be read by every account of the machine, and a killed process leaves
    them behind.
    """
    parent = Path(os.environ.get(_LOCAL, "").partition(",")[0])
    _SPILLED.append(SpillFolder(parent if parent.is_absolute() and parent.is_dir() else None))
    return _SPILLED[-1].path


@contextlib.contextmanager
def _no_other_folder(*, local: bool) -> Iterator[None]:
    """Start a driver of this machine that is told of no other folder by the environment."""
    before = os.environ.pop(_LOCAL, None) if local else None
    try:
        yield
    finally:
        if before is not None:
            os.environ[_LOCAL] = before


def _quiet_logs(folder: Path) -> Path:
    """Return a configuration of the driver's logs: there are none."""
    path = folder / "log4j2.properties"
    create_text(path, _QUIET)
    return path


@contextlib.contextmanager
def _signals_kept() -> Iterator[None]:
    """Keep what the process does when it is interrupted: the driver would end every job."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _array(column: Any) -> Any:
    """Return a column: whole numbers of 64 bits, larger ones and texts as objects."""
    import numpy as np
    import pyarrow as pa

    if pa.types.is_integer(column.type):
        return column.to_numpy()
    values = column.to_pylist()
    if not pa.types.is_decimal(column.type):
        return np.array(values, dtype=object)
    whole = [int(value) for value in values]
    small = all(-(2**63) <= value < 2**63 for value in whole)
    return np.array(whole, dtype=np.int64 if small else object)


@contextlib.contextmanager
def without_messages() -> Iterator[list[str]]:
    """Collect the class of a failure; its message and its chain may print cells."""
    failed: list[str] = []
    try:
        yield failed
    except ConfideError:
        raise
    except Exception as error:  # noqa: BLE001 — whatever a driver raises may print a cell
        failed.append(type(error).__name__)
