"""A policy whose caps leave patients out says so before, in and after a release."""

import json
import re
from fractions import Fraction

import pytest

from command_line import confide
from confide.release.certificate.form import CertificateForm
from confide.release.site.keys import read_person_key
from confide.release.verify.checks import Owed, charges_check

POLICY = """\
policy: {{id: h, version: 1, effective: 2020-01-01, owner: x}}
protects: {{unit: patient, adjacency: add-remove}}
accounting: {{measure: pure}}
caps:
  - {{id: annual, basis: ethics, priority: 2, scope: patient, window: calendar-year, limit: {{epsilon: "2"}}, enforce: drop}}
{more}
"""
PEOPLE = """\
tiers: [{{id: t, approvals: [steward]}}]
workflow:
  separation-of-duties: true
  people: [{{name: ada, roles: [analyst], key: {ada}}}, {{name: bo, roles: [steward], key: {bo}}}]
"""
DATASET = """\
dataset: {id: h, lineage: h, snapshot: "1"}
source: {kind: csv, path: data}
protects: {unit: patient, id: person_id, adjacency: add-remove}
accounting: {measure: pure}
policy: policy.yaml
tables: {p: {from: p.csv, rows-per-patient: 1, columns: {sex: {categories: [female, male]}}}}
"""
STUDY = """\
study: {id: s, title: Persons, tier: t}
statistics:
  - {id: number, kind: count, table: p}
  - {id: share, kind: proportion, table: p, of: {sex: [female]}}
spend: {at-most: {epsilon: "0.5"}}
"""
TOLD = "whoever has spent that much is left out"


def make(folder, *, more=""):
    (folder / "data").mkdir()
    rows = [f"{i},{'female' if i % 2 else 'male'}" for i in range(600)]
    (folder / "data" / "p.csv").write_text("\n".join(["person_id,sex", *rows]) + "\n")
    (folder / "policy.yaml").write_text(POLICY.format(more=more))
    (folder / "dataset.yaml").write_text(DATASET)
    (folder / "s.yaml").write_text(STUDY if more else STUDY.replace(", tier: t", ""))


@pytest.fixture
def wide(monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_policy_whose_every_cap_leaves_patients_out_gives_releases_that_verify(wide):
    make(wide)
    plan = confide("plan", "s.yaml")
    assert TOLD in plan.out
    assert "Budget" not in plan.out  # a table without rows
    ran = confide("run", "s.yaml", "--out", "o")
    assert ran.code == 0, ran.err
    for way in ((), ("--ledger", "dataset.yaml")):
        assert confide("verify", "o", *way).code == 0
    confide("ledger", "export", "--out", "chain.json")
    assert confide("verify", "o", "--chain", "chain.json").code == 0


CITIES = """\
study: {id: s, title: Cities}
statistics: [{id: k, kind: key-selection, table: p, key: city, delta: 1e-8, per-patient: {cells: 2, rows: 1}}]
spend: {at-most: {epsilon: "0.5"}}
"""


@pytest.mark.parametrize("measure", ["pure", "zcdp"])
def test_a_delta_under_such_a_policy_is_charged_and_verifies(wide, measure):
    make(wide)
    deltas = 'report-delta: "1e-6", ' if measure == "zcdp" else ""
    policy = (wide / "policy.yaml").read_text()
    said = f'{{measure: {measure}, {deltas}selection-delta: "1e-7"}}'
    (wide / "policy.yaml").write_text(policy.replace("{measure: pure}", said))
    told = DATASET.replace("{measure: pure}", f"{{measure: {measure}, delta: 1e-6}}")
    several = "{from: p.csv, columns: {sex: {categories: [female, male]}, city: {kind: text}}}"
    (wide / "dataset.yaml").write_text(told.partition("tables:")[0] + f"tables: {{p: {several}}}\n")
    rows = [f"{i},female,c{i % 3}" for i in range(600)]
    (wide / "data" / "p.csv").write_text("\n".join(["person_id,sex,city", *rows]) + "\n")
    (wide / "s.yaml").write_text(CITIES)
    ran = confide("run", "s.yaml", "--out", "o")
    assert ran.code == 0, ran.err
    charges = json.loads((wide / "o" / "certificate.json").read_text())["accounting"]["charges"]
    assert [each["scope"] for each in charges] == ["lifetime-delta"]
    without = json.loads((wide / "o" / "certificate.json").read_text())
    without["accounting"]["charges"] = []
    form = CertificateForm.read(without)
    owed = Owed(nano=Fraction(1, 2), atto=Fraction(1, 10**8))
    check = charges_check(form, owed=owed, grown=False)
    assert (check.holds, "lifetime-delta" in check.detail) == (False, True)


def test_a_cap_that_leaves_patients_out_is_named_wherever_a_plan_is_shown(wide):
    public = {}
    for name in ("ada", "bo"):
        confide("request", "key", "--out", f"{name}.key")
        public[name] = read_person_key(wide / f"{name}.key").public_key.hex()
    make(wide, more=PEOPLE.format(**public))
    submitted = confide("request", "submit", "s.yaml", "--key", "ada.key")
    assert submitted.code == 0, submitted.err
    number = submitted.out.partition("Request ")[2].partition(" ")[0]
    shown = confide("request", "show", number)
    planned = confide("plan", "s.yaml")
    body = confide("plan", "s.yaml", "--json").json
    for said in (submitted.out, shown.out, planned.out, *body["patients"]):
        assert TOLD in said
    assert len(body["patients"]) == 1
    assert confide("request", "approve", number, "--key", "bo.key").code == 0
    assert confide("run", "s.yaml", "--out", "o").code == 0
    assert TOLD in (wide / "o" / "report.html").read_text("utf-8")
    tables = {
        name: (wide / "o" / "tables" / f"{name}.csv").read_text() for name in ("number", "share")
    }
    assert "left out: can be too low\n" in tables["number"]
    assert "left out: can be too low or too high\n" in tables["share"]


@pytest.mark.parametrize("kind", ["dpia", "hipaa", "identifiability"])
def test_documents_state_what_is_promised_within_each_patients_own_cap(wide, kind):
    make(wide)
    assert confide("document", "start").code == 0
    assert confide("run", "s.yaml", "--out", "out").code == 0
    year = confide("ledger", "show", "--json").json["entries"][0]["at"][:4]
    for name, what in (
        ("s", ("s.yaml",)),
        ("r", ("out",)),
        ("y", ("dataset.yaml", "--year", year)),
    ):
        for lang, told in (
            ("en", "within each patient's own cap for one calendar year"),
            ("zh", "在每位患者自身于一个日历年内的上限之内"),
        ):
            made = confide("document", kind, *what, "--lang", lang, "--out", name)
            assert made.code == 0, made.err
            text = (wide / name / f"{kind}.{lang}.md").read_text("utf-8")
            (head, *_) = (line for line in text.splitlines() if told in line)
            place = head.split("|").index(f" {told} ")
            (loss,) = (
                line.split("|")[place].strip()
                for line in text[text.index(head) :].splitlines()[2:3]
            )
            assert re.fullmatch(r"ε = 2\W*δ = 0\W*", loss)


def test_a_backup_says_that_the_folder_of_per_patient_budgets_is_not_in_it(wide):
    make(wide)
    assert confide("run", "s.yaml", "--out", "out").code == 0
    done = confide("ledger", "backup", "kept")
    assert done.code == 0
    assert ".confide/patients is not in it" in done.out + done.err
    assert not (wide / "kept" / "patients").exists()
    assert confide("ledger", "backup", "again", "--json").json["apart"] == ["patients"]
