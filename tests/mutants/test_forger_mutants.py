"""Ledgers that believe whoever writes a row; each must be caught by a test of the command line."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from confide.budget import desk, lengths
from confide.budget.accounts.book import Book
from confide.budget.chain.chain import head_of
from confide.budget.growth import Growth
from confide.budget.integrity import anchor_line
from confide.budget.policy import adoption
from confide.budget.workflow import adopting, docket
from confide.errors import ConfideError
from contracts.test_sqlite_ledger import TestSQLiteOfficers as Officers
from ledgers import HandClock
from unit.cli.request import test_past_the_desk as suite
from unit.cli.request.test_officers import make

pytestmark = pytest.mark.mutant


def of_the_lineage_that_is_named(self, kind, lineage=""):
    del kind
    named = [lineage] if lineage else list(self.accounts)
    held = [self.accounts[name].policy for name in named if name in self.accounts]
    return tuple(a.policy for a in held if a is not None and a.policy.workflow.people)


def of_any_that_is_known(self, kind, lineage=""):
    """Finds out a lineage that is none, and is led astray by another one."""
    del kind
    named = [lineage] if lineage in self.accounts else list(self.accounts)
    held = [self.accounts[name].policy for name in named]
    return tuple(a.policy for a in held if a is not None and a.policy.workflow.people)


def believes_any_text(whole: Callable[..., object]) -> Callable[..., object]:
    def problem(asked, **others):
        digest = hashlib.sha256(asked.plan_json.encode()).hexdigest()
        return whole(replace(asked, plan_digest=digest), **others)

    return problem


def replaces_terms(whole: Callable[..., None]) -> Callable[..., None]:
    def register(self, fields):
        account = self.accounts.get(self.lineage)
        if account is None:
            whole(self, fields)
            return
        held, account.policy = account.policy, None
        whole(self, fields)
        account.policy = held

    return register


def parses_anything(line):
    try:
        return head_of(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def is_caught(test: Callable[..., None], *arguments: object) -> bool:
    """Whether a test fails; it undoes patches of its own alone."""
    with pytest.MonkeyPatch.context() as own:
        try:
            test(*(own if each is pytest.MonkeyPatch else each for each in arguments))
        except (AssertionError, KeyError, ConfideError, pytest.fail.Exception):
            return True
    return False


@pytest.mark.parametrize(
    ("lineage", "broken"),
    [("nowhere", of_the_lineage_that_is_named), ("other", of_any_that_is_known)],
)
def test_an_act_that_names_a_data_set_to_need_nobody_is_caught(
    tmp_path, monkeypatch, lineage, broken
):
    check = suite.test_an_act_on_the_whole_ledger_is_every_officers_whatever_data_set_its_row_names
    monkeypatch.setattr(Book, "policies", broken)
    assert is_caught(check, make("sqlite", tmp_path / "clinic"), pytest.MonkeyPatch, lineage)


def test_an_approval_of_a_text_that_is_not_the_plan_is_caught(tmp_path, monkeypatch):
    broken = believes_any_text(docket.submission_problem)
    monkeypatch.setattr(docket, "submission_problem", broken)
    monkeypatch.setattr(desk, "submission_problem", broken)
    check = suite.test_an_approval_is_of_the_plan_that_was_shown
    assert is_caught(check, make("sqlite", tmp_path / "clinic"), pytest.MonkeyPatch)


@pytest.mark.parametrize("what", ["units", "delta_atto", "ceilings"])
def test_a_policy_that_counts_as_what_its_row_says_is_caught(tmp_path, monkeypatch, what):
    monkeypatch.setattr(adoption, "_allows_more", lambda *_, **__: False)
    check = suite.test_a_policy_counts_as_no_more_than_it_says
    assert is_caught(check, make("sqlite", tmp_path / "clinic"), pytest.MonkeyPatch, what)


def test_terms_that_are_replaced_under_a_policy_are_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(Book, "_register", replaces_terms(Book._register))
    check = suite.test_terms_are_not_replaced_under_a_policy
    assert is_caught(check, make("sqlite", tmp_path / "clinic"))


def test_a_growing_release_that_repeats_what_is_withheld_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(Growth, "holds_withheld", lambda *_: False)
    check = suite.test_a_growing_release_repeats_no_answer_that_is_withheld
    assert is_caught(check, suite.board_in(tmp_path))


@pytest.mark.parametrize("line", ["deep", "more than any counter holds", "no such year"])
def test_a_line_that_keeps_a_ledger_frozen_for_ever_is_caught(tmp_path, monkeypatch, line):
    monkeypatch.setattr(anchor_line, "_parse", parses_anything)
    check = suite.test_a_line_that_no_ledger_wrote_does_not_keep_it_frozen
    assert is_caught(check, make("sqlite", tmp_path / "clinic"), line)


def test_a_reason_that_no_chain_can_hold_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(lengths, "require_text", lambda *_: None)
    check = suite.test_a_reason_of_bytes_that_are_no_text_is_refused_free_of_charge
    assert is_caught(check, make("sqlite", tmp_path / "clinic"))


def test_one_person_under_two_names_is_caught(tmp_path, monkeypatch):
    def is_met(self, signers, *, officers):
        return len(signers) >= self.people and any(person in officers for person in signers)

    monkeypatch.setattr(adopting.Quorum, "is_met", is_met)
    check = Officers().test_one_key_is_one_person_whatever_the_policy_calls_it
    assert is_caught(check, tmp_path / "private", HandClock())


def test_a_signature_that_serves_twice_is_caught(tmp_path, monkeypatch):
    for room in (desk, docket):
        monkeypatch.setattr(room, "in_its_place", lambda message, *_, **__: message)
    check = suite.test_a_signature_of_a_request_or_a_decision_serves_in_one_place
    assert is_caught(check, make("sqlite", tmp_path / "clinic"))
