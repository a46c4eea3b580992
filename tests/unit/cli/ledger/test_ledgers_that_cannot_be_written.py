"""A ledger's file that is whole and cannot be written: said as such, and never put aside."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest

from command_line import confide
from confide.budget.stores import sqlite_store
from real_command import run
from small_clinic import make_clinic

KILLED_WHILE_WRITING = """
import os, signal, sqlite3, sys
ledger = sqlite3.connect(sys.argv[1], isolation_level=None)
ledger.execute("PRAGMA cache_size = 1")
ledger.execute("BEGIN IMMEDIATE")
ledger.execute("CREATE TABLE more (text)")
for _ in range(3000):
    ledger.execute("INSERT INTO more VALUES (?)", ("y" * 500,))
os.kill(os.getpid(), signal.SIGKILL)
"""


def caps(folder):
    return confide("ledger", "show", folder / "dataset.yaml", "--json").json["caps"]


@pytest.fixture(scope="module")
def backed_up(tmp_path_factory):
    """Two releases, a backup of the first, and a journal of a process that was killed."""
    made = make_clinic(tmp_path_factory.mktemp("made") / "clinic")
    folder, dataset = made.folder, made.dataset
    assert confide("run", made.study, "--out", folder / "one", "-q").code == 0
    assert confide("ledger", "backup", folder / "backup", dataset).code == 0
    again = ("run", made.study, "--request", "two", "--out", folder / "two", "-q")
    assert confide(*again).code == 0
    spent, ledger = caps(folder), folder / ".confide" / "ledger.sqlite"
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, ledger], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert ledger.with_name("ledger.sqlite-journal").stat().st_size
    return folder, spent


def test_a_whole_ledger_that_cannot_be_written_is_not_replaced_by_an_older_backup(
    backed_up, tmp_path
):
    original, spent = backed_up
    folder = tmp_path / "clinic"
    shutil.copytree(original, folder)
    ledger = folder / ".confide" / "ledger.sqlite"
    ledger.chmod(0o400)
    done = run("ledger", "restore", "backup", "dataset.yaml", cwd=folder, powerless=True)
    assert done.code == 8, done.told
    assert "readonly" in done.told
    assert "Check its permissions" in done.told
    ledger.chmod(0o600)
    refused = confide("ledger", "restore", folder / "backup", folder / "dataset.yaml")
    assert "is whole" in refused.err
    assert caps(folder) == spent
    assert not list(folder.glob(".confide/*replaced*"))


def renamed(path):
    """Return what a process that modes of files bind would put aside; "" for nothing."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            from warm_command import without_powers

            without_powers()
            os.write(write, sqlite_store.set_aside_broken(path).encode())
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as told:
        return told.read()


@pytest.mark.mutant
def test_a_restore_that_takes_what_it_may_not_write_for_broken_is_caught(
    backed_up, tmp_path, monkeypatch
):
    original, _ = backed_up
    shutil.copytree(original / ".confide", tmp_path / ".confide")
    ledger = tmp_path / ".confide" / "ledger.sqlite"
    ledger.chmod(0o400)
    assert not renamed(ledger)
    monkeypatch.setattr(sqlite_store, "_OF_THE_FILE", range(10_000))
    assert renamed(ledger)


def test_a_ledger_that_another_program_holds_is_said_to_be_held(tmp_path, monkeypatch):
    made = make_clinic(tmp_path)
    assert confide("run", made.study, "--out", tmp_path / "one", "-q").code == 0
    pragmas = ("PRAGMA busy_timeout = 50", *sqlite_store._PRAGMAS[1:])
    monkeypatch.setattr(sqlite_store, "_PRAGMAS", pragmas)
    spent = caps(tmp_path)
    other = sqlite3.connect(tmp_path / ".confide" / "ledger.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    ran = confide("run", made.study, "--request", "two", "--out", tmp_path / "two")
    assert ran.code == 8
    assert "locked" in ran.err
    assert "Another program holds it" in ran.err
    other.close()
    assert caps(tmp_path) == spent


def test_a_path_that_is_too_long_for_a_ledger_is_said_and_a_shorter_one_begins_it(tmp_path):
    deep = tmp_path.joinpath(*["x" * 100] * 5)
    made = make_clinic(deep / "clinic")
    ran = confide("run", made.study, "--out", tmp_path / "out")
    assert ran.code == 8
    assert "its path is below 500 characters" in ran.err
    (deep / "clinic").rename(tmp_path / "clinic")
    study = tmp_path / "clinic" / "study.yaml"
    assert confide("run", study, "--out", tmp_path / "out", "-q").code == 0
    assert confide("ledger", "verify", tmp_path / "clinic" / "dataset.yaml").code == 0
