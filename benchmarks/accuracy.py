"""Accuracy at an equal guarantee: ours by default, in pure and in zCDP, and five peers.

Run: python benchmarks/accuracy.py [--runs 200] [--only confide,opendp]
         [--tasks points,table-1]  (peers need .venv-bench-NAME, which run_all.py makes)

All read the same generated patients (``cohorts/equal_guarantee.py``), protect a patient added or
removed, and are asked at ε = 1; where there is a δ it is 1e-6.  Ours are releases through the public
façade: plan, charge, read, noise, certificate.  A peer's process answers in its own environment, in
the best way that its documents give, with the same public bounds; where it has several ways the
page shows the better.  Errors are told here, for all alike: root mean squares over all runs and
numbers of a row, against the exact answers.

What was measured is stored in ``accuracy.json``; the page is written from it alone.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from accuracy_page import PEERS, ROWS, page

from cohorts import equal_guarantee as eq

HERE = Path(__file__).parent
STORED = HERE / "accuracy.json"
PAGE = HERE.parent / "docs" / "reference" / "benchmarks-accuracy.md"
OURS = {
    "default": {"delta": "1e-6"},
    "pure": {"measure": "pure"},
    "zcdp": {"measure": "zcdp", "delta": "1e-6"},
}
"""What dataset.yaml says under ``accounting``: by default nothing but the δ."""


COVARIATES = {
    "line": ["age"],
    "linear": ["age", "bmi", "sex"],
    "logistic": ["age", "bmi", "sex"],
}
CURVE = {
    "kind": "survival",
    "time": "days",
    "status": "status",
    "censored": "alive",
    "bins": eq.TIMES,
}
ASKED: dict[str, dict[str, Any]] = {
    "count": {"kind": "count", "table": "people", "where": {"age": {"from": 65}}},
    "histogram": {"kind": "histogram", "table": "people", "by": ["bin"]},
    "mean": {"kind": "mean", "table": "people", "column": "pressure"},
    "survival": {"table": "trial", **CURVE},
    "survival-late": {"table": "followed", **CURVE},
    "quartiles": {"kind": "quantiles", "table": "people", "column": "cost"},
    "points": {"kind": "quantiles", "table": "people", "column": "cost", "interval": "none"},
    "table-1": {
        "kind": "table-1",
        "table": "people",
        "by": ["sex"],
        "variables": [
            *("band", "smoking", "diabetes", "pressure"),
            {"column": "bmi", "show": ["median-iqr"], "interval": "none"},
        ],
    },
    "series": {
        "kind": "series",
        "table": "visits",
        "column": "fee",
        "over": "day",
        "every": "month",
        "per-patient": {"cells": eq.VISITS, "rows": 1},
    },
    "line": {"kind": "linear-regression", "table": "people", "outcome": "pressure"},
    "linear": {"kind": "linear-regression", "table": "people", "outcome": "pressure"},
    "logistic": {"kind": "logistic-regression", "table": "people", "of": {"diabetes": ["yes"]}},
}
QUANTITY = dict(row.split(" ") for row in ROWS if not row.startswith("table-1 "))
Found = dict[str, dict[str, Any]]
"""Way → task and quantity → ``rms``, its ``error`` of simulation, the share ``given``."""


def declared(accounting: Mapping[str, str]) -> dict[str, Any]:
    def number(bounds: tuple[int, int]) -> dict[str, str]:
        return {"kind": "number", "lower": str(bounds[0]), "upper": str(bounds[1])}

    exits = {
        "rows-per-patient": "1",
        "columns": {
            "days": number((0, eq.HORIZON)),
            "status": {"categories": ["alive", "dead"]},
        },
    }
    return {
        "dataset": {"id": "bench", "lineage": "bench", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
        "accounting": dict(accounting),
        "caps": {"lifetime": {"epsilon": "100000"}},
        "tables": {
            "people": {
                "rows-per-patient": "1",
                "columns": {
                    "sex": {"categories": list(eq.SEXES)},
                    "band": {"categories": list(eq.BANDS)},
                    "smoking": {"categories": list(eq.SMOKING)},
                    "diabetes": {"categories": list(eq.YES_NO)},
                    "bin": {"categories": [str(b) for b in range(eq.BINS)]},
                    "age": number(eq.AGE),
                    "pressure": number(eq.PRESSURE),
                    "bmi": number(eq.BMI),
                    "cost": number(eq.COST),
                },
            },
            "visits": {
                "columns": {
                    "day": {"kind": "date", "lower": "2023-01-01", "upper": "2024-12-31"},
                    "fee": number(eq.FEE),
                }
            },
            "trial": exits,
            "followed": exits,
        },
    }


def ours(way: str, *, runs: int, tasks: Iterable[str]) -> dict[str, Any]:
    """Return the answers of releases: task → runs, and "noise" → scales of what was planned."""
    import pyarrow as pa

    import confide

    frames = {name: pa.table(columns) for name, columns in eq.world().items()}
    found: dict[str, Any] = {"noise": {}}
    with (
        tempfile.TemporaryDirectory() as folder,
        confide.open(declared(OURS[way]), frames=frames, folder=folder) as ws,
    ):
        for task in tasks:
            asked = {"id": task, **ASKED[task]}
            if task in COVARIATES:
                asked["covariates"] = COVARIATES[task]
            try:
                plan = ws.plan(asked, epsilon="1")
            except confide.errors.ContractError as error:
                found[task] = str(error)
                continue
            found["noise"][task] = scales_of(plan)
            found[task] = [
                shown(task, ws.release(plan, request=f"{task} {run}").estimates)
                for run in range(runs)
            ]
    return found


def scales_of(plan: Any) -> dict[str, Any]:
    """Return the law of the plan's noise and the scale of each measurement."""
    laws = {type(m.mechanism).__name__ for m in plan.measurements}
    scales = [
        float(getattr(m.mechanism, "scale", 0))
        or math.sqrt(getattr(m.mechanism, "sigma_squared", 0))
        for m in plan.measurements
    ]
    return {"law": " and ".join(sorted(laws)), "scales": scales}


def shown(task: str, estimates: Sequence[Any]) -> dict[str, list[float | None]]:
    """Return the numbers of a release in the order of the exact answers; None where withheld."""
    at = {(e.quantity, e.key): e.value for e in reversed(estimates)}  # the first of a key counts
    if task in COVARIATES:
        name = "prediction coefficient" if task == "logistic" else "coefficient"
        start = "prediction coefficient" if task == "logistic" else "intercept"
        centres = {"age": sum(eq.AGE) / 2, "bmi": sum(eq.BMI) / 2}
        keys = [{"sex": "sex: male vs female"}.get(c, c) for c in COVARIATES[task]]
        slopes = [at[name, (key,)] for key in keys]
        intercept = next(v for (q, key), v in at.items() if q == start and "age 55" in key[0])
        drawn = sum(slope * centres.get(key, 0) for key, slope in zip(keys, slopes, strict=True))
        return {"coefficients": [intercept - drawn, *slopes]}
    if task == "table-1":
        labelled = (("band", eq.BANDS), ("smoking", eq.SMOKING), ("diabetes", eq.YES_NO))
        keys = [(c, label, sex) for sex in eq.SEXES for c, labels in labelled for label in labels]
        return {
            "labels": [at["count", key] for key in keys],
            "shares": [at["share", key] for key in keys],
            "means": [at["mean", ("pressure", "", sex)] for sex in eq.SEXES],
            "sds": [at["sd", ("pressure", "", sex)] for sex in eq.SEXES],
            "quartiles": [
                at[f"quantile {q}", ("bmi", "", sex)]
                for sex in eq.SEXES
                for q in ("0.25", "0.5", "0.75")
            ],
        }
    of = {"histogram": "count", "survival-late": "survival", "series": "mean"}
    quantity = of.get(task, task)
    if task in {"quartiles", "points"}:
        return {"quartiles": [at[f"quantile {q}", ()] for q in ("0.25", "0.5", "0.75")]}
    ordered = [e.value for e in estimates if e.quantity == quantity]
    return {QUANTITY[task]: ordered}


def predicted(task: str, coefficients: Sequence[float]) -> Any:
    """Return what a model predicts for every patient: mm[Hg], or risk in points."""
    import numpy as np

    people = eq.world()["people"]
    terms = {
        "age": np.array(people["age"], dtype=float),
        "bmi": np.array(people["bmi"], dtype=float),
        "sex": np.array(people["sex"]) == "male",
    }
    linear = coefficients[0] + sum(
        slope * terms[name] for name, slope in zip(COVARIATES[task], coefficients[1:], strict=True)
    )
    return 100 / (1 + np.exp(-np.clip(linear, -700, 700))) if task == "logistic" else linear


@cache
def fitted(task: str) -> list[float]:
    """Return the coefficients without privacy: least squares, or maximum likelihood by Newton."""
    import numpy as np

    people = eq.world()["people"]
    columns = {
        "age": np.array(people["age"], dtype=float),
        "bmi": np.array(people["bmi"], dtype=float),
        "sex": np.array(people["sex"]) == "male",
    }
    terms = np.column_stack([np.ones(eq.PATIENTS), *(columns[n] for n in COVARIATES[task])])
    if task != "logistic":
        return list(np.linalg.lstsq(terms, np.array(people["pressure"], dtype=float))[0])
    sick, found = np.array(people["diabetes"]) == "yes", np.zeros(terms.shape[1])
    for _ in range(25):
        risk = 1 / (1 + np.exp(-terms @ found))
        curvature = (terms * (risk * (1 - risk))[:, None]).T @ terms
        found = found + np.linalg.solve(curvature, terms.T @ (sick - risk))
    return list(found)


def squares(runs: Sequence[Mapping[str, Sequence[float | None]]], row: str) -> list[float]:
    """Return the mean square error of each run, over the numbers that it gives."""
    task, quantity = row.split(" ")
    if task in COVARIATES:
        true = predicted(task, fitted(task))
        every = (predicted(task, run["coefficients"]) for run in runs)
        return [float(((each - true) ** 2).mean()) for each in every]
    exact = eq.exact(eq.world())[task][quantity]
    units = [t / 100 if ROWS[row][1].startswith("%") else 1.0 for t in exact]
    found = []
    for run in runs:
        numbers = zip(run[quantity], exact, units, strict=True)
        each = [(x - t) / unit for x, t, unit in numbers if x is not None]
        if each:
            found.append(math.fsum(e * e for e in each) / len(each))
    return found


def judged(answers: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return for each row of a way's task its error, that of the simulation, and what is given."""
    found = {}
    for row in ROWS:
        task, quantity = row.split(" ")
        name = "coefficients" if task in COVARIATES else quantity
        runs = answers.get(task)
        if not isinstance(runs, list) or name not in runs[0]:
            continue
        each = squares(runs, row)
        mean = math.fsum(each) / len(each)
        spread = math.sqrt(math.fsum((s - mean) ** 2 for s in each) / len(each))
        asked = [x for run in runs for x in run[name]]
        found[row] = {
            "rms": math.sqrt(mean),
            "error": spread / math.sqrt(len(each)) / (2 * math.sqrt(mean)) if mean else 0.0,
            "given": sum(x is not None for x in asked) / len(asked),
        }
    return found


def peer(name: str, *, runs: int) -> Found | str:
    """Return what the peer's ways came to, or why it has none here."""
    python = HERE.parent / f".venv-bench-{name}" / "bin" / "python"
    if not python.exists():
        return "not installed here"
    done = subprocess.run(
        [python, HERE / "peers" / f"accuracy_with_{name}.py", str(runs)],
        env=os.environ | {"PYTHONPATH": str(HERE)},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    return ways_of(json.loads(done.stdout)) if done.returncode == 0 else "failed"


def ways_of(answers: Mapping[str, list[Any] | str]) -> Found:
    """Return a peer's answers, named "task way", judged by way; failures with their reason."""
    found: Found = {}
    for name, runs in answers.items():
        task, way = name.split(" ", 1)
        own = found.setdefault(way, {})
        own.update({task: {"failed": runs}} if isinstance(runs, str) else judged({task: runs}))
    return found


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--runs", type=int, default=200)
    asked.add_argument("--only", default=",".join(["confide", *PEERS]))
    asked.add_argument("--tasks", default=",".join(ASKED), help="ours; peers answer all of theirs")
    options = asked.parse_args()
    stored = json.loads(STORED.read_text("utf-8")) if STORED.exists() else {}
    for name in options.only.split(","):
        print(f"{name}", flush=True)
        if name != "confide":
            stored[name] = peer(name, runs=options.runs)
            continue
        for way in OURS:
            answers = ours(way, runs=options.runs, tasks=options.tasks.split(","))
            stored.setdefault("noise", {}).setdefault(way, {}).update(answers.pop("noise"))
            stored.setdefault("confide", {}).setdefault(way, {}).update(judged(answers))
    stored["runs"] = min(options.runs, stored.get("runs", options.runs))
    STORED.write_text(
        json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8"
    )
    PAGE.write_text(page(json.loads(STORED.read_text("utf-8"))), "utf-8")
    print(PAGE.read_text("utf-8"))


if __name__ == "__main__":
    main()
