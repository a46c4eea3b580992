"""Held-out events and person-time: rates that are right are told so, and intervals cover."""

import numpy as np
import pytest

from confide.statistics.person_time.held_out_rates import Sums, evaluated_rates
from drawn_rates import LENGTH, MOST, THETA, by_bin, summed
from held_out_scores import auc_of, simulation


def judged(sums, *, noise=0.0, number=0, dispersion=1 / MOST, rng=None):
    if rng is not None:
        sums = sums + rng.normal(0, noise, sums.shape)
    found = Sums(events=sums[0], time=sums[1], noise=noise, dispersion=dispersion)
    return evaluated_rates(found, theta=THETA, level=0.95, simulation=simulation(number))


def test_rates_that_are_right_have_ratio_and_slope_one_and_the_patients_c_statistic():
    sums, eta, events, time = summed(300_000, np.random.default_rng(1))
    found = judged(sums)
    assert found.ratio.value == pytest.approx(1, abs=0.01)
    assert found.slope.value == pytest.approx(1, abs=0.02)
    assert all(group.ratio.value == pytest.approx(1, abs=0.05) for group in found.groups)
    twice = np.concatenate(
        [np.repeat(eta, events), eta[time > np.random.default_rng(2).random(len(eta))]]
    )
    event = np.arange(len(twice)) < events.sum()
    assert found.concordance.value == pytest.approx(auc_of(twice, event), abs=0.004)


@pytest.mark.parametrize(("slope", "shift"), [(0.5, 0.0), (1.0, 0.4), (1.5, -0.3)])
def test_rates_that_are_too_far_apart_or_too_low_are_told(slope, shift):
    found = judged(summed(300_000, np.random.default_rng(3), slope=slope, shift=shift)[0])
    assert found.slope.value == pytest.approx(slope, abs=0.04)
    spread = np.exp((slope**2 - 1) * LENGTH**2 / 2 + shift)
    assert found.ratio.value == pytest.approx(spread, rel=0.03)


def coverage(*, runs, n, noise, slope=1.0, shift=0.0, over=None):
    """Return by measure how often its interval holds the truth; groups are taken together."""
    rng = np.random.default_rng(4)
    given = {"slope": slope, "shift": shift, "over": over}
    big, eta, events, time = summed(1_000_000, rng, **given)
    observed, expected = by_bin(eta, events / MOST), by_bin(eta, np.exp(eta) * time)
    exact = {"ratio": observed.sum() / expected.sum(), "slope": slope}
    exact["concordance"] = judged(big).concordance.value
    excess = 1.0 if over is None else 1 + MOST * np.exp(THETA[0] + LENGTH**2) * 0.55 / over
    held = {name: [] for name in ("ratio", "slope", "concordance", "groups")}
    for number in range(runs):
        sums = summed(n, rng, **given)[0]
        found = judged(sums, noise=noise, number=number, dispersion=excess / MOST, rng=rng)
        if not found.usable:
            continue
        for name in ("ratio", "slope", "concordance"):
            one = getattr(found, name)
            held[name].append(one.lower <= exact[name] <= one.upper)
        for group in found.groups:
            inside = slice(group.first, group.last + 1)
            true = observed[inside].sum() / expected[inside].sum()
            if group.ratio.lower is not None:
                held["groups"].append(group.ratio.lower <= true <= group.ratio.upper)
    return {name: float(np.mean(each)) for name, each in held.items()}


WORLDS = {
    "a clinic": {"n": 6_000, "noise": 2.0},
    "loud": {"n": 8_000, "noise": 6.0},
    "overdispersed": {"n": 3_000, "noise": 1.0, "over": 1.5},
    "wrong": {"n": 3_000, "noise": 1.0, "slope": 0.6, "shift": 0.3},
    "many events": {"n": 2_400, "noise": 0.5, "shift": 1.4},
}


def test_intervals_of_rates_cover():
    found = coverage(runs=40, **WORLDS["a clinic"])
    assert min(found.values()) > 0.84, found


def test_patients_with_many_events_tell_as_much_as_the_intervals_say():
    """Person-time that varies takes its events with it, and moves no rate."""
    rng, found = np.random.default_rng(7), {"slope": [], "concordance": []}
    for number in range(80):
        sums = summed(2_400, rng, shift=1.4)[0]
        one = judged(sums, noise=0.5, number=number, rng=rng)
        for name, each in found.items():
            each.append((getattr(one, name).value, getattr(one, name).error))
    for name, each in found.items():
        values, errors = np.array(each).T
        assert errors.mean() == pytest.approx(values.std(), rel=0.3), name


@pytest.mark.audit
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_every_interval_of_rates_holds_the_truth_in_93_percent_of_two_thousand_runs(world):
    found = coverage(runs=2_000, **world)
    assert min(found.values()) > 0.93, found
