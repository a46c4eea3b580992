"""A program that publishes the budgets of several windows in one; the suite must fail for it."""

import pytest

from confide.budget.account import Account
from confide.errors import PolicyError, ReleaseFailedError
from unit.release import test_growing_over_windows as suite
from unit.release.test_growing_over_windows import clock

__all__ = ["clock"]


@pytest.mark.parametrize(
    "test",
    [
        suite.test_a_growing_release_ends_with_the_year_in_which_it_was_charged,
        suite.test_a_job_in_parts_ends_with_the_year_in_which_it_was_charged,
    ],
)
def test_a_release_that_goes_on_in_a_later_window_is_caught(test, tmp_path, clock, monkeypatch):
    monkeypatch.setattr(Account, "window_over", lambda *_: "")
    with pytest.raises((AssertionError, pytest.fail.Exception, ReleaseFailedError)):
        test(tmp_path, clock)


def test_steps_that_count_from_the_day_of_their_charge_are_caught(tmp_path, clock, monkeypatch):
    def stays(self, amount, *, when):
        del self, amount
        return when

    monkeypatch.setattr(Account, "count_anew", stays)
    grows = suite.test_a_growing_release_counts_in_rolling_windows_from_its_newest_step_on
    with pytest.raises((AssertionError, pytest.fail.Exception, PolicyError)):
        grows("", tmp_path, clock)


def test_a_charge_that_counts_again_within_its_cap_alone_is_caught(tmp_path, clock, monkeypatch):
    counted = Account.count_anew

    def within(self, amount, *, when):
        caps = {name: counter.cap for name, counter in self.counters.items()}
        when = counted(self, amount, when=when)
        for name, cap in caps.items():
            self.counters[name].cap = cap
        return when

    monkeypatch.setattr(Account, "count_anew", within)
    goes_on = suite.test_a_ledger_with_a_growing_release_that_left_its_window_goes_on_after_a_loss
    with pytest.raises(AssertionError):
        goes_on(tmp_path, clock)
