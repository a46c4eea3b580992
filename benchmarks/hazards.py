"""C-index of hazard regression against the fit without noise, on public cohorts.

Run: python benchmarks/hazards.py FOLDER [--splits 10] [--draws 10]

FOLDER holds survival/flchain.parquet and cohort/Framingham.parquet.  ε = 1, δ = 10⁻⁵ under zCDP,
one patient added or removed, nothing tuned.  In each split 70 % of the patients are fitted and the
others judge: Harrell's C of the linear predictor over all of their follow-up.  Covariates are known
at the index date; their bounds and the intervals are public, and what is missing is the middle of
its bounds with an indicator.  "no noise" is the same model fitted by maximum likelihood.
"""

import argparse
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd

from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import fitted
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import UNIT, Family
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf, Holds
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

DELTA = Fraction("1e-5")
STEPS = 1000
"""Steps of a covariate between its bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cohort:
    """Covariates within public bounds as steps 0..STEPS, days of follow-up and the event."""

    names: tuple[str, ...]
    steps: np.ndarray
    days: np.ndarray
    event: np.ndarray
    edges: tuple[int, ...]

    def terms(self) -> np.ndarray:
        """Return the terms without intercept, as the model has them."""
        return (2 * self.steps - STEPS) * UNIT // STEPS / UNIT


def within(values: pd.Series, bounds: tuple[float, float]) -> np.ndarray:
    """Return values as steps between bounds; missing ones are in the middle."""
    low, high = bounds
    whole = np.rint((values.clip(low, high) - low) / (high - low) * STEPS)
    return whole.fillna(STEPS // 2).to_numpy(dtype=np.int64)


def flchain(folder: Path) -> Cohort:
    """Return free light chains and death: 7,874 residents of Olmsted County."""
    d = pd.read_parquet(folder / "survival/flchain.parquet")
    bounds = {"age": (50, 100), "kappa": (0, 10), "lambda": (0, 10), "creatinine": (0.4, 4)}
    found = {name: within(d[name], of) for name, of in bounds.items()}
    found["male"] = (d.sex.astype(str).str[0] == "M").to_numpy() * STEPS
    found["mgus"] = (d.mgus == 1).to_numpy() * STEPS
    found["no creatinine"] = d.creatinine.isna().to_numpy() * STEPS
    return Cohort(
        names=tuple(found),
        steps=np.column_stack(list(found.values())),
        days=d.futime.to_numpy(dtype=np.int64),
        event=(d.death == 1).to_numpy(),
        edges=(0, 730, 1461, 2191, 2922, 3652, 5300),
    )


def framingham(folder: Path) -> Cohort:
    """Return the Framingham Heart Study and coronary disease: 4,699 persons."""
    d = pd.read_parquet(folder / "cohort/Framingham.parquet")
    bounds = {
        "num_age": (30, 70),
        "num_sbp": (90, 200),
        "num_dbp": (50, 120),
        "num_scl": (120, 350),
        "num_bmi": (15, 40),
    }
    found = {name: within(d[name], of) for name, of in bounds.items()}
    found["male"] = (d.fac_sex == 1).to_numpy() * STEPS
    return Cohort(
        names=tuple(found),
        steps=np.column_stack(list(found.values())),
        days=d.time.to_numpy(dtype=np.int64),
        event=(d.event == 1).to_numpy(),
        edges=(0, 1826, 3652, 5479, 7305, 9131, 12000),
    )


def declared(cohort: Cohort) -> tuple[Dataset, DescentAggregate]:
    """Return the data set and the model."""
    numbers = [
        Column(name=name, source=name, kind=Kind.NUMBER, lower=0, upper=STEPS)
        for name in cohort.names
    ]
    days = Column(
        name="days", source="days", kind=Kind.NUMBER, lower=0, upper=cohort.edges[-1], unit="d"
    )
    event = Column(
        name="event",
        source="event",
        kind=Kind.CATEGORY,
        lower=0,
        upper=1,
        keys=("no", "yes"),
        codes=(("0", 0), ("1", 1)),
    )
    table = Table(
        name="people", source="people", one_row_per_patient=True, columns=(*numbers, days, event)
    )
    dataset = Dataset(
        id="cohort",
        lineage="cohort",
        snapshot="1",
        unit=PrivacyUnit(entity=Entity.PATIENT, id_column="pid"),
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.ZCDP,
        delta=Fraction("1e-6"),
        selection_delta=Fraction(0),
        tables=(table,),
        population_at_most=10**7,
    )

    def of(name: str) -> ColumnOf:
        return ColumnOf(table="people", column=name)

    return dataset, DescentAggregate(
        relation=Relation(table="people"),
        covariates=tuple(of(name) for name in cohort.names),
        outcome=Holds(of=IsIn(of=of("event"), values=(1,))),
        family=Family.HAZARD,
        bounds=RowBound(max_rows=1),
        rounds=5,
        held_out=0,
        exposure=of("days"),
        edges=cohort.edges,
    )


def private(cohort: Cohort, chosen: np.ndarray, *, draws: int, rng: np.random.Generator):
    """Return slopes of the model that predicts, for each draw; shape (draws, d)."""
    dataset, model = declared(cohort)
    n = len(chosen)
    columns = {"p": np.arange(n), "rk": np.ones(n), "fold": np.zeros(n)}
    read = (*cohort.steps[chosen].T, cohort.event[chosen], cohort.days[chosen])
    rows = DescentRows(
        model,
        columns | {f"e{i}": values.astype(np.int64) for i, values in enumerate(read)},
        dataset=dataset,
    )
    rho = float(rho_for(Fraction(1), delta=DELTA))
    sigma = math.sqrt(scale_of(model, dataset=dataset).l2_squared / (2 * rho))
    found = []
    for _ in range(draws):
        noisy: tuple[int, ...] = ()
        while ask := next_ask(model, noisy, sigma=sigma, dataset=dataset):
            exact = rows.answer(ask)
            noisy += tuple(
                v + round(e) for v, e in zip(exact, rng.normal(0, sigma, len(exact)), strict=True)
            )
        found.append(
            fitted(model, noisy, sigma=sigma, dataset=dataset).predicting[model.intercepts :]
        )
    return np.array(found)


def plain(cohort: Cohort, chosen: np.ndarray) -> np.ndarray:
    """Return slopes by maximum likelihood: Poisson regression of patients by interval."""
    x, edges = cohort.terms()[chosen], np.array(cohort.edges)
    days, event = cohort.days[chosen], cohort.event[chosen]
    spent = np.clip(days[:, None] - edges[:-1], 0, np.diff(edges)) / edges[-1]
    last = np.searchsorted(edges[1:-1], days, side="left")
    died = (np.arange(len(edges) - 1) == last[:, None]) & event[:, None]
    alpha, beta = np.log(died.sum(axis=0) / spent.sum(axis=0)), np.zeros(x.shape[1])
    for _ in range(30):
        hazard = spent * np.exp((x @ beta)[:, None] + alpha)
        whole, each = hazard.sum(axis=1), hazard.sum(axis=0)
        cross = hazard.T @ x
        slopes = x.T @ (whole[:, None] * x)
        g_alpha, g_beta = (died - hazard).sum(axis=0), x.T @ (event - whole)
        left = np.linalg.inv(slopes - cross.T @ (cross / each[:, None]))
        step = left @ (g_beta - cross.T @ (g_alpha / each))
        alpha, beta = alpha + (g_alpha - cross @ step) / each, beta + step
    return beta


def harrell(score: np.ndarray, days: np.ndarray, event: np.ndarray) -> float:
    """Return Harrell's C: of pairs of which one is known to have had the event first."""
    first = event[:, None] & ((days[:, None] < days) | ((days[:, None] == days) & ~event))
    ahead = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    return float((first * ahead).sum() / first.sum())


def judged(
    cohort: Cohort, *, splits: int, draws: int, seed: int
) -> tuple[list[float], list[float]]:
    """Return C of the fits without noise, and of those with it."""
    rng = np.random.default_rng(seed)
    x, quiet, noisy = cohort.terms(), [], []
    for _ in range(splits):
        order = rng.permutation(len(cohort.days))
        chosen, judge = np.split(order, [len(order) * 7 // 10])
        days, event = cohort.days[judge], cohort.event[judge]
        quiet.append(harrell(x[judge] @ plain(cohort, chosen), days, event))
        noisy += [
            harrell(x[judge] @ slopes, days, event)
            for slopes in private(cohort, chosen, draws=draws, rng=rng)
        ]
    return quiet, noisy


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--draws", type=int, default=10)
    given = parser.parse_args()
    print("| cohort | patients | C, no noise | C, ε = 1, δ = 10⁻⁵ | loss |\n|---|---|---|---|---|")
    for name, load in (("flchain", flchain), ("Framingham", framingham)):
        cohort = load(given.folder)
        quiet, noisy = judged(cohort, splits=given.splits, draws=given.draws, seed=1)
        c, d = float(np.mean(quiet)), float(np.mean(noisy))
        print(f"| {name} | {len(cohort.days):,} | {c:.4f} | {d:.4f} | {c - d:.4f} |", flush=True)


if __name__ == "__main__":
    main()
