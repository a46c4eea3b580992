"""Scores of pairs: functions of two rows, made without files and network, failing without cells."""

import logging
import socket

import numpy as np
import pytest

pytest.importorskip("splink", reason="needs the extra `linkage`")

from confide.errors import ContractError, EngineError
from confide.jobs.linkage import scoring
from confide.jobs.linkage.asks import STEPS
from confide.jobs.linkage.frozen_model import read_frozen_model
from confide.jobs.linkage.scoring import score_pairs, try_model
from linkage_world import FIELDS, model, person

MODEL = read_frozen_model(model(), fields=FIELDS)


def texts(people):
    columns = list(zip(*people, strict=True)) or [()] * len(FIELDS)
    return {f"t{i}": list(column) for i, column in enumerate(columns)}


def scored(first, second, *, least=1):
    pairs = score_pairs(
        texts(first), texts(second), fields=FIELDS, model=MODEL, least=least, steps=STEPS
    )
    found = zip(pairs.first.tolist(), pairs.second.tolist(), pairs.score.tolist(), strict=True)
    return {(first[i], second[j]): score for i, j, score in found}


def test_one_person_more_changes_the_scores_of_no_other_pair():
    first, second = [person(i) for i in range(20)], [person(i) for i in range(10, 30)]
    twin = (person(3)[0], person(4)[1], person(12)[2])
    before = scored(first, second)
    after = scored([*first, twin], [*second, (None, person(5)[1], None)])
    assert {pair: after[pair] for pair in before} == before
    assert len(after) > len(before)


def test_the_same_persons_score_high_and_scores_lie_between_nought_and_one():
    people = [person(i) for i in range(12)]
    found = scored(people, people, least=0)
    assert all(found[each, each] > 0.95 * STEPS for each in people)
    assert all(0 <= score <= STEPS for score in found.values())


def test_of_a_text_the_first_thousand_characters_are_compared_so_that_no_cell_makes_it_fail():
    long = "x" * scoring.LONGEST_COMPARED
    one, other = ("ada", long + "a", "1950"), ("ada", long + "b" * 5000, "1861")
    same, apart = ("ada", long + "a", "1861"), ("ada", "y" * len(long), "1861")
    found = scored([one], [other, same, apart])
    assert found[one, other] == found[one, same]
    assert found[one, apart] < found[one, same]


def test_blocking_rules_that_make_too_many_pairs_fail_before_splink_holds_them(monkeypatch):
    people = [person(i) for i in range(12)]  # three rules make twelve pairs each
    monkeypatch.setattr(scoring, "MOST_PAIRS", 36)
    assert len(scored(people, people)) == 12
    monkeypatch.setattr(scoring, "MOST_PAIRS", 35)
    with pytest.raises(EngineError) as failed:
        scored(people, people)
    assert failed.value.failure == "TooManyPairs"


def test_nobody_is_linked_with_an_empty_table():
    assert scored([], [person(1)]) == {}


def test_scoring_asks_no_network_and_writes_no_log(monkeypatch, caplog):
    def refuse(*_, **__):
        raise AssertionError("network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with caplog.at_level(logging.DEBUG):
        scored([person(1)], [person(1)])
    assert caplog.records == []


def test_a_failure_of_the_engine_tells_no_cell(monkeypatch):
    def broken(*_, **__):
        raise ValueError("Could not convert 'CANARY' to INT")

    monkeypatch.setattr(scoring, "_predicted", broken)
    with pytest.raises(EngineError) as failed:
        scored([person(1)], [person(1)])
    assert "CANARY" not in str(failed.value)
    assert failed.value.__cause__ is None
    with pytest.raises(ContractError, match="does not take the model"):
        try_model(MODEL, fields=FIELDS)


def test_scores_are_rounded_down_to_the_grid_and_what_is_no_number_is_nought():
    made = scoring._pairs(
        np.arange(4), np.arange(4), np.array([1.5, -1, np.nan, 0.9999]), steps=1000, least=0
    )
    assert made.score.tolist() == [1000, 0, 0, 999]
