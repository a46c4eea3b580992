"""How far curves are from those of the same patients, and how often intervals and tests are wrong.

Everything is simulated in one array a case; ``audit`` repeats the cases with more runs.
"""

import math

import numpy as np
import pytest

from confide.plans.estimation.chi_squared import chi_squared_tail
from confide.statistics.survival.analysis import (
    concordance_band,
    counted,
    hazard_band,
    hazard_ratio,
    incidence_band,
    log_rank,
    mean_band,
    mean_difference,
    quantile_time,
    survival_band,
    survival_difference,
)
from confide.statistics.survival.comparison import (
    concordance,
    log_rank_covariance,
    log_rank_scores,
    quadratic_form,
)
from confide.statistics.survival.curves import falling, survival
from confide.statistics.survival.table import ExitTable, point_mixing
from survival_worlds import (
    component,
    laplace_noise,
    noisy_table,
    simulated,
    true_mean,
    true_survival,
)

BINS, LEVEL = 24, 0.95
AUDIT = pytest.mark.audit
SIZES = [
    pytest.param(400, id="quick"),
    pytest.param(2000, marks=AUDIT, id="audit"),
]


def rms(error) -> float:
    return float(np.sqrt(np.nanmean(error**2)))


def cohort(*, censoring: float, seed: int = 1):
    """Exits of 500 patients, half of whom have the event within 17 of 24 bins."""
    rng = np.random.default_rng(seed)
    (exits,) = simulated(
        500, runs=1, bins=BINS, hazard=math.log(2) / 17, censoring=censoring, rng=rng
    )
    return exits


@pytest.mark.parametrize("censoring", [0.0, 0.02])
@pytest.mark.parametrize(("scale", "most"), [(1, 0.010), (2, 0.020)])
def test_the_curve_of_500_patients_at_epsilon_1_is_within_its_target(scale, most, censoring):
    exact = cohort(censoring=censoring)
    table = noisy_table(np.repeat(exact[None, None], 500, axis=0), scale=scale, seed=4)
    found = survival_band(table, level=LEVEL).value
    assert not np.isnan(found).any()
    assert 0.3 * most < rms(found - survival(exact)) <= most


def per_point_table(exact, *, scale: int, runs: int, seed: int) -> ExitTable:
    """Return exits from counts before and after each time point, each with its own noise."""
    mixing = point_mixing((0, 1), bins=BINS, causes=1)
    before = np.cumsum(exact, axis=0)
    counts = np.stack([before[:-1], exact.sum(axis=0) - before[:-1]], axis=1).ravel()
    noisy = counts + laplace_noise((runs, counts.size), scale=scale, seed=seed)
    cells = (noisy @ mixing.T).reshape(runs, 1, *exact.shape)
    edges = np.arange(BINS + 1) * 30
    return ExitTable(exits=cells, edges=edges, noise=component(scale), mixing=mixing)


def textbook_curves(exact, *, epsilon: float, runs: int, seed: int):
    """Return S(t) + Laplace(K/(nε)), made monotone: the textbook's way, for public n."""
    noise = np.random.default_rng(seed).laplace(scale=BINS / (500 * epsilon), size=(runs, BINS))
    return falling(np.clip(survival(exact) + noise, 0, 1))


@pytest.mark.parametrize("whole", [1, 2], ids=["add-remove", "substitution"])
def test_the_exit_histogram_has_at_most_half_the_error_of_the_split_per_time_point(whole):
    exact = cohort(censoring=0.0)
    repeated = np.repeat(exact[None, None], 400, axis=0)
    joint = survival_band(noisy_table(repeated, scale=whole, seed=5), level=LEVEL).value
    split = per_point_table(exact, scale=whole * BINS, runs=400, seed=6)
    with np.errstate(all="ignore"):
        apart = falling(np.clip(survival(split.exits), 0, 1))
    textbook = textbook_curves(exact, epsilon=1.0, runs=400, seed=7)
    true = survival(exact)
    assert rms(joint - true) <= 0.5 * rms(apart - true)
    assert rms(joint - true) <= 0.5 * rms(textbook - true)


def test_counts_per_time_point_without_noise_give_the_exact_curve():
    exact = cohort(censoring=0.02)
    mixing = point_mixing((0, 1), bins=BINS, causes=1)
    before = np.cumsum(exact, axis=0)
    counts = np.stack([before[:-1], exact.sum(axis=0) - before[:-1]], axis=1).ravel()
    cells = (mixing @ counts).reshape(exact.shape)
    assert survival(cells) == pytest.approx(survival(exact), abs=1e-12)


def test_a_last_time_of_which_little_is_known_opens_no_interval_before_it():
    """Nearly all are lost before the end: the last interval reaches to 1, those before do not."""
    rng = np.random.default_rng(3)
    exits = simulated(1500, runs=200, bins=25, hazard=0.006, censoring=0.04, rng=rng)
    exits[:, 24, -1], exits[:, 25] = exits[:, 24:].sum(axis=(1, 2)) - 1, 0.0
    exits[:, 24, 0] = 1
    exits[:, 25, -1] = 10
    table = noisy_table(exits[:, None], scale=1, seed=4)
    for band, ends in (
        (survival_band(table, level=LEVEL), lambda of: of.upper - of.value),
        (incidence_band(table, cause=0, level=LEVEL), lambda of: of.value - of.lower),
        (hazard_band(table, level=LEVEL), lambda of: of.value - of.lower),
    ):
        half = ends(band)[:, 0, 4:12]
        assert np.nanmax(half / (2 * band.error[:, 0, 4:12])) <= 1.5


def test_curves_are_monotone_and_within_0_and_1_whatever_the_noise():
    rng = np.random.default_rng(9)
    exits = simulated(
        120, runs=300, bins=12, hazard=0.05, censoring=0.05, rng=rng, causes=(0.6, 0.4)
    )
    table = noisy_table(exits[:, None], scale=1, seed=10)
    curve = survival_band(table, level=LEVEL)
    for each in (curve.value, curve.lower, curve.upper):
        shown = each[~np.isnan(each)]
        assert shown.size
        assert shown.min() >= 0
        assert shown.max() <= 1
    for each in (curve.value, curve.lower):
        assert not np.any(np.diff(each, axis=-1) > 1e-12)
    for band in (incidence_band(table, cause=1, level=LEVEL), hazard_band(table, level=LEVEL)):
        assert not np.any(np.diff(band.value, axis=-1) < -1e-12)
    risk, events, lost = counted(table, level=LEVEL)
    assert not np.any(np.diff(risk.value, axis=-1) > 1e-9)
    assert not np.any(np.diff(events.value, axis=-2) < -1e-9)
    assert min(risk.value.min(), events.value.min(), lost.value.min()) >= 0


def two_arms(patients: int, *, runs: int, ratio: float, censoring: float, hazard: float, seed: int):
    rng = np.random.default_rng(seed)
    arms = [
        simulated(patients, runs=runs, bins=BINS, hazard=h, censoring=censoring, rng=rng)
        for h in (hazard, hazard * ratio)
    ]
    return np.stack(arms, axis=1)


def rejected(squared) -> float:
    tails = [chi_squared_tail(np.array(value), degrees=1) for value in squared[~np.isnan(squared)]]
    return float(np.mean(np.array(tails) < 0.05))


@pytest.mark.parametrize(
    ("scale", "censoring"),
    [(2, 0.0), (2, 0.02), pytest.param(4, 0.02, marks=AUDIT)],
    ids=["add-remove", "add-remove, censored", "substitution"],
)
def test_the_log_rank_test_of_equal_arms_of_250_at_epsilon_one_half_rejects_5_percent(
    scale, censoring
):
    noisy, plain = [], []
    for part in range(4):  # 2,000 trials, in parts that fit the cache
        exits = two_arms(250, runs=500, ratio=1.0, censoring=censoring, hazard=0.04, seed=20 + part)
        table = noisy_table(exits, scale=scale, seed=30 + part)
        noisy.append(log_rank(table))
        cut = table.until(table.usable_together())
        plain.append(quadratic_form(log_rank_scores(cut), log_rank_covariance(cut)))
    assert 0.03 <= rejected(np.concatenate(noisy)) <= 0.07
    assert rejected(np.concatenate(plain)) > 0.10  # the textbook's variance knows no noise


def covered(band, truth) -> float:
    known = ~np.isnan(band.value)
    inside = (band.lower - 1e-9 <= truth) & (truth <= band.upper + 1e-9)
    return float(inside[known].mean())


def assert_covers(share: float, *, runs: int, most: float = 0.97) -> None:
    """0.93 to ``most``, give or take what so few runs leave open."""
    slack = 3.3 * math.sqrt(0.05 * 0.95 / runs) - 3.3 * math.sqrt(0.05 * 0.95 / 2000)
    assert 0.93 - slack <= share <= most + slack


SETTINGS = [  # patients an arm, scale, censoring, hazard of the first arm, hazard ratio
    pytest.param(500, 1, 0.02, 0.05, 0.7, id="500-add-remove"),
    pytest.param(500, 2, 0.0, 0.05, 0.7, id="500-substitution"),
    pytest.param(250, 1, 0.02, 0.03, 1.0, id="250-add-remove"),
    pytest.param(2000, 2, 0.02, 0.01, 1.3, id="2000-substitution"),
]


@pytest.mark.parametrize(("patients", "scale", "censoring", "hazard", "ratio"), SETTINGS)
@pytest.mark.parametrize("runs", SIZES)
def test_curves_means_and_medians_are_covered(patients, scale, censoring, hazard, ratio, runs):
    exits = two_arms(
        patients, runs=runs, ratio=ratio, censoring=censoring, hazard=hazard, seed=30 + scale
    )
    table = noisy_table(exits, scale=scale, seed=31)
    true = np.stack([true_survival(hazard=h, bins=BINS) for h in (hazard, hazard * ratio)])
    band = survival_band(table, level=LEVEL)
    for arm in (0, 1):
        for place in (0, 5, 11, 17, 23):
            if (~np.isnan(band.value[:, arm, place])).mean() > 0.9:
                inside = (band.lower <= true) & (true <= band.upper)
                known = ~np.isnan(band.value[:, arm, place])
                most = 0.985 if place == 0 else 0.975  # few events, on a lattice
                assert_covers(inside[known, arm, place].mean(), runs=runs, most=most)
    means = np.array([true_mean(hazard=h, bins=BINS) for h in (hazard, hazard * ratio)])
    reaching = covered(mean_band(table, level=LEVEL), means)  # to what heaped times would make
    assert_covers(reaching, runs=2 * runs, most=1.0)
    difference = mean_difference(table, level=LEVEL)
    assert_covers(covered(difference, means[1] - means[0]), runs=runs)
    ends = survival_difference(band)
    assert_covers(covered(ends, true[1, -1] - true[0, -1]), runs=runs, most=0.975)
    if hazard * BINS > 1:
        median = quantile_time(band, share=0.5, edges=table.edges)
        rate = np.array([hazard, hazard * ratio])
        times = np.log(2) / rate * 30
        open_end = median.upper >= table.edges[-1]
        inside = (median.lower <= times) & ((times <= median.upper + 1) | open_end)
        assert_covers(inside[~np.isnan(median.value)].mean(), runs=runs, most=0.98)


def every_day(hazard: float, *, ratio: float, censoring: float):
    """Return exits of many patients of two arms, by the day and not by bins of 30."""
    rng, days = np.random.default_rng(42), 30 * BINS
    rates = [(h / 30, censoring / 30) for h in (hazard, hazard * ratio)]
    arms = [
        simulated(200_000, runs=1, bins=days, hazard=h, censoring=c, rng=rng)[0] for h, c in rates
    ]
    return np.stack(arms)


@pytest.mark.parametrize(("patients", "scale", "censoring", "hazard", "ratio"), SETTINGS)
@pytest.mark.parametrize("runs", SIZES)
def test_hazard_ratios_and_c_statistics_are_covered(
    patients, scale, censoring, hazard, ratio, runs
):
    exits = two_arms(
        patients, runs=runs, ratio=ratio, censoring=censoring, hazard=hazard, seed=40 + scale
    )
    table = noisy_table(exits, scale=scale, seed=41)
    found = hazard_ratio(table, arm=1, level=LEVEL)
    assert (~np.isnan(found.value)).mean() > 0.5
    assert_covers(covered(found, ratio), runs=runs)
    assert abs(np.nanmedian(found.value) / ratio - 1) < 0.05
    days = every_day(hazard, ratio=ratio, censoring=censoring)
    true = float(concordance(days, widths=np.ones(days.shape[-2] - 1)))
    assert_covers(covered(concordance_band(table, level=LEVEL), true), runs=runs, most=0.975)


@pytest.mark.parametrize("runs", SIZES)
def test_competing_incidences_and_hazards_are_covered(runs):
    hazard, censoring = 0.05, 0.02
    rng = np.random.default_rng(50)
    exits = simulated(
        500,
        runs=runs,
        bins=BINS,
        hazard=hazard,
        censoring=censoring,
        rng=rng,
        causes=(0.7, 0.3),
    )
    table = noisy_table(exits[:, None], scale=1, seed=51)
    after = true_survival(hazard=hazard, bins=BINS)
    for cause, share in enumerate((0.7, 0.3)):
        true = (1 - after) * share
        band = incidence_band(table, cause=cause, level=LEVEL)
        for place in (3, 11, 23):
            inside = (band.lower <= true) & (true <= band.upper)
            assert_covers(inside[:, 0, place].mean(), runs=runs, most=0.975)
    band = hazard_band(table, level=LEVEL)  # which reaches to what heaped times would make of it
    true = -np.log(after)
    for place in (3, 11, 23):
        inside = (band.lower <= true) & (true <= band.upper)
        assert_covers(inside[:, 0, place].mean(), runs=runs, most=0.985)


@pytest.mark.parametrize("runs", SIZES)
def test_numbers_at_risk_of_the_patients_at_hand_are_covered(runs):
    exact = cohort(censoring=0.02)
    table = noisy_table(np.repeat(exact[None, None], runs, axis=0), scale=1, seed=60)
    risk, events, lost = counted(table, level=LEVEL)
    true = np.flip(np.cumsum(np.flip(exact.sum(axis=-1))))
    for place in (0, 12, 22):
        inside = (risk.lower[:, 0, place] <= true[place]) & (true[place] <= risk.upper[:, 0, place])
        assert_covers(inside.mean(), runs=runs, most=0.98)
    for band, way in ((events, 0), (lost, 1)):
        gone = np.cumsum(exact[:-1, way])
        lower, upper = (b[:, 0, 12].reshape(runs) for b in (band.lower, band.upper))
        inside = (lower <= gone[12]) & (gone[12] <= upper)
        assert_covers(inside.mean(), runs=runs, most=0.98)


@pytest.mark.parametrize("runs", SIZES)
def test_a_curve_from_counts_per_time_point_is_covered_too(runs):
    hazard = 0.04
    rng = np.random.default_rng(70)
    exits = simulated(2000, runs=runs, bins=BINS, hazard=hazard, censoring=0.0, rng=rng)
    mixing = point_mixing((0, 1), bins=BINS, causes=1)
    before = np.cumsum(exits, axis=1)[:, :-1]
    counts = np.stack([before, exits.sum(axis=1)[:, None] - before], axis=2).reshape(runs, -1)
    noisy = counts + laplace_noise(counts.shape, scale=BINS, seed=71)
    table = ExitTable(
        exits=(noisy @ mixing.T).reshape(runs, 1, BINS + 1, 2),
        edges=np.arange(BINS + 1) * 30,
        noise=component(BINS),
        mixing=mixing,
    )
    true = true_survival(hazard=hazard, bins=BINS)
    band = survival_band(table, level=LEVEL)
    assert (~np.isnan(band.value)).all()
    for place in (5, 11, 23):
        inside = (band.lower[:, 0, place] <= true[place]) & (true[place] <= band.upper[:, 0, place])
        # the pooled band is monotone, and the split's noise is so large that this helps it
        assert_covers(inside.mean(), runs=runs, most=1.0)


def test_an_interval_without_the_noise_would_be_found():
    """Power: the same check refuses bands that cover sampling alone."""
    exits = two_arms(250, runs=1000, ratio=1.0, censoring=0.02, hazard=0.03, seed=80)
    noisy = noisy_table(exits, scale=2, seed=81)
    table = ExitTable(exits=noisy.exits, edges=noisy.edges, noise=component(1))
    true = true_survival(hazard=0.03, bins=BINS)
    band = survival_band(table, level=LEVEL)
    inside = (band.lower <= true) & (true <= band.upper)
    with pytest.raises(AssertionError):
        assert_covers(inside[:, 0, 17].mean(), runs=1000)
