"""`confide plan` where the ledger cannot be opened: it says what follows, and what is not known."""

import json

import pytest

from command_line import confide
from real_command import run
from small_clinic import make_clinic


def planned(study, *, cwd):
    """Plan without the powers of root, which read and write whatever the modes say."""
    return run("plan", study, "--json", cwd=cwd, powerless=True)


def require_plan_alone(ran, *, why):
    assert ran.code == 0, ran.told
    body = json.loads(ran.out)
    assert why in body["unknown"]
    assert "Not known: what is left of each cap" in ran.told
    assert {(cap["spent"], cap["free-after"], cap["fits"]) for cap in body["caps"]} == {
        (None, None, None)
    }
    assert [body[name] for name in ("fits", "released-as", "approval")] == [None, None, None]
    return body


@pytest.fixture
def clinic(tmp_path):
    at = make_clinic(tmp_path / "clinic")
    yield at
    at.folder.chmod(0o700)
    if (at.folder / ".confide").exists():
        (at.folder / ".confide").chmod(0o700)


def test_a_read_only_folder_is_planned_without_a_ledger_and_nothing_is_made(clinic, tmp_path):
    clinic.folder.chmod(0o555)
    before = sorted(clinic.folder.rglob("*"))
    body = require_plan_alone(planned(clinic.study, cwd=tmp_path), why="the folder is read-only")
    assert sorted(clinic.folder.rglob("*")) == before
    clinic.folder.chmod(0o700)
    whole = confide("plan", clinic.study, "--json").json
    same = ("digest", "loss", "measurements", "statistics")
    assert [body[name] for name in same] == [whole[name] for name in same]
    limits = [(cap["limit"], cap["this"]) for cap in body["caps"]]
    assert set(limits) <= {(cap["limit"], cap["this"]) for cap in whole["caps"]}


def test_a_workspace_that_may_not_be_written_is_planned_without_its_ledger(clinic, tmp_path):
    assert confide("plan", clinic.study, "--quiet").code == 0
    (clinic.folder / ".confide").chmod(0o500)
    require_plan_alone(
        planned(clinic.study, cwd=tmp_path), why=".confide cannot be read and written by you"
    )


@pytest.mark.parametrize("name", ["hash.key", "signing.key", "ledger.sqlite"])
def test_a_volume_whose_files_others_may_read_is_planned_without_them(clinic, name, tmp_path):
    assert confide("plan", clinic.study, "--quiet").code == 0
    (clinic.folder / ".confide" / name).chmod(0o640)
    require_plan_alone(planned(clinic.study, cwd=tmp_path), why=f"{name} is open to others")
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 7


def test_a_plan_that_no_cap_allows_is_told_so_without_a_ledger(clinic, tmp_path):
    text = clinic.study.read_text().replace("{within: 20}", "{within: 1}")
    clinic.study.write_text(text)
    clinic.folder.chmod(0o555)
    ran = planned(clinic.study, cwd=tmp_path)
    assert ran.code == 5, ran.told
    assert "a cap would be passed" in ran.told


def test_the_table_says_not_known_where_it_is_not(clinic):
    clinic.folder.chmod(0o700)
    assert confide("plan", clinic.study, "--quiet").code == 0
    (clinic.folder / ".confide" / "hash.key").chmod(0o640)
    ran = confide("plan", clinic.study)
    assert ran.code == 0, ran.err
    assert "not known" in ran.out
    assert "diabetes" in ran.out
