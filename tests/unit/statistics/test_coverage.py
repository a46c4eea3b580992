"""Every printed interval covers what it says it covers, as often as it says.

Truths are fixed rows where the interval covers noise, and the superpopulation where it covers
sampling too; then each run draws other rows.  With 2,000 runs a coverage of 0.95 is found within
0.933 and 0.967; upper limits are wider where the lattice or a cut at a bound adds coverage, and the
case says so.  ``audit`` repeats all of it with five times the runs and closer limits: of a coverage
of 0.93 that is meant to be 0.95 they find 99.8 %.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from confide.plans.estimates import Covers, Estimate
from confide.plans.plan import Statistic
from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.statistics import Count, Histogram, Mean, Proportion, Quantiles, Sum, Variance
from confide.tables.expression import ColumnOf
from confide.tables.filter import IsIn
from confide.tables.schema import Dataset
from noisy_answers import dataset, draws, estimate, mechanisms, moments

RUNS = 2000
SPEND = {Measure.PURE: Fraction(1), Measure.ZCDP: Fraction(1, 20)}
SETTINGS = [
    pytest.param(dataset(measure=m, adjacency=a), id=f"{m.value}-{a.value}")
    for m in Measure
    for a in Adjacency
]
TWO_SETTINGS = [SETTINGS[0], SETTINGS[2]]
DIABETES = IsIn(of=ColumnOf(table="participants", column="diabetes"), values=(1,))
AUDIT = pytest.param(5, marks=pytest.mark.audit, id="audit")
TIMES = pytest.mark.parametrize("times", [pytest.param(1, id="quick"), AUDIT])


def coverage(
    statistic: Statistic,
    exact: object,
    truth: Callable[[Estimate, int], float],
    *,
    to: Dataset,
    runs: int,
) -> dict[str, float]:
    """Return the share of intervals that hold the truth, by quantity and what is covered."""
    noise = mechanisms(statistic, to=to, spend=SPEND[to.measure])
    hits: dict[str, int] = {}
    seed = 5 + sum(map(ord, statistic.id)) + len(str(exact))
    for run, noisy in enumerate(draws(exact, noise=noise, runs=runs, seed=seed)):
        for found in estimate(statistic, noisy, to=to, noise=noise):
            true = truth(found, run)
            name = f"{found.quantity}, {found.covers.value}"
            covered = found.lower - 1e-9 <= true <= found.upper + 1e-9
            hits[name] = hits.get(name, 0) + covered
    return {name: hit / runs for name, hit in hits.items()}


def assert_covers(found: dict[str, float], *, most: float, runs: int):
    slack = 3.5 * math.sqrt(0.95 * 0.05 / runs)
    for name, share in found.items():
        assert 0.945 - slack <= share <= most + slack, (name, share)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("to", SETTINGS)
@pytest.mark.parametrize("people", [0, 3, 700])
@TIMES
def test_a_count_is_covered_and_its_lattice_adds_little(to, people, times):
    runs = RUNS * times
    spec = Count(id="c", table="participants")
    found = coverage(spec, {"count": (people,)}, lambda *_: people, to=to, runs=runs)
    # the atom P(|Z| = w) of the least w with P(|Z| ≤ w) ≥ 0.95, and the cut at 0 for no people
    assert_covers(found, most=0.975 if people else 1.0, runs=runs)


@pytest.mark.parametrize("to", TWO_SETTINGS)
@TIMES
def test_a_rounded_histogram_cell_is_covered(to, times):
    runs = RUNS * times
    spec = Histogram(id="h", table="participants", by=("diabetes",), round_to=5)
    truth = {"no": 413, "yes": 87}
    found = coverage(
        spec,
        {"count": tuple(truth.values())},
        lambda e, _: truth[e.key[0]],
        to=to,
        runs=runs,
    )
    assert_covers({k: v / 2 for k, v in found.items()}, most=1.0, runs=runs)


@pytest.mark.parametrize("to", TWO_SETTINGS)
@TIMES
def test_a_sum_is_covered(to, times):
    spec = Sum(id="s", table="participants", column="age")
    found = coverage(spec, {"sum": (41_733,)}, lambda *_: 41_733, to=to, runs=RUNS * times)
    assert_covers(found, most=0.955, runs=RUNS * times)


def pressures(size: object, *, skewed: bool) -> np.ndarray:
    rng = np.random.default_rng(3)
    drawn = 80 + rng.exponential(20, size) if skewed else rng.normal(125, 20, size)
    return np.clip(np.rint(drawn), 80, 200).astype(np.int64)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("to", SETTINGS)
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("rows", [60, 5000])
@TIMES
def test_the_mean_of_the_rows_is_covered(to, skewed, rows, times):
    x = pressures(rows, skewed=skewed)
    exact = {
        "distances": moments(x, lower=80, upper=200, degree=1),
        "sum": (int((x - 140).sum()),),
        "count": (rows,),
    }
    spec = Mean(id="m", table="participants", column="pressure")
    found = coverage(spec, exact, lambda *_: x.mean(), to=to, runs=RUNS * times)
    assert_covers(found, most=0.965, runs=RUNS * times)


@pytest.mark.parametrize("to", SETTINGS)
@pytest.mark.parametrize("rows", [10, 20])
@TIMES
def test_the_mean_of_very_few_rows_is_covered_by_wide_intervals(to, rows, times):
    x = pressures(rows, skewed=False)
    exact = {
        "distances": moments(x, lower=80, upper=200, degree=1),
        "sum": (int((x - 140).sum()),),
        "count": (rows,),
    }
    spec = Mean(id="m", table="participants", column="pressure")
    found = coverage(spec, exact, lambda *_: x.mean(), to=to, runs=RUNS * times)
    assert_covers(found, most=1.0, runs=RUNS * times)  # Fieller's set is often all of [L, U]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("to", SETTINGS)
@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("rows", [60, 1000])
@TIMES
def test_the_sd_of_the_rows_and_the_mean_of_their_population_are_covered(to, skewed, rows, times):
    runs = RUNS * times
    drawn = pressures((runs, rows), skewed=skewed)
    population = pressures(2_000_000, skewed=skewed).mean()
    worlds = [{"moments": moments(x, lower=80, upper=200, degree=2)} for x in drawn]
    spec = Variance(id="v", table="participants", column="pressure")
    found = coverage(
        spec,
        worlds,
        lambda e, run: population if e.quantity == "mean" else drawn[run].std(),
        to=to,
        runs=runs,
    )
    # the lower end of the SD is cut at 0, and V is raised where noise makes it uncertain
    assert_covers(found, most=0.98, runs=runs)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("to", SETTINGS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
@pytest.mark.parametrize("rows", [50, 4000])
@TIMES
def test_a_share_is_covered_for_the_patients_and_for_their_population(to, share, rows, times):
    runs = RUNS * times
    having = np.random.default_rng(8).binomial(rows, share, runs)
    worlds = [{"count": (rows - int(a), int(a))} for a in having]

    def truth(found: Estimate, run: int) -> float:
        return having[run] / rows if found.covers is Covers.NOISE else share

    spec = Proportion(id="p", table="participants", of=DIABETES)
    found = coverage(spec, worlds, truth, to=to, runs=runs)
    assert_covers(found, most=0.985, runs=runs)  # half a lattice step is added to the noise


@pytest.mark.parametrize("to", SETTINGS)
@pytest.mark.parametrize("share", [0.0, 1.0])
@TIMES
def test_a_share_of_none_or_all_is_covered_from_one_side(to, share, times):
    having = round(300 * share)
    spec = Proportion(id="p", table="participants", of=DIABETES)
    found = coverage(
        spec, {"count": (300 - having, having)}, lambda *_: share, to=to, runs=RUNS * times
    )
    assert_covers(found, most=1.0, runs=RUNS * times)


@pytest.mark.parametrize("to", TWO_SETTINGS)
@pytest.mark.parametrize(("rows", "bins"), [(60, 12), (1000, 48)])
@TIMES
def test_quantiles_are_covered_for_the_patients_and_for_their_population(to, rows, bins, times):
    runs = RUNS * times // 2
    spec = Quantiles(
        id="q",
        table="participants",
        column="pressure",
        at=(Fraction(1, 10), Fraction(1, 2)),
        bins=bins,
    )
    edges = np.array(spec.measured(to).axes[-1].edges)
    drawn = np.sort(pressures((runs, rows), skewed=False), axis=1)
    population = np.sort(pressures(1_000_000, skewed=False))
    worlds = [{"histogram": tuple(np.histogram(x, edges)[0].tolist())} for x in drawn]

    def truth(found: Estimate, run: int) -> float:
        q = Fraction(found.quantity.split()[1])
        of = drawn[run] if found.covers is Covers.NOISE else population
        return float(of[math.ceil(q * len(of)) - 1])

    found = coverage(spec, worlds, truth, to=to, runs=runs)
    assert_covers(found, most=1.0, runs=runs)  # ends are bin edges


def test_an_interval_that_ignored_the_noise_of_the_count_would_be_found():
    """Power: the same check refuses a mean whose interval is 15 % too short."""
    to = dataset(measure=Measure.PURE)
    x = pressures(60, skewed=False)
    spec = Mean(id="m", table="participants", column="pressure")
    noise = mechanisms(spec, to=to, spend=1)
    exact = {"distances": moments(x, lower=80, upper=200, degree=1)}
    hits = 0
    for noisy in draws(exact, noise=noise, runs=RUNS, seed=21):
        (found,) = estimate(spec, noisy, to=to, noise=noise)
        middle, half = (found.lower + found.upper) / 2, (found.upper - found.lower) / 2
        hits += abs(x.mean() - middle) <= 0.85 * half
    with pytest.raises(AssertionError):
        assert_covers({"mean": hits / RUNS}, most=1.0, runs=RUNS)
