"""What rows of the ledger that were lost charged is in every sum that people are shown."""

import datetime as dt
import shutil

import pytest

from confide.budget.accounts import account_summary
from confide.report.legal.document import Kind
from patients_world import write_hospital
from recovery_world import WARDS, ran

DATASET = """\
dataset: {id: d, lineage: d, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: person_id, adjacency: add-remove}
accounting: {measure: pure}
CAPS
tables: {p: {from: p.csv, rows-per-patient: 1, columns: {sex: {categories: [F, M]}}}}
"""
FILE_CAPS = "caps: {calendar-year: {epsilon: 5}, lifetime: {epsilon: 5}}"
LIFETIME_ALONE = "caps: {lifetime: {epsilon: 5}}"
STUDY = """\
study: {id: NAME, title: Study NAME, purpose: test}
statistics: [{id: a, kind: histogram, table: p, by: [sex]}]
spend: {at-most: {epsilon: AMOUNT}}
"""


def clinic(folder, *, caps=FILE_CAPS):
    """A data set without requests."""
    rows = "".join(f"{n},{'FM'[n % 2]}\n" for n in range(1, 501))
    (folder / "p.csv").write_text(f"person_id,sex\n{rows}")
    (folder / "dataset.yaml").write_text(DATASET.replace("CAPS", caps))
    ran("document", "start", "--out", folder / "legal.yaml", "--quiet")
    return folder / "dataset.yaml"


def studied(dataset, name, amount):
    study = dataset.parent / f"{name}.yaml"
    study.write_text(STUDY.replace("NAME", name).replace("AMOUNT", amount))
    return study


def spend(dataset, name, amount):
    ran("run", studied(dataset, name, amount), "--out", dataset.parent / name, "--quiet")


def put_back(dataset, copy):
    """Restore a backup, and go on without the rows that came after it."""
    (dataset.parent / ".confide" / "ledger.sqlite").unlink()
    ran("ledger", "restore", copy, dataset, "--quiet")
    ran("ledger", "unfreeze", dataset, "--reason", "disk replaced", "--quiet")


def lost(folder, *, before=("1",), after=("2",), caps=FILE_CAPS):
    """A ledger that spent some amounts, and then others in rows that are lost."""
    dataset = clinic(folder, caps=caps)
    ran("plan", studied(dataset, "first", "1"), "--quiet")
    for place, amount in enumerate(before):
        spend(dataset, f"kept{place}", amount)
    ran("ledger", "backup", folder / "copy", dataset, "--quiet")
    for place, amount in enumerate(after):
        spend(dataset, f"gone{place}", amount)
    put_back(dataset, folder / "copy")
    return dataset


def document(dataset, kind, *, language="en"):
    out, year = dataset.parent / "documents", f"{dt.datetime.now(dt.UTC).year}"
    ran("document", kind, dataset, "--year", year, "--lang", language, "--out", out, "--quiet")
    return (out / f"{kind}.{language}.md").read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")


def heading(text, label):
    (line,) = (line for line in text.splitlines() if line.startswith(f"- {label}:"))
    return line


@pytest.fixture(scope="module", params=[FILE_CAPS, LIFETIME_ALONE], ids=["by year", "for life"])
def of_lost_rows(request, tmp_path_factory):
    return lost(tmp_path_factory.mktemp("lost"), caps=request.param)


@pytest.mark.parametrize("kind", [kind.value for kind in Kind])
def test_documents_of_a_year_count_what_lost_rows_charged_and_say_so(of_lost_rows, kind):
    text = document(of_lost_rows, kind)
    assert "Privacy loss" in text
    assert "ε = 3" in heading(text, "Privacy loss")
    assert "ε = 2 (δ = 0) of the year was charged by rows of the ledger that were lost" in text
    if "by the releases of" in text:  # e³ = 20.09: a belief of a half becomes 0.9526 at most
        assert "95.3 %" in text
        assert "73.2 %" not in text, "what ε = 1 gives"


def test_documents_of_a_year_say_it_in_chinese_too(of_lost_rows):
    assert "账本中遗失的行" in document(of_lost_rows, "dpia", language="zh")


def test_a_year_whose_every_request_was_lost_has_its_document(tmp_path):
    text = document(lost(tmp_path, before=(), after=("2",)), "dpia")
    assert "ε = 2" in heading(text, "Privacy loss")


def test_a_year_without_lost_rows_says_nothing_of_them(tmp_path):
    dataset = clinic(tmp_path)
    spend(dataset, "kept", "1")
    text = document(dataset, "hipaa")
    assert "ε = 1" in heading(text, "Privacy loss")
    assert "were lost" not in text


KEYS = """\
study: {id: keys, title: Keys, purpose: test}
statistics: [{id: k, kind: key-selection, table: p, key: sex, delta: 1e-8, per-patient: {cells: 1}}]
spend: {at-most: {epsilon: 1}}
"""


def test_documents_of_a_year_count_the_delta_of_lost_rows(tmp_path):
    dataset = clinic(tmp_path)
    text = dataset.read_text().replace("{measure: pure}", "{measure: pure, delta: 1e-6}")
    dataset.write_text(text.replace("{sex: {categories: [F, M]}}", "{sex: {kind: text}}"))
    study = tmp_path / "keys.yaml"
    study.write_text(KEYS)
    ran("plan", study, "--quiet")
    ran("ledger", "backup", tmp_path / "copy", dataset, "--quiet")
    ran("run", study, "--out", tmp_path / "gone", "--quiet")
    put_back(dataset, tmp_path / "copy")
    text = document(dataset, "ehds")
    assert "ε = 1 at δ = 10⁻⁸" in heading(text, "Privacy loss")
    assert "ε = 1 at δ = 10⁻⁸ of the year" in heading(text, "Of that, by lost rows")


def test_what_a_patient_is_shown_has_what_lost_rows_charged_everybody(tmp_path):
    dataset, study = write_hospital(tmp_path, cap='epsilon: "3"'), tmp_path / "wards.yaml"
    ids = tmp_path / "id"
    ids.write_text("4\n")
    shown = ("patients", "show", dataset, "--reason", "asked", "--ids", ids)
    study.write_text(WARDS)
    ran("run", study, "--out", tmp_path / "kept", "--quiet")
    assert ran(*shown, "--json").json["charged-by-lost-rows"] == "0"
    assert "lost" not in ran(*shown).out
    ran("ledger", "backup", tmp_path / "copy", dataset, "--quiet")
    kept = tmp_path / ".confide" / "patients"
    shutil.copytree(kept, tmp_path / "patients")
    study.write_text(WARDS.replace("0.4", "0.3"))
    ran("run", study, "--out", tmp_path / "gone", "--quiet")
    shutil.rmtree(kept)
    shutil.copytree(tmp_path / "patients", kept)
    put_back(dataset, tmp_path / "copy")
    told = ran(*shown, "--json").json
    assert (told["charged-by-lost-rows"], len(told["charges"])) == ("0.3", 1)
    (line,) = (line for line in ran(*shown).out.splitlines() if "lost" in line)
    assert "everybody" in line
    assert "ε 0.3" in line


@pytest.mark.mutant
def test_mutant_a_year_that_adds_up_its_requests_alone(monkeypatch, tmp_path):
    monkeypatch.setattr(account_summary, "_years", lambda _: ())
    text = document(lost(tmp_path), "identifiability")
    assert "ε = 1" in heading(text, "Privacy loss")
    with pytest.raises(AssertionError):
        test_documents_of_a_year_count_what_lost_rows_charged_and_say_so(
            tmp_path / "dataset.yaml", "identifiability"
        )
