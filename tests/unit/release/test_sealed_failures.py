"""What leaves the gate when something fails or is stopped: no value, in no frame, chain or log."""

import sys
import threading
import warnings

import numpy as np
import pyarrow as pa
import pytest

from command_line import confide
from confide.budget.ledger import State
from confide.errors import ReleaseFailedError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.rows.engines.duckdb import DuckDBEngine
from confide.service.releasing.jobs import planned, run_in_parts, run_job
from confide.workspace import open_workspace
from counting_job import Counting, ThreeParts, clinic
from left_behind import everything_carried

CANARY = 471_100_815
"""What each patient of a clinic has; a sum of exact cells, and rows, hold it."""


class Panic(BaseException):
    """What libraries in Rust raise."""


STOPS = [KeyboardInterrupt, SystemExit]
FAILURES = [ValueError, MemoryError, Panic, UserWarning]


def secrets(folder):
    """One patient whose number is the canary, so that every exact sum is it."""
    frame = pa.table({"patient": ["a"], "number": [float(CANARY)], "sex": ["F"]})
    columns = {
        "number": {"kind": "number", "lower": 0, "upper": 10**9},
        "sex": {"categories": ["F", "M"]},
    }
    dataset = {
        "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": "pure", "delta": "0"},
        "caps": {"lifetime": {"epsilon": "9"}},
        "tables": {"people": {"rows-per-patient": 1, "columns": columns}},
    }
    return open_workspace(dataset, frames={"people": frame}, folder=folder)


def broken_by(kind):
    """Return a way to add noise that fails with what it was to hide."""

    def randomize(self, values, *, entropy):
        del self, entropy
        try:
            {}[f"first {list(values)}"]
        except LookupError:
            raise kind(*(() if kind is SystemExit else (f"exact {list(values)}",))) from None

    return randomize


def a_sum(ws):
    spec = {"id": "s", "kind": "sum", "table": "people", "column": "number"}
    return ws.plan(spec, epsilon="1")


def told(kind, work):
    expected = kind if kind in STOPS else ReleaseFailedError
    with pytest.raises(expected) as caught:
        work()
    return caught.value


def nothing_is_left(error):
    assert error.__context__ is None
    assert error.__cause__ is None
    assert not [each for each in everything_carried(error) if str(CANARY) in each]


@pytest.mark.parametrize("kind", [*FAILURES, *STOPS])
def test_no_frame_of_a_failed_or_stopped_statistic_holds_an_exact_value(
    kind, tmp_path, monkeypatch
):
    monkeypatch.setattr(DiscreteLaplace, "randomize", broken_by(kind))
    with secrets(tmp_path) as ws:
        plan = a_sum(ws)
        nothing_is_left(told(kind, lambda: ws.release(plan)))
        assert [each.state for each in ws.ledger.entries("clinic")] == [State.BURNED]
    if kind in FAILURES:
        assert str(CANARY) in (tmp_path / ".confide" / "incidents.log").read_text()


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_no_frame_holds_an_exact_value_in_another_thread_either(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(DiscreteLaplace, "randomize", broken_by(kind))
    caught = []

    def work(ws, plan):
        try:
            ws.release(plan)
        except BaseException as error:  # noqa: BLE001
            caught.append(error)

    with secrets(tmp_path) as ws:
        thread = threading.Thread(target=work, args=(ws, a_sum(ws)))
        thread.start()
        thread.join()
    nothing_is_left(caught[0])


def test_what_the_caller_was_handling_stays_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(DiscreteLaplace, "randomize", broken_by(ValueError))
    with secrets(tmp_path) as ws:
        plan = a_sum(ws)
        try:
            {}["of the caller"]
        except KeyError as mine:
            with pytest.raises(ReleaseFailedError) as failed:
                ws.release(plan)
            assert mine.__traceback__ is not None
            assert failed.value.__context__ is mine
    assert not [each for each in everything_carried(failed.value) if str(CANARY) in each]


@pytest.mark.parametrize("kind", [*FAILURES, *STOPS])
def test_no_frame_of_a_failed_or_stopped_part_holds_rows_or_noise(kind, tmp_path, monkeypatch):
    """Noise that was drawn and not committed is drawn afresh, so nobody may have seen it."""
    real = ThreeParts.advanced

    def advanced(self, rows, *, part, before, entropy, progress):
        made = real(self, rows, part=part, before=before, entropy=entropy, progress=progress)
        held = rows.reveal_to_job(), f"{CANARY} drawn", made
        if part == 2:
            raise kind(*(() if kind is SystemExit else (held[1],)))
        return made

    monkeypatch.setattr(ThreeParts, "advanced", advanced)
    with clinic(tmp_path) as ws:
        job = ThreeParts()
        given = {"plan": planned(ws, job), "runner": job, "request": "r"}
        error = told(kind, lambda: run_in_parts(ws, job, **given))
        nothing_is_left(error)
        assert not [one for one in _objects(error) if type(one).__name__ == "RecordRows"]


def test_a_stopped_job_of_one_part_holds_nothing(tmp_path, monkeypatch):
    def run(self, rows, *, plan, entropy, progress):
        del self, plan, entropy, progress
        held = rows.reveal_to_job(), f"{CANARY}"
        raise KeyboardInterrupt(held)

    monkeypatch.setattr(Counting, "run", run)
    with clinic(tmp_path) as ws:
        job = Counting()
        plan = planned(ws, job)
        error = told(KeyboardInterrupt, lambda: run_job(ws, job, plan=plan, request="r"))
        nothing_is_left(error)
        assert error.args == ()


def _objects(error):
    trace, found = error.__traceback__, []
    while trace is not None:
        found += trace.tb_frame.f_locals.values()
        trace = trace.tb_next
    return found


def test_a_commit_that_fails_shows_no_noise_that_was_never_published(tmp_path, monkeypatch):
    from confide.budget.chained_ledger import ChainedLedger

    def lost(self, held, *, payload, members):
        del self, held, members
        raise OSError(5, "disk")

    monkeypatch.setattr(ChainedLedger, "commit", lost)
    with secrets(tmp_path) as ws:
        plan = a_sum(ws)
        with pytest.raises(OSError, match="disk") as failed:
            ws.release(plan)
        carried = everything_carried(failed.value)
        assert not [each for each in carried if '"values"' in each or str(CANARY) in each]


def test_nothing_is_left_of_a_run_of_the_command_line_that_fails(tmp_path, monkeypatch):
    from small_clinic import make_clinic

    at = make_clinic(tmp_path)
    real, seen = DuckDBEngine.aggregate, []

    def failing(self, asked, *, dataset):
        exact = real(self, asked, dataset=dataset)
        seen.append(exact.reveal_to_gate())
        raise ValueError(f"exact {CANARY} {seen[-1]}")

    monkeypatch.setattr(DuckDBEngine, "aggregate", failing)
    monkeypatch.chdir(at.folder)
    ran = confide("run", "study.yaml", "-o", "out")
    assert ran.code == 1
    assert seen
    assert str(CANARY) not in ran.out + ran.err
    last = getattr(sys, "last_exc", None)
    assert last is None or not [e for e in everything_carried(last) if str(CANARY) in e]


def test_a_walk_through_an_exception_finds_what_frames_hold():
    """Of the instrument: an exception as it used to leave shows the value in many places."""

    def gate():
        exact = np.array([CANARY])
        try:
            {}[f"cell {exact[0]}"]
        except KeyError:
            raise ReleaseFailedError("0") from None

    with pytest.raises(ReleaseFailedError) as failed:
        gate()
    assert [each for each in everything_carried(failed.value) if str(CANARY) in each]


def test_a_warning_about_rows_is_told_to_nobody(tmp_path, monkeypatch):
    real = DiscreteLaplace.randomize

    def warning(self, values, *, entropy):
        warnings.warn(f"exact {list(values)}", RuntimeWarning, stacklevel=1)
        return real(self, values, entropy=entropy)

    monkeypatch.setattr(DiscreteLaplace, "randomize", warning)
    with secrets(tmp_path) as ws, warnings.catch_warnings(record=True) as told_of:
        warnings.simplefilter("always")
        ws.release(a_sum(ws))
    assert told_of == []
