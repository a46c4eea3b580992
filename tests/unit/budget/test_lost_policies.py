"""Whose word counts after an older ledger was put back, until its lost policies hold again."""

from dataclasses import replace

import pytest

from confide.budget.accounts.awaited import NOTHING, Awaited
from confide.budget.accounts.book import Book
from confide.budget.chain.chain import canonical, row_hash, sign_head
from confide.budget.integrity.anchor import Anchor
from confide.budget.policy.adoption import adopted
from confide.budget.policy.policy import Workflow
from confide.errors import ApprovalMissingError, LedgerFrozenError, PolicyError
from ledger_policies import ADA, BO, CY, DI, PEOPLE, cap, policy, uncapped, with_people
from ledgers import LINEAGE, HandClock, SiteKey, open_ledger, released, terms
from unit.budget.test_lost_rows import asked, kept, put_back

OLD, NEW = SiteKey(b"1" * 32), SiteKey(b"2" * 32)
BOGUS = (9, "e" * 64)


def lose_a_row(folder, clock):
    """Before any policy, rows are lost and accepted; return the last one's line."""
    ledger = open_ledger(folder, clock=clock)
    ledger.register(terms(year=None, release=None))
    ledger.close()
    kept(folder, "first")
    ledger = open_ledger(folder, clock=clock)
    released(ledger, "lost", b"")
    ledger.close()
    line = Anchor(folder / "anchor").heads()[-1]
    put_back(folder, "first", "ledger.sqlite")
    ledger = open_ledger(folder, clock=clock)
    ledger.unfreeze("disk replaced")
    ledger.close()
    return line


def a_line_that_is_copied_takes_no_officers_word_away(folder):
    """An older line of our own, of a row that names no officers, is added at the anchor's end."""
    clock = HandClock()
    line = lose_a_row(folder, clock)
    kept(folder, "old")
    ledger = open_ledger(folder, clock=clock)
    ledger.desk.adopt(LINEAGE, policy=with_people(), reason="people")
    asked(ledger, "a")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    Anchor(folder / "anchor").append(line)
    ledger = open_ledger(folder, clock=clock)
    for hand in ((), (ADA,), (BO,)):
        with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
            ledger.unfreeze("mine", officers=hand)
    ledger.unfreeze("disk replaced", officers=(CY,))
    ledger.close()


def test_a_line_that_is_copied_takes_no_officers_word_away(tmp_path):
    a_line_that_is_copied_takes_no_officers_word_away(tmp_path / "ledger")


def a_key_that_was_replaced_signs_no_line_of_lost_rows(folder):
    """Its thief dates lines before the rotation, where the key was in force."""
    clock = HandClock()
    ledger = open_ledger(folder, clock=clock, signer=OLD)
    ledger.register(uncapped())
    ledger.rotate_key(NEW, reason="stolen")
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=clock, signer=NEW)
    ledger.desk.adopt(LINEAGE, policy=with_people())
    asked(ledger, "a")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    anchor = Anchor(folder / "anchor")
    stolen = {"key": OLD.public_key.hex(), "number": 1, "officers": ()}
    line = replace(anchor.heads()[-1], hash="a" * 64, **stolen)
    anchor.append(sign_head(replace(line, adopted=BOGUS), signer=OLD))
    ledger = open_ledger(folder, clock=clock, signer=NEW)
    with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
        ledger.unfreeze("mine")
    ledger.unfreeze("disk replaced", officers=(CY,))
    ledger.desk.adopt(LINEAGE, policy=with_people(), reason="again")
    asked(ledger, "b")  # nobody waits for the policy that the thief named
    ledger.close()


def test_a_key_that_was_replaced_signs_no_line_of_lost_rows(tmp_path):
    a_key_that_was_replaced_signs_no_line_of_lost_rows(tmp_path / "ledger")


def nobody_else_decides_until_lost_policies_hold_again(folder):
    clock, law = HandClock(), cap("law", "dataset", "lifetime", "1")
    first, second = (with_people(law, version=v) for v in (1, 2))
    ledger = open_ledger(folder, clock=clock)
    ledger.register(terms(year=None, release=None))
    ledger.register(replace(terms(), lineage="south"))
    released(ledger, "a", b"")
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=clock)
    ledger.desk.adopt(LINEAGE, policy=first, reason="people")
    ledger.desk.endorse(LINEAGE, policy=second, signer=CY)
    ledger.desk.adopt(LINEAGE, policy=second, reason="yearly")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=clock)
    ledger.unfreeze("disk replaced", officers=(CY,))
    theirs = replace(with_people(cap("most", "dataset", "lifetime", "90")), id="mine")
    acts = {
        "year-opened": lambda by: ledger.open_year(LINEAGE, year=2028, reason="r", officers=by),
        "day-confirmed": lambda by: ledger.desk.confirm_day(
            LINEAGE, day="2028-06-01", reason="r", officers=by
        ),
        "policy-adopted": lambda by: ledger.desk.adopt(
            "south", policy=theirs, reason="mine", officers=by
        ),
    }
    clock.move(days=366)
    for kind, act in acts.items():
        for hand in ((), (ADA,), (BO,)):
            with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
                act(hand)
        if kind == "policy-adopted":
            continue
        act((CY,))
    for lax in (theirs, policy(law), replace(first, owner="somebody else")):
        with pytest.raises(PolicyError, match="this is another policy"):
            ledger.desk.adopt(LINEAGE, policy=lax, reason="mine")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")  # what was accepted is lost as well
    ledger = open_ledger(folder, clock=clock)
    with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
        ledger.unfreeze("mine")
    ledger.unfreeze("disk replaced", officers=(CY,))
    with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
        ledger.desk.adopt(LINEAGE, policy=first, reason="again")
    ledger.desk.adopt(LINEAGE, policy=first, reason="again", officers=(CY,))
    with pytest.raises(PolicyError, match="until it is adopted again"):
        asked(ledger, "b")
    ledger.desk.adopt(LINEAGE, policy=second, reason="again")
    asked(ledger, "c")
    with pytest.raises(ApprovalMissingError, match="an officer's act"):
        ledger.rotate_key(NEW, reason="r")
    ledger.verify_chain()
    ledger.close()


def test_nobody_else_decides_until_lost_policies_hold_again(tmp_path):
    nobody_else_decides_until_lost_policies_hold_again(tmp_path / "ledger")


def led_by(officer, *, version):
    """Return a policy with one officer of their own, and a law that each version relaxes."""
    law = cap("law", "dataset", "lifetime", str(version), priority=1)
    people = (*PEOPLE[:2], replace(PEOPLE[2], name=f"cy{version}", key=officer.public_key.hex()))
    return replace(with_people(law, version=version), workflow=Workflow(people=people))


def a_lost_policy_is_picked_by_no_one(folder, order, *, first=()):
    """Each version dismisses the officer of the one before, whose key is destroyed.

    Somebody without a key tries them in an order, by hand and by opening the data set; then the
    last officer goes on, by way of some of them or of none.
    """
    officers = [SiteKey(bytes([n]) * 32) for n in (1, 2, 3)]
    versions = [led_by(each, version=n) for n, each in enumerate(officers, start=1)]
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    for number, each in enumerate(versions):
        for signer in (officers[number - 1], BO) if number else ():
            ledger.desk.endorse(LINEAGE, policy=each, signer=signer)
        ledger.desk.adopt(LINEAGE, policy=each, reason="the board says so")
    ledger.close()
    *_, last = officers
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("disk replaced", officers=(last,))
    for number in order:
        with pytest.raises(PolicyError, match="until it is adopted again"):
            ledger.desk.follow(LINEAGE, policy=versions[number])
        with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
            ledger.desk.adopt(LINEAGE, policy=versions[number], reason="mine")
    for number in first:
        by = (last,)
        ledger.desk.adopt(LINEAGE, policy=versions[number], reason="in order", officers=by)
    ledger.desk.adopt(LINEAGE, policy=versions[-1], reason="what held last")
    asked(ledger, "a")
    ledger.verify_chain()
    ledger.close()


@pytest.mark.parametrize("first", [(), (0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=str)
def test_nobody_without_a_key_picks_which_lost_policy_comes_back(tmp_path, order, first):
    a_lost_policy_is_picked_by_no_one(tmp_path / "ledger", order, first=first)


def test_the_newest_lost_policy_holds_by_itself_before_anything_was_charged(tmp_path):
    folder, newest = tmp_path / "ledger", with_people(version=2)
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.desk.adopt(LINEAGE, policy=newest)
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("disk replaced", officers=(CY,))
    ledger.desk.follow(LINEAGE, policy=newest)
    asked(ledger, "a")
    ledger.close()


def those_in_force_endorse_what_the_anchor_names(folder):
    """Somebody with the site's key writes that a policy of their own held in rows that are lost."""
    mine = with_people(cap("most", "dataset", "lifetime", "90"), version=2)
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people())
    ledger.close()
    anchor, site = Anchor(folder / "anchor"), SiteKey()
    last = anchor.heads()[-1]
    forged = replace(last, number=last.number + 1, hash="e" * 64, officers=())
    anchor.append(sign_head(replace(forged, adopted=(2, adopted(mine).digest)), signer=site))
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("disk replaced", officers=(CY,))
    with pytest.raises(PolicyError, match="must sign the next version"):
        ledger.desk.adopt(LINEAGE, policy=mine, reason="it held before", officers=(ADA,))
    ledger.close()


def test_those_in_force_endorse_what_the_anchor_alone_says_held(tmp_path):
    those_in_force_endorse_what_the_anchor_names(tmp_path / "ledger")


def test_of_two_policies_that_claim_to_be_the_newest_officers_pick():
    one, other = (1, "a" * 64), (2, "b" * 64)
    assert Awaited(versions=(one, other)).newest == "b" * 64
    assert not Awaited(versions=(one, other, (2, "c" * 64))).newest
    assert not NOTHING.newest


def test_the_book_takes_no_act_without_those_whom_lost_rows_name(tmp_path):
    """Somebody with the site's key writes past the desk."""
    folder, clock = tmp_path / "ledger", HandClock()
    ledger = open_ledger(folder, clock=clock)
    ledger.register(uncapped())
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=clock)
    ledger.desk.adopt(LINEAGE, policy=with_people())
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=clock)
    ledger.unfreeze("disk replaced", officers=(CY, DI))
    ledger.rotate_key(NEW, reason="r", officers=(CY,))
    *before, last = ledger.chain().events
    ledger.close()
    book = Book()
    for event in before:
        book.follow(event)
    body = canonical(last.fields() | {"signed": []})
    forged = replace(last, body=body, hash=row_hash(last.previous, body=body))
    with pytest.raises(LedgerFrozenError, match="whom lost rows name"):
        book.follow(forged)
    mine = canonical(
        {"kind": "policy-adopted", "number": str(last.number), "at": last.fields()["at"]}
        | {"lineage": LINEAGE, "reason": "mine", **adopted(policy(version=7)).to_fields()}
    )
    forged = replace(last, body=mine, hash=row_hash(last.previous, body=mine))
    with pytest.raises(LedgerFrozenError, match="whom lost rows name"):
        book.follow(forged)
