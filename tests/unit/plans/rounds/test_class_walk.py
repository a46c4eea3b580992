"""The fit for a rare class: its questions, levels and slopes, and how well it tells that class."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from classes_world import CLASSES, RARE_TRUTH, STAGE_TRUTH, columns_of, staged, world
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.rounds.answered import told_classes
from confide.plans.rounds.class_walk import AskClassScores, ClassWalk, walk_classes
from confide.plans.rounds.descent import AskScores
from confide.plans.rounds.in_turn import ask_in_turn
from confide.plans.rounds.wide import AskClipped, AskMeans, AskSquares
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from many_terms import auc

RARE = replace(CLASSES, rounds=WIDE_ROUNDS, expected=20_000)
SCALE = wide_scale_of(RARE, dataset=world())
QUIET = DiscreteGaussian(sigma_squared=Fraction(10**12))
"""Noise that is lost in answers that are multiplied by 2⁴⁰."""


def answered(columns, *, aggregate=RARE, rho=None, rng=None, asks=None):
    """Return answers and their sigma; without a loss there is next to no noise."""
    to, noise = world(), QUIET
    if rho is not None:
        squared = Fraction(descent_sensitivity(aggregate, dataset=to).l2_squared)
        noise = DiscreteGaussian(sigma_squared=squared / (2 * Fraction(rho)))
    rows, sigma, noisy = DescentRows(aggregate, columns, dataset=to), noise.variance() ** 0.5, ()
    while ask := ask_in_turn(aggregate, noisy, mechanism=noise, dataset=to):
        exact = rows.answer(ask)
        drawn = np.zeros(len(exact)) if rho is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, drawn, strict=True))
        if asks is not None:
            asks.append(ask)
    return noisy, sigma


def of_classes(people, x, theta):
    """Return shares that a model gives the patients."""
    powers = np.exp(x @ theta.T)
    return powers / powers.sum(axis=1, keepdims=True)


def test_questions_of_a_rare_class_come_in_turn_and_are_as_many_numbers_as_are_charged():
    aggregate, n = replace(RARE, held_out=300), 2_000
    columns = columns_of(staged(n, np.random.default_rng(1)), fold=0)
    columns["fold"], asks = np.arange(n) % 1000, []
    noisy, _ = answered(columns, aggregate=aggregate, asks=asks)
    in_turn = [AskMeans, AskSquares, *[AskClipped] * WIDE_ROUNDS, AskClassScores, AskScores]
    assert [type(ask) for ask in asks] == in_turn
    assert len(noisy) == aggregate.coordinates(world())
    assert len(asks[-1].edges) == 4 * 9
    assert all(0 < cut < 2**16 for cut in asks[-1].edges)


def test_with_the_noise_off_levels_are_those_of_classes_and_slopes_near_their_truth():
    rng = np.random.default_rng(2)
    people = staged(20_000, rng, truth=RARE_TRUTH)
    noisy, sigma = answered(columns_of(people))
    found = told_classes(RARE, noisy, reference=0, sigma=sigma, dataset=world())
    beta = found.model.predicting.reshape(3, 5)
    assert beta[:, 1:] == pytest.approx((RARE_TRUTH[1:] - RARE_TRUTH[0])[:, 1:], abs=0.45)
    judges = staged(20_000, rng, truth=RARE_TRUTH)
    shares = of_classes(judges, judges["terms"], np.vstack([np.zeros(5), beta]))
    observed = np.bincount(judges["stage"], minlength=4) / 20_000
    assert shares.mean(axis=0) == pytest.approx(observed, rel=0.12)
    assert 0.02 < observed[3] < 0.05
    assert found.model.rows == pytest.approx(20_000, rel=0.05)
    assert np.linalg.norm(found.theta[:, 1:], axis=1).min() > 0.2


def test_a_reference_is_a_matter_of_printing():
    noisy, sigma = answered(columns_of(staged(2_000, np.random.default_rng(3))))
    by = [
        told_classes(RARE, noisy, reference=k, sigma=sigma, dataset=world()).model.predicting
        for k in (0, 2)
    ]
    first, third = (each.reshape(3, 5) for each in by)
    assert third[0] == pytest.approx(-first[1])
    assert third[1] == pytest.approx(first[0] - first[1])


def test_classes_go_as_far_as_the_public_number_of_rows_says():
    rng = np.random.default_rng(4)
    noisy, sigma = answered(columns_of(staged(3_000, rng)), rho=0.03, rng=rng)
    lengths = [
        np.linalg.norm(walk_classes(replace(SCALE, expected=n), noisy, sigma=sigma).theta[:, 1:])
        for n in (100, 1_000)
    ]
    assert lengths[1] > 1.5 * lengths[0]


def test_levels_are_such_that_gaussian_scores_have_the_shares_that_totals_told():
    noisy, sigma = answered(columns_of(staged(4_000, np.random.default_rng(5), truth=RARE_TRUTH)))
    walked = walk_classes(SCALE, noisy[: SCALE.fitted], sigma=sigma)
    moved = ClassWalk(found=walked.found, theta=walked.theta + np.array([3.0, 0, 0, 0, 0]))
    assert moved.levelled().theta == pytest.approx(walked.theta, abs=1e-3)
    steep = replace(walked, theta=walked.theta * np.array([1, 3, 3, 3, 3])).levelled()
    assert not np.allclose(steep.theta[:, 0], walked.theta[:, 0], atol=0.1)


def test_the_rarest_class_is_told_at_epsilon_one_where_rounds_lose_it():
    """Of 3,000 patients 3 % are of it: rounds have an AUC of .65 and a level of .68 here."""
    rng, found = np.random.default_rng(6), []
    judges = staged(8_000, rng, truth=RARE_TRUTH)
    ill = (judges["stage"] == 3).astype(int)
    for _ in range(6):
        people = staged(3_000, rng, truth=RARE_TRUTH)
        aggregate = replace(RARE, expected=3_000)
        noisy, sigma = answered(
            columns_of(people), aggregate=aggregate, rho=Fraction(288, 10_000), rng=rng
        )
        fit = told_classes(aggregate, noisy, reference=0, sigma=sigma, dataset=world())
        beta = np.vstack([np.zeros(5), fit.model.predicting.reshape(3, 5)])
        shares = of_classes(judges, judges["terms"], beta)[:, 3]
        found.append((auc(shares, ill), shares.mean() / ill.mean()))
    best = auc(of_classes(judges, judges["terms"], RARE_TRUTH)[:, 3], ill)
    ranks, levels = np.array(found).T
    assert ranks.mean() > best - 0.04
    assert 0.75 < levels.mean() < 1.35
    assert levels.min() > 0.4


def test_a_class_that_nobody_is_of_has_the_level_of_noise_and_holds_up_no_other():
    rng = np.random.default_rng(7)
    people = staged(
        4_000, rng, truth=STAGE_TRUTH - 30 * np.array([0, 0, 0, 1])[:, None] * [1, 0, 0, 0, 0]
    )
    assert not (people["stage"] == 3).any()
    noisy, sigma = answered(columns_of(people), rho=Fraction(288, 10_000), rng=rng)
    fit = told_classes(RARE, noisy, reference=0, sigma=sigma, dataset=world())
    beta = fit.model.predicting.reshape(3, 5)
    assert beta[0, 1] == pytest.approx(1.2, abs=0.6)
    shares = of_classes(people, people["terms"], np.vstack([np.zeros(5), beta]))
    assert shares[:, 3].mean() < 0.03


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e30, -1e30, 1e80])
def test_answers_that_no_patients_give_lead_to_finite_classes(adjacency, size):
    to, aggregate = world(adjacency=adjacency), replace(RARE, held_out=200)
    whole = aggregate.coordinates(to)
    wild = [int(v) for v in size * np.random.default_rng(5).standard_cauchy(whole)]
    scale = wide_scale_of(aggregate, dataset=to)
    noise = DiscreteGaussian(sigma_squared=Fraction(10**24))
    for place in (scale.opening, scale.begun, scale.descended, scale.fitted, whole):
        found = walk_classes(scale, wild[:place], sigma=1e12)
        assert np.isfinite(found.coefficients).all()
        assert np.isfinite(found.standard).all()
        assert max(map(abs, found.place.coefficients)) < 2**26
        ask_in_turn(aggregate, wild[:place], mechanism=noise, dataset=to)
