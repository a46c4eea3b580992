"""Checks of signatures that let one pass; each must be caught by the tests of the chunks."""

import pytest

from confide.budget.chain import signatures
from confide.budget.integrity import inspection
from confide.errors import ConfideError
from unit.budget import test_signatures_in_chunks as suite

pytestmark = pytest.mark.mutant

helper = suite.helper


def is_caught(check, *arguments: object) -> bool:
    try:
        check(*arguments)
    except (AssertionError, ConfideError, pytest.fail.Exception):
        return True
    return False


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(signatures, "CHUNK", 2)
    monkeypatch.setattr(signatures, "workers_here", lambda: 0)


def forgets_a_chunk(whole, *, place):
    def put(self):
        self._open.held = [] if len(self._chunks) == place else self._open.held
        whole(self)

    return put


def test_a_process_that_says_yes_to_everything_is_caught(tmp_path, helper):
    check = suite.found_by_another_process
    assert not is_caught(check, tmp_path / "whole", helper, suite.HONEST)
    (tmp_path / "taken").unlink()
    assert is_caught(check, tmp_path / "broken", helper, suite.YES)


@pytest.mark.usefixtures("small")
def test_signatures_of_people_that_are_never_asked_for_are_caught(tmp_path, monkeypatch):
    check = suite.test_a_row_that_its_person_did_not_sign_is_found_in_any_chunk
    assert not is_caught(check, tmp_path / "whole", 2)
    monkeypatch.setattr(inspection.Gathered, "wrong", lambda *_: [])
    assert is_caught(check, tmp_path / "broken", 2)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("line", [2, 3])
def test_a_chunk_that_is_left_out_is_caught(tmp_path, monkeypatch, line):
    check = suite.test_a_line_of_the_anchor_that_is_not_signed_is_found_in_any_chunk
    assert not is_caught(check, tmp_path / "whole", line)
    whole, caught = signatures.Gathered._put, []
    for place in range(line + 2):  # the line is in one of them, beside people's signatures
        forgetful = forgets_a_chunk(whole, place=place)
        monkeypatch.setattr(signatures.Gathered, "_put", forgetful)
        caught.append(is_caught(check, tmp_path / f"broken {place}", line))
    assert caught.count(True) == 1


@pytest.mark.parametrize(
    "answer", [suite.DIES, suite.SHORT, suite.ODD], ids=["dies", "short", "odd"]
)
def test_an_answer_that_was_never_given_and_counts_as_yes_is_caught(
    tmp_path, monkeypatch, helper, answer
):
    def lenient(self):
        self._over = True
        self._more.set()
        self._thread.join()

    def passes(self):
        for chunk in self._chunks:
            chunk.wrong = () if chunk.wrong is None and not chunk.held else chunk.wrong
        while self._check_here():
            pass
        for worker in self._workers:
            worker.wait()
        return [each for chunk in self._chunks for each in chunk.wrong or ()]

    check = suite.test_a_process_that_does_not_answer_for_each_signature_is_an_error
    assert not is_caught(check, tmp_path / "whole", helper, monkeypatch, answer)
    (tmp_path / "taken").unlink(missing_ok=True)
    monkeypatch.setattr(signatures._Worker, "wait", lenient)
    monkeypatch.setattr(signatures.Gathered, "wrong", passes)
    assert is_caught(check, tmp_path / "broken", helper, monkeypatch, answer)
