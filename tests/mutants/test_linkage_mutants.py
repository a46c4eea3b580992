"""Broken linkages against the search for one person who moves more than is claimed."""

import numpy as np
import pytest

from confide.errors import ContractError
from confide.jobs.linkage import asks, frozen_model, spec
from confide.jobs.linkage.assignment import ScoredPairs
from linkage_world import check_that_one_person_more_scores_their_own_pairs_alone
from linked_worlds import no_further_than_claimed


def test_no_person_moves_a_linkage_further_than_claimed():
    no_further_than_claimed(worlds=300)


@pytest.mark.mutant
def test_scores_by_id_with_the_bound_of_ones_own_side_alone_are_caught(monkeypatch):
    def moved(self, links):
        l1 = asks.STEPS * max(self.most, links)
        return l1, l1**2

    monkeypatch.setattr(asks.BestScores, "moved", moved)
    with pytest.raises(AssertionError, match="best scores"):
        no_further_than_claimed(worlds=300, most=1)


@pytest.mark.mutant
def test_a_linkage_that_forgets_the_other_table_is_caught(monkeypatch):
    monkeypatch.setattr(asks.Overlap, "moved", lambda _self, _links: (1, 1))
    with pytest.raises(AssertionError, match="overlap"):
        no_further_than_claimed(worlds=300)


def _anybody(pairs, *, first_ids, second_ids, room_first, room_second):
    """Links without room in the second table: everybody's best pairs."""
    del first_ids, second_ids, room_second
    order = np.lexsort((pairs.second, -pairs.score))
    used, kept = {}, []
    for place in order.tolist():
        one = int(pairs.first[place])
        if used.setdefault(one, 0) < room_first:
            used[one] += 1
            kept.append(place)
    return _those(pairs, kept)


def _best_of_each(pairs, *, first_ids, second_ids, room_first, room_second):
    """The t best of each person of the second table, then one of each of the first."""
    order = np.lexsort((pairs.first, -pairs.score)).tolist()
    listed = {}
    for place in order:
        listed.setdefault(int(pairs.second[place]), []).append(place)
    allowed = sorted(
        (each for places in listed.values() for each in places[:room_second]), key=order.index
    )
    few = _those(pairs, allowed)
    return _anybody(
        few, first_ids=first_ids, second_ids=second_ids, room_first=room_first, room_second=0
    )


def _those(pairs, places):
    kept = np.array(places, dtype=np.int64)
    return ScoredPairs(first=pairs.first[kept], second=pairs.second[kept], score=pairs.score[kept])


@pytest.mark.mutant
@pytest.mark.parametrize("broken", [_anybody, _best_of_each])
def test_links_without_the_walk_are_caught(broken, monkeypatch):
    monkeypatch.setattr(spec, "linked", broken)
    with pytest.raises(AssertionError):
        no_further_than_claimed(worlds=600, first=6, second=3, most=1)


@pytest.mark.mutant
def test_a_field_with_the_name_of_a_column_of_splink_is_caught(monkeypatch):
    pytest.importorskip("splink", reason="needs the extra `linkage`")
    check_that_one_person_more_scores_their_own_pairs_alone()
    fields = ("given_name", "surname", "source_dataset")
    with pytest.raises(ContractError, match="No field may be called source_dataset"):
        check_that_one_person_more_scores_their_own_pairs_alone(fields)
    monkeypatch.setattr(frozen_model, "_NAMES_OF_SPLINK", frozenset())
    with pytest.raises(AssertionError):
        check_that_one_person_more_scores_their_own_pairs_alone(fields)
