"""Votes of teachers: how far one patient moves them, what that costs, and what is answered."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ConfideError, ContractError
from confide.jobs.learning.pate.votes import (
    Aggregation,
    Consensus,
    NoisyVotes,
    calibrated,
    moved_by,
)
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.unit import Entity
from seeded import SeededEntropy

TEACHERS, CLASSES = 3, 3
PATIENT = moved_by(Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
RHO = ZeroConcentratedDP(rho=Fraction(1, 40))


def counted(votes):
    return np.bincount(votes, minlength=CLASSES)


def farthest(pairs):
    """Return the largest L1, squared L2 and change of the largest count over pairs of votes."""
    found = np.zeros(3, dtype=np.int64)
    for one, other in pairs:
        a, b = counted(one), counted(other)
        change = (abs(a - b).sum(), ((a - b) ** 2).sum(), abs(a.max() - b.max()))
        found = np.maximum(found, change)
    return tuple(found.tolist())


def claimed(entity, adjacency):
    moved = moved_by(entity, adjacency=adjacency)
    return moved.l1, moved.l2_squared, moved.largest


def every_vote(teachers):
    return list(itertools.product(range(CLASSES), repeat=teachers))


def with_changed(most):
    """Every pair of votes of all teachers that differ in at most ``most`` of them."""
    everything = every_vote(TEACHERS)
    for one, other in itertools.product(everything, everything):
        if sum(x != y for x, y in zip(one, other, strict=True)) <= most:
            yield one, other


def test_one_teachers_vote_moves_counts_by_root_two_and_no_further():
    assert farthest(with_changed(1)) == (2, 2, 1) == claimed(Entity.PATIENT, Adjacency.ADD_REMOVE)


def test_a_patient_of_another_id_may_move_two_teachers():
    assert farthest(with_changed(2)) == (4, 8, 2) == claimed(Entity.PATIENT, Adjacency.SUBSTITUTE)


def test_a_hospital_comes_with_one_vote_and_gives_way_with_two():
    fewer = [(votes, (*votes, new)) for votes in every_vote(2) for new in range(CLASSES)]
    assert farthest(fewer) == (1, 1, 1) == claimed(Entity.HOSPITAL, Adjacency.ADD_REMOVE)
    assert farthest(with_changed(1)) == claimed(Entity.HOSPITAL, Adjacency.SUBSTITUTE)


@pytest.mark.parametrize("entity", [Entity.EVENT, Entity.EDGE])
def test_a_unit_that_may_be_in_every_shard_is_refused(entity):
    with pytest.raises(ContractError, match="many teachers"):
        moved_by(entity, adjacency=Adjacency.ADD_REMOVE)


def test_calibrated_noise_costs_exactly_what_was_asked():
    gaussian = calibrated(RHO, aggregation=Aggregation.GAUSSIAN, moved=PATIENT, queries=70)
    assert 70 * gaussian.noise.loss(l2_squared=2).rho == RHO.rho
    confident = calibrated(
        RHO, aggregation=Aggregation.CONFIDENT, moved=PATIENT, queries=70, answers=9, threshold=5
    )
    votes = 9 * confident.noise.loss(l2_squared=2).rho
    checks = 70 * confident.consensus.noise.loss(l2_squared=1).rho
    assert votes + checks == RHO.rho
    assert checks / RHO.rho == Fraction(1, 4)
    pure = calibrated(
        PureDP(epsilon=Fraction(1)), aggregation=Aggregation.LAPLACE, moved=PATIENT, queries=70
    )
    assert pure.noise == DiscreteLaplace(scale=Fraction(140))


def test_laplace_noise_under_zcdp_pays_half_the_square_of_each_query():
    votes = calibrated(RHO, aggregation=Aggregation.LAPLACE, moved=PATIENT, queries=70)
    paid = 70 * (2 / votes.noise.scale) ** 2 / 2
    assert RHO.rho * Fraction("0.999999") < paid <= RHO.rho


@pytest.mark.parametrize(
    "wrong",
    [
        {"aggregation": Aggregation.GAUSSIAN, "threshold": 3},
        {"aggregation": Aggregation.CONFIDENT},
        {"aggregation": Aggregation.GAUSSIAN, "answers": 3},
        {"aggregation": Aggregation.CONFIDENT, "threshold": 3, "answers": 11},
        {"aggregation": Aggregation.CONFIDENT, "threshold": 3, "check_share": Fraction(1)},
        {"aggregation": Aggregation.GAUSSIAN, "queries": 0},
        {"aggregation": Aggregation.GAUSSIAN, "target": PureDP(epsilon=Fraction(1))},
    ],
)
def test_settings_that_contradict_each_other_are_refused(wrong):
    target = wrong.pop("target", RHO)
    with pytest.raises(ConfideError):
        calibrated(target, **{"moved": PATIENT, "queries": 10, **wrong})


def votes_of(*, share, queries):
    return np.tile(np.array([[20, 80]], dtype=np.int64), (queries, 1))


def test_a_check_answers_as_often_as_its_law_says_and_refuses_the_rest():
    queries, check = 20_000, DiscreteGaussian(sigma_squared=Fraction(100))
    votes = NoisyVotes(
        noise=DiscreteGaussian(sigma_squared=Fraction(400)),
        queries=queries,
        answers=queries,
        consensus=Consensus(threshold=85, noise=check),
    )
    found = votes.answer(votes_of(share=0.8, queries=queries), entropy=SeededEntropy(4))
    answered = [counts for counts in found if counts is not None]
    passes = 1 - check.cdf(4)  # 80 + Z ≥ 85
    assert abs(len(answered) / queries - passes) < 4 * math.sqrt(passes / queries)
    counts = np.array(answered)
    assert abs(counts.mean(axis=0) - [20, 80]).max() < 1
    assert counts.std(axis=0) == pytest.approx([20, 20], rel=0.05)


def test_no_more_than_the_cap_is_answered_and_the_first_that_pass_are():
    consensus = Consensus(threshold=1, noise=DiscreteGaussian(sigma_squared=Fraction(1, 4)))
    votes = NoisyVotes(
        noise=DiscreteGaussian(sigma_squared=Fraction(1)),
        queries=9,
        answers=3,
        consensus=consensus,
    )
    found = votes.answer(np.full((9, 2), 50, dtype=np.int64), entropy=SeededEntropy(4))
    assert [counts is not None for counts in found] == [True] * 3 + [False] * 6
