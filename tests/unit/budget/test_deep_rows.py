"""Text that is nested without end is refused before a row is made, and is damage in one."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from checkpoints import tamper
from command_line import confide
from confide.budget import ledger as requests
from confide.budget import lengths
from confide.budget.chain.chain import row_hash
from confide.budget.plan_text import DEEPEST, plan_in
from confide.budget.workflow.rules import audience_of
from confide.errors import InvalidParameterError, LedgerFrozenError
from ledger_policies import ADA, asks, uncapped, with_people
from ledgers import LINEAGE, HandClock, open_ledger, released, request, terms, used
from small_clinic import make_clinic

DEEP = '{"study":' + "[" * 900 + "]" * 900 + "}"


def deeper(calls, then):
    """Do something from so many calls further down."""
    return deeper(calls - 1, then) if calls else then()


def test_a_deep_plan_cannot_be_submitted(tmp_path):
    ledger = open_ledger(tmp_path / "ledger", clock=HandClock())
    ledger.register(uncapped())
    ledger.desk.adopt(LINEAGE, policy=with_people())
    for plan in (DEEP, "no plan", '{"a": 1}'):
        digest = hashlib.sha256(plan.encode()).hexdigest()
        before = ledger.head()
        with pytest.raises(InvalidParameterError, match="plan"):
            ledger.desk.submit(replace(asks(plan=digest), plan_json=plan), signer=ADA)
        assert ledger.head() == before
    ledger.desk.submit(asks(), signer=ADA)
    ledger.close()


def test_a_recorded_plan_says_the_same_however_deep_in_calls_it_is_read():
    edge = '{"study":{"audience":' + "[" * (DEEPEST - 2) + "]" * (DEEPEST - 2) + "}}"
    said = audience_of(edge)
    assert said.startswith("[[")
    assert audience_of(edge.replace("[]", "[[]]")) == ""
    assert deeper(700, lambda: (audience_of(edge), plan_in(DEEP))) == (said, None)


def test_a_deep_plan_in_a_row_of_an_earlier_version_leaves_the_ledger_readable(
    tmp_path, monkeypatch
):
    folder = tmp_path / "ledger"
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    with monkeypatch.context() as earlier:
        earlier.setattr(requests, "require_plan", lambda *_: None)
        earlier.setattr(lengths, "require_plan", lambda *_: None)
        earlier.setattr(requests, "require_plain", lambda *_: None)
        one = request()
        object.__setattr__(one, "plan_json", DEEP)
        ledger.cancel(ledger.reserve(one))
    ledger.close()
    again = deeper(600, lambda: open_ledger(folder, clock=HandClock()))
    released(again, "k", b"")
    again.verify_chain()
    again.close()


def deep_row(file):
    """Whoever may write the tables adds a row that no process can read."""
    with closing(sqlite3.connect(file)) as database:
        number, last = database.execute(
            "SELECT number, hash FROM event ORDER BY number DESC LIMIT 1"
        ).fetchone()
        names = [row[1] for row in database.execute("PRAGMA table_info(event)")]
    body = '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"
    row = {"number": number + 1, "body": body, "previous": last, "hash": row_hash(last, body=body)}
    values = [row[name] for name in names]
    marks = ", ".join("?" for _ in names)
    tamper(file.parent, (f"INSERT INTO event VALUES ({marks})", *values))


def test_a_row_nested_without_end_is_damage(tmp_path):
    folder = tmp_path / "ledger"
    ledger = open_ledger(folder, clock=HandClock())
    ledger.register(terms())
    released(ledger, "k", b"")
    ledger.close()
    shutil.copy2(folder / "ledger.sqlite", folder / "kept")
    deep_row(folder / "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    for act in (ledger.head, ledger.verify_chain, lambda: ledger.unfreeze("it must go on")):
        with pytest.raises(LedgerFrozenError, match="makes no sense"):
            act()
    ledger.close()
    (folder / "kept").replace(folder / "ledger.sqlite")
    ledger = open_ledger(folder, clock=HandClock())
    assert used(ledger)["lifetime"]
    ledger.close()


def test_a_backup_takes_the_place_of_a_ledger_with_a_row_nested_without_end(tmp_path):
    make_clinic(tmp_path)
    study, dataset = tmp_path / "study.yaml", tmp_path / "dataset.yaml"
    assert confide("run", study, "--out", tmp_path / "out", "--quiet").code == 0
    assert confide("ledger", "backup", tmp_path / "backup", dataset, "--quiet").code == 0
    deep_row(tmp_path / ".confide" / "ledger.sqlite")
    shown = confide("ledger", "show", dataset)
    assert shown.code == 6, shown.err
    restored = confide("ledger", "restore", tmp_path / "backup", dataset)
    assert restored.code == 0, restored.err
    assert confide("ledger", "verify", dataset, "--quiet").code == 0
