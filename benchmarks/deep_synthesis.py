"""Baselines beside tables from marginals: error of tables of two columns, and AUC, at one charge.

Run: python benchmarks/deep_synthesis.py FOLDER [--draws 1] [--only adult] [--rows 45000]

FOLDER holds ``tabular/adult_discretised.csv.gz`` with ``adult_domain.json`` and
``survival/flchain.parquet``.  Columns of more than 20 levels are in 10 bins, as synth.yaml has them
when nothing is said.  ε = 1, δ = 10⁻⁶ (half of it beside the samples of a generator, a tenth of
which one training takes), one patient added or removed, one row a patient, exact noise.  The AUC is
that of a logistic regression on the rows that were kept apart.
"""

import argparse
import os
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np
import pandas as pd
from synthesis import adult, auc_of, error_of_pairs, job_of, made

from confide.files.synth.trained import delta_of, trained_generator
from confide.jobs.synthesis.deep.generated import BaselineData
from confide.jobs.synthesis.deep.spec import Generator
from confide.jobs.synthesis.deep.training import DeepTraining
from confide.noise.entropy import SystemEntropy
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.privacy.accounting.concentrated import rho_for
from confide.release.jobs.job_answer import JobAnswer
from confide.rows.records import RecordRows

MOST_LEVELS, BINS = 20, 10


def flchain(folder: Path) -> tuple[np.ndarray, tuple[str, ...], tuple[int, ...], str]:
    """Return levels of rows, names, sizes and the target: death within ten years."""
    rows = pd.read_parquet(folder / "survival/flchain.parquet")
    rows["death"] = ((rows["death"] == 1) & (rows["futime"] <= 3652)).astype(int)
    cut = {
        "age": [50, 55, 60, 65, 70, 75, 80, 85, 90, 101],
        "kappa": [0, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 5, 25],
        "lambda": [0, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 5, 30],
        "creatinine": [0, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 3, 11],
    }
    columns = {"sex": (rows["sex"] == "M").astype(int), "mgus": rows["mgus"]}
    sizes = {"sex": 2, "mgus": 2, "death": 2}
    for name, edges in cut.items():
        found = np.searchsorted(edges, rows[name].to_numpy(), side="right") - 1
        missing = rows[name].isna().to_numpy()
        columns[name] = np.where(missing, len(edges) - 1, np.clip(found, 0, len(edges) - 2))
        sizes[name] = len(edges)
    columns["death"] = rows["death"]
    names = tuple(columns)
    table = np.column_stack([np.asarray(columns[name]) for name in names])
    return table, names, tuple(sizes[name] for name in names), "death"


def coarse(levels: np.ndarray, sizes: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    """Return levels in 10 bins where a column has more than 20."""
    found, many = levels.copy(), list(sizes)
    for v, size in enumerate(sizes):
        if size > MOST_LEVELS:
            found[:, v], many[v] = levels[:, v] * BINS // size, BINS
    return found, tuple(many)


def generated(levels: np.ndarray, generator: Generator, job: object, dataset: object) -> tuple:
    """Return the table of a generator and the seconds of processor that all of it took."""
    began = time.process_time()
    delta = delta_of(None, dataset=dataset)
    spec = trained_generator(job, generator, delta=delta, dataset=dataset)
    plan = plan_job(spec, study=Study(id="baseline"), dataset=dataset, delta=delta)
    ids = np.arange(len(levels))
    rows = {"p": ids, "rk": ids, "fold": np.zeros(len(ids), int)}
    rows |= {f"e{i}": levels[:, i] for i in range(levels.shape[1])}
    records, runner = (
        RecordRows(rows, columns=levels.shape[1], most=1),
        DeepTraining(spec, plan=plan),
    )
    files = runner.opened()
    for part in range(1, runner.parts + 1):
        files = runner.advanced(
            records, part=part, before=files, entropy=SystemEntropy(), progress=lambda _: None
        )
    table = BaselineData.of(JobAnswer(plan=plan, files=files)).levels()
    return table, time.process_time() - began


def compared(name: str, folder: Path, *, draws: int, rows: int) -> None:
    """Print lines of Markdown for one table, each as soon as it is known."""
    levels, names, sizes, target = {"adult": adult, "flchain": flchain}[name](folder)
    levels, sizes = coarse(levels, sizes)
    order = np.random.default_rng(20261128).permutation(len(levels))
    cut = min(rows, 4 * len(levels) // 5)
    data, judge, at = levels[order[:cut]], levels[order[cut:]], names.index(target)
    print(f"| {name} | the data | | | {auc_of(data, judge, sizes, target=at):.3f} |", flush=True)
    for method in ("tree", "target named", "vae", "gan"):
        aim = target if method == "target named" else ""
        spec, dataset = job_of(names, sizes, target=aim)
        half = dataset.delta - dataset.selection_delta
        spec = replace(spec, rows=len(data), rho=rho_for(Fraction(1), delta=half))
        found = []
        for _ in range(draws):
            if method in ("vae", "gan"):
                table, seconds = generated(data, Generator(method), spec, dataset)
            else:
                table, seconds = made(data, spec, dataset)
            auc = auc_of(table, judge, sizes, target=at)
            found.append((seconds, error_of_pairs(table, data, sizes), auc))
        seconds, error, auc = np.mean(found, axis=0)
        print(f"| {name} | {method} | {seconds:.1f} | {error:.4f} | {auc:.3f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--rows", type=int, default=45_000, help="of the data, at most")
    asked = parser.parse_args()
    print("| data | method | CPU s | error of pairs | AUC from synthetic |")
    print("|---|---|---|---|---|")
    for table_name in [asked.only] if asked.only else ["flchain", "adult"]:
        compared(table_name, asked.folder, draws=asked.draws, rows=asked.rows)
