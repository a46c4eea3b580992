"""Scores move as the lemma says and no less; choices follow the exponential mechanism."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import InvalidParameterError, UnsupportedError
from confide.jobs.synthesis.counts import (
    exact_table,
    merged_levels,
    renamed,
    rows_in_all,
    shares_of,
)
from confide.jobs.synthesis.scores import (
    Components,
    pair_scores,
    spanning_pairs,
    triple_scores,
)
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.set_selection import SetSelection
from confide.plans.events import JobEvent
from seeded import SeededEntropy

PAIRS = ((0, 1), (0, 2), (1, 2))
SIZES = (2, 2, 3)


def moves(score, *, most, start):
    """Return the most that one patient of up to ``most`` rows moves a score, and a lead."""
    rng = np.random.default_rng(start)
    moved = lead = counts = 0
    for _ in range(300):
        rows = np.stack([rng.integers(0, s, 12) for s in SIZES], axis=1)[: rng.integers(0, 12)]
        extra = np.stack([rng.integers(0, s, most) for s in SIZES], axis=1)
        extra = np.repeat(extra[:1], most, axis=0) if rng.random() < 0.5 else extra
        one, other = score(rows), score(np.vstack([rows, extra]))
        change = [other[pair] - one[pair] for pair in PAIRS]
        moved = max(moved, *map(abs, change))
        lead = max(lead, max(change) - min(change))
        table = exact_table(np.vstack([rows, extra]), (0, 2), sizes=SIZES) - exact_table(
            rows, (0, 2), sizes=SIZES
        )
        counts = max(counts, int((table**2).sum()))
    return moved, lead, counts


@pytest.mark.parametrize("most", [1, 3])
def test_a_patient_moves_a_score_by_their_rows_and_a_lead_by_twice_as_many(most):
    noisy = [np.array([3.0, 4.0]), np.array([5.0, 1.0]), np.array([2.0, 2.0, 3.0])]

    def score(rows):
        return pair_scores(rows, PAIRS, noisy=noisy, total=7.3)

    assert moves(score, most=most, start=1) == (most, 2 * most, most**2)


@pytest.mark.parametrize("most", [1, 3])
def test_the_same_holds_of_triples_with_a_target(most):
    target = 3
    tables = {0: np.array([[3.0, 1], [2, -1]]), 1: np.array([[1.0, 1], [2, 2]]),
              2: np.array([[1.0, 0], [2, 2], [0, 3]])}  # fmt: skip

    def score(rows):
        column = rows.sum(axis=1, keepdims=True) % 2
        return triple_scores(
            np.hstack([rows, column]), PAIRS, target=target, with_target=tables,
            of_target=np.array([5.0, 4.0]), sizes=(*SIZES, 2), error=0.8,
        )  # fmt: skip

    assert moves(score, most=most, start=2) == (most, 2 * most, most**2)


def test_a_pair_that_noise_would_drown_scores_less_than_none():
    rows = np.zeros((10, 3), dtype=np.int64)
    rows[:5] = 1
    tables = {0: np.array([[5.0, 0], [0, 5]]), 1: np.array([[5.0, 0], [0, 5]])}
    known = {"target": 2, "with_target": tables, "of_target": np.array([5.0, 5.0])}
    drowned = triple_scores(rows, [(0, 1)], sizes=(2, 2, 2), error=4.0, **known)
    assert drowned[0, 1] == -4 * 8


CHOICE = SetSelection(epsilon=Fraction(1), reach=2, size=1, candidates=4)


def spanned(scores, *, may_stop, seed, variables=3, joined=()):
    return spanning_pairs(
        scores,
        components=Components(range(variables), joined=joined),
        choice=CHOICE,
        may_stop=may_stop,
        entropy=SeededEntropy(seed),
    )


@pytest.mark.parametrize("may_stop", [False, True])
def test_first_edges_follow_the_exponential_mechanism(may_stop):
    scores = {(0, 1): 3, (0, 2): 0, (1, 2): -2}
    runs = 800
    found = Counter(spanned(scores, may_stop=may_stop, seed=i)[:1] for i in range(runs))
    weights = {(pair,): math.exp(u / 2) for pair, u in scores.items()}
    if may_stop:
        weights[()] = 1.0
    total = sum(weights.values())
    distance = sum(
        (found[edge] - runs * w / total) ** 2 / (runs * w / total) for edge, w in weights.items()
    )
    assert distance < 21  # 3 degrees of freedom: one in ten thousand


def test_edges_make_a_tree_whatever_is_joined_before():
    scores = dict.fromkeys(itertools.combinations(range(5), 2), 0)
    for seed in range(20):
        found = spanned(scores, may_stop=False, seed=seed, variables=5, joined=((0, 1, 2),))
        assert len(found) == 2
        assert not {(0, 1), (0, 2), (1, 2)} & set(found)
        joined = Components(range(5), joined=((0, 1, 2), *found))
        assert joined.number == 1


def test_levels_below_three_deviations_are_merged_and_rows_follow():
    merging = merged_levels([np.array([90, 4, 70, -2]), np.array([90, 29])], deviation=10)
    assert [names.tolist() for names in merging] == [[0, 2, 1, 2], [0, 1]]
    rows = np.array([[0, 0], [1, 1], [2, 0], [3, 1]])
    assert renamed(rows, merging).tolist() == [[0, 0], [2, 1], [1, 0], [2, 1]]


def test_the_total_weighs_columns_by_their_noise():
    assert rows_in_all([np.array([4.0, 6.0]), np.array([1.0, 2, 3, 10])]) == pytest.approx(12.0)
    assert rows_in_all([np.array([-4.0, 1.0])]) == 1.0
    assert shares_of(np.array([-1.0, -2.0])).tolist() == [0.5, 0.5]


def test_a_job_chooses_one_at_a_time_and_says_how_far_a_lead_moves():
    chosen = {"name": "choice", "l1": 1, "l2_squared": 1, "count": 8, "because": "a row counts."}
    event = JobEvent(noise=CHOICE, reach=2, **chosen).event
    assert event.epsilon() == 8
    assert event.rho() == 1
    assert JobEvent(noise=CHOICE, reach=4, **chosen).event.rho() == 4
    with pytest.raises(InvalidParameterError, match="Expected reach ≥ 1"):
        JobEvent(noise=CHOICE, **chosen)
    with pytest.raises(UnsupportedError, match="one candidate at a time"):
        JobEvent(noise=replace(CHOICE, size=2), reach=2, **chosen)
    with pytest.raises(InvalidParameterError, match="has no reach"):
        JobEvent(noise=DiscreteGaussian(sigma_squared=Fraction(4)), reach=2, **chosen)
