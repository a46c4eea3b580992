"""A synthetic table as the job makes it: seconds of processor, and the error of tables of two columns.

Run: python benchmarks/synthesis.py FOLDER [--draws 5] [--peer]

FOLDER holds ``tabular/adult_discretised.csv.gz`` with ``adult_domain.json`` (UCI Adult in public
bins, 14 columns), ``encounters/diabetes130_encounters.parquet`` (15 columns of the first visit of
each patient), ``survival/flchain.parquet`` (death within ten years) and the two tables of
``icu/physionet2012_*.parquet`` (death in hospital by means of the first twelve hours).  45,000 rows
of each, or seven tenths where there are fewer, are the data; ε = 1, δ = 10⁻⁶, one patient added or removed, one
row a patient.  Noise and choices are the exact ones of the system.  Error is the total-variation
distance between the synthetic table and the data, a mean over all pairs of columns, in the levels
of the columns as they are declared.  With a target, AUC is that of a logistic regression on rows
that are kept apart, trained on the synthetic table and on the data.
"""

import argparse
import itertools
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np
import pandas as pd

from confide.files.dataset import declared_by
from confide.jobs.synthesis.counts import renamed
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.measuring import Measuring
from confide.jobs.synthesis.model.draw import Draws, rows_drawn
from confide.jobs.synthesis.spec import Synthesis
from confide.jobs.synthesis.tables import synthetic
from confide.noise.entropy import SystemEntropy
from confide.plans.job import JobPlan, plan_job
from confide.plans.plan import Study
from confide.privacy.accounting.concentrated import rho_for
from confide.rows.records import RecordRows
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.records import Records
from confide.tables.relation import Relation

ROWS, EPSILON, DELTA = 45_000, Fraction(1), Fraction(1, 10**6)
ENCOUNTERS = (
    "race", "gender", "age", "admission_type_id", "discharge_disposition_id",
    "admission_source_id", "time_in_hospital", "num_procedures", "number_emergency",
    "number_inpatient", "number_diagnoses", "max_glu_serum", "A1Cresult", "insulin", "readmitted",
)  # fmt: skip

TEN_YEARS, TWELVE_HOURS = 3650, 720
VITAL_SIGNS = {
    "GCS": (6, 9, 12, 15),
    "HR": (60, 80, 100, 120),
    "NISysABP": (90, 110, 130, 150),
    "SysABP": (90, 110, 130, 150),
    "Temp": (36, 37, 38),
    "Urine": (30, 60, 100, 200),
    "BUN": (10, 20, 30, 50),
    "Creatinine": (0.8, 1.2, 2, 4),
    "HCO3": (18, 22, 26),
    "WBC": (4, 10, 15, 20),
    "Platelets": (100, 150, 250, 350),
    "Lactate": (1.5, 2.5, 4),
    "MechVent": (),
}
"""Edges of bins by parameter: usual limits of charts, no quantiles of these data."""


def adult(folder: Path) -> tuple[np.ndarray, tuple[str, ...], tuple[int, ...], str]:
    """Return levels of rows, names, sizes and the target."""
    domain = json.loads((folder / "tabular/adult_domain.json").read_text("utf-8"))
    rows = pd.read_csv(folder / "tabular/adult_discretised.csv.gz")
    names = tuple(domain)
    return rows[list(names)].to_numpy(), names, tuple(domain.values()), names[-1]


def diabetes130(folder: Path) -> tuple[np.ndarray, tuple[str, ...], tuple[int, ...], str]:
    """Return the same of the first visits of patients."""
    rows = pd.read_parquet(folder / "encounters/diabetes130_encounters.parquet")
    rows = rows.drop_duplicates("patient_nbr")
    columns, sizes = [], []
    for name in ENCOUNTERS:
        codes, levels = pd.factorize(rows[name].fillna("missing").astype(str), sort=True)
        columns.append(np.minimum(codes, 29))
        sizes.append(min(30, len(levels)))
    return np.column_stack(columns), ENCOUNTERS, tuple(sizes), "readmitted"


def binned(values: pd.Series, *edges: float) -> np.ndarray:
    """Return the bin of each value by public edges, and one more where there is none."""
    found = np.searchsorted(edges, values.to_numpy(float), side="right")
    return np.where(values.isna(), len(edges) + 1, found)


def flchain(folder: Path) -> tuple[np.ndarray, tuple[str, ...], tuple[int, ...], str]:
    """Return the same of people whose ten years are known: assays, age and sex for death."""
    rows = pd.read_parquet(folder / "survival/flchain.parquet")
    rows = rows[(rows["death"] == 1) | (rows["futime"] >= TEN_YEARS)]
    columns = {
        "age": binned(rows["age"], 55, 60, 65, 70, 75, 80, 85),
        "sex": (rows["sex"] == "F").to_numpy(int),
        "kappa": binned(rows["kappa"], 0.75, 1, 1.25, 1.5, 2, 3),
        "lambda": binned(rows["lambda"], 0.75, 1, 1.25, 1.5, 2, 3),
        "creatinine": binned(rows["creatinine"], 0.8, 1, 1.2, 1.5, 2),
        "mgus": rows["mgus"].to_numpy(int),
        "died": ((rows["death"] == 1) & (rows["futime"] < TEN_YEARS)).to_numpy(int),
    }
    sizes = (9, 2, 8, 8, 7, 2, 2)
    return np.column_stack([*columns.values()]), tuple(columns), sizes, "died"


def physionet2012(folder: Path) -> tuple[np.ndarray, tuple[str, ...], tuple[int, ...], str]:
    """Return the same of stays: age, unit, and means of vital signs in the first twelve hours."""
    stays = pd.read_parquet(folder / "icu/physionet2012_stays.parquet").set_index("record_id")
    seen = pd.read_parquet(folder / "icu/physionet2012_measurements.parquet")
    seen = seen[(seen["minute"] < TWELVE_HOURS) & (seen["value"] >= 0)]
    means = seen.pivot_table(index="record_id", columns="parameter", values="value")
    means = means.reindex(stays.index)
    columns = {
        "age": binned(stays["age"], 40, 50, 60, 70, 80),
        "unit": stays["icu_type"].to_numpy(int) - 1,
        **{name: binned(means[name], *edges) for name, edges in VITAL_SIGNS.items()},
        "died": stays["in_hospital_death"].to_numpy(int),
    }
    sizes = (7, 4, *(len(edges) + 2 for edges in VITAL_SIGNS.values()), 2)
    return np.column_stack([*columns.values()]), tuple(columns), sizes, "died"


def job_of(
    names: Sequence[str], sizes: Sequence[int], *, target: str, rows: int = ROWS
) -> tuple[Synthesis, object]:
    """Return the job and the data set that declares its columns."""
    columns = {
        name: {"categories": [f"{name} {i}" for i in range(size)]}
        for name, size in zip(names, sizes, strict=True)
    }
    declared = declared_by(
        {
            "dataset": {"id": "rows", "lineage": "rows", "snapshot": "1"},
            "source": {"kind": "frames"},
            "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
            "accounting": {"measure": "zcdp", "delta": str(DELTA)},
            "caps": {"lifetime": {"epsilon": "10"}},
            "tables": {"rows": {"columns": columns}},
        },
        folder=".",
    )
    reads = tuple(ColumnOf(table="rows", column=name) for name in names)
    spec = Synthesis(
        reads=Records(relation=Relation(table="rows"), reads=reads, bounds=RowBound(max_rows=1)),
        columns=tuple(names),
        rho=rho_for(EPSILON, delta=DELTA),
        rows=rows,
        target=target,
    )
    return spec, declared.dataset


def measured_by(
    levels: np.ndarray, spec: Synthesis, dataset: object
) -> tuple[Mapping[str, bytes], JobPlan]:
    """Return what the job releases, and its plan."""
    rows = {"p": np.arange(len(levels)), "rk": np.arange(len(levels))}
    rows |= {f"e{i}": levels[:, i] for i in range(levels.shape[1])}
    records = RecordRows(
        rows | {"fold": np.zeros(len(levels), int)}, columns=levels.shape[1], most=1
    )
    plan = plan_job(spec, study=Study(id="synthesis"), dataset=dataset)
    runner = Measuring(spec, plan=plan)
    files = runner.opened()
    for part in range(1, runner.parts + 1):
        files = runner.advanced(
            records, part=part, before=files, entropy=SystemEntropy(), progress=lambda _: None
        )
    return files, plan


def made(levels: np.ndarray, spec: Synthesis, dataset: object) -> tuple[np.ndarray, float]:
    """Return a synthetic table and the seconds of processor that all of it took."""
    began = time.process_time()
    files, plan = measured_by(levels, spec, dataset)
    found = read_measured(files[MEASURED], spec=spec, adjacency=plan.adjacency)
    table = synthetic(found, digest=os.urandom(32).hex()).table()
    return table, time.process_time() - began


def error_of_pairs(table: np.ndarray, levels: np.ndarray, sizes: Sequence[int]) -> float:
    """Return the mean total-variation distance of tables of two columns."""
    found = []
    for i, j in itertools.combinations(range(len(sizes)), 2):
        shares = [
            np.bincount(each[:, i] * sizes[j] + each[:, j], minlength=sizes[i] * sizes[j])
            / len(each)
            for each in (table, levels)
        ]
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def beside_mbi(levels: np.ndarray, spec: Synthesis, dataset: object) -> str:
    """Return a line of Markdown: fit and error of pairs in merged levels, of ours and of mbi."""
    files, plan = measured_by(levels, spec, dataset)
    found = read_measured(files[MEASURED], spec=spec, adjacency=plan.adjacency)
    began = time.process_time()
    made_of = synthetic(found, digest=os.urandom(32).hex())
    fitted = time.process_time() - began
    merged, sizes = renamed(levels, found.merging), found.sizes
    ours = rows_drawn(
        made_of.model, rows=len(levels), how=Draws.SPREAD_OUT, generator=np.random.default_rng(1)
    )
    known = found.marginals()
    about = {
        "sizes": list(map(int, sizes)),
        "cliques": [list(each.variables) for each in known],
        "total": found.total,
        "rows": len(levels),
    }
    arrays = {f"counts{i}": each.counts for i, each in enumerate(known)}
    arrays |= {f"deviation{i}": np.sqrt(each.variance.mean()) for i, each in enumerate(known)}
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("in.npz", "out.npz")]
        np.savez(paths[0], about=np.array(json.dumps(about)), **arrays)
        here = Path(__file__).parent
        python = here.parent / ".venv-bench-mbi" / "bin" / "python"
        subprocess.run(
            [python, here / "peers" / "synthesis_with_mbi.py", *paths],
            check=True,
            env=os.environ | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"},
            stderr=subprocess.DEVNULL,
        )
        peer = np.load(paths[1])
        first, again, drawn = peer["seconds"]
        theirs = peer["table"]
    errors = [error_of_pairs(each, merged, sizes) for each in (ours, theirs)]
    return (
        f"| {len(sizes)} columns, merged levels | {fitted:.2f} | {errors[0]:.4f} | "
        f"{first:.1f}, then {again:.2f} | {drawn:.2f} | {errors[1]:.4f} |"
    )


def auc_of(table: np.ndarray, judge: np.ndarray, sizes: Sequence[int], *, target: int) -> float:
    """Return the AUC of a logistic regression that learns from a table."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    def terms(rows: np.ndarray) -> np.ndarray:
        others = [v for v in range(len(sizes)) if v != target]
        return np.column_stack([np.eye(sizes[v])[rows[:, v]] for v in others])

    last = sizes[target] - 1 if sizes[target] == 2 else 0
    model = LogisticRegression(max_iter=500, C=1.0)
    model.fit(terms(table), table[:, target] == last)
    score = model.predict_proba(terms(judge))[:, 1]
    return float(roc_auc_score(judge[:, target] == last, score))


def compared(name: str, folder: Path, *, draws: int) -> str:
    """Return lines of Markdown for one table."""
    levels, names, sizes, target = READERS[name](folder)
    order = np.random.default_rng(20261128).permutation(len(levels))
    taken = ROWS if len(levels) > ROWS else 7 * len(levels) // 10
    data, judge = levels[order[:taken]], levels[order[taken:]]
    at, lines = names.index(target), []
    real = auc_of(data, judge, sizes, target=at)
    turns = len(names) - 1 + len(names) // 2
    for aim, adaptive in (("", 0), ("", turns), (target, 0)):
        spec, dataset = job_of(names, sizes, target=aim, rows=taken)
        spec = replace(spec, adaptive=adaptive)
        found = []
        for _ in range(draws):
            table, seconds = made(data, spec, dataset)
            found.append(
                (
                    seconds,
                    error_of_pairs(table, data, sizes),
                    auc_of(table, judge, sizes, target=at),
                )
            )
        seconds, error, auc = np.mean(found, axis=0)
        told = f"{aim} as target" if aim else "general use"
        told += f", AIM of {adaptive} rounds" if adaptive else ""
        lines.append(
            f"| {name}, {len(names)} columns | {told} | {seconds:.2f} | {error:.4f} | "
            f"{auc:.3f} | {real:.3f} |"
        )
    return "\n".join(lines)


READERS = {
    "adult": adult,
    "diabetes130": diabetes130,
    "flchain": flchain,
    "physionet2012": physionet2012,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--peer", action="store_true", help="fit mbi 2 to the same marginals")
    asked = parser.parse_args()
    if asked.peer:
        print("| data | fit, CPU s | error of pairs | mbi: fit, CPU s | rows, CPU s | error |")
        print("|---|---|---|---|---|---|")
        for read in (adult, diabetes130):
            rows_of, names_of, sizes_of_it, _ = read(asked.folder)
            chosen = np.random.default_rng(20261128).permutation(len(rows_of))[:ROWS]
            job, declared_of = job_of(names_of, sizes_of_it, target="")
            print(beside_mbi(rows_of[chosen], job, declared_of))
        raise SystemExit
    print("| data | for | CPU s | error of pairs | AUC from synthetic | AUC from data |")
    print("|---|---|---|---|---|---|")
    for table_name in READERS:
        print(compared(table_name, asked.folder, draws=asked.draws))
