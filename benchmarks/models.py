"""Risk models: what privacy costs in discrimination and calibration, against peers, and speed.

Run: python benchmarks/models.py [FOLDER] [--splits 10] [--draws 10] [--out PAGE]

FOLDER holds ``survival/flchain.parquet``, ``cohort/Framingham.parquet``, ``icu/physionet2012_*``
and ``encounters/diabetes130_encounters.parquet``; without it only speed is measured.

*Accuracy.*  70 % of the patients fit, 30 % judge.  Loss of AUC is that of maximum likelihood on the
same split less that of the private model; ε = 1, δ = 10⁻⁵, one patient added or removed, nothing
tuned.  Answers in rounds come from the code that the gate runs, with noise of the system's
generator.  diffprivlib 0.6 has pure ε = 1 (it offers no δ) and is told the public norm √d; the
Opacus 1.6 loop has its example's defaults: SGD, learning rate 0.1, clip 1, batches of 256, 10
epochs.

*Speed.*  500,000 patients of 50 terms: a release through workspace, gate and ledger, on one core,
and an Opacus loop over the same numbers in its own process; both in seconds of CPU.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np
from cohorts.features import COHORTS, Cohort
from run_all import make_environment
from scipy.stats import rankdata

import confide
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.entropy import SystemEntropy
from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import fitted
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.relational.descent import DescentRows
from confide.statistics.logistic.regression import ROUNDS
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import Family
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

HERE = Path(__file__).parent
EPSILON, DELTA = Fraction(1), Fraction("1e-5")
STEPS = 1000
"""Steps of the grid of a number."""
ALLOWED = {"flchain": 0.003, "Framingham": 0.006, "physionet2012": 0.015, "diabetes130": 0.020}
SLOPES = (0.8, 1.25)
LARGE, TERMS = 500_000, 50


@dataclass
class Split:
    """Which patients fit and which judge."""

    fit: np.ndarray
    judge: np.ndarray


def splits(patients: int, *, number: int) -> list[Split]:
    rng = np.random.default_rng(20261122)
    cut = int(0.7 * patients)
    orders = [rng.permutation(patients) for _ in range(number)]
    return [Split(fit=order[:cut], judge=order[cut:]) for order in orders]


def auc(outcome: np.ndarray, score: np.ndarray) -> float:
    ranks, having = rankdata(score), int(outcome.sum())
    above = ranks[outcome == 1].sum() - having * (having + 1) / 2
    return float(above / (having * (len(outcome) - having)))


def likelihood(terms: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """Return maximum-likelihood coefficients, intercept first."""
    x = np.column_stack([np.ones(len(terms)), terms])
    beta = np.zeros(x.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        curve = (x * (p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(len(beta))
        step = np.clip(np.linalg.solve(curve, x.T @ (outcome - p)), -5, 5)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    return beta


def declared(of: Cohort) -> tuple[Dataset, DescentAggregate, dict[str, np.ndarray]]:
    """Return the public description of a cohort, the model, and its canonical integers."""
    columns, values = [], {}
    for name, found in (*of.values.items(), ("outcome", of.outcome)):
        if name in of.bounds:
            lower, upper = of.bounds[name]
            columns.append(Column(name=name, kind=Kind.NUMBER, source=name, lower=0, upper=STEPS))
            values[name] = np.rint((found - lower) / (upper - lower) * STEPS).astype(np.int64)
        else:
            columns.append(
                Column(
                    name=name,
                    kind=Kind.CATEGORY,
                    source=name,
                    lower=0,
                    upper=1,
                    keys=("no", "yes"),
                    codes=(("0", 0), ("1", 1)),
                )
            )
            values[name] = found.astype(np.int64)
    table = Table(name="t", source="t", columns=tuple(columns), one_row_per_patient=True)
    dataset = Dataset(
        id=of.name,
        lineage=of.name,
        snapshot="1",
        unit=PrivacyUnit(entity=Entity.PATIENT, id_column="p"),
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.ZCDP,
        delta=Fraction("1e-6"),  # unused here: ρ is that of (ε, δ) above
        selection_delta=Fraction("5e-7"),
        tables=(table,),
        population_at_most=10**6,
    )
    *covariates, outcome = (ColumnOf(table="t", column=column.name) for column in columns)
    aggregate = DescentAggregate(
        relation=Relation(table="t"),
        covariates=tuple(covariates),
        outcome=outcome,
        family=Family.LOGISTIC,
        bounds=RowBound(max_rows=1),
        rounds=ROUNDS,
        held_out=0,
    )
    return dataset, aggregate, values


def private(of: Cohort, which: list[Split], *, draws: int) -> np.ndarray:
    """Return predicting coefficients of Confide; shape (splits, draws, d + 1)."""
    dataset, aggregate, values = declared(of)
    scale = scale_of(aggregate, dataset=dataset)
    rho = rho_for(EPSILON, delta=DELTA)
    noise = DiscreteGaussian(sigma_squared=Fraction(scale.l2_squared) / (2 * rho))
    sigma, entropy = math.sqrt(noise.variance()), SystemEntropy()
    found = np.zeros((len(which), draws, scale.size))
    for i, split in enumerate(which):
        n = len(split.fit)
        columns = {f"e{j}": v[split.fit] for j, v in enumerate(values.values())}
        columns |= {"p": np.arange(n), "rk": np.ones(n, int), "fold": np.full(n, 999)}
        rows = DescentRows(aggregate, columns, dataset=dataset)
        for j in range(draws):
            answers: tuple[int, ...] = ()
            while ask := next_ask(aggregate, answers, sigma=sigma, dataset=dataset):
                answers += tuple(noise.randomize(rows.answer(ask), entropy=entropy))
            found[i, j] = fitted(aggregate, answers, sigma=sigma, dataset=dataset).predicting
    return found


def of_peer(peer: str, of: Cohort, which: list[Split], *, draws: int) -> np.ndarray | None:
    """Return coefficients of a peer, made in its own environment; None if it cannot be had."""
    python = make_environment(peer)
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder, "given.npz"), Path(folder, "answer.npy")
        fit = np.array([split.fit for split in which])
        np.savez(given, terms=of.terms, outcome=of.outcome, fit=fit, draws=draws)
        script = HERE / "peers" / f"models_with_{peer}.py"
        subprocess.run([python, script, given, answer], check=True)
        return np.load(answer)


@dataclass
class Judged:
    """How models did on patients who did not fit them: means over splits and draws."""

    loss: float
    error: float
    slope: float
    spread: tuple[float, float]


def judged(of: Cohort, which: list[Split], coefficients: np.ndarray) -> Judged:
    losses, slopes = [], []
    for split, models in zip(which, coefficients, strict=True):
        outcome, terms = of.outcome[split.judge], of.terms[split.judge]
        plain = likelihood(of.terms[split.fit], of.outcome[split.fit])
        best = auc(outcome, terms @ plain[1:])
        for model in models:
            score = model[0] + terms @ model[1:]
            losses.append(best - auc(outcome, score))
            slopes.append(likelihood(score[:, None], outcome)[1])
    return Judged(
        loss=float(np.mean(losses)),
        error=float(np.std(losses) / math.sqrt(len(losses))),
        slope=float(np.mean(slopes)),
        spread=(float(np.quantile(slopes, 0.05)), float(np.quantile(slopes, 0.95))),
    )


def accuracy(folder: Path, *, number: int, draws: int) -> list[str]:
    """Return the rows of the page's table."""
    lines = []
    for make in COHORTS:
        of = make(folder)
        which = splits(len(of.outcome), number=number)
        size = f"{len(of.outcome):,} × {of.terms.shape[1]}"
        plain = np.mean(
            [
                auc(
                    of.outcome[s.judge],
                    of.terms[s.judge] @ likelihood(of.terms[s.fit], of.outcome[s.fit])[1:],
                )
                for s in which
            ]
        )
        found = {"Confide": private(of, which, draws=draws)}
        found |= {
            "diffprivlib": of_peer("diffprivlib", of, which, draws=draws),
            "Opacus": of_peer("opacus", of, which, draws=1),
        }
        cells = []
        for name, coefficients in found.items():
            if coefficients is None:
                cells.append("—")
                continue
            one = judged(of, which, coefficients)
            print(of.name, name, one, flush=True)
            low, high = one.spread
            cells.append(
                f"{one.loss:.4f} ± {one.error:.4f}; {one.slope:.2f} ({low:.2f} to {high:.2f})"
            )
            if name == "Confide":
                good = one.loss <= ALLOWED[of.name] and SLOPES[0] <= one.slope <= SLOPES[1]
                print(of.name, "holds" if good else "MISSED", flush=True)
        lines.append(f"| {of.name} | {size} | {plain:.4f} | {' | '.join(cells)} |")
    return lines


def large() -> tuple[np.ndarray, np.ndarray]:
    """Return generated terms in [0, 1000] and outcomes; no patient is behind them."""
    rng = np.random.default_rng(1)
    terms = rng.integers(0, 1001, (LARGE, TERMS - 1))
    slopes = rng.normal(0, 0.2, TERMS - 1)
    chance = 1 / (1 + np.exp(1 - (terms / 500 - 1) @ slopes))
    return terms, (rng.random(LARGE) < chance).astype(np.int64)


def release(folder: Path, terms: np.ndarray, outcome: np.ndarray) -> dict[str, float]:
    """Return seconds of a release, and of its parts, on one core."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{i}" for i in range(terms.shape[1])]
    columns = {name: terms[:, i].astype(np.int32) for i, name in enumerate(names)}
    columns |= {"p": np.arange(LARGE), "ill": outcome.astype(np.int32)}
    pq.write_table(pa.table(columns), folder / "people.parquet")
    lines = "".join(f"      {n}: {{kind: number, lower: 0, upper: 1000}}\n" for n in names)
    (folder / "dataset.yaml").write_text(
        f"""
dataset: {{id: large, lineage: large, snapshot: "1"}}
source: {{kind: parquet, path: ., threads: 1, memory-limit: 4GB}}
protects: {{unit: patient, id: p, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: 1e-6}}
caps: {{lifetime: {{epsilon: 100}}}}
population-at-most: 1000000
tables:
  people:
    from: people.parquet
    rows-per-patient: 1
    columns:
{lines}      ill: {{categories: {{"0": no, "1": yes}}}}
"""
    )
    spec = {
        "id": "risk",
        "kind": "logistic-regression",
        "table": "people",
        "of": {"ill": ["yes"]},
        "covariates": names,
    }
    with confide.open(folder / "dataset.yaml") as ws:
        marks: list[tuple[str, float]] = []
        plan = ws.plan(spec, epsilon="1")
        start = time.process_time()
        found = ws.release(plan, progress=lambda stage: marks.append((stage, time.process_time())))
        found.of("risk")
        whole = time.process_time() - start
    at = dict(marks)
    return {
        "whole": whole,
        "read": at["noise"] - at["read"],
        "fit": at["commit"] - at["noise"],
    }


def speed() -> list[str]:
    """Return the lines of the page about speed."""
    terms, outcome = large()
    with tempfile.TemporaryDirectory() as folder:
        ours = release(Path(folder), terms, outcome)
        print(ours, flush=True)
        lines = [
            f"| Confide: release, from Parquet to the stored answer | {ours['whole']:.2f} |",
            f"| … of which reading | {ours['read']:.2f} |",
            f"| … of which the fit: moments, five gradients, curvature, exact noise | {ours['fit']:.2f} |",
        ]
        python = make_environment("opacus")
        if python is None:
            return lines
        given = Path(folder, "given.npz")
        np.savez(given, terms=(terms / 500 - 1).astype(np.float32), outcome=outcome)
        done = subprocess.run(
            [python, HERE / "peers" / "models_with_opacus.py", "--speed", given],
            check=True,
            capture_output=True,
            text=True,
        )
        theirs = json.loads(done.stdout)
        print(theirs, flush=True)
    one = ours["fit"] / (ROUNDS + 2)
    for batch, seconds in theirs.items():
        lines.append(
            f"| Opacus: one epoch, batches of {int(batch):,} | {seconds:.2f} "
            f"({seconds / ours['fit']:.1f} × the whole fit) |"
        )
    lines.append(f"| Confide: one pass of the full batch, mean of seven | {one:.2f} |")
    return lines


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("folder", nargs="?", type=Path)
    asked.add_argument("--splits", type=int, default=10)
    asked.add_argument("--draws", type=int, default=10)
    asked.add_argument("--no-speed", action="store_true")
    given = asked.parse_args()
    if given.folder is None:
        print("no folder of cohorts was named: accuracy is left out")
    else:
        for line in accuracy(given.folder, number=given.splits, draws=given.draws):
            print(line)
    if not given.no_speed:
        for line in speed():
            print(line)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
