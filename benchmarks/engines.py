"""The same exact sums by Spark and by DuckDB, and each against its own query without privacy.

Run: python benchmarks/engines.py [--rows 1e7] [--runs 3] [--out PAGE]

Events with skewed patients (ten a patient in the mean, of a gamma law with shape ½) in one Parquet
file, of whom each keeps five.  Spark runs in this machine with two threads.
Everything is measured in one run, and the median counts.  Seconds are CPU seconds, of the driver
and of this process together; noise, ledger and certificate are in ``release_overhead.py``.  Before
that, ``whole_processes.py`` runs each way on Spark from its start, Tumult Analytics and PipelineDP.
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
from whole_processes import from_start, section

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.copies.copies import UseCopies
from confide.rows.engines.duckdb import open_engine
from confide.rows.engines.spark.spark_engine import open_spark
from confide.rows.engines.spark.spark_session import new_session
from confide.rows.prepared.build import Preparation
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.value import Centred, Ones
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.filter import Everything
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table
from confide.tables.source import Source, SourceKind

ROWS_A_PATIENT, THREADS, MEMORY, WARMING = 10, 2, "2GB", 2
KEY = b"a key for benchmarks only"
SPARK = Source(kind=SourceKind.SPARK, path=".")
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


def place(folder: Path) -> dict[str, Any]:
    """Return where an engine reads, and with what."""
    where: dict[str, Any] = {"base": folder, "dataset": DATASET, "hash_key": KEY}
    return where | {"threads": THREADS, "memory_limit": MEMORY}


def prepared(folder: Path) -> float:
    """Write the copies, and return the CPU seconds of it."""
    before = cpu(None)
    Preparation(source=SPARK, folder=folder / "copies", **place(folder)).prepare()
    return cpu(None) - before


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


def spent(
    works: dict[str, Callable[[], object]], *, runs: int, driver: int | None
) -> dict[str, float]:
    """Return the median of the CPU seconds of each of some works, which are done in turn.

    Some rounds before them count for nothing: what a driver compiles becomes fast by being used.
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(WARMING + runs):
        for name, work in works.items():
            before = cpu(driver)
            work()
            if number >= WARMING:
                found[name].append(cpu(driver) - before)
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def answers(engine: Any, exact: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """Return what asks an engine each task, planned anew, and keeps its exact sums."""

    def ask(task: str, aggregate: Aggregate) -> None:
        exact[task] = engine.aggregate((aggregate,), dataset=DATASET).reveal_to_gate()

    return {
        task: lambda task=task, aggregate=aggregate: ask(task, aggregate)
        for task, aggregate in PRIVATE.items()
    }


def measured(folder: Path, *, runs: int) -> tuple[dict[str, dict[str, float]], float]:
    """Return the seconds of each task by each way, and of Spark's start with its first query."""
    found: dict[str, dict[str, float]] = {}
    exact: dict[str, dict[str, Any]] = {}
    with duckdb.connect(config={"threads": THREADS, "memory_limit": MEMORY}) as plain:
        plain.read_parquet(str(folder / "events.parquet")).create_view("events")
        works = {
            task: lambda query=query: plain.execute(query).fetchall()
            for task, query in PLAIN.items()
        }
        found["DuckDB, without privacy"] = spent(works, runs=runs, driver=None)
    with open_engine(Source(kind=SourceKind.PARQUET, path="."), **place(folder)) as engine:
        works = answers(engine, exact.setdefault("DuckDB", {}))
        found["DuckDB"] = spent(works, runs=runs, driver=None)
    before = cpu(None)
    spark = new_session(threads=THREADS, memory_limit=MEMORY)
    driver = spark.sparkContext._gateway.proc.pid  # noqa: SLF001
    spark.read.parquet(str(folder / "events.parquet")).createOrReplaceTempView("events")
    spark.sql(PLAIN["histogram"]).toArrow()
    start = cpu(driver) - before
    works = {task: lambda query=query: spark.sql(query).toArrow() for task, query in PLAIN.items()}
    found["Spark, without privacy"] = spent(works, runs=runs, driver=driver)
    for way, copying in (
        ("Spark", None),
        ("Spark, from prepared copies", UseCopies(folder=folder / "copies")),
    ):
        with open_spark(SPARK, **place(folder), copying=copying) as engine:
            works = answers(engine, exact.setdefault(way, {}))
            found[way] = spent(works, runs=runs, driver=driver)
    if any(of_way != exact["DuckDB"] for of_way in exact.values()):
        sys.exit("The exact sums differ.")
    return found, start


def page(
    found: dict[str, dict[str, float]],
    start: float,
    *,
    preparing: float,
    whole: dict[str, float],
    rows: int,
    runs: int,
) -> str:
    """Return the results as a page."""
    lines = [
        "# Benchmarks: engines",
        "",
        (
            f"Written by `benchmarks/engines.py --rows {rows:g} --runs {runs}`: {rows:,} events of "
            "skewed patients in one Parquet file, five kept of each patient. CPU "
            f"seconds (median of {runs} runs after {WARMING} that do not count), {THREADS} "
            f"threads, Python {platform.python_version()}. The exact sums of both engines are "
            "compared in the same run and are equal. Ways are measured in the order of the table, "
            "those of Spark in one driver, which answers the faster the longer it runs."
        ),
        "",
        (
            f"Spark's start with its first query: {start:.1f}. It is paid once a process. "
            f"`confide prepare`, once a snapshot: {preparing:.1f}."
        ),
        "",
        "| task | way | CPU s | against the same engine without privacy |",
        "|---|---|---:|---:|",
    ]
    for task in PLAIN:
        for way, tasks in found.items():
            seconds = tasks[task]
            alone = found[f"{way.partition(',')[0]}, without privacy"][task]
            lines.append(f"| {task} | {way} | {seconds:.2f} | {seconds / alone:.1f} × |")
    lines += [
        "",
        *section(whole),
        (
            "Spark is for tables that outgrow one machine. Where DuckDB holds them it answers with less, "
            "and from [prepared copies](benchmarks-speed.md) with less again. Both questions are bounded as "
            "`per-patient: {rows: 5}` by a column is. A mean of all rows is asked as one cell, which Spark reads from "
            "the source. Not measured: a cluster of several machines."
        ),
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the page or print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = int(given.rows)
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(events(rows), Path(folder) / "events.parquet")
        preparing = prepared(Path(folder))
        whole = from_start(Path(folder))
        found, start = measured(Path(folder), runs=given.runs)
    text = page(found, start, preparing=preparing, whole=whole, rows=rows, runs=given.runs)
    if given.out is None:
        print(text)
    else:
        # what engines_postgres.py wrote stays below
        before = given.out.read_text(encoding="utf-8") if given.out.exists() else ""
        _, heading, rest = before.partition("\n## PostgreSQL\n")
        given.out.write_text(text + heading + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
