"""Gates that raise as they were raised at: each must be caught by the walk through what they
carry."""

from functools import partial

import numpy as np
import pytest

from confide.errors import ReleaseFailedError
from confide.release import passage
from confide.release.jobs import job_rounds
from confide.service.releasing.jobs import planned, run_in_parts, run_job
from counting_job import Counting, ThreeParts, clinic
from left_behind import everything_carried

pytestmark = pytest.mark.mutant

CANARY = "471100815"


def breaking(kind):
    def run(self, rows, *, entropy, progress, **_):
        del self, entropy, progress
        held = rows.reveal_to_job(), np.array([int(CANARY)])
        raise kind(held[1])

    return run


def shown(ws, kind, *, parts=False, sealed=True):
    """Return whether anything that leaves shows what the job held; without the door, unsealed."""
    job = ThreeParts() if parts else Counting()
    plan = planned(ws, job)
    run = run_in_parts if parts else run_job
    run = run if sealed else run.__wrapped__
    run = partial(run, runner=job) if parts else run
    with pytest.raises((ReleaseFailedError, KeyboardInterrupt)) as caught:
        run(ws, job, plan=plan, request="r")
    return any(CANARY in each for each in everything_carried(caught.value))


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("parts", [False, True], ids=["whole", "in parts"])
def test_the_real_gate_shows_nothing(kind, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(ThreeParts if parts else Counting, _method(parts), breaking(kind))
    with clinic(tmp_path) as ws:
        assert not shown(ws, kind, parts=parts)


def _method(parts):
    return "advanced" if parts else "run"


@pytest.mark.parametrize("parts", [False, True], ids=["whole", "in parts"])
def test_an_interrupt_that_is_raised_again_as_it_came_is_caught(parts, tmp_path, monkeypatch):
    for room in (passage, job_rounds):
        monkeypatch.setattr(room, "sealed", lambda work: work())
    monkeypatch.setattr(passage, "stop_of", lambda failure: failure)
    kind = KeyboardInterrupt
    monkeypatch.setattr(ThreeParts if parts else Counting, _method(parts), breaking(kind))
    with clinic(tmp_path) as ws:
        assert shown(ws, kind, parts=parts, sealed=False)


def test_a_failure_that_is_raised_inside_its_handler_is_caught(tmp_path, monkeypatch):
    def told(failure):
        del failure
        raise ReleaseFailedError("0")  # where `raise … from None` once stood

    for room in (passage, job_rounds):
        monkeypatch.setattr(room, "sealed", lambda work: work())
    monkeypatch.setattr(passage, "stop_of", told)
    monkeypatch.setattr(Counting, "run", breaking(ValueError))
    with clinic(tmp_path) as ws:
        assert shown(ws, ValueError, sealed=False)
