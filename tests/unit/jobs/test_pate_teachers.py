"""Teachers: each sees its own shard alone, and whatever happens in one is a vote."""

import itertools
import logging
import pickle
import random
import sys
import warnings

import numpy as np
import pytest

from confide.errors import ContractError
from confide.jobs.learning.pate.teachers import (
    Shard,
    check_teacher,
    copy_of,
    described,
    shards_of,
    votes_of,
)

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pate_world import STATES, farthest_by_one_patient, moved, votes


def test_all_rows_of_a_patient_added_removed_or_changed_move_one_vote():
    assert farthest_by_one_patient() == (2, 2, 1)


def test_a_patient_who_gives_way_to_another_id_moves_at_most_two_votes():
    found = np.zeros(3, dtype=np.int64)
    pairs = list(itertools.product(STATES, repeat=2))
    with_anna = {(a, b): votes({"anna": a, "bert": b}) for a, b in pairs}
    with_cleo = {(b, c): votes({"bert": b, "cleo": c}) for b, c in pairs}
    for (_, b), before in with_anna.items():
        for c in STATES:
            found = np.maximum(found, moved(before, with_cleo[b, c]))
    assert tuple(found.tolist()) == (4, 8, 1)  # of two teachers; of three, the largest moves by 2


@pytest.mark.parametrize("order", [[2, 0, 1, 3], [3, 2, 1, 0]])
def test_the_order_of_rows_and_what_is_in_other_shards_change_no_vote(order):
    rng = np.random.default_rng(3)
    terms, classes = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    places, queries = np.arange(120) % 4, rng.normal(size=(30, 3))
    tree = DecisionTreeClassifier(max_depth=4, max_features=1)

    def votes_of_first(rows):
        shards = shards_of(terms[rows], classes=classes[rows], places=places[rows], number=4)
        return votes_of(next(shards), teacher=tree, queries=queries, classes=2)

    everybody = votes_of_first(np.arange(120))
    shuffled = np.concatenate([np.flatnonzero(places == shard)[::-1] for shard in order])
    assert (votes_of_first(shuffled) == everybody).all()
    assert (votes_of_first(shuffled[places[shuffled] != 2]) == everybody).all()
    assert 0 < everybody.mean() < 1


FOUR = np.zeros((4, 1))
MIXED = Shard(terms=FOUR, classes=np.array([0, 1, 1, 1]))


class Gambling(BaseEstimator):
    """Votes by the generators that all share, and takes as many coins as it has rows."""

    def fit(self, X, y):
        np.random.rand(len(y))
        random.random()
        return self

    def predict(self, X):
        return (np.random.rand(len(X)) < random.random()).astype(int)


def test_coins_that_teachers_share_are_the_same_for_each_whoever_came_before():
    np.random.seed(11)
    random.seed(11)
    state = random.getstate(), np.random.get_state()[1].tolist()
    queries = np.zeros((50, 1))
    first = votes_of(MIXED, teacher=Gambling(), queries=queries, classes=2)
    other = Shard(terms=np.zeros((3, 1)), classes=np.array([0, 1, 1]))
    votes_of(other, teacher=Gambling(), queries=queries, classes=2)
    assert (votes_of(MIXED, teacher=Gambling(), queries=queries, classes=2) == first).all()
    assert 0 < first.mean() < 1
    assert (random.getstate(), np.random.get_state()[1].tolist()) == state


class Panic(BaseException):
    """What libraries in Rust raise."""


class Failing(BaseEstimator):
    """Fails as it is told."""

    def __init__(self, how="fit"):
        self.how = how

    def fit(self, X, y):
        print("patient 71 is here")
        print("patient 71 is here", file=sys.stderr)
        warnings.warn("patient 71 did not converge", stacklevel=1)
        logging.getLogger("teacher").critical("patient 71 did not converge")
        if self.how == "fit":
            raise ValueError("patient 71")
        return self

    def predict(self, X):
        match self.how:
            case "leave":
                raise SystemExit("patient 71")
            case "panic":
                raise Panic("patient 71")
            case "short":
                return np.ones(1)
            case "text":
                return np.array(["ill"] * len(X))
            case "none":
                return np.array([7, -1, np.nan, 0.5][: len(X)])
            case _:
                return np.ones(len(X), dtype=int)


@pytest.mark.parametrize("how", ["fit", "leave", "panic", "short", "text", "none"])
def test_a_teacher_that_fails_votes_for_the_first_class_and_tells_nothing(how, capfd):
    found = votes_of(MIXED, teacher=Failing(how=how), queries=FOUR, classes=2)
    assert found.tolist() == [0, 0, 0, 0]
    assert capfd.readouterr() == ("", "")


def test_what_a_teacher_prints_warns_and_logs_is_dropped_when_it_succeeds_too(capfd, caplog):
    found = votes_of(MIXED, teacher=Failing(how="fine"), queries=FOUR, classes=2)
    assert found.tolist() == [1, 1, 1, 1]
    assert capfd.readouterr() == ("", "")
    assert not caplog.records
    logging.getLogger("teacher").critical("a log is open again")
    assert len(caplog.records) == 1


def test_an_empty_shard_votes_for_the_first_class_and_one_class_for_itself():
    empty = Shard(terms=FOUR[:0], classes=np.zeros(0, dtype=np.int64))
    assert votes_of(empty, teacher=GaussianNB(), queries=FOUR, classes=3).tolist() == [0] * 4
    lone = Shard(terms=FOUR, classes=np.full(4, 2))
    assert votes_of(lone, teacher=GaussianNB(), queries=FOUR, classes=3).tolist() == [2] * 4


@pytest.mark.parametrize(
    "teacher",
    [
        DecisionTreeClassifier(max_depth=2),
        RandomForestClassifier(n_estimators=5),
        GaussianNB(),
        make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()),
        GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=2),
    ],
    ids=lambda teacher: type(teacher).__name__,
)
def test_teachers_of_any_kind_learn_and_are_written_into_the_plan(teacher):
    check_teacher(teacher)
    rng = np.random.default_rng(1)
    terms = rng.normal(size=(60, 2))
    shard = Shard(terms=terms, classes=(terms[:, 0] > 0).astype(np.int64))
    queries = np.array([[-2.0, 0], [2.0, 0]])
    assert votes_of(shard, teacher=teacher, queries=queries, classes=2).tolist() == [0, 1]
    assert type(teacher).__name__ in described(teacher)["class"]
    assert described(teacher) == described(copy_without_coins(teacher))


def copy_without_coins(teacher):
    from sklearn.base import clone

    return clone(teacher)


def test_two_settings_of_a_teacher_are_two_descriptions():
    shallow, deep = DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=3)
    assert described(shallow) != described(deep)
    near, far = LogisticRegression(C=0.1), LogisticRegression(C=0.1 + 1e-17 * 2)
    assert (described(near) == described(far)) == (near.C == far.C)


def test_coins_of_a_teacher_are_public_and_given_ones_are_kept():
    assert copy_of(DecisionTreeClassifier()).random_state == 0
    assert copy_of(make_pipeline(DecisionTreeClassifier(random_state=5)))[0].random_state == 5


@pytest.mark.parametrize(
    ("teacher", "told"),
    [
        (DecisionTreeClassifier, "object"),
        ("tree", "fit, predict"),
        (RandomForestClassifier(n_jobs=2), "n_jobs=1"),
        (make_pipeline(LogisticRegression(verbose=1)), "verbose=0"),
        (make_pipeline(GaussianNB(), memory="cache"), "memory=None"),
        (GridSearchCV(GaussianNB(), {}, scoring=lambda *_: 0), "plan"),
    ],
)
def test_a_teacher_that_speaks_or_cannot_be_written_down_is_refused_with_the_fix(teacher, told):
    with pytest.raises(ContractError, match=told):
        check_teacher(teacher)


def test_a_shard_prints_nothing_and_cannot_be_stored():
    assert repr(MIXED) == str(MIXED) == "<secret>"
    with pytest.raises(TypeError, match="not to be stored"):
        pickle.dumps(MIXED)
