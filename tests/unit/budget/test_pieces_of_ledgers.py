"""Single parts of a ledger at their edges."""

import io
import json
import os
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from confide.budget.accounts.account import Account
from confide.budget.accounts.book import Book
from confide.budget.accounts.counter import Counter
from confide.budget.accounts.lost_terms import _lower, is_fixed
from confide.budget.accounts.rolling import Rolling
from confide.budget.chain.chain import SignedHead
from confide.budget.chain.readings import Moment, Readings
from confide.budget.chain.signatures import read_frame, workers_here, write_frame
from confide.budget.growth import Growth, Step
from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.anchor_line import _are_known
from confide.budget.integrity.export import unlike
from confide.budget.integrity.inspection import inspect
from confide.budget.integrity.lost_rows import Branch, _lineages
from confide.budget.journal import Journal
from confide.budget.ledger import PART, Caps
from confide.budget.ledger_reading import LedgerReading
from confide.budget.plan_text import plan_in
from confide.budget.policy.counters import ROLLING, HeldCap, Occasion
from confide.budget.stores.postgres_store import PostgresStore
from confide.budget.workflow.filed import Submissions
from confide.budget.workflow.submission import Asked, Submission
from confide.errors import (
    ContractError,
    InvalidParameterError,
    LedgerFrozenError,
    MismatchError,
    UnknownNameError,
)
from confide.privacy.amount import Amount
from confide.privacy.unit import Entity
from ledger_policies import cap, policy, uncapped
from ledgers import (
    LINEAGE,
    TENTH,
    HandClock,
    SiteKey,
    amount_of,
    open_ledger,
    open_store,
    released,
    request,
    terms,
)


def test_terms_are_fixed_once_anything_was_charged_or_a_policy_holds():
    account = Account(terms=uncapped(), year=2026)
    assert is_fixed(account) is False
    account.counters["year"] = Counter(spent=0)
    assert is_fixed(account) is False
    account.counters["year"] = Counter(spent=1)
    assert is_fixed(account) is True
    account.counters["year"], account.charged = Counter(spent=0), True
    assert is_fixed(account) is True


def test_a_charge_is_above_nothing_unless_it_goes_on_with_one():
    asked = request(key="k", nano=5)
    with pytest.raises(InvalidParameterError, match="Expected a charge above 0"):
        replace(asked, amount=Amount(nano=0))


def test_an_entry_that_there_is_not_is_told_with_where_entries_stand(tmp_path):
    ledger = open_ledger(tmp_path)
    with pytest.raises(UnknownNameError, match="confide ledger show"):
        ledger._journal.held(99)
    ledger.close()


def test_a_plan_with_a_number_too_long_or_nested_too_deep_is_none():
    assert plan_in('{"a": ' + "7" * 20_000 + "}") is None
    assert plan_in('{"a": ' + "7" * 20_000 + ', "b": "words"}') is None
    assert plan_in('{"a": 7, "b": "words"}') == {"a": 7, "b": "words"}


@pytest.mark.parametrize("rest", ["}", ', "b": "words"}'])
def test_a_number_that_only_some_readers_take_is_read_by_none(rest):
    assert plan_in('{"a": ' + "7" * 2_000 + rest) is None


def test_words_of_a_lineage_may_change_until_something_was_charged(tmp_path):
    ledger = open_ledger(tmp_path, clock=HandClock())
    ledger.register(terms())
    others = replace(terms(), unit=Entity.EVENT)
    ledger.require_measured(others)
    released(ledger, "k", b"answer")
    ledger.require_measured(terms())
    with pytest.raises(MismatchError, match="unit"):
        ledger.require_measured(others)
    ledger.close()


def test_a_ledger_of_before_a_fork_is_not_verified(tmp_path, monkeypatch):
    ledger = open_ledger(tmp_path)
    child = os.getpid() + 1
    monkeypatch.setattr(os, "getpid", lambda: child)
    with pytest.raises(ContractError, match="opened by another process"):
        ledger.verify_chain()
    monkeypatch.undo()
    ledger.close()


def test_a_frozen_ledger_says_so(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.register(terms())
    assert ledger._journal.is_frozen is False
    ledger._journal._freeze("Something was found.")
    assert ledger._journal.is_frozen is True
    ledger.close()


def test_a_head_that_another_key_signed_is_not_of_this_site(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.register(terms())
    chain = ledger.chain()
    ledger.close()
    assert unlike(chain, [chain.head], keys=[chain.head.key]) == []
    found = f"The head of row {chain.head.number} is not signed by this site."
    assert unlike(chain, [chain.head], keys=["00" * 32]) == [found]


def test_requests_for_approval_are_counted_once_each():
    filed = Submissions()
    assert len(filed) == 0
    for number in (3, 5, 5):
        asked = Asked(lineage="n", plan_digest="a" * 64, plan_json="{}", tier="routine")
        filed[number] = Submission(
            number=number, hash="", at="", requester="ada", asked=asked, policy="p", version=1
        )
    assert len(filed) == 2


def test_a_lower_cap_is_of_the_one_that_is_known():
    low, high = Caps(lifetime=1, release=5), Caps(lifetime=2, release=3)
    assert _lower(low, high) == Caps(lifetime=1, release=3)
    assert (_lower(low, None), _lower(None, high), _lower(None, None)) == (low, high, None)


def test_a_day_is_confirmed_once():
    rolling = Rolling()
    rolling.confirm("2027-06-01")
    for day in ("2027-06-01", "2027-05-31"):
        with pytest.raises(LedgerFrozenError, match="was confirmed after"):
            rolling.confirm(day)
    rolling.confirm("2027-06-02")
    assert rolling.epoch == 2


def test_a_charge_before_any_day_was_confirmed_is_of_the_first_epoch():
    assert Occasion(year=2027).epoch == Rolling().epoch == 0


def test_counters_are_of_the_years_that_a_date_can_have():
    years = {year: _are_known((f"calendar-year/{year}",)) for year in (0, 1, 9999, 10000)}
    assert years == {0: False, 1: True, 9999: True, 10000: False}


@pytest.mark.parametrize(("ahead", "is_past"), [("13:00:00", False), ("13:00:01", True)])
def test_clocks_of_two_hosts_may_differ_by_an_hour_and_no_more(ahead, is_past):
    noon = "2027-06-01T12:00:00+00:00"
    moment = Moment(noon, noon, Readings())
    given = f"2027-06-01T{ahead}+00:00"
    assert moment.is_past(number=1, given=given, days=7) is is_past


def test_signatures_are_checked_by_a_process_for_each_processor_but_one(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    assert workers_here() == 2
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert workers_here() == 0


def test_the_line_of_the_first_row_is_added_by_whoever_sees_the_row(tmp_path):
    here, there = (open_ledger(tmp_path, clock=HandClock()) for _ in range(2))
    there.register(terms())
    line = (tmp_path / "anchor").read_text()
    (tmp_path / "anchor").write_text("")
    here.spent(LINEAGE)
    assert (tmp_path / "anchor").read_text() == line
    here.close()
    there.close()


@pytest.mark.parametrize(("counted", "read", "free"), [((), {"n"}, {"n"}), ({"b"}, set(), set())])
def test_what_somebody_counted_when_going_on_was_not_read_for_free(counted, read, free):
    rows = ("reserved", "reading")
    heads = tuple(
        SignedHead(
            number=n, hash="ab"[n - 1], kind=kind, lineage="n", spent={"lifetime": 0}, key=""
        )
        for n, kind in enumerate(rows, 1)
    )
    branch = Branch(fork=0, heads=heads, before=(None, heads[0]), known=None, since=0)
    assert _lineages(branch, fork=Book(), counted=counted) == (read, free)


def test_a_policy_that_is_adopted_bounds_what_counters_hold_from_then_on(tmp_path):
    ledger = open_ledger(tmp_path, clock=HandClock())
    ledger.register(uncapped())
    counters = ledger._journal.book.account(LINEAGE).counters
    assert counters["lifetime"].cap is None
    ledger.desk.adopt(LINEAGE, policy=policy(cap("life", "patient", "lifetime", "0.5")))
    assert ledger._journal.book.account(LINEAGE).counters["lifetime"].cap == 5 * TENTH
    ledger.close()


def test_no_officer_went_on_with_another_hash_key_in_a_new_ledger(tmp_path):
    ledger = open_ledger(tmp_path, clock=HandClock())
    ledger.register(terms())
    assert ledger.desk.consent.hash_key_was_replaced() is False
    ledger.close()


def test_a_growing_release_that_ended_says_why_before_anything_else():
    growth = Growth(opened=1, lineage="n", question="f" * 64, busy=7)
    step = Step(question="f" * 64, start=0, stop=1)
    assert growth.problem(step, lineage="n") == "entry 7 is at it"
    lost = growth.lost().problem(step, lineage="n")
    assert lost == "it ended: rows of the ledger were lost"


def test_a_text_for_a_worker_is_sent_at_once():
    sent = io.BytesIO()
    pipe = io.BufferedWriter(sent)
    write_frame(pipe, b"asked")
    assert read_frame(io.BytesIO(sent.getvalue())) == b"asked"
    pipe.close()


def test_half_a_row_of_a_transaction_that_failed_is_forgotten_with_it(tmp_path):
    ledger = open_ledger(tmp_path, clock=HandClock())
    ledger.register(terms())
    journal, head = ledger._journal, ledger.head()

    def fail():
        with journal.transaction():
            journal._half = True
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert journal._half is False
    assert ledger.head() == head
    ledger.close()


def test_a_request_has_no_key_of_a_part_unless_it_is_one():
    whole = request(key="k")
    with pytest.raises(InvalidParameterError, match="request_key without"):
        replace(whole, request_key=f"k{PART}2")
    part = replace(
        whole,
        request_key=f"k{PART}2",
        amount=Amount(nano=0),
        step=Step(question="f" * 64, start=1, stop=2, continues=1),
    )
    assert part.request_key == f"k{PART}2"


@pytest.mark.parametrize(("has_left", "over"), [(False, ""), (True, ROLLING)])
def test_a_rolling_window_is_over_once_a_charge_has_left_it(has_left, over):
    for kind, found in ((ROLLING, over), ("lifetime", "")):
        account = Account(terms=uncapped(), year=2027, caps=(HeldCap(id="", kind=kind, units=1),))
        if has_left:
            account.rolling.days += ["2025-01-01", "2027-01-01"]
        assert account.window_over(Occasion(year=2027)) == found


def test_growths_are_told_those_that_ended_too():
    ended = Growth(opened=1, lineage=LINEAGE, question="q", closed="its window is over")
    assert LedgerReading._in_window(SimpleNamespace(), ended) is ended


@pytest.mark.parametrize("known", ["", "l1", "l2"])
def test_the_ledger_that_is_durable_is_noted_beside_it_once(known):
    begun = []
    site = SimpleNamespace(ledger=known, begun=begun.append)
    book = SimpleNamespace(identity=SimpleNamespace(ledger="l1"))
    Journal._remember(SimpleNamespace(book=book, _site=site))
    assert begun == ([] if known == "l1" else ["l1"])


def test_lines_that_are_not_signed_may_hide_lost_rows_where_nothing_else_is_found(tmp_path):
    ledger = open_ledger(tmp_path)
    ledger.register(terms())
    released(ledger, "k", b"answer")
    ledger.close()
    anchor = tmp_path / "anchor"
    first, *others = anchor.read_text().splitlines()
    told = json.loads(first)
    name = next(name for name in told if "sig" in name)
    told[name] = "0" * len(told[name])
    key = SiteKey()

    def found(lines):
        anchor.write_text("\n".join(lines) + "\n")
        store = open_store(tmp_path)
        store.begin()
        asked = {"anchor": Anchor(anchor), "public_key": key.public_key.hex()}
        made = inspect(store, **asked, recompute=amount_of, signer=key)
        store.rollback()
        store.close()
        return bool(made.unsigned), made.differences, made.lost, made.may_lack

    assert found([first, *others]) == (False, [], (), False)
    assert found([json.dumps(told), *others]) == (True, [], (), True)


def test_a_host_waits_for_every_other_one_before_it_looks_which_tables_there_are():
    steps = []

    def done(name, value=None):
        return lambda *_: steps.append(name) or value

    store = object.__new__(PostgresStore)
    store.schema, store._lock, store._version = "s", done("wait"), done("look", 3)
    calls = {name: done(name) for name in ("begin", "run_script", "rollback")}
    store._session = SimpleNamespace(**calls, denied=PermissionError, failures=OSError)
    store._apply("CREATE TABLE t (n integer)", number=3)
    assert steps == ["begin", "wait", "look", "rollback"]
