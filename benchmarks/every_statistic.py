"""Every statistic on prepared data against the same sums without privacy, one million patients.

Run: python benchmarks/every_statistic.py [--patients 1e6] [--runs 5] [--only survival] [--out PAGE]
     [--profile survival]

The target: reading, noise and estimate need at most 1.2 times the query without privacy, and half a
second.  All of it is measured in one run: release and plain query take turns and the median counts;
the first turn warms up and is left out.  The release is the real one, through gate and ledger, and
its stages are told apart by the gate's own progress.

- *plain*: DuckDB on the same Parquet files, two threads, in fixed point, the same groups; nobody's
  rows are bounded;
- *ours*: the stages ``read`` and ``noise`` of the gate, and the estimates from the noisy integers;
- *release*: everything from the plan to the signed certificate, the ledger's commits included.

CPU seconds are those of this process; its threads run on all cores, so the wall can be shorter.
"""

import argparse
import cProfile
import os
import platform
import pstats
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "benchmarks-statistics.md"
TIMES, SLACK = 1.2, 0.5
"""The target: at most 1.2 × plain + 0.5 s."""
AREAS, REGIONS, FEATURES, CODES = 280, 12, 20, 200
DAYS, FOLLOW_UP = 1096, 3650
DATASET = """
dataset: {{id: bench, lineage: bench, snapshot: "1"}}
source: {{kind: parquet, path: ., memory-limit: 4GB, threads: 2}}
protects: {{unit: patient, id: person_id, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: 1e-6}}
caps: {{lifetime: {{epsilon: 10000}}}}
population-at-most: 10000000
tables:
  people:
    from: people.parquet
    rows-per-patient: 1
    weight: weight
    columns:
      sex: {{categories: [female, male]}}
      age: {{kind: number, lower: 18, upper: 99, unit: a}}
      area: {{categories: {{file: areas.csv, column: area}}}}
      arm: {{categories: [standard, new]}}
      smoking: {{categories: [never, former, current]}}
      diabetes: {{categories: [no, yes]}}
      status: {{categories: {{0: alive, 1: stroke, 2: dead}}}}
      days: {{kind: number, lower: 0, upper: {follow_up}, unit: d}}
      systolic: {{kind: number, lower: 70, upper: 230, unit: "mm[Hg]"}}
      cholesterol: {{kind: number, lower: 80, upper: 400, unit: mg/dL}}
      bmi: {{kind: number, lower: 12, upper: 60, step: 0.1, unit: kg/m2}}
      weight: {{kind: number, lower: 0, upper: 4, step: 0.1}}
{features}
  events:
    from: events.parquet
    columns:
      code: {{categories: {{file: codes.csv, column: code}}}}
      day: {{kind: date, lower: 2023-01-01, upper: 2025-12-31}}
      cost: {{kind: number, lower: 0, upper: 1000}}
  drugs:
    from: events.parquet
    columns: {{drug: {{kind: text}}}}
  contacts:
    from: contacts.parquet
    other-id: contact_id
    columns: {{}}
derived:
  band: {{of: age, bins: [18, 30, 40, 50, 60, 70, 80, 99]}}
spines:
  country: {{levels: [area, region], file: areas.csv, population: people}}
"""
BAND = (
    "CASE WHEN age < 30 THEN 0 WHEN age < 40 THEN 1 WHEN age < 50 THEN 2 WHEN age < 60 THEN 3"
    " WHEN age < 70 THEN 4 WHEN age < 80 THEN 5 ELSE 6 END"
)
STANDARD = {
    "18-29": 20,
    "30-39": 18,
    "40-49": 16,
    "50-59": 15,
    "60-69": 13,
    "70-79": 10,
    "80-99": 8,
}
REFERENCE = {
    "18-29": 20,
    "30-39": 20,
    "40-49": 22,
    "50-59": 22,
    "60-69": 24,
    "70-79": 25,
    "80-99": 30,
}
STROKE = {"status": ["stroke"]}
FEW_CELLS = {"cells": 3, "rows": 1}
P, E, C = ("'{folder}/" + name + ".parquet'" for name in ("people", "events", "contacts"))
NAMES = tuple(f"x{i}" for i in range(FEATURES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A statistic, and the queries that give the same exact sums."""

    ask: dict[str, Any]
    plain: tuple[str, ...]


def task(kind: str, *plain: str, table: str = "people", **ask: Any) -> Task:
    return Task(ask={"kind": kind, "table": table, **ask}, plain=plain)


def _missing(column: str) -> str:
    return f"count(*) FILTER (WHERE {column} IS NULL)"


def _shares(column: str) -> str:
    return f"SELECT sex, {column}, count(*) FROM {P} GROUP BY ALL"


MODELS = {
    "logistic-regression",
    "multinomial-regression",
    "poisson-regression",
    "hazard-regression",
}
"""Fitted in rounds, which no single query does: benchmarks/models.py and hazards.py."""
TASKS = {
    "count": task(
        "count", f"SELECT count(*) FROM {P} WHERE age >= 40", where={"age": {"from": 40}}
    ),
    "histogram": task(
        "histogram",
        f"SELECT {BAND}, sex, count(*) FROM {P} GROUP BY ALL",
        by=["band", "sex"],
    ),
    "sum": task(
        "sum", f"SELECT sex, sum(systolic) FROM {P} GROUP BY 1", column="systolic", by=["sex"]
    ),
    "mean": task(
        "mean",
        f"SELECT area, sum(systolic), count(systolic) FROM {P} GROUP BY 1",
        column="systolic",
        by=["area"],
    ),
    "variance": task(
        "variance",
        f"SELECT sex, sum(systolic), sum(systolic * systolic), count(systolic) FROM {P} GROUP BY 1",
        column="systolic",
        by=["sex"],
    ),
    "proportion": task(
        "proportion",
        f"SELECT area, count(*) FILTER (WHERE diabetes = 'yes'), count(*) FROM {P} GROUP BY 1",
        of={"diabetes": ["yes"]},
        by=["area"],
    ),
    "quantiles": task(
        "quantiles",
        f"SELECT sex, CAST(floor(bmi) AS INT), count(*) FROM {P} GROUP BY ALL",
        column="bmi",
        by=["sex"],
    ),
    "key-selection": task(
        "key-selection",
        f"SELECT drug, count(DISTINCT person_id) FROM {E} GROUP BY 1",
        table="drugs",
        key="drug",
        delta="1e-9",
        per_patient={"cells": 3, "rows": 1},
    ),
    "table-1": task(
        "table-1",
        *(_shares(name) for name in ("smoking", "diabetes", BAND)),
        f"SELECT sex, {_missing('systolic')}, {_missing('cholesterol')}, sum(systolic),"
        " sum(systolic * systolic), sum(cholesterol), sum(cholesterol * cholesterol), count(*)"
        f" FROM {P} GROUP BY 1",
        f"SELECT sex, CAST(floor(bmi) AS INT), count(*) FROM {P} GROUP BY ALL",
        by=["sex"],
        variables=[
            "smoking",
            "diabetes",
            "band",
            "systolic",
            "cholesterol",
            {"column": "bmi", "show": ["median-iqr"], "bins": 48},
        ],
    ),
    "data-quality": task(
        "data-quality",
        "SELECT sex, count(*), "
        + ", ".join(
            f"{_missing(name)}, count(*) FILTER (WHERE {name} NOT BETWEEN {low} AND {high})"
            for name, low, high in (
                ("systolic", 70, 230),
                ("cholesterol", 80, 400),
                ("bmi", 12, 60),
            )
        )
        + f", {_missing('smoking')},"
        " count(*) FILTER (WHERE smoking NOT IN ('never', 'former', 'current'))"
        f" FROM {P} GROUP BY 1",
        fields=["systolic", "cholesterol", "bmi", "smoking"],
        by=["sex"],
    ),
    "incidence": task(
        "incidence",
        f"SELECT sex, count(*) FILTER (WHERE status = 1), sum(days) FROM {P} GROUP BY 1",
        of=STROKE,
        time="days",
        by=["sex"],
        compare="female",
        expect={"count": 30000, "rate": 20},
    ),
    "standardized-rate": task(
        "standardized-rate",
        f"SELECT sex, {BAND}, count(*) FILTER (WHERE status = 1), sum(days) FROM {P} GROUP BY ALL",
        of=STROKE,
        time="days",
        by=["sex"],
        strata=["band"],
        standard=STANDARD,
        expect={"count": 30000, "rate": 20},
    ),
    "smr": task(
        "smr",
        f"SELECT area, {BAND}, count(*) FILTER (WHERE status = 1), sum(days) FROM {P} GROUP BY ALL",
        of=STROKE,
        time="days",
        by=["area"],
        strata=["band"],
        reference=REFERENCE,
        expect={"count": 100},
    ),
    "weighted-proportion": task(
        "weighted-proportion",
        "SELECT area, sum(w), sum(w) FILTER (WHERE diabetes = 'yes'), sum(w * w), count(*)"
        f" FROM (SELECT *, CAST(round(weight * 10) AS BIGINT) w FROM {P}) GROUP BY 1",
        of={"diabetes": ["yes"]},
        by=["area"],
    ),
    "weighted-mean": task(
        "weighted-mean",
        "SELECT sex, sum(w), sum(w * systolic), sum(w * w * systolic), sum(w * w), count(*)"
        f" FROM (SELECT *, CAST(round(weight * 10) AS BIGINT) w FROM {P}) GROUP BY 1",
        column="systolic",
        by=["sex"],
    ),
    "survival, 120 bins": task(
        "survival",
        f"SELECT arm, CAST(floor(days * 120 / {FOLLOW_UP}) AS INT), status, count(*) FROM {P}"
        " GROUP BY ALL",
        time="days",
        status="status",
        censored="alive",
        by=["arm"],
        bins=120,
    ),
    "survival, 400 bins": task(
        "survival",
        f"SELECT arm, CAST(floor(days * 400 / {FOLLOW_UP}) AS INT), status, count(*) FROM {P}"
        " GROUP BY ALL",
        time="days",
        status="status",
        censored="alive",
        by=["arm"],
        bins=400,
    ),
    "chi-squared-test": task(
        "chi-squared-test",
        f"SELECT {BAND}, diabetes, count(*) FROM {P} GROUP BY ALL",
        by=["band", "diabetes"],
    ),
    "two-proportions-test": task(
        "two-proportions-test",
        f"SELECT sex, diabetes, count(*) FROM {P} GROUP BY ALL",
        of={"diabetes": ["yes"]},
        by=["sex"],
    ),
    "trend-test": task(
        "trend-test",
        f"SELECT {BAND}, diabetes, count(*) FROM {P} GROUP BY ALL",
        of={"diabetes": ["yes"]},
        by=["band"],
    ),
    "two-means-test": task(
        "two-means-test",
        f"SELECT sex, sum(systolic), sum(systolic * systolic), count(systolic) FROM {P} GROUP BY 1",
        column="systolic",
        by=["sex"],
    ),
    "median-difference": task(
        "median-difference",
        f"SELECT sex, CAST(floor(bmi) AS INT), count(*) FROM {P} GROUP BY ALL",
        column="bmi",
        by=["sex"],
    ),
    "linear-regression": task(
        "linear-regression",
        "SELECT count(*), sum(a), sum(s), sum(d), sum(b), sum(y), sum(a * a), sum(a * s),"
        " sum(a * d), sum(a * b), sum(a * y), sum(s * d), sum(s * b), sum(s * y), sum(d * b),"
        " sum(d * y), sum(b * b), sum(b * y), sum(y * y) FROM (SELECT age a,"
        " CAST(sex = 'male' AS INT) s, CAST(diabetes = 'yes' AS INT) d,"
        f" CAST(round(bmi * 10) AS BIGINT) b, systolic y FROM {P} WHERE systolic IS NOT NULL)",
        outcome="systolic",
        covariates=["age", "sex", "diabetes", "bmi"],
    ),
    "degree-histogram": task(
        "degree-histogram",
        "WITH e AS (SELECT DISTINCT least(person_id, contact_id) a, greatest(person_id, contact_id) b"
        f" FROM {C} WHERE person_id <> contact_id), d AS (SELECT p, count(*) n FROM"
        " (SELECT a p FROM e UNION ALL SELECT b FROM e) GROUP BY 1)"
        f" SELECT coalesce(n, 0), count(*) FROM {P} LEFT JOIN d ON p = person_id GROUP BY 1",
        table="contacts",
        persons="people",
        at_most=20,
    ),
    "hierarchy": task("hierarchy", f"SELECT area, count(*) FROM {P} GROUP BY 1"),
    "area-rate": task(
        "area-rate",
        f"SELECT area, count(*) FILTER (WHERE status = 1) FROM {P} GROUP BY 1",
        of=STROKE,
    ),
    "series": task(
        "series",
        f"SELECT day, sum(cost), count(*) FROM {E} GROUP BY 1",
        table="events",
        column="cost",
        over="day",
        every="day",
        per_patient=FEW_CELLS,
        expect={"count": 2000},
    ),
    "running-counts": task(
        "running-counts",
        f"SELECT day, count(*) FROM {E} GROUP BY 1",
        table="events",
        over="day",
        every="day",
        count="events",
        rolling=7,
        per_patient=FEW_CELLS,
    ),
    "top-category": task(
        "top-category",
        f"SELECT code, count(DISTINCT person_id) FROM {E} GROUP BY 1",
        table="events",
        by=["code"],
        size=3,
        per_patient={"cells": 3},
    ),
    "top-features": task(
        "top-features",
        "SELECT "
        + ", ".join(f"sum({x} * (systolic - 150)), count({x})" for x in NAMES)
        + f" FROM {P} WHERE systolic IS NOT NULL",
        features=list(NAMES),
        outcome="systolic",
        size=3,
    ),
}
"""One task of every kind at least, by name."""


def generate(folder: Path, *, patients: int) -> None:
    """Write the cohort; the generator has a fixed start, so that every run asks of the same."""
    rng = np.random.default_rng(20261122)
    areas = [f"A{i:03d}" for i in range(AREAS)]
    ids = rng.permutation(patients * 7)[:patients].astype(np.int64) + 10_000_000
    age = np.clip(np.round(rng.normal(52, 17, size=patients)), 18, 99).astype("i4")
    risk = 1 / FOLLOW_UP * np.exp(0.04 * (age - 60))
    stroke, death = (rng.exponential(1 / (risk * much)) for much in (0.3, 0.6))
    leaves = rng.uniform(0, 1.3 * FOLLOW_UP, size=patients)
    days = np.minimum(np.minimum(stroke, death), np.minimum(leaves, FOLLOW_UP))
    status = np.where(days == stroke, 1, np.where(days == death, 2, 0))
    systolic = np.clip(np.round(rng.normal(105 + 0.45 * age, 15)), 70, 230)

    def labels(names: list[str], *, of: np.ndarray) -> pa.Array:
        return pa.array(names).take(pa.array(of))

    def lacking(values: np.ndarray, share: float) -> pa.Array:
        return pa.array(values, mask=rng.random(patients) < share)

    smoking = labels(["never", "former", "current"], of=rng.integers(3, size=patients))
    people = {
        "person_id": ids,
        "sex": labels(["female", "male"], of=rng.integers(2, size=patients)),
        "age": age,
        "area": labels(
            areas, of=np.sort(rng.integers(AREAS, size=patients))[rng.permutation(patients)]
        ),
        "arm": labels(["standard", "new"], of=rng.integers(2, size=patients)),
        "smoking": pa.compute.if_else(pa.array(rng.random(patients) < 0.1), None, smoking),
        "diabetes": labels(["no", "yes"], of=(rng.random(patients) < age / 600).astype(int)),
        "status": status.astype("i4"),
        "days": np.floor(days).astype("i4"),
        "systolic": lacking(systolic.astype("i4"), 0.08),
        "cholesterol": lacking(
            np.clip(np.round(rng.normal(200, 40, size=patients)), 80, 400).astype("i4"), 0.15
        ),
        "bmi": np.round(np.clip(rng.gamma(30, 0.9, size=patients), 12, 60), 1),
        "weight": np.round(np.clip(rng.gamma(4, 0.25, size=patients), 0.1, 4), 1),
    }
    for index, name in enumerate(NAMES):
        x = rng.normal(50 + 0.1 * index * (systolic - 130), 15)
        people[name] = np.clip(np.round(x), 0, 100).astype("i4")
    pq.write_table(pa.table(people), folder / "people.parquet", row_group_size=250_000)

    rows = 3 * patients
    weight = np.cumsum(rng.gamma(0.5, 1.0, size=patients) + 0.02)
    who = np.searchsorted(weight, rng.random(rows) * weight[-1])
    often = np.cumsum(1 / np.arange(1, CODES + 1) ** 0.8)
    code = np.searchsorted(often, rng.random(rows) * often[-1])
    drug = np.minimum((rng.pareto(0.7, size=rows) * 3).astype(int), 19_999)
    day = np.datetime64("2023-01-01") + rng.integers(DAYS, size=rows)
    events = {
        "person_id": ids[who],
        "code": labels([f"C{i:03d}" for i in range(CODES)], of=code),
        "day": pa.array(day.astype("datetime64[D]")),
        "cost": np.minimum(np.round(rng.gamma(1.2, 90, size=rows)), 1000).astype("i4"),
        "drug": labels([f"drug {i}" for i in range(20_000)], of=drug),
    }
    pq.write_table(pa.table(events), folder / "events.parquet", row_group_size=500_000)
    met = {
        "person_id": ids[who[: 2 * patients]],
        "contact_id": ids[rng.integers(patients, size=2 * patients)],
    }
    pq.write_table(pa.table(met), folder / "contacts.parquet", row_group_size=500_000)

    share = patients // AREAS
    lines = [f"{area},R{i % REGIONS:02d},{share}" for i, area in enumerate(areas)]
    (folder / "areas.csv").write_text("\n".join(["area,region,people", *lines]) + "\n")
    codes = "\n".join(f"C{i:03d}" for i in range(CODES))
    (folder / "codes.csv").write_text(f"code\n{codes}\n")
    features = "\n".join(f"      {name}: {{kind: number, lower: 0, upper: 100}}" for name in NAMES)
    text = DATASET.format(follow_up=FOLLOW_UP, features=features)
    (folder / "dataset.yaml").write_text(text)


@dataclass
class Used:
    """CPU and wall seconds of the turns of one thing."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def add(self, start: tuple[float, float], stop: tuple[float, float]) -> None:
        self.cpu.append(stop[0] - start[0])
        self.wall.append(stop[1] - start[1])

    def medians(self) -> tuple[float, float]:
        return statistics.median(self.cpu), statistics.median(self.wall)


def now() -> tuple[float, float]:
    """Return CPU seconds of this process, and the clock."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, time.perf_counter()


@dataclass
class Row:
    """What one task needed; ``ours`` is the three stages together."""

    plain: Used = field(default_factory=Used)
    ours: Used = field(default_factory=Used)
    release: Used = field(default_factory=Used)
    stages: dict[str, Used] = field(default_factory=dict)
    ways: tuple[str, ...] = ()


def plain_turn(row: Row, connection: Any, queries: tuple[str, ...], *, folder: Path) -> None:
    start = now()
    for query in queries:
        connection.execute(query.format(folder=folder)).fetchall()
    row.plain.add(start, now())


def our_turn(row: Row, workspace: Any, plan: Any, *, request: str) -> None:
    marks: list[tuple[str, tuple[float, float]]] = []
    start = now()
    release = workspace.release(
        plan, request=request, progress=lambda name: marks.append((name, now()))
    )
    row.release.add(start, now())
    before = now()
    release.noisy.estimates()
    after = now()
    spans = {name: (at, marks[i + 1][1]) for i, (name, at) in enumerate(marks[:-1])}
    spans = {name: spans[name] for name in ("read", "noise")} | {"estimate": (before, after)}
    for name, (first, last) in spans.items():
        row.stages.setdefault(name, Used()).add(first, last)
    cpu, wall = (sum(last[i] - first[i] for first, last in spans.values()) for i in (0, 1))
    row.ours.add((0.0, 0.0), (cpu, wall))


def measure(folder: Path, *, names: list[str], runs: int) -> dict[str, Row]:
    import confide

    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    found = {}
    with confide.open(folder / "dataset.yaml") as workspace:
        for name in names:
            row = found[name] = Row()
            plan = workspace.plan({"id": "asked", **written(TASKS[name].ask)}, epsilon="1")
            row.ways = workspace.explain(plan)[1:]
            for turn in range(runs + 1):
                kept = row if turn else Row()  # the first warms up
                plain_turn(kept, connection, TASKS[name].plain, folder=folder)
                our_turn(kept, workspace, plan, request=f"{name} {turn} {time.time_ns()}")
            print(line_of(name, row), flush=True)
    return found


def written(ask: dict[str, Any]) -> dict[str, Any]:
    """Return an ask in the words of study.yaml."""
    return {key.replace("_", "-"): value for key, value in ask.items()}


def holds(ours: float, plain: float) -> bool:
    return ours <= TIMES * plain + SLACK


def line_of(name: str, row: Row) -> str:
    (plain, plain_wall), (ours, wall) = row.plain.medians(), row.ours.medians()
    release, _ = row.release.medians()
    parts = " + ".join(f"{row.stages[s].medians()[0]:.2f}" for s in ("read", "noise", "estimate"))
    marks = ["yes" if good else "**no**" for good in (holds(ours, plain), holds(wall, plain_wall))]
    return (
        f"| {name} | {plain:.2f} | {ours:.2f} | {parts} | {ours / plain:.2f} | {marks[0]} |"
        f" {plain_wall:.2f} | {wall:.2f} | {marks[1]} | {release:.2f} |"
    )


HEAD = (
    (
        "| statistic | plain | ours | read + noise + estimate | × | holds | plain, wall | ours, wall |"
        " holds | release |"
    ),
    "|---|--:|--:|--:|--:|---|--:|--:|---|--:|",
)


def page_of(
    found: dict[str, Row], *, patients: int, runs: int, prepared: tuple[float, float]
) -> str:
    late = [
        name
        for name, row in found.items()
        if not holds(row.ours.medians()[0], row.plain.medians()[0])
    ]
    met = len(found) - len(late)
    lines = [
        "# Every statistic, against the query without privacy",
        "",
        (
            f"`benchmarks/every_statistic.py`: {patients:,} patients with one row each, {3 * patients:,} dated events and"
            f" {2 * patients:,} contacts, prepared; Python {platform.python_version()}, DuckDB"
            f" {duckdb.__version__}, {os.cpu_count()} cores; medians of {runs} turns in one run. Preparing took"
            f" {prepared[0]:.0f} s of CPU, {prepared[1]:.0f} s in all. Ratios carry over to other machines,"
            " seconds do not; no test asserts any of them."
        ),
        "",
        "Target: CPU seconds of reading, noise and estimate together (*ours*) at most"
        f" {TIMES} × the plain query + {SLACK} s. *Plain* is DuckDB on the same Parquet files, two threads, the"
        " same groups in fixed point, with nobody's rows bounded. *Release* is the whole of it, from the plan to the"
        f" signed certificate, ledger included. {met} of {len(found)} meet the target"
        + (f"; not: {'; '.join(late)}." if late else "."),
        "",
        *HEAD,
        *(line_of(name, row) for name, row in found.items()),
        "",
        "How the rows were read (`confide plan` says it beforehand):",
        "",
        *(f"- {name}: {'; '.join(counted(row.ways))}" for name, row in found.items()),
        "",
    ]
    return "\n".join(lines)


def counted(ways: tuple[str, ...]) -> list[str]:
    """Say equal passes once, with their number."""
    return [f"{ways.count(w)} × ({w})" if ways.count(w) > 1 else w for w in dict.fromkeys(ways)]


def profile(folder: Path, *, name: str) -> None:
    """Print where one release of a task spends its time, by function."""
    import confide

    with confide.open(folder / "dataset.yaml") as workspace:
        plan = workspace.plan({"id": "asked", **written(TASKS[name].ask)}, epsilon="1")
        workspace.release(plan, request=f"warm {time.time_ns()}")
        profiler = cProfile.Profile()
        profiler.runcall(workspace.release, plan, request=f"profiled {time.time_ns()}")
    pstats.Stats(profiler).sort_stats("cumulative").print_stats(40)


def main() -> None:
    from confide.statistics import STATISTICS
    from confide.workspace import preparation

    arguments = argparse.ArgumentParser(description="Every statistic against the plain query")
    arguments.add_argument("--patients", type=lambda text: int(float(text)), default=1_000_000)
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--only", default="", help="names that begin with one of these")
    arguments.add_argument("--folder", type=Path, help="keep the prepared cohort here")
    arguments.add_argument("--profile", default="", help="one task, by function")
    arguments.add_argument("--out", type=Path, help=f"default: {PAGE.name}, if all were asked")
    given = arguments.parse_args()
    absent = STATISTICS.keys() - {each.ask["kind"] for each in TASKS.values()} - MODELS
    if absent:
        sys.exit(f"no task of: {', '.join(sorted(absent))}")
    wanted = tuple(given.only.split(","))
    names = [name for name in TASKS if name.startswith(wanted)]
    with tempfile.TemporaryDirectory(prefix="confide-bench-") as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        if not (folder / "dataset.yaml").exists():
            generate(folder, patients=given.patients)
        start = now()
        preparation(folder / "dataset.yaml").prepare()
        cpu, wall = (after - before for before, after in zip(start, now(), strict=True))
        print(f"prepared in {cpu:.1f} s of CPU, {wall:.1f} s", *HEAD, sep="\n", flush=True)
        if given.profile:
            profile(folder, name=given.profile)
            return
        found = measure(folder, names=names, runs=given.runs)
    page = page_of(found, patients=given.patients, runs=given.runs, prepared=(cpu, wall))
    out = given.out or (PAGE if names == list(TASKS) else None)
    if out is not None:
        out.write_text(page)


if __name__ == "__main__":
    main()
