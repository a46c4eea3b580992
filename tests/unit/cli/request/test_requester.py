"""Under whose caps a charge counts: whose approval admits it, or who runs the command."""

import pytest

from command_line import confide
from small_clinic import STUDY
from unit.cli.request.test_officers import make, run

EACH = (
    "  - {id: each, basis: internal, priority: 3, scope: analyst, window: lifetime,"
    ' limit: {epsilon: "0.6"}}\ntiers:'
)


def capped(folder):
    """Return a clinic where each analyst may run one of these studies, and not two."""
    clinic = make("sqlite", folder)
    policy = clinic.folder / "policy.yaml"
    policy.write_text(policy.read_text().replace("tiers:", EACH))
    return clinic


@pytest.fixture
def clinic(tmp_path):
    return capped(tmp_path / "clinic")


def other(clinic, name, *, tier="open"):
    path = clinic.folder / f"{name}.yaml"
    said = f"purpose: test, tier: {tier}"
    path.write_text(STUDY.replace("id: first", f"id: {name}").replace("purpose: test", said))
    return path


def runs(clinic, study, *, login, monkeypatch, key=()):
    monkeypatch.setenv("LOGNAME", login)
    out = clinic.folder / f"{study.stem}-{login}-{len(list(clinic.folder.iterdir()))}"
    return confide("run", study, "--out", out, *key, "--json")


def who_paid(clinic):
    entries = confide("ledger", "show", clinic.dataset, "--json").json["entries"]
    return [(each["study"], each["analyst"]) for each in entries if each["state"] == "published"]


def whoever_runs_what_another_asked_for_pays(clinic, monkeypatch):
    """Bo's own cap is spent; ada once asked for a plan that nobody has to approve."""
    asked = other(clinic, "asked")
    assert confide("request", "submit", asked, "--key", clinic.keys["ada"]).code == 0
    monkeypatch.setenv("LOGNAME", "bo")
    assert run(clinic, "own").code == 0
    assert runs(clinic, asked, login="bo", monkeypatch=monkeypatch).code == 5
    assert runs(clinic, asked, login="ada", monkeypatch=monkeypatch).code == 0
    assert who_paid(clinic) == [("first", "bo"), ("asked", "ada")]


def test_whoever_runs_a_plan_that_another_asked_for_pays_for_it(clinic, monkeypatch):
    whoever_runs_what_another_asked_for_pays(clinic, monkeypatch)


def test_who_asks_for_anothers_plan_neither_pays_for_it_nor_keeps_them_from_it(clinic, monkeypatch):
    plan, mine = other(clinic, "plan"), other(clinic, "mine")
    assert confide("request", "submit", plan, "--key", clinic.keys["bo"]).code == 0
    assert runs(clinic, mine, login="bo", monkeypatch=monkeypatch).code == 0
    assert runs(clinic, plan, login="ada", monkeypatch=monkeypatch).code == 0
    assert who_paid(clinic) == [("mine", "bo"), ("plan", "ada")]


def test_an_approval_is_charged_to_whom_it_was_given_whoever_runs_it(clinic, monkeypatch):
    """Until then, and once it is rejected, nobody pays; run again, it is delivered again."""
    study = other(clinic, "routine", tier="routine")
    ask = ("request", "submit", study, "--key", clinic.keys["ada"], "--json")
    for verdict in ("reject", "approve"):
        number = confide(*ask).json["number"]
        assert runs(clinic, study, login="operator", monkeypatch=monkeypatch).code == 4
        reason = () if verdict == "approve" else ("--reason", "not yet")
        decide = ("request", verdict, number, clinic.dataset, "--key", clinic.keys["bo"])
        assert confide(*decide, *reason).code == 0
    for charged in (True, False):
        ran = runs(clinic, study, login="operator", monkeypatch=monkeypatch)
        assert (ran.code, ran.json["charged"]) == (0, charged)
    again = runs(clinic, study, login="ada", monkeypatch=monkeypatch)
    assert (again.code, again.json["charged"]) == (0, False)
    fresh = runs(
        clinic, study, login="operator", monkeypatch=monkeypatch, key=("--request", "fresh")
    )
    assert fresh.code == 4
    assert who_paid(clinic) == [("routine", "ada")]


def test_of_two_who_have_approval_each_runs_their_own(clinic, monkeypatch):
    study = other(clinic, "routine", tier="routine")
    for asker in ("ada", "cy"):
        ask = ("request", "submit", study, "--key", clinic.keys[asker], "--json")
        number = confide(*ask).json["number"]
        decide = ("request", "approve", number, clinic.dataset, "--key", clinic.keys["bo"])
        assert confide(*decide).code == 0
    assert runs(clinic, study, login="cy", monkeypatch=monkeypatch).code == 0
    assert who_paid(clinic) == [("routine", "cy")]
