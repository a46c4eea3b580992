"""What a teacher says of its shard is heard by nobody: not later, not louder, not by its end."""

import contextlib
import logging
import os
import sys

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from confide.learning import PATEClassifier, TemporaryLedger
from confide.release.quiet import no_output, no_warnings

N, MADE_UP = 60, 100
"""Patients, and the fewest rows on which a teacher is tried before anything is charged."""
X = np.random.default_rng(1).uniform(-1, 1, (N, 2))
Y = (X[:, 0] > 0).astype(int)


class Says(ClassifierMixin, BaseEstimator):
    """A teacher that has something to say of patients; of made-up rows it has not."""

    def fit(self, X, y):
        self.classes_, self.said_ = np.unique(y), ""
        if len(X) < MADE_UP:
            self.said_ = f"a shard of {len(X)} rows"
            self.say()
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def say(self):
        """Say it."""


class ToKeptStreams(Says):
    def say(self):
        for stream in (sys.__stdout__, sys.__stderr__):
            stream.write(self.said_)


class AboveAllLevels(Says):
    def say(self):
        for level in (logging.CRITICAL + 1, 1000, sys.maxsize):
            logging.getLogger("a library").log(level, self.said_)


class AtItsEnd(Says):
    def __del__(self):
        if getattr(self, "said_", ""):
            os.write(1, self.said_.encode())


class AtTheEndOfACircle(AtItsEnd):
    def say(self):
        self.circle_ = [self]


class AtTheEndOfAFailure(AtItsEnd):
    def predict(self, X):
        if self.said_:
            failure = ValueError(self.said_)
            self.failure_ = failure  # which holds the frame that holds self
            raise failure
        return np.zeros(len(X))


WAYS = (ToKeptStreams, AboveAllLevels, AtItsEnd, AtTheEndOfACircle, AtTheEndOfAFailure)


def heard(kind, capfd, caplog):
    """Return what is heard of a fit with such teachers, to its end and after."""
    caplog.set_level(0)
    capfd.readouterr()
    caplog.clear()
    with buffered_outputs() as streams:
        PATEClassifier(
            teacher=kind(), student=LogisticRegression(), teachers=3, bounds=[(-1, 1), (-1, 1)],
            epsilon="500", workspace=TemporaryLedger(),
        ).fit(X, Y, public=X[:5], patients=np.arange(N))  # fmt: skip
        for stream in streams:
            stream.flush()
    records = [each.getMessage() for each in caplog.records]
    return " ".join([*capfd.readouterr(), *records])


@contextlib.contextmanager
def buffered_outputs():
    """Let the streams of before be as of a program in a pipe, whatever this one was told."""
    before = sys.__stdout__, sys.__stderr__
    with (
        open(1, "w", closefd=False) as one,
        open(2, "w", closefd=False) as two,
    ):
        sys.__stdout__, sys.__stderr__ = one, two
        try:
            yield one, two
        finally:
            sys.__stdout__, sys.__stderr__ = before


@pytest.mark.parametrize("kind", WAYS, ids=lambda kind: kind.__name__)
def test_nobody_hears_a_teacher_whatever_way_it_speaks(kind, capfd, caplog):
    assert "shard" not in heard(kind, capfd, caplog)


def test_what_waits_in_a_stream_of_before_is_written_and_what_is_added_inside_is_not(capfd):
    with buffered_outputs() as (kept, _):
        kept.write("before ")
        with no_output():
            kept.write("patient 17 ")
        kept.write("after")
    assert capfd.readouterr().out == "before after"


def test_a_stream_of_before_that_is_closed_or_absent_stops_nothing(monkeypatch):
    monkeypatch.setattr(sys, "__stdout__", None)
    with open(os.devnull, "w") as closed:  # noqa: PTH123 - a stream
        monkeypatch.setattr(sys, "__stderr__", closed)
    with no_output():
        print("patient 17")  # noqa: T201


def test_loggers_speak_again_at_every_level_afterwards(caplog):
    with no_warnings():
        logging.getLogger("a library").log(10**6, "patient 17")
    logging.getLogger("a library").warning("the caller's own")
    assert [each.getMessage() for each in caplog.records] == ["the caller's own"]


def test_objects_that_the_caller_set_apart_from_the_search_for_garbage_stay_so():
    import gc

    gc.freeze()
    try:
        before = gc.get_freeze_count()
        PATEClassifier(
            teacher=AtTheEndOfACircle(), student=LogisticRegression(), teachers=2,
            bounds=[(-1, 1), (-1, 1)], epsilon="500", workspace=TemporaryLedger(),
        ).fit(X, Y, public=X[:5], patients=np.arange(N))  # fmt: skip
        assert gc.get_freeze_count() > before // 2
    finally:
        gc.unfreeze()
    assert gc.get_freeze_count() == 0
