"""Single functions of models in rounds, against what is worked out by hand."""

import math
from dataclasses import replace
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

import cohorts
from confide.plans.rounds.classes import gaussian_shares, pairs
from confide.plans.rounds.descent import Walk
from confide.plans.rounds.late_rounds import _NODES
from confide.plans.rounds.level_events import (
    _covariates,
    _Events,
    _judged,
    _Levels,
    _Measured,
    _told,
)
from confide.plans.rounds.link import mean_table
from confide.plans.rounds.marginal import NODES, WEIGHTS, rare_start
from confide.plans.rounds.model_estimates import (
    FEW_EVENTS,
    STOPPED,
    TOO_FEW,
    Published,
    forecast_of,
)
from confide.plans.rounds.model_fit import ModelFit, _far, dispersion
from confide.plans.rounds.score_bins import SHARES, _one, deviates
from confide.plans.rounds.shrinkage import pooled
from confide.plans.rounds.whitening import Whitened, possible, whitened
from confide.statistics import LogisticRegression
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT, Family, terms

HOSPITAL = cohorts.hospital()
MODEL = next(each for each in cohorts.every_statistic() if isinstance(each, LogisticRegression))
AGGREGATE = cohorts.plan_of((MODEL,), dataset=HOSPITAL).measurements[0].aggregate
SCALE = scale_of(AGGREGATE, dataset=HOSPITAL)


def walk_of(matrix, *, curvature, spread):
    size = len(matrix)
    return Walk(
        whitened=Whitened(rows=1000.0, usable=True, matrix=UNIT * matrix, drowned=np.zeros(size)),
        theta=np.zeros(size),
        estimate=np.zeros(size),
        curvature=curvature,
        spread=spread,
        left=np.zeros(size),
        error=np.eye(size),
        noise=1.0,
        each=1.0,
        last=0.1,
        blurred=0.1,
    )


def test_events_are_few_below_fifteen_or_two_deviations_of_their_noise():
    def few(found, *, noise):
        one = np.array([float(found)])
        of = _Events(found=one, noise=np.array([noise]), used=one, gradient=np.zeros(1))
        return bool(_judged(of, one=1.0).few[0])

    assert [few(found, noise=0.1) for found in (14, 16)] == [True, False]
    assert [few(found, noise=12.0) for found in (23, 25)] == [True, False]


def test_the_curvature_of_a_rare_category_counts_by_twice_the_clip_squared():
    known = terms(AGGREGATE, dataset=HOSPITAL)
    whole = np.eye(len(known))
    matrix = np.diag([1] + [40] * (len(known) - 1))  # each category has a share of 1/1600
    walked = walk_of(matrix, curvature=whole, spread=whole)
    levels = next(_covariates(walked, aggregate=AGGREGATE, dataset=HOSPITAL))
    squared = 1600 + len(known) - 1 - len(levels.terms)
    assert levels.share[1:] == pytest.approx(1 / 1600)
    assert levels.weight[1:] == pytest.approx(math.sqrt(len(known) / squared))
    assert levels.curved[1:] == pytest.approx(2 * len(known) / squared)


def test_a_step_towards_a_rare_outcome_begins_where_the_intercept_has_no_gradient_left():
    at, left = rare_start(np.zeros(2), np.array([-490.0, 7.0]), rows=1000, least=3)
    assert at[0] == pytest.approx(math.log(0.01 / 0.99), abs=1e-6)
    assert left == pytest.approx([0.0, 7.0], abs=1e-6)


def test_a_step_begins_far_out_where_nearly_all_have_the_outcome_and_terms_count_for_much():
    theta = np.array([0.0, 12.0])
    begun, left = rare_start(theta, np.array([490.0, 0.0]), rows=1000, least=3)
    risk = 1 / (1 + np.exp(-np.clip(begun[0] + 12 * NODES, -16, 16)))
    assert float(WEIGHTS @ risk) == pytest.approx(0.99, abs=1e-6)
    assert left[0] == pytest.approx(0, abs=1e-3)


def test_outcomes_that_vary_by_their_slope_are_of_dispersion_one():
    z = np.random.default_rng(5).normal(size=(200_000, SCALE.terms))
    z[:, 0] = 1
    length = np.linalg.norm(z, axis=1)
    weight = np.minimum(1, SCALE.clip / UNIT / length)
    spread, curvature = ((weight**power) @ length**2 for power in (2, 1))
    one = np.eye(SCALE.terms)
    walked = walk_of(one, curvature=curvature * one, spread=spread * one)
    assert dispersion(walked, scale=SCALE) == pytest.approx(1, abs=0.01)


def test_the_noise_of_a_term_is_told_by_the_squares_of_its_directions():
    d, rows = SCALE.terms, 10_000.0
    moments = np.diag([1.0] + [0.25] * (d - 1))
    moments[1, 1] = moments[2, 2] = 0.125  # of their sum and difference, one has no variance
    moments[1, 2] = moments[2, 1] = -0.125
    entries = rows * SCALE.moments * UNIT**2 * moments[np.triu_indices(d)]
    found = whitened(entries, scale=SCALE, sigma=rows * SCALE.moments * UNIT**2 * 1e-3)
    assert found.drowned == pytest.approx([0.0, 0.5, 0.5] + [0.0] * (d - 3), abs=1e-9)


def test_a_tail_is_drawn_to_a_normal_one_by_the_share_of_its_distance_that_is_error():
    usual, both, noise = float(SHARES[0] / (SHARES[0] + SHARES[1])), 1000.0, 40.0
    apart = 0.1
    pair = both * np.array([usual + apart, 1 - usual - apart])
    error = usual * (1 - usual) / both
    error += (usual * usual + (1 - usual) * (1 - usual)) * noise * noise / both / both
    share = usual + apart * (1 - error / (apart * apart))
    assert _one(pair, noise=noise) == pytest.approx(math.log(usual) / math.log(share))
    assert _one(pair, noise=noise) < _one(pair, noise=1.0)


def test_scores_beyond_the_last_edges_are_as_far_out_as_normal_ones_times_a_stretch():
    usual, stretched = deviates(), deviates((2.0, 3.0))
    edge = NormalDist().inv_cdf(float(SHARES[0]))
    assert stretched[0] - edge == pytest.approx(2 * (usual[0] - edge))
    assert stretched[-1] + edge == pytest.approx(3 * (usual[-1] + edge))
    assert np.array_equal(stretched[1:-1], usual[1:-1])


def test_rows_are_enough_for_a_fit_from_ten_deviations_of_their_noise():
    d, rows = SCALE.terms, 1_000.0
    entries = rows * SCALE.moments * UNIT**2 * np.eye(d)[np.triu_indices(d)]
    unit = SCALE.moments * UNIT**2
    usable = [
        whitened(entries, scale=SCALE, sigma=unit * rows / times).usable for times in (9.9, 10.1)
    ]
    assert usable == [False, True]


def test_what_two_places_of_an_interval_say_is_exact_for_cubes():
    places = np.array(_NODES)
    means = [float((places**power).mean()) for power in range(4)]
    assert means == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])


def test_a_matrix_is_drawn_to_a_model_by_noise_in_the_units_of_the_model():
    told = []

    def all_kept(values, random):
        told.append(random)
        return np.ones(len(values))

    model, measured = np.diag([2.0, 4.0]), np.array([[3.0, 0.5], [0.5, 5.0]])
    found = pooled(measured, model=model, noise=0.5, least=0.05, kept=all_kept)
    assert found == pytest.approx(measured)
    assert told == [pytest.approx(0.25 * (1 / 4 + 1 / 8 + 1 / 8 + 1 / 16))]


def fit_of(*, usable=True, stopped=False, scarce=False):
    one, none = np.ones(1), np.zeros(1, dtype=bool)
    return ModelFit(
        coefficients=2 * one,
        sampling=0.75 * one,
        noise=0.25 * one,
        predicting=1.5 * one,
        drowned=0 * one,
        few=none,
        scarce=np.array([scarce]),
        short=none,
        rows=100.0,
        usable=usable,
        stopped=stopped,
    )


def test_a_coefficient_is_flagged_by_what_is_wrong_with_it_and_by_nothing_else():
    published = Published(statistic="m", ratio="odds ratio", level=0.95)

    def flags(**of):
        estimates = published.of_term(fit_of(**of), 0, key=("age",), step=(1.0, "1"), slope=True)
        return [each.flags for each in estimates]

    assert flags() == [(), (), ()]
    assert flags(scarce=True) == [(FEW_EVENTS,), (FEW_EVENTS,), ()]
    assert flags(usable=False, scarce=True) == [(TOO_FEW,)] * 3
    assert flags(stopped=True) == [(STOPPED,)] * 3


def test_a_coefficient_is_shown_with_all_its_error():
    published = Published(statistic="m", ratio="odds ratio", level=0.95)
    ratio, log_ratio, predicting = published.of_term(
        fit_of(), 0, key=("age",), step=(3.0, "1"), slope=True
    )
    assert (log_ratio.value, log_ratio.standard_error) == (6.0, 3.0)
    assert log_ratio.upper == pytest.approx(6 + 3 * 1.959964)
    assert ratio.value == pytest.approx(math.exp(6))
    assert predicting.value == 4.5


def test_half_of_the_errors_of_a_normal_law_are_within_two_thirds_of_a_deviation():
    late = SCALE.rounds - SCALE.early
    noise = 1000 * SCALE.gradients[-1] * UNIT * RESIDUAL
    found = forecast_of(50.0, noise=noise, scale=SCALE, level=0.95, note="")
    assert found.half_width == pytest.approx(1.959964 * 20 / math.sqrt(late), rel=1e-4)
    assert found.median_error == pytest.approx(0.67449 * 20 / math.sqrt(late), rel=1e-3)


def test_events_are_scarce_within_a_deviation_of_what_both_sources_leave():
    one = np.ones(3)
    levels = _Levels(terms=[1, 2], along=np.eye(3), share=one, weight=0.8 * one, curved=0.5 * one)

    def scarce(measured):
        of = _Measured(
            measured=np.array(measured),
            noise=2 * one,
            gradients=np.zeros((2, 3)),
            gradient_noise=1.5 * one,
            shares=np.full((2, 3), 0.25),
            slope=np.full((2, 3), 0.6),
            used=np.array(measured),
            whole=60.0,
        )
        return _told(levels, of, one=1.0).scarce.tolist()

    precise = 1 / 4, 1 / 100  # of a guess of twenty, half of it off
    late = 0.6 * math.sqrt(2) / 2 * 1.5 / 0.8
    end = 30 + math.hypot(2 / math.sqrt(sum(precise)), late)
    least = (end / 2 * sum(precise) - 20 * precise[1]) / precise[0]
    assert scarce([least - 0.01, least + 0.01, least + 5]) == [True, False, False]


def test_a_mean_is_tabled_for_each_of_a_thousand_and_twenty_four_steps():
    table = mean_table(Family.LOGISTIC)
    assert len(table) == 32 * 1024
    assert table[16 * 1024 + 2047] == round(RESIDUAL / (1 + math.exp(-2047.5 / 1024)))


def test_pairs_of_classes_share_their_chances_over_gaussian_terms():
    assert pairs(3) == [(0, 1), (0, 2), (1, 2)]
    theta = np.array([[0.0, 0.0, 0.0], [0.5, 1.0, 0.0], [-0.5, 0.4, -0.8]])
    z = np.random.default_rng(3).normal(size=(300_000, 3))
    z[:, 0] = 1
    powers = np.exp(z @ theta.T)
    shares = powers / powers.sum(axis=1, keepdims=True)
    found = gaussian_shares(theta).curvature()
    for each, (a, b) in zip(found, pairs(3), strict=True):
        weight = shares[:, a] * shares[:, b]
        assert each == pytest.approx((z * weight[:, None]).T @ z / len(z), abs=0.003)


def test_a_step_of_a_model_whose_terms_tell_nothing_begins_at_the_share_of_the_outcome():
    at, left = rare_start(np.zeros(3), np.array([-490.0, 3.0, -3.0]), rows=1000, least=3)
    assert at == pytest.approx([math.log(0.01 / 0.99), 0, 0], abs=1e-6)
    assert left == pytest.approx([0.0, 3.0, -3.0], abs=1e-6)


def test_answers_are_cut_to_twice_what_rows_can_add_up_to_and_ten_deviations_of_noise():
    wild = np.full(SCALE.length, 1e30)
    cut = possible(wild, rows=100.0, scale=SCALE, sigma=7.0)
    first = SCALE.opening
    most = 2 * 100.0 * math.sqrt(SCALE.terms) * UNIT * RESIDUAL
    assert cut[first] == pytest.approx(most * SCALE.gradients[0] + 70)
    late = first + SCALE.early * SCALE.gradient + SCALE.curved + SCALE.spread
    assert cut[late - 1] == 1e30  # of curvature and spread
    assert cut[late] == pytest.approx(most * SCALE.gradients[-1] + 70)
    assert np.array_equal(possible(-wild, rows=100.0, scale=SCALE, sigma=7.0), -cut)


def test_curvature_is_too_far_from_where_the_first_late_gradient_was_asked_for():
    whole = np.eye(len(terms(AGGREGATE, dataset=HOSPITAL)))
    walked = walk_of(whole, curvature=whole, spread=whole)
    assert not _far(walked, aggregate=AGGREGATE)
    near, away = np.zeros(len(whole)), np.full(len(whole), 2.0)
    for asked, is_far in (((near, away), False), ((away, near), True)):
        of = replace(walked, evidence=SimpleNamespace(asked=np.array(asked)))
        assert _far(of, aggregate=AGGREGATE) is is_far
