"""The same exact sums by Spark and by DuckDB, and each against its own query without privacy.

Run: python benchmarks/engines.py [--rows 1e6] [--runs 3] [--out PAGE]

Events with skewed patients (ten a patient in the mean, of a gamma law with shape ½) in one Parquet
file, of whom each keeps five; nothing is prepared.  Spark runs in this machine with two threads.
Everything is measured in one run, and the median counts.  Seconds are CPU seconds, of the driver
and of this process together; noise, ledger and certificate are in ``release_overhead.py``.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.engines.duckdb import open_engine
from confide.rows.engines.spark.spark_engine import open_spark
from confide.rows.engines.spark.spark_session import new_session
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Centred, Ones
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import Everything
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table
from confide.tables.source import Source, SourceKind

ROWS_A_PATIENT, THREADS, MEMORY = 10, 2, "2GB"
KEY = b"a key for benchmarks only"
CODES = tuple(str(code) for code in range(20))
DATASET = Dataset(
    id="bench",
    lineage="bench",
    snapshot="1",
    unit=PrivacyUnit(entity=Entity.PATIENT, id_column="pid"),
    adjacency=Adjacency.ADD_REMOVE,
    measure=Measure.PURE,
    population_at_most=10**8,
    tables=(
        Table(
            name="events",
            source="events",
            columns=(
                Column(
                    name="code",
                    kind=Kind.CATEGORY,
                    source="code",
                    keys=CODES,
                    codes=tuple((code, index) for index, code in enumerate(CODES)),
                ),
                Column(name="value", kind=Kind.NUMBER, source="value", lower=0, upper=300),
            ),
        ),
    ),
)


def asked(*, mean: bool) -> Aggregate:
    """Return a histogram of the codes, or the centred sum of the values."""
    column = ColumnOf(table="events", column="value" if mean else "code")
    return Aggregate(
        relation=Relation(table="events", where=Everything()),
        axes=() if mean else (column,),
        value=Centred(of=column) if mean else Ones(),
        bounds=RowBound(max_rows=5),
    )


PLAIN = {
    "histogram": "SELECT code, COUNT(*) FROM events GROUP BY code",
    "mean": "SELECT AVG(value) FROM events",
}
PRIVATE = {"histogram": asked(mean=False), "mean": asked(mean=True)}


def events(rows: int) -> pa.Table:
    """Return events of skewed patients, in no order."""
    rng = np.random.default_rng(7)
    weights = rng.gamma(0.5, size=max(1, rows // ROWS_A_PATIENT))
    patient = rng.choice(len(weights), size=rows, p=weights / weights.sum())
    return pa.table(
        {
            "pid": patient.astype(np.int64),
            "code": rng.integers(0, len(CODES), size=rows).astype(np.int32),
            "value": np.round(rng.normal(120, 30, size=rows), 1),
        }
    )


def cpu(driver: int | None) -> float:
    """Return the CPU seconds of this process, and of the driver where there is one."""
    own = time.process_time()
    if driver is None:
        return own
    fields = Path(f"/proc/{driver}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return own + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spent(work: Callable[[], object], *, runs: int, driver: int | None) -> float:
    """Return the median of the CPU seconds of some runs; one before them counts for nothing."""
    work()
    found = []
    for _ in range(runs):
        before = cpu(driver)
        work()
        found.append(cpu(driver) - before)
    return statistics.median(found)


def measured(folder: Path, *, runs: int) -> tuple[dict[str, dict[str, float]], float]:
    """Return the seconds of each task by each way, and of Spark's start with its first query."""
    found: dict[str, dict[str, float]] = {task: {} for task in PLAIN}
    exact: dict[str, dict[str, Any]] = {task: {} for task in PLAIN}
    place: dict[str, Any] = {"base": folder, "dataset": DATASET, "hash_key": KEY}
    place |= {"threads": THREADS, "memory_limit": MEMORY}
    with duckdb.connect(config={"threads": THREADS, "memory_limit": MEMORY}) as plain:
        plain.read_parquet(str(folder / "events.parquet")).create_view("events")
        for task, query in PLAIN.items():
            found[task]["DuckDB, without privacy"] = spent(
                lambda query=query: plain.execute(query).fetchall(), runs=runs, driver=None
            )
    with open_engine(Source(kind=SourceKind.PARQUET, path="."), **place) as engine:
        for task, aggregate in PRIVATE.items():

            def by_duckdb(task: str = task, aggregate: Aggregate = aggregate) -> None:
                answer = engine.aggregate((aggregate,), dataset=DATASET)
                exact[task]["DuckDB"] = answer.reveal_to_gate()

            found[task]["DuckDB"] = spent(by_duckdb, runs=runs, driver=None)
    before = cpu(None)
    spark = new_session(threads=THREADS, memory_limit=MEMORY)
    driver = spark.sparkContext._gateway.proc.pid  # noqa: SLF001
    spark.read.parquet(str(folder / "events.parquet")).createOrReplaceTempView("events")
    spark.sql(PLAIN["histogram"]).toArrow()
    start = cpu(driver) - before
    for task, query in PLAIN.items():
        found[task]["Spark, without privacy"] = spent(
            lambda query=query: spark.sql(query).toArrow(), runs=runs, driver=driver
        )
    for task, aggregate in PRIVATE.items():

        def by_spark(task: str = task, aggregate: Aggregate = aggregate) -> None:
            # opened anew: binding, planning and compiling are part of an answer
            with open_spark(Source(kind=SourceKind.SPARK, path="."), **place) as engine:
                answer = engine.aggregate((aggregate,), dataset=DATASET)
                exact[task]["Spark"] = answer.reveal_to_gate()

        found[task]["Spark"] = spent(by_spark, runs=runs, driver=driver)
    for task, answers in exact.items():
        if answers["Spark"] != answers["DuckDB"]:
            sys.exit(f"The exact sums of {task} differ.")
    return found, start


def page(found: dict[str, dict[str, float]], start: float, *, rows: int, runs: int) -> str:
    """Return the results as a page."""
    lines = [
        "# Benchmarks: engines",
        "",
        (
            f"Written by `benchmarks/engines.py --rows {rows:g} --runs {runs}`: {rows:,} events of "
            "skewed patients in one Parquet file, five kept of each patient, nothing prepared. CPU "
            f"seconds (median of {runs} runs after a first one that does not count), {THREADS} "
            f"threads, Python {platform.python_version()}. The exact sums of both engines are "
            "compared in the same run and are equal."
        ),
        "",
        f"Spark's start with its first query: {start:.1f}. It is paid once a process.",
        "",
        "| task | way | CPU s | against the same engine without privacy |",
        "|---|---|---:|---:|",
    ]
    for task, ways in found.items():
        for way, seconds in ways.items():
            alone = ways[f"{way.partition(',')[0]}, without privacy"]
            lines.append(f"| {task} | {way} | {seconds:.2f} | {seconds / alone:.1f} × |")
    lines += [
        "",
        (
            "Spark is for tables that outgrow one machine. Where DuckDB holds them it answers with less, "
            "and from [prepared copies](benchmarks-speed.md) with less again. Not measured: a cluster of "
            "several machines, other systems on Spark."
        ),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the page or print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = int(given.rows)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(events(rows), Path(folder) / "events.parquet")
        found, start = measured(Path(folder), runs=given.runs)
    text = page(found, start, rows=rows, runs=given.runs)
    if given.out is None:
        print(text)
    else:
        # what engines_postgres.py wrote stays below
        before = given.out.read_text(encoding="utf-8") if given.out.exists() else ""
        _, heading, rest = before.partition("\n## PostgreSQL\n")
        given.out.write_text(text + heading + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
