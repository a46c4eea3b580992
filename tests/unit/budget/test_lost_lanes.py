"""Rows of a mixed ledger that are lost: what they charged in its lanes counts, in its orders."""

from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.ledger import Caps
from confide.errors import BudgetExhaustedError, LedgerFrozenError, MismatchError
from confide.plans.events import recompute
from confide.privacy.amount import LARGEST, NANO
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
