"""Studies of a made-up clinic whose truth is known exactly, for coverage of combined intervals.

Ages are even inside their bins, as the synthetic rows have them, so that what is seen is the noise
and the sampling, and not the bias of a bin.  Death follows stage and sex by a logistic law whose
coefficients are the truth; shares and means are sums over every combination.

Run: python tests/synthesis_coverage.py PATIENTS [--runs 500]
"""

import argparse
import functools
import itertools
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from confide.jobs.synthesis.analyses import LogisticIn, MeanIn, ShareIn
from confide.jobs.synthesis.combine import combined
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.jobs.synthesis.tables import synthetic
from confide.jobs.synthesis.values import values_of_levels
from confide.plans.simulation import Simulation
from confide.privacy.adjacency import Adjacency
from confide.tables.expression import BinOf, ColumnOf
from seeded import SeededEntropy
from synthesis_world import dataset, job, measured, records

STAGES = ("I", "II", "III", "IV")
EDGES = (20, 35, 50, 65, 80, 94)
LOG_ODDS = {
    "(intercept)": -1.0,
    "stage: II vs I": 0.5,
    "stage: III vs I": 1.0,
    "stage: IV vs I": 1.5,
    "sex: M vs F": -0.6,
}
RHO_OF_EPSILON_1 = Fraction(24355, 10**6)
"""At δ = 1e-6."""
ASKED = (
    ShareIn(column="died", value="yes"),
    ShareIn(column="stage", value="III"),
    ShareIn(column="died", value="yes", where={"stage": "IV"}),
    ShareIn(column="died", value="yes", where={"stage": "II", "sex": "F"}),
    MeanIn(column="age"),
    MeanIn(column="age", where={"stage": "II"}),
    LogisticIn(outcome="died", value="yes", terms=("stage", "sex"), labels={"stage": STAGES}),
)


def chance_of_death(stage, sex):
    return 1 / (1 + np.exp(1.0 - 0.5 * stage + 0.6 * sex))


def drawn(n, *, start):
    """Return values of n patients, by column."""
    rng = np.random.default_rng(start)
    age = rng.integers(EDGES[0], EDGES[-1] + 1, n)
    stage = np.clip((age - 20) // 20 + rng.integers(-1, 2, n), 0, 3)
    sex = rng.integers(0, 2, n)
    died = (rng.random(n) < chance_of_death(stage, sex)).astype(int)
    ward = np.where(rng.random(n) < 0.7, sex, 2)
    return {"age": age, "sex": sex, "stage": stage, "ward": ward, "died": died}


@functools.cache
def truth():
    """Return the exact value of every quantity, by name."""
    found = defaultdict(float)
    # Inside a bin the model knows no age, so the mean age of a stage is that of its bins.
    ages = np.arange(EDGES[0], EDGES[-1] + 1)
    bins = np.digitize(ages, EDGES[1:-1])
    middles = np.array([ages[bins == b].mean() for b in range(len(EDGES) - 1)])
    for (age, of), step, sex in itertools.product(zip(ages, bins, strict=True), (-1, 0, 1), (0, 1)):
        stage, share = min(3, max(0, (age - 20) // 20 + step)), 1 / (ages.size * 6)
        dies = share * chance_of_death(stage, sex)
        found["died"] += dies
        found["age"] += share * age
        found["n", stage] += share
        found["died", stage] += dies
        found["age", stage] += share * middles[of]
        found["n", stage, sex] += share
        found["died", stage, sex] += dies
    return LOG_ODDS | {
        "share of died = yes": found["died"],
        "share of stage = III": found["n", 2],
        "share of died = yes where stage = IV": found["died", 3] / found["n", 3],
        "share of died = yes where II, F": found["died", 1, 0] / found["n", 1, 0],
        "mean of age": found["age"],
        "mean of age where stage = II": found["age", 1] / found["n", 1],
    }


def job_of(n, *, rho=RHO_OF_EPSILON_1):
    together = (("stage", "sex", "died"), ("age", "stage"))
    spec = job(rho=rho, rows=n, together=together)
    age = BinOf(of=ColumnOf(table="people", column="age"), edges=EDGES)
    return replace(spec, reads=replace(spec.reads, reads=(age, *spec.reads.reads[1:])))


@dataclass
class Coverage:
    """Counts by quantity."""

    runs: int = 0
    held: dict = field(default_factory=lambda: defaultdict(int))
    naive: dict = field(default_factory=lambda: defaultdict(int))
    wider: dict = field(default_factory=lambda: defaultdict(int))
    width: dict = field(default_factory=lambda: defaultdict(float))
    no_privacy: dict = field(default_factory=lambda: defaultdict(float))
    refused: int = 0

    def lines(self):
        """Return a table for people."""
        head = "| quantity | combined | naive, one table | width | wider and said so |"
        yield from (head, "|---|---|---|---|---|")
        for name in truth():
            times = self.width[name] / self.no_privacy[name]
            yield (
                f"| {name} | {self.held[name] / self.runs:.3f} | "
                f"{self.naive[name] / self.runs:.3f} | × {times:.2f} | "
                f"{self.wider[name] / self.runs:.3f} |"
            )


def told(name, analysis):
    """Return the name of a quantity with its group."""
    where = getattr(analysis, "where", {})
    if not where:
        return name
    shown = next(iter(where.items())) if len(where) == 1 else None
    return f"{name} where " + (f"{shown[0]} = {shown[1]}" if shown else ", ".join(where.values()))


def study(n, *, number, tables=20, into=None):
    """Run one study, exact noise and all, and count what covers."""
    into = into or Coverage()
    spec, rows = job_of(n), drawn(n, start=number)
    codes = [np.digitize(rows["age"], EDGES[1:-1]), *(rows[c] for c in spec.columns[1:])]
    levels = np.column_stack(codes)
    patients = records(spec, np.column_stack([np.arange(n), levels]))
    files = measured(spec, dataset(), patients, entropy=SeededEntropy(number))
    found = synthetic(
        read_measured(files[MEASURED], spec=spec, adjacency=Adjacency.ADD_REMOVE),
        digest=f"{number:08d}",
    )
    coins, of = Simulation(payload_digest=f"{number:08d}").generator("values"), dataset()

    def values(table):
        return values_of_levels(
            table, columns=spec.columns, reads=spec.reads.reads, dataset=of, generator=coins
        )

    many = [values(found.refitted(each)) for each in range(1, tables + 1)]
    one, own = values(found.table()), values(levels)
    cliques = [[spec.columns[v] for v in clique] for clique in found.measured.cliques]
    true = truth()
    into.runs += 1
    for analysis in ASKED:
        try:
            alone = analysis.of(one)
            plain = analysis.of(own)
            intervals = combined(many, analysis, cliques=cliques)
        except ValueError:
            into.refused += 1
            continue
        for each in intervals:
            name = told(each.quantity, analysis)
            into.held[name] += each.lower <= true[name] <= each.upper
            into.wider[name] += each.wider
            into.width[name] += each.upper - each.lower
            into.no_privacy[name] += 2 * 1.96 * plain[each.quantity][1] ** 0.5
            value, variance = alone[each.quantity]
            into.naive[name] += abs(value - true[name]) <= 1.96 * variance**0.5
    return into


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patients", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", type=Path, help="counts as JSON, to be added up with others")
    asked = parser.parse_args()
    counted = Coverage()
    for each in range(asked.first, asked.first + asked.runs):
        study(asked.patients, number=each, into=counted)
        if asked.out and (each + 1) % 5 == 0:
            asked.out.write_text(json.dumps(vars(counted), default=int))
    sys.stdout.write(f"{counted.runs} runs, refused {counted.refused}\n")
    sys.stdout.write("\n".join(counted.lines()) + "\n")
