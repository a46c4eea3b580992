"""A clinic under a policy, from the first key to an answer that is withheld, by commands alone."""

import json
import stat
from types import SimpleNamespace

import pytest

from command_line import confide
from small_clinic import DATASET, STUDY, make_clinic

CAPS = "caps: {release: {epsilon: 1}, calendar-year: {epsilon: 3}, lifetime: {epsilon: 10}}\n"
POLICY = """\
policy: {{id: north-clinic, version: {version}, effective: 2020-01-01}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: {measure}, report-delta: 1e-6, selection-delta: 5e-7}}
caps:
  - {{id: ethics-year, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {{epsilon: "3"}}}}
  - {{id: house-life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {{epsilon: "{life}"}}}}
  - {{id: each-analyst, basis: internal, priority: 3, scope: analyst, window: rolling-365d, limit: {{epsilon: "2"}}}}
tiers:
  - {{id: critical, approvals: {{roles: [steward, privacy-officer], needed: 2}}}}
  - {{id: open}}
workflow:
  people:
    - {{name: ada, roles: [analyst], key: {ada}}}
    - {{name: bo, roles: [steward], key: {bo}}}
    - {{name: cy, roles: [privacy-officer], key: {cy}}}
"""


THREE = "[steward, privacy-officer, ethics-board]"


def write_policy(clinic, *, version=1, life="10"):
    said = {"version": version, "life": life, "measure": clinic.measure}
    text = POLICY.format(**said, **clinic.public)
    (clinic.folder / "policy.yaml").write_text(text)


@pytest.fixture
def clinic(tmp_path, request):
    measure = getattr(request, "param", "zcdp")
    text = DATASET.replace(CAPS, "policy: policy.yaml\n").replace("zcdp", measure)
    files = make_clinic(tmp_path / "clinic", dataset=text)
    keys = {name: files.folder / f"{name}.key" for name in ("ada", "bo", "cy")}
    public = {
        name: confide("request", "key", "--out", path, "--json").json["public"]
        for name, path in keys.items()
    }
    files.study.write_text(STUDY.replace("purpose: test", "purpose: test, tier: critical"))
    where = {"folder": files.folder, "dataset": files.dataset, "study": files.study}
    found = SimpleNamespace(**where, keys=keys, public=public, measure=measure)
    write_policy(found)
    return found


def decide(clinic, verb, number, name, *more):
    return confide(
        "request", verb, number, clinic.dataset, "--key", clinic.keys[name], *more, "--json"
    )


def submit(clinic, *more):
    words = ("request", "submit", clinic.study, "--key", clinic.keys["ada"], *more, "--json")
    return confide(*words)


def test_a_persons_key_is_theirs_alone_and_never_written_over(clinic):
    assert stat.S_IMODE(clinic.keys["ada"].stat().st_mode) == 0o600
    again = confide("request", "key", "--out", clinic.keys["ada"])
    assert (again.code, "not written over" in again.err) == (7, True)


def test_a_request_is_shown_to_those_who_decide_while_the_next_version_of_the_policy_waits(clinic):
    number = submit(clinic).json["number"]
    before = confide("request", "show", number, clinic.dataset, "--json")
    write_policy(clinic, version=2, life="900")
    after = confide("request", "show", number, clinic.dataset, "--json")
    assert (before.code, after.code) == (0, 0), after.err
    assert after.json == before.json, "under the caps in force, whatever the file says"


def stands(clinic, entry):
    """What a plan says of a study that was answered."""
    planned = confide("plan", clinic.study)
    said = {
        "published": f"Published already, as entry {entry}",
        "withheld": f"Answered in entry {entry}, which is withheld.",
        "not yet": "Not yet",
        "free": "costs nothing",
    }
    return [name for name, text in said.items() if text in planned.out + planned.err]


@pytest.mark.parametrize("clinic", ["zcdp", "mixed"], indirect=True)
def test_a_study_is_asked_for_approved_run_and_withheld(clinic):
    out = clinic.folder / "out"
    refused = confide("run", clinic.study, "--out", out, "--json")
    assert refused.code == 4
    assert refused.json["error"] == "ApprovalMissingError"
    assert "steward, privacy-officer" in refused.json["message"]
    assert "confide request submit" in refused.json["hint"]

    asked = submit(clinic, "--note", "for the annual report")
    assert asked.json["state"] == "submitted"
    number = asked.json["number"]
    shown = confide("request", "show", number, clinic.dataset)
    assert "for the annual report" in shown.out
    assert "each-analyst" in shown.out
    assert "waiting for steward, privacy-officer" in " ".join(shown.out.split())

    assert decide(clinic, "approve", number, "bo").json["missing"] == ["privacy-officer"]
    waiting = confide("run", clinic.study, "--out", out, "--json")
    assert (waiting.code, "lacks approval by privacy-officer" in waiting.json["message"]) == (
        4,
        True,
    )
    assert confide("plan", clinic.study, "--json").json["approval"]["missing"] == [
        "privacy-officer"
    ]
    approved = decide(clinic, "approve", number, "cy", "--reason", "as the protocol says")
    assert (approved.json["state"], approved.json["missing"]) == ("approved", [])

    ran = confide("run", clinic.study, "--out", out, "--json")
    assert (ran.code, ran.json["charged"]) == (0, True)
    certificate = json.loads((out / "certificate.json").read_text())
    authority, charges = certificate["authority"], certificate["accounting"]["charges"]
    assert (authority["policy"]["id"], authority["policy"]["version"]) == ("north-clinic", 1)
    assert [(each["role"], each["decision"]) for each in authority["decisions"]] == [
        ("steward", "approved"),
        ("privacy-officer", "approved"),
    ]
    assert confide("verify", out, "--json").json["holds"]
    assert [(c["id"], c["scope"].partition("/")[0]) for c in charges] == [
        ("ethics-year", "calendar-year"),
        ("house-life", "lifetime"),
        ("each-analyst", "analyst"),
    ]
    assert charges[-1]["scope"].endswith("/ada")
    again = confide("run", clinic.study, "--out", out, "--json")
    assert (again.code, again.json["charged"]) == (0, False)
    listed = confide("request", "list", clinic.dataset, "--json").json["requests"]
    assert [each["state"] for each in listed] == ["published"]

    entry = listed[0]["entry"]
    assert stands(clinic, entry) == ["published", "free"]
    stays = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    words = ("request", "withhold", entry, clinic.dataset, "--reason", "wrong bins")
    assert confide(*words, "--key", clinic.keys["ada"]).code == 3
    assert confide(*words, "--key", clinic.keys["cy"]).code == 0
    assert stands(clinic, entry) == ["withheld"]
    gone = confide("run", clinic.study, "--out", clinic.folder / "other", "--json")
    assert (gone.code, "is withheld" in gone.json["message"]) == (3, True)
    assert not (clinic.folder / "other").exists()
    shown = confide("ledger", "show", clinic.dataset, "--json").json
    assert shown["caps"] == stays
    assert (shown["policy"]["version"], shown["entries"][-1]["state"]) == (1, "withheld")
    assert "under north-clinic, version 1" in confide("ledger", "show", clinic.dataset).out
    reuse = confide("run", clinic.study, "--out", clinic.folder / "reused", "--reuse")
    assert reuse.code == 7
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_changes_are_asked_for_and_the_request_is_revised(clinic):
    number = submit(clinic).json["number"]
    assert decide(clinic, "ask-changes", number, "cy", "--reason", "no sexes").code == 0
    returned = confide("run", clinic.study, "--out", clinic.folder / "out", "--json")
    assert (returned.code, "changes-asked" in returned.json["message"]) == (4, True)
    clinic.study.write_text(clinic.study.read_text().replace("within: 30", "within: 60"))
    second = submit(clinic, "--revises", number).json
    assert second["revises"] == number
    assert decide(clinic, "reject", second["number"], "bo", "--reason", "no").json["state"] == (
        "rejected"
    )


def test_the_next_version_of_a_policy_is_signed_and_adopted(clinic):
    assert confide("plan", clinic.study, "--json").code == 0
    write_policy(clinic, version=2, life="12")
    refused = confide("plan", clinic.study, "--json")
    assert (refused.code, "ledger adopt" in refused.json["hint"]) == (3, True)
    adopt = ("ledger", "adopt", clinic.dataset, "--json")
    assert "house-life is raised" in confide(*adopt).json["message"]
    assert "request endorse" in confide(*adopt, "--reason", "board").json["hint"]
    signed = confide("request", "endorse", clinic.dataset, "--key", clinic.keys["cy"], "--json")
    assert (signed.json["person"], signed.json["version"]) == ("cy", 2)
    assert confide(*adopt, "--reason", "board").code == 0
    assert confide("plan", clinic.study, "--json").code == 0


def test_dataset_yaml_and_its_policy_promise_the_same(clinic):
    text = clinic.dataset.read_text()
    clinic.dataset.write_text(text.replace("delta: 1e-6", "delta: 1e-5"))
    differs = confide("plan", clinic.study, "--json")
    assert (differs.code, "accounting → delta" in differs.json["message"]) == (7, True)
    clinic.dataset.write_text(text + CAPS)
    both = confide("plan", clinic.study, "--json")
    assert (both.code, "either caps or a policy" in both.json["message"]) == (7, True)


def test_caps_are_not_amended_where_a_policy_says_them(clinic):
    confide("plan", clinic.study)
    ran = confide("ledger", "amend-caps", clinic.dataset, "--reason", "x", "--json")
    assert (ran.code, "names a policy" in ran.json["message"]) == (7, True)


def test_the_day_is_confirmed_by_the_clock_and_an_officer(clinic):
    confide("plan", clinic.study)
    wrong = confide(
        "ledger", "confirm-day", "2020-01-01", clinic.dataset, "--reason", "x", "--json"
    )
    assert wrong.code == 3
    today = wrong.json["message"].split("clock, ")[1][:10]
    words = ("ledger", "confirm-day", today, clinic.dataset, "--reason", "monthly")
    assert confide(*words).code == 4
    assert confide(*words, "--officer", clinic.keys["ada"]).code == 4
    assert confide(*words, "--officer", clinic.keys["cy"]).code == 0


def test_files_that_are_no_keys_are_refused(clinic):
    for content in (None, "not a key"):
        path = clinic.folder / "x.key"
        if content:
            path.write_text(content)
            path.chmod(0o600)
        ran = confide("request", "submit", clinic.study, "--key", path, "--json")
        assert (ran.code, "confide request key" in ran.json["hint"]) == (7, True)


def test_a_withheld_answer_is_backed_up_and_stays_withheld_when_it_is_restored(clinic):
    clinic.study.write_text(clinic.study.read_text().replace("tier: critical", "tier: open"))
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    entry = confide("ledger", "show", clinic.dataset, "--json").json["entries"][-1]["number"]
    words = ("request", "withhold", entry, clinic.dataset, "--reason", "wrong bins")
    assert confide(*words, "--key", clinic.keys["cy"]).code == 0
    backup = clinic.folder / "backup"
    assert confide("ledger", "backup", backup, clinic.dataset).code == 0
    assert (backup / "answers.jsonl").read_text().count("\n") == 1
    (clinic.folder / ".confide" / "ledger.sqlite").unlink()
    assert confide("ledger", "restore", backup, clinic.dataset).code == 0
    shown = confide("ledger", "show", clinic.dataset, "--json").json
    assert shown["entries"][-1]["state"] == "withheld"
    gone = confide("run", clinic.study, "--out", clinic.folder / "other", "--json")
    assert (gone.code, "is withheld" in gone.json["message"]) == (3, True)
    assert confide("ledger", "verify", clinic.dataset).code == 0


def test_of_three_roles_of_which_two_must_approve_one_is_waited_for_after_the_first(clinic):
    path = clinic.folder / "policy.yaml"
    path.write_text(path.read_text().replace("[steward, privacy-officer]", THREE, 1))
    asked = confide("request", "submit", clinic.study, "--key", clinic.keys["ada"])
    assert "approval by 2 of steward, privacy-officer, ethics-board." in " ".join(asked.out.split())
    (number,) = (
        each["number"]
        for each in confide("request", "list", clinic.dataset, "--json").json["requests"]
    )
    decided = confide("request", "approve", number, clinic.dataset, "--key", clinic.keys["bo"])
    assert "waiting for 1 of privacy-officer, ethics-board" in decided.out
    shown = confide("request", "show", number, clinic.dataset)
    assert "waiting for 1 of privacy-officer, ethics-board" in shown.out
    listed = confide("request", "list", clinic.dataset, "--json").json["requests"]
    assert [each["needed"] for each in listed] == [1]
    refused = confide("run", clinic.study, "--out", clinic.folder / "out", "--json")
    assert "lacks approval by 1 of privacy-officer, ethics-board." in refused.json["message"]


def test_who_signs_a_policy_and_whose_word_does_not_count_is_told(clinic):
    assert confide("plan", clinic.study, "--json").code == 0
    write_policy(clinic, version=2, life="20")
    told = confide("request", "endorse", clinic.dataset, "--key", clinic.keys["ada"])
    assert "ada may not approve; may: bo (steward), cy" in " ".join(told.out.split())
    told = confide("request", "endorse", clinic.dataset, "--key", clinic.keys["cy"], "--json")
    assert told.json["counts"]
