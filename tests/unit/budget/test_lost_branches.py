"""Whose lines of lost rows are believed: where a line stands decides, not the number it names."""

import json
from dataclasses import replace

import pytest

from confide.budget.chain.chain import canonical, sign_head
from confide.budget.integrity.anchor import Anchor
from confide.errors import ApprovalMissingError, LedgerFrozenError, PolicyError
from ledger_policies import ADA, BO, CY, cap, policy, uncapped, with_people
from ledgers import LINEAGE, TENTH, HandClock, SiteKey, open_ledger, released, used
from unit.budget.test_lost_rows import asked, kept, put_back

KEYS = tuple(SiteKey(bytes([number]) * 32) for number in (1, 2, 3))
FIRST, SECOND, THIRD = KEYS
WIDE = policy(cap("law", "dataset", "lifetime", "5"))
TIGHT = policy(cap("law", "dataset", "lifetime", "0.8"), version=2)


def opened(folder, *, key=FIRST):
    return open_ledger(folder, clock=HandClock(), signer=key)


def begun(folder, *, policy=WIDE, key=FIRST):
    """A ledger under a policy, if there is one, of which a copy is kept."""
    ledger = opened(folder, key=key)
    ledger.register(uncapped())
    if policy is not None:
        ledger.desk.adopt(LINEAGE, policy=policy)
    ledger.close()
    kept(folder, "early")


def only_the_tight_policy_holds(ledger, *, spent):
    """Nothing is spent until it is adopted again; then its cap leaves what it left."""
    with pytest.raises(PolicyError, match="until it is adopted again"):
        released(ledger, "before", b"")
    ledger.desk.adopt(LINEAGE, policy=TIGHT, reason="again")
    assert used(ledger)["lifetime"] == spent
    released(ledger, "after", b"")
    ledger.verify_chain()
    ledger.close()


def a_policy_outlives_the_key_that_signed_its_line(folder, *, keys=(FIRST, SECOND)):
    """It is adopted, the signing key is replaced, and an older copy of the ledger is put back."""
    begun(folder)
    ledger = opened(folder)
    ledger.desk.adopt(LINEAGE, policy=TIGHT, reason="the board lowers the cap")
    released(ledger, "lost", b"")
    for key in keys[1:]:
        ledger.rotate_key(key, reason="yearly")
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder, key=keys[-1])
    ledger.unfreeze("disk replaced")
    only_the_tight_policy_holds(ledger, spent=TENTH)


@pytest.mark.parametrize("keys", [KEYS[:2], KEYS], ids=["once", "twice"])
def test_a_policy_is_awaited_though_lost_rows_replaced_the_key_since(tmp_path, keys):
    a_policy_outlives_the_key_that_signed_its_line(tmp_path / "ledger", keys=keys)


def test_a_policy_is_awaited_though_the_key_was_lost_and_an_officer_accepted_another(tmp_path):
    folder = tmp_path / "ledger"
    begun(folder)
    ledger = opened(folder)
    ledger.desk.adopt(LINEAGE, policy=TIGHT, reason="the board lowers the cap")
    ledger.close()
    ledger = opened(folder, key=SECOND)
    ledger.unfreeze("signing.key is lost")
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder, key=SECOND)
    ledger.unfreeze("disk replaced")
    only_the_tight_policy_holds(ledger, spent=0)


def test_a_line_of_an_old_row_that_a_stranger_appends_lets_no_policy_be_forgotten(tmp_path):
    folder = tmp_path / "ledger"
    begun(folder)
    ledger = opened(folder)
    ledger.desk.adopt(LINEAGE, policy=TIGHT, reason="the board lowers the cap")
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    anchor = folder / "anchor"
    first, *rest = anchor.read_text().splitlines()  # of which the anchor holds no line any more
    late = json.loads(first) | {"signature": "0" * 128}
    anchor.write_text("\n".join([*rest, canonical(late)]) + "\n")
    ledger = opened(folder)
    ledger.unfreeze("disk replaced")
    only_the_tight_policy_holds(ledger, spent=0)


def test_a_policy_under_a_key_that_came_and_went_with_lost_rows_is_named_to_the_officer(tmp_path):
    folder = tmp_path / "ledger"
    begun(folder)
    ledger = opened(folder)
    ledger.rotate_key(SECOND, reason="yearly")
    ledger.desk.adopt(LINEAGE, policy=TIGHT, reason="the board lowers the cap")
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder, key=THIRD)
    with pytest.raises(LedgerFrozenError, match=r"version 2 .* under a key that is not known here"):
        released(ledger, "before", b"")
    ledger.close()


def a_policy_outlives_a_key_that_was_lost_with_its_rows(folder, *, people=False):
    """An older copy is put back, the key is gone, and one officer accepts both at once."""
    newest = replace(with_people(*TIGHT.caps), version=2) if people else TIGHT
    begun(folder)
    ledger = opened(folder)
    ledger.desk.adopt(LINEAGE, policy=newest, reason="the board lowers the cap")
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder, key=SECOND)
    ledger.unfreeze("the disk and signing.key are lost", officers=(CY,) if people else ())
    if not people:
        only_the_tight_policy_holds(ledger, spent=0)
        return
    mine = replace(with_people(cap("most", "dataset", "lifetime", "90"), version=2), id="mine")
    with pytest.raises(PolicyError, match="this is another policy"):
        ledger.desk.adopt(LINEAGE, policy=mine, reason="mine")
    ledger.close()


@pytest.mark.parametrize("people", [False, True], ids=["nobody", "people"])
def test_a_policy_is_awaited_though_the_key_of_its_line_is_lost_for_good(tmp_path, people):
    a_policy_outlives_a_key_that_was_lost_with_its_rows(tmp_path / "ledger", people=people)


def a_longer_history_of_before_forgets_no_policy_adopted_since(folder):
    """An early copy is put back and gone on from; then the longer copy of before comes back."""
    begun(folder)
    ledger = opened(folder)
    for key in "abc":
        released(ledger, key, b"")
    ledger.close()
    kept(folder, "long")
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder)
    ledger.unfreeze("disk replaced")
    ledger.desk.adopt(LINEAGE, policy=TIGHT, reason="the board lowers the cap")
    ledger.close()
    put_back(folder, "long", "ledger.sqlite")
    ledger = opened(folder)
    ledger.unfreeze("the other copy was put back")
    only_the_tight_policy_holds(ledger, spent=6 * TENTH)  # what both saw counts in each


def test_a_longer_history_of_before_forgets_no_policy_adopted_since(tmp_path):
    a_longer_history_of_before_forgets_no_policy_adopted_since(tmp_path / "ledger")


def nobody_adopts_another_first_policy_after_a_rotation(folder):
    """The first policy names people, the key is replaced, a copy of before the policy comes
    back."""
    begun(folder, policy=None)
    ledger = opened(folder)
    ledger.desk.adopt(LINEAGE, policy=with_people())
    ledger.rotate_key(SECOND, reason="yearly", officers=(CY,))
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    ledger = opened(folder, key=SECOND)
    ledger.unfreeze("disk replaced", officers=(CY,))
    mine = replace(with_people(cap("most", "dataset", "lifetime", "90")), id="mine")
    with pytest.raises(PolicyError, match="this is another policy"):
        ledger.desk.adopt(LINEAGE, policy=mine, reason="mine")
    for hand in ((), (ADA,), (BO,)):
        with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
            ledger.rotate_key(THIRD, reason="mine", officers=hand)
    ledger.desk.adopt(LINEAGE, policy=with_people(), reason="again")
    asked(ledger, "a")
    ledger.close()


def test_nobody_adopts_another_first_policy_after_a_rotation_is_lost(tmp_path):
    nobody_adopts_another_first_policy_after_a_rotation(tmp_path / "ledger")


def a_key_that_lost_rows_replaced_signs_nothing_after(folder):
    """Its thief adds a line, as of the newest row, that names nobody and a policy of nobody's."""
    begun(folder, policy=None)
    ledger = opened(folder)
    ledger.rotate_key(SECOND, reason="yearly")
    ledger.close()
    kept(folder, "early")
    ledger = opened(folder, key=SECOND)
    ledger.desk.adopt(LINEAGE, policy=with_people())
    ledger.rotate_key(THIRD, reason="stolen", officers=(CY,))
    ledger.close()
    put_back(folder, "early", "ledger.sqlite")
    anchor = Anchor(folder / "anchor")
    last = anchor.heads()[-1]
    stolen = {"key": SECOND.public_key.hex(), "number": last.number + 1, "officers": ()}
    line = replace(last, hash="a" * 64, adopted=(9, "e" * 64), **stolen)
    anchor.append(sign_head(line, signer=SECOND))
    ledger = opened(folder, key=THIRD)
    with pytest.raises(ApprovalMissingError, match="one of its officers must sign"):
        ledger.unfreeze("mine")
    ledger.unfreeze("disk replaced", officers=(CY,))
    ledger.desk.adopt(LINEAGE, policy=with_people(), reason="again")
    asked(ledger, "a")
    ledger.close()


def test_a_key_that_lost_rows_replaced_signs_nothing_after_them(tmp_path):
    a_key_that_lost_rows_replaced_signs_nothing_after(tmp_path / "ledger")
