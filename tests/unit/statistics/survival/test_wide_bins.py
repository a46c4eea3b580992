"""Wide bins, and many who are censored inside them: what is true of the law, not of the bins."""

import itertools

import numpy as np
import pytest

from confide.plans.estimation.intervals import Component
from confide.statistics.survival import table as tables
from confide.statistics.survival.analysis import (
    concordance_band,
    hazard_band,
    log_rank,
    mean_band,
    quantile_time,
    survival_band,
)
from confide.statistics.survival.comparison import concordance
from confide.statistics.survival.curves import cumulative_hazard, survival
from survival_worlds import noisy_table, simulated, true_mean, true_survival

BINS, STEP, PATIENTS, RUNS = 12, 90, 2000, 300
HAZARD, CENSORING = 0.13, 0.10
"""By bin: half have the event, and half of the others are lost, before the horizon is half over."""


def trials(*, censoring=(CENSORING,), ratio=1.0, seed=3):
    rng = np.random.default_rng(seed)
    arms = [
        simulated(PATIENTS, runs=RUNS, bins=BINS, hazard=HAZARD * r, censoring=c, rng=rng)
        for c, r in zip(censoring, (1.0, ratio), strict=False)
    ]
    return noisy_table(np.stack(arms, axis=1), scale=1, seed=4, step=STEP)


def covered(band, true) -> float:
    return float(((band.lower <= true) & (true <= band.upper)).mean())


def shares_that_hold():
    """How often intervals of survival, hazard, mean and median hold the law."""
    table = trials()
    true = true_survival(hazard=HAZARD, bins=BINS)
    curve, hazard = survival_band(table, level=0.95), hazard_band(table, level=0.95)
    median = quantile_time(curve, share=0.5, edges=table.edges)
    late = slice(BINS // 2, None)
    return {
        "survival": covered(curve, true),
        "survival at the horizon": float(
            ((curve.lower <= true) & (true <= curve.upper))[..., -1].mean()
        ),
        "hazard": float(
            ((hazard.lower <= -np.log(true)) & (-np.log(true) <= hazard.upper))[..., late].mean()
        ),
        "mean": covered(
            mean_band(table, level=0.95), true_mean(hazard=HAZARD, bins=BINS, step=STEP)
        ),
        "median": covered(median, np.log(2) / HAZARD * STEP),
    }


def test_intervals_of_twelve_bins_hold_the_law():
    found = shares_that_hold()
    assert min(found.values()) >= 0.9, found


def test_counting_the_censored_to_the_end_of_their_bin_is_found(monkeypatch):
    monkeypatch.setattr(tables, "early_shares", lambda edges: np.zeros(len(edges) - 1))
    found = shares_that_hold()
    del found["median"], found["mean"]  # their intervals reach to the ends of bins
    assert max(found.values()) < 0.8, found


def test_the_log_rank_test_is_not_misled_by_arms_that_are_censored_unequally():
    p = log_rank(trials(censoring=(0.0, 0.25)))
    assert np.mean(p > 3.84) <= 0.09  # of 5 %, and what so few runs leave open


def test_the_c_statistic_is_near_that_of_the_days():
    table = trials(censoring=(0.1, 0.2), ratio=1.5)
    rng = np.random.default_rng(5)
    days = [
        simulated(100_000, runs=1, bins=BINS * 30, hazard=h / 30, censoring=c / 30, rng=rng)[0]
        for h, c in ((HAZARD, 0.1), (1.5 * HAZARD, 0.2))
    ]
    true = concordance(np.stack(days), widths=np.ones(BINS * 30))
    assert covered(concordance_band(table, level=0.95), true) >= 0.93


@pytest.mark.parametrize(
    ("edges", "hazard", "censoring"),
    [
        ([0, 30, 90, 365], 0.002, 0.002),
        ([0, 30, 90, 365], 0.003, 0.002),
        ([0, 60], 0.03, 0.03),
        ([0, 90, 180, 365], 0.004, 0.001),
        (list(range(0, 1081, 90)), 0.0014, 0.0011),
        (list(range(0, 1081, 90)), 0.001, 0.0005),
    ],
)
def test_bins_that_lose_too_many_are_flagged(edges, hazard, censoring):
    """Each point is covered, or flagged: in 2,000 patients, by the day."""
    rng = np.random.default_rng(8)
    days = simulated(
        PATIENTS, runs=RUNS, bins=edges[-1], hazard=hazard, censoring=censoring, rng=rng
    )
    parts = [days[:, a:b].sum(axis=1) for a, b in itertools.pairwise(edges)]
    exits = np.stack([*parts, days[:, -1]], axis=1)[:, None]
    table = tables.ExitTable(exits=exits, edges=np.array(edges), noise=Component(variance=0.0))
    true = np.exp(-hazard * np.array(edges[1:]))
    band, wide = survival_band(table, level=0.95), table.wide()
    held = (band.lower <= true) & (true <= band.upper)
    for place in range(len(true)):
        if wide[:, 0, place].mean() < 0.5:
            assert held[:, 0, place].mean() >= 0.9, place
    assert bool(wide[:, 0, -1].mean() > 0.5) == (len(edges) < 6)


def test_bins_of_one_time_are_the_textbook_s():
    table = trials()
    table = tables.ExitTable(
        exits=table.exits, edges=np.arange(BINS + 1), noise=table.noise, mixing=table.mixing
    )
    assert np.array_equal(table.grouped, table.exits)
    assert np.array_equal(survival(table.grouped), survival(table.exits))
    textbook = cumulative_hazard(table.exits)
    assert np.array_equal(cumulative_hazard(table.grouped, early=table.early), textbook)


@pytest.mark.parametrize(("bins", "within"), [(6, 0.03), (12, 0.02), (24, 0.02), (48, 0.02)])
def test_the_curve_of_very_many_is_that_of_the_law(bins, within):
    rng = np.random.default_rng(6)
    hazard, censoring = 1.5 / bins, 1.2 / bins
    exits = simulated(400_000, runs=1, bins=bins, hazard=hazard, censoring=censoring, rng=rng)
    table = noisy_table(exits, scale=0, seed=0, step=1080 // bins)
    true = true_survival(hazard=hazard, bins=bins)
    assert survival(table.grouped)[0] == pytest.approx(true, rel=within)
