"""Policies and approvals broken where it matters; each must be caught by a test of the
contracts."""

import contextlib
import inspect
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from confide.budget import desk
from confide.budget.accounts.account import Account
from confide.budget.chain import signatures
from confide.budget.chain.readings import Moment
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import StoredRelease
from confide.budget.ledger_reading import LedgerReading
from confide.budget.policy import adoption, rows, simulate
from confide.budget.workflow import acts, adopting, docket, rules
from confide.budget.workflow.filed import Submissions
from confide.errors import LedgerFrozenError
from confide.service import opening
from confide.service.documents import write
from contracts.officers_contract import CAPS
from contracts.test_sqlite_ledger import TestSQLiteLedgerUnderAPolicy as Caps
from contracts.test_sqlite_ledger import TestSQLiteOfficers as Officers
from contracts.test_sqlite_ledger import TestSQLiteWorkflow as Workflow
from ledger_policies import uncapped, with_people
from ledgers import LINEAGE, HandClock, open_ledger
from unit.budget import test_old_endorsements as endorsements
from unit.cli.ledger import test_words_of_amounts as words
from unit.cli.policy import test_policy as commands
from unit.cli.request import test_past_the_desk as past
from unit.cli.request import test_requester as whose

pytestmark = pytest.mark.mutant


def fails(check, *arguments):
    """Whether a test fails, by an assertion or by what the ledger raises."""
    try:
        check(*arguments)
    except (AssertionError, LedgerFrozenError, AttributeError, pytest.fail.Exception):
        return True
    return False


@pytest.fixture
def opened(tmp_path):
    ledgers = []

    def open_one(*, people=True):
        clock = HandClock()
        ledger = open_ledger(tmp_path / str(len(ledgers)), clock=clock)
        ledger.register(uncapped())
        if people:
            ledger.desk.adopt(LINEAGE, policy=with_people())
        ledgers.append(ledger)
        return ledger, clock

    yield open_one
    for ledger in ledgers:
        ledger.close()


def about_any_plan(submission, claim):
    return submission.asked.tier == claim.tier


def about_any_tier(submission, claim):
    return submission.asked.plan_digest == claim.plan_digest


@pytest.mark.parametrize(
    ("check", "room", "name", "broken"),
    [
        ("test_an_approval_is_of_one_plan", rules, "_is_about", about_any_plan),
        ("test_an_approval_is_of_one_tier", rules, "_is_about", about_any_tier),
        ("test_an_approval_expires", rules, "_is_expired", lambda *_: False),
        (
            "test_a_decision_that_its_person_did_not_sign_is_never_taken_in",
            signatures,
            "is_valid",
            lambda *_, **__: True,
        ),
        (
            "test_only_those_whom_the_policy_names_ask_and_decide",
            rules,
            "person_of",
            lambda policy, _: policy.workflow.people[1],
        ),
    ],
)
def test_a_broken_rule_of_approval_is_caught(opened, monkeypatch, check, room, name, broken):
    """Not bound to the plan, or the tier; never expiring; unsigned; of anyone."""
    ledger, clock = opened()
    arguments = (ledger, clock) if check == "test_an_approval_expires" else (ledger,)
    test = getattr(Workflow(), check)
    assert not fails(test, *arguments)
    monkeypatch.setattr(room, name, broken)
    if broken is about_any_plan:  # requests are looked up by plan as well
        monkeypatch.setattr(Submissions, "about", lambda self, *_, **__: list(self.values()))
    if name == "person_of":
        monkeypatch.setattr(desk, name, broken)
        monkeypatch.setattr(docket, name, broken)
    ledger, clock = opened()
    arguments = (ledger, clock) if check == "test_an_approval_expires" else (ledger,)
    assert fails(test, *arguments)


def test_an_approval_that_outlives_its_policy_is_caught(opened, monkeypatch):
    whole = rules.standing

    def lasting(submission, *, adopted, now, entry):
        same = replace(adopted, digest=submission.policy)
        return whole(submission, adopted=same, now=now, entry=entry)

    monkeypatch.setattr(rules, "standing", lasting)
    check = Workflow().test_an_approval_lapses_with_the_policy_under_which_it_was_given
    assert fails(check, opened()[0])


@pytest.mark.parametrize(
    "check", ["test_whoever_asks_does_not_approve", "test_one_person_fills_one_role"]
)
def test_duties_that_are_not_separated_are_caught(opened, monkeypatch, check):
    whole = rules.decision_problem

    def lenient(submission, *, policy, **others):
        loose = replace(policy, workflow=replace(policy.workflow, separation_of_duties=False))
        return whole(submission, policy=loose, **others)

    monkeypatch.setattr(desk, "decision_problem", lenient)
    monkeypatch.setattr(docket, "decision_problem", lenient)
    assert fails(getattr(Workflow(), check), opened()[0])


def test_an_approval_that_is_used_twice_is_caught(opened, monkeypatch):
    monkeypatch.setattr(docket.Docket, "charge", lambda *_, **__: None)
    assert fails(Workflow().test_one_approved_request_admits_one_charge, opened()[0])


def test_an_answer_that_is_delivered_although_withheld_is_caught(opened, monkeypatch):
    def stored(self, held):
        return StoredRelease(entry=held.entry, payload=b"")

    monkeypatch.setattr(ChainedLedger, "_stored", stored)
    check = Workflow().test_an_answer_that_is_withheld_is_not_delivered_and_stays_charged
    assert fails(check, opened()[0])


def test_caps_that_forget_what_came_before_them_are_caught(opened, monkeypatch):
    whole = Account.adopt

    def forgetful(self, adopted):
        self.tallies = {}
        whole(self, adopted)

    check = Caps().test_what_was_spent_before_counts_under_new_caps
    assert not fails(check, opened(people=False)[0])
    monkeypatch.setattr(Account, "adopt", forgetful)
    assert fails(check, opened(people=False)[0])


def test_a_looser_cap_that_hides_a_tighter_one_is_caught(opened, monkeypatch):
    """Of several caps on one counter, the first alone is checked."""
    whole = Account.charges

    def first_only(self, amount, *, when):
        found = {}
        for charge in whole(self, amount, when=when):
            found.setdefault(charge.name, charge)
        return tuple(found.values())

    monkeypatch.setattr(Account, "charges", first_only)
    check = Caps().test_every_cap_that_applies_is_recorded_by_its_id
    assert fails(check, opened(people=False)[0])


def test_a_priority_one_cap_that_one_person_relaxes_is_caught(opened, monkeypatch):
    monkeypatch.setattr(adoption, "HIGHEST", 0)
    check = Caps().test_priority_one_is_relaxed_by_two_people_of_the_policy_in_force
    assert fails(check, opened(people=False)[0])


# --- officers' acts ---


def asks_nobody(*_, **__):
    return iter(())


def without_its_place(kind, fields, *, number, previous):
    del number, previous
    return acts.canonical({"act": kind, "says": acts.said(fields)}).encode()


def without_what_it_says(kind, fields, *, number, previous):
    return acts.canonical({"act": kind, "number": str(number), "previous": previous}).encode()


def _break_everywhere(monkeypatch, name, broken):
    from confide.budget import journal, refusals

    for room in (acts, docket, adopting, journal, refusals):
        if hasattr(room, name):
            monkeypatch.setattr(room, name, broken)


@pytest.mark.parametrize(
    ("check", "name", "broken"),
    [
        (
            "test_a_clock_put_forward_opens_no_year_for_somebody_with_a_shell",
            "unsigned",
            asks_nobody,
        ),
        (
            "test_a_clock_put_forward_opens_no_year_for_somebody_with_a_shell",
            "officers",
            lambda policy: policy.workflow.people,
        ),
        ("test_a_signature_is_of_what_its_row_says", "act_message", without_what_it_says),
        ("test_a_signature_is_of_one_act_in_one_place", "is_signature", lambda *_, **__: True),
        (
            "test_an_analyst_and_one_officer_do_not_relax_what_the_law_says",
            "quorum",
            lambda *_, **__: adopting.Quorum(may=with_people().workflow.people, people=2),
        ),
        (
            "test_two_people_without_an_officer_do_not_relax_what_the_law_says",
            "officers",
            lambda policy: policy.workflow.people,
        ),
        (
            "test_as_many_sign_as_the_strictest_tier_in_force_asks_for",
            "most_filled",
            lambda *_: 99,
        ),
        ("test_one_officer_does_not_name_friends_who_then_sign", "is_highest", lambda _: False),
    ],
)
def test_an_act_that_goes_without_its_officer_is_caught(tmp_path, monkeypatch, check, name, broken):
    """Unsigned; signed by anyone; a signature of anything; fewer people than are in force."""
    test = getattr(Officers(), check)

    def missed(place):
        clock = HandClock()
        ledger = open_ledger(tmp_path / place, clock=clock)
        ledger.register(uncapped())
        ledger.desk.adopt(LINEAGE, policy=with_people(*CAPS))
        given = {"ledger": ledger, "clock": clock, "folder": tmp_path / f"{place}-2"}
        wanted = inspect.signature(test).parameters
        try:
            return fails(test, *(given[each] for each in wanted))
        finally:
            ledger.close()

    assert not missed("whole")
    _break_everywhere(monkeypatch, name, broken)
    assert missed("broken")


def test_a_signature_that_fits_every_place_is_caught(tmp_path, monkeypatch):
    """The same day confirmed in a copy of the ledger, under a signature given in the first."""
    _break_everywhere(monkeypatch, "act_message", without_its_place)
    check = Officers().test_a_signature_under_a_version_is_of_one_place
    ledger = open_ledger(tmp_path / "one", clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people(*CAPS))
    assert fails(check, ledger)
    ledger.close()


@pytest.mark.parametrize(
    "check",
    [
        "test_a_row_from_the_future_makes_no_approval_immortal",
        "test_an_approval_given_in_the_future_does_not_hold_today",
        "test_a_clock_put_back_does_not_renew_what_the_chain_has_seen_expire",
    ],
)
def test_an_approval_that_grows_old_by_the_wrong_clock_is_caught(tmp_path, monkeypatch, check):
    """By ledger time alone, which one row holds in the future; or by the clock now alone."""

    def by_ledger_time(self, *, number, given, days):
        del number
        return datetime.fromisoformat(self.at) - datetime.fromisoformat(
            max(given, given if self.at == self.reading else self.at)
        ) > timedelta(days=days)

    def by_the_clock_now(self, *, number, given, days):
        del number
        passed = datetime.fromisoformat(self.reading) - datetime.fromisoformat(given)
        return passed > timedelta(days=days)

    put_back = "put_back" in check
    monkeypatch.setattr(Moment, "is_past", by_the_clock_now if put_back else by_ledger_time)
    clock = HandClock()
    ledger = open_ledger(tmp_path / "l", clock=clock)
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people(*CAPS))
    assert fails(getattr(Officers(), check), ledger, clock)
    ledger.close()


@pytest.mark.parametrize("name", ["audience_problem", "ceiling_problem"])
def test_a_tier_that_bounds_nothing_is_caught(tmp_path, monkeypatch, name):
    for room in (rules, docket):
        monkeypatch.setattr(room, name, lambda *_, **__: None)
    ledger = open_ledger(tmp_path / "l", clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people(*CAPS))
    check = Officers().test_a_tier_takes_no_release_past_its_ceiling_or_for_others
    assert fails(check, ledger)
    ledger.close()


def test_a_ceiling_that_solver_and_simulation_leave_out_is_caught(tmp_path, monkeypatch):
    for room in (rows, simulate):
        monkeypatch.setattr(room, "ceiling_limit", lambda *_, **__: None)
    check = commands.test_a_plan_past_the_ceiling_of_its_tier_is_neither_divided_nor_granted
    for ceiling in ("0.05", "0.16"):
        with pytest.raises(AssertionError):
            check(tmp_path, ceiling)


def test_a_stranger_who_gets_a_say_in_the_whole_ledger_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(acts, "ADOPTED", "of no kind")
    clinic = past.make("sqlite", tmp_path / "clinic")
    with pytest.raises(AssertionError):
        past.a_stranger_gets_no_say_in_the_whole_ledger(clinic)


def test_a_tier_that_can_be_left_out_is_caught(tmp_path, monkeypatch):
    lax = staticmethod(lambda policy: any(tier.approvals for tier in policy.tiers))
    monkeypatch.setattr(rules, "demands_a_tier", lax)
    clinic = past.make("sqlite", tmp_path / "clinic")
    with pytest.raises(AssertionError):
        past.no_study_leaves_out_its_tier(clinic)


def test_a_signature_under_a_policy_that_never_grows_old_is_caught(tmp_path, monkeypatch):
    def of_any_age(self, lineage, *, policy, **_):
        return frozenset(self.endorsed.get((lineage, policy), {}))

    endorsements.a_signature_under_a_policy_grows_old(tmp_path / "whole")
    monkeypatch.setattr(docket.Docket, "endorsers", of_any_age)
    with pytest.raises(pytest.fail.Exception):
        endorsements.a_signature_under_a_policy_grows_old(tmp_path / "mutant")


def test_a_charge_to_whoever_asked_last_is_caught(tmp_path, monkeypatch):
    """As it was before: approved or not."""

    def asked_last(book, lineage, *, claim, **_):
        about = book.docket.submissions.about(lineage, plan_digest=claim.plan_digest)
        return [claim.analyst, *(each.requester for each in about)][-1]

    whose.whoever_runs_what_another_asked_for_pays(whose.capped(tmp_path / "whole"), monkeypatch)
    monkeypatch.setattr(desk, "requester", asked_last)
    with pytest.raises(AssertionError):
        whose.whoever_runs_what_another_asked_for_pays(
            whose.capped(tmp_path / "mutant"), monkeypatch
        )


def test_amounts_said_in_words_of_another_measure_are_caught(tmp_path, monkeypatch):
    assert "Expected measure" in words.said_under_another_measure(tmp_path / "honest")
    monkeypatch.setattr(LedgerReading, "require_measured", lambda *_: None)
    assert "Expected measure" not in words.said_under_another_measure(tmp_path / "mutant")


def test_a_document_of_caps_that_nobody_adopted_is_caught(tmp_path, monkeypatch):
    def of_the_file(dataset):
        with opening.open_ledger(dataset) as (ledger, declared):
            yield ledger, declared

    monkeypatch.setattr(write, "open_measured", contextlib.contextmanager(of_the_file))
    assert words.patients_cap_in_a_document(tmp_path, cap="1").startswith("ε = 1 ")
