"""A ledger in which an answer is withheld, and requests ended in every way: all commands go on."""

import pytest

from command_line import confide
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.ledger import State
from confide.release.gate import Gate
from confide.report.legal.document import Kind
from small_clinic import STUDY
from unit.cli.request.test_past_the_desk import board_in
from unit.cli.request.test_request import clinic, decide  # noqa: F401

ENDS = {
    State.COMMITTED: (ChainedLedger, "publish"),
    State.BURNED: (Gate, "_answer"),
    State.CANCELLED: (ChainedLedger, "start_reading"),
}
"""What fails where a request ends so."""


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")  # so that no phrase is broken over two lines


def study(where, name, *, tier="open", within="30"):
    path = where.folder / f"{name}.yaml"
    said = f"title: Of {name}, purpose: test, tier: {tier}"
    text = STUDY.replace("id: first", f"id: {name}").replace(
        "title: First look, purpose: test", said
    )
    path.write_text(text.replace("within: 30", f"within: {within}"))
    return path


def run(where, path, *words):
    return confide("run", path, "--out", where.folder / f"out-{path.stem}", *words, "--json")


def fails(*_, **__):
    raise RuntimeError("a disk")


def every_end(where):
    """Let a request end in every way; return the entry of the one that is withheld."""
    asked = study(where, "board", tier="critical")
    ask = ("request", "submit", asked, "--key", where.keys["ada"], "--json")
    number = confide(*ask).json["number"]
    for name in ("bo", "cy"):
        assert decide(where, "approve", number, name).code == 0
    assert run(where, asked).code == 0
    for state, (kind, method) in ENDS.items():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kind, method, fails)
            assert run(where, study(where, state.value)).code != 0
    assert run(where, study(where, "refused", within="2")).code == 5
    assert run(where, study(where, "published")).code == 0
    shown = confide("ledger", "show", where.dataset, "--json").json["entries"]
    ended = {each["study"]: each["state"] for each in shown}
    alike = ("committed", "burned", "cancelled", "refused", "published")
    assert ended == {"board": "published"} | {name: name for name in alike}
    entry = confide("request", "list", where.dataset, "--json").json["requests"][0]["entry"]
    withhold = ("request", "withhold", entry, where.dataset, "--key", where.keys["cy"])
    assert confide(*withhold, "--reason", "wrong bins").code == 0
    return entry


@pytest.mark.usefixtures("wide")
def test_every_document_of_a_year_has_a_line_for_what_is_withheld_and_how_all_else_ended(
    clinic,  # noqa: F811
):
    entry = every_end(clinic)
    assert confide("document", "start", "--out", clinic.folder / "legal.yaml").code == 0
    year = confide("ledger", "show", clinic.dataset, "--json").json["entries"][0]["at"][:4]
    for kind in Kind:
        out = clinic.folder / "papers"
        made = confide("document", kind.value, clinic.dataset, "--year", year, "--out", out)
        assert made.code == 0, made.err
    text = (clinic.folder / "papers" / "dpia.en.md").read_text("utf-8")
    (line,) = (each for each in text.splitlines() if "then withheld" in each)
    assert line.startswith(f"| {entry} |")
    assert "stays charged | ε = " in line
    assert "Of committed" in text
    assert "Of published" in text
    for other in ("failed after reading began", "withdrawn before reading", "| refused |"):
        assert other in text


def test_why_an_answer_is_withheld_stands_where_the_refusal_says(clinic):  # noqa: F811
    entry = every_end(clinic)
    again = confide("run", clinic.folder / "board.yaml", "--out", clinic.folder / "x", "--json")
    assert (again.code, "request list" in again.json["hint"]) == (3, True)
    told = f"The answer of entry {entry} was withheld by cy (privacy-officer) on "
    why = {"person": "cy", "role": "privacy-officer", "decision": "withhold"}
    listed = ("request", "list", clinic.dataset)
    (asked,) = confide(*listed, "--json").json["requests"]
    for words in (listed, ("request", "show", asked["number"], clinic.dataset)):
        assert told in confide(*words).out
        assert "wrong bins" in confide(*words).out
    shown = confide("request", "show", asked["number"], clinic.dataset, "--json").json
    entries = confide("ledger", "show", clinic.dataset, "--json").json["entries"]
    (first,) = confide(*listed, "--json").json["withheld"]
    of_entry = next(each["withheld"] for each in entries if each["number"] == entry)
    for said in (asked["withheld"], shown["withheld"], of_entry, first):
        assert said["reason"] == "wrong bins"
        assert why.items() <= said.items()
    assert told in confide("ledger", "show", clinic.dataset).out
    assert [each["number"] for each in entries if each["withheld"]] == [entry]


def test_withholding_what_is_no_entry_says_where_entries_stand(clinic):  # noqa: F811
    assert run(clinic, study(clinic, "one")).code == 0
    key = ("--key", clinic.keys["cy"], "--reason", "wrong bins")
    refused = confide("request", "withhold", 9999, clinic.dataset, *key)
    assert refused.code != 0
    assert "Unknown entry '9999'." in refused.err
    assert "confide ledger show" in refused.err
    assert "none" not in refused.err


def test_a_ledger_with_every_end_is_exported_backed_up_restored_and_reused(clinic):  # noqa: F811
    every_end(clinic)
    out, folder = clinic.folder / "out-board", clinic.folder
    assert confide("verify", out, "--ledger", clinic.dataset).code == 0
    assert confide("ledger", "export", clinic.dataset, "--out", folder / "chain.jsonl").code == 0
    backup = folder / "backup"
    assert confide("ledger", "backup", backup, clinic.dataset).code == 0
    (folder / ".confide" / "ledger.sqlite").unlink()
    assert confide("ledger", "restore", backup, clinic.dataset).code == 0
    listed = confide("request", "list", clinic.dataset, "--json").json
    assert [each["reason"] for each in listed["withheld"]] == ["wrong bins"]
    reused = study(clinic, "reused")
    assert confide("plan", reused).code == 0
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_what_repeats_a_withheld_answer_is_withheld_wherever_it_is_named(tmp_path):
    board = board_in(tmp_path)
    first, second, third = (board.study(f"2026-01-{day}") for day in ("05", "10", "15"))
    ran = confide("run", first, "--out", board.folder / "one", "--json")
    entry = int(ran.json["id"].rpartition("/")[2])
    assert confide("advance", second, "--out", board.folder / "two").code == 0
    assert confide("plan", third, "--json").json["grows-from"] == entry
    withhold = ("request", "withhold", entry, board.dataset, "--key", board.folder / "cy.key")
    assert confide(*withhold, "--reason", "wrong areas").code == 0
    shown = confide("ledger", "show", board.dataset, "--json").json["entries"]
    assert [each["state"] for each in shown] == ["withheld", "withheld"]
    assert [each["withheld"]["reason"] for each in shown] == ["wrong areas"] * 2
    planned = confide("plan", third, "--json").json
    assert planned["grows-from"] is None
    assert "an answer of it is withheld" in planned["published-before"]
    assert confide("document", "start", "--out", board.folder / "legal.yaml").code == 0
    papers = ("document", "dpia", board.dataset, "--out", board.folder / "papers")
    made = confide(*papers, "--year", shown[0]["at"][:4])
    assert made.code == 0, made.err
    text = (board.folder / "papers" / "dpia.en.md").read_text("utf-8")
    assert text.count("answered, then withheld") == 2
