"""Studies of a made-up clinic whose truth is known exactly, for coverage of combined intervals.

Ages are even inside their bins, as the synthetic rows have them, so that what is seen is the noise
and the sampling, and not the bias of a bin.  Death follows stage and sex by a logistic law whose
coefficients are the truth; shares and means are sums over every combination.  In the hard world one
patient in a hundred is of ward C, whose odds of death are higher, and ages are heaped at tens and
clipped at the last bound, so that a bin is anything but even.

Run: python tests/synthesis_coverage.py --out RUNS.jsonl --world plain --patients 1000 --runs 500
It goes on where it was stopped; with --table it prints what was found so far.
"""

import argparse
import functools
import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from confide.jobs.synthesis.analyses import AnalysisOf, LogisticIn, MeanIn, ShareIn
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
LAST = EDGES[-1]
RHO = {"1": Fraction(24355, 10**6), "1/4": Fraction(18015, 10**7)}
"""By ε, at δ = 1e-6."""


def chance_of_death(stage, sex):
    return 1 / (1 + np.exp(1.0 - 0.5 * stage + 0.6 * sex))


def hard_chance(ward, sex):
    return 1 / (1 + np.exp(1.0 - 0.8 * (ward == 2) + 0.6 * sex))


def drawn(n, *, start):
    """Return values of n patients of the plain world, by column."""
    rng = np.random.default_rng(start)
    age = rng.integers(EDGES[0], EDGES[-1] + 1, n)
    stage = np.clip((age - 20) // 20 + rng.integers(-1, 2, n), 0, 3)
    sex = rng.integers(0, 2, n)
    died = (rng.random(n) < chance_of_death(stage, sex)).astype(int)
    ward = np.where(rng.random(n) < 0.7, sex, 2)
    return {"age": age, "sex": sex, "stage": stage, "ward": ward, "died": died}


@functools.cache
def truth():
    """Return the exact value of every quantity of the plain world, by name."""
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
    return {
        "(intercept)": -1.0,
        "stage: II vs I": 0.5,
        "stage: III vs I": 1.0,
        "stage: IV vs I": 1.5,
        "sex: M vs F": -0.6,
        "share of died = yes": found["died"],
        "share of stage = III": found["n", 2],
        "share of died = yes where stage = IV": found["died", 3] / found["n", 3],
        "share of died = yes where II, F": found["died", 1, 0] / found["n", 1, 0],
        "mean of age": found["age"],
        "mean of age where stage = II": found["age", 1] / found["n", 1],
    }


@functools.cache
def hard_ages():
    """Return ages and their chances: three in ten told in tens, one in twenty at the last bound."""
    ages = np.arange(EDGES[0], LAST + 1)
    plain = np.exp(-(((ages - 62) / 20) ** 2) / 2)
    heaped = 0.7 * plain
    tens = np.round(ages / 10).astype(int) * 10
    for ten in np.unique(tens):
        heaped[ages == ten] += 0.3 * plain[tens == ten].sum()
    heaped /= heaped.sum() / 0.95
    heaped[-1] += 0.05
    return ages, heaped


def hard_drawn(n, *, start):
    """Return values of n patients of the hard world, by column."""
    rng = np.random.default_rng(start)
    ages, chances = hard_ages()
    age = rng.choice(ages, n, p=chances)
    stage = np.clip((age - 20) // 20 + rng.integers(-1, 2, n), 0, 3)
    sex = rng.integers(0, 2, n)
    ward = np.where(rng.random(n) < 0.01, 2, rng.integers(0, 2, n))
    died = (rng.random(n) < hard_chance(ward, sex)).astype(int)
    return {"age": age, "sex": sex, "stage": stage, "ward": ward, "died": died}


@functools.cache
def hard_truth():
    """Return the exact value of every quantity of the hard world, by name."""
    ages, chances = hard_ages()
    sexes = np.array([0, 1])
    by_ward = {ward: hard_chance(ward, sexes).mean() for ward in (0, 1, 2)}
    of_wards = {0: 0.495, 1: 0.495, 2: 0.01}
    return {
        "(intercept)": -1.0,
        "ward: B vs A": 0.0,
        "ward: C vs A": 0.8,
        "sex: M vs F": -0.6,
        "share of died = yes": sum(of_wards[w] * by_ward[w] for w in of_wards),
        "share of ward = C": 0.01,
        "share of died = yes where ward = C": by_ward[2],
        "share of died = yes where ward = A": by_ward[0],
        "mean of age": float(ages @ chances),
        "share of 65 or older": float(chances[ages >= 65].sum()),
    }


def older(table):
    share = float((table["age"] >= 65).mean())
    return {"share of 65 or older": (share, share * (1 - share) / len(table["age"]))}


@dataclass(frozen=True)
class World:
    drawn: Callable
    truth: Callable
    together: tuple
    asked: tuple
    epsilon: str = "1"

    def job(self, n):
        spec = job(rho=RHO[self.epsilon], rows=n, together=self.together)
        age = BinOf(of=ColumnOf(table="people", column="age"), edges=EDGES)
        return replace(spec, reads=replace(spec.reads, reads=(age, *spec.reads.reads[1:])))


PLAIN = World(
    drawn=drawn,
    truth=truth,
    together=(("stage", "sex", "died"), ("age", "stage")),
    asked=(
        ShareIn(column="died", value="yes"),
        ShareIn(column="stage", value="III"),
        ShareIn(column="died", value="yes", where={"stage": "IV"}),
        ShareIn(column="died", value="yes", where={"stage": "II", "sex": "F"}),
        MeanIn(column="age"),
        MeanIn(column="age", where={"stage": "II"}),
        LogisticIn(outcome="died", value="yes", terms=("stage", "sex"), labels={"stage": STAGES}),
    ),
)
HARD = World(
    drawn=hard_drawn,
    truth=hard_truth,
    together=(("ward", "sex", "died"), ("age", "stage")),
    asked=(
        ShareIn(column="died", value="yes"),
        ShareIn(column="ward", value="C"),
        ShareIn(column="died", value="yes", where={"ward": "C"}),
        ShareIn(column="died", value="yes", where={"ward": "A"}),
        MeanIn(column="age"),
        AnalysisOf(columns=("age",), analyse=older),
        LogisticIn(
            outcome="died",
            value="yes",
            terms=("ward", "sex"),
            labels={"ward": ("A", "B", "C"), "sex": ("F", "M")},
        ),
    ),
)
WORLDS: Mapping[str, World] = {
    "plain": PLAIN,
    "little": replace(PLAIN, epsilon="1/4"),
    "hard": HARD,
    "hard-little": replace(HARD, epsilon="1/4"),
}


@dataclass
class Coverage:
    """Counts by quantity."""

    world: World = PLAIN
    runs: int = 0
    told: dict = field(default_factory=lambda: defaultdict(int))
    held: dict = field(default_factory=lambda: defaultdict(int))
    naive: dict = field(default_factory=lambda: defaultdict(int))
    wider: dict = field(default_factory=lambda: defaultdict(int))
    drowned: dict = field(default_factory=lambda: defaultdict(int))
    width: dict = field(default_factory=lambda: defaultdict(float))
    no_privacy: dict = field(default_factory=lambda: defaultdict(float))

    @property
    def refused(self):
        of = self.runs * len(self.world.truth())
        return of - sum(self.told.values()) - sum(self.drowned.values())

    def add(self, found):
        """Count what one study found, by quantity."""
        self.runs += 1
        for name, true in self.world.truth().items():
            if name not in found:
                continue
            each = found[name]
            if each.get("drowned"):  # said so, and no interval to go by
                self.drowned[name] += 1
                continue
            self.told[name] += 1
            self.held[name] += each["lower"] <= true <= each["upper"]
            self.wider[name] += each["wider"]
            self.width[name] += each["upper"] - each["lower"]
            self.no_privacy[name] += 2 * 1.96 * each["plain"][1] ** 0.5
            value, variance = each["naive"]
            self.naive[name] += abs(value - true) <= 1.96 * variance**0.5

    def share(self, counts):
        """Return the mean over quantities of the share of intervals of which something holds."""
        return float(np.mean([counts[n] / self.told[n] for n in self.told]))

    def lines(self):
        """Return a table for people."""
        yield "| quantity | combined | naive, one table | width | wider and said so | drowned and said so | told |"
        yield "|---|---|---|---|---|---|---|"
        for name in self.world.truth():
            many = max(1, self.told[name])
            times = self.width[name] / max(self.no_privacy[name], 1e-12)
            yield (
                f"| {name} | {self.held[name] / many:.3f} | {self.naive[name] / many:.3f} | "
                f"× {times:.2f} | {self.wider[name] / many:.3f} | {self.drowned[name]} | "
                f"{self.told[name]} |"
            )


def told(name, analysis):
    """Return the name of a quantity with its group."""
    where = getattr(analysis, "where", {})
    if not where:
        return name
    shown = next(iter(where.items())) if len(where) == 1 else None
    return f"{name} where " + (f"{shown[0]} = {shown[1]}" if shown else ", ".join(where.values()))


def study(n, *, number, tables=20, world=PLAIN):
    """Run one study, exact noise and all; return what it says of each quantity."""
    spec, rows = world.job(n), world.drawn(n, start=number)
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
    result = {}
    for analysis in world.asked:
        try:
            alone = analysis.of(one)
            plain = analysis.of(own)
            intervals = combined(many, analysis, cliques=cliques)
        except ValueError:
            continue
        for each in intervals:
            result[told(each.quantity, analysis)] = {
                "value": each.value,
                "error": each.standard_error,
                "degrees": each.degrees,
                "lower": each.lower,
                "upper": each.upper,
                "wider": each.wider,
                "drowned": each.drowned,
                "naive": alone[each.quantity],
                "plain": plain[each.quantity],
            }
    return result


def counted(lines, *, world):
    """Return the coverage of studies that were written as lines of JSON."""
    found = Coverage(world=world)
    for line in lines:
        found.add(json.loads(line)["found"])
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", choices=sorted(WORLDS), default="plain")
    parser.add_argument("--patients", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--out", type=Path, required=True, help="a line of JSON a study")
    parser.add_argument("--table", action="store_true", help="run nothing more")
    asked = parser.parse_args()
    kept = asked.out.read_text().splitlines() if asked.out.is_file() else []
    with asked.out.open("a") as out:
        for each in range(len(kept), 0 if asked.table else asked.runs):
            world = WORLDS[asked.world]
            found = study(asked.patients, number=each, world=world)
            kept.append(json.dumps({"number": each, "found": found}, default=float))
            out.write(kept[-1] + "\n")
            out.flush()
    of = counted(kept, world=WORLDS[asked.world])
    sys.stdout.write(
        f"{asked.world}, {asked.patients} patients, {of.runs} studies: combined "
        f"{of.share(of.held):.3f}, naive {of.share(of.naive):.3f}, not told {of.refused}\n"
    )
    sys.stdout.write("\n".join(of.lines()) + "\n")
