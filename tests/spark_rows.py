"""Rows as Parquet files that Spark reads; one driver for all tests of a process."""

import contextlib
import importlib
import os
import tempfile
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.rows.engines.spark.spark_driver import what_is_lacking
from confide.rows.engines.spark.spark_engine import open_spark
from confide.rows.engines.spark.spark_session import new_session
from confide.tables.source import Source, SourceKind
from rows_world import KEY

ELSEWHERE = "-Duser.timezone=Pacific/Kiritimati -Duser.language=tr -Duser.country=TR"
"""A machine 14 hours before UTC, where the small letter of I is no i: no answer depends on it."""
QUICK = {"JAVA_TOOL_OPTIONS": f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {ELSEWHERE}"}
"""A driver that starts quickly, and is slow with many rows."""
MEMORY = "6GB"
"""At most: a driver keeps some 40 MB of each statement with hundreds of bins, of the menu 66."""
SPARK = Source(kind=SourceKind.SPARK, path=".")


WARNED = (
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
)
"""What PySpark warns of: a library that no answer is made with, and settings that we mean."""


def needs_spark():
    """Skip where Spark cannot run."""
    lacking = what_is_lacking()
    return pytest.mark.skipif(bool(lacking), reason=f"{lacking or 'nothing'} is not installed")


def _made_quick():
    """Say how the driver starts, and let PySpark look for libraries where warnings are none.

    It looks once a process: a test after it may need one that it warns of.
    """
    os.environ.update(QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("pyspark.testing.utils")


def started_quickly():
    """Return a session of a driver for few rows."""
    _made_quick()
    return new_session(threads=2, memory_limit=MEMORY)


def stored(frames, folder=None) -> Path:
    """Write tables as Parquet files of a folder."""
    folder = folder or Path(tempfile.mkdtemp(prefix="confide-test-"))
    for name, table in frames.items():
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=997)
    return folder


def opened_quickly(source, **given):
    """Open a source in a driver for few rows."""
    _made_quick()
    return open_spark(source, memory_limit=MEMORY, **given)


@contextlib.contextmanager
def opened(frames, *, of, threads=2, withdrawn=(), folder=None):
    """Open tables in Spark."""
    engine = opened_quickly(
        SPARK,
        base=stored(frames, folder),
        dataset=of,
        hash_key=KEY,
        threads=threads,
        withdrawn=withdrawn,
    )
    with engine:
        yield engine


def in_types(table: pa.Table, **types: pa.DataType) -> pa.Table:
    """Return a table with columns of other types."""
    for name, kind in types.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table[name].cast(kind))
    return table


def answered(given: pa.Table, text: str) -> pa.Table:
    """Return what Spark answers to a query over one table, which it reads from a file."""
    spark = started_quickly()
    folder = stored({"given": given})
    spark.read.parquet(str(folder / "given.parquet")).createOrReplaceTempView("given")
    return spark.sql(text).toArrow()
