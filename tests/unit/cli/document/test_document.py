"""``confide document``: five documents, three stages, from public facts alone."""

import re
import shutil

import pytest

from command_line import confide
from confide.files.legal import read_legal
from confide.report.legal.asked import ASKED
from confide.report.legal.document import Kind
from small_clinic import CANARY, DATASET, make_clinic

KINDS = [kind.value for kind in Kind]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A clinic with one release, and a legal.yaml with empty answers."""
    clinic = make_clinic(tmp_path_factory.mktemp("documents") / "clinic")
    assert confide("run", clinic.study, "--out", clinic.folder / "out", "-q").code == 0
    assert confide("document", "start", "--out", clinic.folder / "legal.yaml").code == 0
    return clinic


def test_an_empty_legal_file_reads_and_has_every_field(clinic):
    law = read_legal(clinic.folder / "legal.yaml")
    assert law.answers == dict.fromkeys(ASKED, "")
    again = confide("document", "start", "--out", clinic.folder / "legal.yaml")
    assert again.code == 7
    assert "is there already" in again.err


def test_an_empty_legal_file_of_a_private_site_has_the_balancing_test(tmp_path):
    file = tmp_path / "legal.yaml"
    assert confide("document", "start", "--private", "--out", file).code == 0
    (site,) = read_legal(file).sites
    assert site.needs_balancing


@pytest.mark.parametrize("kind", KINDS)
def test_each_document_is_made_of_a_release_in_chinese(kind, clinic, tmp_path):
    made = confide(
        "document", kind, clinic.folder / "out", "--lang", "zh", "--out", tmp_path, "--json"
    )
    assert made.code == 0, made.err
    assert made.json["schema"] == "confide.document/1"
    assert not made.json["complete"]
    assert made.json["missing"]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"{kind}.zh.html", f"{kind}.zh.md"]
    assert 'lang="zh"' in (tmp_path / names[0]).read_text("utf-8")


def test_a_document_says_what_is_missing_and_by_which_name_it_is_answered(clinic, tmp_path):
    made = confide("document", "legal-basis", clinic.study, "--out", tmp_path)
    assert made.code == 0
    assert "Not complete" in made.out
    assert "officer-advice" in made.out


def test_documents_of_a_study_read_no_row_and_charge_nothing(clinic, tmp_path):
    before = confide("ledger", "show", clinic.dataset, "--json").json
    tables = {path: path.read_bytes() for path in clinic.folder.glob("*.csv")}
    for path in tables:
        path.unlink()
    try:
        made = confide("document", "dpia", clinic.study, "--out", tmp_path, "-q")
    finally:
        for path, content in tables.items():
            path.write_bytes(content)
    assert made.code == 0, made.err
    assert confide("ledger", "show", clinic.dataset, "--json").json == before


def test_neighbouring_clinics_give_the_same_documents(tmp_path):
    made = []
    for name, last in (("with", True), ("without", False)):
        clinic = make_clinic(tmp_path / name, last=last)
        confide("document", "start", "--out", clinic.folder / "legal.yaml")
        out = tmp_path / f"{name}-out"
        assert confide("document", "dpia", clinic.study, "--out", out, "-q").code == 0
        made.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert made[0] == made[1]
    assert CANARY.encode() not in b"".join(made[0].values())


def test_a_year_of_the_ledger_has_its_document(clinic, tmp_path):
    year = confide("ledger", "show", clinic.dataset, "--json").json["entries"][0]["at"][:4]
    made = confide("document", "dpia", clinic.dataset, "--year", year, "--out", tmp_path)
    assert made.code == 0, made.err
    text = (tmp_path / "dpia.en.md").read_text("utf-8")
    assert "First look" in text
    assert "Requests of the year" in text
    assert CANARY not in text
    none = confide("document", "dpia", clinic.dataset, "--year", "1999", "--out", tmp_path)
    assert none.code == 7
    assert "no request in 1999" in none.err


def test_a_release_that_does_not_verify_gets_no_document(clinic, tmp_path):
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(clinic.folder / "out", broken)
    table = next((broken / "tables").glob("*.csv"))
    table.write_text(table.read_text("utf-8") + "1,2,3\n", "utf-8")
    legal = clinic.folder / "legal.yaml"
    made = confide("document", "dpia", broken, "--legal", legal, "--out", tmp_path)
    assert made.code == 6
    assert "does not verify" in made.err
    assert not list(tmp_path.glob("*.md"))


def test_the_study_of_a_release_gives_its_errors_and_another_one_is_refused(clinic, tmp_path):
    release = clinic.folder / "out"
    made = confide("document", "dpia", release, "--study", clinic.study, "--out", tmp_path)
    assert made.code == 0, made.err
    assert "within ±20 patients" in (tmp_path / "dpia.en.md").read_text("utf-8")
    other = clinic.folder / "other.yaml"
    other.write_text(clinic.study.read_text("utf-8").replace("within: 20", "within: 25"), "utf-8")
    refused = confide("document", "dpia", release, "--study", other, "--out", tmp_path)
    assert refused.code == 7
    assert "the plans differ" in refused.err


def test_the_study_of_a_release_is_its_own_after_the_next_snapshot_too(clinic, tmp_path):
    folder = tmp_path / "clinic"
    shutil.copytree(clinic.folder, folder)
    dataset = folder / clinic.dataset.name
    text = dataset.read_text("utf-8")
    later = re.sub(r'snapshot: *"?[^",}]+"?', 'snapshot: "2031-12"', text)
    assert later != text
    dataset.write_text(later, "utf-8")
    study = folder / clinic.study.name
    made = confide("document", "dpia", folder / "out", "--study", study, "--out", tmp_path / "d")
    assert made.code == 0, made.err


def test_a_document_without_a_legal_file_says_how_to_begin(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    made = confide("document", "dpia", clinic.study, "--out", tmp_path)
    assert made.code == 7
    assert "confide document start" in made.err


def test_columns_by_whose_codes_rows_are_chosen_are_read_where_their_table_is(tmp_path):
    """Somebody's ward makes the number, though no declared column holds it."""
    chosen = (
        "  northern: {from: visits.csv, only: {ward: [north]}, columns: {cost: {kind: number, "
        "lower: 0, upper: 500}}}\nderived:"
    )
    text = DATASET.replace("derived:", chosen, 1)
    text = text.replace("per-patient:\n", "per-patient:\n  was_north: {any: northern}\n")
    clinic = make_clinic(tmp_path / "clinic", dataset=text)
    clinic.study.write_text(
        "study: {id: n, purpose: test}\nstatistics:\n  - {id: n, kind: count, table: patients, "
        "where: {was_north: [yes]}, error: {within: 20}}\n"
    )
    assert confide("document", "start", "--out", clinic.folder / "legal.yaml").code == 0
    for lang, kind, yes in (
        ("en", "codes that choose rows", "yes"),
        ("zh", "用于选取记录的代码", "是"),
    ):
        out = ("--lang", lang, "--out", tmp_path / lang)
        assert confide("document", "dpia", clinic.study, *out).code == 0
        told = (tmp_path / lang / f"dpia.{lang}.md").read_text("utf-8")
        assert f"| northern.ward | {kind} | – | – | {yes} |" in told
    declared = (tmp_path / "en" / "dpia.en.md").read_text("utf-8")
    assert "The plan reads 1 of the 9 columns" in declared
