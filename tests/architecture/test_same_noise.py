"""A test draws the same noise each time, and what is not a test never does."""

import os
import re
import subprocess
import sys
from fractions import Fraction

import pytest

import same_noise
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from pages import ROOT

DRAWN: list[list[int]] = []


def some() -> list[int]:
    return DiscreteLaplace(scale=Fraction(10**6)).sample(4, entropy=SystemEntropy()).tolist()


@pytest.fixture(scope="module")
def shared():
    return some()


def test_a_shared_fixture_draws_what_its_own_name_seeds(shared, request):
    with same_noise.stream(f"{request.node.parent.nodeid}::shared[0]"):
        assert shared == some()


@pytest.mark.parametrize("again", [1, 2])
def test_each_test_draws_what_its_own_name_seeds(again, request):
    drawn = some()
    with same_noise.stream(request.node.nodeid):
        assert drawn == some()
    DRAWN.append(drawn)
    assert len({tuple(each) for each in DRAWN}) == len(DRAWN)


def test_a_fork_draws_noise_of_its_own(request):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, bytes(os.urandom(16)))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 16) != os.urandom(16)
    os.close(reader)
    os.close(writer)


def test_commands_of_one_test_draw_different_noise():
    one, other = same_noise.of_the_next_command(), same_noise.of_the_next_command()
    assert one.keys() == other.keys() == {same_noise.STREAM}
    assert one != other


@pytest.mark.parametrize("how", [(), ("--hypothesis-profile=others",)])
def test_the_fast_suite_alone_repeats_its_noise(how, tmp_path):
    place = tmp_path / "test_it.py"
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text("utf-8"))
    place.write_text("import os\ndef test_it():\n    print('drawn', os.urandom(8).hex())\n")
    words = ["-m", "pytest", "-q", "-s", "-p", "no:xdist", "-c", os.devnull, *how, str(place)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    runs = [
        subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    drawn = {found for out in runs for found in re.findall(r"drawn [0-9a-f]{16}", out)}
    assert len(drawn) == (2 if how else 1)
