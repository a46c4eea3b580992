"""Whoever writes caps in ε reads ε: beside every ρ that the ledger shows."""

import pytest

from command_line import confide
from small_clinic import DATASET, make_clinic


@pytest.fixture
def clinic(tmp_path):
    assert "measure: zcdp" in DATASET
    clinic = make_clinic(tmp_path / "clinic")
    assert confide("run", clinic.study, "--out", clinic.folder / "out").code == 0
    return clinic


def test_epsilon_stands_beside_every_rho_of_the_ledger(clinic):
    said = confide("ledger", "show", clinic.dataset, "--json").json
    for cap in said["caps"]:
        known = {name for name in ("limit", "spent", "free") if cap[name] is not None}
        assert set(cap["epsilon"]) == (set() if cap["letter"] == "δ" else known)
    assert all(float(entry["epsilon"]) > 0 for entry in said["entries"])
    shown = confide("ledger", "show", clinic.dataset).out
    assert 0 < shown.count("ρ") <= shown.count("ε")  # a narrow terminal breaks lines between them


@pytest.mark.parametrize("alone", [False, True])
def test_epsilon_stands_beside_every_rho_of_a_plan(clinic, alone):
    clinic.study.write_text(
        clinic.study.read_text().replace("study: {", "study: {period: 2026-01, ")
    )
    if alone:
        (clinic.folder / ".confide" / "ledger.sqlite").chmod(0o644)  # so it is not opened
    said = confide("plan", clinic.study, "--json").json
    assert (said.get("unknown") is not None) == alone
    assert said["epsilon-delta"] == "5 × 10⁻⁷"
    for cap in said["caps"]:
        known = {n for n in ("limit", "spent", "this", "free-after") if cap[n] is not None}
        assert set(cap["epsilon"]) == (set() if cap["letter"] == "δ" else known)
    shown = confide("plan", clinic.study).out
    assert "ε at δ = 5 × 10⁻⁷" in shown
    assert 0 < shown.count("ρ") <= shown.count("ε")


def test_the_epsilon_of_a_limit_is_the_one_of_dataset_yaml(clinic):
    caps = confide("ledger", "show", clinic.dataset, "--json").json["caps"]
    lifetime = next(cap for cap in caps if cap["cap"] == "lifetime")
    assert f"lifetime: {{epsilon: {lifetime['epsilon']['limit']}}}" in clinic.dataset.read_text()


def test_the_delta_of_every_epsilon_is_told(clinic):
    said = confide("ledger", "show", clinic.dataset, "--json").json
    assert said["epsilon-delta"] == "5 × 10⁻⁷"  # half of 10⁻⁶ is kept for the selection of keys
    assert "ε at δ = 5 × 10⁻⁷" in confide("ledger", "show", clinic.dataset).out


def test_a_plan_that_was_published_takes_nothing_more_of_any_cap(clinic):
    said = confide("plan", clinic.study, "--json").json
    assert said["released-as"]
    assert all(float(cap["this"]) == 0 for cap in said["caps"])
    for cap in said["caps"]:
        if cap["limit"] is not None:
            left = float(cap["limit"]) - float(cap["spent"])
            assert float(cap["free-after"]) == pytest.approx(left)
