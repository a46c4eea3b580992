"""Few events, and few left when they may come: what was not seen is not what cannot be."""

import math

import numpy as np
import pytest

from confide.statistics.survival.analysis import (
    Banded,
    hazard_band,
    incidence_band,
    mean_band,
    survival_band,
)
from confide.statistics.survival.curves import Array, at_risk
from survival_worlds import noisy_table, simulated, true_mean, true_survival

BINS, LEVEL = 12, 0.95
CAUSES = (0.7, 0.3)


def few_events(*, censoring: float, hazard: float, noise: int = 0):
    """Tables of 300 patients each, followed for 12 bins."""
    rng = np.random.default_rng(3)
    exits = simulated(
        300, runs=400, bins=BINS, hazard=hazard, censoring=censoring, rng=rng, causes=CAUSES
    )
    return noisy_table(exits[:, None], scale=noise, seed=5)


def held(band: Banded, true: Array | float) -> Array:
    """Return how often an interval holds the truth, of those that are shown, by bin."""
    shown = ~np.isnan(band.value)
    assert (shown.mean(axis=0) > 0.9).all()
    with np.errstate(invalid="ignore"):
        inside = (band.lower - 1e-9 <= true) & (true <= band.upper + 1e-9)
    found: Array = (inside & shown).sum(axis=0) / shown.sum(axis=0)
    return found


@pytest.mark.parametrize(("hazard", "censoring"), [(0.0019, 0.2), (0.0019, 0.12), (0.004, 0.2)])
def test_where_few_events_are_seen_and_few_are_left_every_curve_holds_the_truth(hazard, censoring):
    table = few_events(hazard=hazard, censoring=censoring)
    alive = true_survival(hazard=hazard, bins=BINS)
    for band, true in (
        (survival_band(table, level=LEVEL), alive),
        (incidence_band(table, cause=0, level=LEVEL), CAUSES[0] * (1 - alive)),
        (hazard_band(table, level=LEVEL), -np.log(alive)),
        (mean_band(table, level=LEVEL), true_mean(hazard=hazard, bins=BINS)),
    ):
        assert held(band, true).min() >= 0.93


def test_many_events_are_told_as_narrowly_as_before():
    table = few_events(hazard=0.05, censoring=0.05)
    alive = true_survival(hazard=0.05, bins=BINS)
    assert held(survival_band(table, level=LEVEL), alive).mean() <= 0.965
    assert (
        held(incidence_band(table, cause=0, level=LEVEL), CAUSES[0] * (1 - alive)).mean() <= 0.965
    )


def test_a_cause_that_nobody_has_yet_is_not_told_from_none():
    """The second cause comes in the last bin alone: until then its share is 0."""
    rng = np.random.default_rng(8)
    exits = simulated(300, runs=400, bins=BINS, hazard=0.01, censoring=0.05, rng=rng)
    exits = np.insert(exits, 1, 0.0, axis=-1)
    exits[:, BINS - 1, 1], exits[:, BINS - 1, 0] = exits[:, BINS - 1, 0], 0.0
    band = incidence_band(noisy_table(exits[:, None], scale=1, seed=2), cause=1, level=LEVEL)
    assert held(band, 0.0)[0, : BINS - 1].min() >= 0.93
    assert not (np.diff(band.value, axis=-1) < 0).any()
    assert not (np.diff(band.upper, axis=-1) < 0).any()


def nobody_has_the_event(*, lost: int):
    exits = np.zeros((1, BINS + 1, 2))
    exits[0, : BINS // 2, -1] = lost / (BINS // 2)
    exits[0, -1, -1] = 300 - lost
    return noisy_table(exits, scale=0, seed=1)


def test_of_no_events_an_interval_knows_as_much_as_the_patients_left_could_show():
    many, few = (
        1 - survival_band(nobody_has_the_event(lost=n), level=LEVEL).lower[0] for n in (0, 240)
    )
    quantile = 1.959964**2
    assert many == pytest.approx(np.full(BINS, quantile / (300 + quantile)), rel=0.01)
    left = at_risk(nobody_has_the_event(lost=240).exits)[0, :-1]
    assert few == pytest.approx(quantile / (left + quantile), rel=0.01)
    assert few[-1] > 1 - math.exp(math.log(0.05) / 60)  # three in sixty


def test_of_no_survivors_either():
    """Half were lost before the last ten died: those ten stand for 19, and not for 300."""
    exits = np.zeros((1, 3, 2))
    exits[0, 0], exits[0, 1] = (140, 150), (10, 0)
    band = survival_band(noisy_table(exits, scale=0, seed=1, step=1), level=LEVEL)
    (upper,) = band.upper[0, 1:]
    quantile = 1.959964**2
    assert band.value[0, 0] == pytest.approx((300 - 140) / 300)
    assert band.value[0, 1] == 0
    stands_for = 10 / (160 / 300)
    assert upper == pytest.approx(quantile / (stands_for + quantile), rel=0.05)
