"""A data set that only lost rows knew begins where they left it, and stops nobody else."""

from dataclasses import replace

import pytest

from confide.budget.integrity.anchor import Anchor
from confide.errors import (
    ApprovalMissingError,
    BudgetExhaustedError,
    PolicyError,
    UnknownNameError,
)
from ledger_policies import CY, cap, policy, uncapped, with_people
from ledgers import NANO, TENTH, HandClock, SiteKey, open_ledger, released, request, used
from ledgers import terms as terms_of
from unit.budget.test_lost_rows import kept, put_back

SOUTH = "south"


def terms(**caps):
    return replace(terms_of(**caps), lineage=SOUTH)


def release(ledger, key, *, nano=TENTH, **others):
    """Release something of the other data set."""
    held = ledger.reserve(replace(request(key, nano=nano), lineage=SOUTH, **others))
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b""))


def begun(folder, clock=None):
    """A ledger of one data set, of which a copy is kept."""
    ledger = open_ledger(folder, clock=clock or HandClock())
    ledger.register(terms_of())
    ledger.close()
    kept(folder, "old")
    return open_ledger(folder, clock=clock or HandClock())


def put_back_and_accepted(folder, *, clock=None, officers=()):
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=clock or HandClock())
    ledger.unfreeze("disk replaced", officers=officers)
    return ledger


def a_lineage_of_lost_rows_begins_where_they_left_it(folder):
    ledger = begun(folder)
    ledger.register(terms(lifetime=5 * TENTH))
    for key in "abc":
        release(ledger, key)
    ledger.close()
    ledger = put_back_and_accepted(folder)
    released(ledger, "north", b"")  # the other data set goes on at once
    with pytest.raises(UnknownNameError):
        ledger.spent(SOUTH)
    ledger.close()
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms(lifetime=5 * TENTH))
    assert used(ledger, SOUTH)["lifetime"] == used(ledger, SOUTH)["calendar-year"] == 3 * TENTH
    release(ledger, "d", nano=2 * TENTH)
    with pytest.raises(BudgetExhaustedError):
        release(ledger, "e", nano=1)
    ledger.verify_chain()
    ledger.close()
    ledger = open_ledger(folder, clock=HandClock())
    assert used(ledger, SOUTH)["lifetime"] == 5 * TENTH
    assert used(ledger)["lifetime"] == TENTH
    ledger.close()


def test_a_lineage_of_lost_rows_begins_where_they_left_it(tmp_path):
    a_lineage_of_lost_rows_begins_where_they_left_it(tmp_path / "ledger")


def test_a_lineage_that_is_lost_twice_forgets_nothing(tmp_path):
    folder = tmp_path / "ledger"
    ledger = begun(folder)
    ledger.register(terms())
    release(ledger, "a")
    ledger.close()
    ledger = put_back_and_accepted(folder)
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    release(ledger, "b")
    ledger.close()
    ledger = put_back_and_accepted(folder)
    ledger.register(terms())
    assert used(ledger, SOUTH)["lifetime"] == 2 * TENTH
    ledger.verify_chain()
    ledger.close()


def test_what_lost_rows_charged_an_analyst_counts_under_a_cap_that_is_set_later(tmp_path):
    folder = tmp_path / "ledger"
    ledger = begun(folder)
    ledger.register(terms(year=None))
    release(ledger, "a", nano=3 * TENTH)
    ledger.close()
    ledger = put_back_and_accepted(folder)
    ledger.register(replace(uncapped(), lineage=SOUTH))
    each = policy(cap("each", "analyst", "lifetime", "0.4"))
    ledger.desk.adopt(SOUTH, policy=each, reason="caps by analyst")
    release(ledger, "b")
    with pytest.raises(BudgetExhaustedError):
        release(ledger, "c")
    ledger.verify_chain()
    ledger.close()


def test_the_year_of_a_lost_lineage_is_not_ended_by_the_clock(tmp_path):
    folder, clock = tmp_path / "ledger", HandClock()
    ledger = begun(folder, clock)
    ledger.register(terms(year=3 * TENTH, release=None))
    release(ledger, "a", nano=3 * TENTH)
    ledger.close()
    clock.move(days=366)
    ledger = put_back_and_accepted(folder, clock=clock)
    ledger.register(terms(year=3 * TENTH, release=None))
    with pytest.raises(PolicyError, match="is the one that is open"):
        release(ledger, "b")
    ledger.open_year(SOUTH, year=clock.time.year, reason="new year")
    release(ledger, "b")
    ledger.close()


def the_policy_of_a_lost_lineage_is_awaited(folder):
    law = with_people(cap("law", "dataset", "lifetime", "0.3"))
    ledger = begun(folder)
    ledger.register(replace(uncapped(), lineage=SOUTH))
    ledger.desk.adopt(SOUTH, policy=law, reason="people")
    release(ledger, "a", tier="open")
    ledger.close()
    with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
        put_back_and_accepted(folder)
    ledger = put_back_and_accepted(folder, officers=(CY,))
    with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
        ledger.rotate_key(SiteKey(b"2" * 32), reason="mine")  # though nobody registered it yet
    ledger.close()
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms(lifetime=90 * NANO))
    with pytest.raises(PolicyError, match="until it is adopted again"):
        release(ledger, "b")
    mine = replace(with_people(cap("most", "dataset", "lifetime", "90")), id="mine")
    with pytest.raises(PolicyError, match="this is another policy"):
        ledger.desk.adopt(SOUTH, policy=mine, reason="mine")
    ledger.desk.adopt(SOUTH, policy=law, reason="again")
    release(ledger, "b", nano=2 * TENTH, tier="open")
    with pytest.raises(BudgetExhaustedError):
        release(ledger, "c", nano=1, tier="open")
    ledger.verify_chain()
    ledger.close()


def test_the_policy_of_a_lineage_that_only_lost_rows_knew_is_awaited(tmp_path):
    the_policy_of_a_lost_lineage_is_awaited(tmp_path / "ledger")


def test_a_line_of_a_stranger_that_names_an_unknown_lineage_stops_nobody(tmp_path):
    folder = tmp_path / "ledger"
    begun(folder).close()
    anchor = Anchor(folder / "anchor")
    last = anchor.heads()[-1]
    line = replace(last, number=last.number + 1, hash="a" * 64, lineage=SOUTH, signature="0" * 128)
    anchor.append(replace(line, spent={"lifetime": TENTH}, adopted=(1, "e" * 64)))
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("no noted head follows it")
    released(ledger, "a", b"")
    ledger.register(terms())
    assert used(ledger, SOUTH)["lifetime"] == TENTH  # signed or not: more is safer
    release(ledger, "b")
    ledger.verify_chain()
    ledger.close()
