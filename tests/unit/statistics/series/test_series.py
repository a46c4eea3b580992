"""Series: one noise for all periods, gaps, the public least number of rows, and the naive split."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError, UnboundedError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.contribution import PerPatient
from confide.plans.plan import Study
from confide.plans.pricing.allocate import Ask, make_plan
from confide.privacy.adjacency import Adjacency
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.statistics import Series
from confide.statistics.series.spec import Budget, SeriesOf
from confide.tables.expression import DatePart
from noisy_answers import draws, estimate, mechanisms
from over_time import day, visits
from seeded import SeededEntropy

WEEKS = Series(
    id="rate",
    table="visits",
    column="rate",
    over="reported",
    every=DatePart.DAY,
    since=day("2026-03-01"),
    until=day("2026-06-28"),
    per_patient=PerPatient(cells=5, rows=2),
)
D = 120
SUMS = replace(WEEKS, of=SeriesOf.SUM)
SETTINGS = [
    pytest.param(
        visits(measure=measure, adjacency=adjacency), id=f"{measure.value}-{adjacency.value}"
    )
    for measure in Measure
    for adjacency in Adjacency
]


def exact(rows: np.ndarray, sums: np.ndarray) -> dict[str, tuple[int, ...]]:
    """Vectors of every question, from rows a period and Σ(x − 115)."""
    distances = np.stack([85 * rows - sums, 85 * rows + sums], axis=1).reshape(-1)
    return {
        "sum": tuple(int(v) for v in sums),
        "count": tuple(int(v) for v in rows),
        "distances": tuple(int(v) for v in distances),
    }


def world(rows: int, *, seed: int = 3) -> tuple[dict[str, tuple[int, ...]], np.ndarray]:
    rng = np.random.default_rng(seed)
    values = [np.clip(np.rint(rng.normal(90, 15, rows)), 30, 200) for _ in range(D)]
    sums = np.array([int((v - 115).sum()) for v in values])
    return exact(np.full(D, rows), sums), np.array([v.mean() for v in values])


def test_one_patient_moves_the_whole_series_by_the_joint_l2_sensitivity():
    total, count = WEEKS.questions(visits())
    assert (total.sensitivity.l2_squared, count.sensitivity.l2_squared) == (
        5 * (2 * 85) ** 2,
        5 * 4,
    )
    (sums,) = SUMS.questions(visits())
    assert sums.sensitivity.l2_squared == 5 * (2 * 200) ** 2
    (distances,) = WEEKS.questions(visits(measure=Measure.PURE))
    assert distances.sensitivity.l1 == 5 * 2 * 170


@pytest.mark.parametrize("measure", Measure)
def test_joint_noise_beats_the_split_by_what_was_predicted(measure):
    """Measured on draws of both noises: within 5 % of √(D/m) in ρ, of D/m in ε."""
    to = visits(measure=measure)
    error = {}
    for spec in (SUMS, replace(SUMS, budget=Budget.SPLIT)):
        noise = mechanisms(spec, to=to, spend=Fraction(1, 2))["sum"]
        drawn = noise.sample(30_000, entropy=SeededEntropy(8)).astype(float)
        error[spec.budget] = math.sqrt(np.mean(drawn**2))
    predicted = math.sqrt(D / 5) if measure is Measure.ZCDP else D / 5
    assert SUMS.advantage(to) == pytest.approx(predicted)
    assert error[Budget.SPLIT] / error[Budget.JOINT] == pytest.approx(predicted, rel=0.05)


def test_the_means_of_a_split_budget_are_wider_by_the_same_factor():
    to, (vectors, truth) = visits(), world(4000)
    error = {}
    for spec in (WEEKS, replace(WEEKS, budget=Budget.SPLIT)):
        noise = mechanisms(spec, to=to, spend=Fraction(1, 2))
        found = [
            [e.value for e in estimate(spec, noisy, to=to, noise=noise) if e.quantity == "mean"]
            for noisy in draws(vectors, noise=noise, runs=25, seed=2)
        ]
        error[spec.budget] = math.sqrt(np.mean((np.array(found) - truth) ** 2))
    assert error[Budget.SPLIT] / error[Budget.JOINT] == pytest.approx(math.sqrt(D / 5), rel=0.05)


@pytest.mark.parametrize("to", SETTINGS)
def test_with_the_noise_off_means_sums_and_rows_are_those_of_the_rows(to):
    vectors, truth = world(50)
    noise = mechanisms(WEEKS, to=to, spend=900)
    found = estimate(WEEKS, vectors, to=to, noise=noise)
    means = [e for e in found if e.quantity == "mean"]
    assert [e.value for e in means] == pytest.approx(truth.tolist(), abs=1e-9)
    assert [e.value for e in found if e.quantity == "count"] == pytest.approx([50] * D)
    assert [e.key for e in means[:2]] == [("2026-03-01",), ("2026-03-02",)]
    quiet = {"sum": DiscreteGaussian(sigma_squared=Fraction(1, 10**6))}
    sums = tuple(range(3000, 3000 + D))
    given = estimate(SUMS, {"sum": sums}, to=visits(), noise=quiet)
    assert [e.value for e in given] == list(sums)


@pytest.mark.parametrize("to", SETTINGS)
@pytest.mark.parametrize("n_min", [None, 400])
def test_means_over_time_are_covered(to, n_min):
    spec, spend = replace(WEEKS, n_min=n_min), {Measure.ZCDP: Fraction(1, 2), Measure.PURE: 20}
    vectors, truth = world(400)
    noise = mechanisms(spec, to=to, spend=spend[to.measure])
    hits = []
    for noisy in draws(vectors, noise=noise, runs=25, seed=9):
        found = estimate(spec, noisy, to=to, noise=noise)
        means = [e for e in found if e.quantity == "mean"]
        hits += [
            e.lower <= true <= e.upper for e, true in zip(means, truth, strict=True) if e.value
        ]
    share = np.mean(hits)  # of 3,000 intervals
    assert 0.93 <= share <= (0.97 if n_min is None else 0.99)


def test_fewer_rows_than_n_min_draw_the_mean_to_the_middle_and_its_interval_covers_that():
    to, spec = visits(), replace(WEEKS, n_min=400)
    vectors, _ = world(100)
    target = 115 + np.array(vectors["sum"]) / 400
    noise = mechanisms(spec, to=to, spend=Fraction(1, 2))
    hits = []
    for noisy in draws(vectors, noise=noise, runs=20, seed=1):
        means = [e for e in estimate(spec, noisy, to=to, noise=noise) if e.quantity == "mean"]
        assert all("fewer than n-min" in e.flags for e in means)
        hits += [e.lower <= true <= e.upper for e, true in zip(means, target, strict=True)]
    assert np.mean(hits) >= 0.94


def test_a_period_without_rows_is_a_gap_and_not_invented():
    to = visits()
    vectors, _ = world(400)
    rows, sums = (np.array(vectors[name]) for name in ("count", "sum"))
    rows[7:10], sums[7:10] = 0, 0
    noise = mechanisms(WEEKS, to=to, spend=Fraction(1, 2))
    found = estimate(WEEKS, exact(rows, sums), to=to, noise=noise)
    gaps = [e.key[0] for e in found if e.quantity == "mean" and e.value is None]
    assert gaps == ["2026-03-08", "2026-03-09", "2026-03-10"]
    assert all("gap" in e.flags and e.lower is None for e in found if e.value is None)


def test_noise_on_the_mean_itself_by_the_textbook_is_wider():
    """√m·r·(U − L)/N for the same ρ, with its constant, against ours for N rows."""
    to, spec = visits(), replace(WEEKS, n_min=400)
    rho = 0.5
    sigma = math.sqrt(5) * 2 * (200 - 30) / 400 / math.sqrt(2 * rho)
    assert spec.textbook(rho, level=0.95, dataset=to) == pytest.approx(1.96 * sigma, rel=1e-3)
    ours = spec.forecast(
        mechanisms(spec, to=to, spend=Fraction(1, 2)), dataset=to, level=Fraction(95, 100)
    )
    assert ours.half_width < 0.8 * 1.96 * sigma
    assert any("textbook" in note for note in ours.notes)


def test_the_mean_with_a_least_number_of_rows_moves_as_far_as_the_textbook_says():
    """|Σy/max(n, N)| over all databases of few values: one patient moves it by at most 2h/N."""
    worst, least = 0.0, 3
    for n in range(6):
        for ups in range(n + 1):
            before = (2 * ups - n) / max(n, least)
            after = [(2 * ups - n + y) / max(n + 1, least) for y in (-1, 1)]
            worst = max(worst, *(abs(a - before) for a in after))
    assert 1 / least < worst <= 2 / least


def test_a_forecast_needs_no_planning_number_where_there_is_a_least_number_of_rows():
    to = visits()
    with pytest.raises(ContractError, match="rows of a period"):
        WEEKS.forecast(mechanisms(WEEKS, to=to, spend=1), dataset=to, level=Fraction(95, 100))
    spec = replace(WEEKS, n_min=200)
    found = spec.forecast(mechanisms(spec, to=to, spend=1), dataset=to, level=Fraction(95, 100))
    assert "for periods of 200 rows" in found.notes
    assert any("split over the 120 periods" in note for note in found.notes)


def test_a_least_number_of_rows_above_the_expected_one_is_refused():
    spec = replace(WEEKS, n_min=200, expect=Fraction(150))
    to = visits()
    noise = mechanisms(spec, to=to, spend=Fraction(1))
    with pytest.raises(ContractError, match="drawn to the middle"):
        spec.forecast(noise, dataset=to, level=Fraction(95, 100))


def test_bins_of_a_number_are_periods_too():
    spec = replace(WEEKS, over="hours", every=None, since=None, until=None)
    assert spec.periods(visits()) == 12
    with pytest.raises(ContractError, match="own periods"):
        replace(spec, every=DatePart.DAY).periods(visits())
    with pytest.raises(ContractError, match="not a time"):
        replace(spec, over="ward").periods(visits())


def test_weeks_that_the_range_cuts_are_flagged():
    spec = replace(WEEKS, every=DatePart.WEEK, since=day("2026-03-04"), until=day("2026-03-15"))
    to = visits()
    noise = mechanisms(spec, to=to, spend=9)
    noisy = {"sum": (10, 10), "count": (999, 999)}
    flags = [e.flags for e in estimate(spec, noisy, to=to, noise=noise) if e.quantity == "mean"]
    assert flags == [("part of a period",), ()]  # 2026-03-15 is a Sunday


def test_rows_without_a_bound_on_periods_are_refused():
    with pytest.raises(ContractError, match="not the periods"):
        replace(WEEKS, per_patient=PerPatient(rows=3)).questions(visits())
    with pytest.raises(UnboundedError):
        replace(WEEKS, per_patient=PerPatient()).questions(visits())
    with pytest.raises(ContractError, match="n-min"):
        replace(SUMS, n_min=5)
    with pytest.raises(ContractError, match="range of days"):
        replace(WEEKS, until=day("2027-01-05")).questions(visits())


def test_a_series_is_planned_and_read_back():
    from confide.statistics import read_plan

    asks = [Ask(statistic=WEEKS), Ask(statistic=replace(SUMS, id="sums"))]
    plan = make_plan(asks, study=Study(id="s"), dataset=visits(), nano=NANO)
    assert read_plan(plan.to_json()) == plan
