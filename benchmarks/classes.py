"""Several classes, of which one is rare: rounds against the fit that wide models have.

Run: python benchmarks/classes.py [--rows 2000 5000] [--terms 5 10 20] [--classes 3 4]
     [--rarest 0.03] [--cohorts 3] [--draws 3] [--first 0]

At ε = 1, δ = 10⁻⁵ (ρ = .0288).  Generated cohorts have half numbers and half indicators, each
correlated by a half with the one before, a third of them without effect on a class; log odds of a
class against the first have a standard deviation of 1.  6,000 other patients judge.  What fits is
what the gate runs, with continuous noise; no noise is maximum likelihood with a ridge of 1.  For
each fit the share of the deviance of the classes' shares that is explained, and of the rarest class
against the rest: AUC (calibration slope), and predicted over observed, with its standard deviation.
Of rounds also how many odds ratios of the rarest class are printed, and how many of these cover.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from cohorts.features import Cohort
from wide_models import MU, RHO, judged

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.rounds.class_walk import walk_classes
from confide.plans.rounds.classes import by_class
from confide.plans.rounds.descent import walk
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.rounds.model_estimates import Published
from confide.plans.rounds.model_fit import fitted_classes
from confide.privacy.loss import ZeroConcentratedDP
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import UNIT, Family
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from confide.tables.expression import ColumnOf
from confide.tables.schema import Column, Dataset, Kind
from models import STEPS, declared

JUDGES = 6_000
COMMON = {3: (0.7, 0.3), 4: (0.6, 0.27, 0.13), 5: (0.5, 0.25, 0.15, 0.1)}
"""Of the classes beside the rarest, how they share the rest."""


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


class World:
    """A truth, and cohorts of it.

    Attributes:
        truth: Coefficients by class, intercept first; the first class has none.
    """

    def __init__(self, seed: int, *, terms: int, classes: int, rarest: float) -> None:
        rng = np.random.default_rng([54, seed, terms, classes])
        self.cuts, self.numbers = rng.uniform(0, 1.3, terms), np.arange(terms) % 2 == 0
        known = rng.random((classes, terms)) > 1 / 3
        known[:, rng.integers(terms)] = True
        slopes = rng.normal(0, 1, (classes, terms)) * known * np.where(self.numbers, 3, 1)
        slopes[0] = 0
        values = self.values(JUDGES, rng)
        slopes[1:] /= (values @ slopes[1:].T).std(axis=0)[:, None]
        shares = np.array([*(np.array(COMMON[classes]) * (1 - rarest)), rarest])
        levels, scores = np.log(shares), values @ slopes.T
        for _ in range(200):
            levels = levels + np.log(shares / softmax(levels + scores).mean(axis=0))
        self.truth = np.column_stack([levels - levels[0], slopes])

    def values(self, n: int, rng: np.random.Generator) -> np.ndarray:
        normal = rng.normal(size=(n, len(self.cuts)))
        for j in range(1, len(self.cuts)):
            normal[:, j] = normal[:, j - 1] / 2 + math.sqrt(3) / 2 * normal[:, j]
        steps = np.rint((np.clip(normal / 3, -1, 1) + 1) / 2 * STEPS)
        return np.where(self.numbers, 2 * steps / STEPS - 1, normal > self.cuts)

    def drawn(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return terms, intercept first, and classes."""
        x = np.column_stack([np.ones(n), self.values(n, rng)])
        below = softmax(x @ self.truth.T).cumsum(axis=1)
        classes = (rng.random(n)[:, None] > below).sum(axis=1)
        return x, np.minimum(classes, len(self.truth) - 1)

    def declared(self) -> tuple[Dataset, DescentAggregate]:
        of = Cohort("classes", np.zeros(2, int))
        for j, number in enumerate(self.numbers):
            if number:
                of.number(f"x{j}", np.zeros(2), -1, 1)
            else:
                of.indicator(f"x{j}", np.zeros(2))
        to, aggregate, _ = declared(of)
        many = len(self.truth)
        stage = Column(
            name="stage",
            kind=Kind.CATEGORY,
            source="stage",
            lower=0,
            upper=many - 1,
            keys=tuple(f"stage {k}" for k in range(many)),
            codes=tuple((str(k), k) for k in range(many)),
        )
        (table,) = to.tables
        columns = (*table.columns[:-1], stage)
        return replace(to, tables=(replace(table, columns=columns),)), replace(
            aggregate,
            family=Family.MULTINOMIAL,
            outcome=ColumnOf(table="t", column="stage"),
            classes=many,
        )

    def columns(self, x: np.ndarray, classes: np.ndarray) -> dict[str, np.ndarray]:
        n = len(x)
        values = np.where(self.numbers, np.rint((x[:, 1:] + 1) / 2 * STEPS), x[:, 1:])
        found = {f"e{j}": each for j, each in enumerate(values.astype(np.int64).T)}
        found |= {f"e{len(self.numbers)}": classes.astype(np.int64)}
        return found | {"p": np.arange(n), "rk": np.ones(n, int), "fold": np.full(n, 999)}


def without_noise(x: np.ndarray, classes: np.ndarray, *, many: int) -> np.ndarray:
    """Return maximum likelihood with a ridge of 1; shape (K, d + 1)."""
    d, of = x.shape[1], np.eye(many)[classes]
    theta, ridge = np.zeros((many, d)), np.eye(d)
    ridge[0, 0] = 1e-6
    for _ in range(40):
        p = softmax(x @ theta.T)
        gradient = (of - p).T @ x - theta @ ridge
        curve = np.kron(np.eye(many), ridge) + 1e-6 * np.eye(many * d)
        for a in range(many):
            for b in range(many):
                weight = p[:, a] * ((a == b) - p[:, b])
                curve[a * d : (a + 1) * d, b * d : (b + 1) * d] += (x * weight[:, None]).T @ x
        step = np.linalg.solve(curve, gradient.ravel()).reshape(many, d)
        far = float(np.abs(step).max())
        theta = theta + step * min(1.0, 2 / max(1e-9, far))
        if far < 1e-4:
            break
    return theta


def answered(
    aggregate: DescentAggregate,
    columns: dict[str, np.ndarray],
    *,
    to: Dataset,
    rng: np.random.Generator,
) -> tuple[tuple[int, ...], float]:
    """Return noisy answers, and their noise's standard deviation."""
    squared = descent_sensitivity(aggregate, dataset=to).l2_squared
    noise = DiscreteGaussian.calibrate(
        ZeroConcentratedDP(rho=Fraction(str(RHO))), l2_squared=squared
    )
    rows, sigma = DescentRows(aggregate, columns, dataset=to), math.sqrt(noise.variance())
    noisy: tuple[int, ...] = ()
    while ask := ask_in_turn(aggregate, noisy, mechanism=noise, dataset=to):
        exact = rows.answer(ask)
        drawn = rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, drawn, strict=True))
    return noisy, sigma


def told(theta: np.ndarray, x: np.ndarray, classes: np.ndarray) -> tuple[float, ...]:
    """Return deviance explained, and AUC, slope and level of the last class."""
    p, n = np.clip(softmax(x @ theta.T), 1e-12, 1), len(x)
    shares = np.bincount(classes, minlength=len(theta)) / n
    explained = 1 - np.log(p[np.arange(n), classes]).mean() / (shares @ np.log(shares))
    last = p[:, -1]
    auc, slope = judged(np.log(last / np.maximum(1 - last, 1e-12)), (classes == len(theta) - 1) * 1)
    return float(explained), auc, slope, float(last.mean() / shares[-1])


def fits(
    world: World, n: int, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray, list[bool], int]]:
    """Yield each fit, and of rounds which printed odds ratios of the last class cover the truth."""
    x, classes = world.drawn(n, rng)
    to, rounds = world.declared()
    many, columns = len(world.truth), world.columns(x, classes)
    yield "no noise", without_noise(x, classes, many=many), [], 0
    noisy, sigma = answered(rounds, columns, to=to, rng=rng)
    walked = walk(rounds, noisy, sigma=sigma, dataset=to)
    found = fitted_classes(rounds, noisy, reference=0, sigma=sigma, dataset=to)
    say, covers = Published(statistic="s", ratio="odds ratio", level=0.95), []
    size = x.shape[1]
    for place in range((many - 2) * size + 1, (many - 1) * size):
        ratio, *_ = say.of_term(found, place, key=("t",), step=(1.0, "1"), slope=True)
        if ratio.lower is not None and ratio.upper is not None:
            truth = math.exp(world.truth[-1, place - (many - 2) * size])
            covers.append(ratio.lower <= truth <= ratio.upper)
    yield (
        "rounds",
        by_class(walked.theta, classes=many) @ (walked.whitened.matrix.T / UNIT),
        covers,
        size - 1,
    )
    wide = replace(rounds, rounds=WIDE_ROUNDS, expected=n)
    noisy, sigma = answered(wide, columns, to=to, rng=rng)
    scale = wide_scale_of(wide, dataset=to)
    yield "wide", walk_classes(scale, noisy, sigma=sigma).coefficients, [], 0


def main() -> None:
    """Print all cohorts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[2_000, 5_000, 10_000, 20_000])
    parser.add_argument("--terms", type=int, nargs="*", default=[5, 10, 20])
    parser.add_argument("--classes", type=int, nargs="*", default=[3, 4])
    parser.add_argument("--rarest", type=float, default=0.03)
    parser.add_argument("--cohorts", type=int, default=3)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    print("| n × d, classes | X | no noise | rounds | wide | printed of rounds (cover) |")
    print("|---|---|---|---|---|---|")
    for many in given.classes:
        for terms in given.terms:
            for n in given.rows:
                found: dict[str, list[tuple[float, ...]]] = {}
                covers, asked = [], 0
                for seed in range(given.first, given.first + given.cohorts):
                    world = World(seed, terms=terms, classes=many, rarest=given.rarest)
                    judges = world.drawn(JUDGES, np.random.default_rng([1, seed]))
                    for draw in range(given.draws):
                        rng = np.random.default_rng([2, seed, draw, n])
                        for name, theta, which, of in fits(world, n, rng):
                            found.setdefault(name, []).append(told(theta, *judges))
                            covers, asked = covers + which, asked + of
                cells = []
                for each in found.values():
                    mean, spread = np.nanmean(each, axis=0), np.nanstd(each, axis=0)
                    cells.append(
                        f"{mean[0]:.3f}; {mean[1]:.3f} ({mean[2]:.2f}); {mean[3]:.2f} ± "
                        f"{spread[3]:.2f}"
                    )
                share = f"{np.mean(covers):.2f}" if covers else "–"
                ratio = n * given.rarest * MU / terms
                print(
                    f"| {n} × {terms}, {many} | {ratio:.1f} | {' | '.join(cells)} "
                    f"| {len(covers)} of {asked} ({share}) |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
