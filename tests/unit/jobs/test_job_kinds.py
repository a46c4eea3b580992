"""A kind of job that lacks a part is refused by name, before anything can be planned."""

from dataclasses import dataclass, replace

import pytest

from confide.errors import ContractError
from confide.jobs.kind import JobKind
from confide.jobs.kinds import KINDS, registered
from counting_job import KIND as COUNTING


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("runner", ["", "confide.jobs.learning.pate.job", "confide.nobody:Runner"])
def test_a_job_that_nothing_runs_is_refused(kind, runner):
    with pytest.raises(ContractError, match=f"Job {kind.spec.__name__} lacks runner"):
        replace(kind, runner=runner)


@pytest.mark.parametrize("part", ["kind", "reads", "events"])
def test_a_job_that_does_not_say_what_it_is_reads_or_draws_is_refused(part):
    parts = {name: "" for name in ("kind", "reads", "events") if name != part}
    spec = dataclass(frozen=True)(type("Half", (), parts))
    with pytest.raises(ContractError, match=f"Job Half lacks {part}"):
        replace(COUNTING, spec=spec)


def test_settings_that_may_change_are_refused():
    spec = type("Loose", (), {"kind": "loose", "reads": None, "events": None})
    with pytest.raises(ContractError, match="Job Loose lacks frozen settings"):
        JobKind(spec=spec, runner=COUNTING.runner)


def test_what_runs_a_job_runs_it_at_once_or_in_parts():
    for kind in KINDS:
        if kind.name == "dp-sgd":
            pytest.importorskip("torch")
        kind.require_runner()
    COUNTING.require_runner()
    with pytest.raises(ContractError, match="Job 'counting' lacks what runs it"):
        replace(COUNTING, runner="confide.jobs.kind:JobKind").require_runner()


def test_a_job_is_registered_once():
    with pytest.raises(ContractError, match="one name"):
        registered(*KINDS, KINDS[0])
