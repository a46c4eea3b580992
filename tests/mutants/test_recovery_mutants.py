"""Ledgers that forgive what was lost; each must be caught by the suite's own check."""

import shutil
from dataclasses import replace
from functools import partial

import pytest

from confide.budget import chained_ledger, journal
from confide.budget.accounts import awaited, book, lost_lineages
from confide.budget.accounts.account import Account
from confide.budget.accounts.awaited import NOTHING
from confide.budget.accounts.book import Book
from confide.budget.accounts.lost_lineages import LostLineage
from confide.budget.chain.identity import Identity
from confide.budget.integrity import book_head, inspection, lost_rows
from confide.budget.integrity.lost_rows import Granted
from confide.budget.journal import Journal
from confide.budget.policy.counters import kind_of, year_of
from confide.errors import BurnedError, ConfideError, LedgerFrozenError, PolicyError
from confide.release.site.ledger_pin import FolderSite
from ledgers import TENTH, HandClock, SiteKey, open_ledger, request, terms, used
from properties import test_lost_and_put_back as life
from unit.budget import test_lost_branches as branches
from unit.budget import test_lost_lineages as lineages
from unit.budget import test_lost_policies as policies
from unit.budget import test_lost_rows as lost
from unit.budget import test_lost_terms as terms_of
from unit.cli.ledger import test_lost_files as suite

pytestmark = pytest.mark.mutant

TAKE_LOST, OPEN_YEAR = Account.take_lost, Account.open_year
GO_ON = Book._go_on
REMOVED = suite.test_a_ledger_that_was_removed_with_its_anchor_is_not_begun_anew
HASH_KEY = suite.test_a_hash_key_that_is_missing_is_not_made_anew_and_put_back_it_goes_on


def what_was_answered_in_lost_rows_stays_charged(folder):
    """A copy is taken after the charge; the answer is published; the copy is put back."""
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    held = ledger.reserve(request())
    shutil.copy2(folder / "ledger.sqlite", folder / "copy")
    ledger.start_reading(held)
    ledger.publish(ledger.commit(held, payload=b"answer"))
    ledger.close()
    (folder / "copy").replace(folder / "ledger.sqlite")
    again = open_ledger(folder, clock=HandClock())
    again.unfreeze("disk replaced")
    again.close()
    for _ in range(2):
        opened = open_ledger(folder, clock=HandClock())
        assert used(opened)["lifetime"] == TENTH
        with pytest.raises(BurnedError):
            opened.reserve(request())
        opened.verify_chain()
        opened.close()


def goes_on_without_burning(self, fields, event):
    """As it was before: requests under way stayed so, and whoever did not read got the charge
    back."""
    held, self.open = self.open, set()
    GO_ON(self, {**fields, "burned": []}, event)
    self.open = held


def test_a_refund_of_what_lost_rows_answered_is_caught(tmp_path, monkeypatch):
    what_was_answered_in_lost_rows_stays_charged(tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(Book, "_go_on", goes_on_without_burning)
        with pytest.raises((AssertionError, pytest.fail.Exception, LedgerFrozenError)):
            what_was_answered_in_lost_rows_stays_charged(tmp_path / "mutant")


def test_a_row_that_goes_on_and_burns_too_little_is_refused_by_the_book(tmp_path, monkeypatch):
    real = Journal.append

    def forgets(self, kind, officers=(), /, **fields):
        lie = {"burned": []} if kind == "unfrozen" else {}
        return real(self, kind, officers, **(fields | lie))

    monkeypatch.setattr(Journal, "append", forgets)
    with pytest.raises(LedgerFrozenError, match="goes on with requests under way"):
        what_was_answered_in_lost_rows_stays_charged(tmp_path / "mutant")


def test_a_fresh_budget_under_old_keys_is_caught(tmp_path, monkeypatch):
    REMOVED(suite.begun("sqlite", tmp_path / "whole"), tmp_path)
    clinic = suite.begun("sqlite", tmp_path / "mutant")
    monkeypatch.setattr(FolderSite, "begun", lambda *_: None)  # keeps ledger.new
    (clinic.inside / "ledger.id").rename(clinic.inside / "ledger.new")
    with pytest.raises(AssertionError):
        REMOVED(clinic, tmp_path)


def test_another_hash_key_that_is_taken_in_silence_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(Identity, "differences", lambda *_: iter(()))
    clinic = suite.begun("sqlite", tmp_path / "mutant")
    with pytest.raises(AssertionError):
        HASH_KEY(clinic, tmp_path)


def test_an_older_ledger_that_forgets_whose_word_it_takes_is_caught(tmp_path, monkeypatch):
    lost.going_on_takes_the_word_of_lost_officers(tmp_path / "whole")
    monkeypatch.setattr(inspection, "named_officers", lambda *_, **__: ())
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        lost.going_on_takes_the_word_of_lost_officers(tmp_path / "mutant")


def test_an_older_ledger_that_forgets_its_later_policy_is_caught(tmp_path, monkeypatch):
    lost.the_policy_of_lost_rows_comes_first(tmp_path / "whole")
    monkeypatch.setattr(inspection, "awaited_policies", lambda *_, **__: {})
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        lost.the_policy_of_lost_rows_comes_first(tmp_path / "mutant")


def test_any_policy_in_place_of_the_one_that_lost_rows_held_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(book, "awaited_problem", lambda *_: None)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        lost.the_policy_of_lost_rows_comes_first(tmp_path / "mutant")


def test_heads_that_name_no_officers_are_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(book_head, "officer_keys", lambda *_: ())
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        lost.going_on_takes_the_word_of_lost_officers(tmp_path / "mutant")


BRANCH, SIGNING_KEYS = lost_rows.lost_branch, lost_rows.signing_keys


def forgets_earlier_lines(lines, *, hashes, ours, earlier):
    """A line of before somebody went on counts as new."""
    return BRANCH(lines, hashes=hashes, ours=ours)


def takes_every_key_that_there_was(branch, *, current, key):
    """A line is believed under the key of the row that it says it is of."""
    every = {SiteKey(bytes(seed) * 32).public_key.hex() for seed in (b"1", [1], [2])}
    return (frozenset({key, current, *every}),) * len(branch.heads)


def takes_numbers_for_places(branch, *, current, key):
    """As it was before: a line of no later row than the ledger has was taken for a stranger's."""
    keys = SIGNING_KEYS(branch, current=current, key=key)
    pairs = zip(branch.heads, keys, strict=True)
    return tuple(ours if head.number > LATER else frozenset() for head, ours in pairs)


def takes_the_newest_key_alone(branch, *, current, key):
    """As it was before: what lost rows replaced signed nothing."""
    return (frozenset({key, current}),) * len(branch.heads)


LATER = 14  # rows of the longer copy that is put back


def lower_versions_too(awaited, new):
    is_lower = bool(awaited) and new.policy.version < awaited[-1][0]
    return None if is_lower else AWAITED_PROBLEM(awaited, new)


def exempts_every_lost_policy(fields, *, awaited):
    """As it was before: whoever had the text of a version picked it."""
    own = awaited.get(fields.get("lineage", ""))
    is_own = own is not None and own.holds(fields.get("policy-sha256", ""))
    return () if is_own else GUARDS_OF(fields, awaited=awaited)


def frees_every_lost_policy(self, versions, *, officers, present):
    """What lines of the anchor say held needs nobody, whatever is in force."""
    return LOST(self, versions, officers=officers, present=None)


GUARDS_OF, LOST = awaited.guards_of, awaited.Awaited.lost
AWAITED_PROBLEM = book.awaited_problem
WHOSE_WORD = {
    "copied lines": (
        lambda patch: patch.setattr(inspection, "lost_branch", forgets_earlier_lines),
        policies.a_line_that_is_copied_takes_no_officers_word_away,
    ),
    "keys that were replaced": (
        lambda patch: patch.setattr(inspection, "signing_keys", takes_every_key_that_there_was),
        policies.a_key_that_was_replaced_signs_no_line_of_lost_rows,
    ),
    "keys that lost rows replaced": (
        lambda patch: patch.setattr(inspection, "signing_keys", takes_the_newest_key_alone),
        branches.a_key_that_lost_rows_replaced_signs_nothing_after,
    ),
    "lines of a key that lost rows replaced for a stranger's": (
        lambda patch: patch.setattr(inspection, "signing_keys", takes_the_newest_key_alone),
        branches.a_policy_outlives_the_key_that_signed_its_line,
    ),
    "lines of a key that was lost for a stranger's": (
        lambda patch: patch.setattr(inspection, "signing_keys", takes_the_newest_key_alone),
        branches.a_policy_outlives_a_key_that_was_lost_with_its_rows,
    ),
    "anybody's first policy": (
        lambda patch: patch.setattr(inspection, "signing_keys", takes_the_newest_key_alone),
        branches.nobody_adopts_another_first_policy_after_a_rotation,
    ),
    "numbers for places": (
        lambda patch: patch.setattr(inspection, "signing_keys", takes_numbers_for_places),
        branches.a_longer_history_of_before_forgets_no_policy_adopted_since,
    ),
    "any policy before the lost one": (
        lambda patch: patch.setattr(book, "awaited_problem", lower_versions_too),
        policies.nobody_else_decides_until_lost_policies_hold_again,
    ),
    "nobody's word in between": (
        lambda patch: [
            patch.setattr(place, "guards_of", lambda *_, **__: ()) for place in (awaited, journal)
        ],
        policies.nobody_else_decides_until_lost_policies_hold_again,
    ),
    "any lost policy without a word": (
        lambda patch: [
            patch.setattr(place, "guards_of", exempts_every_lost_policy)
            for place in (awaited, journal)
        ],
        partial(policies.a_lost_policy_is_picked_by_no_one, order=(0,)),
    ),
    "the site's key for a word of those in force": (
        lambda patch: patch.setattr(awaited.Awaited, "lost", frees_every_lost_policy),
        policies.those_in_force_endorse_what_the_anchor_names,
    ),
    "heads that forget whose word counts in between": (
        lambda patch: patch.setattr(book_head, "guards", lambda *_: ()),
        policies.nobody_else_decides_until_lost_policies_hold_again,
    ),
}


@pytest.mark.parametrize("mutant", WHOSE_WORD)
def test_a_ledger_that_takes_anothers_word_after_a_loss_is_caught(tmp_path, monkeypatch, mutant):
    change, check = WHOSE_WORD[mutant]
    change(monkeypatch)
    with pytest.raises((AssertionError, PolicyError, pytest.fail.Exception)):
        check(tmp_path / "mutant")


@pytest.mark.parametrize(
    ("forgets", "check"),
    [
        ({"raised": {}, "anyone": {}}, lineages.a_lineage_of_lost_rows_begins_where_they_left_it),
        ({"awaited": NOTHING}, lineages.the_policy_of_a_lost_lineage_is_awaited),
    ],
)
def test_a_lineage_that_begins_anew_after_a_loss_is_caught(tmp_path, monkeypatch, forgets, check):
    begin = LostLineage.begin

    def begins(self, account):
        begin(replace(self, **forgets), account)

    monkeypatch.setattr(LostLineage, "begin", begins)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check(tmp_path / "mutant")


@pytest.mark.parametrize(
    ("where", "name", "mutant", "check"),
    [
        (lost_lineages, "go_on_with", lambda *_: None, terms_of.terms_of_lost_rows_hold),
        (
            lost_lineages,
            "go_on_with",
            lambda *_: None,
            terms_of.a_policy_of_the_new_measure_comes_back,
        ),
        (inspection, "told_terms", lambda *_, **__: {}, terms_of.terms_of_lost_rows_hold),
        (Account, "dispute", lambda *_: None, terms_of.amounts_that_do_not_add_up_stop_the_lineage),
        (
            chained_ledger,
            "as_lost",
            lambda terms, **_: terms,
            terms_of.a_lineage_of_lost_rows_keeps_its_terms,
        ),
    ],
)
def test_terms_that_are_lost_with_their_rows_are_caught(
    tmp_path, monkeypatch, where, name, mutant, check
):
    """As it was before: ρ of lost rows counted as so much ε."""
    check(tmp_path / "whole")
    monkeypatch.setattr(where, name, mutant)
    with pytest.raises((AssertionError, ConfideError, pytest.fail.Exception)):
        check(tmp_path / "mutant")


def test_a_life_in_which_lost_rows_give_no_terms_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(lost_lineages, "go_on_with", lambda *_: None)
    lives = [fails(NOTHING_IS_FORGOTTEN, tmp_path / str(seed), seed) for seed in life.SEEDS]
    assert any(lives)


@pytest.mark.parametrize(
    "check",
    [lost.spent_anew_is_added_to_what_was_lost, lost.a_day_that_is_lost_forgets_no_charge],
)
def test_the_larger_of_what_was_lost_and_what_is_spent_is_caught(tmp_path, monkeypatch, check):
    """As it was before: what was spent anew swallowed what was lost."""
    monkeypatch.setattr(inspection, "granted_since", lambda *_, **__: Granted())
    with pytest.raises(AssertionError):
        check(tmp_path / "mutant")


NOTHING_IS_FORGOTTEN = partial(life.test_no_counter_is_ever_below_what_was_granted, people=False)
SOMEBODY_SIGNS = partial(life.test_no_counter_is_ever_below_what_was_granted, people=True)


def for_kinds_that_are_not_kept(self, raised, *, anyone=None):
    """As it was before: a line was taken to name every counter of a kind that is kept here."""
    whose = {group: units for group, units in anyone.items() if kind_of(group) not in self.kept}
    TAKE_LOST(self, raised, anyone=whose)


def forgets_other_years(self, year, *, vouched=True):
    """As it was before: a year that is opened began with nothing."""
    if year > self.year:
        self.lost = {group: units for group, units in self.lost.items() if year_of(group) is None}
    OPEN_YEAR(self, year, vouched=vouched)


def fails(check, *what):
    try:
        check(*what)
    except (AssertionError, PolicyError):
        return True
    return False


@pytest.mark.parametrize(
    ("method", "mutant", "check"),
    [
        ("take_lost", for_kinds_that_are_not_kept, lost.two_copies_put_back_forget_nothing),
        ("open_year", forgets_other_years, lost.what_was_lost_in_a_year_to_come_counts_in_it),
    ],
)
def test_what_lost_lines_do_not_say_taken_for_nothing_is_caught(
    tmp_path, monkeypatch, method, mutant, check
):
    monkeypatch.setattr(Account, method, mutant)
    assert fails(check, tmp_path / "ledger")
    lives = [fails(NOTHING_IS_FORGOTTEN, tmp_path / str(seed), seed) for seed in life.SEEDS[:2]]
    assert any(lives)


def test_lines_that_say_all_there_is_to_say_are_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(lost_rows, "unnamed", lambda *_, **__: {})
    assert fails(NOTHING_IS_FORGOTTEN, tmp_path / "life", life.SEEDS[1])


@pytest.mark.parametrize(
    "mutant",
    [
        "copied lines",
        "heads that forget whose word counts in between",
        "lines of a key that lost rows replaced for a stranger's",
    ],
)
def test_a_life_in_which_nobody_signs_what_somebody_must_is_caught(tmp_path, monkeypatch, mutant):
    change, _ = WHOSE_WORD[mutant]
    change(monkeypatch)
    seeds = (217, *life.SEEDS)
    assert any(fails(SOMEBODY_SIGNS, tmp_path / str(seed), seed) for seed in seeds)
