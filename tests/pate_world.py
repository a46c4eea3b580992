"""Small worlds for PATE: databases of three patients, and an audit of one query."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest

from confide.attacks.audit.black_box import Scenario
from confide.jobs.learning.pate.teachers import count_votes, shards_of
from confide.plans.job import job_loss
from confide.privacy.measure import Measure

BaseEstimator = pytest.importorskip("sklearn.base", reason="pip install '.[sklearn]'").BaseEstimator

QUERIES = np.array([[0.0], [1.0]])
STATES = {
    "absent": (),
    "healthy": ((0, 0),),
    "ill": ((1, 1),),
    "odd": ((0, 1),),
    "both": ((0, 1), (1, 0)),
    "thrice": ((1, 1), (0, 0), (1, 1)),
}
IDS = {"anna": 0, "bert": 1, "cleo": 1, "dora": 0}
"""Patients and their shards."""


class Odd(BaseEstimator):
    """Votes for the class of the mean row, and leans on how many rows there are: easily moved."""

    def fit(self, X, y):
        self.answer_ = np.array([int(len(y) % 2), int(y.mean() > 0.4)])
        return self

    def predict(self, X):
        return self.answer_[X[:, 0].astype(int)]


def votes(database, *, places=None):
    """Exact counts of a database {id: state}."""
    rows = [(IDS[p], *row) for p, state in database.items() for row in STATES[state]]
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    shards = shards_of(
        table[:, 1:2].astype(float),
        classes=table[:, 2],
        places=table[:, 0] if places is None else places(table),
        number=2,
    )
    return count_votes(shards, teacher=Odd(), queries=QUERIES, classes=2)


def databases():
    for states in itertools.product(STATES, repeat=3):
        yield dict(zip(("anna", "bert", "cleo"), states, strict=True))


def moved(one, other):
    """Return the largest L1 and squared L2 over queries, and the change of the largest count."""
    change = one - other
    top = np.abs(one.max(axis=1) - other.max(axis=1)).max()
    return int(np.abs(change).sum(axis=1).max()), int((change**2).sum(axis=1).max()), int(top)


@functools.cache
def farthest_by_one_patient(**how):
    """Search every database of three patients and every change of one of them."""
    counts = {tuple(db.values()): votes(db, **how) for db in databases()}
    found = np.zeros(3, dtype=np.int64)
    for states, counted in counts.items():
        for place in range(3):
            for state in STATES:
                other = counts[(*states[:place], state, *states[place + 1 :])]
                found = np.maximum(found, moved(counted, other))
    return tuple(found.tolist())


def many_of(votes, exact, *, samples, entropy):
    """Ask one query many times."""
    many = replace(votes, queries=samples, answers=samples)
    return many.answer(np.tile(np.array(exact, dtype=np.int64), (samples, 1)), entropy=entropy)


def audit_of_counts(votes, *, claim):
    """Noisy counts of one answered query, of which one teacher changes the vote."""

    def run(exact, samples, entropy):
        found = many_of(votes, exact, samples=samples, entropy=entropy)
        return np.array(found, dtype=float)

    return Scenario(name="votes", claim=claim, first=(50, 50), second=(49, 51), run=run)


def audit_of_refusals(votes, *, claim):
    """Whether one query is answered, where one teacher decides if the threshold is reached."""
    threshold = votes.consensus.threshold

    def run(exact, samples, entropy):
        counts = (threshold, 0) if exact == (1,) else (threshold - 1, 1)
        found = many_of(votes, counts, samples=samples, entropy=entropy)
        return np.array([[float(each is not None)] for each in found])

    return Scenario(name="consensus", claim=claim, first=(1,), second=(0,), run=run)


def cost_of_one_query(events):
    """Return what a plan says of one query, answered or refused."""
    return job_loss(tuple(replace(event, count=1) for event in events), measure=Measure.ZCDP)


def cohort(n=1800, *, start=3):
    """Rows of made-up patients, their outcomes, and public rows."""
    rng = np.random.default_rng(start)
    X = np.column_stack([rng.uniform(0, 100, n), rng.uniform(0, 10, n)])
    y = (rng.random(n) < 1 / (1 + np.exp((50 - X[:, 0]) / 10))).astype(int)
    return X, y, np.column_stack([rng.uniform(0, 100, 60), rng.uniform(0, 10, 60)])


BOUNDS = [(0, 100), (0, 10)]


def job_of(votes, *, teacher, teachers=20):
    """Return a job on the rows that an estimator would declare."""
    from confide.jobs.learning.pate.job import Pate, ask
    from confide.tables.bound_contributions import RowBound
    from confide.tables.expression import ColumnOf
    from confide.tables.records import Records
    from confide.tables.relation import Relation

    names = ("age", "marker", "ill")
    return Pate(
        reads=Records(
            relation=Relation(table="people"),
            reads=tuple(ColumnOf(table="people", column=name) for name in names),
            bounds=RowBound(max_rows=1),
            folds=teachers,
        ),
        teachers=teachers,
        classes=("no", "yes"),
        asked=ask(np.zeros((votes.queries, 2)), teacher=teacher),
        votes=votes,
    )
