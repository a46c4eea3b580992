"""Five questions over one unprepared table, against the dearest of them alone.

Run: python benchmarks/one_pass.py [--rows 1e7] [--runs 5]

The events of ``speed.py``: patients keep five rows each; a histogram by code and one by site, means
by site and by day, quartiles.  All are asked in turn in one run, and the median counts.
"""

import argparse
import resource
import statistics
import tempfile
from pathlib import Path

from speed import DATASET, FIVE, STUDIES, cpu_seconds, generate

ASKED = {name: STUDIES[name] for name in ("histogram", "mean", "daily", "quartiles")}
ASKED["by site"] = {"kind": "histogram", "count": "events", "by": ["site"], **FIVE}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        generate(place / "events.parquet", rows=int(given.rows))
        codes = ", ".join(str(100_000 + i) for i in range(2000))
        sites = ", ".join(str(1 + i) for i in range(20))
        (place / "dataset.yaml").write_text(DATASET % (codes, sites))
        measure(place, runs=given.runs)


def measure(folder: Path, *, runs: int) -> None:
    import confide
    from confide.rows.engines.duckdb import open_engine
    from confide.tables.aggregates.shapes import parts
    from confide.workspace import preparation

    work = preparation(folder / "dataset.yaml")
    asked, dataset = {}, work.dataset
    with confide.open(folder / "dataset.yaml") as workspace:
        for name, study in ASKED.items():
            plan = workspace.plan({"id": name.replace(" ", "-"), **study}, epsilon="1")
            asked[name] = tuple(p for each in plan.measurements for p in parts(each.aggregate))
    asked["all five"] = tuple(part for each in asked.values() for part in each)
    engine = open_engine(
        work.source,
        base=work.base,
        dataset=dataset,
        hash_key=work.hash_key,
        threads=2,
        memory_limit="2GB",
    )
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    peak = dict.fromkeys(asked, 0)
    with engine:
        for turn in range(runs + 1):  # the first warms up
            for name, each in asked.items():
                began = cpu_seconds()
                engine.aggregate(each, dataset=dataset)
                if turn:
                    seconds[name].append(cpu_seconds() - began)
                else:
                    peak[name] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = {name: statistics.median(each) for name, each in seconds.items()}
    dearest = max(cpu for name, cpu in found.items() if name != "all five")
    print("| question | CPU s | × the dearest alone |\n|---|--:|--:|")
    for name, cpu in found.items():
        print(f"| {name} | {cpu:.2f} | {cpu / dearest:.2f} |")
    before = max(kilobytes for name, kilobytes in peak.items() if name != "all five")
    print(f"\nPeak memory of all five: {peak['all five'] / before:.2f} times that of each alone.")


if __name__ == "__main__":
    main()
