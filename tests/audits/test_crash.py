"""kill −9 at every point of a release, and 64 processes under one cap."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from postgres_server import server

WORKER = Path(__file__).with_name("ledger_worker.py")
SOURCES = Path(__file__).parents[2]


def work(act, folder, size, *, url=""):
    """Run the worker in a clean process, since forking this one is not safe."""
    environment = os.environ | {"PYTHONPATH": f"{SOURCES / 'src'}:{SOURCES / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "-W", "error", WORKER, act, folder, str(size), *([url] if url else [])],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_kills(outcome, size):
    assert {key: outcome.pop(key) for key in ("double", "uncharged", "two_answers")} == {
        "double": 0,
        "uncharged": 0,
        "two_answers": 0,
    }
    assert set(outcome) == {
        "before T1 commits: new answer",
        "after T1, before its anchor line: new answer",
        "after T1: new answer",
        "after READING: burned",
        "during noise: burned",
        "after COMMIT, half an anchor line: same answer",
        "after COMMIT, before publishing: same answer",
        "after publishing: same answer",
    }
    assert sum(outcome.values()) == size


def test_kills_never_double_spend_nor_answer_twice_on_postgres(tmp_path):
    check_kills(work("kill", tmp_path, 8, url=server().url), 8)


@pytest.mark.audit
def test_a_thousand_kills_never_double_spend_nor_answer_twice_on_postgres(tmp_path):
    check_kills(work("kill", tmp_path, 1_000, url=server().url), 1_000)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_sixty_four_connections_in_four_processes_get_exactly_the_slots_that_fit(kind, tmp_path):
    url = server().url if kind == "postgres" else ""
    assert work("crowd", tmp_path / "crowd", 2, url=url) == {"granted": [50], "times": 2}


@pytest.mark.audit
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_sixty_four_connections_a_hundred_times_over_never_pass_a_cap(kind, tmp_path):
    url = server().url if kind == "postgres" else ""
    assert work("crowd", tmp_path / "crowd", 100, url=url) == {"granted": [50], "times": 100}


def test_sixty_four_kills_never_double_spend_nor_answer_twice(tmp_path):
    check_kills(work("kill", tmp_path, 64), 64)


@pytest.mark.audit
def test_a_thousand_kills_never_double_spend_nor_answer_twice(tmp_path):
    check_kills(work("kill", tmp_path, 1_000), 1_000)


def test_sixty_four_processes_get_exactly_the_hundred_slots_that_fit(tmp_path):
    assert work("race", tmp_path / "race", 5) == {"granted": 100}


@pytest.mark.audit
def test_sixty_four_busy_processes_get_exactly_the_hundred_slots_that_fit(tmp_path):
    assert work("race", tmp_path / "race", 100) == {"granted": 100}
