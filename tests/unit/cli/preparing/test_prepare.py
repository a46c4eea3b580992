"""Preparing, as a command: for the steward, at no charge, and the same numbers afterwards."""

import os

import pytest

from command_line import confide
from small_clinic import make_clinic


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    return make_clinic(tmp_path_factory.mktemp("prepared"))


def test_prepare_says_disk_stages_and_facts_and_whom_they_are_for(clinic):
    before = confide("plan", clinic.study, "--json").json
    ran = confide("prepare", clinic.folder / "dataset.yaml")
    assert ran.code == 0
    assert "MB of disk" in ran.err
    assert "cluster patients" in ran.err
    assert "no release" in ran.err
    assert "For the steward alone" in ran.out
    again = confide("prepare", clinic.folder / "dataset.yaml", "--json")
    assert again.json["tables"][0]["patients"] > 0
    assert "cluster" not in again.err
    after = confide("plan", clinic.study, "--json").json
    assert "would make this much faster" in before["reading"][0]
    assert after["reading"][0] == "Reads prepared copies."
    assert after["digest"] == before["digest"]


def test_nothing_in_the_workspace_folder_is_for_others_whatever_the_mask(tmp_path):
    before = os.umask(0)
    try:
        clinic = make_clinic(tmp_path)
        assert confide("prepare", clinic.folder / "dataset.yaml").code == 0
        assert confide("run", clinic.study, "--out", tmp_path / "out").code == 0
    finally:
        os.umask(before)
    folder = clinic.folder
    inside = folder / ".confide"
    places = [inside, *inside.rglob("*")]
    shown = [f"{path.relative_to(folder)}" for path in places if path.stat().st_mode & 0o077]
    assert any(path.name == "manifest.json" for path in places)
    assert shown == []


def test_check_proves_that_copies_and_source_agree(clinic):
    confide("prepare", clinic.folder / "dataset.yaml", "--quiet")
    ran = confide("prepare", clinic.folder / "dataset.yaml", "--check", "--json")
    assert ran.code == 0
    assert ran.json["same"] is True


def test_check_without_copies_names_the_fix(tmp_path):
    make_clinic(tmp_path)
    ran = confide("prepare", tmp_path / "dataset.yaml", "--check")
    assert ran.code == 7
    assert "confide prepare" in ran.err


@pytest.mark.parametrize("how", ["in place", "in its place"])
def test_copies_of_a_file_that_was_written_again_with_equal_size_and_time_are_not_used(
    tmp_path, how
):
    """The visits of another patient, as long to the byte, under the time of before."""
    clinic = make_clinic(tmp_path)
    confide("prepare", clinic.dataset, "--quiet")
    assert confide("plan", clinic.study, "--json").json["reading"][0] == "Reads prepared copies."
    path = clinic.folder / "visits.csv"
    before = path.stat()
    other = path.read_bytes().replace(b"canary3,", b"canary7,")
    if how == "in place":
        path.write_bytes(other)
    else:
        new = path.with_suffix(".new")
        new.write_bytes(other)
        new.replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert "out of date" in confide("plan", clinic.study, "--json").json["reading"][0]
    assert confide("prepare", clinic.dataset, "--check").code == 7
    confide("prepare", clinic.dataset, "--quiet")
    assert confide("plan", clinic.study, "--json").json["reading"][0] == "Reads prepared copies."
    assert confide("prepare", clinic.dataset, "--check", "--json").json["same"] is True


def test_a_data_set_that_protects_hospitals_has_nothing_to_prepare(tmp_path):
    (tmp_path / "r.csv").write_text("pid,hosp,dx\n1,1,a\n2,1,b\n")
    (tmp_path / "dataset.yaml").write_text(
        'dataset: {id: h, lineage: h, snapshot: "1"}\n'
        "source: {kind: csv, path: .}\n"
        "protects: {unit: hospital, id: hosp, adjacency: add-remove}\n"
        "accounting: {measure: pure}\n"
        "caps: {lifetime: {epsilon: 9}}\n"
        "tables: {r: {from: r.csv, columns: {dx: {categories: [a, b]}}}}\n"
    )
    ran = confide("prepare", tmp_path / "dataset.yaml")
    assert ran.code == 7
    assert "nothing to prepare" in ran.err


def test_a_declared_table_that_the_source_lacks_is_told_when_it_is_prepared_and_checked(tmp_path):
    clinic = make_clinic(tmp_path)
    text = clinic.dataset.read_text("utf-8")
    clinic.dataset.write_text(text.replace("from: visits.csv", "from: stays.csv"), "utf-8")
    for words in ((), ("--check",)):
        ran = confide("prepare", clinic.dataset, *words)
        assert ran.code == 0, ran.err
        assert "No study can read a declared table." in ran.err
        assert "stays.csv" in ran.err
        assert list(confide("prepare", clinic.dataset, *words, "--json").json["unread"]) == [
            "visits"
        ]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_prepare_of_files_that_are_not_there_names_them_and_no_tables_in_memory(tmp_path, kind):
    (tmp_path / "data").mkdir()
    (tmp_path / "dataset.yaml").write_text(
        f"""\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {{kind: {kind}, path: data}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 1}}}}
tables:
  visits: {{from: visits.{kind}, columns: {{x: {{kind: number, lower: 0, upper: 1}}}}}}
"""
    )
    ran = confide("prepare", tmp_path / "dataset.yaml")
    assert ran.code == 7
    assert f"'visits.{kind}'" in ran.err
    assert "memory" not in ran.err
