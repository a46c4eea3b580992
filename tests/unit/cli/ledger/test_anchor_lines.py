"""Lines that strangers write into an anchor, on both databases, and chains as readers get them."""

import json

import pytest

from command_line import confide
from unit.cli.request import test_officers as officers
from unit.cli.request.test_officers import caps, make, run

NAMED = """\
  - {{id: each, basis: ethics, priority: 2, scope: analyst, window: lifetime, limit: {{epsilon: "9"}}}}
tiers:
"""
NEXT = "number of the next row"
LINES = {
    "a number without end": {"number": float("inf")},
    "a number that is none": {"number": float("nan")},
    "units without end": {"spent": {"lifetime": float("inf")}},
    "a version without end": {"adopted": {"version": float("inf"), "sha256": "0" * 64}},
    "a number that is no text": {"number": 7},
    "a number in other digits": {"number": "\uff11"},
    "units in a longer form": {"spent": {"lifetime": "0_0"}},
    "a name with a zero byte": {"number": NEXT, "spent": {"analyst/lifetime/a\0b": "5"}},
    "a name that no index takes": {
        "number": NEXT,
        "spent": {f"analyst/lifetime/{''.join(chr(0x4E00 + i) for i in range(6000))}": "5"},
    },
    "a lineage with a zero byte": {"number": NEXT, "lineage": "a\0b"},
    "a hash that is none": {"number": NEXT, "hash": "1\0" * 32},
    "an end of line inside": b'\r"}',
}


@pytest.fixture(params=["sqlite", "postgres"])
def clinic(request, tmp_path, monkeypatch):
    monkeypatch.setattr(officers, "POLICY", officers.POLICY.replace("tiers:\n", NAMED))
    made = make(request.param, tmp_path / "clinic")
    assert run(made, "first").code == 0
    return made


def anchor_of(clinic):
    return clinic.folder / ".confide" / "anchor.jsonl"


def go_on(clinic, *more):
    words = ("ledger", "unfreeze", clinic.dataset, "--reason", "looked at the anchor", *more)
    return confide(*words, "--json")


def test_no_line_that_no_ledger_wrote_keeps_a_ledger_frozen_or_ends_a_command_as_a_bug(clinic):
    spent, anchor = caps(clinic), anchor_of(clinic)
    for name, odd in LINES.items():
        last = json.loads(anchor.read_bytes().splitlines()[-1])
        line = odd
        if isinstance(odd, dict):
            following = {"number": str(int(last["number"]) + 1)} if NEXT in odd.values() else {}
            line = json.dumps({**last, **odd, **following, "signature": "00"}).encode()
        anchor.write_bytes(anchor.read_bytes() + line + b"\n")
        shown = confide("ledger", "show", clinic.dataset, "--json")
        assert (shown.code, shown.json["error"]) == (6, "LedgerFrozenError"), name
        assert confide("ledger", "verify", clinic.dataset).code == 6, name
        assert go_on(clinic, "--officer", clinic.keys["cy"]).code == 0, name
        assert caps(clinic) == spent, name
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_an_edited_line_that_verify_finds_is_accepted_by_an_officer_on_record(clinic):
    anchor = anchor_of(clinic)
    first, second, *others = anchor.read_bytes().splitlines(keepends=True)
    edited = json.loads(second) | {"spent": {"lifetime": "1"}}
    anchor.write_bytes(b"".join([first, json.dumps(edited).encode() + b"\n", *others]))
    spent = caps(clinic)
    found = confide("ledger", "verify", clinic.dataset)
    assert found.code == 6
    assert "Line 2 of the anchor is not signed" in found.err
    assert go_on(clinic).json["error"] == "ApprovalMissingError"
    assert go_on(clinic, "--officer", clinic.keys["cy"]).code == 0
    assert caps(clinic) == spent
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_a_certificate_verifies_against_a_chain_whose_texts_hold_ends_of_lines(clinic, tmp_path):
    key, note = clinic.keys["ada"], "one\u2028two\x85three\x0bfour"
    asked = confide("request", "submit", clinic.study, "--key", key, "--note", note, "--json")
    assert asked.code == 0
    chain = tmp_path / "chain.jsonl"
    assert confide("ledger", "export", clinic.dataset, "--out", chain).code == 0
    told = confide("verify", clinic.folder / "first", "--chain", chain, "--json")
    assert told.code == 0, told.out


def test_a_chain_of_odd_lines_is_refused_in_words(clinic, tmp_path):
    chain = tmp_path / "chain.jsonl"
    head = {"number": "1", "signature": "x", "hash": "a", "kind": "k", "lineage": "l", "key": "k"}
    for line in (
        '{"number": Infinity, "previous": "a", "hash": "b", "body": "c"}',
        '{"number": 1, "signature": "x"}',
        json.dumps(head | {"spent": [1]}),
    ):
        chain.write_text(f"{line}\n")
        refused = confide("verify", clinic.folder / "first", "--chain", chain)
        assert refused.code == 6, line
        assert "cannot be read as a chain" in refused.err
        assert confide("ledger", "verify", "--export", chain).code == 6
        assert confide("ledger", "verify", clinic.dataset, "--anchor", chain).code == 6


def test_of_two_lines_of_one_number_the_newest_is_that_of_the_ledger(clinic, tmp_path):
    """A row that was lost, and the one that took its place, both stand in the anchor."""
    anchor = tmp_path / "anchor.jsonl"
    lines = [json.loads(line) for line in anchor_of(clinic).read_bytes().splitlines()]
    lost = [line | {"hash": line["hash"][::-1]} for line in lines]
    anchor.write_text("".join(json.dumps(line) + "\n" for line in (*lost, *lines)))
    assert confide("verify", clinic.folder / "first", "--chain", anchor).code == 0
    anchor.write_text("".join(json.dumps(line) + "\n" for line in (*lines, *lost)))
    assert confide("verify", clinic.folder / "first", "--chain", anchor).code == 6
