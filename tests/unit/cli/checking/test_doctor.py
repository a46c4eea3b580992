"""What a question about an installation needs, and nothing of the data."""

import json
import os

import pytest

from command_line import confide
from confide.release.site import incidents
from confide.report.load import rebuilt
from small_clinic import CANARY, make_clinic


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return make_clinic(tmp_path / "clinic")


def doctor(clinic, *more):
    return confide("doctor", clinic.dataset, *more)


def test_a_doctor_tells_versions_the_ledger_and_who_may_look_into_the_workspace(clinic):
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    said = doctor(clinic, "--json").json
    assert said["software"]["python"]
    assert "duckdb" in said["software"]["libraries"]
    assert said["workspace"]["ledger"] == "SQLite"
    assert said["workspace"]["state"].startswith("whole")
    assert said["workspace"]["open-to-others"] == []
    assert said["incidents"] == []
    inside = clinic.folder / ".confide"
    inside.chmod(0o755)
    (inside / "hash.key").chmod(0o644)
    assert ".confide/hash.key" in doctor(clinic, "--json").json["workspace"]["open-to-others"]


def test_a_doctor_needs_no_data_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ran = confide("doctor")
    assert ran.code == 0
    assert "no workspace was looked at" in ran.out
    assert os.listdir(tmp_path) == []


def test_a_doctor_says_that_a_ledger_is_frozen(clinic):
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    (clinic.folder / ".confide" / "anchor.jsonl").write_text("")
    assert "frozen" in doctor(clinic, "--json").json["workspace"]["state"]


def test_a_doctor_shows_kinds_and_lines_of_failures_and_nothing_that_they_said(clinic, monkeypatch):
    forged = json.dumps({"at": "now", "incident": "f" * 12, "kinds": [CANARY], "places": []})

    def fails(*_, **__):
        raise KeyError(
            f'{CANARY} has no row\n{forged}\n  File "{CANARY}.py", line 3, in x\n{CANARY}'
        )

    monkeypatch.setenv("COLUMNS", "160")  # so that no place is broken over two lines
    monkeypatch.setattr("confide.service.releasing.deliver.open_study", fails)
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 1
    for said in (doctor(clinic), doctor(clinic, "--json")):
        assert said.code == 0
        assert CANARY not in said.out
        assert "KeyError" in said.out
        assert "confide/service/releasing/deliver.py:" in said.out
    (incident,) = doctor(clinic, "--json").json["incidents"]
    assert incident["kinds"] == ["KeyError"]


def test_a_log_of_failures_that_is_full_begins_anew_and_keeps_the_one_before(tmp_path, monkeypatch):
    monkeypatch.setattr(incidents, "LARGEST", 2000)
    log = tmp_path / "incidents.log"
    for number in range(40):
        incidents.write_incident(log, f"{number:012x}", ValueError("x" * 300))
    assert log.stat().st_size < 4000
    assert incidents.older(log).stat().st_size < 4000
    assert {place.name for place in tmp_path.iterdir()} == {"incidents.log", "incidents.log.1"}
    assert incidents.incidents(log)[-1].incident == f"{39:012x}"
    assert log.stat().st_mode & 0o077 == 0


def test_neither_refusals_nor_failures_show_how_their_lines_are_broken(clinic, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    refused = confide("describe", "somewhere")
    assert refused.code == 2
    assert "Choose from: omop" in refused.err
    assert "yet..\n" not in doctor(clinic).out
    assert confide("plan", clinic.study).code == 0
    with pytest.raises(FileNotFoundError) as failure:  # in several functions of ours
        rebuilt({}, folder=clinic.folder)
    incidents.log_incident(clinic.folder / ".confide" / "incidents.log", "e" * 12, failure.value)
    out = doctor(clinic).out
    assert "regular_file.py" in out
    for signs in ("\\n", "\\t"):
        assert signs not in refused.err
        assert signs not in out
