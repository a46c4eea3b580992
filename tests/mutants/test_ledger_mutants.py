"""Ledgers broken in the ways that ledgers break; each must be caught by the suite's own check."""

import json
import os
import threading

import pytest

from checkpoints import made
from confide.budget import chained_ledger as module
from confide.budget import journal
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.integrity import checkpoint, head_check, opening
from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.inspection import Inspection
from confide.budget.ledger import Reservation
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.errors import BudgetExhaustedError, LedgerFrozenError
from contracts import test_checkpoints as suite
from contracts.test_sqlite_ledger import TestSQLiteLedger as Suite
from ledgers import (
    TENTH,
    HandClock,
    SiteKey,
    amount_of,
    open_ledger,
    request,
    terms,
)
from unit.budget import test_put_back_meanwhile as meanwhile
from unit.cli.ledger import test_lost_answers as lost_answers
from unit.release.site import test_key_rotation as rotation

pytestmark = pytest.mark.mutant


def open_as(kind, folder):
    return kind(
        SQLiteStore(folder / "ledger.sqlite"),
        anchor=folder / "anchor",
        signer=SiteKey(),
        recompute=amount_of,
        clock=HandClock(),
    )


@pytest.fixture
def opened(tmp_path):
    ledgers = []

    def open_mutant(kind):
        ledger = open_as(kind, tmp_path / "private")
        ledger.register(terms())
        ledgers.append(ledger)
        return ledger

    yield open_mutant
    for ledger in ledgers:
        ledger.close()


def fails(check, *arguments):
    """Whether a test of the suite fails, by an assertion or by what the ledger raises."""
    try:
        check(*arguments)
    except (AssertionError, LedgerFrozenError, pytest.fail.Exception):
        return True
    return False


class RefundsOnError(ChainedLedger):
    """Gives the charge back when a request fails."""

    def burn(self, reservation, *, incident):
        with self._journal.transaction():
            if self._journal.held(reservation.entry.number).entry.state.value == "burned":
                return
            self._move(reservation.entry.number, kind="burned", incident=incident)
            held = self._journal.held(reservation.entry.number)
            account = self._journal.book.account(held.entry.lineage)
            account.add(held.entry.amount, when=held.when, sign=-1)
            self._count(held, sign=-1)


def test_refund_on_error_is_caught(opened, tmp_path):
    check = Suite().test_a_burned_request_stays_charged_and_its_key_is_spent
    assert fails(check, opened(RefundsOnError))
    assert not fails(check, opened_whole(tmp_path))


def test_refund_on_error_is_also_found_at_the_next_opening(opened, tmp_path):
    ledger = opened(RefundsOnError)
    reservation = ledger.reserve(request())
    ledger.start_reading(reservation)
    ledger.burn(reservation, incident="i")
    again = open_ledger(tmp_path / "private", clock=HandClock())
    with pytest.raises(LedgerFrozenError, match="counter"):
        again.head()
    again.close()


class ChargesTheFirstOnly(ChainedLedger):
    """k releases of one plan, one charge."""

    def _count(self, held, *, sign):
        if len(self._journal.book.requests) == 1:
            super()._count(held, sign=sign)
        else:
            account = self._journal.book.account(held.entry.lineage)
            account.add(held.entry.amount, when=held.when, sign=-sign)


def test_k_releases_for_one_charge_are_caught(opened, tmp_path):
    check = Suite().test_another_client_key_is_another_charge
    assert fails(check, opened(ChargesTheFirstOnly))
    assert not fails(check, opened_whole(tmp_path))


class AnswersAnew(ChainedLedger):
    """A retry draws new noise."""

    def _stored(self, held):
        answer = super()._stored(held)
        return type(answer)(entry=answer.entry, payload=os.urandom(8))


def test_a_retry_with_new_noise_is_caught(opened, tmp_path):
    check = Suite().test_a_thousand_retries_return_one_payload_and_one_charge
    assert fails(check, opened(AnswersAnew))
    assert not fails(check, opened_whole(tmp_path))


def opened_whole(tmp_path):
    """The unbroken ledger, which the same check must pass."""
    ledger = open_ledger(tmp_path / "whole", clock=HandClock())
    ledger.register(terms())
    return ledger


class ChecksOutside(ChainedLedger):
    """Looks at the budget, and then, in another transaction, spends."""

    meeting: threading.Barrier

    def reserve(self, request):
        with self._journal.transaction():
            account = self._journal.book.account(request.lineage)
            when = account.occasion(year=account.year, analyst=request.analyst, project="")
            refusal = module.exhausted(account, request.amount, when=when)
        self.meeting.wait(timeout=10)  # everybody has looked
        if refusal is not None:
            raise refusal
        with self._journal.transaction():
            return self._grant(request, when=when, under=0)


def race(kind, folder):
    """Return how many of four callers were granted a cap that fits one, or what stopped them."""
    kind.meeting = threading.Barrier(4)
    ledger = open_as(kind, folder)
    ledger.register(terms(lifetime=TENTH, year=None, release=None))
    ledger.close()
    ends = []

    def caller(number):
        mine = open_as(kind, folder)
        try:
            answer = mine.reserve(request(str(number)))
            ends.append(type(answer))
        except (BudgetExhaustedError, LedgerFrozenError) as error:
            ends.append(type(error))
        kind.meeting.wait(timeout=10)
        mine.close()

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


class Whole(ChainedLedger):
    meeting: threading.Barrier


def test_a_check_outside_the_transaction_is_caught(tmp_path):
    """The chain refuses what the broken check let through; without the chain, the database does."""
    assert race(ChecksOutside, tmp_path / "a").count(LedgerFrozenError) == 3
    right = race(Whole, tmp_path / "b")
    assert (right.count(Reservation), right.count(BudgetExhaustedError)) == (1, 3)


def test_a_check_outside_the_transaction_of_a_blind_ledger_overspends(tmp_path, monkeypatch):
    """With both barriers gone the race is lost, so the race test can see it."""
    from confide.budget.accounts import book

    def grant_all(self, entry):
        self.requests.answer(book.key_of(entry), number=entry.number)

    def add_blindly(self, *, lineage, scope, units, expect):
        self.database.execute("PRAGMA ignore_check_constraints = ON")
        self.database.execute(
            "UPDATE counter SET spent = spent + ? WHERE lineage = ? AND scope = ?",
            (units, lineage, scope),
        )

    monkeypatch.setattr(book.Book, "_grant", grant_all)
    monkeypatch.setattr(SQLiteStore, "add_spent", add_blindly)
    monkeypatch.setattr(book, "charges_json", lambda _: _AnyCharges())
    granted = race(ChecksOutside, tmp_path / "c")
    assert granted.count(Reservation) > 1


class _AnyCharges:
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def asks_for_nothing_more(monkeypatch):
    """Takes the checkpoint for the ledger: no row since, no head, no counter is looked at."""

    def looked(store, *, anchor, public_key, recompute):
        del recompute
        _, basis = opening._believed(store, anchor=anchor, public_key=public_key)
        return None if basis is None else (Inspection(book=basis.book()), basis)

    monkeypatch.setattr(journal, "look", looked)
    monkeypatch.setattr(journal.Journal, "_catch_up", lambda _: None)


def believes_any_ledger(monkeypatch):
    """Takes a checkpoint that this key signed, whatever chain it is of."""

    def believed(store, *, anchor, public_key):
        del anchor
        rows = store.checkpoints()
        fields = checkpoint.signed_fields(rows[-1], key=public_key) if rows else None
        if fields is None:
            return (), None
        return (), checkpoint.read_basis(rows, fields=fields, read=store.events)

    monkeypatch.setattr(opening, "_believed", believed)
    asks_for_nothing_more(monkeypatch)


def believes_any_signature(monkeypatch):
    """Takes a checkpoint that anybody wrote."""
    monkeypatch.setattr(
        opening, "signed_fields", lambda row, **_: json.loads(row.header) if row.header else None
    )
    monkeypatch.setattr(opening, "_is_whole", lambda *_, **__: True)


def believes_any_lines(monkeypatch):
    """Does not ask whether the lines are those that were signed."""
    monkeypatch.setattr(checkpoint, "rolled_over", lambda *_: checkpoint.NO_LINES)


def counts_no_lines(monkeypatch):
    """Looks at the end of the anchor alone."""
    monkeypatch.setattr(Anchor, "count", lambda self: self.last_number())


@pytest.mark.parametrize(
    ("mutant", "check"),
    [
        (asks_for_nothing_more, suite.test_an_older_checkpoint_put_back_gives_nothing_back),
        (believes_any_signature, suite.test_a_checkpoint_that_says_less_was_spent_is_not_believed),
        (believes_any_lines, suite.test_lines_that_were_changed_are_not_believed),
    ],
)
def test_a_checkpoint_that_is_believed_too_easily_is_caught(tmp_path, monkeypatch, mutant, check):
    monkeypatch.setattr(checkpoint, "EVERY", 8)
    assert not fails(check, made(tmp_path / "right"))
    mutant(monkeypatch)
    assert fails(check, made(tmp_path / "wrong"))


@pytest.mark.parametrize(
    ("mutant", "check"),
    [
        (believes_any_ledger, suite.test_the_checkpoint_of_another_ledger_is_not_believed),
        (
            counts_no_lines,
            suite.test_lines_copied_to_the_end_of_the_anchor_do_not_hide_what_they_followed,
        ),
    ],
)
def test_a_checkpoint_of_another_history_is_caught(tmp_path, monkeypatch, mutant, check):
    monkeypatch.setattr(checkpoint, "EVERY", 8)
    for name in ("right", "wrong"):
        (tmp_path / name).mkdir(mode=0o700)
    assert not fails(check, made(tmp_path / "right" / "ledger"), tmp_path / "right")
    mutant(monkeypatch)
    assert fails(check, made(tmp_path / "wrong" / "ledger"), tmp_path / "wrong")


def test_a_key_replaced_under_a_release_of_another_process_is_caught(tmp_path, monkeypatch):
    check = rotation.test_no_key_is_replaced_while_another_process_has_a_release_under_way
    assert not fails(check, tmp_path / "honest")
    monkeypatch.setattr(journal, "require_none_under_way", lambda *_, **__: None)
    assert fails(check, tmp_path / "mutant")


def test_an_open_process_that_asks_for_no_signature_of_the_head_is_caught(tmp_path, monkeypatch):
    check = meanwhile.test_a_head_that_this_site_did_not_sign_stops_an_open_process_in_sqlite
    assert not fails(check, tmp_path / "right", "")
    monkeypatch.setattr(head_check, "head_differences", lambda *_, **__: ())
    assert fails(check, tmp_path / "wrong", "")


def test_a_rotation_that_takes_a_failed_commit_for_none_is_caught(tmp_path, monkeypatch):
    check = lost_answers.test_an_interrupt_at_the_commit_of_a_rotation_leaves_one_key_in_force
    assert not fails(check, tmp_path / "right", monkeypatch, True)
    rotate = ChainedLedger.rotate_key

    def forgets(self, new, **others):
        old = self.signer
        try:
            rotate(self, new, **others)
        except BaseException:
            self._journal.signer = old
            raise

    monkeypatch.setattr(ChainedLedger, "rotate_key", forgets)
    assert fails(check, tmp_path / "wrong", monkeypatch, True)
