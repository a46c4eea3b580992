"""Where ``confide ledger anchor --out`` notes a head: in a file of heads of this ledger alone."""

import os
import shutil

from command_line import confide
from small_clinic import DATASET, make_clinic


def begun(folder, *, more=""):
    files = make_clinic(folder, dataset=DATASET + more)
    assert confide("plan", files.study).code == 0
    return files


def note(clinic, out):
    return confide("ledger", "anchor", clinic.dataset, "--out", out, "--json")


def test_a_head_is_noted_in_no_anchor_and_in_no_file_of_something_else(tmp_path):
    clinic, other = begun(tmp_path / "clinic"), begun(tmp_path / "other")
    kept = tmp_path / "elsewhere.jsonl"
    declared = begun(tmp_path / "declared", more=f"ledger: {{anchor: {kept}}}\n")
    own = clinic.dataset.parent / ".confide" / "anchor.jsonl"
    theirs = other.dataset.parent / ".confide" / "anchor.jsonl"
    head = own.read_bytes().splitlines()[-1]
    files = {
        "notes.txt": b"one line\nmy notes without an end",
        "end.txt": b"one line\n",
        "short": b"no line at all",
        "torn": head + b"\n" + head[:40],
        "whole but for its end": head,
        "copy of theirs": theirs.read_bytes(),
        "twice": head + b"\n\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "link").symlink_to(own)
    os.link(own, tmp_path / "hard link")
    places = [own, theirs, tmp_path / "link", tmp_path / "hard link", own.with_name("new.jsonl")]
    for place in (*places, *(tmp_path / name for name in files)):
        before = place.read_bytes() if place.exists() else None
        refused = note(clinic, place)
        assert (refused.code, refused.json["error"]) == (7, "ContractError"), place
        assert (place.read_bytes() if place.exists() else None) == before
    before = kept.read_bytes()
    assert note(declared, kept).code == 7
    assert kept.read_bytes() == before
    for each in (clinic, other, declared):
        assert confide("ledger", "verify", each.dataset).code == 0


def test_heads_are_noted_one_after_another_across_a_rotation(tmp_path):
    clinic, out = begun(tmp_path / "clinic"), tmp_path / "heads.jsonl"
    out.touch()
    assert note(clinic, out).code == 0
    why = ("--reason", "yearly")
    assert confide("ledger", "rotate-keys", clinic.dataset, *why).code == 0
    assert note(clinic, out).code == 0
    assert len(out.read_text().splitlines()) == 2
    assert confide("ledger", "verify", clinic.dataset, "--anchor", out).code == 0


def test_heads_of_rows_that_an_officer_went_on_without_are_named_as_such(tmp_path):
    clinic, out = begun(tmp_path / "clinic"), tmp_path / "heads.jsonl"
    file = clinic.dataset.parent / ".confide" / "ledger.sqlite"
    assert note(clinic, out).code == 0
    shutil.copy2(file, tmp_path / "copy")
    assert confide("run", clinic.study, "--out", tmp_path / "out", "--quiet").code == 0
    assert note(clinic, out).code == 0
    shutil.copy2(tmp_path / "copy", file)
    reason = ("--reason", "the disk was replaced")
    assert confide("ledger", "unfreeze", clinic.dataset, *reason).code == 0
    found = confide("ledger", "verify", clinic.dataset, "--anchor", out, "--json")
    assert (found.code, found.json["error"]) == (6, "VerificationError")
    assert "is lost: an officer went on without it, as row 2 says" in found.json["message"]
    assert "Row 1 " not in found.json["message"]
    assert "in a new one" in found.json["hint"]
    assert note(clinic, tmp_path / "new.jsonl").code == 0
    new = tmp_path / "new.jsonl"
    assert confide("ledger", "verify", clinic.dataset, "--anchor", new).code == 0


def test_a_head_is_printed_with_its_keys_in_one_order(tmp_path):
    clinic = begun(tmp_path / "clinic")
    printed = confide("ledger", "anchor", clinic.dataset, "--json").json["head"]
    spent = printed["spent"]
    assert list(printed) == sorted(printed)
    assert len(spent) > 1
    assert list(spent) == sorted(spent)
