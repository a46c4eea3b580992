"""verify, diff, export, show: two versions of a release, the second under a house rule."""

import json
import shutil
from pathlib import Path

import pytest

from command_line import confide
from small_clinic import make_clinic

GOLDEN = Path(__file__).parents[3] / "golden"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    clinic = make_clinic(tmp_path_factory.mktemp("versions"))
    assert confide("run", clinic.study, "--out", clinic.folder / "v1", "-q").code == 0
    text = clinic.study.read_text().replace(
        "title: First look", "title: Second look, supersedes: v1"
    )
    more = "  - {id: ages, kind: histogram, table: patients, by: [age_band, diabetes], error: {within: 60}}\n"
    clinic.study.write_text(text + more + "small-cells: cms\n")
    assert confide("run", clinic.study, "--out", clinic.folder / "v2", "-q").code == 0
    return clinic


def failed(ran):
    return {each["name"]: each["detail"] for each in ran.json["checks"] if not each["holds"]}


def test_a_release_under_a_house_rule_leaves_no_noisy_numbers_in_its_folder(two):
    assert (two.folder / "v1" / "noisy.json").exists()
    assert not (two.folder / "v2" / "noisy.json").exists()
    report = (two.folder / "v2" / "report.html").read_text("utf-8")
    assert "keeps noisy.json out of this folder" in report


def test_what_is_withheld_is_verified_as_far_as_it_is_published(two):
    ran = confide("verify", two.folder / "v2")
    assert ran.code == 0
    assert "Verifies as far as it is published" in ran.out
    assert confide("verify", two.folder / "v2", "--json").json["rebuilt"] is False


def test_the_steward_verifies_it_whole_with_chain_anchor_versions_and_snapshot(two):
    ran = confide(
        *("verify", two.folder / "v2", "--ledger", two.dataset, "--earlier", two.folder / "v1"),
        *("--chain", two.folder / ".confide" / "anchor.jsonl", "--json"),
    )
    assert ran.code == 0
    assert ran.json["rebuilt"] is True
    details = {each["name"]: each["detail"] for each in ran.json["checks"]}
    assert details["versions"] == "clinic/6 supersedes clinic/2"
    assert {"chain", "ledger row", "snapshot", "signed head"} <= set(details)
    old = confide("verify", two.folder / "v1", "--ledger", two.dataset, "--json").json
    (latest,) = [c["detail"] for c in old["checks"] if c["name"] == "latest version"]
    assert latest == "superseded by clinic/6"


def test_an_authority_derives_withheld_numbers_from_the_file_that_it_is_handed(two, tmp_path):
    noisy = tmp_path / "noisy.json"
    asked = ("export", two.folder / "v2", "--as", "noisy")
    assert confide(*asked, "--out", noisy).code == 7
    assert confide(*asked, "--ledger", two.dataset, "--out", noisy).code == 0
    ran = confide("verify", two.folder / "v2", "--noisy", noisy, "--json")
    assert ran.code == 0
    assert ran.json["rebuilt"] is True
    body = json.loads(noisy.read_bytes())
    body["measurements"][0]["noisy"][0] = "1"
    noisy.write_text(json.dumps(body))
    assert confide("verify", two.folder / "v2", "--noisy", noisy).code == 6


def test_a_changed_table_of_a_withheld_release_is_found(two, tmp_path):
    copy = tmp_path / "v2"
    shutil.copytree(two.folder / "v2", copy)
    table = copy / "tables" / "by_sex.csv"
    table.write_text(table.read_text().replace("male", "mole", 1))
    ran = confide("verify", copy, "--json")
    assert ran.code == 6
    assert set(failed(ran)) == {"tables/by_sex.csv"}


def test_show_prints_the_tables_of_a_withheld_release(two):
    ran = confide("show", two.folder / "v2", "--only", "by_sex", "--json")
    assert ran.code == 0
    assert [row[1] for row in ran.json["tables"][0]["rows"]] == ["male", "female"]


def test_the_plan_says_how_often_the_house_rule_errs(two):
    ran = confide("plan", two.study, "--json")
    notes = [note for each in ran.json["statistics"] for note in each.get("notes", [])]
    assert any("house rule cms" in note and "is shown with probability" in note for note in notes)


def test_diff_ranks_two_like_releases_and_shows_what_changed(two):
    ran = confide("diff", two.folder / "v1", two.folder / "v2", "--json")
    assert ran.code == 0
    assert ran.json["ranked"] is True
    assert ran.json["versions"] == "the second supersedes the first"
    lines = {each["line"] for each in ran.json["lines"]}
    assert "release.title" in lines
    assert "accounting.charges.lifetime.after" in lines
    shown = confide("diff", two.folder / "v1", two.folder / "v2").out
    assert "the first promises more" in shown


def test_diff_refuses_to_rank_unlike_releases_in_words(two, tmp_path):
    other = json.loads((two.folder / "v1" / "certificate.json").read_bytes())
    other["guarantee"]["unit"] = "event"
    (tmp_path / "certificate.json").write_text(json.dumps(other))
    ran = confide("diff", two.folder / "v1", tmp_path)
    assert ran.code == 0
    assert "they cannot be ranked" in ran.out
    assert "unit: patient and event" in ran.out


def test_every_export_is_written_and_only_of_what_verifies(two, tmp_path):
    for form, where in (("deployments-registry", "v2"), ("acro", "v2"), ("methods", "v1")):
        out = tmp_path / form
        assert confide("export", two.folder / where, "--as", form, "--out", out).code == 0
        text = out.read_text("utf-8")
        assert text.startswith("## ") if form == "methods" else json.loads(text)
    ran = confide("export", two.folder / "v1", "--as", "model-card")
    assert ran.code
    assert "no model in this release" in ran.err + ran.out
    copy = tmp_path / "v1"
    shutil.copytree(two.folder / "v1", copy)
    (copy / "tables" / "by_sex.csv").write_text("quantity\n")
    ran = confide("export", copy, "--as", "acro")
    assert ran.code == 6
    assert "does not verify" in ran.err


FORMS = ("deployments-registry", "acro", "methods", "model-card", "noisy")


def lifetime(clinic):
    caps = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    return next(cap["spent"] for cap in caps if cap["cap"] == "lifetime")


def test_a_release_made_of_earlier_ones_is_not_exported_and_nobody_is_sent_to_pay_for_it(tmp_path):
    clinic = make_clinic(tmp_path)
    assert confide("run", clinic.study, "--out", tmp_path / "first", "-q").code == 0
    clinic.study.write_text(clinic.study.read_text().replace("id: first", "id: second"))
    assert confide("run", clinic.study, "--out", tmp_path / "reused", "--reuse", "-q").code == 0
    for form in FORMS:
        refused = confide("export", tmp_path / "reused", "--as", form, "--json")
        assert (refused.code, refused.json["error"]) == (7, "ContractError")
        assert "made of earlier ones" in refused.json["message"]
        assert "Do not run its study without --reuse" in refused.json["hint"]


def test_reuse_is_refused_under_a_rule_that_withholds_noisy_numbers(two):
    ran = confide("run", two.study, "--out", two.folder / "again", "--reuse")
    assert ran.code == 7
    assert "withholds noisy counts" in ran.err
    assert confide("plan", two.study, "--json").json["offers"] == []


def test_withheld_noisy_numbers_are_never_offered_to_a_later_study(two):
    plain = two.study.read_text().replace("small-cells: cms\n", "")
    later = two.folder / "later.yaml"
    later.write_text(plain.replace("id: first", "id: later"))
    offered = confide("plan", later, "--json").json["offers"]
    assert {entry for each in offered for entry in each["entries"]} <= {2}


def test_a_chain_that_is_none_is_refused_in_words(two, tmp_path):
    for text in ("", "{}", "nonsense"):
        (tmp_path / "chain.jsonl").write_text(text)
        ran = confide("verify", two.folder / "v1", "--chain", tmp_path / "chain.jsonl")
        assert ran.code == 6, text


def test_explain_of_a_certificate_says_where_no_organisation_is_named(tmp_path):
    clinic = make_clinic(tmp_path / "clinic")
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    told = " ".join(confide("explain", "certificate", clinic.folder / "out").out.split())
    assert "by whoever holds its key: dataset.yaml names no organisation." in told
    named = make_clinic(tmp_path / "named")
    text = named.dataset.read_text().replace("tables:", "issuer: {organisation: Town}\ntables:", 1)
    named.dataset.write_text(text)
    assert confide("run", named.study, "--out", named.folder / "out").code == 0
    told = " ".join(confide("explain", "certificate", named.folder / "out").out.split())
    assert " by Town on data set clinic" in told
