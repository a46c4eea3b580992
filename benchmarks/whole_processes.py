"""A histogram and a mean on Spark as the whole life of a process: CPU seconds, start included.

Used by engines.py, and by itself for one way: python benchmarks/whole_processes.py WAY FOLDER

Each way is a process of its own with all that it starts (the driver of Spark, workers in Python),
looked at five times a second.  Tumult and PipelineDP run in environments of their own,
``.venv-bench-NAME``, with the same threads, memory and partitions, the same rows and bounds.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
PEERS = {"Tumult Analytics": "tumult", "PipelineDP": "pipelinedp"}
TICKS = os.sysconf("SC_CLK_TCK")
PR_SET_CHILD_SUBREAPER, PAUSE, PATIENCE = 36, 0.2, 60.0


def answered(way: str, folder: Path) -> dict[str, object]:
    """Answer by Confide from the source or its copies, or by Spark without privacy."""
    import engines

    from confide.rows.copies.copies import UseCopies
    from confide.rows.engines.spark.spark_engine import open_spark
    from confide.rows.engines.spark.spark_session import new_session

    if way == "plain":
        spark = new_session(threads=engines.THREADS, memory_limit=engines.MEMORY)
        spark.read.parquet(str(folder / "events.parquet")).createOrReplaceTempView("events")
        return {task: spark.sql(query).toArrow().num_rows for task, query in engines.PLAIN.items()}
    copying = UseCopies(folder=folder / "copies") if way == "copies" else None
    with open_spark(engines.SPARK, **engines.place(folder), copying=copying) as engine:
        return {
            task: engine.aggregate((asked,), dataset=engines.DATASET).reveal_to_gate()
            for task, asked in engines.PRIVATE.items()
        }


def descendants() -> dict[tuple[int, int], float]:
    """Return the CPU seconds of all processes below this one, by number and start."""
    found, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        found[pid] = (int(fields[19]), (int(fields[11]) + int(fields[12])) / TICKS)
    below: dict[tuple[int, int], float] = {}
    for pid, (start, seconds) in found.items():
        above = pid
        while above > 1 and above != os.getpid():
            above = parents.get(above, 0)
        if above == os.getpid() != pid:
            below[pid, start] = seconds
    return below


def seconds_of(command: list[object]) -> float:
    """Run a command, and return the CPU seconds of it and of all that it started."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what it leaves behind comes here
    before, seen = set(descendants()), {}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        ended = None
        while ended is None or time.monotonic() - ended < PATIENCE:
            now = {key: used for key, used in descendants().items() if key not in before}
            seen |= now
            if ended is None and process.poll() is not None:
                ended = time.monotonic()
            if ended is not None:
                reap(before)
                if not now:
                    break
            time.sleep(PAUSE)
        if process.returncode:
            said.seek(0)
            sys.exit(said.read().decode(errors="replace")[-2_000:])
    return sum(seen.values())


def reap(before: set[tuple[int, int]]) -> None:
    """Let ended processes go that were left to this one."""
    for pid, start in descendants():
        if (pid, start) not in before:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


def from_start(folder: Path) -> dict[str, float]:
    """Return the CPU seconds of each way; of peers where their environments are there."""
    own = [sys.executable, __file__]
    ways = {
        "Spark, without privacy": [*own, "plain", folder],
        "Confide, from the source": [*own, "source", folder],
        "Confide, from prepared copies": [*own, "copies", folder],
    }
    for name, peer in PEERS.items():
        python = HERE.parent / f".venv-bench-{peer}" / "bin" / "python"
        if python.exists():
            program = HERE / "peers" / f"engines_with_{peer}.py"
            ways[name] = [python, program, folder / "events.parquet"]
    found = {}
    for name, command in ways.items():
        found[name] = seconds_of(command)
        print(f"{name}: {found[name]:.0f} CPU s", file=sys.stderr, flush=True)
    return found


def section(found: dict[str, float]) -> list[str]:
    """Return the results as lines of a page."""
    least = found["Confide, from the source"]
    lines = [
        "## Start included",
        "",
        (
            "Histogram and mean as the whole life of a process: start, both answers, end. CPU seconds of the "
            "process and all that it starts. Tumult Analytics bounds by `MaxRowsPerID(5)`, PipelineDP by five codes "
            "of a patient and by five rows, with as many threads, partitions and as much memory."
        ),
        "",
        "| way | CPU s | against Confide from the source |",
        "|---|---:|---:|",
    ]
    lines += [f"| {name} | {used:.0f} | {used / least:.1f} × |" for name, used in found.items()]
    return [*lines, ""]


if __name__ == "__main__":
    print(json.dumps({k: str(v) for k, v in answered(sys.argv[1], Path(sys.argv[2])).items()}))
