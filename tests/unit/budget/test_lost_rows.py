"""What lost rows granted comes on top of what was spent since, and nothing of it twice."""

import hashlib
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from confide.budget.accounts.book import Book
from confide.budget.chain.chain import canonical, row_hash, sign_head
from confide.budget.integrity.anchor import Anchor
from confide.errors import (
    ApprovalMissingError,
    BudgetExhaustedError,
    LedgerFrozenError,
    PolicyError,
)
from confide.privacy.amount import LARGEST
from ledger_policies import ADA, BO, CY, DI, cap, policy, uncapped, with_people
from ledgers import LINEAGE, TENTH, HandClock, SiteKey, open_ledger, released, request, terms, used


def kept(folder, name):
    """Copy a closed ledger with its anchor."""
    for file in ("ledger.sqlite", "anchor"):
        shutil.copy2(folder / file, folder / f"{name}.{file}")


def put_back(folder, name, *files):
    for file in files:
        shutil.copy2(folder / f"{name}.{file}", folder / file)


def spent_anew_is_added_to_what_was_lost(folder):
    """An old ledger with an equally old anchor is spent from; then the kept anchor is found."""
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    released(ledger, "a", b"")
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    for key in "bc":
        released(ledger, key, b"")
    ledger.close()
    kept(folder, "lost")
    put_back(folder, "old", "ledger.sqlite", "anchor")
    ledger = open_ledger(folder, clock=HandClock())
    for key in "def":
        released(ledger, key, b"")
    ledger.close()
    put_back(folder, "lost", "anchor")
    ledger = open_ledger(folder, clock=HandClock())
    with pytest.raises(LedgerFrozenError, match="another history"):
        ledger.head()
    ledger.unfreeze("the anchor of the other disk was found")
    assert used(ledger)["lifetime"] == used(ledger)["calendar-year"] == 6 * TENTH
    ledger.unfreeze("nothing more was found")
    ledger.close()
    ledger = open_ledger(folder, clock=HandClock())
    assert used(ledger)["lifetime"] == 6 * TENTH
    ledger.verify_chain()
    ledger.close()


def test_what_was_spent_anew_is_added_to_what_was_lost(tmp_path):
    spent_anew_is_added_to_what_was_lost(tmp_path / "ledger")


def test_rows_that_are_lost_twice_count_once(tmp_path):
    """Lost, accepted, and then the row that accepted is lost as well."""
    folder = tmp_path / "ledger"
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    released(ledger, "a", b"")
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    released(ledger, "b", b"")
    ledger.close()
    for again in range(2):
        put_back(folder, "old", "ledger.sqlite")
        ledger = open_ledger(folder, clock=HandClock())
        ledger.unfreeze("disk replaced")
        assert used(ledger)["lifetime"] == (2 + again) * TENTH
        released(ledger, f"c{again}", b"")
        ledger.close()
    ledger = open_ledger(folder, clock=HandClock())
    assert used(ledger)["lifetime"] == 4 * TENTH
    ledger.verify_chain()
    ledger.close()


def a_day_that_is_lost_forgets_no_charge(folder):
    """In the lost rows a window lets go of a charge, and then takes another."""
    clock = HandClock()
    rolling = cap("rolling", "patient", "rolling-365d", "1")
    ledger = open_ledger(folder, clock=clock)
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=policy(rolling))
    confirm = {"reason": "looked at a calendar"}
    released(ledger, "a", b"", nano=4 * TENTH)
    ledger.desk.confirm_day(LINEAGE, day=clock.time.date().isoformat(), **confirm)
    clock.time += timedelta(days=366)
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=clock)
    ledger.desk.confirm_day(LINEAGE, day=clock.time.date().isoformat(), **confirm)
    assert used(ledger)["rolling-365d"] == 0
    released(ledger, "b", b"", nano=3 * TENTH)
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=clock)
    ledger.unfreeze("disk replaced")
    assert used(ledger)["rolling-365d"] == 7 * TENTH
    ledger.desk.confirm_day(LINEAGE, day=clock.time.date().isoformat(), **confirm)
    assert used(ledger)["rolling-365d"] == 3 * TENTH  # of these 365 days, though its row is lost
    ledger.verify_chain()
    ledger.close()


def test_a_day_that_is_lost_forgets_no_charge(tmp_path):
    a_day_that_is_lost_forgets_no_charge(tmp_path / "ledger")


EACH = tuple(
    cap(f"{scope}-{window}", scope, window, "3")
    for scope in ("analyst", "project")
    for window in ("lifetime", "calendar-year", "rolling-365d")
)
ROLLS = cap("rolling", "patient", "rolling-365d", "3")
LASTS = cap("life", "patient", "lifetime", "4")


def everything(ledger):
    """What every kind of counter that the policy caps holds, of the one who asks."""
    scopes = ledger.spent(LINEAGE, analyst="ada", project="").scopes
    return {each.cap_id: each.used for each in scopes if each.cap_id}


def two_copies_put_back_forget_nothing(folder):
    """Lost rows kept no counter of analysts and windows, and the copy that is put back keeps them.

    A newer one takes the place of an older one, and between them stood a policy of few caps.
    """
    few = policy(LASTS, version=2)
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms(year=None, release=None))
    released(ledger, "a", b"")
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.desk.adopt(LINEAGE, policy=policy(LASTS, ROLLS, *EACH), reason="board")
    ledger.close()
    kept(folder, "new")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.desk.adopt(LINEAGE, policy=few, reason="board")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("an older one was put back")
    ledger.desk.adopt(LINEAGE, policy=few, reason="board")
    for key in "bc":
        released(ledger, key, b"")
    ledger.close()
    put_back(folder, "new", "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("a newer one was found")
    assert everything(ledger) == dict.fromkeys(everything(ledger), 3 * TENTH)
    assert len(everything(ledger)) == 2 + len(EACH)
    others = ledger.spent(LINEAGE, analyst="bo", project="x").scopes
    assert {each.used for each in others if each.cap_id.startswith("analyst")} == {2 * TENTH}
    ledger.verify_chain()
    ledger.close()


def test_two_copies_put_back_one_after_the_other_forget_nothing(tmp_path):
    two_copies_put_back_forget_nothing(tmp_path / "ledger")


def what_was_lost_in_a_year_to_come_counts_in_it(folder):
    """The copy is of the year before that of the rows that are lost."""
    clock = HandClock(datetime(2026, 12, 1, tzinfo=UTC))
    ledger = open_ledger(folder, clock=clock)
    ledger.register(terms(year=None, release=None))
    released(ledger, "a", b"")
    ledger.close()
    kept(folder, "old")
    clock.time = datetime(2027, 1, 5, tzinfo=UTC)
    ledger = open_ledger(folder, clock=clock)
    for key in "bcde":
        released(ledger, key, b"")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=clock)
    ledger.unfreeze("an older one was put back")
    ledger.open_year(LINEAGE, year=2027, reason="it is")
    released(ledger, "f", b"")
    ledger.desk.adopt(LINEAGE, policy=policy(LASTS, *EACH), reason="board")
    held = everything(ledger)
    years = ("analyst-calendar-year", "project-calendar-year")
    assert {held[name] for name in years} == {5 * TENTH}, held
    assert held["life"] == 6 * TENTH
    ledger.verify_chain()
    ledger.close()


def test_what_was_lost_in_a_year_to_come_counts_in_it(tmp_path):
    what_was_lost_in_a_year_to_come_counts_in_it(tmp_path / "ledger")


def asked(ledger, key):
    """Run a request in the tier that needs no approval."""
    held = ledger.reserve(replace(request(key), tier="open"))
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b""))


def older_than_the_policy(folder):
    """Put back a copy from before a policy that names people; return the ledger, frozen."""
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.desk.adopt(LINEAGE, policy=with_people())
    asked(ledger, "a")
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    return open_ledger(folder, clock=HandClock())


def going_on_takes_the_word_of_lost_officers(folder):
    ledger = older_than_the_policy(folder)
    for hand in ((), (ADA,), (BO,), (SiteKey(),)):
        with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
            ledger.unfreeze("disk replaced", officers=hand)
    ledger.unfreeze("disk replaced", officers=(CY,))
    assert used(ledger)["lifetime"] == TENTH
    ledger.verify_chain()
    ledger.close()


def test_going_on_from_before_a_policy_takes_the_word_of_its_officers(tmp_path):
    going_on_takes_the_word_of_lost_officers(tmp_path / "ledger")


def the_policy_of_lost_rows_comes_first(folder):
    """Put back a copy under an earlier version; nothing is spent until the later one holds."""
    strict, lax = (
        with_people(cap("life", "dataset", "lifetime", e), version=v)
        for e, v in (("1", 2), ("9", 3))
    )
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people(cap("life", "dataset", "lifetime", "4")))
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.desk.endorse(LINEAGE, policy=strict, signer=CY)
    ledger.desk.adopt(LINEAGE, policy=strict)
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    with pytest.raises(LedgerFrozenError, match="Version 2 of the policy"):
        ledger.head()
    ledger.unfreeze("disk replaced", officers=(CY,))
    with pytest.raises(PolicyError, match="until it is adopted again"):
        asked(ledger, "a")
    for signer in (CY, BO):
        ledger.desk.endorse(LINEAGE, policy=lax, signer=signer)
    with pytest.raises(PolicyError, match="this is another"):
        ledger.desk.adopt(LINEAGE, policy=lax, reason="more room")
    ledger.close()
    ledger = open_ledger(folder, clock=HandClock())
    ledger.desk.endorse(LINEAGE, policy=strict, signer=CY)
    ledger.desk.adopt(LINEAGE, policy=strict)
    asked(ledger, "a")
    ledger.verify_chain()
    ledger.close()


def test_the_policy_of_lost_rows_is_adopted_again_before_anything_is_spent(tmp_path):
    the_policy_of_lost_rows_comes_first(tmp_path / "ledger")


def test_lines_that_somebody_adds_to_the_anchor_take_no_officers_word_away(tmp_path):
    """A copy of a line from before, and a line of a stranger who names only themselves."""
    folder = tmp_path / "ledger"
    older_than_the_policy(folder).close()
    anchor = Anchor(folder / "anchor")
    lines = anchor.heads()
    stranger = SiteKey(b"s" * 32)
    forged = replace(
        lines[-1],
        hash="f" * 64,
        number=lines[-1].number + 1,
        key=stranger.public_key.hex(),
        officers=((ADA.public_key.hex(),),),
    )
    anchor.append(lines[0], sign_head(forged, signer=stranger), replace(lines[-1], officers=()))
    ledger = open_ledger(folder, clock=HandClock())
    for hand in ((ADA,), (CY,)):
        with pytest.raises(ApprovalMissingError):
            ledger.unfreeze("disk replaced", officers=hand)
    ledger.unfreeze("disk replaced", officers=(ADA, CY))
    ledger.close()


def test_a_stranger_names_no_policy_that_must_be_adopted_first(tmp_path):
    folder = tmp_path / "ledger"
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people())
    ledger.close()
    anchor, stranger = Anchor(folder / "anchor"), SiteKey(b"s" * 32)
    last = anchor.heads()[-1]
    forged = replace(
        last,
        number=last.number + 1,
        hash="e" * 64,
        key=stranger.public_key.hex(),
        officers=(),
        adopted=(99, "ab" * 32),
    )
    anchor.append(sign_head(forged, signer=stranger))
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("a stranger wrote there", officers=(CY,))
    asked(ledger, "a")
    ledger.close()


def test_versions_before_the_one_of_lost_rows_are_adopted_on_the_way(tmp_path):
    """From one that names nobody, by one that does, to one that relaxes what stands for a law."""
    folder, law = tmp_path / "ledger", lambda e: cap("law", "dataset", "lifetime", e, priority=1)
    second, third = with_people(law("1"), version=2), with_people(law("2"), version=3)
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=policy(law("1")))
    ledger.close()
    kept(folder, "old")

    def again(*officers):
        ledger.desk.adopt(LINEAGE, policy=second, reason="people", officers=officers)
        for signer in (CY, BO, DI):
            ledger.desk.endorse(LINEAGE, policy=third, signer=signer)
        ledger.desk.adopt(LINEAGE, policy=third, reason="the law changed")

    ledger = open_ledger(folder, clock=HandClock())
    again()
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("disk replaced", officers=(CY,))
    with pytest.raises(PolicyError, match="until it is adopted again"):
        released(ledger, "a", b"")
    with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
        again()
    again(CY)
    asked(ledger, "a")
    ledger.verify_chain()
    ledger.close()


def test_what_a_lost_lineage_spent_is_not_forgotten_with_a_key_that_was_replaced(tmp_path):
    folder, old, new = tmp_path / "ledger", SiteKey(b"1" * 32), SiteKey(b"2" * 32)
    ledger = open_ledger(folder, clock=HandClock(), signer=old)
    ledger.register(terms())
    ledger.close()
    kept(folder, "old")
    ledger = open_ledger(folder, clock=HandClock(), signer=old)
    ledger.rotate_key(new, reason="yearly")
    ledger.register(replace(terms(), lineage="south"))
    ledger.reserve(replace(request("s"), lineage="south"))
    ledger.close()
    put_back(folder, "old", "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock(), signer=old)
    ledger.unfreeze("disk replaced")
    ledger.register(replace(terms(), lineage="south"))
    assert used(ledger, "south")["lifetime"] == TENTH
    ledger.close()


def test_a_row_that_goes_on_without_the_officers_it_names_is_refused_by_the_book(tmp_path):
    ledger = older_than_the_policy(tmp_path / "ledger")
    ledger.unfreeze("disk replaced", officers=(CY,))
    *before, last = ledger.chain().events
    ledger.close()
    book = Book()
    for event in before:
        book.follow(event)
    body = canonical(last.fields() | {"signed": []})
    forged = replace(last, body=body, hash=row_hash(last.previous, body=body))
    with pytest.raises(LedgerFrozenError, match="whom lost rows name"):
        book.follow(forged)


def full_lines_of_strangers(folder, *, lines):
    """Whoever may write to the anchor adds lines that say as much as a line can."""
    anchor = Anchor(folder / "anchor")
    last, stranger = anchor.heads()[-1], SiteKey(b"s" * 32)
    spent = dict.fromkeys(
        ("lifetime", "calendar-year/2027", "lifetime-delta", "analyst/lifetime/ada"), LARGEST
    )
    for number in range(lines):
        digest = hashlib.sha256(bytes([number])).hexdigest()
        head = replace(last, number=1, hash=digest, spent=spent, key=stranger.public_key.hex())
        anchor.append(sign_head(head, signer=stranger))
        anchor.append(
            sign_head(
                replace(head, hash=digest[::-1], spent=dict.fromkeys(spent, 0)), signer=stranger
            )
        )


@pytest.mark.parametrize("window", ["lifetime", "calendar-year", "rolling-365d"])
def test_full_lines_of_strangers_use_up_a_budget_and_break_no_ledger(tmp_path, window):
    folder = tmp_path / "ledger"
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=policy(cap("most", "dataset", window, "3")))
    released(ledger, "a", b"")
    ledger.close()
    for again in range(2):
        full_lines_of_strangers(folder, lines=1 + again)
        ledger = open_ledger(folder, clock=HandClock())
        ledger.unfreeze("a stranger wrote to the anchor")
        held = ledger._journal.book.spent(LINEAGE)
        assert held["lifetime"] == LARGEST
        with pytest.raises(BudgetExhaustedError):
            released(ledger, f"b{again}", b"")
        ledger.close()
        assert None not in Anchor(folder / "anchor").heads()
        ledger = open_ledger(folder, clock=HandClock())
        ledger.verify_chain()
        ledger.close()


def test_a_full_counter_under_no_cap_takes_charges_and_stays_full(tmp_path):
    folder = tmp_path / "ledger"
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=policy(cap("each", "project", "lifetime", "3")))
    released(ledger, "a", b"")
    ledger.close()
    anchor = Anchor(folder / "anchor")
    named = replace(anchor.heads()[-1], number=1, hash="e" * 64)
    full = {"calendar-year/2027": LARGEST}
    anchor.append(replace(named, spent=full), replace(named, hash="f" * 64, spent=full))
    ledger = open_ledger(folder, clock=HandClock())
    ledger.unfreeze("a stranger wrote to the anchor")
    for key in "bc":
        released(ledger, key, b"")
        ledger.cancel(ledger.reserve(request(f"not {key}")))
        assert ledger._journal.book.spent(LINEAGE)["calendar-year/2027"] == LARGEST
    ledger.close()
    assert None not in anchor.heads()
    ledger = open_ledger(folder, clock=HandClock())
    ledger.verify_chain()
    assert ledger._journal.book.spent(LINEAGE)["project/lifetime/"] == 3 * TENTH
    ledger.close()
