"""Preparing, as a command: for the steward, at no charge, and the same numbers afterwards."""

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
    assert "would make this much cheaper" in before["reading"][0]
    assert after["reading"][0] == "Reads prepared copies."
    assert after["digest"] == before["digest"]


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
