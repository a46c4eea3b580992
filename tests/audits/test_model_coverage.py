"""Intervals of coefficients of models in rounds: how often they hold the truth, sampling and noise.

Three families and three sizes, each at a loss that such a size is fitted with; the long form takes
2,000 cohorts of each.  ``python tests/audits/test_model_coverage.py 2000`` prints the rows of
docs/reference/benchmarks-models.md.  Several classes: test_multinomial_regression.py.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import person_time
from confide.plans import descent
from confide.plans.model_fit import DROWNED, fitted
from confide.rows.descent import DescentRows
from confide.tables.descent import DescentAggregate, Family
from confide.tables.descent_scale import scale_of
from models import AGGREGATE, NAMES, TRUTH, cohort
from person_time import (
    COUNT_TRUTH,
    COUNTS,
    EDGES,
    HAZARD_TRUTH,
    HAZARDS,
    MOST,
    RATES,
    columns_of,
    counted,
    followed,
    in_rounds,
)

SIZES = ((1_000, 0.5), (2_000, 0.2), (10_000, 0.0305))
"""Patients and ρ: at δ = 10⁻⁵ these are ε = 4.7, 2.8 and 1."""
RUNS = 2_000
LOW, HIGH = 0.92, 0.98
Z = 1.959964


@dataclass(frozen=True)
class Case:
    """A family with cohorts whose coefficients are known."""

    aggregate: DescentAggregate
    make: Callable
    truth: np.ndarray


CASES = {
    Family.LOGISTIC: Case(AGGREGATE, cohort, TRUTH),
    Family.POISSON: Case(
        COUNTS, counted, COUNT_TRUTH + np.array([math.log(730 / 365 / MOST), 0, 0, 0, 0])
    ),
    Family.HAZARD: Case(
        HAZARDS, followed, np.concatenate([np.log(RATES * EDGES[-1] / 365), HAZARD_TRUTH])
    ),
}


def columns(people, aggregate):
    if aggregate.family is not Family.LOGISTIC:
        return columns_of(people, aggregate=aggregate)
    n = len(people["age"])
    named = {f"e{i}": people[name] for i, name in enumerate((*NAMES, "ill"))}
    return {"p": np.arange(n), "rk": np.ones(n), "fold": np.full(n, 999)} | named


def cover(family, *, n, rho, runs):
    """Return per coefficient how often its interval holds the truth, and how often there is one."""
    case, to = CASES[family], person_time.world()
    rng = np.random.default_rng(n)
    sigma = math.sqrt(scale_of(case.aggregate, dataset=to).l2_squared / (2 * rho))
    held, shown = np.zeros(len(case.truth)), np.zeros(len(case.truth))
    for _ in range(runs):
        rows = DescentRows(case.aggregate, columns(case.make(n, rng), case.aggregate), dataset=to)
        answers = in_rounds(rows, aggregate=case.aggregate, sigma=sigma, to=to, rng=rng)
        found = fitted(case.aggregate, answers, sigma=sigma, dataset=to)
        error = Z * np.sqrt(np.maximum(found.sampling, 0) + found.noise)
        given = (found.drowned <= DROWNED) & found.usable
        held += given & (np.abs(found.coefficients - case.truth) < error)
        shown += given
    return held / np.maximum(shown, 1), shown / runs


@pytest.fixture
def one_scale(monkeypatch):
    """Work the public multipliers out once; they depend on the aggregate and the dataset alone."""
    known = {}

    def once(aggregate, *, dataset):
        if aggregate not in known:
            known[aggregate] = scale_of(aggregate, dataset=dataset)
        return known[aggregate]

    monkeypatch.setattr(descent, "scale_of", once)


@pytest.mark.parametrize("family", CASES, ids=lambda family: family.value)
def test_intervals_of_every_family_cover_sampling_and_noise(one_scale, family):
    held, shown = cover(family, n=1_000, rho=0.5, runs=50)
    assert (shown > 0.7).all()
    assert held.mean() == pytest.approx(0.95, abs=0.04)


@pytest.mark.audit
@pytest.mark.parametrize(("n", "rho"), SIZES)
@pytest.mark.parametrize("family", CASES, ids=lambda family: family.value)
def test_coverage_of_coefficients_is_within_92_and_98_percent(one_scale, family, n, rho):
    held, shown = cover(family, n=n, rho=rho, runs=RUNS)
    assert (shown > 0.7).all()
    assert ((held > LOW) & (held < HIGH)).all(), held


def main(runs: int) -> None:
    """Print the rows of the table."""
    for family in CASES:
        for n, rho in SIZES:
            held, shown = cover(family, n=n, rho=rho, runs=runs)
            each = ", ".join(f"{share:.3f}" for share in held)
            row = f"| {family.value} | {n:,} | {rho:g} | {each} | {shown.min():.2f} |\n"
            sys.stdout.write(row)


if __name__ == "__main__":
    main(int(sys.argv[1]))
