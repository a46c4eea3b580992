"""A measure that lost rows had set holds after the documented recoveries, at the command line."""

import shutil

import pytest

from recovery_world import World, ran
from small_clinic import DATASET, make_clinic
from unit.cli.request.test_officers import make

PURE = ("measure: zcdp, delta: 1e-6", "measure: pure")
CHANGED = "it goes on under unit patient, adjacency add-remove, measure zcdp"


def put_back(folder):
    (folder / ".confide" / "ledger.sqlite").unlink()
    shutil.copy2(folder / "early", folder / ".confide" / "ledger.sqlite")


def restored(folder):
    (folder / ".confide" / "ledger.sqlite").unlink()
    ran("ledger", "restore", folder / "backup", folder / "dataset.yaml", "--quiet")


def kept(folder):
    """Copy the ledger, raw and as a backup."""
    ran("ledger", "backup", folder / "backup", folder / "dataset.yaml", "--quiet")
    shutil.copy2(folder / ".confide" / "ledger.sqlite", folder / "early")


@pytest.mark.parametrize("recovery", [put_back, restored])
def test_what_lost_rows_spent_under_another_measure_counts_under_it(tmp_path, recovery):
    """ε of 4 for life, of which 0.9 are spent as ρ after the copy was taken."""
    dataset = DATASET.replace("lifetime: {epsilon: 10}", "lifetime: {epsilon: 4}")
    clinic = make_clinic(tmp_path, dataset=dataset.replace(*PURE))
    world = World(kind="sqlite", folder=tmp_path)
    ran("plan", clinic.study, "--quiet")
    kept(tmp_path)
    clinic.dataset.write_text(dataset)
    ran("run", clinic.study, "--out", tmp_path / "out", "--quiet")
    before = ran("ledger", "show", clinic.dataset, "--json").json["caps"]
    recovery(tmp_path)
    assert CHANGED in ran("ledger", "verify", clinic.dataset, code=6).err
    world.unfreeze()
    assert ran("ledger", "show", clinic.dataset, "--json").json["caps"] == before
    clinic.dataset.write_text(dataset.replace(*PURE))
    again = ("run", clinic.study, "--request", "two", "--out", tmp_path / "two")
    assert "Plan with measure: zcdp" in ran(*again, code=3).err
    clinic.dataset.write_text(dataset)
    ran(*again, "--quiet")
    ran("ledger", "verify", clinic.dataset)


def test_a_policy_of_a_measure_that_lost_rows_set_is_adopted_again(tmp_path):
    clinic = make("sqlite", tmp_path / "clinic")
    dataset, policy = clinic.dataset.read_text(), clinic.folder / "policy.yaml"
    text = policy.read_text()
    assert "measure: zcdp" in text
    caps = "caps: {lifetime: {epsilon: 4}}"
    clinic.dataset.write_text(dataset.replace(*PURE).replace("policy: policy.yaml", caps))
    ran("plan", clinic.study, "--quiet")
    kept(clinic.folder)
    clinic.dataset.write_text(dataset)
    ran("run", clinic.study, "--out", tmp_path / "out", "--quiet")
    restored(clinic.folder)
    words = ("--reason", "disk lost", "--officer", clinic.keys["cy"])
    ran("ledger", "unfreeze", clinic.dataset, *words)
    ran("ledger", "adopt", clinic.dataset, "--reason", "again")
    ran("run", clinic.study, "--request", "two", "--out", tmp_path / "two", "--quiet")
    ran("ledger", "verify", clinic.dataset)
