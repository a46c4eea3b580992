"""What per-patient charges cost beyond their query, and what a year gains by them.

Run: python benchmarks/individual_accounting.py [--patients 1e7] [--charged 1e6] [--runs 9] [--skip cost|year]

*Cost*: a histogram of events on prepared data: 10⁷ patients are known, 10⁶ of them have events and
are charged.  Stages of one release, medians of some: the query that bounds the rows and computes
each patient's norm; the charge, durable (index, decision, membership file with fsync, vector); the
sums without those who are left out.

*Year*: twelve monthly counts of three made-up dashboards, whose patients come as public tables of
visits say.  The cap is ε = 1 for each patient and year.  Charging everybody, each month gets ε =
1/12; leaving patients out, each month gets what the public preview finds best.  Errors are those of
noisy counts against true ones over simulated years, noise and missing patients together; "answered"
counts, through the gate, how many of twelve releases at that larger ε each policy lets through.
"""

import argparse
import math
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DATASET = """
dataset: {{id: bench, lineage: bench, snapshot: "1"}}
source: {{kind: parquet, path: ., memory-limit: 4GB, threads: 2}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
policy: policy.yaml
population-at-most: 100000000
tables:
  events:
    from: events.parquet
    columns:
      ward: {{categories: [{wards}]}}
  people:
    from: people.parquet
    rows-per-patient: 1
    columns:
      sex: {{categories: [f, m]}}
"""
POLICY = """
policy: {{id: bench, version: 1, effective: 2020-01-01}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: pure}}
caps:
  - {{id: annual, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {{epsilon: "{cap}"}}, enforce: {enforce}}}
  - {{id: life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {{epsilon: "1000"}}}}
"""
WARDS = [f"w{i}" for i in range(20)]
HISTOGRAM = {
    "id": "wards", "kind": "histogram", "table": "events", "by": ["ward"], "per-patient": {"cells": 3}
}  # fmt: skip
CHARGE, PLAIN = "charge: decided and durable", "the same histogram, everybody charged"


def site(folder, *, people, events, cap="1", enforce="drop"):
    """Write a hospital of prepared tables and return its dataset.yaml."""
    pq.write_table(people, folder / "people.parquet")
    pq.write_table(events, folder / "events.parquet")
    (folder / "policy.yaml").write_text(POLICY.format(cap=cap, enforce=enforce))
    path = folder / "dataset.yaml"
    path.write_text(DATASET.format(wards=", ".join(WARDS)))
    return path


class Stages:
    """Wall and processor times of the stages of releases, by wrapping what does them."""

    def __init__(self):
        self.wall, self.processor = {}, {}

    def timed(self, stage, work):
        def run(*args, **more):
            start, busy = time.perf_counter(), time.process_time()
            found = work(*args, **more)
            self.wall.setdefault(stage, []).append(time.perf_counter() - start)
            self.processor.setdefault(stage, []).append(time.process_time() - busy)
            return found

        return run

    def watch(self, engine, store):
        make = type(engine).person_sums

        def person_sums(*args, **more):
            rows = self.timed("query: bound and store", make)(*args, **more)
            rows.losses = self.timed("query: norms", rows.losses)
            rows.sums = self.timed("sums without who is left out", rows.sums)
            return rows

        type(engine).person_sums = person_sums
        type(store).charge = self.timed(CHARGE, type(store).charge)

    def forget(self):
        first = {stage: taken[0] for stage, taken in self.wall.items()}
        self.wall.clear()
        self.processor.clear()
        return first


def hospital(folder, *, patients, charged):
    """Write and prepare a hospital, of whose patients some have three events each."""
    from confide.workspace import preparation

    rng = np.random.default_rng(1)
    pid = np.repeat(np.sort(rng.choice(patients, size=charged, replace=False)), 3)
    people = pa.table({"pid": np.arange(patients), "sex": pa.array(["f", "m"] * (patients // 2))})
    ward = pa.array(WARDS).take(pa.array(rng.integers(20, size=pid.size)))
    path = site(folder, people=people, events=pa.table({"pid": pid, "ward": ward}), cap="50")
    preparation(path).prepare()
    return path


def cost(patients, charged, runs):
    """Print what the stages of a release with per-patient charges take."""
    from confide.release.gate import asked_of
    from confide.workspace import open_workspace

    stages, plain, first = Stages(), Stages(), {}
    with tempfile.TemporaryDirectory() as name:
        path = hospital(Path(name), patients=patients, charged=charged)
        with open_workspace(path) as at:
            stages.watch(at.engine(), at.patients())
            plan = at.plan({**HISTOGRAM}, epsilon="1")
            for number in range(runs + 1):
                at.release(plan, request=f"r{number}")
                first = stages.forget() if number == 0 else first
            ask = plain.timed(PLAIN, at.engine().aggregate)
            for _ in range(runs):
                ask(asked_of(plan), dataset=plan.dataset)
            size = max(p.stat().st_size for p in Path(name).rglob("*.members"))
    print(f"\n{charged:,} patients charged of {patients:,}; {runs} releases")
    print(f"  {'':48s} {'median':>10s} {'least':>10s} {'processor':>10s}")
    for stage in (plain, stages):
        for what, taken in stage.wall.items():
            busy = statistics.median(stage.processor[what])
            line(what, statistics.median(taken), min(taken), busy)
    line("bytes of a membership, written and synced", *disk(size))
    query = sum(statistics.median(stages.wall[what]) for what in stages.wall if "query" in what)
    print(f"  charge ÷ query: {statistics.median(stages.wall[CHARGE]) / query:.3f}")
    print(
        f"  first charge, which meets every patient: {first[CHARGE]:.1f} s; file: {size / 1e6:.1f} MB"
    )


def line(what, *seconds):
    print(f"  {what:48s} " + " ".join(f"{1000 * value:7.1f} ms" for value in seconds))


def disk(size):
    """Return median and least time of writing and syncing as many bytes, without anything else."""
    content, taken = os.urandom(size), []
    with tempfile.TemporaryDirectory() as name:
        for number in range(9):
            start = time.perf_counter()
            file = os.open(Path(name) / str(number), os.O_WRONLY | os.O_CREAT)
            os.write(file, content)
            os.fsync(file)
            os.close(file)
            taken.append(time.perf_counter() - start)
    return statistics.median(taken), min(taken)


DASHBOARDS = {
    "all patients of a region": {1: 9_000, 2: 2_500, 3: 1_000, 6: 300, 12: 120},
    "a rare disease": {1: 40, 2: 14, 3: 6, 6: 2, 12: 1},
    "new diagnoses": {1: 7_200},
}
"""Patients by the number of months in which they come; public tables of visits look like these."""
MONTHS = 12


def year(runs):
    """Print what a year of monthly counts is like under both kinds of accounting."""
    from confide.budget.per_patient.preview import Year, best, outcomes, worst_case
    from confide.privacy.measure import Measure

    print("\nA year of monthly counts, cap ε = 1 for each patient and year")
    print(
        f"  {'dashboard':26s} {'count':>6s} | {'everybody charged':^21s} | {'patients left out':^39s}\n"
        f"  {'':26s} {'':6s} | {'RMSE':>6s} {'answered at ε':>14s} | "
        f"{'ε':>6s} {'answered':>9s} {'RMSE':>7s} {'bias':>6s} {'gain':>7s}"
    )
    for name, visits in DASHBOARDS.items():
        known = Year(visits=visits, releases=MONTHS, cap=1.0, measure=Measure.PURE)
        chosen, worst = best(outcomes(known)), worst_case(known)
        plain = simulated(visits, epsilon=1 / MONTHS, cap=None, runs=runs)
        own = simulated(visits, epsilon=1 / chosen.shares, cap=1.0, runs=runs)
        for told, found in ((worst, plain), (chosen, own)):
            if abs(found[0] / told.rmse - 1) > 0.2:
                raise SystemExit("the preview is wrong")
        by_plan, by_drop = (
            answered(visits, epsilon=f"1/{chosen.shares}", enforce=enforce)
            for enforce in ("plan", "drop")
        )
        print(
            f"  {name:26s} {known.count:6.0f} | {plain[0]:6.1f} {by_plan:8d} of {MONTHS} | "
            f"{1 / chosen.shares:6.3f} {by_drop:3d} of {MONTHS} {own[0]:7.1f} {own[1]:6.1f} "
            f"{plain[0] / own[0]:6.1f}x"
        )


def answered(visits, *, epsilon, enforce):
    """Return how many of twelve monthly releases at the same ε the policy lets through the gate."""
    from fractions import Fraction

    from confide.errors import BudgetExhaustedError
    from confide.statistics import Count
    from confide.tables.expression import ColumnOf
    from confide.tables.filter import IsIn
    from confide.workspace import open_workspace

    there = attendance(visits, rng=np.random.default_rng(7))
    pid, month = np.nonzero(there)
    people = pa.table({"pid": np.arange(len(there)), "sex": ["f"] * len(there)})
    events = pa.table({"pid": pid, "ward": pa.array(WARDS).take(pa.array(month))})
    amount = f"{float(Fraction(epsilon)):.9f}"[:-1]  # a cap's share, rounded down
    through = 0
    with tempfile.TemporaryDirectory() as name:
        path = site(Path(name), people=people, events=events, enforce=enforce)
        with open_workspace(path) as at:
            ward = ColumnOf(table="events", column="ward")
            for number in range(MONTHS):
                asked = Count(
                    id=f"m{number}", table="events", where=IsIn(of=ward, values=(number,))
                )
                try:
                    at.release(at.plan(asked, epsilon=amount))
                    through += 1
                except BudgetExhaustedError:
                    pass
    return through


def attendance(visits, *, rng):
    """Return shape (patients, months): who comes when, at random months."""
    rows = [rng.permuted(np.tile(np.arange(MONTHS) < k, (n, 1)), axis=1) for k, n in visits.items()]
    return np.concatenate(rows)


def simulated(visits, *, epsilon, cap, runs):
    """Return RMSE and bias of noisy counts: who has spent the cap is left out, if there is one."""
    rng = np.random.default_rng(5)
    errors, low = [], []
    for _ in range(runs):
        there = attendance(visits, rng=rng)
        paid = np.zeros(len(there))
        for month in range(MONTHS):
            mine = there[:, month]
            inside = mine if cap is None else mine & (paid + epsilon <= cap + 1e-9)
            paid += inside * epsilon
            one, other = rng.geometric(1 - math.exp(-epsilon), size=2)
            low.append(int(inside.sum()) - int(mine.sum()))
            errors.append(low[-1] + one - other)
    return math.sqrt(statistics.fmean(e * e for e in errors)), statistics.fmean(low)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--patients", type=float, default=1e7)
    parser.add_argument("--charged", type=float, default=1e6)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--skip", choices=["cost", "year"], default="")
    asked = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores")
    if asked.skip != "year":
        year(40)
    if asked.skip != "cost":
        cost(int(asked.patients), int(asked.charged), asked.runs)


if __name__ == "__main__":
    main()
