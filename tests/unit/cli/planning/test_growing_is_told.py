"""A release that grows says how its later periods are published, and where there are none."""

import json

import pytest

from command_line import confide
from unit.cli.request.test_past_the_desk import board_in


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")  # so that no phrase is broken over two lines


@pytest.fixture
def board(tmp_path):
    return board_in(tmp_path)


def test_plan_run_and_advance_say_how_later_periods_are_published(board):
    first, whole = board.study("2026-01-05"), board.study("2026-02-19")
    told = "It grows: {} of its 50 periods are published, and the charge is that of all 50."
    runs = (
        ("plan", first),
        ("run", first, "--out", board.folder / "one"),
        ("plan", first),
        ("run", first, "--out", board.folder / "one"),
    )
    for words in runs:
        out = confide(*words).out
        assert told.format(5) in out
        assert "`confide advance` then publishes them at no charge" in out
        assert confide(*words, "--json").json["grows"] == {"published": 5, "of": 50}
    out = confide("advance", board.study("2026-01-10"), "--out", board.folder / "two").out
    assert told.format(10) in out
    last = confide("advance", whole, "--out", board.folder / "three")
    assert (last.code, "It grows" in last.out) == (0, False)


def test_explain_says_by_which_entry_a_later_part_was_charged(board):
    confide("run", board.study("2026-01-05"), "--out", board.folder / "one")
    confide("advance", board.study("2026-01-10"), "--out", board.folder / "two")
    told = "Charged once, by ledger entry {entry}, of which this release is a later part"
    first, later = (
        " ".join(confide("explain", "certificate", board.folder / name).out.split())
        for name in ("one", "two")
    )
    entry = json.loads((board.folder / "one" / "certificate.json").read_text())["accounting"]
    assert told.format(entry=entry["entry"]) in later
    assert "Charged once" not in first


def test_plan_without_a_ledger_says_it_too(board):
    study = board.study("2026-01-05")
    board.folder.chmod(0o500)
    try:
        body = confide("plan", study, "--json").json
    finally:
        board.folder.chmod(0o700)
    assert body["grows"] == {"published": 5, "of": 50}


def test_advance_to_periods_that_are_over_names_those_that_can_be_had(board):
    entry = _advanced(board)
    refused = confide("advance", board.study("2026-01-10"), "--out", board.folder / "x")
    assert refused.code != 0
    assert "It was published with 5, 15 periods: set `through` to one of these, or later." in (
        refused.err
    )
    withhold = ("request", "withhold", entry, board.dataset, "--key", board.folder / "cy.key")
    assert confide(*withhold, "--reason", "wrong areas").code == 0
    refused = confide("advance", board.study("2026-01-10"), "--out", board.folder / "x")
    assert "it grows no more: an answer of it is withheld" in refused.err
    assert "set `through` to one of these." in refused.err
    assert "later." not in refused.err.replace("no later ones", "")


def test_advance_of_a_growth_that_ended_sends_nobody_to_its_next_periods(board):
    ledger = board.folder / ".confide" / "ledger.sqlite"
    assert confide("run", board.study("2026-01-05"), "--out", board.folder / "one").code == 0
    kept = ledger.read_bytes()
    assert confide("advance", board.study("2026-01-15"), "--out", board.folder / "two").code == 0
    ledger.write_bytes(kept)
    goes_on = ("ledger", "unfreeze", board.dataset, "--reason", "disk replaced")
    assert confide(*goes_on, "--officer", board.folder / "cy.key").code == 0
    for through, out in (("2026-01-03", "x"), ("2026-01-20", "y")):
        refused = confide("advance", board.study(through), "--out", board.folder / out)
        assert refused.code != 0
        assert "rows of the ledger were lost" in refused.err
        for misleading in ("or later", "Ask for the next ones"):
            assert misleading not in refused.err


def _advanced(board):
    first = confide("run", board.study("2026-01-05"), "--out", board.folder / "one", "--json")
    assert confide("advance", board.study("2026-01-15"), "--out", board.folder / "two").code == 0
    return int(first.json["id"].rpartition("/")[2])
