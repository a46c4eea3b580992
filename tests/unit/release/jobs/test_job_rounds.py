"""Jobs in parts: charged once, each part committed once, resumed after a kill, burned by
failure."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.growth import part_key
from confide.budget.ledger import State, Step
from confide.errors import BurnedError, InvalidParameterError, PolicyError, ReleaseFailedError
from confide.release.asking import charge_request
from confide.release.jobs import job_rounds
from confide.release.jobs.job_rounds import _raising
from confide.release.passage import BoughtAnswer
from confide.release.verify.verify import verify
from confide.service.releasing.jobs import gate_of, planned, run_in_parts
from counting_job import ThreeParts, clinic
from left_behind import everything_carried
from pages import ROOT

CANARY = "patient 17 has the value 4711"
CHARGE = 1_500_000_000


def run(ws, job=None, request="r", **given):
    job = job or ThreeParts()
    return run_in_parts(ws, job, plan=planned(ws, job), runner=job, request=request, **given)


def entries(ws):
    return ws.ledger.entries("clinic")


def killed(folder, place):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("rounds_worker.py")), str(folder), place],
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'tests'}"},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-2000:]


def test_a_job_in_parts_is_charged_once_and_each_part_is_in_the_ledger(tmp_path):
    with clinic(tmp_path) as ws:
        found = run(ws)
        assert [entry.amount.nano for entry in entries(ws)] == [CHARGE, 0, 0, 0]
        assert {entry.state for entry in entries(ws)} == {State.PUBLISHED}
        assert len(json.loads(found.answer.files["counts.json"])) == 3
        again = run(ws)
        assert again.answer.payload() == found.answer.payload()
        assert len(entries(ws)) == 4
        opened = entries(ws)[0].number
    folder = found.save(tmp_path / "out")
    checks = verify(found.certificate, folder=folder)
    assert checks.holds, [each for each in checks.checks if not each.holds]
    assert found.certificate["accounting"]["continues"] == opened


@pytest.mark.parametrize(
    ("place", "committed"),
    [("noise2", 2), ("commit3", 2), ("committing3", 2), ("committing4", 3)],
    ids=["noise drawn", "made", "between record and commit", "of the last part"],
)
def test_a_job_that_is_killed_never_spends_twice(tmp_path, place, committed):
    """kill -9; a part that was not committed is run again, those that were are not."""
    killed(tmp_path, place)
    with clinic(tmp_path) as ws:
        before = entries(ws)
        assert sum(each.state is State.PUBLISHED for each in before) == committed
        payloads = [ws.ledger.stored(e.number).payload for e in before if e.payload_sha256]
        told = []
        if place.startswith("committing"):  # the ledger takes no record of reading back
            with pytest.raises(BurnedError):
                run(ws, progress=told.append)
            assert "working" not in told
        else:
            found = run(ws, progress=told.append)
            assert told.count("working") == 3 - max(0, committed - 1)
            assert len(json.loads(found.answer.files["counts.json"])) == 3
        assert sum(entry.amount.nano for entry in entries(ws)) == CHARGE
        after = [ws.ledger.stored(e.number).payload for e in entries(ws) if e.payload_sha256]
        assert after[: len(payloads)] == payloads


def test_a_part_that_fails_burns_the_job_and_tells_nothing(tmp_path):
    with clinic(tmp_path) as ws:
        job = ThreeParts(breaks=CANARY)
        with pytest.raises(ReleaseFailedError) as failed:
            run(ws, job)
        assert CANARY not in str(failed.value)
        assert [each.state for each in entries(ws)] == [
            State.PUBLISHED,
            State.PUBLISHED,
            State.BURNED,
        ]
        with pytest.raises(BurnedError):
            run(ws, job)
        assert sum(entry.amount.nano for entry in entries(ws)) == CHARGE


KEYS = (["k/1", "k"], ["k", "k/1", "k/2/1"], ["1", "1/1", "2/1"], ["x" * 256, "\u00e9" * 128])


@pytest.mark.parametrize("keys", KEYS, ids=["before", "after", "numbers", "longest"])
def test_a_job_in_parts_ends_under_every_key_whatever_keys_were_used_before(tmp_path, keys):
    """Keys of parts are nobody's: an opening that was charged can always be gone on from."""
    with clinic(tmp_path, lifetime="9") as ws:
        for key in keys:
            assert len(json.loads(run(ws, request=key).answer.files["counts.json"])) == 3
        assert [each.amount.nano for each in entries(ws)] == len(keys) * [CHARGE, 0, 0, 0]


def test_a_key_that_a_part_may_have_is_refused_before_it_is_charged(tmp_path):
    with clinic(tmp_path, lifetime="9") as ws:
        run(ws)
        opened = entries(ws)[0].number
        assert entries(ws)[1].request_key == part_key(opened, part=1)
        head = ws.ledger.head()
        with pytest.raises(InvalidParameterError, match="which parts of jobs have"):
            run(ws, request=part_key(opened + 20, part=1))
        assert ws.ledger.head() == head


def test_a_job_that_an_earlier_version_began_goes_on(tmp_path, monkeypatch):
    """Its parts had the key of the whole, and their number."""

    def stopping(stage, seen=[]):  # noqa: B006 - of one test
        seen.append(stage)
        if seen.count("working") == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as earlier:
        earlier.setattr(job_rounds, "part_key", lambda _, *, part: f"r/{part}")
        before = interrupted(tmp_path, KeyboardInterrupt, progress=stopping)
    assert len(before) == 3
    goes_on(tmp_path, before)


class Panic(BaseException):
    """What libraries in Rust raise."""


@pytest.mark.parametrize("failure", [Panic(CANARY), SystemExit(CANARY)], ids=["panic", "exit"])
def test_a_part_that_fails_with_what_is_no_exception_burns_the_job_too(
    tmp_path, monkeypatch, failure
):
    def panic(*_, **__):
        raise failure

    monkeypatch.setattr(ThreeParts, "advanced", panic)
    with clinic(tmp_path) as ws:
        with pytest.raises(ReleaseFailedError) as failed:
            run(ws)
        assert CANARY not in str(failed.value)
        assert [each.state for each in entries(ws)] == [State.PUBLISHED, State.BURNED]


def test_a_stop_by_the_operator_leaves_the_job_to_go_on(tmp_path):
    with clinic(tmp_path) as ws:

        def stopping(stage, seen=[]):  # noqa: B006
            seen.append(stage)
            if seen.count("working") == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(ws, progress=stopping)
        assert len(json.loads(run(ws).answer.files["counts.json"])) == 3
        assert sum(entry.amount.nano for entry in entries(ws)) == CHARGE


def goes_on(folder, before):
    """Go on after an interrupt: what was committed stays, and nothing is charged twice."""
    with clinic(folder) as ws:
        found = run(ws)
        assert len(json.loads(found.answer.files["counts.json"])) == 3
        done = [entry for entry in entries(ws) if entry.payload_sha256]
        assert {entry.state for entry in done} <= {State.COMMITTED, State.PUBLISHED}
        assert done[-1].state is State.PUBLISHED
        stored = [ws.ledger.stored(entry.number).payload for entry in done]
        assert len(stored) == 4
        assert stored[: len(before)] == before
        amounts = [e.amount.nano for e in entries(ws) if e.state is not State.CANCELLED]
        assert amounts == [CHARGE, 0, 0, 0]


def interrupted(folder, kind, **given):
    """Run until an interrupt; return the answers that were committed by then."""
    with clinic(folder) as ws:
        with pytest.raises(kind):
            run(ws, **given)
        return [ws.ledger.stored(e.number).payload for e in entries(ws) if e.payload_sha256]


def stages(folder):
    with clinic(folder) as ws:
        told = []
        run(ws, progress=told.append)
    return told


def test_an_interrupt_at_any_stage_leaves_the_job_to_go_on(tmp_path):
    """Also between a part that was made and its commit."""
    told = stages(tmp_path / "whole")
    assert told.count("commit") == 4
    for place, of in enumerate(told):
        if told[:place].count(of) > 1:  # the opening and a part will do
            continue
        kind = SystemExit if of == "commit" else KeyboardInterrupt
        left = iter(range(len(told)))

        def stopping(stage, left=left, place=place, kind=kind):
            del stage
            if next(left) == place:
                raise kind

        folder = tmp_path / str(place)
        goes_on(folder, interrupted(folder, kind, progress=stopping))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", ["reserve", "start_reading", "commit", "publish"])
def test_an_interrupt_around_any_word_to_the_ledger_leaves_the_job_to_go_on(
    tmp_path, call, after, monkeypatch
):
    real = getattr(ChainedLedger, call)
    for number in (1, 3):  # the opening, and a part
        calls = iter(range(1, 100))

        def stopping(self, *given, calls=calls, number=number, **named):
            mine = next(calls) == number
            if mine and not after:
                raise KeyboardInterrupt
            found = real(self, *given, **named)
            if mine:
                raise KeyboardInterrupt
            return found

        folder = tmp_path / str(number)
        monkeypatch.setattr(ChainedLedger, call, stopping)
        before = interrupted(folder, KeyboardInterrupt)
        monkeypatch.setattr(ChainedLedger, call, real)
        goes_on(folder, before)


def test_no_noise_that_was_interrupted_is_ever_seen(tmp_path, monkeypatch):
    """What is committed after an interrupt is either that part, or another with fresh noise."""
    real, made = ThreeParts.advanced, []

    def kept(self, rows, **given):
        files = real(self, rows, **given)
        made.append(files["counts.json"].decode())
        return files

    monkeypatch.setattr(ThreeParts, "advanced", kept)

    def stopping(stage, left=iter(range(99))):  # noqa: B008 - one for the test
        if stage == "commit" and next(left) == 2:
            raise KeyboardInterrupt

    with clinic(tmp_path) as ws:
        with pytest.raises(KeyboardInterrupt) as stopped:
            run(ws, progress=stopping)
        carried = everything_carried(stopped.value)
        assert made[1] not in carried
        final = json.loads(run(ws).answer.files["counts.json"])
    (first, lost, second, third) = map(json.loads, made)
    assert final == third
    assert third[:2] == second
    assert second[:1] == lost[:1] == first


def test_nobody_goes_on_from_an_older_part(tmp_path):
    """Running a part again from an earlier start would be an extra release."""
    with clinic(tmp_path) as ws:
        run(ws)
        job = ThreeParts()
        plan, gate, opened = planned(ws, job), gate_of(ws), entries(ws)[0].number
        step = Step(question=plan.digest(), start=2, stop=3, continues=opened)
        request = charge_request(plan, analyst="a", request_key="again", step=step)
        with pytest.raises(PolicyError, match="cannot go on"):
            gate.take(request, answer=lambda: BoughtAnswer(payload=b"x"), progress=lambda _: None)


def test_a_part_that_fails_raises_what_it_failed_with():
    with pytest.raises(ZeroDivisionError, match="a part"):
        _raising(ZeroDivisionError("a part"))()
