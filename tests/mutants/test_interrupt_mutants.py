"""A program that goes on with half a row in memory; the suite must fail for it."""

import pytest

from confide.budget.journal import Journal
from confide.errors import ConfideError
from unit.release import test_interrupted_rows as suite


def test_a_session_that_goes_on_with_half_a_row_is_caught(tmp_path, monkeypatch):
    def by_number_alone(self):
        if self.book.number != self._durable:
            self._begin_anew()

    monkeypatch.setattr(Journal, "_forget_what_is_not_on_disk", by_number_alone)
    test = suite.test_a_row_that_was_interrupted_grants_nothing_and_the_session_goes_on

    def everywhere():
        for place, (code, at) in enumerate(suite.WHERE):
            test(code, at, tmp_path / str(place))

    with pytest.raises((AssertionError, ConfideError, pytest.fail.Exception)):
        everywhere()
