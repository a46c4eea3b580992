"""A program that publishes the budgets of several windows in one; the suite must fail for it."""

import pytest

from confide.budget import chained_ledger
from confide.budget.accounts.account import Account
from confide.budget.stores.lease import Lease
from confide.errors import PolicyError, ReleaseFailedError
from contracts.test_sqlite_ledger import TestSQLiteLedgerUnderAPolicy as Caps
from ledger_policies import uncapped
from ledgers import HandClock, open_ledger
from unit.budget import test_sqlite_files as files
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


def test_a_step_that_is_read_in_a_later_year_than_it_was_charged_in_is_caught(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(chained_ledger, "require_in_window", lambda *_, **__: None)
    clock = HandClock()
    ledger = open_ledger(tmp_path / "ledger", clock=clock)
    ledger.register(uncapped())
    with pytest.raises(pytest.fail.Exception):
        Caps().test_a_step_that_waits_until_its_year_is_over_is_not_read(ledger, clock)
    ledger.close()


def test_a_lease_that_ends_with_the_number_of_its_file_is_caught(tmp_path, monkeypatch):
    released = Lease.release

    def by_number(self):
        number = self._file
        released(self)
        self._file = number

    monkeypatch.setattr(Lease, "release", by_number)
    with pytest.raises(AssertionError):
        files.test_a_ledger_that_is_closed_twice_ends_nobody_elses_lease(tmp_path)
