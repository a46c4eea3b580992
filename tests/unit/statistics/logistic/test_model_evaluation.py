"""Evaluation of a model from two noisy histograms: exact with no noise, covered with it."""

import numpy as np
import pytest

from confide.plans.rounds.score_bins import stretch_of
from confide.statistics.logistic.evaluation import ordered
from confide.statistics.logistic.predictions import predicted
from confide.tables.aggregates.descent_terms import SCORE_BINS, SCORE_CUTS
from held_out_scores import LENGTH, THETA, auc_of, edges_of, judged, scored, with_noise


def test_bins_of_normal_scores_hold_what_their_cuts_say():
    counts, eta, ill = scored(200_000, np.random.default_rng(1))
    shares = np.diff([0, *SCORE_CUTS, 100]) / 100
    assert counts.sum(axis=0) / 200_000 == pytest.approx(shares, abs=0.003)
    bins = np.searchsorted(edges_of(), eta, side="right")
    told = predicted(THETA)
    risk = 1 / (1 + np.exp(-eta))
    assert told.risk == pytest.approx([risk[bins == k].mean() for k in range(SCORE_BINS)], abs=0.01)
    for k in (4, 8, 9):
        inside = bins == k
        assert ordered(told)[k] == pytest.approx(auc_of(eta[inside], ill[inside]), abs=0.025)


def test_with_the_noise_off_auc_and_brier_score_are_those_of_the_patients():
    counts, eta, ill = scored(200_000, np.random.default_rng(2))
    found = judged(counts)
    assert found.auc.value == pytest.approx(auc_of(eta, ill), abs=0.001)
    risk = 1 / (1 + np.exp(-eta))
    assert found.brier.value == pytest.approx(np.mean((ill - risk) ** 2), abs=0.001)
    assert found.slope.value == pytest.approx(1, abs=0.03)
    assert found.intercept.value == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize(("slope", "shift"), [(0.5, 0.0), (1.0, 0.7), (1.6, -0.5)])
def test_risks_that_are_too_far_apart_or_too_high_are_told_by_the_calibration_line(slope, shift):
    counts, eta, ill = scored(100_000, np.random.default_rng(3), slope=slope, shift=shift)
    found = judged(counts)
    assert found.slope.value == pytest.approx(slope, abs=0.05)
    risk = 1 / (1 + np.exp(-(eta + found.intercept.value)))
    assert risk.sum() == pytest.approx(ill.sum(), rel=0.02)


SHAPES = {
    "uniform": lambda rng, n: rng.uniform(-(3**0.5), 3**0.5, n),
    "skewed": lambda rng, n: (rng.gamma(4, 1, n) - 4) / 2,
    "two humps": lambda rng, n: (rng.choice([-1, 1], n) + 0.4 * rng.normal(size=n)) / 1.16**0.5,
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_scores_that_are_not_normal_move_the_slope_by_less_than_four_hundredths(shape):
    for theta in (THETA, np.array([-3.0, 0.8, 0.0])):
        rng = np.random.default_rng(4)
        counts, eta, ill = scored(400_000, rng, shape=shape, theta=theta)
        found = judged(counts, theta=theta)
        assert found.slope.value == pytest.approx(1, abs=0.04)
        assert found.auc.value == pytest.approx(auc_of(eta, ill), abs=0.001)


def test_an_open_bin_is_stretched_by_how_many_it_holds_and_noise_does_not_stretch_it():
    rng = np.random.default_rng(5)
    normal, uniform = (
        scored(400_000, rng, shape=shape)[0].sum(axis=0) for shape in (None, SHAPES["uniform"])
    )
    assert stretch_of(normal, noise=0.0) == pytest.approx((1, 1), abs=0.05)
    assert max(stretch_of(uniform, noise=0.0)) < 0.3
    loud = [stretch_of(normal / 800 + rng.normal(0, 7, SCORE_BINS), noise=7.0) for _ in range(50)]
    assert sum(each[0] == 1 for each in loud) > 25


def test_net_benefit_is_true_positives_less_weighted_false_ones():
    counts, eta, ill = scored(50_000, np.random.default_rng(4))
    found = judged(counts)
    for risk, benefit in zip(found.thresholds, found.benefits.values(), strict=True):
        treated = 1 / (1 + np.exp(-eta)) >= risk
        expected = (treated & ill).mean() - (treated & ~ill).mean() * risk / (1 - risk)
        assert benefit.value == pytest.approx(expected, abs=0.002)


def test_too_few_held_out_patients_are_said_to_be_too_few():
    counts, _, _ = scored(150, np.random.default_rng(5))
    rng = np.random.default_rng(6)
    assert not judged(with_noise(counts, 5.0, rng)).usable
    assert judged(with_noise(counts, 0.1, rng)).usable


def test_neighbouring_bins_are_joined_until_each_group_drowns_the_noise():
    rng = np.random.default_rng(7)
    for n, noise, groups in ((200, 9.0, 1), (2_000, 6.0, 8), (40_000, 2.0, 10)):
        found = judged(with_noise(scored(n, rng)[0], noise, rng))
        assert len(found.groups) == groups
        ends = [(g.first, g.last) for g in found.groups]
        assert [b for a, z in ends for b in range(a, z + 1)] == list(range(SCORE_BINS))


def test_predictions_that_are_all_alike_have_no_slope_no_rank_and_no_ranges():
    for theta in (np.array([-0.3, 0.0, 0.0]), np.array([-4.0, 0.001, 0.0])):
        found = judged(scored(5_000, np.random.default_rng(9), theta=theta)[0], theta=theta)
        assert found.alike
        assert (found.slope, found.auc, found.groups, found.benefits) == (None, None, (), {})
        assert found.intercept.value == pytest.approx(0, abs=0.3)
        assert found.brier.lower < found.brier.value < found.brier.upper


def test_predictions_that_hardly_differ_have_a_slope_as_uncertain_as_it_is():
    rng, held = np.random.default_rng(10), []
    theta = np.array([-0.4, 0.005, 0.0])
    for number in range(80):
        counts, _, _ = scored(2_500, rng, slope=0.0, theta=theta)
        slope = judged(with_noise(counts, 4.0, rng), number=number, theta=theta).slope
        assert slope.error > 5
        held.append(slope.lower <= 0 <= slope.upper)
    assert np.mean(held) > 0.87  # three standard deviations below 0.95


def test_ranges_and_thresholds_have_labels_of_their_own_at_any_risk():
    for first in (-9.0, -0.3, 9.0):
        for length in (0.01, 1.0, 7.0):
            theta = np.array([first, length, 0.0])
            counts, _, _ = scored(50_000, np.random.default_rng(11), theta=theta)
            found = judged(counts, theta=theta)
            ranges = [(found.ends[g.first], found.ends[g.last + 1]) for g in found.groups]
            assert all(float(low) < float(high) for low, high in ranges)
            assert all(0 < float(label) < 1 for label in found.benefits)


def test_a_perfect_separation_has_a_slope_without_bounds():
    counts = np.zeros((2, SCORE_BINS))
    counts[0, :5] = counts[1, 5:] = 200
    found = judged(with_noise(counts, 1.0, np.random.default_rng(12)))
    assert found.slope is None
    assert not found.alike
    assert found.auc.value > 0.95


NAMES = ("auc", "slope", "intercept", "brier")
WORLDS = {
    "a clinic": {"n": 1_000, "noise": 5.0},
    "a small clinic": {"n": 300, "noise": 1.0},
    "rare": {"n": 2_500, "noise": 3.0, "theta": np.array([-3.5, 1.0, 0.0])},
    "miscalibrated": {"n": 900, "noise": 4.0, "slope": 0.6, "shift": 0.3},
    "spread": {"n": 800, "noise": 3.0, "theta": np.array([-2.2, 2.0, 0.0])},
}


def coverage(*, runs, n, noise, slope=1.0, shift=0.0, theta=THETA):
    """Return by measure how often its interval holds the truth, over all of its numbers."""
    rng = np.random.default_rng(8)
    world = {"slope": slope, "shift": shift, "theta": theta}
    big, eta, ill = scored(1_000_000, rng, **world)
    truth = judged(big, theta=theta)
    exact = {name: getattr(truth, name).value for name in NAMES} | {
        "auc": auc_of(eta, ill),
        "slope": slope,
    }
    having = np.array(big[1]), big.sum(axis=0)
    held = {name: [] for name in (*NAMES, "shares", "benefits")}
    for number in range(runs):
        counts, _, _ = scored(n, rng, **world)
        found = judged(with_noise(counts, noise, rng), number=number, theta=theta)
        if not found.usable:
            continue
        for name in NAMES:
            if one := getattr(found, name):  # a slope is withheld where scores drown
                held[name].append(one.lower <= exact[name] <= one.upper)
        for g in found.groups:
            ill_in, all_in = (part[g.first : g.last + 1].sum() for part in having)
            held["shares"].append(g.observed.lower <= ill_in / all_in <= g.observed.upper)
        for one, true in zip(found.benefits.values(), truth.benefits.values(), strict=True):
            held["benefits"].append(one.lower <= true.value <= one.upper)
    return {name: float(np.mean(each)) for name, each in held.items()}


@pytest.mark.parametrize("world", ["a clinic", "rare"])
def test_intervals_of_an_evaluation_cover(world):
    found = coverage(runs=40, **WORLDS[world])
    assert min(found.values()) > 0.84, found  # three standard deviations below 0.95


@pytest.mark.audit
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_every_interval_of_an_evaluation_holds_the_truth_in_93_percent_of_two_thousand_runs(world):
    found = coverage(runs=2_000, **world)
    assert min(found.values()) > 0.93, found


def test_a_spread_of_one_is_what_the_tests_take_it_to_be():
    assert pytest.approx(1.0) == LENGTH
