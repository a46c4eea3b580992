"""Consent is withdrawn while dataset.yaml and policy.yaml say what is not in force yet."""

import pytest

from command_line import confide
from patients_world import write_hospital
from unit.cli.ledger.test_words_of_amounts import charged, edit, place_of

STUDY = """\
study: {id: s}
statistics: [{id: n, kind: count, table: people}]
spend: {at-most: {epsilon: "30"}}
"""


def counted(folder, *, key):
    """Return how many people a release counts, with noise of 1/30."""
    ran = confide("run", folder / "s.yaml", "--out", folder / key, "--request", key, "--again")
    assert ran.code == 0, ran.err
    cells = (folder / key / "tables" / "n.csv").read_text().splitlines()
    return round(float(cells[1].split(",")[cells[0].split(",").index("value")]))


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_consent_is_withdrawn_while_the_next_version_of_a_policy_waits(database, tmp_path):
    dataset = write_hospital(tmp_path, cap='epsilon: "90"')
    dataset.write_text(f"{dataset.read_text()}\n{place_of(database, tmp_path)}\n")
    (tmp_path / "s.yaml").write_text(STUDY)
    assert counted(tmp_path, key="one") == 40
    edit(tmp_path / "policy.yaml", "version: 1", "version: 2")
    assert confide("plan", tmp_path / "s.yaml").code == 3
    out = confide("patients", "forget", dataset, typed="12\n")
    assert out.code == 0, out.err
    assert confide("patients", "verify", dataset).code == 0
    assert confide("plan", tmp_path / "s.yaml").code == 3, "nothing else came into force by it"
    edit(tmp_path / "policy.yaml", "version: 2", "version: 1")
    assert counted(tmp_path, key="two") == 39


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_consent_is_withdrawn_while_caps_wait_to_be_amended(database, tmp_path):
    dataset = charged(tmp_path, database=database)
    before = confide("ledger", "show", dataset, "--json").json["caps"]
    edit(dataset, "lifetime: {epsilon: 4}", "lifetime: {epsilon: 9}")
    assert confide("plan", tmp_path / "s.yaml").code == 3
    assert confide("patients", "forget", dataset, typed="12\n").code == 0
    assert confide("ledger", "show", dataset, "--json").json["caps"] == before


def test_consent_is_withdrawn_before_there_is_a_ledger(tmp_path):
    dataset = write_hospital(tmp_path)
    assert confide("patients", "forget", dataset, typed="12\n").code == 0
    assert "version 1" in confide("ledger", "show", dataset).out


def test_ids_are_those_of_patients_also_then(tmp_path):
    dataset = charged(tmp_path)
    edit(dataset, "unit: patient", "unit: event")
    told = confide("patients", "forget", dataset, typed="12\n")
    assert (told.code, "Expected unit" in told.err) == (3, True)
