"""How far one person moves links, and that no smaller bound would be true."""

import numpy as np
import pytest

from confide.jobs.linkage.assignment import ScoredPairs, best_scores, linked
from confide.privacy.adjacency import Adjacency
from linked_worlds import EDGES, STEPS, asked, moves, no_further_than_claimed, told


@pytest.mark.parametrize(("links", "most", "second"), [(1, 1, 4), (1, 2, 5), (2, 1, 3), (2, 3, 3)])
def test_all_records_of_one_person_move_a_linkage_no_further_than_claimed(links, most, second):
    no_further_than_claimed(links=links, most=most, second=second, seed=links + 10 * most)


def test_bounds_of_each_side_hold_and_are_attained():
    _, found = moves(worlds=1500, seed=3, most=1)
    assert found["overlap", "a"][0] == found["overlap", "b"][0] == 1
    assert found["overlap", "both"][0] == 2
    assert found["linked by site", "a"][0] == 3  # leaves, loses a link, another wins it
    assert found["linked by site", "b"][0] == 1
    assert found["linked by site", "both"] == (4, 6)
    assert found["score histogram", "a"][0] <= len(EDGES)
    assert found["score histogram", "b"][0] == len(EDGES)
    assert found["best scores", "a"][0] > STEPS  # and not by its own vector alone
    assert found["best scores", "a"][0] <= 2 * STEPS
    assert found["best scores", "b"][0] <= STEPS


def test_two_persons_who_want_the_same_one_attain_the_bound_of_scores_by_id():
    """K = t = 1: who leaves takes a score of 1 away, and the other wins a score of 1."""
    spec, groups = asked(most=1, ids=["a0", "a1"]), np.zeros(2, dtype=np.int64)
    scores = np.array([[STEPS], [STEPS]])
    both = told(spec, scores, ones=[0, 1], others=[0], groups=groups)["best scores"]
    taken = int(np.flatnonzero(both.sum(axis=1))[0])
    alone = told(spec, scores, ones=[1 - taken], others=[0], groups=groups)["best scores"]
    assert np.abs(both - alone).sum() == 2 * STEPS


def test_the_textbooks_bound_of_k_for_ones_own_side_is_too_small():
    """Privacy by K alone needs that nobody else's vector moves, which a cap of links undoes."""
    _, found = moves(worlds=500, seed=4, most=2, dense=1.0, first=4, second=2)
    assert found["best scores", "a"][0] > 2 * max(EDGES)


def test_links_above_a_threshold_are_a_first_part_of_the_walk():
    random = np.random.default_rng(8)
    ids = [f"a{i}" for i in range(6)], [f"b{i}" for i in range(6)]
    for _ in range(200):
        first, second = np.divmod(random.permutation(36)[:20], 6)
        score = random.choice([1, 2, 3, 4], size=20)
        walk = {"first_ids": ids[0], "second_ids": ids[1], "room_first": 1, "room_second": 1}
        whole = linked(ScoredPairs(first=first, second=second, score=score), **walk)
        high = score >= 3
        above = ScoredPairs(first=first[high], second=second[high], score=score[high])
        kept = linked(above, **walk)
        same = whole.score >= 3
        assert (whole.first[same] == kept.first).all()
        assert (whole.second[same] == kept.second).all()


def test_scores_of_a_person_are_the_largest_first_and_filled_up_with_zeros():
    links = ScoredPairs(
        first=np.array([1, 1, 0]), second=np.array([0, 1, 2]), score=np.array([9, 7, 5])
    )
    assert best_scores(links, persons=3, most=2).tolist() == [[5, 0], [9, 7], [0, 0]]


def test_a_person_who_is_replaced_moves_twice_as_much():
    spec = asked(most=2)
    for ask in spec.asks:
        once = spec.moved(ask, adjacency=Adjacency.ADD_REMOVE)
        twice = spec.moved(ask, adjacency=Adjacency.SUBSTITUTE)
        assert twice == (2 * once[0], 4 * once[1])
