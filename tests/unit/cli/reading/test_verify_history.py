"""Genuine releases and the history that a reader has: made of others, or delivered again later."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest

from command_line import confide
from confide.budget.chain.chain import canonical, sign_head
from confide.budget.integrity.anchor import Anchor
from confide.release.verify.against_chain import _is_issuers
from ledgers import SiteKey
from small_clinic import DATASET, make_clinic

STRANGER = SiteKey(b"s" * 32)
STUDY = (
    "study: {id: s, title: t, purpose: test}\n"
    "statistics:\n"
    "  - {id: n, kind: histogram, table: patients, by: [age_band], error: {within: 30}}\n"
)


@pytest.fixture
def clinic(tmp_path):
    files = make_clinic(tmp_path / "clinic", dataset=DATASET)
    files.study.write_text(STUDY)
    folder = files.dataset.parent
    return SimpleNamespace(
        dataset=files.dataset,
        study=files.study,
        folder=folder,
        anchor=folder / ".confide" / "anchor.jsonl",
    )


def run(clinic, name, *more):
    out = clinic.folder / name
    assert confide("run", clinic.study, "--out", out, *more, "--json").code == 0
    return out


def exported(clinic, name="chain.jsonl"):
    out = clinic.folder / name
    assert confide("ledger", "export", clinic.dataset, "--out", out).code == 0
    return out


def wrong(release, *more):
    """Return the checks that do not hold."""
    found = confide("verify", release, *more, "--json").json
    return [each["name"] for each in found["checks"] if not each["holds"]]


def reused(clinic):
    run(clinic, "first")
    return run(clinic, "again", "--reuse")


def test_a_release_made_of_others_verifies_against_the_history_of_these(clinic):
    release, chain = reused(clinic), exported(clinic)
    number = confide("verify", clinic.folder / "first", "--json").json["ledger"]
    for history in (
        ("--ledger", clinic.dataset),
        ("--chain", clinic.anchor),
        ("--chain", chain),
        ("--ledger", clinic.dataset, "--ledger-id", number),
        ("--chain", chain, "--ledger-id", number),
    ):
        assert wrong(release, *history) == []
    assert wrong(release, "--chain", chain, "--ledger-id", "0" * 32) == ["ledger"]
    assert wrong(release, "--ledger", clinic.dataset, "--ledger-id", "0" * 32) == ["ledger"]
    assert wrong(release, "--ledger-id", number) == ["ledger"]


def test_a_release_made_of_others_does_not_verify_against_another_history(clinic, tmp_path):
    release = reused(clinic)
    entry = json.loads((release / "certificate.json").read_text())["sources"][0]["entry"]
    other = make_clinic(tmp_path / "other", dataset=DATASET)
    other.study.write_text(STUDY)
    shutil.rmtree(other.dataset.parent / ".confide", ignore_errors=True)
    theirs = SimpleNamespace(dataset=other.dataset, study=other.study, folder=other.dataset.parent)
    assert wrong(release, "--ledger", _begun(theirs)) == [f"ledger row of entry {entry}"]
    run(theirs, "first")
    chain, anchor = exported(theirs), theirs.folder / ".confide" / "anchor.jsonl"
    assert wrong(release, "--ledger", theirs.dataset) == [f"ledger row of entry {entry}"]
    assert wrong(release, "--chain", chain) == [f"ledger row of entry {entry}"]
    assert wrong(release, "--chain", anchor) == [f"signed head of entry {entry}"]


def _begun(clinic):
    assert confide("plan", clinic.study).code == 0
    return clinic.dataset


def rotated(clinic):
    """A release is delivered again after the key was replaced, twice, and signed by the newest."""
    run(clinic, "first")
    for _ in range(2):
        why = ("--reason", "yearly")
        assert confide("ledger", "rotate-keys", clinic.dataset, *why).code == 0
        run(clinic, f"after{_}", "--request", f"after{_}")
    return run(clinic, "again")


def test_a_release_delivered_again_after_a_rotation_verifies_by_the_anchor(clinic):
    release = rotated(clinic)
    for history in (("--chain", clinic.anchor), ("--chain", exported(clinic))):
        assert wrong(release, *history) == []
        assert wrong(clinic.folder / "first", *history) == []


def test_a_release_delivered_again_after_rows_were_lost_and_a_rotation_verifies_by_the_anchor(
    clinic,
):
    run(clinic, "first")
    ledger = clinic.folder / ".confide" / "ledger.sqlite"
    early = ledger.read_bytes()
    lost = run(clinic, "lost", "--request", "lost")
    ledger.write_bytes(early)
    for act in ("unfreeze", "rotate-keys"):
        assert confide("ledger", act, clinic.dataset, "--reason", "disk replaced").code == 0
    again = run(clinic, "again")
    assert wrong(again, "--chain", clinic.anchor) == []
    heads = Anchor(clinic.anchor).heads()
    entry = json.loads((lost / "certificate.json").read_text())["accounting"]["entry"]
    from_lost = [place for place, each in enumerate(heads) if each.number == entry]
    assert not _is_issuers(heads[from_lost[0] :], key=heads[-1].key)  # its row is not gone on from


@pytest.mark.parametrize("how", ["one line", "all before", "all", "a gap", "no rotation"])
def test_no_head_of_a_stranger_stands_for_the_issuers(clinic, how):
    release = rotated(clinic)
    heads = Anchor(clinic.anchor).heads()
    entry = json.loads((release / "certificate.json").read_text())["accounting"]["entry"]
    ours = heads[-1].key
    last = next(each.number for each in heads if each.key == ours)

    def strangers(head):
        return sign_head(replace(head, key=STRANGER.public_key.hex()), signer=STRANGER)

    made = {
        "one line": [strangers(h) if h.number == entry else h for h in heads],
        "all before": [strangers(h) if h.number <= entry else h for h in heads],
        "all": [strangers(h) for h in heads],
        "a gap": [h for h in heads if h.number != entry + 1],
        "no rotation": [h for h in heads if h.number < last],
    }[how]
    copy = clinic.folder / "copy.jsonl"
    copy.write_text("".join(canonical(each.to_fields()) + "\n" for each in made))
    assert wrong(release, "--chain", copy) == ["signed head"]
