"""Recalibration on half of those who are held out, judged on the other half."""

from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.plans.rounds.held_out import AS_PREDICTED, CalibrationLine, Recalibration
from confide.plans.rounds.link import mean
from confide.statistics.logistic.calibration import calibration_line
from confide.statistics.logistic.evaluation import ScoreHistogram
from confide.statistics.logistic.predictions import predicted
from confide.statistics.logistic.recalibration import recalibrated
from confide.statistics.logistic.regression import LogisticRegression
from confide.tables.aggregates.descent_terms import Family
from held_out_scores import THETA, judged, scored, simulation, with_noise
from models import ILL


def line_of(counts, *, noise=0.0, kind=Recalibration.LINE, number=0):
    found = ScoreHistogram(counts=counts, noise=noise)
    return recalibrated(found, theta=THETA, kind=kind, simulation=simulation(number))


def test_the_line_of_many_patients_is_the_true_one():
    counts, _, _ = scored(400_000, np.random.default_rng(1), slope=0.6, shift=0.5)
    found = line_of(counts)
    assert found.slope == pytest.approx(0.6, abs=0.02)
    assert found.intercept == pytest.approx(0.5 + (1 - 0.6) * THETA[0], abs=0.04)
    only = line_of(counts, kind=Recalibration.INTERCEPT)
    assert only.slope == 1
    risk = mean(Family.LOGISTIC, THETA[0] + np.random.default_rng(2).normal(size=400_000))
    moved = mean(Family.LOGISTIC, np.log(risk / (1 - risk)) + only.intercept)
    assert moved.mean() == pytest.approx(counts[1].sum() / counts.sum(), abs=0.003)


def test_risks_that_are_right_are_left_as_they_are_or_nearly():
    rng = np.random.default_rng(3)
    lines = [
        line_of(with_noise(scored(1_500, rng)[0], 4.0, rng).counts, noise=4.0, number=k)
        for k in range(40)
    ]
    assert sum(line == AS_PREDICTED for line in lines) > 15
    assert np.mean([abs(line.slope - 1) for line in lines]) < 0.12


def test_too_few_patients_recalibrate_nothing():
    counts, _, _ = scored(150, np.random.default_rng(4), slope=0.3)
    assert line_of(counts, noise=5.0) == AS_PREDICTED


def test_the_other_half_does_not_flatter_a_recalibration():
    """On the patients who drew the line the slope after it is 1 whatever its error; on others
    not."""
    rng = np.random.default_rng(5)
    same, other = [], []
    for number in range(30):
        halves = [scored(700, rng, slope=0.55)[0] for _ in range(2)]
        line = line_of(halves[0], number=number)
        for counts, slopes in zip(halves, (same, other), strict=True):
            told = predicted(THETA, line=line)
            slopes.append(float(calibration_line(counts[None], told=told, noise=0.0)[1][0]))
    assert np.std(other) > 1.5 * np.std(same)
    assert np.mean(other) == pytest.approx(1, abs=0.12)


def test_recalibration_brings_slope_and_brier_score_of_other_patients_near_the_best():
    rng = np.random.default_rng(6)
    first, _, _ = scored(5_000, rng, slope=0.5, shift=0.6)
    later, _, _ = scored(200_000, rng, slope=0.5, shift=0.6)
    line = line_of(with_noise(first, 4.0, rng).counts, noise=4.0)
    before, after = judged(later), judged(later, line=line)
    assert abs(after.slope.value - 1) < abs(before.slope.value - 1) / 2
    assert abs(after.intercept.value) < abs(before.intercept.value) / 2
    assert after.brier.value < before.brier.value
    assert after.auc.value == before.auc.value


@pytest.mark.audit
def test_intervals_after_a_recalibration_hold_the_truth_in_93_percent_of_a_thousand_runs():
    rng = np.random.default_rng(7)
    line = CalibrationLine(intercept=-0.2, slope=0.8)
    truth = judged(scored(2_000_000, rng, slope=0.7)[0], line=line)
    held = []
    for number in range(1_000):
        found = judged(
            with_noise(scored(1_200, rng, slope=0.7)[0], 4.0, rng), line=line, number=number
        )
        for name in ("slope", "intercept", "brier"):
            one = getattr(found, name)
            held.append(one.lower <= getattr(truth, name).value <= one.upper)
    assert np.mean(held) > 0.93


def test_recalibration_without_patients_held_out_is_refused():
    with pytest.raises(ContractError, match="recalibrated on patients who are held out"):
        LogisticRegression(
            id="m", table="people", of=ILL, covariates=("age",), recalibrate=Recalibration.LINE
        )
    LogisticRegression(
        id="m",
        table="people",
        of=ILL,
        covariates=("age",),
        recalibrate=Recalibration.LINE,
        hold_out=Fraction(1, 5),
    )
