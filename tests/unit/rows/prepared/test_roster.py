"""Who is who where persons are numbered by prepared copies."""

import shutil

from confide.workspace import open_workspace, preparation
from patients_world import write_hospital

PATIENTS = range(10)


def paid(dataset, number):
    """Release counts of visits by ward; what each patient paid for that release, in 1e-15."""
    asked = {"kind": "histogram", "id": f"h{number}", "table": "visits", "by": ["ward"]}
    with open_workspace(dataset) as workspace:
        workspace.release(workspace.plan({**asked, "per-patient": {"cells": 4}}, epsilon="0.4"))
        last = []
        for patient in PATIENTS:
            known = workspace.engine().identity(str(patient))
            told = workspace.patients().statement(workspace.ledger, identity=known)
            last.append(told[-1][1])
        return last


def test_copies_that_are_prepared_anew_charge_the_same_patients(tmp_path):
    write_hospital(tmp_path, patients=10, without=(0, 1))
    dataset = tmp_path / "dataset.yaml"
    preparation(dataset).prepare()  # numbers 2 to 9; of the next snapshot 0 and 1 come last
    write_hospital(tmp_path, patients=10, snapshot="2")
    preparation(dataset).prepare()
    visits = [i % 5 * 10**14 for i in PATIENTS]  # four cells at ε = 0.4
    assert paid(dataset, 1) == visits
    shutil.rmtree(tmp_path / ".confide" / "prepared")
    preparation(dataset).prepare()  # of the same files, so of the same generation
    assert paid(dataset, 2) == visits
