"""No reading of the clock, renaming, registering again or new snapshot lets a cap of any window
grow."""

import datetime as dt
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.budget.accounts.account import Account
from confide.budget.accounts.rolling import Rolling
from confide.budget.policy.adoption import adopted
from confide.budget.policy.counters import leaves_on
from confide.errors import PolicyError
from confide.privacy.amount import Amount
from ledger_policies import asked_by, cap, policy, uncapped
from ledgers import LINEAGE, NANO, HandClock, open_ledger

WINDOWS = ("calendar-year", "rolling-365d", "lifetime")
EVERY = tuple(
    cap(f"{scope}-{window}", scope, window, "0.000009")
    for scope in ("patient", "dataset", "project", "analyst")
    for window in WINDOWS
)
START = dt.date(2027, 6, 1)
CAP = 10


def left(ledger):
    spent = ledger.spent(LINEAGE, project="p", analyst="ada")
    return {each.cap_id: each.remaining for each in spent.scopes if each.cap_id}


moves = st.lists(
    st.tuples(st.floats(-400, 400), st.sampled_from(["stay", "reopen", "register", "adopt"])),
    min_size=1,
    max_size=8,
)


@settings(max_examples=8, deadline=None)
@given(moves=moves)
def test_no_clock_and_no_registration_gives_any_cap_of_a_policy_back(tmp_path_factory, moves):
    folder, clock = tmp_path_factory.mktemp("windows") / "private", HandClock()
    ledger = open_ledger(folder, clock=clock)
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=policy(*EVERY, effective="2020-01-01"))
    ledger.desk.confirm_day(LINEAGE, day="2027-06-01", reason="start")
    before = left(ledger)
    for number, (days, act) in enumerate(moves):
        clock.move(days=days)
        if act == "reopen":
            ledger.close()
            ledger = open_ledger(folder, clock=clock)
        if act == "register":  # a renamed data set or a new snapshot has the same lineage
            ledger.register(uncapped())
        if act == "adopt":
            ledger.desk.adopt(LINEAGE, policy=policy(*EVERY, effective="2020-01-01"))
        try:
            held = ledger.reserve(asked_by(key=str(number), nano=1000, project="p"))
            ledger.start_reading(held)
        except PolicyError:
            pass
        after = left(ledger)
        assert set(after) == set(before)
        assert all(after[name] <= before[name] for name in before)
        before = after
    ledger.close()


def account_under(*caps):
    account = Account(terms=uncapped(), year=0)
    account.open_year(START.year)
    account.adopt(adopted(policy(*caps)))
    return account


def charge(account, units, analyst="ada"):
    """Charge, if the caps allow it, as the ledger does; return as of when, or None."""
    when = account.occasion(year=account.year, analyst=analyst, project="p")
    amount = Amount(nano=units)
    if any(each.after > each.cap for each in account.charges(amount, when=when)):
        return None
    account.add(amount, when=when)
    return when


true_days = st.lists(
    st.tuples(
        st.integers(0, 120),
        st.integers(1, CAP),
        st.booleans(),
        st.sampled_from([None, None, 0, 1, 2]),
    ),
    min_size=1,
    max_size=40,
)
"""Days that pass, what is asked, whether the day is confirmed, and which release takes a step."""


@pytest.mark.parametrize("scope", ["patient", "project", "analyst"])
@settings(max_examples=150, deadline=None)
@given(history=true_days)
def test_any_365_true_days_hold_at_most_a_rolling_cap_whatever_the_clock_showed(scope, history):
    """The ledger never sees the true day but when an officer confirms it."""
    assert not any_365_days_pass(scope, history, confirm=Account.confirm)


def any_365_days_pass(scope, history, *, confirm):
    account = account_under(cap("rolling", scope, "rolling-365d", f"{CAP}/{NANO}"))
    day, published = START, []  # of each release: units, as of when it counts, days
    for days, units, confirmed, step in history:
        day += dt.timedelta(days=days)
        known = account.rolling.days
        if confirmed and (not known or day.isoformat() > known[-1]):
            confirm(account, day.isoformat())
        if step is None:
            when = charge(account, units)
            if when is not None:
                published.append([units, when, [day]])
        elif step < len(published) and not account.window_over(published[-1 - step][1]):
            paid, when, at = published[-1 - step]
            published[-1 - step] = [
                paid,
                account.count_anew(Amount(nano=paid), when=when),
                [*at, day],
            ]
    year = dt.timedelta(days=365)
    sums = [
        sum(units for units, _, at in published if any(first <= day < first + year for day in at))
        for _, _, firsts in published
        for first in firsts
    ]
    return max(sums, default=0) > CAP


def test_a_rolling_cap_is_usable_again_a_year_after_each_confirmed_day():
    account = account_under(cap("rolling", "patient", "rolling-365d", f"{CAP}/{NANO}"))
    used = 0
    for month in range(60):
        day = (START + dt.timedelta(days=30 * month)).isoformat()
        account.confirm(day)
        while charge(account, 1):
            used += 1
    assert used == CAP * 5  # 60 × 30 days hold almost five windows: each lets go on time


class TestTheseTestsCanFail:
    """Mutants of the window, each of which the property above must catch."""

    def catches(self, confirm):
        found = []

        @settings(max_examples=300, deadline=None, database=None)
        @given(history=true_days)
        def search(history):
            if any_365_days_pass("patient", history, confirm=confirm):
                found.append(history)

        search()
        return bool(found)

    @pytest.mark.mutant
    def test_a_window_that_forgets_is_caught(self):
        def forgets(account, day):
            account.confirm(day)
            account.counters["rolling-365d"].spent = 0
            account.rolling.batches["rolling-365d"] = defaultdict(int)

        assert self.catches(forgets)

    @pytest.mark.mutant
    def test_a_window_that_dates_charges_by_the_day_before_is_caught(self, monkeypatch):
        def early(self, epoch):
            days = [START.isoformat(), *self.days]
            return leaves_on(days[epoch]) <= self.days[-1] if self.days else False

        monkeypatch.setattr(Rolling, "has_left", early)
        assert self.catches(Account.confirm)

    @pytest.mark.mutant
    def test_a_window_of_364_days_is_caught(self, monkeypatch):
        def short(self, epoch):
            if epoch >= len(self.days):
                return False
            gone = dt.date.fromisoformat(self.days[epoch]) + dt.timedelta(days=364)
            return gone.isoformat() <= self.days[-1]

        monkeypatch.setattr(Rolling, "has_left", short)
        boundary = [(0, CAP, False, None), (0, 1, True, None), (364, CAP, True, None)]
        assert any_365_days_pass("patient", boundary, confirm=Account.confirm)

    @pytest.mark.mutant
    def test_steps_that_count_from_the_day_of_their_charge_are_caught(self, monkeypatch):
        def stays(self, amount, *, when):
            del self, amount
            return when

        monkeypatch.setattr(Account, "count_anew", stays)
        assert self.catches(Account.confirm)
