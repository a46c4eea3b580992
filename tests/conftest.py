"""What holds for every test, in every process that a test starts."""

import contextlib
import os
import sys

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

import same_noise

# The suite starts hundreds of processes: without bytecode each of them compiles the whole product.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# No test asserts a time: an example is slow where the machine is, or where it imports a library.
# The fast suite tries the same examples, and draws the same noise, at each run; `make audit` others.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("others", deadline=None, print_blob=True)
settings.load_profile("same")

CASES = pytest.StashKey[dict[str, int]]()


def pytest_addoption(parser):
    parser.addoption(
        "--part",
        type=part_of,
        default=(1, 1),
        metavar="K/N",
        help="of the tests that were chosen, every N-th from the K-th on: N runs make one",
    )


def part_of(text):
    """Return K and N of ``K/N``."""
    k, n = (int(number) for number in text.split("/"))
    if not 1 <= k <= n:
        raise ValueError(text)
    return k, n


def pytest_configure(config):
    same_noise.install()
    config.addinivalue_line(
        "markers",
        "thinned(n): every n-th case of this test is in the fast suite, the others in the long one",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    other = settings.get_current_profile_name() != "same" or item.get_closest_marker("audit")
    with contextlib.nullcontext() if other else same_noise.stream(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    if fixturedef.scope == "function" or not same_noise.drawing():
        return (yield)
    with same_noise.stream(f"{fixturedef.baseid}::{fixturedef.argname}[{request.param_index}]"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    found = yield
    # examples stand in the source: looking for them in tests took a sixth of the collection
    return [each for each in found if not isinstance(each, DoctestModule)]


@pytest.hookimpl(tryfirst=True)  # before it is asked which are chosen by their marks
def pytest_itemcollected(item):
    thinned = item.get_closest_marker("thinned")
    if thinned is None:
        return
    cases = item.config.stash.setdefault(CASES, {})
    of = item.nodeid.partition("[")[0]
    cases[of] = 1 + cases.get(of, -1)
    if cases[of] % thinned.args[0]:
        item.add_marker("audit")


@pytest.hookimpl(trylast=True)  # once it is known which are chosen by their marks
def pytest_collection_modifyitems(config, items):
    k, n = config.getoption("part")
    others = [item for i, item in enumerate(items) if i % n != k - 1]
    if others:
        items[:] = items[k - 1 :: n]
        config.hook.pytest_deselected(items=others)
