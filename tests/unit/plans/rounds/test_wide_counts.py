"""The fit of counts with a wide bound: its unit, how far it goes, its level and its ranks."""

from dataclasses import replace

import numpy as np
import pytest

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.rounds.answered import told
from confide.plans.rounds.descent import AskScores
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.rounds.wide import (
    AskClipped,
    AskMeans,
    AskRecalibration,
    AskSquares,
    walk_widely,
)
from confide.privacy.adjacency import Adjacency
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from person_time import COUNT_TRUTH, COUNTS, asked_in_turn, columns_of, counted, world

MOST = 50
WIDE = replace(COUNTS, rounds=WIDE_ROUNDS, expected=20_000)
SCALE = wide_scale_of(WIDE, dataset=world(most=MOST))
SHIFT = np.log(730 / 365 / MOST)
"""From a log rate a year to one in units of the bounds."""


def taken(aggregate, people, *, rho=None, rng=None, most=MOST):
    to = world(most=most)
    columns = columns_of(people, aggregate=aggregate)
    return asked_in_turn(aggregate, columns, to=to, rho=rho, rng=rng)


def explained(beta, judges):
    """Return the share of the deviance of the mean rate that a model explains."""
    spent, y = judges["observed"] / 730, judges["visits"]
    mean = spent * MOST * np.exp(np.clip(judges["terms"] @ beta, -30, 30))
    level = spent * y.sum() / spent.sum()

    def deviance(of):
        logs = np.log(np.where(y > 0, y, 1) / np.where(y > 0, of, 1))
        return float((y * logs - y + of).sum())

    return 1 - deviance(mean) / deviance(level)


def test_questions_of_wide_counts_come_in_turn_and_are_as_many_numbers_as_are_charged():
    people = counted(2_000, np.random.default_rng(1), most=MOST)
    aggregate = replace(WIDE, held_out=300)
    columns = columns_of(people, aggregate=aggregate) | {"fold": np.arange(2_000) % 1000}
    to, kinds = world(most=MOST), []
    noisy, _ = asked_in_turn(aggregate, columns, to=to, asks=kinds)
    in_turn = [AskMeans, AskSquares, *[AskClipped] * WIDE_ROUNDS, AskRecalibration, AskScores]
    assert [type(ask) for ask in kinds] == in_turn
    assert {ask.unit for ask in kinds[2:-1]} == {walk_widely(SCALE, noisy, sigma=1e6).found.unit}
    assert len(noisy) == aggregate.coordinates(to)


def test_with_the_noise_off_counts_are_told_as_they_are():
    rng = np.random.default_rng(2)
    noisy, sigma = taken(WIDE, counted(20_000, rng, most=MOST))
    found = told(WIDE, noisy, sigma=sigma, dataset=world(most=MOST))
    beta = found.model.predicting
    assert beta[1:] == pytest.approx(COUNT_TRUTH[1:], abs=0.25)  # it stops early
    assert beta[0] == pytest.approx(COUNT_TRUTH[0] + SHIFT, abs=0.15)
    judges = counted(4_000, rng, most=MOST)
    score = judges["terms"] @ beta
    assert found.theta[0] == pytest.approx(score.mean(), abs=0.1)
    assert found.theta[1] == pytest.approx(score.std(), rel=0.3)
    assert found.dispersion >= 1 / MOST


@pytest.mark.parametrize(("mean", "units"), [(0.5, {1}), (4.0, {2}), (36.0, {5, 6, 7, 8, 9})])
def test_the_unit_is_the_standard_deviation_of_the_counts_whatever_their_bound(mean, units):
    rng = np.random.default_rng(3)
    for most in (50, 1000):
        people = counted(3_000, rng) | {"visits": np.minimum(rng.poisson(mean, 3_000), most)}
        noisy, sigma = taken(WIDE, people, rho=0.0288, rng=rng, most=most)
        scale = wide_scale_of(WIDE, dataset=world(most=most))
        found = walk_widely(scale, noisy, sigma=sigma).found
        assert found.unit in units, found.unit
        assert found.share * found.unit == pytest.approx(mean, rel=0.25, abs=0.2)


def test_counts_go_no_farther_than_the_declared_events_nor_than_those_that_are_told():
    rng = np.random.default_rng(4)
    noisy, sigma = taken(WIDE, counted(3_000, rng, most=MOST), rho=0.03, rng=rng)
    lengths = [
        np.linalg.norm(walk_widely(replace(SCALE, expected=n), noisy, sigma=sigma).coefficients[1:])
        for n in (100, 1_000, 10**5, 10**6)
    ]
    assert lengths[1] > 2 * lengths[0]
    assert lengths[2] == lengths[3]


@pytest.mark.parametrize("most", [5, 20, MOST])
def test_a_wide_bound_does_not_make_counts_worse_than_their_mean(most):
    """Rounds with bounds of 20 and 50 are worse (benchmarks/counts.py)."""
    rng, found = np.random.default_rng(6), []
    judges = counted(3_000, rng, most=MOST)
    for _ in range(6):
        people = counted(1_500, rng, most=most)
        noisy, sigma = taken(replace(WIDE, expected=1_500), people, rho=0.0288, rng=rng, most=most)
        beta = told(WIDE, noisy, sigma=sigma, dataset=world(most=most)).model.predicting.copy()
        beta[0] += np.log(most / MOST)
        found.append(explained(beta, judges))
    best = explained(COUNT_TRUTH + np.array([SHIFT, 0, 0, 0, 0]), judges)
    assert np.mean(found) > best - 0.05
    assert min(found) > -0.02


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e30, -1e30, 1e80])
def test_answers_that_no_patients_give_lead_to_finite_counts(adjacency, size):
    to, aggregate = world(adjacency=adjacency, most=MOST), replace(WIDE, held_out=200)
    whole = aggregate.coordinates(to)
    wild = [int(v) for v in size * np.random.default_rng(5).standard_cauchy(whole)]
    scale = wide_scale_of(aggregate, dataset=to)
    noise = DiscreteGaussian(sigma_squared=10**24)
    for place in (scale.opening, scale.begun, scale.descended, scale.fitted, whole):
        found = walk_widely(scale, wild[:place], sigma=1e12)
        assert np.isfinite(found.coefficients).all()
        assert np.isfinite(found.score).all()
        assert 1 <= found.found.unit <= MOST
        assert max(map(abs, found.place.coefficients)) < 2**26
        ask_in_turn(aggregate, wild[:place], mechanism=noise, dataset=to)
