"""The fit for many terms: steps that public numbers fix, and what they lead to."""

from dataclasses import replace

import numpy as np
import pytest

from confide.plans.rounds.descent import AskScores
from confide.plans.rounds.wide import (
    AskClipped,
    AskMeans,
    AskRecalibration,
    AskSquares,
    next_wide_ask,
    walk_widely,
    wide_fit_is_better,
    width_ratio,
)
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.descent_terms import UNIT
from confide.tables.aggregates.wide_models.scale import WIDE_ROUNDS, wide_scale_of
from many_terms import MANY_TERMS, answered, auc, many_terms, predicting, slope
from models import AGGREGATE, TRUTH, cohort, world

MANY = replace(AGGREGATE, rounds=WIDE_ROUNDS, expected=40_000)
SCALE = wide_scale_of(MANY, dataset=world())
QUIET = 1e6  # of some 2⁴⁰


def given(people):
    n = len(people["ill"])
    found = {"p": np.arange(n), "rk": np.ones(n, int), "fold": np.full(n, 999)}
    return (
        found
        | {f"e{i}": people[name] for i, name in enumerate(("age", "marker", "group"))}
        | {"e3": people["ill"]}
    )


def test_questions_come_in_turn_and_are_as_many_numbers_as_are_charged():
    aggregate = replace(MANY, held_out=300)
    scale = wide_scale_of(aggregate, dataset=world())
    columns = given(cohort(2_000, np.random.default_rng(1)))
    columns["fold"] = np.arange(2_000) % 1000
    rows, noisy, kinds = DescentRows(aggregate, columns, dataset=world()), (), []
    while ask := next_wide_ask(scale, noisy, sigma=QUIET):
        kinds.append(type(ask))
        noisy += rows.answer(ask)
    in_turn = [AskMeans, AskSquares, *[AskClipped] * WIDE_ROUNDS, AskRecalibration, AskScores]
    assert kinds == in_turn
    assert len(noisy) == aggregate.coordinates(world())
    assert walk_widely(scale, noisy[:-20], sigma=QUIET).score.tolist() == (
        walk_widely(scale, noisy, sigma=QUIET).score.tolist()
    )


def test_with_the_noise_off_it_ranks_as_the_truth_does_and_is_calibrated():
    rng = np.random.default_rng(2)
    rows = DescentRows(MANY, given(cohort(40_000, rng)), dataset=world())
    noisy = answered(MANY, rows, sigma=QUIET, to=world())
    found = walk_widely(SCALE, noisy, sigma=QUIET)
    judges = cohort(20_000, rng)
    score = judges["terms"] @ found.coefficients
    best = auc(judges["terms"] @ TRUTH, judges["ill"])
    assert auc(score, judges["ill"]) > best - 0.003
    assert (1 / (1 + np.exp(-score))).mean() == pytest.approx(judges["ill"].mean(), abs=0.01)
    assert found.score[0] == pytest.approx(score.mean(), abs=0.1)
    assert found.score[1] == pytest.approx(score.std(), rel=0.25)


def test_terms_are_centred_and_what_is_asked_stands_on_a_grid():
    people = cohort(20_000, np.random.default_rng(3))
    rows = DescentRows(MANY, given(people), dataset=world())
    noisy = answered(MANY, rows, sigma=QUIET, to=world(), most=11)
    found = walk_widely(SCALE, noisy, sigma=QUIET).found
    z = people["terms"] @ found.matrix / UNIT
    length = wide_scale_of(MANY, dataset=world()).radius / UNIT  # rows beyond it weigh less
    weights = np.minimum(
        1, length / np.linalg.norm(np.column_stack([people["terms"], people["ill"]]), axis=1)
    )
    assert weights @ z[:, 1:] / len(z) == pytest.approx(np.zeros(4), abs=2e-3)
    assert (found.matrix == np.rint(found.matrix)).all()
    assert (found.centre == np.rint(found.centre)).all()


def test_how_far_the_rounds_go_is_public_and_never_the_number_of_rows():
    """Twice the rows that were expected: the same steps of the same noisy answers."""
    rng = np.random.default_rng(4)
    rows = DescentRows(MANY, given(cohort(3_000, rng)), dataset=world())
    sigma = 2.0**44
    noisy = answered(MANY, rows, sigma=sigma, to=world(), rng=rng)
    told = [walk_widely(replace(SCALE, expected=n), noisy, sigma=sigma) for n in (100, 1_000)]
    lengths = [float(np.linalg.norm(each.coefficients[1:])) for each in told]
    assert lengths[1] > 2 * lengths[0]
    assert (told[0].found.matrix == told[1].found.matrix).all()


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("size", [0.0, 1.0, 1e30, -1e30, 1e80])
def test_answers_that_no_rows_give_lead_to_finite_places(adjacency, size):
    to, aggregate = world(adjacency=adjacency), replace(MANY, held_out=200)
    rng = np.random.default_rng(5)
    whole = aggregate.coordinates(to)
    wild = [int(v) for v in size * rng.standard_cauchy(whole)]
    scale = wide_scale_of(aggregate, dataset=to)
    rounds = range(scale.begun, scale.descended + 1, scale.terms)
    for place in (scale.opening, *rounds, scale.fitted, whole):
        noisy = wild[:place]
        found = walk_widely(scale, noisy, sigma=1e12)
        assert np.isfinite(found.coefficients).all()
        assert np.isfinite(found.score).all()
        assert max(map(abs, found.place.coefficients)) < 2**26
        next_wide_ask(scale, noisy, sigma=1e12)


def test_the_rule_is_of_public_numbers_alone():
    assert width_ratio(1_000, terms=10, mu=0.5) == 50
    assert wide_fit_is_better(1_199, terms=10, mu=0.5)
    assert not wide_fit_is_better(1_200, terms=10, mu=0.5)


def test_for_a_rare_outcome_the_rule_is_of_its_public_share_too():
    rule = {"terms": 10, "mu": 0.5}
    assert wide_fit_is_better(3_300, share=0.1, **rule)  # 0.36 × 165 = 59.4
    assert wide_fit_is_better(3_300, share=0.9, **rule)
    assert not wide_fit_is_better(3_400, share=0.1, **rule)
    assert not wide_fit_is_better(3_300, share=0.2, **rule)
    assert not wide_fit_is_better(3_300, **rule)


def test_many_terms_rank_far_better_than_in_rounds_and_their_slopes_stay_near_one():
    """Forty terms of 4,000 patients at ε = 1: x = 24; mean over six draws."""
    rng, ranks, slopes = np.random.default_rng(6), {"wide": [], "rounds": []}, []
    for _ in range(6):
        columns, _, _ = many_terms(4_000, rng)
        _, x, ill = many_terms(6_000, rng)
        for name, aggregate in (
            ("wide", replace(MANY_TERMS, rounds=WIDE_ROUNDS, expected=4_000)),
            ("rounds", MANY_TERMS),
        ):
            theta = predicting(aggregate, columns, rho=0.0288, rng=rng)
            ranks[name].append(auc(x @ theta, ill))
            if name == "wide":
                slopes.append(slope(x @ theta, ill))
    assert np.mean(ranks["wide"]) > np.mean(ranks["rounds"]) + 0.03
    assert 0.8 < np.mean(slopes) < 1.25
    assert 0.6 < min(slopes) < max(slopes) < 1.6
