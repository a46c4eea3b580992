"""Single parts of what finds, brings back and audits a ledger at their edges."""

import base64
import os
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from checkpoints import made
from confide.budget.accounts.account import Account
from confide.budget.accounts.held import Held, Requests
from confide.budget.backup import _answers, _book_of
from confide.budget.chain.chain import SignedHead, canonical, head_of, sign_head
from confide.budget.growth import Growth, Step
from confide.budget.integrity import checkpoint
from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.anchor_line import _is_written, line_of
from confide.budget.integrity.checkpoint_audit import CheckpointAudit
from confide.budget.integrity.lost_rows import Branch, signing_keys
from confide.budget.integrity.opening import _is_anchored
from confide.budget.plan_text import plan_in
from confide.budget.policy.adoption import adopted, relaxed_file_caps
from confide.budget.policy.counters import Occasion
from confide.budget.refusals import is_policys
from confide.budget.stores.lease import _Turn, _wait_for
from confide.budget.stores.sqlite_store import SQLiteStore
from confide.budget.workflow.rules import is_lapsed
from confide.budget.workflow.submission import Decision, Verdict
from confide.errors import MismatchError, VerificationError
from confide.privacy.amount import NANO
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity
from ledger_policies import cap, policy, uncapped
from ledgers import LINEAGE, HandClock, SiteKey, open_ledger, open_store, released, terms

OLD, NEW = SiteKey(b"o" * 32), SiteKey()


def line(number, *, kind="published", signer=NEW):
    key = signer.public_key.hex()
    head = SignedHead(
        number=number, hash=f"{number:064}", kind=kind, lineage=LINEAGE, spent={}, key=key
    )
    return sign_head(head, signer=signer)


@pytest.mark.parametrize(
    ("kind", "number", "are_both"),
    [("key-rotated", 5, True), ("published", 5, False), ("key-rotated", 4, False)],
)
def test_the_older_key_signs_what_stands_right_before_a_row_that_may_have_replaced_it(
    kind, number, are_both
):
    old, new = OLD.public_key.hex(), NEW.public_key.hex()
    heads = line(number, signer=OLD), line(6, kind=kind)
    branch = Branch(fork=number - 1, heads=heads, before=(None, heads[0]), known=None, since=0)
    found = signing_keys(branch, current="", key=new)
    assert found == ({new, old} if are_both else {new}, {new})
    first = replace(branch, heads=(line(6, kind="key-rotated"),), before=(None,))
    assert signing_keys(first, current="", key=new) == ({new},)


def test_a_head_is_read_as_it_is_written_and_no_other_way():
    fields = line(5).to_fields()
    assert head_of(fields).to_fields() == fields
    for wrong in ({"number": "05"}, {"spent": {"lifetime": "+1"}}):
        with pytest.raises(ValueError, match="as they are written"):
            head_of(fields | wrong)


@pytest.mark.parametrize(
    ("numbers", "is_so"), [((), True), ((4, 5), True), ((4,), True), ((4, 6), False)]
)
def test_an_anchor_follows_rows_one_line_each_as_far_as_it_goes(numbers, is_so):
    hashes = [f"{number:064}" for number in (4, 5)]
    heads = [line(number) for number in numbers]
    assert _is_anchored(heads, hashes=hashes, first=4) is is_so


def test_an_anchor_with_more_lines_than_rows_does_not_follow_them():
    heads = [line(number) for number in (4, 5)]
    assert _is_anchored(heads, hashes=[heads[0].hash], first=4) is False


def test_a_line_with_half_a_character_is_none_of_a_ledger():
    written = canonical(replace(line(5), officers=(("aa",),)).to_fields())
    assert line_of(written.encode()) is not None
    assert line_of(written.replace('"aa"', '"\\ud800"').encode()) is None


@pytest.mark.parametrize(("officers", "is_so"), [("aa", True), (7, False)])
def test_officers_of_a_line_are_texts(officers, is_so):
    groups = canonical({"officers": [[officers]]}).removeprefix('{"officers":')[:-1].encode()
    assert _is_written(b"registered", b"n", groups, (b"lifetime",)) is is_so


def test_a_file_of_heads_is_of_the_keys_that_signed_all_its_lines(tmp_path):
    anchor = Anchor(tmp_path / "anchor")
    both = {each.public_key.hex() for each in (OLD, NEW)}
    assert anchor.is_of(both)
    for number, signer in ((1, OLD), (2, NEW)):
        anchor.append(line(number, signer=signer))
    assert anchor.is_of(both)
    assert not anchor.is_of({NEW.public_key.hex()})


def test_an_approval_lapses_with_rows_that_came_after_it():
    decision = Decision(
        person="cy", role="r", verdict=Verdict.APPROVE, reason="", at="", clock="", number=5
    )
    assert [is_lapsed(decision, row) for row in (5, 6)] == [False, True]
    assert not is_lapsed(replace(decision, verdict=Verdict.REJECT), 6)


def test_what_lost_rows_charged_to_a_year_that_counts_with_another_counts_in_both():
    account = Account(terms=uncapped(), year=2027, joined=2026)
    assert account.raise_spent("calendar-year/2026", units=5) == 5
    assert account.raise_spent("calendar-year/2025", units=3) == 3
    held = {year: account.holds(f"calendar-year/{year}").spent for year in (2025, 2026, 2027)}
    assert held == {2025: 3, 2026: 5, 2027: 5}
    assert account.lost_years == {2025: 3, 2026: 5, 2027: 5}


def test_a_year_that_somebody_opens_is_vouched_for():
    account = Account(terms=uncapped(), year=2027)
    account.open_year(2028)
    assert (account.year, account.joined, account.vouched) == (2028, 2028, 2028)


def test_a_year_that_ended_by_the_clock_alone_counts_with_the_one_that_is_open():
    lost = {2025: 3, 2026: 5}
    account = Account(terms=terms(), year=2027, vouched=2026, joined=2027, lost_years=lost)
    account.set_terms(uncapped())
    account.set_terms(terms())
    assert account.lost_years == {2025: 3, 2026: 5, 2027: 5}
    assert account.joined == 2026


def test_a_policys_lineage_takes_no_registration_with_another_unit():
    account = Account(terms=uncapped(), year=2027)
    assert is_policys(account, terms=uncapped(), charged=True)
    assert not is_policys(account, terms=terms(), charged=True)
    with pytest.raises(MismatchError, match="unit"):
        is_policys(account, terms=replace(uncapped(), unit=Entity.EVENT), charged=True)


def test_a_cap_of_the_file_is_relaxed_if_the_tightest_of_its_kind_is_higher():
    file = Account(terms=uncapped(), year=2027)
    file.set_terms(terms(lifetime=2 * NANO, year=None, release=None))
    low, high = (cap(name, "patient", "lifetime", name) for name in ("1", "3"))

    def relaxed(*caps):
        new = adopted(policy(*caps))
        return [
            each.how
            for each in relaxed_file_caps(file.caps, new.held(Measure.PURE))
            if "lifetime of" in each.what
        ]

    assert relaxed(low, high) == []
    assert relaxed(high) == ["is raised"]


@pytest.mark.parametrize(("withheld", "holds"), [(0, False), (1, True), (2, True), (3, False)])
def test_an_answer_repeats_what_was_withheld_in_the_periods_before_it(withheld, holds):
    growth = Growth(opened=1, lineage=LINEAGE, question="f" * 64, withheld=withheld)
    assert growth.holds_withheld(Step(question="f" * 64, start=0, stop=2)) is holds


def test_a_turn_that_came_is_not_waited_for(tmp_path):
    file = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    turn, begun = _Turn(file), time.monotonic()
    _wait_for(turn, mark=lambda: "")
    assert time.monotonic() - begun < 1
    assert not turn.give_up()
    os.close(file)


def test_a_number_of_six_hundred_digits_is_read_and_a_longer_one_is_not():
    for rest in ("}", ', "b": "words"}'):
        assert plan_in('{"a": ' + "7" * 600 + rest) is not None
        assert plan_in('{"a": ' + "7" * 601 + rest) is None


def test_requests_are_counted_by_their_number(tmp_path):
    ledger = open_ledger(tmp_path, clock=HandClock())
    ledger.register(terms())
    number = released(ledger, "k", b"answer")
    entry = ledger.entry(number)
    ledger.close()
    requests = Requests()
    for each in (3, 5):
        requests[each] = Held(
            entry=replace(entry, number=each), owner="", when=Occasion(year=2027), events_json="0"
        )
    assert (len(Requests()), len(requests)) == (0, 2)


def test_what_counts_now_is_every_request_of_the_window(tmp_path):
    ledger = open_ledger(tmp_path, clock=HandClock(datetime(2027, 6, 1, tzinfo=UTC)))
    ledger.register(terms())
    numbers = [released(ledger, key, b"answer") for key in ("k", "l")]
    found = ledger.counting_now(LINEAGE, window="calendar-year")
    assert [entry.number for entry, _ in found.entries] == numbers
    assert found.lost == 0
    ledger.close()


def test_a_whole_ledger_adds_up_to_its_book(tmp_path):
    made(tmp_path, releases=1)
    store = open_store(tmp_path)
    assert isinstance(store, SQLiteStore)
    book = _book_of(store)
    assert book is not None
    assert book.number == 5
    store.close()


def test_a_checkpoint_of_a_row_that_never_came_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 3)
    made(tmp_path, releases=1)
    store = open_store(tmp_path)
    rows = store.checkpoints()
    store.close()
    audit = CheckpointAudit(rows, key=SiteKey().public_key.hex())
    (problem,) = audit.problems()
    assert "is not what the rows add up to" in problem


def test_an_answer_of_a_backup_has_nothing_but_the_letters_of_its_coding():
    def read(text):
        return dict(_answers(b'{"entry":"7","bytes":"' + text + b'"}'))

    assert read(base64.b64encode(b"answer")) == {7: b"answer"}
    with pytest.raises(VerificationError, match="cannot be read"):
        read(b"*" + base64.b64encode(b"answer"))
