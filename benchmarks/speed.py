"""A private answer against the same query without privacy, and against other systems.

Run: python benchmarks/speed.py [--rows 1e6,1e7] [--runs 7] [--tasks mean] [--out PAGE] [--alone]

Events with skewed patients (ten a patient in the mean, of a gamma law with shape ½), of whom each
keeps five; ε = 1 a task.  Everything is measured in one run: the systems take turns, seven times
(three, if a turn takes more than four seconds), and the median counts.  CPU seconds are those of
the process that answers, with the noise; ledger and certificate are in ``release_overhead.py``.
Accuracy is the mean absolute error against the exact answer over all rows, so it contains what
bounding leaves out.

- *without privacy*: DuckDB on the same Parquet file, in fixed point, two threads;
- *prepared*, *prepared, filtered* and *unprepared*: Confide; the filter keeps half of the days, and
  is compared with the same filter without privacy;
- peers: each in its own environment, ``.venv-bench-NAME``, made by ``run_all.py``.

An exception to one process a run: peers keep theirs warm, as they would in a notebook.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).parent
TASKS = ("histogram", "mean", "daily", "quartiles", "keys")
PEERS = {
    "OpenDP 0.16": "opendp",
    "SmartNoise 1.0 on DuckDB": "smartnoise",
    "diffprivlib 0.6 (events)": "diffprivlib",
    "python-dp 1.1 and pandas": "pythondp",
}
ROWS_A_PATIENT = 10
FEW, SLOW = 3, 4.0
"""A system that needs more than four seconds a turn takes three turns."""
SINCE = "2024-06-27"
DATASET = """
dataset: {id: bench, lineage: bench, snapshot: "1"}
source: {kind: parquet, path: ., memory-limit: 2GB, threads: 2}
protects: {unit: patient, id: person_id, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 1000}}
population-at-most: 100000000
tables:
  events:
    from: events.parquet
    columns:
      code: {categories: [%s]}
      site: {categories: [%s]}
      value: {kind: number, lower: 40, upper: 260, step: 0.1}
      visit_day: {kind: date, lower: 2023-01-01, upper: 2025-12-30}
  drugs:
    from: events.parquet
    columns: {drug: {kind: text}}
derived:
  each_day: {of: visit_day, part: day}
"""
FIVE = {"per-patient": {"rows": 5}, "table": "events"}
STUDIES = {
    "histogram": {"kind": "histogram", "count": "events", "by": ["code"], **FIVE},
    "mean": {"kind": "mean", "column": "value", "by": ["site"], **FIVE},
    "daily": {"kind": "mean", "column": "value", "by": ["each_day"], **FIVE},
    "quartiles": {"kind": "quantiles", "column": "value", "by": ["site"], **FIVE},
    "keys": {
        "kind": "key-selection",
        "key": "drug",
        "table": "drugs",
        "per-patient": {"cells": 5, "rows": 1},
    },
}
FIXED = "sum(CAST(round(value * 10) AS BIGINT)), count(*)"
PLAIN = {
    "histogram": "SELECT code, count(*) FROM {file} {where} GROUP BY 1",
    "mean": f"SELECT site, {FIXED} FROM {{file}} {{where}} GROUP BY 1",
    "daily": f"SELECT visit_day, {FIXED} FROM {{file}} {{where}} GROUP BY 1",
    "quartiles": "SELECT site, CAST(floor(value * 2) AS INT), count(*) FROM {file} {where}"
    " GROUP BY ALL",
    "keys": "SELECT drug, count(DISTINCT person_id) FROM {file} GROUP BY 1",
}
Numbers = dict[str, float]


def generate(path: Path, *, rows: int) -> None:
    """Write events; the generator has a fixed start, so that every run asks of the same."""
    rng = np.random.default_rng(20261121)
    patients = rows // ROWS_A_PATIENT
    weight = np.cumsum(rng.gamma(0.5, 1.0, size=patients) + 0.02)
    ids = rng.permutation(patients * 7)[:patients].astype(np.int64) + 10_000_000
    codes = np.cumsum(1 / np.arange(1, 2001) ** 0.8)
    drugs = pa.array([f"drug {i}" for i in range(20_000)])
    writer = None
    for start in range(0, rows, 2_000_000):
        n = min(2_000_000, rows - start)
        who = np.searchsorted(weight, rng.random(n) * weight[-1])
        value = np.clip(np.round(rng.normal(130, 20, size=n), 1), 40, 260)
        day = np.datetime64("2023-01-01") + rng.integers(1095, size=n)
        taken = np.minimum((rng.pareto(0.7, size=n) * 3).astype(int), 19_999)
        table = pa.table(
            {
                "person_id": ids[who],
                "code": (100_000 + np.searchsorted(codes, rng.random(n) * codes[-1])).astype("i4"),
                "site": (1 + rng.integers(20, size=n)).astype("i4"),
                "value": value,
                "tenths": np.round(value * 10).astype("i8"),
                "visit_day": pa.array(day.astype("datetime64[D]")),
                "drug": drugs.take(pa.array(taken)),
            }
        )
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=500_000)
    if writer is not None:
        writer.close()


@dataclass
class Run:
    """What one system needed for one task."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    memory: int = 0
    numbers: Numbers = field(default_factory=dict)
    error: str = ""


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Here:
    """A system in this process: functions by task, which answer and then say the numbers."""

    def __init__(self, tasks: dict[str, Callable[[], Callable[[], Numbers]]]) -> None:
        self.tasks = tasks

    def ask(self, task: str) -> dict:
        cpu, wall = cpu_seconds(), time.perf_counter()
        numbers = self.tasks[task]()
        used = {"cpu": cpu_seconds() - cpu, "wall": time.perf_counter() - wall}
        return {**used, "numbers": numbers()}  # what is made of a noisy answer is free


class Peer:
    """A system in a process of its own environment."""

    def __init__(self, name: str, *, file: Path) -> None:
        python = HERE.parent / f".venv-bench-{name}" / "bin" / "python"
        self.process = subprocess.Popen(
            [python, HERE / "peers" / f"with_{name}.py", file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.tasks = json.loads(self.process.stdout.readline())

    def ask(self, task: str) -> dict:
        self.process.stdin.write(task + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended", "cpu": 0, "wall": 0}


def without_privacy(file: Path, *, where: str = "") -> Here:
    connection = duckdb.connect()
    connection.execute("SET threads = 2")

    def run(task: str) -> Callable[[], Numbers]:
        rows = connection.execute(PLAIN[task].format(file=f"'{file}'", where=where)).fetchall()
        match task:
            case "histogram":
                return lambda: {str(code): n for code, n in rows}
            case "mean" | "daily":
                return lambda: {str(key): total / 10 / n for key, total, n in rows}
            case _:
                return dict

    return Here({task: lambda task=task: run(task) for task in TASKS})


def confide_system(folder: Path, *, prepared: bool, filtered: bool) -> Here:
    import confide
    from confide.noise.entropy import SystemEntropy
    from confide.release.noisy import NoisyAggregates
    from confide.rows.copies.copies import UseCopies
    from confide.rows.engines.duckdb import open_engine
    from confide.tables.aggregates.shapes import parts
    from confide.workspace import preparation

    work = preparation(folder / "dataset.yaml")
    engine = open_engine(
        work.source,
        base=work.base,
        dataset=work.dataset,
        hash_key=work.hash_key,
        threads=2,
        memory_limit="2GB",
        copying=UseCopies(folder=work.folder) if prepared else None,
    )
    ready = {}
    with confide.open(folder / "dataset.yaml") as workspace:
        for task, study in STUDIES.items():
            if filtered and task == "keys":
                continue
            where = {"where": {"visit_day": {"from": SINCE}}} if filtered else {}
            plan = workspace.plan({"id": task, **study, **where}, epsilon="1")
            asked = tuple(part for each in plan.measurements for part in parts(each.aggregate))
            engine.check(asked, dataset=plan.dataset)
            ready[task] = plan, asked

    def run(task: str) -> Callable[[], Numbers]:
        plan, asked = ready[task]
        exact = engine.aggregate(asked, dataset=plan.dataset).reveal_to_gate()
        entropy = SystemEntropy()
        if task == "keys":
            (counts,), (measured,) = exact, plan.measurements
            values = np.array(list(counts.values()), dtype=np.int64)
            chosen = measured.mechanism.select(values, entropy=entropy).positions
            return lambda: {"keys": len(chosen)}
        values = tuple(
            measured.mechanism.randomize(secret, entropy=entropy)
            for measured, secret in zip(plan.measurements, exact, strict=True)
        )
        if filtered or task == "quartiles":
            return dict
        noisy = NoisyAggregates(plan=plan, values=values)
        return lambda: {each.key[0]: each.value for each in noisy.estimates() if each.key}

    return Here({task: lambda task=task: run(task) for task in ready})


def measure(systems: dict, *, runs: int, tasks: Sequence[str]) -> dict[str, dict[str, Run]]:
    found = {
        task: {name: Run() for name, s in systems.items() if task in s.tasks} for task in tasks
    }
    for task in tasks:
        for turn in range(runs + 1):  # the first warms up
            for name, run in found[task].items():
                if len(run.wall) >= FEW and statistics.median(run.wall) > SLOW:
                    continue
                answer = {"error": run.error} if run.error else systems[name].ask(task)
                run.error = answer.get("error", "")
                if run.error or not turn:
                    continue
                run.cpu.append(answer["cpu"])
                run.wall.append(answer["wall"])
                run.memory = max(run.memory, answer.get("memory", 0))
                run.numbers = answer["numbers"]
        print(f"  {task}: {runs} turns of {len(found[task])} systems", flush=True)
    return found


def lines_of(task: str, runs: dict[str, Run]) -> list[str]:
    exact = runs["without privacy"].numbers
    lines = [
        f"| {task} | CPU s | wall s | × without privacy | mean error |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, run in runs.items():
        if run.error or not run.cpu:
            lines.append(f"| {name} | failed: {run.error.split(':')[0]} | | | |")
            continue
        base = "without privacy, filtered" if "filtered" in name else "without privacy"
        cpu = statistics.median(run.cpu)
        ratio = cpu / statistics.median(runs[base].cpu)
        error = ""
        if exact and run.numbers and name != base:
            gaps = [
                abs(run.numbers[key] - true) for key, true in exact.items() if key in run.numbers
            ]
            error = f"{statistics.mean(gaps):.3g}" if gaps else ""
        elif "keys" in run.numbers:
            error = f"{run.numbers['keys']} keys"
        wall = statistics.median(run.wall)
        lines.append(f"| {name} | {cpu:.3f} | {wall:.3f} | {ratio:.2f} | {error} |")
    return [*lines, ""]


def page_of(rows: int, *, runs: int, tasks: Sequence[str], alone: bool, folder: Path) -> list[str]:
    from confide.workspace import preparation

    file = folder / "events.parquet"
    print(f"{rows:,} events", flush=True)
    generate(file, rows=rows)
    codes = ", ".join(str(100_000 + i) for i in range(2000))
    sites = ", ".join(str(1 + i) for i in range(20))
    (folder / "dataset.yaml").write_text(DATASET % (codes, sites))
    cpu, wall = cpu_seconds(), time.perf_counter()
    manifest = preparation(folder / "dataset.yaml").prepare()
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    systems: dict = {
        "without privacy": without_privacy(file),
        "prepared": confide_system(folder, prepared=True, filtered=False),
        "without privacy, filtered": without_privacy(file, where=f"WHERE visit_day >= '{SINCE}'"),
        "prepared, filtered": confide_system(folder, prepared=True, filtered=True),
        "unprepared": confide_system(folder, prepared=False, filtered=False),
    }
    systems["without privacy, filtered"].tasks.pop("keys")
    for name, peer in {} if alone else PEERS.items():
        try:
            systems[name] = Peer(peer, file=file)
        except (OSError, ValueError) as failure:
            print(f"  {name} is left out: {type(failure).__name__}", flush=True)
    found = measure(systems, runs=runs, tasks=tasks)
    size = sum(manifest.sizes.values()) / 1e6
    lines = [
        f"## {rows:,} events of {rows // ROWS_A_PATIENT:,} patients",
        "",
        (
            f"Preparing: {cpu / rows * 1e6 / 2:.2f} µs of CPU a row and table, {wall:.1f} s in all; "
            f"{size:.0f} MB of copies for {file.stat().st_size / 1e6:.0f} MB of Parquet."
        ),
        "",
    ]
    for task in tasks:
        lines += lines_of(task, found[task])
    for system in systems.values():
        if isinstance(system, Peer):
            system.process.stdin.close()
            system.process.wait(timeout=60)
    return lines


def main() -> None:
    arguments = argparse.ArgumentParser(description="Speed against peers")
    arguments.add_argument("--rows", default="1e6,1e7")
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--tasks", default=",".join(TASKS))
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--alone", action="store_true", help="without the peers")
    given = arguments.parse_args()
    lines = [
        (
            f"Python {platform.python_version()}, DuckDB {duckdb.__version__}, "
            f"{os.cpu_count()} cores; median of {given.runs} interleaved runs."
        ),
        "",
    ]
    for rows in given.rows.split(","):
        with tempfile.TemporaryDirectory(prefix="confide-bench-") as name:
            lines += page_of(
                int(float(rows)),
                runs=given.runs,
                tasks=given.tasks.split(","),
                alone=given.alone,
                folder=Path(name),
            )
    text = "\n".join(lines)
    print(text)
    if given.out:
        given.out.write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
