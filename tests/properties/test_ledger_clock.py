"""No reading of the clock gives budget back."""

import shutil
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.budget.chain.ledger_time import ledger_time, utc_now
from confide.budget.ledger import Caps
from confide.errors import InvalidParameterError, PolicyError
from ledgers import LINEAGE, NANO, TENTH, HandClock, open_ledger, released, remaining, terms, used

jumps = st.lists(st.tuples(st.floats(-400, 400), st.booleans()), min_size=1, max_size=25)


def left(ledger):
    return {name: units for name, units in remaining(ledger).items() if units is not None}


def never_grows(before, after):
    return all(after[name] <= before[name] for name in before)


@settings(max_examples=20, deadline=None)
@given(jumps=jumps)
def test_a_clock_moved_400_days_either_way_never_gives_budget_back(tmp_path_factory, jumps):
    folder = tmp_path_factory.mktemp("clock") / "private"
    clock = HandClock()
    ledger = open_ledger(folder, clock=clock)
    ledger.register(terms(lifetime=30 * NANO))
    for number, (days, reopen) in enumerate(jumps):
        before, year = left(ledger), ledger.spent(LINEAGE).scopes[1].period
        clock.move(days=days)
        if reopen:
            ledger.close()
            ledger = open_ledger(folder, clock=clock)
        try:
            released(ledger, str(number), b"", nano=1000)
        except PolicyError:
            assert clock.time.year > int(year)
        assert never_grows(before, left(ledger))
    times = [entry.at for entry in ledger.entries(LINEAGE)]
    assert times == sorted(times)
    ledger.close()


@settings(max_examples=20, deadline=None)
@given(jumps=jumps)
def test_a_cap_by_year_counts_every_year_that_the_clock_alone_has_ended(tmp_path_factory, jumps):
    """As of a clock that was put forward while nothing was capped by year, and put back."""
    clock = HandClock()
    ledger = open_ledger(tmp_path_factory.mktemp("clock") / "private", clock=clock)
    ledger.register(terms(year=None, lifetime=30 * NANO))
    amended = False
    for number, (days, amend) in enumerate(jumps):
        clock.move(days=days)
        try:
            released(ledger, str(number), b"", nano=1000)
        except PolicyError:
            assert amended
        amended = amend or number == len(jumps) - 1
        year = 3 * NANO if amended else None
        ledger.amend_caps(LINEAGE, caps=Caps(lifetime=30 * NANO, calendar_year=year), reason="r")
        if amended:
            assert used(ledger)["calendar-year"] == used(ledger)["lifetime"]
    ledger.verify_chain()
    ledger.close()


def test_what_lost_rows_spent_in_a_year_that_only_the_clock_began_counts_under_a_first_cap(
    tmp_path,
):
    clock, folder = HandClock(), tmp_path / "private"
    ledger = open_ledger(folder, clock=clock)
    ledger.register(terms(year=None))
    released(ledger, "a", b"", nano=1)
    ledger.close()
    shutil.copy2(folder / "ledger.sqlite", tmp_path / "old")
    clock.move(days=365)
    ledger = open_ledger(folder, clock=clock)
    released(ledger, "b", b"", nano=5 * TENTH)
    ledger.close()
    clock.move(days=-365)
    shutil.copy2(tmp_path / "old", folder / "ledger.sqlite")
    ledger = open_ledger(folder, clock=clock)
    ledger.unfreeze("disk replaced")
    ledger.amend_caps(LINEAGE, caps=Caps(lifetime=4 * NANO, calendar_year=NANO), reason="r")
    assert used(ledger)["calendar-year"] == used(ledger)["lifetime"] == 5 * TENTH + 1
    ledger.verify_chain()
    ledger.close()


def test_a_year_that_somebody_vouches_for_begins_anew(tmp_path):
    clock = HandClock()
    ledger = open_ledger(tmp_path / "private", clock=clock)
    ledger.register(terms(year=None))
    released(ledger, "a", b"", nano=1000)
    clock.move(days=365)
    released(ledger, "b", b"", nano=10)
    ledger.open_year(LINEAGE, year=2028, reason="the clock is right")
    with pytest.raises(PolicyError, match="after 2028"):
        ledger.open_year(LINEAGE, year=2028, reason="again")
    ledger.amend_caps(LINEAGE, caps=Caps(lifetime=NANO, calendar_year=TENTH), reason="new rules")
    assert used(ledger)["calendar-year"] == 10
    ledger.verify_chain()
    ledger.close()


def test_what_a_late_clock_charges_in_a_new_year_counts_in_the_one_before(tmp_path):
    """On 5 January 2028 by the sun; the year's cap is whole again once it is opened."""
    clock = HandClock(datetime(2027, 12, 5, tzinfo=UTC))
    ledger = open_ledger(tmp_path / "private", clock=clock)
    ledger.register(terms())
    released(ledger, "late", b"", nano=TENTH)
    assert used(ledger)["calendar-year"] == TENTH
    clock.time = datetime(2028, 1, 5, tzinfo=UTC)
    ledger.open_year(LINEAGE, year=2028, reason="the clock was set")
    assert used(ledger)["calendar-year"] == 0
    assert used(ledger)["lifetime"] == TENTH
    ledger.close()


def test_the_check_would_see_a_year_that_opens_by_itself(tmp_path):
    clock = HandClock()
    ledger = open_ledger(tmp_path / "private", clock=clock)
    ledger.register(terms())
    released(ledger, "k", b"", nano=TENTH)
    before = left(ledger)
    clock.move(days=365)
    ledger.open_year(LINEAGE, year=2028, reason="confirmed")
    assert not never_grows(before, left(ledger))
    ledger.close()


def test_steps_of_less_than_a_day_do_not_reach_the_next_year(tmp_path):
    clock = HandClock(datetime(2027, 12, 30, tzinfo=UTC))
    ledger = open_ledger(tmp_path / "private", clock=clock)
    ledger.register(terms())
    for number in range(3):
        released(ledger, str(number), b"", nano=1000)
        clock.move(hours=15)
    clock.move(hours=15)
    with pytest.raises(PolicyError, match="open-year 2028"):
        released(ledger, "x", b"", nano=1000)
    clock.move(hours=-30)  # the clock was wrong: nothing of it was recorded
    released(ledger, "x", b"", nano=1000)
    assert ledger.entries(LINEAGE)[-1].at.startswith("2027-12-31")
    ledger.close()


def test_time_zones_do_not_move_the_year_and_naive_clocks_are_refused():
    east = timezone(timedelta(hours=14))
    assert utc_now(HandClock(datetime(2028, 1, 1, 5, tzinfo=east))).year == 2027
    with pytest.raises(InvalidParameterError, match="naive"):
        utc_now(HandClock(datetime(2027, 1, 1)))  # noqa: DTZ001
    assert ledger_time(datetime(2027, 1, 1, tzinfo=UTC), last="") == "2027-01-01T00:00:00.000000Z"
