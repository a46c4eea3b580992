"""A checkpoint makes opening quick, and gives nothing back, whatever is done to it."""

import json

import pytest

from checkpoints import (
    RELEASES,
    began_at,
    copied,
    made,
    opened,
    put_rows,
    rows_of,
    spent_at,
    tamper,
)
from confide.budget.chain.chain import row_hash
from confide.budget.integrity import checkpoint
from confide.budget.integrity.anchor import Anchor
from confide.errors import LedgerFrozenError
from ledgers import LINEAGE, SiteKey, open_ledger, released, request

COST = 10_000_000


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 8)


@pytest.fixture
def folder(tmp_path):
    return made(tmp_path / "ledger")


def test_a_ledger_is_opened_from_its_last_checkpoint_and_the_rows_since(folder):
    ledger = opened(folder)
    assert 0 < began_at(ledger) < ledger.head().number
    assert spent_at(folder) == RELEASES * COST
    ledger.verify_chain()
    ledger.close()


def test_entries_and_answers_before_a_checkpoint_are_what_they_were(folder, monkeypatch):
    ledger = opened(folder)
    assert began_at(ledger)
    quick = ledger.entries(LINEAGE)
    assert ledger.reserve(request("k0", nano=COST)).payload == b"answer"
    ledger.close()
    put_rows(folder, [])
    monkeypatch.setattr(checkpoint, "EVERY", 10**9)
    ledger = opened(folder)
    assert not began_at(ledger)
    assert ledger.entries(LINEAGE) == quick
    ledger.close()


def test_an_older_checkpoint_put_back_gives_nothing_back(folder):
    older = rows_of(folder)
    ledger = opened(folder)
    for number in range(4):
        released(ledger, f"later{number}", b"answer", nano=COST)
    ledger.close()
    assert len(rows_of(folder)) > len(older)
    put_rows(folder, older)
    assert spent_at(folder) == (RELEASES + 4) * COST


def test_the_checkpoint_of_another_ledger_is_not_believed(folder, tmp_path):
    other = made(tmp_path / "other", first="o")
    put_rows(folder, rows_of(other))
    ledger = opened(folder)
    assert not began_at(ledger)
    assert len(ledger.entries(LINEAGE)) == RELEASES
    assert {entry.request_key[0] for entry in ledger.entries(LINEAGE)} == {"k"}
    ledger.close()


def test_a_checkpoint_that_says_less_was_spent_is_not_believed(folder):
    *others, (number, lines, header, signature) = rows_of(folder)
    fields = json.loads(header)
    for counter in fields["accounts"][0]["counters"].values():
        counter[0] = 0
    put_rows(folder, [*others, (number, lines, json.dumps(fields, sort_keys=True), signature)])
    assert spent_at(folder) == RELEASES * COST


def test_a_checkpoint_signed_by_another_key_is_not_believed(folder):
    """Whoever can write the tables signs with a key of their own, and names it."""
    *others, (number, lines, header, _) = rows_of(folder)
    mine = SiteKey(b"x" * 32)
    fields = json.loads(header) | {"key": mine.public_key.hex()}
    for counter in fields["accounts"][0]["counters"].values():
        counter[0] = 0
    text = json.dumps(fields, sort_keys=True)
    signature = mine.sign(checkpoint._DOMAIN + text.encode()).hex()
    put_rows(folder, [*others, (number, lines, text, signature)])
    assert spent_at(folder) == RELEASES * COST


def test_lines_that_were_changed_are_not_believed(folder):
    rows = [
        (number, bytes(lines).replace(b"published", b"cancelled"), header, signature)
        for number, lines, header, signature in rows_of(folder)
    ]
    put_rows(folder, rows)
    ledger = opened(folder)
    assert not began_at(ledger)
    assert {entry.state.value for entry in ledger.entries(LINEAGE)} == {"published"}
    ledger.close()


def test_an_older_ledger_with_its_own_checkpoint_is_found_and_gives_nothing_back(folder, tmp_path):
    older = copied(folder, tmp_path / "older")
    ledger = opened(folder)
    for number in range(4):
        released(ledger, f"later{number}", b"answer", nano=COST)
    ledger.close()
    (folder / "ledger.sqlite").write_bytes((older / "ledger.sqlite").read_bytes())
    ledger = opened(folder)
    with pytest.raises(LedgerFrozenError, match="ahead of the ledger"):
        ledger.spent(LINEAGE)
    ledger.unfreeze("put back")
    ledger.close()
    assert spent_at(folder) == (RELEASES + 4) * COST


def test_lines_copied_to_the_end_of_the_anchor_do_not_hide_what_they_followed(folder, tmp_path):
    older = copied(folder, tmp_path / "older")
    lines = (folder / "anchor").read_bytes()
    ledger = opened(folder)
    released(ledger, "later", b"answer", nano=COST)
    ledger.close()
    (folder / "ledger.sqlite").write_bytes((older / "ledger.sqlite").read_bytes())
    with (folder / "anchor").open("ab") as anchor:
        anchor.write(lines)
    ledger = opened(folder)
    with pytest.raises(LedgerFrozenError, match="anchor"):
        ledger.spent(LINEAGE)
    ledger.close()


def test_a_row_edited_before_a_checkpoint_changes_no_counter_and_is_found_by_verify(folder):
    edit = "UPDATE event SET body = replace(body, '10000000', '10') WHERE number = 2"
    tamper(folder, (edit,))
    ledger = opened(folder)
    assert began_at(ledger)
    assert {each.used for each in ledger.spent(LINEAGE).scopes} >= {RELEASES * COST}
    with pytest.raises(LedgerFrozenError, match="Row 2 of the ledger was changed"):
        ledger.verify_chain()
    ledger.close()


def test_a_row_edited_before_a_checkpoint_is_found_by_whoever_reads_it(folder):
    tamper(folder, ("UPDATE event SET body = replace(body, 'ada', 'eve') WHERE number = 2",))
    ledger = opened(folder)
    with pytest.raises(LedgerFrozenError, match="Row 2 of the ledger was changed"):
        ledger.entries(LINEAGE)
    ledger.close()


def test_rows_rewritten_since_a_checkpoint_are_found_when_the_ledger_is_opened(folder):
    ledger = opened(folder)
    number, previous = ledger.head().number, ledger.chain().events[-1].previous
    body = ledger.chain().events[-1].body.replace("published", "burned")
    ledger.close()
    digest = row_hash(previous, body=body)
    tamper(folder, ("UPDATE event SET body = ?, hash = ? WHERE number = ?", body, digest, number))
    ledger = opened(folder)
    with pytest.raises(LedgerFrozenError):
        ledger.head()
    ledger.close()


def test_a_counter_that_was_changed_is_found_when_the_ledger_is_opened(folder):
    tamper(folder, ("UPDATE counter SET spent = 0",))
    ledger = opened(folder)
    with pytest.raises(LedgerFrozenError, match="counter"):
        ledger.head()
    ledger.close()


def test_after_a_key_was_rotated_the_whole_chain_is_read_once(folder):
    new = SiteKey(b"n" * 32)
    ledger = opened(folder)
    ledger.rotate_key(new, reason="yearly")
    ledger.close()
    for expected in (False, True):
        ledger = open_ledger(folder, signer=new)
        assert bool(began_at(ledger)) is expected
        ledger.verify_chain()
        ledger.close()


def test_two_processes_go_on_from_each_others_checkpoints(folder):
    one, two = opened(folder), opened(folder)
    for number in range(6):
        released(one, f"one{number}", b"answer", nano=COST)
        released(two, f"two{number}", b"answer", nano=COST)
    one.close()
    two.close()
    ledger = opened(folder)
    assert began_at(ledger) > ledger.head().number - 8
    assert len(ledger.entries(LINEAGE)) == RELEASES + 12
    ledger.verify_chain()
    ledger.close()


def test_what_a_dead_process_was_reading_before_a_checkpoint_is_burned(folder):
    dying = opened(folder)
    held = dying.reserve(request("dies", nano=COST))
    dying.start_reading(held)
    for number in range(4):
        released(dying, f"after{number}", b"answer", nano=COST)
    dying.close()
    ledger = opened(folder)
    assert began_at(ledger) > held.entry.number
    states = {entry.request_key: entry.state.value for entry in ledger.entries(LINEAGE)}
    assert states["dies"] == "burned"
    assert {each.used for each in ledger.spent(LINEAGE).scopes} >= {(RELEASES + 5) * COST}
    ledger.close()


def test_a_line_longer_than_a_block_is_read_back_and_cut_off_when_torn(folder):
    path = folder / "anchor"
    *first, last = path.read_bytes().splitlines(keepends=True)
    fields = json.loads(last)
    fields["spent"] |= {f"analyst/lifetime/{'𝔸' * 250}{n}": "1" for n in range(200)}
    long = json.dumps(fields).encode() + b"\n"
    assert len(long) > 2 * 65_536
    path.write_bytes(b"".join(first) + long)
    assert Anchor(path).last_number() == int(fields["number"])
    assert Anchor(path).since(int(fields["number"]) - 3) == Anchor(path).heads()[-4:]
    with path.open("ab") as file:
        file.write(b"{" + b"x" * 200_000)
    head = Anchor(path).heads()[0]
    assert Anchor(path).last_number() == int(fields["number"])
    Anchor(path).append(head)
    assert path.read_bytes().splitlines(keepends=True)[-2] == long
    assert Anchor(path).last_number() == 1


def test_lines_of_the_anchor_stay_short_however_many_people_and_projects_there_are(tmp_path):
    from dataclasses import replace

    from ledger_policies import asked_by, cap, policy, uncapped

    windows = ("lifetime", "calendar-year", "rolling-365d")
    caps = [cap(f"{s}-{w}", s, w, "3") for s in ("analyst", "project") for w in windows]
    ledger = opened(tmp_path / "many")
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=policy(cap("life", "dataset", "lifetime", "3"), *caps))
    for number in range(40):
        name = "𝔸" * 62 + f"{number:08}"
        asked = asked_by(name, f"k{number}", nano=COST, project=name)
        ledger.cancel(ledger.reserve(replace(asked, tier="")))
    ledger.close()
    lines = (tmp_path / "many" / "anchor").read_bytes().splitlines()
    assert max(map(len, lines)) < 8192
    ledger = opened(tmp_path / "many")
    ledger.verify_chain()
    ledger.close()


def test_a_checkpoint_that_is_signed_and_wrong_is_named_by_verify_and_written_anew(folder):
    """By a fault of the software, or the hand of whoever holds the key."""
    *others, (number, lines, header, _) = rows_of(folder)
    fields = json.loads(header)
    fields["accounts"][0]["lost-years"] = [[2026, 7]]
    text = json.dumps(fields, sort_keys=True)
    signature = SiteKey().sign(checkpoint._DOMAIN + text.encode()).hex()
    put_rows(folder, [*others, (number, lines, text, signature)])
    ledger = opened(folder)
    assert began_at(ledger) == number
    with pytest.raises(LedgerFrozenError, match=f"checkpoint of row {number} is not what the rows"):
        ledger.verify_chain()
    ledger.verify_chain()
    ledger.close()
    ledger = opened(folder)
    assert began_at(ledger)
    ledger.verify_chain()
    ledger.close()


def test_a_forged_checkpoint_is_named_by_verify(folder):
    ledger = opened(folder)
    *others, (number, lines, header, _) = rows_of(folder)
    put_rows(folder, [*others, (number, lines, header, "00" * 64)])
    with pytest.raises(LedgerFrozenError, match=f"checkpoint of row {number} is not signed"):
        ledger.verify_chain()
    ledger.verify_chain()
    ledger.close()


def test_a_checkpoint_of_other_rules_is_left_unread(folder, monkeypatch):
    monkeypatch.setattr(checkpoint, "FORMAT", checkpoint.FORMAT + 1)
    ledger = opened(folder)
    assert not began_at(ledger)
    ledger.close()
    ledger = opened(folder)
    assert began_at(ledger)
    ledger.close()


def test_requests_are_found_by_number_and_mark_before_a_checkpoint_and_after_it(folder):
    ledger = opened(folder)
    released(ledger, "later", b"answer", nano=COST, digest="b")
    everything = ledger.entries(LINEAGE)
    assert began_at(ledger) > everything[0].number
    assert ledger.entries(LINEAGE, last=3) == everything[-3:]
    for entry in everything:
        assert ledger.entry(entry.number) == entry
    for digest in ("a" * 64, "b" * 64, "c" * 64):
        same = tuple(entry for entry in everything if entry.plan_digest == digest)
        assert ledger.of_plan(LINEAGE, digest=digest) == same
    assert ledger.of_study(LINEAGE, study="", period="") == everything
    assert ledger.of_study(LINEAGE, study="s", period="") == ()
    assert ledger.of_snapshot(LINEAGE, snapshot="") == everything
    ledger.close()
