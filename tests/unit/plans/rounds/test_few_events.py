"""The fit of hazards of few events: rates by interval, steps that public numbers fix, and ranks."""

import math
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
    few_events,
    walk_widely,
)
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from person_time import EDGES, HAZARD_TRUTH, HAZARDS, RATES, columns_of, followed, world

FEW = replace(HAZARDS, rounds=WIDE_ROUNDS, expected=10_000)
SCALE = wide_scale_of(FEW, dataset=world())
QUIET = 1e6  # of some 2⁴⁰


def taken(aggregate, columns, *, rho=None, rng=None):
    """Return noisy answers, and σ; without noise where there is no loss."""
    to = world()
    moved = descent_sensitivity(aggregate, dataset=to).l2_squared
    sigma = QUIET if rho is None else math.sqrt(moved / (2 * rho))
    noise = DiscreteGaussian(sigma_squared=round(sigma**2))
    rows, noisy, kinds = DescentRows(aggregate, columns, dataset=to), (), []
    while ask := ask_in_turn(aggregate, noisy, mechanism=noise, dataset=to):
        kinds.append(type(ask))
        exact = rows.answer(ask)
        drawn = np.zeros(len(exact)) if rng is None else rng.normal(0, sigma, len(exact))
        noisy += tuple(v + round(e) for v, e in zip(exact, drawn, strict=True))
    return noisy, sigma, kinds


def ranked(score, people):
    """Return Harrell's C."""
    time, event = people["followed"], people["ill"] == 1
    first = event[:, None] & ((time[:, None] < time) | ((time[:, None] == time) & ~event))
    ahead = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    return (first * ahead).sum() / first.sum()


def test_questions_of_few_events_come_in_turn_and_are_as_many_numbers_as_are_charged():
    aggregate = replace(FEW, held_out=300)
    columns = columns_of(followed(2_000, np.random.default_rng(1)), aggregate=aggregate)
    columns["fold"] = np.arange(2_000) % 1000
    noisy, _, kinds = taken(aggregate, columns)
    in_turn = [AskMeans, AskSquares, *[AskClipped] * WIDE_ROUNDS, AskRecalibration, AskScores]
    assert kinds == in_turn
    assert len(noisy) == aggregate.coordinates(world())


def test_with_the_noise_off_it_ranks_as_the_truth_does_and_its_hazards_are_right():
    rng = np.random.default_rng(2)
    noisy, sigma, _ = taken(FEW, columns_of(followed(30_000, rng), aggregate=FEW))
    found = told(FEW, noisy, sigma=sigma, dataset=world())
    beta = found.model.predicting
    judges = followed(2_000, rng)
    best = ranked(judges["terms"][:, 1:] @ HAZARD_TRUTH, judges)
    assert ranked(judges["terms"][:, 1:] @ beta[3:], judges) > best - 0.004
    assert beta[3:] == pytest.approx(HAZARD_TRUTH, abs=0.3)  # it stops early
    levels = np.log(RATES * EDGES[-1] / 365)
    assert beta[:3] == pytest.approx(levels, abs=0.25)
    score = judges["terms"][:, 1:] @ beta[3:]
    assert found.theta[3] == pytest.approx(score.std(), rel=0.3)
    mean = np.log(np.exp(found.theta[:3]).mean()) - np.log(np.exp(beta[:3]).mean())
    assert mean == pytest.approx(score.mean(), abs=0.1)


def test_how_far_hazards_go_is_by_the_public_number_of_events():
    rng = np.random.default_rng(4)
    columns = columns_of(followed(3_000, rng), aggregate=FEW)
    noisy, sigma, _ = taken(FEW, columns, rho=0.03, rng=rng)
    told_of = [walk_widely(replace(SCALE, expected=n), noisy, sigma=sigma) for n in (20, 200)]
    lengths = [float(np.linalg.norm(each.coefficients[3:])) for each in told_of]
    assert lengths[1] > 2 * lengths[0]
    assert (told_of[0].found.matrix == told_of[1].found.matrix).all()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e30, -1e30, 1e80])
def test_answers_that_no_patients_give_lead_to_finite_hazards(adjacency, size):
    to, aggregate = world(adjacency=adjacency), replace(FEW, held_out=200)
    rng = np.random.default_rng(5)
    whole = aggregate.coordinates(to)
    wild = [int(v) for v in size * rng.standard_cauchy(whole)]
    scale = wide_scale_of(aggregate, dataset=to)
    noise = DiscreteGaussian(sigma_squared=10**24)
    for place in (scale.opening, scale.begun, scale.descended, scale.fitted, whole):
        found = walk_widely(scale, wild[:place], sigma=1e12)
        assert np.isfinite(found.coefficients).all()
        assert np.isfinite(found.score).all()
        assert max(map(abs, found.place.coefficients)) < 2**26
        ask_in_turn(aggregate, wild[:place], mechanism=noise, dataset=to)


def test_the_rule_of_few_events_is_of_public_numbers_alone():
    assert few_events(599, terms=10, mu=0.5)
    assert not few_events(600, terms=10, mu=0.5)


def test_few_events_rank_far_better_than_in_rounds():
    """A cohort of 600 patients and some 200 events: X = 200 × 0.24 / 4 = 12; mean of eight."""
    rng, ranks = np.random.default_rng(6), {"rounds": [], "wide": []}
    judges = followed(1_500, rng)
    for _ in range(8):
        people = followed(600, rng)
        for name, aggregate in (("rounds", HAZARDS), ("wide", replace(FEW, expected=200))):
            noisy, sigma, _ = taken(
                aggregate, columns_of(people, aggregate=aggregate), rho=0.0288, rng=rng
            )
            found = told(aggregate, noisy, sigma=sigma, dataset=world()).model.predicting
            ranks[name].append(ranked(judges["terms"][:, 1:] @ found[3:], judges))
    best = ranked(judges["terms"][:, 1:] @ HAZARD_TRUTH, judges)
    assert np.mean(ranks["wide"]) > np.mean(ranks["rounds"]) + 0.02
    assert np.mean(ranks["wide"]) > best - 0.05
