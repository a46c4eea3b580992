"""Models of many terms: the wide fit against rounds, one look, a DP-SGD grid, and no privacy.

Run: python benchmarks/wide_models.py [--draws 5] [--rows 2000 10000] [--terms 20 50] [--sgd]
     [--data FOLDER] [--dump FOLDER]

At ε = 1, δ = 10⁻⁵ (ρ = .0288).  Generated cohorts have half numbers and half indicators, each
correlated by a half with the one before, a third of them without effect; log odds have a standard
deviation of 1.2, and 30 % of the patients are held out.  With FOLDER, which has the public cohorts
of cohorts/features.py, intensive care and diabetes with diagnoses, drugs and specialties as
indicators.  What fits is what the gate runs, with continuous noise; no privacy is maximum
likelihood with a ridge of 1.  With --sgd, twelve settings of DP-SGD (rate, clip and epochs) at the
same (ε, δ), each example a patient, of which the best *on the held-out patients* is told.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from cohorts.features import Cohort, diabetes, intensive_care

from confide.plans.rounds.descent import next_ask, walk
from confide.plans.rounds.wide import next_wide_ask, walk_widely, width_ratio
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import UNIT
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from confide.tables.schema import Dataset
from models import STEPS, declared

RHO, DELTA = 0.0288, 1e-5
MU = math.sqrt(2 * RHO)
HELD = 0.3
ORDERS = range(2, 65)


def generated(n: int, terms: int, rng: np.random.Generator) -> Cohort:
    """Return a cohort of its own truth."""
    normal = rng.normal(size=(n, terms))
    for j in range(1, terms):
        normal[:, j] = normal[:, j - 1] / 2 + math.sqrt(3) / 2 * normal[:, j]
    cuts = rng.uniform(0, 1.3, terms)
    numbers = np.arange(terms) % 2 == 0
    values = np.where(numbers, np.clip(normal / 3, -1, 1), normal > cuts)
    slopes = rng.normal(0, 1, terms) * (rng.random(terms) > 1 / 3) * np.where(numbers, 3, 1)
    score = values @ slopes
    score = (score - score.mean()) / score.std() * 1.2
    level = rng.uniform(-2.2, -0.5)
    of = Cohort(
        f"generated {n} x {terms}",
        (rng.random(n) < 1 / (1 + np.exp(-score - level))).astype(int),
    )
    for j in range(terms):
        if numbers[j]:
            of.number(f"x{j}", values[:, j], -1, 1)
        else:
            of.indicator(f"x{j}", values[:, j])
    return of


def wide_diabetes(folder: Path) -> Cohort:
    """Return the diabetes cohort with more indicators, of the most common values elsewhere."""
    of = diabetes(folder)
    e = pd.read_parquet(folder / "encounters/diabetes130_encounters.parquet")
    e = e.sort_values("encounter_id").drop_duplicates("patient_nbr")
    e = e[~e.discharge_disposition_id.isin((11, 13, 14, 19, 20, 21))]
    for name in ("metformin", "glipizide", "glyburide", "pioglitazone", "rosiglitazone"):
        of.indicator(name, e[name] != "No")
    for place in ("diag_2", "diag_3"):
        code = pd.to_numeric(e[place], errors="coerce")
        for name, first, end in (
            ("circulatory", 390, 460),
            ("respiratory", 460, 520),
            ("digestive", 520, 580),
            ("genitourinary", 580, 630),
            ("injury", 800, 1000),
            ("neoplasm", 140, 240),
        ):
            of.indicator(f"{place} {name}", (code >= first) & (code < end))
    for name in ("InternalMedicine", "Cardiology", "Surgery-General", "Family/GeneralPractice",
                 "Emergency/Trauma", "Nephrology", "Orthopedics", "Psychiatry"):  # fmt: skip
        of.indicator(name, e.medical_specialty == name)
    for name in ("MC", "HM", "SP", "BC", "MD", "CP", "UN"):
        of.indicator(f"payer {name}", e.payer_code == name)
    for source in (1, 4, 6, 7):
        of.indicator(f"source {source}", e.admission_source_id == source)
    return of


def without_privacy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return maximum likelihood with a ridge of 1."""
    theta, ridge = np.zeros(x.shape[1]), np.eye(x.shape[1])
    ridge[0, 0] = 1e-9
    for _ in range(12):
        p = 1 / (1 + np.exp(-np.clip(x @ theta, -30, 30)))
        curve = (x * (p * (1 - p))[:, None]).T @ x + ridge
        theta = theta + np.linalg.solve(curve, x.T @ (y - p) - ridge @ theta)
    return theta


def private(
    aggregate: DescentAggregate, columns: list[np.ndarray], *, to: Dataset, rng: np.random.Generator
) -> np.ndarray:
    """Return the coefficients of the terms that predict."""
    n = len(columns[0])
    found = {"p": np.arange(n), "rk": np.ones(n, int), "fold": np.full(n, 999)}
    rows = DescentRows(aggregate, found | {f"e{i}": c for i, c in enumerate(columns)}, dataset=to)
    scale = wide_scale_of if aggregate.wide else scale_of
    sigma = math.sqrt(scale(aggregate, dataset=to).l2_squared) / MU

    def following(noisy: tuple[int, ...]) -> object:
        if aggregate.wide:
            return next_wide_ask(wide_scale_of(aggregate, dataset=to), noisy, sigma=sigma)
        return next_ask(aggregate, noisy, sigma=sigma, dataset=to)

    noisy: tuple[int, ...] = ()
    while ask := following(noisy):
        exact = rows.answer(ask)
        noise = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    if aggregate.wide:
        return walk_widely(wide_scale_of(aggregate, dataset=to), noisy, sigma=sigma).coefficients
    walked = walk(aggregate, noisy, sigma=sigma, dataset=to)
    return walked.whitened.matrix @ walked.theta / UNIT


def _log_binomial(order: int, k: int) -> float:
    return math.lgamma(order + 1) - math.lgamma(k + 1) - math.lgamma(order - k + 1)


def multiplier(rate: float, steps: int) -> float:
    """Return the noise multiplier of DP-SGD with Poisson sampling at ε = 1 [MTZ19]."""

    def epsilon(sigma: float) -> float:
        found = math.inf
        for order in ORDERS:
            logs = [
                _log_binomial(order, k)
                + (order - k) * math.log1p(-rate)
                + k * math.log(rate)
                + (k * k - k) / (2 * sigma * sigma)
                for k in range(order + 1)
            ]
            most = max(logs)
            renyi = (most + math.log(sum(math.exp(v - most) for v in logs))) / (order - 1)
            told = steps * renyi + math.log1p(-1 / order)
            found = min(found, told - (math.log(DELTA) + math.log(order)) / (order - 1))
        return found

    low, high = 0.3, 60.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if epsilon(middle) < 1 else (middle, high)
    return high


def sgd(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield twelve fits of DP-SGD: 2 epochs, 3 rates, 2 clips."""
    n, batch = len(x), min(256, len(x) // 8)
    for epochs in (10, 30):
        steps = epochs * n // batch
        noise = multiplier(batch / n, steps)
        for rate in (0.1, 0.5, 2.0):
            for clip in (1.0, 3.0):
                theta = np.zeros(x.shape[1])
                for _ in range(steps):
                    chosen = rng.random(n) < batch / n
                    part, ill = x[chosen], y[chosen]
                    each = (1 / (1 + np.exp(-np.clip(part @ theta, -30, 30))) - ill)[:, None] * part
                    norms = np.linalg.norm(each, axis=1)
                    total = np.minimum(1, clip / np.maximum(norms, 1e-12)) @ each
                    total += rng.normal(0, noise * clip, len(theta))
                    theta = theta - rate / clip * total / batch
                yield theta


def judged(scores: np.ndarray, ill: np.ndarray) -> tuple[float, float]:
    """Return AUC and calibration slope on those held out."""
    order = pd.Series(scores).rank().to_numpy()
    having = int(ill.sum())
    auc = (order[ill == 1].sum() - having * (having + 1) / 2) / (having * (len(ill) - having))
    if np.std(scores) < 1e-9:
        return float(auc), math.nan
    a, b = 0.0, 1 / max(1.0, float(np.std(scores)))
    q = np.column_stack([np.ones(len(scores)), np.clip(scores, -60, 60)])
    line = np.array([a, b])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(q @ line, -30, 30)))
        curve = (q * (p * (1 - p))[:, None]).T @ q + 1e-9 * np.eye(2)
        step = np.linalg.solve(curve, q.T @ (ill - p))
        line = line + step * min(1, 2 / max(1e-9, float(np.abs(step).max())))
    return float(auc), float(line[1])


def told(of: Cohort, *, draws: int, first: int, with_sgd: bool, dump: Path | None) -> None:
    """Print one line of a cohort."""
    to, rounds, values = declared(of)
    columns = list(values.values())
    numbers = [name in of.bounds for name in list(values)[:-1]]
    steps = np.column_stack(columns)
    x = np.where(numbers, 2 * steps[:, :-1] / STEPS - 1, steps[:, :-1])
    x, ill = np.column_stack([np.ones(len(x)), x]), steps[:, -1]
    found: dict[str, list[tuple[float, float]]] = {}
    for draw in range(first, first + draws):
        rng = np.random.default_rng([draw, len(x), x.shape[1]])
        these = rng.permutation(len(x))
        held, fitted = np.split(these, [round(HELD * len(x))])
        expected = len(fitted)
        wide = replace(rounds, rounds=WIDE_ROUNDS, expected=expected)
        fits = {"no privacy": without_privacy(x[fitted], ill[fitted])}
        for name, one in (
            ("wide", wide),
            ("rounds", rounds),
            ("one look", replace(rounds, rounds=0)),
        ):
            if name == "wide" or x.shape[1] <= 200:
                fits[name] = private(one, list(steps[fitted].T), to=to, rng=rng)
        for name, theta in fits.items():
            found.setdefault(name, []).append(judged(x[held] @ theta, ill[held]))
        if with_sgd:
            for place, theta in enumerate(sgd(x[fitted], ill[fitted], rng)):
                found.setdefault(f"sgd {place}", []).append(judged(x[held] @ theta, ill[held]))
    d = x.shape[1] - 1
    cells = {name: np.nanmean(each, axis=0) for name, each in found.items()}
    grid = [name for name in cells if name.startswith("sgd")]
    if grid:
        best = max(grid, key=lambda name: cells[name][0])
        cells["sgd"] = cells[best]
    shown = [
        f"{cells[name][0]:.3f} ({cells[name][1]:.2f})" if name in cells else "–"
        for name in ("no privacy", "wide", "rounds", "one look", "sgd")
    ]
    slopes = [slope for _, slope in found["wide"]]
    ratio = width_ratio(round((1 - HELD) * len(x)), terms=d, mu=MU)
    print(
        f"| {of.name} | {len(x)} × {d} | {ratio:.0f} | {' | '.join(shown)} "
        f"| {min(slopes):.2f}–{max(slopes):.2f} |",
        flush=True,
    )
    if dump is not None:
        np.savez(
            dump / f"{of.name.replace(' ', '-')}.npz", **{k: np.array(v) for k, v in found.items()}
        )


def main() -> None:
    """Print all cohorts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rows", type=int, nargs="*", default=[2_000, 10_000, 50_000])
    parser.add_argument("--terms", type=int, nargs="*", default=[20, 50, 100, 199])
    parser.add_argument("--sgd", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--dump", type=Path)
    given = parser.parse_args()
    print(
        "| cohort | n × d | x | no privacy | wide | rounds | one look | best of 12 DP-SGD | slopes |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for terms in given.terms:
        for n in given.rows:
            of = generated(n, terms, np.random.default_rng([7, n, terms, given.first]))
            told(of, draws=given.draws, first=given.first, with_sgd=given.sgd, dump=given.dump)
    if given.data is not None:
        for load in (intensive_care, wide_diabetes):
            of = load(given.data)
            told(of, draws=given.draws, first=given.first, with_sgd=given.sgd, dump=given.dump)


if __name__ == "__main__":
    main()
