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


def site(folder, *, people, events, cap="1", enforce="drop"):
    """Write a hospital of prepared tables and return its dataset.yaml."""
    pq.write_table(people, folder / "people.parquet")
    pq.write_table(events, folder / "events.parquet")
    (folder / "policy.yaml").write_text(POLICY.format(cap=cap, enforce=enforce))
    path = folder / "dataset.yaml"
    path.write_text(DATASET.format(wards=", ".join(WARDS)))
    return path


def cost(patients, charged, runs):
    """Print the median time of each stage of a release with per-patient charges."""
    from confide.plans.individual import individual_losses
    from confide.release.gate import _asked
    from confide.release.patients import AdmittedRows
    from confide.workspace import open_workspace, preparation

    rng = np.random.default_rng(1)
    who = np.sort(rng.choice(patients, size=charged, replace=False))
    pid = np.repeat(who, 3)
    people = pa.table({"pid": np.arange(patients), "sex": pa.array(["f", "m"] * (patients // 2))})
    ward = pa.array(WARDS).take(pa.array(rng.integers(20, size=pid.size)))
    with tempfile.TemporaryDirectory() as name:
        path = site(
            Path(name), people=people, events=pa.table({"pid": pid, "ward": ward}), cap="50"
        )
        preparation(path).prepare(progress=lambda stage: print("  prepare:", stage, flush=True))
        times = {}
        with open_workspace(path) as at:
            store, charge = at.patients(), type(at.patients()).charge
            sums = AdmittedRows.read

            def timed(stage, work):
                def run(*args, **more):
                    start = time.perf_counter()
                    found = work(*args, **more)
                    times.setdefault(stage, []).append(time.perf_counter() - start)
                    return found

                return run

            type(store).charge = timed("charge, durable", charge)
            AdmittedRows.read = timed("read, charge and sum", sums)
            engine = at.engine()
            make = type(engine).person_sums

            def person_sums(self, *args, **more):
                rows = timed("query: bound and store", make)(self, *args, **more)
                rows.losses = timed("query: norms", rows.losses)
                rows.sums = timed("sums without who is left out", rows.sums)
                return rows

            type(engine).person_sums = person_sums
            for number in range(runs + 1):
                plan = at.plan(
                    {"id": "wards", "kind": "histogram", "table": "events", "by": ["ward"],
                     "per-patient": {"cells": 3}}, epsilon="1",
                )  # fmt: skip
                assert individual_losses(plan)
                at.release(plan, request=f"r{number}")
                if number == 0:
                    first = {stage: values[0] for stage, values in times.items()}
                    times.clear()
            asked, of = _asked(plan), plan.dataset
            plain = []
            for _ in range(runs):
                start = time.perf_counter()
                engine.aggregate(asked, dataset=of)
                plain.append(time.perf_counter() - start)
            size = max(p.stat().st_size for p in Path(name).rglob("*.members"))
    medians = {stage: statistics.median(values) for stage, values in times.items()}
    query = medians["query: bound and store"] + medians["query: norms"]
    print(f"\n{charged:,} patients charged of {patients:,}, {runs} releases, medians")
    print(
        f"  {'the same histogram in worst-case accounting':45s} {1000 * statistics.median(plain):8.1f} ms"
    )
    for stage, value in medians.items():
        print(f"  {stage:45s} {1000 * value:8.1f} ms")
    print(f"  {'charge, as a share of the query':45s} {medians['charge, durable'] / query:8.2f}")
    print(f"  {'least charge of all releases':45s} {1000 * min(times['charge, durable']):8.1f} ms")
    print(
        f"  {'first release, patients met for the first time':45s} {1000 * first['charge, durable']:8.1f} ms"
    )
    print(f"  {'one membership file':45s} {size / 1e6:8.1f} MB")
    disk(charged)


def disk(charged):
    """Print what writing and syncing as many bytes takes on this disk, without anything else."""
    content = os.urandom(12 * charged)
    with tempfile.TemporaryDirectory() as name:
        taken = []
        for number in range(7):
            start = time.perf_counter()
            file = os.open(Path(name) / str(number), os.O_WRONLY | os.O_CREAT)
            os.write(file, content)
            os.fsync(file)
            os.close(file)
            taken.append(time.perf_counter() - start)
    print(
        f"  {'of which: as many bytes written and synced':45s} {1000 * statistics.median(taken):8.1f} ms"
    )


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
        assert abs(plain[0] / worst.rmse - 1) < 0.2, "the preview is right"
        assert abs(own[0] / chosen.rmse - 1) < 0.2, "the preview is right"
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
