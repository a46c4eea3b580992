"""What a release costs beyond its query: plan, ledger, noise, certificate, in a warm process.

Run: python benchmarks/release_overhead.py [--profile]

The query without privacy is the same histograms and sums by DuckDB on the same Parquet file.
"""

import cProfile
import pstats
import statistics
import sys
import tempfile
import time
from pathlib import Path

PATIENTS = 20_000
REPEATS = 15
DATASET = """
dataset: {id: bench, lineage: bench, snapshot: "1"}
source: {kind: parquet, path: .}
protects: {unit: patient, id: person_id, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 1000}}
tables:
  stays:
    from: stays.parquet
    rows-per-patient: 1
    columns:
      sex: {categories: [female, male]}
      age: {kind: number, lower: 0, upper: 100}
      systolic: {kind: number, lower: 60, upper: 260}
derived:
  band: {of: age, bins: [0, 20, 40, 60, 80, 101]}
"""
STUDY = (
    {"id": "n", "kind": "count"},
    {"id": "bands", "kind": "histogram", "by": ["band", "sex"]},
    {"id": "pressure", "kind": "mean", "column": "systolic", "by": ["sex"]},
)
PLAIN = (
    "SELECT count(*) FROM '{0}'",
    "SELECT age // 20, sex, count(*) FROM '{0}' GROUP BY ALL",
    "SELECT sex, avg(least(greatest(systolic, 60), 260)) FROM '{0}' GROUP BY ALL",
)


def write_cohort(folder: Path) -> Path:
    import duckdb

    path = folder / "stays.parquet"
    duckdb.sql(
        f"COPY (SELECT i AS person_id, ['female', 'male'][1 + i % 2] AS sex, i * 37 % 100 AS age,"
        f" 100 + i * 7919 % 90 AS systolic FROM range({PATIENTS}) t(i)) TO '{path}'"
    )
    return path


def main() -> None:
    import duckdb

    import confide

    folder = Path(tempfile.mkdtemp())
    path = write_cohort(folder)
    (folder / "dataset.yaml").write_text(DATASET)
    stages: dict[str, list[float]] = {}

    def release_once(ws: confide.Workspace, number: int) -> None:
        last = ["", time.perf_counter()]

        def tell(stage: str) -> None:
            now = time.perf_counter()
            if last[0]:
                stages.setdefault(last[0], []).append(now - last[1])
            last[:] = [stage, now]

        tell("plan")
        plan = ws.plan(*STUDY, epsilon="1")
        tell("release")
        ws.release(plan, request=f"run-{number}", progress=tell)
        tell("")

    with confide.open(folder / "dataset.yaml") as ws:
        start = time.perf_counter()
        release_once(ws, 0)
        print(f"first release of a process  {time.perf_counter() - start:7.3f} s")
        stages.clear()
        profile = cProfile.Profile()
        if "--profile" in sys.argv:
            profile.enable()
        totals = []
        for number in range(1, REPEATS + 1):
            start = time.perf_counter()
            release_once(ws, number)
            totals.append(time.perf_counter() - start)
        profile.disable()
        connection = duckdb.connect()
        connection.execute("SET threads = 2")
        plain = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            for query in PLAIN:
                connection.execute(query.format(path)).fetchall()
            plain.append(time.perf_counter() - start)
    whole, query = statistics.median(totals), statistics.median(plain)
    print(f"release, warm               {whole:7.3f} s")
    print(f"the same without privacy    {query:7.3f} s")
    print(f"beyond its query            {whole - query:7.3f} s   (target 0.2)")
    print("of which, by stage (median):")
    for stage, times in stages.items():
        print(f"  {stage:24}  {statistics.median(times):7.4f} s")
    if "--profile" in sys.argv:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)


if __name__ == "__main__":
    main()
