"""kill −9 at every point of a release with per-patient charges: none is lost, none is made twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("patients_worker.py")
SOURCES = Path(__file__).parents[2]
NEVER = ("double", "lost", "overcharged", "uncharged")
ENDS = {
    "before READING: new answer",
    "after READING: burned",
    "before the patients' segment is renamed: burned",
    "after the patients' segment, before the membership: burned",
    "while the membership is written: burned",
    "before the membership is renamed: burned",
    "after the membership, before noise: burned",
    "after noise, before COMMIT: burned",
    "after COMMIT: same answer",
}


def killed(folder, size):
    """Run the worker in a clean process, since forking this one is not safe."""
    environment = os.environ | {"PYTHONPATH": f"{SOURCES / 'src'}:{SOURCES / 'tests'}"}
    done = subprocess.run(
        [sys.executable, "-W", "error", WORKER, folder, str(size)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert {name: outcome.pop(name) for name in NEVER} == dict.fromkeys(NEVER, 0)
    assert set(outcome) == ENDS
    return sum(outcome.values())


def test_eighteen_kills_neither_lose_a_patients_charge_nor_make_it_twice(tmp_path):
    assert killed(tmp_path, 18) == 18


@pytest.mark.audit
def test_a_thousand_kills_neither_lose_a_patients_charge_nor_make_it_twice(tmp_path):
    assert killed(tmp_path, 1_000) == 1_000
