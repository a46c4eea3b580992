"""PATE as a job: what it says it draws, what it reads, and what leaves it."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.tree import DecisionTreeClassifier

from confide.errors import ConfideError, ContractError
from confide.jobs.learning.pate.job import VOTES, ask, read_votes, terms_names
from confide.jobs.learning.pate.votes import Consensus, NoisyVotes
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.plans.job import plan_job
from confide.plans.plan import Study
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.rows.records import RecordRows
from models import world
from pate_world import job_of
from seeded import SeededEntropy

TREE = DecisionTreeClassifier(max_depth=2)
QUIET = DiscreteGaussian(sigma_squared=Fraction(1, 10**6))
"""Noise that is 0: exact votes can be seen."""


def votes(queries=3, *, noise=QUIET):
    return NoisyVotes(noise=noise, queries=queries, answers=queries)


def hospitals(dataset):
    return replace(dataset, unit=replace(dataset.unit, entity=Entity.HOSPITAL))


def of_hospitals(job):
    return replace(job, reads=replace(job.reads, unit=Entity.HOSPITAL))


def records(job, *, patients):
    """Return rows of (patient, fold, age, marker, ill)."""
    table = np.array(patients, dtype=np.int64).reshape(-1, 5)
    names = ("p", "fold", "e0", "e1", "e2")
    found = dict(zip(names, table.T, strict=True)) | {"rk": np.ones(len(table), dtype=np.int64)}
    return RecordRows(found, columns=3, most=1)


def ran(job, dataset, *, patients, told=None):
    plan = plan_job(job, study=Study(id="pate"), dataset=dataset)
    files = job.run(
        records(job, patients=patients),
        plan=plan,
        entropy=SeededEntropy(1),
        progress=(lambda _: None) if told is None else told.append,
    )
    return read_votes(files[VOTES])


@pytest.mark.parametrize(
    ("dataset", "moves"),
    [
        (world(), {"consensus": (1, 1), "votes": (2, 2)}),
        (world(adjacency=Adjacency.SUBSTITUTE), {"consensus": (2, 4), "votes": (4, 8)}),
        (hospitals(world()), {"consensus": (1, 1), "votes": (1, 1)}),
    ],
    ids=["patient", "substitute", "hospital"],
)
def test_checks_are_charged_for_every_query_and_votes_for_those_answered(dataset, moves):
    checked = NoisyVotes(
        noise=DiscreteGaussian(sigma_squared=Fraction(900)),
        queries=50,
        answers=20,
        consensus=Consensus(threshold=12, noise=DiscreteGaussian(sigma_squared=Fraction(2500))),
    )
    events = {each.name: each for each in job_of(checked, teacher=TREE).events(dataset)}
    assert {name: (e.l1, e.l2_squared) for name, e in events.items()} == moves
    assert {name: e.count for name, e in events.items()} == {"consensus": 50, "votes": 20}
    assert events["consensus"].noise.sigma_squared == 2500
    assert events["votes"].noise.sigma_squared == 900


def test_every_shard_of_patients_votes_and_absent_ones_say_the_first_class():
    job = job_of(votes(), teacher=TREE, teachers=5)
    told = []
    found = ran(job, world(), patients=[(7, 1, 90, 500, 1), (8, 4, 20, 500, 1)], told=told)
    assert found == ((3, 2),) * 3
    assert ran(job, world(), patients=[]) == ((5, 0),) * 3
    assert told == [f"teacher {i} of 5" for i in range(1, 6)] + ["noise"]


def test_every_hospital_there_is_votes_and_progress_does_not_say_how_many():
    job = of_hospitals(job_of(votes(), teacher=TREE, teachers=5))
    told, world_of_hospitals = [], hospitals(world())
    patients = [(7, 1, 90, 500, 1), (8, 1, 20, 500, 0), (9, 1, 20, 500, 1)]
    assert ran(job, world_of_hospitals, patients=patients, told=told) == ((1, 2),) * 3
    assert ran(job, world_of_hospitals, patients=[]) == ((0, 0),) * 3
    assert told == ["noise"]


def test_teachers_learn_terms_in_their_units_and_vote_on_public_ones():
    job = job_of(votes(2), teacher=TREE, teachers=2)
    public = np.array([[20.0, 5.0], [90.0, 5.0]])
    job = replace(job, asked=ask(public, teacher=TREE))
    patients = [(i, i % 2, age, 500, int(age > 50)) for i, age in enumerate(range(0, 100, 5))]
    assert ran(job, world(), patients=patients) == ((2, 0), (0, 2))
    assert terms_names(job.reads.reads[:-1], dataset=world()) == ("age", "marker")


def test_what_leaves_is_noisy_votes_and_nothing_else():
    job = job_of(votes(noise=DiscreteGaussian(sigma_squared=Fraction(100))), teacher=TREE)
    plan = plan_job(job, study=Study(id="pate"), dataset=world())
    rows = records(job, patients=[(7, 1, 90, 500, 1)])
    files = job.run(rows, plan=plan, entropy=SeededEntropy(1), progress=lambda _: None)
    assert list(files) == [VOTES]
    body = json.loads(files[VOTES])
    assert body.keys() == {"format", "classes", "queries", "votes"}
    assert body["votes"] != [[19, 1]] * 3
    assert all(isinstance(count, int) for counts in body["votes"] for count in counts)


@pytest.mark.parametrize(
    ("change", "dataset", "told"),
    [
        ({"teachers": 21}, world(), "folds"),
        ({"teachers": 1}, world(), "2 to"),
        ({"classes": ("yes", "no")}, world(), "declared category"),
        ({"votes": votes(4)}, world(), "as many queries"),
        ({"asked": ask(np.zeros((3, 5)), teacher=TREE)}, world(), "public rows"),
        ({}, replace(world(), unit=replace(world().unit, entity=Entity.EVENT)), "many teachers"),
    ],
)
def test_a_job_that_does_not_suit_the_data_set_is_refused_before_it_is_charged(
    change, dataset, told
):
    job = replace(job_of(votes(), teacher=TREE), **change)
    with pytest.raises(ContractError, match=told):
        plan_job(job, study=Study(id="pate"), dataset=dataset)


def test_public_rows_that_were_changed_after_the_plan_are_refused():
    job = job_of(votes(), teacher=TREE)
    job.events(world())
    queries, _ = job.asked.held()
    queries[0, 0] = 1
    with pytest.raises(ConfideError, match="not those of the plan"):
        job.events(world())
