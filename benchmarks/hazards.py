"""C-index of hazard regression against the fit without noise, on public cohorts.

Run: python benchmarks/hazards.py FOLDER [--splits 10] [--draws 10] [--only NAME ...]

FOLDER holds survival/ and cohort/ with the files of cohorts/followed.py.  ε = 1, δ = 10⁻⁵ under
zCDP, one patient added or removed, nothing tuned.  In each split 70 % of the patients are fitted
and the others judge: Harrell's C of the linear predictor over all of their follow-up, and how much
steeper or flatter their log hazards are than predicted (1 is right), both as means.  "no noise" is
the same model fitted by maximum likelihood; X = n·p·μ/d for the n who are fitted, a share p of them
with the event, rounded to a tenth, and d terms.
"""

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from cohorts.followed import STEPS, Followed, flchain, framingham, leukaemia, veteran, whas

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.rounds.answered import told
from confide.plans.rounds.in_turn import ask_in_turn
from confide.privacy.accounting.concentrated import rho_for
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import Family
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf, Holds
from confide.tables.filter import IsIn
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

DELTA = Fraction("1e-5")
RHO = float(rho_for(Fraction(1), delta=DELTA))
PLACES: dict[str, tuple[Callable[[Path], Followed], int | None]] = {
    "veteran": (veteran, None),
    "whas500": (whas, None),
    "LeukSurv": (leukaemia, None),
    "Framingham": (framingham, None),
    "of Framingham": (framingham, 1400),
    "flchain": (flchain, None),
    "of flchain": (flchain, 1500),
    "more of flchain": (flchain, 3000),
}
"""Cohorts, and how many of their patients are drawn anew for each split."""


def declared(cohort: Followed) -> tuple[Dataset, DescentAggregate]:
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


def expected(cohort: Followed, rows: int) -> int:
    """Return how many events a public source would say: a share of them, to a tenth."""
    share = max(0.1, round(float(cohort.event.mean()), 1))
    return round(rows * share)


def private(
    cohort: Followed, chosen: np.ndarray, *, wide: bool, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Return slopes of the model that predicts, for each draw; shape (draws, d)."""
    dataset, model = declared(cohort)
    n = len(chosen)
    if wide:
        model = replace(model, rounds=WIDE_ROUNDS, expected=expected(cohort, n))
    columns = {"p": np.arange(n), "rk": np.ones(n), "fold": np.zeros(n)}
    read = (*cohort.steps[chosen].T, cohort.event[chosen], cohort.days[chosen])
    rows = DescentRows(
        model,
        columns | {f"e{i}": values.astype(np.int64) for i, values in enumerate(read)},
        dataset=dataset,
    )
    squared = descent_sensitivity(model, dataset=dataset).l2_squared / (2 * RHO)
    noise, sigma = DiscreteGaussian(sigma_squared=Fraction(squared)), math.sqrt(squared)
    found = []
    for _ in range(draws):
        noisy: tuple[int, ...] = ()
        while ask := ask_in_turn(model, noisy, mechanism=noise, dataset=dataset):
            exact = rows.answer(ask)
            noisy += tuple(
                v + round(e) for v, e in zip(exact, rng.normal(0, sigma, len(exact)), strict=True)
            )
        told_of = told(model, noisy, sigma=sigma, dataset=dataset).model
        found.append(told_of.predicting[model.intercepts :])
    return np.array(found)


def plain(
    cohort: Followed, chosen: np.ndarray, score: np.ndarray | None = None
) -> np.ndarray | None:
    """Return slopes by maximum likelihood: Poisson regression of patients by interval.

    Of a score alone, if there is one; None where there is no finite one.
    """
    x, edges = cohort.terms()[chosen] if score is None else score[:, None], np.array(cohort.edges)
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
        if not np.isfinite(slopes).all() or np.linalg.cond(slopes) > 1e12 or not each.all():
            return None
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
    cohort: Followed, *, most: int | None, splits: int, draws: int, seed: int
) -> dict[str, tuple[list[float], list[float]]]:
    """Return C and calibration slopes of the fits without noise, in rounds, and for few events."""
    rng, x = np.random.default_rng(seed), cohort.terms()
    found: dict[str, tuple[list[float], list[float]]] = {}
    for _ in range(splits):
        order = rng.permutation(len(cohort.days))[:most]
        chosen, judge = np.split(order, [len(order) * 7 // 10])
        best = plain(cohort, chosen)
        fits = {"no noise": [] if best is None else [best]}
        for name, wide in (("rounds", False), ("few events", True)):
            fits[name] = list(private(cohort, chosen, wide=wide, draws=draws, rng=rng))
        for name, slopes in fits.items():
            ranks, steep = found.setdefault(name, ([], []))
            for each in slopes:
                score = x[judge] @ each
                ranks.append(harrell(score, cohort.days[judge], cohort.event[judge]))
                slope = plain(cohort, judge, score) if np.std(score) > 1e-6 else None
                steep += [] if slope is None else [float(slope[0])]
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(PLACES))
    given = parser.parse_args()
    print("| cohort, n × d | X | no noise | rounds | few events |\n|---|---|---|---|---|")
    for name in given.only:
        load, most = PLACES[name]
        cohort = load(given.folder)
        found = judged(cohort, most=most, splits=given.splits, draws=given.draws, seed=1)
        n, d = most or len(cohort.days), len(cohort.names)
        ratio = expected(cohort, n * 7 // 10) * math.sqrt(2 * RHO) / d
        cells = [
            f"{np.mean(ranks):.4f} ({np.median(steep):.2f})" if steep else f"{np.mean(ranks):.4f}"
            for ranks, steep in found.values()
        ]
        print(f"| {name}, {n:,} × {d} | {ratio:.1f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
