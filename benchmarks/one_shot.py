"""One look against rounds, for few patients: where the rule between them comes from.

Run: python benchmarks/one_shot.py [--cohorts 16] [--data FOLDER]

Simulated cohorts of 300 to 4,000 patients with 4 to 32 covariates, a quarter of them binary and
the others with a standard deviation of a third of their half width, each correlated by a half with
the one before; log odds have a standard deviation of 1.3.  With FOLDER, which has the public
cohorts of benchmarks/models.py, random patients of these are fitted and the others judge.  Both
methods are what the gate runs, with continuous noise at ρ = μ²/2; AUC and log loss are on 8,000
others, means over cohorts.  Times are not taken.
"""

import argparse
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from cohorts.features import Cohort, framingham, free_light_chains, intensive_care

from confide.plans.rounds.descent import next_ask
from confide.plans.rounds.model_fit import fitted
from confide.plans.rounds.one_shot import one_look_is_better
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import Family
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table
from models import declared

SIZES, HALF = (300, 500, 1000, 2000, 4000), 1000
SHAPES = ((3, 1), (6, 2), (12, 4), (24, 8))
LOSSES = (0.1, 0.2, 0.6)
JUDGES = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Public facts of a cohort, and the truth."""

    dataset: Dataset
    aggregate: DescentAggregate
    numbers: int
    truth: np.ndarray

    def drawn(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return covariates as steps, terms and outcomes."""
        size = len(self.truth) - 1
        normal = rng.normal(size=(n, size))
        for j in range(1, size):
            normal[:, j] = normal[:, j - 1] / 2 + math.sqrt(3) / 2 * normal[:, j]
        steps = np.clip(np.rint(HALF + normal / 3 * HALF), 0, 2 * HALF).astype(np.int64)
        steps[:, self.numbers :] = normal[:, self.numbers :] > 0.6
        x = np.column_stack([np.ones(n), steps.astype(float)])
        x[:, 1 : 1 + self.numbers] = x[:, 1 : 1 + self.numbers] / HALF - 1
        ill = rng.random(n) < 1 / (1 + np.exp(-x @ self.truth))
        return steps, x, ill.astype(np.int64)


def world(numbers: int, categories: int, rng: np.random.Generator) -> World:
    """Return a world with a truth of its own."""
    columns = [
        Column(name=f"x{i}", kind=Kind.NUMBER, source=f"x{i}", lower=0, upper=2 * HALF)
        for i in range(numbers)
    ]
    names = (*(f"c{i}" for i in range(categories)), "ill")
    codes = (("0", 0), ("1", 1))
    columns += [
        Column(name=n, kind=Kind.CATEGORY, source=n, upper=1, keys=("no", "yes"), codes=codes)
        for n in names
    ]
    people = Table(name="people", source="people", columns=tuple(columns), one_row_per_patient=True)
    dataset = Dataset(
        id="simulated",
        lineage="simulated",
        snapshot="1",
        unit=PrivacyUnit(entity=Entity.PATIENT, id_column="p"),
        adjacency=Adjacency.ADD_REMOVE,
        measure=Measure.ZCDP,
        delta=Fraction("1e-6"),
        selection_delta=Fraction("5e-7"),
        tables=(people,),
        population_at_most=10**6,
    )
    expressions = [ColumnOf(table="people", column=column.name) for column in columns]
    aggregate = DescentAggregate(
        relation=Relation(table="people"),
        covariates=tuple(expressions[:-1]),
        outcome=expressions[-1],
        family=Family.LOGISTIC,
        bounds=RowBound(max_rows=1),
        rounds=5,
        held_out=0,
    )
    slopes = np.concatenate([rng.normal(0, 3, numbers), rng.normal(0, 1, categories)])
    found = World(
        dataset=dataset, aggregate=aggregate, numbers=numbers, truth=np.append(-1.0, slopes)
    )
    _, x, _ = found.drawn(4_000, rng)
    return replace(found, truth=np.append(-1.0, slopes * 1.3 / np.std(x[:, 1:] @ slopes)))


def fit(
    aggregate: DescentAggregate,
    values: list[np.ndarray],
    *,
    to: Dataset,
    mu: float,
    rng: np.random.Generator,
) -> tuple[np.ndarray, bool]:
    """Return the coefficients that predict, and whether they are published."""
    n = len(values[0])
    columns = {"p": np.arange(n), "rk": np.ones(n, int), "fold": np.full(n, 999)}
    columns |= {f"e{i}": column for i, column in enumerate(values)}
    rows = DescentRows(aggregate, columns, dataset=to)
    sigma = math.sqrt(scale_of(aggregate, dataset=to).l2_squared) / mu
    noisy: tuple[int, ...] = ()
    while ask := next_ask(aggregate, noisy, sigma=sigma, dataset=to):
        exact = rows.answer(ask)
        noise = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, noise, strict=True))
    found = fitted(aggregate, noisy, sigma=sigma, dataset=to)
    return found.predicting, found.usable


def judged(scores: np.ndarray, ill: np.ndarray) -> tuple[float, float]:
    """Return AUC and log loss."""
    order = np.argsort(np.argsort(scores)) + 1
    having = int(ill.sum())
    auc = (order[ill == 1].sum() - having * (having + 1) / 2) / (having * (len(ill) - having))
    cut = np.clip(scores, -30, 30)
    return float(auc), float(np.mean(np.log1p(np.exp(cut)) - ill * cut))


def both(
    aggregate: DescentAggregate,
    values: list[np.ndarray],
    *,
    to: Dataset,
    mu: float,
    rng: np.random.Generator,
) -> list[tuple[np.ndarray, bool]]:
    """Return the fits of rounds and of one look."""
    each = [replace(aggregate, rounds=rounds) for rounds in (5, 0)]
    return [fit(one, values, to=to, mu=mu, rng=rng) for one in each]


def simulated(cohorts: int) -> None:
    """Print one line a setting."""
    print("| μ | d | n | nμ/d^¾ | truth | rounds | one look | published | rule |")
    print("|---|---|---|---|---|---|---|---|---|")
    for mu in LOSSES:
        for numbers, categories in SHAPES:
            for n in SIZES:
                terms, found, shown = 1 + numbers + categories, [], []
                for seed in range(cohorts):
                    rng = np.random.default_rng([seed, n, terms])
                    of = world(numbers, categories, rng)
                    steps, _, ill = of.drawn(n, rng)
                    _, x, others = of.drawn(JUDGES, rng)
                    fits = both(of.aggregate, [*steps.T, ill], to=of.dataset, mu=mu, rng=rng)
                    models = (of.truth, *(beta for beta, _ in fits))
                    found.append([judged(x @ beta, others) for beta in models])
                    shown.append([usable for _, usable in fits])
                line(mu, terms, n, np.mean(found, axis=0), np.mean(shown, axis=0))


def public(of: Cohort, *, draws: int) -> None:
    """Print one line a setting of a public cohort: random patients of it fit, the others judge."""
    to, aggregate, values = declared(of)
    numbers = [name in of.bounds for name in values][:-1]
    steps = np.column_stack(list(values.values()))
    x = np.where(numbers, 2 * steps[:, :-1] / HALF - 1, steps[:, :-1])
    x, ill = np.column_stack([np.ones(len(x)), x]), steps[:, -1]
    print(f"\n{of.name}\n")
    for mu in LOSSES[1:]:
        for n in SIZES:
            if n > 0.7 * len(x):
                continue
            found, shown = [], []
            for seed in range(draws):
                rng = np.random.default_rng([seed, n])
                those, others = np.split(rng.permutation(len(x)), [n])
                fits = both(aggregate, list(steps[those].T), to=to, mu=mu, rng=rng)
                found.append([judged(x[others] @ beta, ill[others]) for beta, _ in fits])
                shown.append([usable for _, usable in fits])
            line(mu, x.shape[1], n, np.mean(found, axis=0), np.mean(shown, axis=0))


def line(mu: float, terms: int, n: int, means: np.ndarray, rate: np.ndarray) -> None:
    """Print one setting."""
    said = "one look" if one_look_is_better(n, terms=terms, mu=mu) else "rounds"
    cells = " | ".join(f"{auc:.3f} ({loss:.3f})" for auc, loss in means)
    print(
        f"| {mu} | {terms} | {n} | {n * mu / terms**0.75:.0f} | {cells} "
        f"| {rate[0]:.0%}, {rate[1]:.0%} | {said} |",
        flush=True,
    )


def main() -> None:
    """Print all settings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cohorts", type=int, default=16)
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    simulated(given.cohorts)
    if given.data is not None:
        for load in (free_light_chains, framingham, intensive_care):
            public(load(given.data), draws=given.cohorts)


if __name__ == "__main__":
    main()
