"""Evaluation of a model from two noisy histograms: exact with no noise, covered with it."""

import math

import numpy as np
import pytest

from confide.plans.descent import score_edges
from confide.plans.link import FARTHEST, STEPS
from confide.plans.simulation import Simulation
from confide.statistics.logistic.evaluation import bin_means, evaluated
from confide.tables.descent import SCORE_BINS, Family

THETA = np.array([-1.5, 0.8, -0.6])
LENGTH = math.hypot(0.8, 0.6)


def histogram(n, rng, *, slope=1.0, shift=0.0):
    """Return counts by bin and outcome, linear predictors and outcomes."""
    eta = THETA[0] + LENGTH * rng.normal(size=n)
    ill = rng.random(n) < 1 / (1 + np.exp(-(THETA[0] + shift + slope * (eta - THETA[0]))))
    edges = np.array(score_edges(THETA)) / STEPS - FARTHEST
    cell = ill * SCORE_BINS + np.searchsorted(edges, eta, side="right")
    return np.bincount(cell, minlength=2 * SCORE_BINS).astype(float), eta, ill


def judged(counts, *, noise=0.0, number=0):
    return evaluated(
        counts,
        theta=THETA,
        noise=noise,
        family=Family.LOGISTIC,
        simulation=Simulation(payload_digest=f"{number:064x}"),
    )


def auc_of(eta, ill):
    ranks = np.empty(len(eta))
    ranks[np.argsort(eta)] = np.arange(1, len(eta) + 1)
    having = ill.sum()
    return (ranks[ill].sum() - having * (having + 1) / 2) / (having * (len(eta) - having))


def test_bins_of_normal_scores_hold_a_twentieth_each():
    counts, eta, _ = histogram(200_000, np.random.default_rng(1))
    assert counts.reshape(2, -1).sum(axis=0) == pytest.approx([10_000] * SCORE_BINS, rel=0.05)
    edges = np.array(score_edges(THETA)) / STEPS - FARTHEST
    bins = np.searchsorted(edges, eta, side="right")
    means = [eta[bins == k].mean() for k in range(SCORE_BINS)]
    assert bin_means(THETA) == pytest.approx(means, abs=0.02)


def test_with_the_noise_off_auc_and_brier_score_are_those_of_the_patients():
    counts, eta, ill = histogram(100_000, np.random.default_rng(2))
    found = judged(counts)
    assert found.auc.value == pytest.approx(auc_of(eta, ill), abs=0.003)
    risk = 1 / (1 + np.exp(-eta))
    assert found.brier.value == pytest.approx(np.mean((ill - risk) ** 2), abs=0.001)
    assert found.slope.value == pytest.approx(1, abs=0.05)
    assert found.intercept.value == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize(("slope", "shift"), [(0.5, 0.0), (1.0, 0.7), (1.6, -0.5)])
def test_risks_that_are_too_far_apart_or_too_high_are_told_by_the_calibration_line(slope, shift):
    counts, eta, ill = histogram(100_000, np.random.default_rng(3), slope=slope, shift=shift)
    found = judged(counts)
    assert found.slope.value == pytest.approx(slope, abs=0.08)
    risk = 1 / (1 + np.exp(-(eta + found.intercept.value)))
    assert risk.sum() == pytest.approx(ill.sum(), rel=0.02)


def test_net_benefit_is_true_positives_less_weighted_false_ones():
    counts, eta, ill = histogram(50_000, np.random.default_rng(4))
    found = judged(counts)
    for risk, benefit in zip(found.risks, found.benefits, strict=True):
        treated = 1 / (1 + np.exp(-eta)) >= risk
        expected = (treated & ill).mean() - (treated & ~ill).mean() * risk / (1 - risk)
        assert benefit.value == pytest.approx(expected, abs=0.002)


def test_too_few_held_out_patients_are_said_to_be_too_few():
    counts, _, _ = histogram(200, np.random.default_rng(5))
    assert not judged(counts, noise=4.0).usable
    assert judged(counts, noise=0.1).usable


@pytest.mark.parametrize("noise", [0.5, 4.0])
def test_intervals_of_auc_slope_and_brier_score_cover(noise):
    rng = np.random.default_rng(6)
    big, _, _ = histogram(400_000, rng)
    truth = judged(big)
    names = ("auc", "slope", "brier")
    held = dict.fromkeys(names, 0)
    runs = 100
    for number in range(runs):
        counts, _, _ = histogram(6_000, rng)
        found = judged(counts + rng.normal(0, noise, counts.shape), noise=noise, number=number)
        for name in names:
            one = getattr(found, name)
            held[name] += abs(one.value - getattr(truth, name).value) < 1.96 * one.error
    for name in names:
        assert 0.88 < held[name] / runs < 0.995, name
