"""In a calendar year that nobody opened a plan says what a run would be refused for."""

import datetime as dt

from command_line import confide
from confide.budget.chain.ledger_time import SystemClock
from small_clinic import make_clinic


def test_a_plan_says_that_the_year_is_not_open(tmp_path, monkeypatch):
    clinic = make_clinic(tmp_path / "clinic")
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    clinic.study.write_text(clinic.study.read_text().replace("within: 30", "within: 60"))
    assert confide("plan", clinic.study, "--json").json["approval"]["admitted"]
    later = dt.datetime.now(dt.UTC) + dt.timedelta(days=366)
    monkeypatch.setattr(SystemClock, "now", lambda _: later)
    planned = confide("plan", clinic.study, "--json").json["approval"]
    refused = confide("run", clinic.study, "--out", clinic.folder / "next", "--json")
    assert refused.code == 3
    assert planned["message"] == refused.json["message"]
    assert planned["hint"] == refused.json["hint"]
    assert f"open-year {later.year}" in planned["hint"]
    assert "Not yet" in confide("plan", clinic.study).out
