"""Whoever can write the files and knows everything but the signing key is found out."""

import json
import shutil
import sqlite3
from dataclasses import replace

import pytest

from confide.budget.chain.chain import Event, row_hash
from confide.budget.ledger import Caps
from confide.budget.workflow.submission import Verdict
from confide.errors import ConfideError, LedgerFrozenError
from ledger_policies import ADA, BO, CY, asked_by, asks, uncapped, with_people
from ledgers import (
    LINEAGE,
    NANO,
    HandClock,
    SiteKey,
    open_ledger,
    released,
    remaining,
    request,
    terms,
    used,
)

TABLES = ("event", "head", "counter", "request", "payload")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A ledger with a row of every kind, and how it was before the last release."""
    folder = tmp_path_factory.mktemp("original")
    folder.chmod(0o700)
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    ledger.amend_caps(LINEAGE, caps=Caps(lifetime=NANO, calendar_year=NANO // 2), reason="board")
    under_a_policy(ledger)
    released(ledger, "a", b"answer")
    ledger.cancel(ledger.reserve(request("b")))
    with pytest.raises(ConfideError):
        ledger.reserve(request("c", nano=NANO))
    reservation = ledger.reserve(request("d"))
    ledger.start_reading(reservation)
    ledger.burn(reservation, incident="i")
    ledger.close()
    shutil.copytree(folder, folder / "older")
    ledger = open_ledger(folder, clock=HandClock())
    released(ledger, "e", b"last answer")
    ledger.close()
    return folder


def under_a_policy(ledger):
    """Every kind of row that a policy adds, in a lineage of its own."""
    south, theirs = "south-ehr", {"lineage": "south-ehr", "tier": "routine"}
    ledger.register(uncapped(south))
    ledger.desk.adopt(south, policy=with_people())
    ledger.desk.confirm_day(south, day="2027-06-01", reason="start", officers=(CY,))
    submission = ledger.desk.submit(replace(asks("routine"), lineage=south), signer=ADA)
    ledger.desk.decide(submission.number, verdict=Verdict.APPROVE, signer=BO)
    held = ledger.reserve(asked_by(key="south", nano=1000, **theirs))
    ledger.start_reading(held)
    entry = ledger.publish(ledger.commit(held, payload=b"south"))
    ledger.desk.withhold(entry.number, signer=CY, reason="bins")
    ledger.desk.endorse(south, policy=with_people(version=2), signer=CY)


@pytest.fixture
def copy(original, tmp_path):
    return fresh(original, tmp_path / "copy")


def fresh(original, folder):
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in ("ledger.sqlite", "anchor"):
        shutil.copy(original / name, folder / name)
    return folder


def tamper(folder, *statements, keep_schema=True):
    """Run SQL as someone who takes the triggers away first and puts them back."""
    database = sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA ignore_check_constraints = ON")
    triggers = list(database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
    database.execute("BEGIN")
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        database.execute(*statement)
    for _, text in triggers if keep_schema else ():
        database.execute(text)
    database.execute("COMMIT")
    database.close()


def is_found(folder):
    try:
        ledger = open_ledger(folder, clock=HandClock())
    except ConfideError:
        return True
    try:
        ledger.reserve(request("new"))
    except LedgerFrozenError:
        return True
    finally:
        ledger.close()
    return False


def other(value):
    """A value of the same type that is not ``value``."""
    match value:
        case None:
            return 7
        case int():
            return value + 100
        case bytes():
            return value + b"!"
        case str() if value in {"published", "burned"}:
            return "committed"
        case str():
            return value[:-1] + ("0" if value[-1:] != "0" else "1")


def events_of(database):
    query = "SELECT number, body, previous, hash FROM event ORDER BY number"
    names = ("number", "body", "previous", "hash")
    return [Event(**dict(zip(names, row, strict=True))) for row in database.execute(query)]


def cells(folder):
    database = sqlite3.connect(folder / "ledger.sqlite")
    for table in TABLES:
        cursor = database.execute(f"SELECT rowid, * FROM {table}")
        columns = [column[0] for column in cursor.description][1:]
        for rowid, *values in cursor.fetchall():
            for column, value in zip(columns, values, strict=True):
                yield table, rowid, column, value
    database.close()


def test_the_untouched_copy_opens(copy):
    assert not is_found(copy)


def test_an_edit_of_any_column_of_any_row_is_found(original, tmp_path):
    edits = list(cells(original))
    assert {table for table, *_ in edits} == set(TABLES)
    for number, (table, rowid, column, value) in enumerate(edits):
        folder = fresh(original, tmp_path / str(number))
        tamper(folder, (f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (other(value), rowid)))
        assert is_found(folder), (table, rowid, column)


def test_a_deletion_of_any_row_is_found(original, tmp_path):
    rows = sorted({(table, rowid) for table, rowid, *_ in cells(original)})
    for number, (table, rowid) in enumerate(rows):
        folder = fresh(original, tmp_path / str(number))
        tamper(folder, (f"DELETE FROM {table} WHERE rowid = ?", (rowid,)))
        assert is_found(folder), (table, rowid)


def test_two_rows_that_change_places_are_found(original, tmp_path):
    swap = "UPDATE event SET number = CASE number WHEN {0} THEN -1 WHEN {1} THEN {0} END"
    for number in range(1, 10):
        folder = fresh(original, tmp_path / str(number))
        text = swap.format(number, number + 1) + f" WHERE number IN ({number}, {number + 1})"
        back = f"UPDATE event SET number = {number + 1} WHERE number = -1"
        tamper(folder, (text,), (back,))
        assert is_found(folder), number


def test_an_older_backup_is_found_and_never_gives_budget_back(original, copy):
    shutil.copy(original / "older" / "ledger.sqlite", copy / "ledger.sqlite")
    ledger = open_ledger(copy, clock=HandClock())
    for call in (lambda: ledger.reserve(request("n")), ledger.head, lambda: ledger.spent(LINEAGE)):
        with pytest.raises(LedgerFrozenError, match="an older copy"):
            call()
    ledger.unfreeze("disk replaced; last answer lost", officers=(CY,))
    after = used(ledger)
    ledger.close()
    whole = open_ledger(fresh(original, copy / "whole"), clock=HandClock())
    assert after == used(whole)
    whole.close()
    again = open_ledger(copy, clock=HandClock())
    again.verify_chain()
    released(again, "n", b"")
    again.close()


def test_the_same_older_backup_put_back_twice_never_gives_budget_back(original, copy):
    for key in "mn":
        shutil.copy(original / "older" / "ledger.sqlite", copy / "ledger.sqlite")
        ledger = open_ledger(copy, clock=HandClock())
        ledger.unfreeze("again", officers=(CY,))
        before = remaining(ledger)["lifetime"]
        released(ledger, key, b"")
        assert remaining(ledger)["lifetime"] < before
        ledger.close()
    assert before == NANO - 400_000_000


def test_a_chain_computed_anew_without_the_key_is_found(copy):
    """Make the last charge cheaper, and every hash, counter and state agree with it."""
    database = sqlite3.connect(copy / "ledger.sqlite")
    events = events_of(database)
    database.close()
    statements, previous = [("DELETE FROM event WHERE number > 0",)], "0" * 64
    for event in events:
        fields = event.fields()
        body = event.body.replace("last", "lost") if fields["kind"] == "committed" else event.body
        body = body.replace('"incident":"i"', '"incident":"j"')
        digest = row_hash(previous, body=body)
        row = (event.number, body, previous, digest)
        statements.append(("INSERT INTO event VALUES (?, ?, ?, ?)", row))
        previous = digest
    statements.append(("UPDATE head SET hash = ?", (previous,)))
    tamper(copy, *statements)
    assert is_found(copy)


def test_a_row_added_without_the_key_is_found(copy):
    database = sqlite3.connect(copy / "ledger.sqlite")
    last = events_of(database)[-1]
    database.close()
    number = last.number + 1
    fields = {"at": last.fields()["at"], "kind": "caps-amended", "lineage": LINEAGE}
    fields |= {"number": str(number), "reason": "please"}
    fields["caps"] = {
        "release": None,
        "calendar-year": str(NANO),
        "lifetime": str(NANO),
        "lifetime-delta": "0",
    }
    body = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    digest = row_hash(last.hash, body=body)
    row = (number, body, last.hash, digest)
    tamper(
        copy,
        ("INSERT INTO event VALUES (?, ?, ?, ?)", row),
        ("UPDATE head SET number = ?, hash = ?", (number, digest)),
        ("UPDATE counter SET cap = ? WHERE scope LIKE 'calendar-year%'", (NANO,)),
    )
    assert is_found(copy)


@pytest.mark.parametrize(
    "statement",
    ["DROP INDEX request_has_one_answer", "CREATE TABLE more (x)", "ALTER TABLE head ADD y ANY"],
)
def test_another_schema_is_found(copy, statement):
    tamper(copy, (statement,))
    assert is_found(copy)


def test_missing_triggers_are_found(copy):
    tamper(copy, keep_schema=False)
    assert is_found(copy)


def lines_of(folder):
    return (folder / "anchor").read_bytes().splitlines(keepends=True)


def test_a_changed_missing_or_moved_line_of_the_anchor_is_found(original, tmp_path):
    lines = lines_of(original)
    cases = {"none": [], "short": lines[:-2], "first": lines[1:], "forged": lines[:-1]}
    cases["forged"].append(lines[-1].replace(b'"signature":"', b'"signature":"00'))
    for number in range(len(lines) - 1):
        cases[f"gone {number}"] = lines[:number] + lines[number + 1 :]
        pair = [lines[number + 1], lines[number]]
        cases[f"moved {number}"] = lines[:number] + pair + lines[number + 2 :]
        edited = lines[number].replace(b'"hash":"', b'"hash":"0')
        cases[f"edited {number}"] = [*lines[:number], edited, *lines[number + 1 :]]
        cases[f"unreadable {number}"] = [*lines[:number], b"?\n", *lines[number + 1 :]]
    for name, text in cases.items():
        folder = fresh(original, tmp_path / name)
        (folder / "anchor").write_bytes(b"".join(text))
        assert is_found(folder), name


def test_a_lost_last_line_of_the_anchor_is_a_crash_and_is_written_again(original, copy):
    (copy / "anchor").write_bytes(b"".join(lines_of(original)[:-1]) + b'{"torn')
    ledger = open_ledger(copy, clock=HandClock())
    ledger.head()
    ledger.close()
    assert lines_of(copy) == lines_of(original)


def test_a_removed_ledger_is_found_by_its_anchor(copy):
    (copy / "ledger.sqlite").unlink()
    ledger = open_ledger(copy, clock=HandClock())
    with pytest.raises(LedgerFrozenError, match=r"missing or empty.*Restore a backup"):
        ledger.register(terms())
    with pytest.raises(LedgerFrozenError, match=r"missing or empty.*Restore a backup"):
        ledger.unfreeze("start anew", officers=(CY,))
    ledger.close()


def test_another_signing_key_is_found_until_an_officer_accepts_it(copy):
    new = SiteKey(b"n" * 32)
    ledger = open_ledger(copy, signer=new, clock=HandClock())
    with pytest.raises(LedgerFrozenError, match="not signed by this site's key"):
        ledger.reserve(request("n"))
    ledger.unfreeze("key rotated on 1 June", officers=(CY,))
    ledger.close()
    again = open_ledger(copy, signer=new, clock=HandClock())
    released(again, "n", b"")
    again.verify_chain()
    again.close()


def test_a_copied_line_does_not_hide_what_followed_it(original, copy):
    """Someone who may only add to the anchor repeats the line by which an officer went on."""
    shutil.copy(original / "older" / "ledger.sqlite", copy / "ledger.sqlite")
    ledger = open_ledger(copy, clock=HandClock())
    ledger.unfreeze("restored", officers=(CY,))
    ledger.close()
    accepted = lines_of(copy)[-1]
    shutil.copy(copy / "ledger.sqlite", copy / "before")
    ledger = open_ledger(copy, clock=HandClock())
    released(ledger, "n", b"")
    ledger.close()
    shutil.copy(copy / "before", copy / "ledger.sqlite")
    with (copy / "anchor").open("ab") as file:
        file.write(accepted)
    assert is_found(copy)


def test_damage_is_not_accepted_by_an_officer(copy):
    tamper(copy, ("UPDATE payload SET bytes = x'00'",))
    ledger = open_ledger(copy, clock=HandClock())
    with pytest.raises(LedgerFrozenError, match="Restore a backup"):
        ledger.unfreeze("never mind", officers=(CY,))
    with pytest.raises(LedgerFrozenError):
        ledger.verify_chain()
    ledger.close()


def test_a_changed_counter_is_found_by_a_ledger_that_is_open(copy):
    ledger = open_ledger(copy, clock=HandClock())
    tamper(copy, ("UPDATE counter SET spent = 0",))
    with pytest.raises(LedgerFrozenError, match="is not what its rows say"):
        ledger.reserve(request("n"))
    with pytest.raises(LedgerFrozenError):
        ledger.head()
    ledger.unfreeze("counters written anew", officers=(CY,))
    assert used(ledger)["lifetime"] == 300_000_000
    ledger.close()
