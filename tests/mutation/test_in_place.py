"""A variant takes the place of a function that is imported already, or it is said that it cannot."""

import importlib
import tempfile
import time
from pathlib import Path

import pytest

from mutation.apart import BROKEN, apart
from mutation.in_place import live_functions, put_in_place
from mutation.variants import variants

MODULE = """
MOST = 3


def least(of):
    return min(of, MOST)


def within(low):
    def truth(value):
        return low <= value

    return truth


class Range(tuple):
    def begin(self, low):
        super().__init__(low)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    file = tmp_path / f"module_of_{tmp_path.name}.py"
    file.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module(file.stem)


def put(module, *, was):
    [one] = [each for each in variants(MODULE) if each.was == was]
    file = Path(module.__file__)
    functions = live_functions().get(str(file), ())
    return put_in_place(file, text=one.text, functions=functions)


def test_a_function_that_is_imported_already_gets_the_code_of_a_variant(module):
    kept = module.least
    assert put(module, was="min")
    assert kept(7) == 7


def test_a_function_that_was_made_by_another_one_gets_it_too(module):
    below = module.within(5)
    assert put(module, was="low <= value")
    assert [below(5), module.within(5)(5)] == [False, False]


def test_what_is_of_no_function_cannot_be_put_in_place(module):
    assert not put(module, was="3")
    assert module.least(7) == 3


def test_a_function_that_needs_fewer_names_from_around_it_cannot_be_put_in_place(module):
    assert not put(module, was="super().__init__(low)")


def test_work_apart_tells_how_it_ended():
    assert apart(lambda: 7, seconds=60) == 7
    assert apart(lambda: 1 // 0, seconds=60) == BROKEN
    assert apart(lambda: time.sleep(60) or 0, seconds=0.05) is None


def test_the_files_of_work_apart_end_with_it(tmp_path):
    told = tmp_path / "told"

    def work():
        told.write_text(tempfile.mkdtemp())
        return 0

    assert apart(work, seconds=60) == 0
    assert not Path(told.read_text()).exists()
