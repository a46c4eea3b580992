"""Rows of a mixed ledger that are lost: what they charged in its lanes counts, in its orders."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.integrity.unnamed import unnamed
from confide.budget.ledger import Caps
from confide.errors import BudgetExhaustedError, LedgerFrozenError, MismatchError
from confide.plans.events import recompute
from confide.privacy.amount import LARGEST, NANO
from confide.privacy.measure import Mixed
from ledger_policies import cap, over_both
from ledgers import LINEAGE, HandClock, terms
from mixed_ledgers import asking, gaussian, mixed_ledger, mixed_terms, opened, orders, pure
from unit.budget.test_lost_rows import kept, put_back


def spend(ledger, events, key):
    reservation = ledger.reserve(asking(events, key=key))
    ledger.start_reading(reservation)
    return ledger.publish(ledger.commit(reservation, payload=b"noisy")).charges


def reopened(folder):
    return opened(folder, clock=HandClock())


def test_a_lane_that_lost_rows_closed_stays_closed(tmp_path):
    folder = tmp_path / "ledger"
    ledger = mixed_ledger(folder)
    spend(ledger, pure("1"), "a")
    ledger.close()
    kept(folder, "old")
    ledger = reopened(folder)
    spend(ledger, gaussian("0.02"), "b")
    year = ledger.spent(LINEAGE).scopes[1]
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = reopened(folder)
    with pytest.raises(LedgerFrozenError):
        ledger.head()
    ledger.unfreeze("an older copy was put back")
    again = ledger.spent(LINEAGE).scopes[1]
    assert (again.used, again.order) == (year.used, 9)
    assert again.pure == LARGEST
    with pytest.raises(BudgetExhaustedError):  # as ε it would fit
        spend(ledger, pure("1.9"), "c")
    ledger.verify_chain()
    ledger.close()


def test_a_lane_stays_closed_when_only_rows_by_which_an_officer_went_on_tell_of_it(tmp_path):
    folder = tmp_path / "ledger"
    ledger = mixed_ledger(folder)
    spend(ledger, pure("1"), "a")
    ledger.close()
    kept(folder, "old")
    ledger = reopened(folder)
    spend(ledger, gaussian("0.02"), "b")
    ledger.close()
    for file in ("ledger.sqlite", "anchor", "ledger.sqlite"):
        put_back(folder, "old", file)
        ledger = reopened(folder)
        ledger.unfreeze("an older copy was put back")
        assert ledger.spent(LINEAGE).scopes[1].pure == LARGEST
        ledger.close()


def test_a_lineage_of_lost_rows_begins_again_in_their_orders(tmp_path):
    folder = tmp_path / "ledger"
    ledger = reopened(folder)
    ledger.register(replace(terms(), lineage="south"))
    ledger.close()
    kept(folder, "old")
    ledger = mixed_ledger(folder)
    spend(ledger, gaussian("0.02"), "a")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = reopened(folder)
    ledger.unfreeze("an older copy was put back")
    caps = Caps(lifetime=2 * NANO, calendar_year=NANO)
    assert orders(caps) != orders(mixed_terms().caps)
    other = replace(mixed_terms(), caps=caps, measure=orders(caps, atto=2 * 10**12))
    with pytest.raises(MismatchError):
        ledger.register(other)
    ledger.register(replace(mixed_terms(), caps=caps, measure=orders(caps)))
    year, lifetime = ledger.spent(LINEAGE).scopes[1:3]
    assert (year.order, lifetime.order) == (9, 4)
    assert (year.used, lifetime.used) == (9 * NANO // 50, 4 * NANO // 50)
    assert year.pure == LARGEST
    ledger.close()


def test_a_mixed_charge_that_its_events_pass_freezes_the_ledger(tmp_path):
    folder = tmp_path / "ledger"
    ledger = mixed_ledger(folder)
    spend(ledger, gaussian("0.02"), "a")
    ledger.close()

    def dearer(text, *, measure, mixed=None):
        cost = recompute(text, measure=measure, mixed=mixed)
        if cost.lanes is None:
            return cost
        more = tuple((order, units + 5) for order, units in cost.lanes.ordered)
        return replace(cost, lanes=replace(cost.lanes, ordered=more))

    ledger = opened(folder, clock=HandClock(), recompute=dearer)
    with pytest.raises(LedgerFrozenError, match="costs more than was charged"):
        ledger.head()
    ledger.unfreeze("counted anew")
    year = ledger.spent(LINEAGE).scopes[1]
    assert year.used == 9 * NANO // 50 + 5
    ledger.close()


def test_rows_that_were_lost_and_spent_anew_add_up_in_both_lanes(tmp_path):
    folder = tmp_path / "ledger"
    ledger = mixed_ledger(folder)
    spend(ledger, pure("0.1"), "a")
    ledger.close()
    kept(folder, "old")
    ledger = reopened(folder)
    spend(ledger, pure("0.2"), "b")
    ledger.close()
    kept(folder, "lost")
    put_back(folder, "old", "ledger.sqlite", "anchor")
    ledger = reopened(folder)
    spend(ledger, pure("0.4"), "c")
    ledger.close()
    put_back(folder, "lost", "anchor")
    ledger = reopened(folder)
    with pytest.raises(LedgerFrozenError, match="another history"):
        ledger.head()
    ledger.unfreeze("the anchor of the other disk was found")
    year = ledger.spent(LINEAGE).scopes[1]
    measure = orders(mixed_terms().caps)
    parts = [
        recompute(
            asking(pure(each), key="k").events_json,
            measure=asking(pure(each), key="k").measure,
            mixed=measure,
        )
        for each in ("0.1", "0.2", "0.4")
    ]
    assert year.pure == 7 * NANO // 10
    assert year.used == sum(each.lanes.at(9) for each in parts)
    assert Fraction(year.cap, NANO) < 3
    ledger.close()


def lacking(ledger, folder, spends):
    """The same ledger, put back to before these charges; an officer has gone on without them."""
    ledger.close()
    kept(folder, "old")
    ledger = reopened(folder)
    for number, events in enumerate(spends):
        spend(ledger, events, f"l{number}")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = reopened(folder)
    ledger.unfreeze("an older copy was put back")
    return ledger


def lost_after(folder, spends, *, before=()):
    """A ledger that lacks what an analyst nobody knows of charged, and then has caps on each."""
    ledger = mixed_ledger(folder)
    for number, events in enumerate(before):
        spend(ledger, events, f"b{number}")
    ledger = lacking(ledger, folder, spends)
    each = (cap("each", "analyst", "calendar-year", "3"), cap("life", "analyst", "lifetime", "9"))
    ledger.desk.adopt(LINEAGE, policy=over_both(*each), reason="the board says so")
    return ledger


def test_what_lost_rows_charged_in_either_lane_may_have_been_any_analysts(tmp_path):
    ledger = lost_after(tmp_path / "ledger", [pure("0.5"), pure("0.25")])
    measure = orders(mixed_terms().caps)
    parts = [asking(pure(each), key="k") for each in ("0.5", "0.25")]
    lanes = [recompute(p.events_json, measure=p.measure, mixed=measure).lanes for p in parts]
    year, life = ledger.spent(LINEAGE, analyst="bo").scopes[:2]
    assert (year.pure, life.pure) == (3 * NANO // 4, 3 * NANO // 4)
    assert year.used == sum(each.at(9) for each in lanes)
    assert life.used == sum(each.at(4) for each in lanes)
    ledger.close()


@pytest.mark.parametrize("before", [(), (gaussian("0.005"),)], ids=["open", "closed before"])
def test_a_lane_that_lost_rows_may_have_closed_is_closed_to_every_analyst(tmp_path, before):
    ledger = lost_after(tmp_path / "ledger", [gaussian("0.005")], before=before)
    year, life = ledger.spent(LINEAGE, analyst="bo").scopes[:2]
    assert (year.pure, life.pure) == (LARGEST, LARGEST)
    assert (year.used, life.used) == (9 * NANO // 200, 4 * NANO // 200)
    ledger.close()


def test_what_lost_rows_charged_an_analyst_whom_they_name_counts_for_nobody_else(tmp_path):
    folder = tmp_path / "ledger"
    each = cap("each", "analyst", "calendar-year", "2")
    ledger = mixed_ledger(folder)
    ledger.desk.adopt(LINEAGE, policy=over_both(each), reason="the board says so")
    ledger = lacking(ledger, folder, [gaussian("0.005")])
    (ada,) = ledger.spent(LINEAGE, analyst="ada").scopes[:1]
    (bo,) = ledger.spent(LINEAGE, analyst="bo").scopes[:1]
    assert (ada.pure, ada.used) == (LARGEST, 9 * NANO // 200)
    assert (bo.pure, bo.used) == (0, 0)
    ledger.close()


def at_orders_of_their_own(more, **changes):
    says = {"full": (), "says_whose": True, "follows": True, **changes}
    return unnamed(more, measure=Mixed(atto=10**12, yearly=9, lifetime=4, each=(22, 4)), **says)


CHARGED = {"lifetime": 4, "calendar-year/2027": 9, "pure/lifetime": 1, "pure/calendar-year/2027": 1}


def test_counters_at_another_order_than_those_on_everybody_may_hold_anything():
    found = at_orders_of_their_own(CHARGED)
    assert found["analyst/calendar-year/2027"] == found["analyst/rolling-365d"] == LARGEST
    assert (found["analyst/lifetime"], found["rolling-365d"]) == (4, 9)
    assert found["pure/analyst/calendar-year/2027"] == found["pure/project/lifetime"] == 1


def test_a_year_that_a_line_does_not_name_may_have_come_to_any_window_of_365_days():
    assert at_orders_of_their_own(CHARGED, follows=False)["rolling-365d"] == LARGEST


def test_a_full_twin_tells_nothing_of_others():
    found = at_orders_of_their_own(CHARGED, full=("pure/lifetime",))
    assert found["pure/analyst/lifetime"] == found["pure/rolling-365d"] == LARGEST
    assert found["pure/analyst/calendar-year/2027"] == 1


def test_what_a_row_of_going_on_gave_everybody_is_no_more_than_came_to_the_least():
    names = {"analyst/calendar-year/2027/ada": 30, "analyst/calendar-year/2027/bo": 22}
    found = at_orders_of_their_own(CHARGED | names, says_whose=False)
    assert found["analyst/calendar-year/2027"] == 22
    assert at_orders_of_their_own(CHARGED | names).get("analyst/calendar-year/2027") is None


def test_a_row_that_charged_nobody_tells_of_nobody():
    assert at_orders_of_their_own(dict.fromkeys(CHARGED, 0)) == {}
