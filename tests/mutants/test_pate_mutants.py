"""Broken PATE: each must fail an audit, a search or the gate that the real one passes."""

import contextlib
import gc
import io
import logging
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from numpy import random as arrays
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from confide.attacks.audit.black_box import audit_scenario
from confide.jobs.learning.pate import job as pate_job
from confide.jobs.learning.pate import teachers
from confide.jobs.learning.pate.teachers import count_votes, shards_of
from confide.jobs.learning.pate.votes import Aggregation, calibrated, moved_by
from confide.learning import in_memory
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ZeroConcentratedDP
from confide.privacy.unit import Entity
from confide.release import quiet
from models import world
from pate_world import (
    QUERIES,
    STATES,
    audit_of_counts,
    audit_of_refusals,
    cost_of_one_query,
    farthest_by_one_patient,
    job_of,
    moved,
)
from seeded import SeededEntropy
from unit.learning import test_fits_in_threads as threads
from unit.learning import test_teachers_unheard as unheard

pytestmark = pytest.mark.mutant

SAMPLES = 20_000
PATIENT = moved_by(Entity.PATIENT, adjacency=Adjacency.ADD_REMOVE)
TARGET = ZeroConcentratedDP(rho=Fraction(20))
CLAIMED = (PATIENT.l1, PATIENT.l2_squared, PATIENT.largest)


def noise(moved=PATIENT, **how):
    return calibrated(
        TARGET, **{"aggregation": Aggregation.GAUSSIAN, "moved": moved, "queries": 40, **how}
    )


def confident():
    return noise(aggregation=Aggregation.CONFIDENT, threshold=15, check_share=Fraction(1, 2))


def events(votes):
    return job_of(votes, teacher=DecisionTreeClassifier()).events(world())


def passes(scenario) -> bool:
    return audit_scenario(scenario, samples=SAMPLES, entropy=SeededEntropy(5)).passed


def row_number(table):
    return np.arange(len(table)) % 2


def test_the_real_votes_and_checks_pass_the_audit() -> None:
    votes, checked = noise(), confident()
    assert passes(audit_of_counts(votes, claim=cost_of_one_query(events(votes))))
    (checks, _) = events(checked)
    assert checks.name == "consensus"
    assert passes(audit_of_refusals(checked, claim=cost_of_one_query((checks,))))


def test_half_the_noise_on_votes_is_caught() -> None:
    votes = noise()
    claim = cost_of_one_query(events(votes))
    half = DiscreteGaussian(sigma_squared=votes.noise.sigma_squared / 4)
    assert not passes(audit_of_counts(replace(votes, noise=half), claim=claim))


def test_an_l2_sensitivity_of_one_vote_instead_of_root_two_is_caught(monkeypatch) -> None:
    """As if a vote only came or went."""
    wrong = replace(PATIENT, l2_squared=1)
    monkeypatch.setattr(pate_job, "moved_by", lambda *_, **__: wrong)
    votes = noise(wrong)
    assert not passes(audit_of_counts(votes, claim=cost_of_one_query(events(votes))))
    assert farthest_by_one_patient() != (wrong.l1, wrong.l2_squared, wrong.largest)


def test_checks_that_are_not_charged_are_caught() -> None:
    """Only answered queries are billed: what is refused tells nothing, says the mutant."""
    checked = confident()
    (_, votes) = events(checked)
    forgotten = replace(votes, noise=DiscreteGaussian(sigma_squared=Fraction(10**6)))
    assert not passes(audit_of_refusals(checked, claim=cost_of_one_query((forgotten,))))


def test_a_plan_without_its_checks_is_refused_by_the_gate() -> None:
    from confide.errors import ContractError
    from confide.plans.job import plan_job, require_sound_job
    from confide.plans.plan import Study

    job = job_of(confident(), teacher=DecisionTreeClassifier())
    plan = plan_job(job, study=Study(id="pate"), dataset=world())
    require_sound_job(plan, job=job)
    votes_alone = tuple(event for event in plan.events if event.name == "votes")
    with pytest.raises(ContractError, match="not the one of this job"):
        require_sound_job(replace(plan, events=votes_alone), job=job)


def test_shards_by_row_instead_of_patient_are_caught() -> None:
    assert farthest_by_one_patient() == CLAIMED
    by_row = farthest_by_one_patient(places=row_number)
    assert by_row[0] > CLAIMED[0]
    assert by_row[1] > CLAIMED[1]


def test_teachers_that_saw_everybody_before_are_caught(monkeypatch) -> None:
    """One patient then moves the vote of every teacher, and two plans are one."""
    frozen = pytest.importorskip("sklearn.frozen").FrozenEstimator

    def kept(state):
        rows = np.array([[0.0], [1.0], [0.0], [1.0], *([[0.0]] * len(STATES[state]))])
        classes = np.array([0, 1, 0, 1, *(3 * len(STATES[state]) * [1])][: len(rows)])
        return frozen(DecisionTreeClassifier().fit(rows, classes))

    def farthest():
        terms, classes = np.array([[0.0], [1.0]] * 20), np.array([0, 1] * 20)
        counts = [
            count_votes(
                shards_of(terms, classes=classes, places=np.arange(40) // 4, number=10),
                teacher=kept(state),
                queries=QUERIES,
                classes=2,
            )
            for state in ("absent", "thrice")
        ]
        return moved(*counts)[0]

    assert farthest() == 0  # a teacher that is refused votes for the first class
    monkeypatch.setattr(teachers, "require_unfitted", lambda _: None)
    assert farthest() > PATIENT.l1


@contextlib.contextmanager
def each_by_itself(libraries):
    """Put standard output, warnings, coins and threads aside without looking for others."""
    coins = arrays.get_state()
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        threadpool_limits(1),
    ):
        warnings.simplefilter("ignore")
        yield
    arrays.set_state(coins)


def test_teachers_of_two_fits_that_learn_at_once_are_caught(monkeypatch, capfd) -> None:
    monkeypatch.setattr(teachers, "_alone", each_by_itself)
    with pytest.raises(AssertionError):
        threads.test_teachers_of_two_fits_learn_one_at_a_time_and_nobody_hears_them(capfd)


def kept_until_it_is_heard(shard, *, teacher, queries, classes, libraries=None):
    """Drop the copy of a teacher after the silence."""
    if len(set(shard.classes.tolist())) < 2:
        return np.zeros(len(queries), dtype=np.int64)
    with teachers._alone(libraries or teachers._libraries()):
        fitted = teachers.copy_of(teacher).fit(shard.terms, shard.classes)
        said = np.asarray(fitted.predict(queries))
    return said.astype(np.int64)


UNHEARD = {
    "streams of before": (unheard.ToKeptStreams, quiet, "_streams", tuple),
    "levels above CRITICAL": (unheard.AboveAllLevels, quiet, "_HIGHEST", logging.CRITICAL),
    "an end of its own": (unheard.AtItsEnd, teachers, "votes_of", kept_until_it_is_heard),
    "circles": (
        unheard.AtTheEndOfACircle, teachers, "_leaving_nothing", contextlib.nullcontext,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNHEARD)
def test_a_silence_that_leaves_a_way_to_speak_is_caught(name, monkeypatch, capfd, caplog) -> None:
    kind, room, what, broken = UNHEARD[name]
    assert "shard" not in unheard.heard(kind, capfd, caplog)
    monkeypatch.setattr(room, what, broken)
    said = unheard.heard(kind, capfd, caplog)
    gc.collect()
    assert "shard" in said + capfd.readouterr().out


def test_a_silence_that_each_fit_ends_by_itself_is_caught(monkeypatch, tmp_path) -> None:
    @contextlib.contextmanager
    def no_warnings():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    monkeypatch.setattr(in_memory, "no_warnings", no_warnings)
    before = warnings.filters[:]
    try:
        with pytest.raises(AssertionError):
            threads.test_a_fit_that_is_prepared_beside_a_release_leaves_it_unheard(tmp_path)
    finally:
        warnings.filters[:] = before
