"""Single functions of models in rounds, against what is worked out by hand."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import cohorts
from confide.plans.rounds.descent import Walk
from confide.plans.rounds.late_rounds import _NODES
from confide.plans.rounds.level_events import _covariates, _Events, _judged
from confide.plans.rounds.marginal import NODES, WEIGHTS, rare_start
from confide.plans.rounds.model_fit import dispersion
from confide.plans.rounds.score_bins import SHARES, _one, deviates
from confide.plans.rounds.whitening import Whitened, whitened
from confide.statistics import LogisticRegression
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import UNIT, terms

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
