"""A process that is stopped while it writes to the ledger: who it is is said, and nobody waits for
ever."""

import os
import signal
import subprocess
import sys

import pytest

from command_line import confide
from confide.budget.stores import lease
from real_command import place_of
from small_clinic import DATASET, make_clinic

HOLDS = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(file, fcntl.LOCK_EX)
os.pwrite(file, f"{os.getpid():<20}".encode(), 0)
print("in", flush=True)
time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    clinic = make_clinic(tmp_path / "clinic")
    assert confide("run", clinic.study, "--out", clinic.folder / "first", "-q").code == 0
    monkeypatch.setattr(lease, "_LOOK", 0.2)
    monkeypatch.setattr(lease, "_LONGEST", 0.8)
    return clinic.folder


@pytest.fixture
def holder(folder):
    started = []

    def start(seconds):
        door = folder / ".confide" / "ledger.sqlite.leases" / "writer.lock"
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDS, door, str(seconds)], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout.readline() == "in\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def spent(folder):
    return confide("ledger", "show", folder / "dataset.yaml", "--json").json["caps"]


def run(folder):
    return confide("run", folder / "study.yaml", "--out", folder / "again", "--request", "new")


def test_a_stopped_writer_is_named_and_ends_the_wait_of_the_others_at_no_cost(
    folder, holder, caplog
):
    before = spent(folder)
    process = holder(600)
    os.kill(process.pid, signal.SIGSTOP)
    ran = run(folder)
    assert ran.code == 8, ran.err
    assert f"Process {process.pid} has held up the ledger for a minute" in ran.err
    assert f"kill -CONT {process.pid}" in ran.err
    assert f"Process {process.pid} is writing to the ledger; waiting for it." in caplog.text
    process.kill()
    process.wait()
    assert spent(folder) == before
    assert run(folder).code == 0


def test_a_writer_that_runs_is_waited_for_as_long_as_it_takes(folder, holder, caplog):
    process = holder(4)
    assert run(folder).code == 0
    assert process.wait() == 0
    assert f"Process {process.pid} is writing" in caplog.text


def test_who_waits_for_the_ledger_is_told_so_on_the_screen(folder, holder):
    process = holder(8)
    told = subprocess.run(
        [sys.executable, "-m", "confide", "ledger", "show", "dataset.yaml"],
        cwd=folder, env=place_of(folder), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"Process {process.pid} is writing to the ledger; waiting for it." in told.stderr


def test_a_turn_that_was_given_up_is_given_back_when_it_comes(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(lease, "_is_running", lambda _: False)
    first, second = lease.Door(tmp_path / "l"), lease.Door(tmp_path / "l")
    with first.writing(), pytest.raises(lease.LedgerUnreachableError), second.writing():
        pass
    for _ in range(3):
        with first.writing():
            pass
        with second.writing():
            pass
    first.close()
    second.close()


def test_a_ledger_that_cannot_be_reached_is_no_bug(tmp_path):
    pytest.importorskip("psycopg")
    nowhere = 'ledger: {kind: postgres, url: "postgresql://u@127.0.0.1:1/d", schema-name: s}\n'
    clinic = make_clinic(tmp_path, dataset=DATASET + nowhere)
    for words in (
        ("run", clinic.study, "--out", tmp_path / "out"),
        ("ledger", "show", clinic.dataset),
    ):
        ran = confide(*words)
        assert ran.code == 8, ran.err
        assert "PostgreSQL cannot be used" in ran.err
