"""Where files have no POSIX locks and owners: one sentence at the start, and `verify` all the same."""

import subprocess
import sys

import pytest

from command_line import confide
from small_clinic import make_clinic

WITHOUT = """
import os, sys
sys.modules["fcntl"] = None
for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_NOFOLLOW", "O_DIRECTORY", "geteuid", "fchmod"):
    delattr(os, name)
"""
COMMAND = f"{WITHOUT}\nfrom confide.__main__ import main\nmain()"


def without_posix(*words, program=COMMAND):
    """Run a program as on a system that lacks what Windows lacks."""
    said = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(said, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    at = make_clinic(tmp_path_factory.mktemp("clinic"))
    ran = confide("run", at.study, "--out", at.folder / "out", "--quiet")
    assert ran.code == 0, ran.err
    return at


def test_verify_works_on_a_system_without_posix_files(clinic):
    ran = without_posix("verify", clinic.folder / "out")
    assert ran.returncode == 0, ran.stderr
    assert "Verifies." in ran.stdout


@pytest.mark.parametrize("words", [("run",), ("init",), ("ledger", "show"), ("verify", "--ledger")])
def test_everything_else_is_refused_there_in_one_sentence_before_anything_is_made(
    words, clinic, tmp_path
):
    first, *more = words
    more = [*more, clinic.dataset] if more == ["--ledger"] else more
    made = sorted(clinic.folder.rglob("*"))
    ran = without_posix(first, *more, clinic.folder / "out" if first == "verify" else clinic.study)
    assert ran.returncode == 7
    assert ran.stderr.count("confide:") == 1
    assert "this system has none" in ran.stderr
    assert "`confide verify` works here" in ran.stderr
    assert sorted(clinic.folder.rglob("*")) == made


def test_python_says_the_same_when_a_workspace_is_opened():
    program = f"""{WITHOUT}
import confide
try:
    confide.open("dataset.yaml")
except TypeError as refused:
    print(type(refused).__name__, refused)
"""
    ran = without_posix(program=program)
    assert ran.stdout.startswith("UnsupportedError Confide needs the locks"), ran.stderr


def test_the_versions_and_help_are_told_anywhere():
    for word in ("--version", "--help"):
        assert without_posix(word).returncode == 0
