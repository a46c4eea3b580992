"""Unit, adjacency, measure and caps that lost rows had set hold once an officer goes on."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.budget.accounts.lost_terms import Told
from confide.budget.chain.chain import canonical
from confide.budget.integrity.anchor import Anchor
from confide.errors import BudgetExhaustedError, LedgerFrozenError, MismatchError, PolicyError
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from ledger_policies import cap, policy, uncapped
from ledgers import LINEAGE, TENTH, HandClock, SiteKey, open_ledger, request, terms, used
from unit.budget.test_lost_rows import kept, put_back

SECOND, THIRD = (SiteKey(bytes([number]) * 32) for number in (2, 3))
WIDE = terms(lifetime=40 * TENTH, year=None, release=None)
RHO = {"measure": Measure.ZCDP}
NARROW = replace(terms(lifetime=3 * TENTH, year=None, release=None), **RHO)


def opened(folder, *, key=None):
    return open_ledger(folder, clock=HandClock(), signer=key)


def charge(ledger, key, *, nano=TENTH, **others):
    """Release something under the terms that ``others`` name."""
    held = ledger.reserve(replace(request(key, nano=nano), **others))
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"answer"))


def begun(folder, *, name="early"):
    """A ledger of a lineage in ε that was not charged yet, of which a copy is kept."""
    ledger = opened(folder)
    ledger.register(WIDE)
    ledger.close()
    kept(folder, name)


def gone_on(folder, *, name="early", key=None):
    put_back(folder, name, "ledger.sqlite")
    ledger = opened(folder, key=key)
    ledger.unfreeze("disk replaced")
    ledger.close()
    return opened(folder, key=key)


def holds_the_narrow_terms(ledger, *, spent):
    """What the lost rows set holds, and nothing else, to the last unit of their cap."""
    assert ledger.spent(LINEAGE).measure is Measure.ZCDP
    assert used(ledger)["lifetime"] == spent
    for others in (WIDE, replace(NARROW, unit=Entity.EVENT)):
        with pytest.raises(MismatchError, match=r"Expected (measure 'zcdp'|unit 'patient')"):
            ledger.register(others)
    ledger.register(NARROW)
    with pytest.raises(BudgetExhaustedError):
        charge(ledger, "past the cap", nano=3 * TENTH - spent + 1, **RHO)
    charge(ledger, "rest", nano=3 * TENTH - spent, **RHO)
    ledger.verify_chain()
    ledger.close()


def terms_of_lost_rows_hold(folder):
    """The measure changes before the first charge; then a copy of before comes back."""
    begun(folder)
    ledger = opened(folder)
    ledger.register(NARROW)
    charge(ledger, "a", **RHO)
    ledger.close()
    holds_the_narrow_terms(gone_on(folder), spent=TENTH)


def test_terms_that_lost_rows_changed_hold_with_what_they_charged(tmp_path):
    terms_of_lost_rows_hold(tmp_path / "ledger")


def test_terms_of_lost_rows_hold_though_the_row_that_took_them_is_lost_as_well(tmp_path):
    folder = tmp_path / "ledger"
    begun(folder)
    ledger = opened(folder)
    ledger.register(NARROW)
    charge(ledger, "a", **RHO)
    ledger.close()
    ledger = gone_on(folder)
    charge(ledger, "b", **RHO)
    ledger.close()
    holds_the_narrow_terms(gone_on(folder), spent=2 * TENTH)


def test_terms_of_lost_rows_hold_where_the_signing_key_was_replaced_in_them(tmp_path):
    folder = tmp_path / "ledger"
    begun(folder)
    ledger = opened(folder)
    ledger.register(NARROW)
    charge(ledger, "a", **RHO)
    ledger.rotate_key(SECOND, reason="yearly")
    ledger.close()
    holds_the_narrow_terms(gone_on(folder, key=SECOND), spent=TENTH)


def test_a_longer_copy_of_before_brings_no_earlier_terms_back(tmp_path):
    """Histories fork: the newest terms are those of the rows that were written last."""
    folder = tmp_path / "ledger"
    begun(folder)
    ledger = opened(folder)
    ledger.register(replace(WIDE, unit=Entity.EVENT))
    ledger.desk.note_access(LINEAGE, patient="0" * 64, officer="cy", reason="asked")
    ledger.close()
    kept(folder, "long")
    ledger = gone_on(folder)
    ledger.register(NARROW)
    charge(ledger, "a", **RHO)
    ledger.close()
    holds_the_narrow_terms(gone_on(folder, name="long"), spent=TENTH)


def test_a_cap_that_lost_rows_lowered_stays_low_and_one_that_they_raised_is_raised_again(tmp_path):
    folder = tmp_path / "ledger"
    ledger = opened(folder)
    ledger.register(WIDE)
    charge(ledger, "a")
    ledger.close()
    kept(folder, "early")
    ledger = opened(folder)
    lower = replace(WIDE.caps, lifetime=2 * TENTH, release=90 * TENTH, delta_lifetime_atto=0)
    ledger.amend_caps(LINEAGE, caps=lower, reason="the board")
    ledger.close()
    ledger = gone_on(folder)
    ledger.register(replace(WIDE, caps=lower))
    charge(ledger, "b")
    with pytest.raises(BudgetExhaustedError):
        charge(ledger, "c", nano=1)
    ledger.close()
    kept(folder, "early")
    ledger = opened(folder)
    ledger.amend_caps(LINEAGE, caps=WIDE.caps, reason="more")
    ledger.close()
    ledger = gone_on(folder)
    with pytest.raises(PolicyError, match="under other caps"):
        ledger.register(WIDE)  # the reason for it is lost
    ledger.amend_caps(LINEAGE, caps=WIDE.caps, reason="more, again")
    charge(ledger, "c")
    ledger.close()


def a_policy_of_the_new_measure_comes_back(folder):
    begun(folder)
    law = policy(cap("law", "dataset", "lifetime", "0.3"))
    law = replace(law, report_delta=Fraction(1, 10**6), **RHO)
    ledger = opened(folder)
    ledger.register(replace(uncapped(), **RHO))
    ledger.desk.adopt(LINEAGE, policy=law)
    ledger.close()
    ledger = gone_on(folder)
    with pytest.raises(MismatchError, match="Expected measure 'zcdp'"):
        ledger.register(WIDE)  # it could never adopt the policy that it waits for
    ledger.register(replace(uncapped(), **RHO))
    ledger.desk.adopt(LINEAGE, policy=law, reason="again")
    charge(ledger, "a", nano=TENTH // 100, **RHO)
    ledger.verify_chain()
    ledger.close()


def test_a_policy_of_a_measure_that_lost_rows_changed_is_adopted_again(tmp_path):
    a_policy_of_the_new_measure_comes_back(tmp_path / "ledger")


def a_lineage_of_lost_rows_keeps_its_terms(folder):
    south = {"lineage": "south"}
    begun(folder)
    ledger = opened(folder)
    ledger.register(replace(NARROW, **south))
    charge(ledger, "a", **RHO, **south)
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder)
    with pytest.raises(LedgerFrozenError, match=r"'south' is in lost rows alone.*measure zcdp"):
        ledger.head()
    ledger.unfreeze("disk replaced")
    ledger.close()
    ledger = opened(folder)
    with pytest.raises(MismatchError, match="Expected measure 'zcdp'"):
        ledger.register(replace(WIDE, **south))
    with pytest.raises(PolicyError, match="under other caps, in rows that are lost"):
        ledger.register(replace(WIDE, **south, **RHO))
    ledger.register(replace(uncapped(), **south, **RHO))  # a policy that nobody adopted yet
    with pytest.raises(BudgetExhaustedError):
        charge(ledger, "b", nano=2 * TENTH + 1, **RHO, **south)
    charge(ledger, "b", nano=2 * TENTH, **RHO, **south)
    ledger.verify_chain()
    ledger.close()


def test_a_lineage_that_only_lost_rows_knew_keeps_its_terms(tmp_path):
    a_lineage_of_lost_rows_keeps_its_terms(tmp_path / "ledger")


def amounts_that_do_not_add_up_stop_the_lineage(folder):
    """The early copy is charged in ε, with its anchor; then the anchor of lost rows in ρ is
    found."""
    begun(folder)
    ledger = opened(folder)
    ledger.register(NARROW)
    charge(ledger, "a", **RHO)
    ledger.close()
    kept(folder, "lost")
    put_back(folder, "early", "ledger.sqlite", "anchor")
    ledger = opened(folder)
    charge(ledger, "b")
    ledger.close()
    put_back(folder, "lost", "anchor")
    ledger = opened(folder)
    with pytest.raises(LedgerFrozenError, match=r"under other terms.*measure zcdp\): nothing more"):
        ledger.head()
    ledger.unfreeze("the anchor of the other disk was found")
    for _ in range(2):
        ledger.register(WIDE)
        with pytest.raises(PolicyError, match="the two do not add up"):
            charge(ledger, "c")
        ledger.close()
        ledger = opened(folder)
    other = {"lineage": "another"}
    ledger.register(replace(WIDE, **other))
    charge(ledger, "c", **other)
    ledger.verify_chain()
    ledger.close()


def test_amounts_of_two_histories_that_do_not_add_up_stop_the_lineage(tmp_path):
    amounts_that_do_not_add_up_stop_the_lineage(tmp_path / "ledger")


@pytest.mark.parametrize("lineage", [LINEAGE, "south"])
def test_terms_under_a_key_that_is_lost_with_its_rows_stop_what_was_charged_under_them(
    tmp_path, lineage
):
    """Nobody knows whose line it is; the officer is told before going on."""
    folder = tmp_path / "ledger"
    begun(folder)
    ledger = opened(folder)
    ledger.rotate_key(SECOND, reason="yearly")
    ledger.register(replace(NARROW, lineage=lineage))
    charge(ledger, "a", **RHO, lineage=lineage)
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder, key=THIRD)
    ledger.unfreeze("the disk and both keys are lost")
    ledger.register(replace(WIDE, lineage=lineage))
    with pytest.raises(PolicyError, match="the two do not add up"):
        charge(ledger, "b", lineage=lineage)
    ledger.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"terms": ["patient", "add-remove"]},
        {"terms": ["patient", "add-remove", "pure", "pure"]},
        {"terms": ["nobody", "add-remove", "pure"]},
        {"terms": [["patient"], "add-remove", "pure"]},
        {"terms": "patient"},
        {"terms": 3},
        {"caps": {"lifetime": "1"}},
        {"caps": {"lifetime": "01", "release": None, "calendar-year": None, "lifetime-delta": "0"}},
        {"caps": {"lifetime": "0", "release": None, "calendar-year": None, "lifetime-delta": "0"}},
        {"caps": []},
    ],
)
def test_terms_that_no_lineage_has_are_in_no_line_and_stop_nobody(tmp_path, changes):
    folder = tmp_path / "ledger"
    begun(folder)
    anchor = folder / "anchor"
    line = json.loads(anchor.read_text().splitlines()[-1])
    anchor.write_text(anchor.read_text() + canonical({**line, "number": "2"} | changes) + "\n")
    assert Anchor(anchor).heads()[-1] is None
    ledger = opened(folder)
    ledger.unfreeze("no ledger wrote it")
    charge(ledger, "a")
    ledger.verify_chain()
    ledger.close()


def test_terms_under_which_something_was_charged_are_not_replaced_by_lines_of_before():
    charged = Told(
        newest=("patient", "add-remove", "pure"), charged=(("patient", "add-remove", "pure"),)
    )
    before = Told(newest=("event", "add-remove", "pure"))
    assert charged.followed_by(before) == charged
    assert before.followed_by(charged) == charged
    assert Told(newest=("patient", "add-remove", "pure")).followed_by(before) == before
