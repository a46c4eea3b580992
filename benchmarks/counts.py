"""Deviance and rank of count models against the fit without noise, by the bound of the events.

Run: python benchmarks/counts.py [--cohorts 3] [--draws 4] [--rows 1500 5000 20000]

Generated cohorts of eight numbers, patients under observation for 30 to 730 days, and 0.8 events on
average: of a Poisson law, or "uneven" with rates that a gamma of shape 0.7 multiplies.  The declared
bound of events is 5, 20 or 50.  ε = 1, δ = 10⁻⁵ under zCDP, one patient added or removed, nothing
tuned; 4,000 others judge.  "explained" is the share of the Poisson deviance of the mean rate, 0 for
a model that only knows it and negative for a worse one; "rank" is Spearman's correlation with the
true log rate; the mean of the log ratio of predicted over true rates says whether the level is right.
X = n·p·√(2ρ)/d, p the mean of events over their bound.
"""

import argparse
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

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
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table

DELTA = Fraction("1e-5")
RHO = float(rho_for(Fraction(1), delta=DELTA))
TERMS, STEPS, LONGEST, MEAN = 8, 1000, 730, 0.8
BOUNDS = (5, 20, 50)
JUDGES = 4000


class Cohort:
    """Generated patients: terms in [-1, 1], days, events and the true log rate."""

    def __init__(self, n: int, *, uneven: bool, truth: np.ndarray, rng: np.random.Generator):
        self.steps = rng.binomial(STEPS, rng.beta(2, 2, (n, TERMS)))
        self.terms = 2 * self.steps / STEPS - 1
        self.days = rng.integers(30, LONGEST + 1, n)
        self.spent = self.days / LONGEST
        eta = self.terms @ truth
        self.eta = eta - math.log(float(np.mean(np.exp(eta) * self.spent))) + math.log(MEAN)
        times = rng.gamma(0.7, 1 / 0.7, n) if uneven else np.ones(n)
        self.events = rng.poisson(np.exp(self.eta) * self.spent * times)

    def part(self, chosen: slice) -> "Cohort":
        """Return some of them."""
        found = object.__new__(Cohort)
        for name, values in vars(self).items():
            setattr(found, name, values[chosen])
        return found


def declared(most: int, *, expected: int) -> tuple[Dataset, DescentAggregate]:
    """Return the data set and the model; in rounds where nothing is expected."""
    names = [f"x{i}" for i in range(TERMS)]
    numbers = [Column(name=n, source=n, kind=Kind.NUMBER, lower=0, upper=STEPS) for n in names]
    days = Column(name="days", source="days", kind=Kind.NUMBER, lower=1, upper=LONGEST, unit="d")
    events = Column(name="events", source="events", kind=Kind.NUMBER, lower=0, upper=most)
    table = Table(
        name="people",
        source="people",
        one_row_per_patient=True,
        columns=(*numbers, days, events),
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
    model = DescentAggregate(
        relation=Relation(table="people"),
        covariates=tuple(ColumnOf(table="people", column=name) for name in names),
        outcome=ColumnOf(table="people", column="events"),
        family=Family.POISSON,
        bounds=RowBound(max_rows=1),
        rounds=5,
        held_out=0,
        exposure=ColumnOf(table="people", column="days"),
    )
    wide = replace(model, rounds=WIDE_ROUNDS, expected=expected) if expected else model
    return dataset, wide


def private(
    cohort: Cohort, *, most: int, wide: bool, draws: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return the coefficients that predict, per follow-up of the longest, for each draw."""
    n = len(cohort.days)
    dataset, model = declared(most, expected=round(n * MEAN) if wide else 0)
    read = (*cohort.steps.T, np.minimum(cohort.events, most), cohort.days)
    columns = {"p": np.arange(n), "rk": np.ones(n), "fold": np.zeros(n)}
    columns |= {f"e{i}": values.astype(np.int64) for i, values in enumerate(read)}
    rows = DescentRows(model, columns, dataset=dataset)
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
        beta = told(model, noisy, sigma=sigma, dataset=dataset).model.predicting.copy()
        beta[0] += math.log(most)
        found.append(beta)
    return found


def plain(cohort: Cohort) -> np.ndarray:
    """Return coefficients by maximum likelihood."""
    x = np.column_stack([np.ones(len(cohort.days)), cohort.terms])
    beta = np.zeros(TERMS + 1)
    for _ in range(30):
        mean = cohort.spent * np.exp(np.clip(x @ beta, -20, 20))
        slope = x.T @ (mean[:, None] * x)
        beta = beta + np.linalg.solve(slope, x.T @ (cohort.events - mean))
    return beta


def deviance(events: np.ndarray, mean: np.ndarray) -> float:
    """Return half the Poisson deviance."""
    logs = np.log(np.where(events > 0, events, 1) / np.where(events > 0, mean, 1))
    return float((events * logs - events + mean).sum())


def judged(beta: np.ndarray, judge: Cohort) -> tuple[float, float, float]:
    """Return the explained share of the deviance, the rank, and how far the level is off."""
    eta = beta[0] + judge.terms @ beta[1:]
    mean = np.exp(np.clip(eta, -30, 30)) * judge.spent
    level = judge.spent * judge.events.sum() / judge.spent.sum()
    explained = 1 - deviance(judge.events, mean) / deviance(judge.events, level)
    order = [np.argsort(np.argsort(each)) for each in (eta, judge.eta)]
    rank = float(np.corrcoef(*order)[0, 1]) if np.std(eta) > 1e-9 else 0.0
    return explained, rank, math.log(mean.sum() / float((np.exp(judge.eta) * judge.spent).sum()))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cohorts", type=int, default=3)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--rows", type=int, nargs="*", default=[1500, 5000, 20000])
    parser.add_argument("--fits", nargs="*", default=["rounds", "wide"])
    given = parser.parse_args()
    print("| n, law | bound | X | no noise | " + " | ".join(given.fits) + " |")
    for n in given.rows:
        for uneven in (False, True):
            for most in BOUNDS:
                rng, of_noise = np.random.default_rng(1), np.random.default_rng(2)
                found: dict[str, list[tuple[float, float, float]]] = {}
                for _ in range(given.cohorts):
                    truth = rng.normal(0, 0.6, TERMS)
                    both = Cohort(n + JUDGES, uneven=uneven, truth=truth, rng=rng)
                    fitted, judge = both.part(slice(n)), both.part(slice(n, None))
                    fits = {"no noise": [plain(fitted)]}
                    for name in given.fits:
                        fits[name] = private(
                            fitted, most=most, wide=name == "wide", draws=given.draws, rng=of_noise
                        )
                    for name, betas in fits.items():
                        found.setdefault(name, []).extend(judged(b, judge) for b in betas)
                cells = [
                    "{:.3f}, {:.3f} ({:+.2f})".format(*np.mean(values, axis=0))
                    for values in found.values()
                ]
                law, ratio = "uneven" if uneven else "Poisson", n * MEAN / most * math.sqrt(2 * RHO)
                print(f"| {n:,}, {law} | {most} | {ratio / TERMS:.1f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
