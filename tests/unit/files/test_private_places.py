"""Public numbers never come from the data, the ledger or a key, under whatever name."""

import os
import shutil

import pytest

from command_line import confide
from confide.files.public.private_places import PrivatePlaces
from small_clinic import DATASET, make_clinic

STUDY = """\
study: {{id: adjusted, purpose: test}}
statistics:
  - {{id: adjusted, kind: standardized-rate, table: patients, by: [sex], strata: [age_band],
     events: {{diabetes: [yes]}}, population: {{file: {file!r}}}}}
"""
DATA = "data/patients.csv"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("private") / "clinic"
    clinic = make_clinic(folder, dataset=DATASET.replace("path: .", "path: data"))
    (folder / "data").mkdir()
    for name in ("patients.csv", "visits.csv"):
        (folder / name).rename(folder / "data" / name)
    (folder / "data" / "undeclared.csv").write_text("a,1\n")
    assert confide("plan", clinic.study).code == 0
    (folder / ".confide" / "copy.csv").write_text("a,1\n")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "clinic")
    return tmp_path / "clinic"


def _straight(folder):
    return DATA


def _round_about(folder):
    return "data/../data/./patients.csv"


def _absolute(folder):
    return str(folder / DATA)


def _hard(folder):
    os.link(folder / DATA, folder / "population.csv")
    return "population.csv"


def _soft(folder):
    (folder / "population.csv").symlink_to(DATA)
    return "population.csv"


def _linked_folder(folder):
    (folder / "public").symlink_to("data")
    return "public/patients.csv"


def _root(folder):
    return f"/proc/self/root{folder / DATA}"


def _undeclared(folder):
    return "data/undeclared.csv"


def _linked_undeclared(folder):
    os.link(folder / "data" / "undeclared.csv", folder / "population.csv")
    return "population.csv"


def _ledger(folder):
    return ".confide/ledger.sqlite"


def _key(folder):
    os.link(folder / ".confide" / "hash.key", folder / "population.csv")
    return "population.csv"


def _copy(folder):
    return ".confide/copy.csv"


WAYS = (
    _straight, _round_about, _absolute, _hard, _soft, _linked_folder, _root, _undeclared,
    _linked_undeclared, _ledger, _key, _copy,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_a_study_takes_no_public_number_from_what_is_private(way, folder):
    study = folder / "study.yaml"
    study.write_text(STUDY.format(file=way(folder)))
    done = confide("plan", study)
    assert done.code == 7
    assert "it is not public" in done.err
    assert "zq7canary" not in done.err


@pytest.mark.parametrize("name", ["person", "PERSON", "Person"])
@pytest.mark.parametrize("kept", ["{}/part-0.csv", "{}.csv", "{}.2026.CSV", "{}.csv.gz"])
def test_tables_of_omop_are_private_in_whatever_case_they_are_written(name, kept, tmp_path):
    file = tmp_path / kept.format(name)
    file.parent.mkdir(exist_ok=True)
    file.write_text("person_id,zq7canary\n1,2\n")
    (tmp_path / "dataset.yaml").write_text(
        DATASET.replace("kind: csv", 'kind: omop, version: "5.4"').replace("patients.csv", "person")
    )
    (tmp_path / "study.yaml").write_text(STUDY.format(file=kept.format(name)))
    done = confide("plan", tmp_path / "study.yaml")
    assert done.code == 7
    assert "it is not public" in done.err
    assert "zq7canary" not in done.err


def test_a_data_set_takes_no_categories_from_its_own_rows(folder):
    text = (folder / "dataset.yaml").read_text()
    of = "{file: data/patients.csv, column: sex}"
    (folder / "dataset.yaml").write_text(text.replace("{1: male, 2: female}", of))
    done = confide("plan", folder / "study.yaml")
    assert done.code == 7
    assert "it is not public" in done.err


def test_a_public_file_beside_the_data_is_read(folder):
    lines = [f"{s},{b},10" for s in ("male", "female") for b in ("0–39", "40–59", "60–99")]
    (folder / "population.csv").write_text("\n".join(lines) + "\n")
    (folder / "study.yaml").write_text(STUDY.format(file="population.csv"))
    assert "not public" not in confide("plan", folder / "study.yaml").err


@pytest.mark.mutant
@pytest.mark.parametrize("blind", ["folders", "files"])
def test_a_comparison_by_path_alone_or_by_inode_alone_is_seen(blind, folder, monkeypatch):
    seeing = PrivatePlaces.refuse

    def half(self, file, *, path):
        empty = {"folders": ()} if blind == "folders" else {"files": frozenset()}
        kept = {"folders": self.folders, "files": self.files} | empty
        seeing(PrivatePlaces(**kept), file, path=path)

    monkeypatch.setattr(PrivatePlaces, "refuse", half)
    if blind == "folders":  # both see a file that lies in the folder; without the walk, one does
        monkeypatch.setattr("confide.files.public.private_places._beneath", lambda _: iter(()))
    way = _undeclared if blind == "folders" else _hard
    (folder / "study.yaml").write_text(STUDY.format(file=way(folder)))
    assert "it is not public" not in confide("plan", folder / "study.yaml").err


@pytest.mark.mutant
def test_a_folder_of_rows_that_is_only_compared_by_its_own_name_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("confide.files.public.private_places.table_files", lambda *_, **__: ())
    monkeypatch.setattr("confide.files.public.private_places._called", lambda *_, **__: False)
    with pytest.raises(AssertionError):
        test_tables_of_omop_are_private_in_whatever_case_they_are_written(
            "PERSON", "{}/part-0.csv", tmp_path
        )
