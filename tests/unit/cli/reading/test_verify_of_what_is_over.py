"""Certificates whose answer was withheld, or whose rows were lost, against ledger, chain, anchor."""

import shutil

import pytest

from command_line import confide
from small_clinic import DATASET, make_clinic
from unit.cli.request.test_past_the_desk import board_in
from unit.cli.request.test_request import clinic  # noqa: F401
from unit.cli.request.test_withheld_answers import every_end, study


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")  # so that no phrase is broken over two lines


def checks(release, *history):
    """Return what verify says, and its checks by name."""
    told = confide("verify", release, *history, "--json")
    return told.code, {each["name"]: each for each in told.json["checks"]}


def exported(dataset):
    out = dataset.parent / "chain.jsonl"
    assert confide("ledger", "export", dataset, "--out", out).code == 0
    return out


def test_verify_of_a_withheld_answer_says_who_withheld_it_and_why(clinic):  # noqa: F811
    every_end(clinic)
    board, other = clinic.folder / "out-board", clinic.folder / "out-published"
    code, found = checks(board, "--ledger", clinic.dataset)
    assert (code, found["answer"]["holds"], found["answer"]["caution"]) == (0, True, True)
    assert "withheld by cy (privacy-officer) on " in found["answer"]["detail"]
    assert "wrong bins. It is delivered to nobody" in found["answer"]["detail"]
    code, found = checks(board, "--chain", exported(clinic.dataset))
    assert "by a privacy-officer: wrong bins" in found["answer"]["detail"]
    said = confide("verify", board, "--ledger", clinic.dataset).out
    assert "! answer: withheld by cy" in said
    assert "read before you use it: answer" in said
    for history in ((), ("--ledger", clinic.dataset)):
        assert not [each for each in checks(other, *history)[1].values() if each["caution"]]
    assert "that nobody withheld the answer since" in confide("verify", board).out


def test_verify_of_a_release_made_of_a_withheld_answer_says_so(clinic):  # noqa: F811
    again = study(clinic, "again", tier="open")
    out = clinic.folder / "reused"
    assert confide("run", study(clinic, "first"), "--out", clinic.folder / "first").code == 0
    assert confide("run", again, "--out", out, "--reuse").code == 0
    (entry,) = [
        each["number"]
        for each in confide("ledger", "show", clinic.dataset, "--json").json["entries"]
    ]
    key = ("--key", clinic.keys["cy"], "--reason", "wrong bins")
    assert confide("request", "withhold", entry, clinic.dataset, *key).code == 0
    for history in (("--ledger", clinic.dataset), ("--chain", exported(clinic.dataset))):
        code, found = checks(out, *history)
        assert (code, found[f"answer of entry {entry}"]["caution"]) == (0, True)


def test_verify_says_that_an_answer_repeats_one_that_is_withheld(tmp_path):
    board = board_in(tmp_path)
    outs = [board.folder / name for name in ("one", "two")]
    ran = confide("run", board.study("2026-01-05"), "--out", outs[0], "--json")
    assert confide("advance", board.study("2026-01-10"), "--out", outs[1]).code == 0
    entry = int(ran.json["id"].rpartition("/")[2])
    key = ("--key", board.folder / "cy.key", "--reason", "wrong areas")
    assert confide("request", "withhold", entry, board.dataset, *key).code == 0
    for history in (("--ledger", board.dataset), ("--chain", exported(board.dataset))):
        for out in outs:
            assert "wrong areas" in checks(out, *history)[1]["answer"]["detail"]


def test_a_withheld_answer_is_not_exported_and_the_refusal_says_why(clinic):  # noqa: F811
    entry = every_end(clinic)
    for form in ("noisy", "methods"):
        told = confide(
            "export", clinic.folder / "out-board", "--as", form, "--ledger", clinic.dataset
        )
        assert told.code != 0
        assert f"the answer of entry {entry} was withheld by cy (privacy-officer)" in told.err


def test_export_names_what_to_do_where_the_noisy_file_is_withheld(tmp_path):
    one, other = (make_clinic(tmp_path / name) for name in ("one", "other"))
    one.study.write_text(one.study.read_text() + "small-cells: cms\n")
    for each in (one, other):
        assert confide("run", each.study, "--out", each.folder / "out").code == 0
    out = one.folder / "out"
    assert not (out / "noisy.json").exists()
    told = confide("export", out, "--as", "noisy").err
    assert "add --ledger dataset.yaml" in told
    assert "--noisy" not in told  # it is what one asks for
    told = confide("export", out, "--as", "noisy", "--ledger", other.dataset).err
    assert "this ledger has no entry 2 as the certificate names it, which is of ledger " in told
    theirs = other.folder / "out" / "noisy.json"
    told = confide("export", out, "--as", "noisy", "--noisy", theirs).err
    assert f"Run: confide verify {out / 'certificate.json'} --noisy {theirs}" in told
    code, found = checks(out, "--ledger", other.dataset)
    assert code != 0
    wrong = {name for name, each in found.items() if not each["holds"]}
    assert wrong == {"ledger", "ledger row", "authority"}  # and not every number of it
    told = confide("export", out, "--as", "noisy", "--ledger", one.dataset)
    assert (told.code, '"measurements"' in told.out) == (0, True)


def lost_in(folder, monkeypatch=None):
    """Put an older ledger back beside its anchor, go on without what was lost, and release anew."""
    clinic = make_clinic(folder, dataset=DATASET)  # noqa: F811
    ledger = folder / ".confide" / "ledger.sqlite"
    for name in ("early", "lost"):
        run = ("run", clinic.study, "--out", folder / name, "--request", name)
        assert confide(*run).code == 0
        if name == "early":
            kept = ledger.read_bytes()
    before = folder / "before.jsonl"
    shutil.copy(folder / ".confide" / "anchor.jsonl", before)
    ledger.write_bytes(kept)
    goes_on = ("ledger", "unfreeze", clinic.dataset, "--reason", "disk replaced")
    assert confide(*goes_on).code == 0
    for name in ("later", "latest"):
        run = ("run", clinic.study, "--out", folder / name, "--request", name)
        assert confide(*run).code == 0
    return clinic, before


def test_verify_tells_a_genuine_release_of_lost_rows_from_one_of_another_history(tmp_path):
    clinic, before = lost_in(tmp_path / "clinic")  # noqa: F811
    chain, anchor = exported(clinic.dataset), clinic.folder / ".confide" / "anchor.jsonl"
    for history, name in (
        (("--ledger", clinic.dataset), "ledger row"),
        (("--chain", chain), "ledger row"),
        (("--chain", anchor), "signed head"),
    ):
        code, found = checks(clinic.folder / "lost", *history)
        assert (code, found[name]["caution"]) == (0, True)
        assert "the ledger went on without" in found[name]["detail"]
        assert "What it charged counts" in found[name]["detail"]
        for other in ("early", "later", "latest"):
            code, found = checks(clinic.folder / other, *history)
            assert (code, found[name]["caution"]) == (0, False)
    for name in ("early", "lost"):
        assert checks(clinic.folder / name, "--chain", before)[0] == 0
    assert checks(clinic.folder / "latest", "--chain", before)[0] != 0
    stranger, _ = lost_in(tmp_path / "stranger")
    for history in (("--ledger", clinic.dataset), ("--chain", chain), ("--chain", anchor)):
        for name in ("early", "lost", "later"):
            assert checks(stranger.folder / name, *history)[0] != 0


def test_a_release_made_of_one_of_lost_rows_verifies_with_a_caution(tmp_path):
    clinic = make_clinic(tmp_path / "clinic", dataset=DATASET)  # noqa: F811
    ledger = clinic.folder / ".confide" / "ledger.sqlite"
    assert confide("plan", clinic.study).code == 0
    kept = ledger.read_bytes()
    assert confide("run", clinic.study, "--out", clinic.folder / "lost").code == 0
    assert confide("run", clinic.study, "--out", clinic.folder / "free", "--reuse").code == 0
    ledger.write_bytes(kept)
    goes_on = ("ledger", "unfreeze", clinic.dataset, "--reason", "disk replaced")
    assert confide(*goes_on).code == 0
    anchor = clinic.folder / ".confide" / "anchor.jsonl"
    for history in (
        ("--ledger", clinic.dataset),
        ("--chain", exported(clinic.dataset)),
        ("--chain", anchor),
    ):
        code, found = checks(clinic.folder / "free", *history)
        assert code == 0
        assert [name for name, each in found.items() if each["caution"]]
