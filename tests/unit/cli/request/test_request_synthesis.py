"""Approval of a synthesis and of its check: asked for, decided, run once, under the rules of studies."""

import json
from types import SimpleNamespace

import pytest

from command_line import confide
from synth_clinic import ASKED
from synth_clinic import clinic as write_clinic

POLICY = """\
policy: {{id: ward, version: {version}, effective: 2020-01-01}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: zcdp, report-delta: 1e-6, selection-delta: 5e-7}}
caps:
  - {{id: house-life, basis: internal, priority: 3, scope: dataset, window: lifetime, limit: {{epsilon: "9"}}}}
tiers:
  - {{id: critical, approvals: [privacy-officer]}}
workflow:
  people:
    - {{name: ada, roles: [analyst], key: {ada}}}
    - {{name: cy, roles: [privacy-officer], key: {cy}}}
"""
ACCEPT = {"share": "1/4", "pairs": "0.5"}


@pytest.fixture
def ward(tmp_path):
    keys = {name: tmp_path / f"{name}.key" for name in ("ada", "cy")}
    public = {
        name: confide("request", "key", "--out", path, "--json").json["public"]
        for name, path in keys.items()
    }
    about = ASKED["synthesis"] | {"tier": "critical"}
    file = write_clinic(tmp_path, synthesis=about, accept=ACCEPT)
    dataset = json.loads((tmp_path / "dataset.yaml").read_text())
    del dataset["caps"]
    (tmp_path / "dataset.yaml").write_text(json.dumps(dataset | {"policy": "policy.yaml"}))
    (tmp_path / "policy.yaml").write_text(POLICY.format(version=1, **public))
    return SimpleNamespace(folder=tmp_path, file=file, keys=keys, public=public)


def submit(ward, *words):
    return confide("request", "submit", ward.file, "--key", ward.keys["ada"], *words, "--json")


def approve(ward, number):
    words = ("request", "approve", number, ward.folder / "dataset.yaml", "--key", ward.keys["cy"])
    assert confide(*words).code == 0


def run(ward, out="out"):
    return confide("synth", "run", ward.file, "--out", ward.folder / out, "--json")


def evaluate(ward, out="verdict"):
    return confide("synth", "evaluate", ward.file, "--out", ward.folder / out, "--json")


def test_a_synthesis_and_its_check_are_approved_one_by_one_and_run_once_each(ward):
    planned = confide("synth", "plan", ward.file)
    assert "nobody was asked" in " ".join(planned.out.split())
    refused = run(ward)
    assert (refused.code, refused.json["error"]) == (4, "ApprovalMissingError")
    assert "synthesis" in refused.json["hint"]

    asked = submit(ward, "--note", "for the course")
    assert (asked.code, asked.json["state"]) == (0, "submitted")
    seen = asked.json["preview"]
    assert seen["kind"] == "synthesis"
    assert seen["reads"][0].startswith("bin of people.age: 0, 10, 20, ")
    assert seen["settings"]["rows"] == 3000
    assert {each["name"] for each in seen["noise"]} == {"one-ways", "choice", "tables"}
    number = asked.json["number"]
    shown = confide("request", "show", number, ward.folder / "dataset.yaml")
    assert "for the course" in shown.out
    assert "lacks approval by privacy-officer" in " ".join(shown.out.split())
    assert run(ward).code == 4
    approve(ward, number)
    assert confide("synth", "plan", ward.file, "--json").json["approval"]["request"] == number

    early = submit(ward, "--check")
    assert (early.code, "was not run" in early.json["message"]) == (7, True)
    made = run(ward)
    assert (made.code, made.json["charged"]) == (0, True)
    said = json.loads((ward.folder / "out" / "certificate.json").read_text())["authority"]
    assert [each["role"] for each in said["decisions"]] == ["privacy-officer"]
    assert confide("verify", ward.folder / "out").code == 0
    assert run(ward, "again").json["charged"] is False

    assert evaluate(ward).code == 4
    check = submit(ward, "--check").json
    assert check["preview"]["kind"] == "synthesis-check"
    approve(ward, check["number"])
    verdict = evaluate(ward)
    assert (verdict.code, verdict.json["charged"]) == (0, True)
    listed = confide("request", "list", ward.folder / "dataset.yaml", "--json").json["requests"]
    assert [each["state"] for each in listed] == ["published", "published"]


def test_an_approved_synthesis_is_of_one_plan_and_of_one_charge(ward):
    approve(ward, submit(ward).json["number"])
    text = ward.file.read_text()
    ward.file.write_text(text.replace('"rows": "3000"', '"rows": "3001"'))
    assert "nobody was asked" in run(ward).json["message"]
    ward.file.write_text(text)
    assert run(ward).json["charged"] is True
    anew = ("synth", "run", ward.file, "--out", ward.folder / "anew", "--request", "once more")
    assert confide(*anew, "--json").json["error"] == "ApprovalMissingError"


def test_an_approved_synthesis_lapses_with_the_policy_under_which_it_was_approved(ward):
    approve(ward, submit(ward).json["number"])
    dataset = ward.folder / "dataset.yaml"
    (ward.folder / "policy.yaml").write_text(POLICY.format(version=2, **ward.public))
    assert confide("request", "endorse", dataset, "--key", ward.keys["cy"]).code == 0
    assert confide("ledger", "adopt", dataset, "--reason", "next").code == 0
    assert "is lapsed" in run(ward).json["message"]


def test_words_of_another_kind_of_file_are_refused(ward):
    refused = submit(ward, "--period", "2026-01")
    assert (refused.code, "has no period" in refused.json["message"]) == (7, True)
