"""``method: aim``: pairs that are chosen in rounds, within the charge that was planned."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import confide as product
from command_line import confide
from confide.jobs.synthesis.adaptive import _candidates
from confide.jobs.synthesis.measured import MEASURED, read_measured
from confide.plans.canonical import encode
from pages import ROOT
from seeded import SeededEntropy
from synth_clinic import clinic
from synthesis_world import dataset, job, levels, measured, people, records


def ring(n=3000):
    """Five columns of which three depend on one another, as no tree explains."""
    rng = np.random.default_rng(4)
    sex = rng.integers(0, 2, n)
    died = np.where(rng.random(n) < 0.8, sex, 1 - sex)
    ward = np.where(rng.random(n) < 0.5, sex, died)
    stage, age = rng.integers(0, 4, n), rng.integers(20, 95, n)
    return {"age": age, "sex": sex, "stage": stage, "ward": ward, "died": died}


@pytest.mark.parametrize("measure", ["pure", "zcdp", "mixed"])
def test_rounds_cost_what_was_planned_and_verify(tmp_path, measure):
    file = clinic(tmp_path, measure=measure, lifetime="2", method="aim", spend={"epsilon": "2"})
    planned = confide("synth", "plan", file, "--json").json
    assert planned["pairs"] == 6
    made = confide("synth", "run", file, "--out", tmp_path / "out", "--json")
    assert (made.code, made.json["charged"], made.json["verifies"]) == (0, True, True)
    assert made.json["loss"] == planned["loss"]
    assert float(made.json["loss"]["epsilon"]) <= 2
    assert confide("verify", tmp_path / "out", "--ledger", tmp_path / "dataset.yaml").code == 0
    told = {each["name"]: each for each in planned["noise"]}
    out = json.loads((tmp_path / "out" / "marginals.json").read_text())
    assert told["tables"]["uses"] == 6 >= len(out["tables"]) == len(out["chosen"]) > 0
    deviation = float(out["variance_of_a_cell"]["tables"]) ** 0.5
    stated = told["tables"]["mechanism"].rpartition(" ")[2]
    assert float(stated) == pytest.approx(deviation, rel=0.01)
    share = product.combine(tmp_path / "out", product.ShareIn(column="died", value="yes"), tables=5)
    assert 0 < share[0].lower < share[0].upper < 1


def test_pairs_that_no_tree_explains_are_measured_too():
    rows = levels(ring())
    found = {}
    for adaptive in (0, 6):
        spec = job(adaptive=adaptive, rho=10)
        files = measured(spec, dataset(), records(spec, rows), entropy=SeededEntropy(5))
        known = read_measured(files[MEASURED], spec=spec, adjacency=dataset().adjacency)
        found[adaptive] = {each.variables for each in known.tables}
    sides = {(1, 3), (1, 4), (3, 4)}  # of sex, ward and death
    assert len(found[0] & sides) == 2
    assert sides <= found[6]


def test_a_pair_that_makes_the_model_too_wide_is_no_candidate():
    spec = job(adaptive=3, rho=10)
    runner_rows = records(spec, levels(people()))
    files = measured(spec, dataset(), runner_rows, entropy=SeededEntropy(5))
    known = read_measured(files[MEASURED], spec=spec, adjacency=dataset().adjacency)
    wide = _candidates(known, room=10**6)
    room = max(tree.cells for tree in wide.values()) - 1
    narrow = _candidates(known, room=room)
    assert set(narrow) < set(wide)
    assert not set(wide) & {each.variables for each in known.tables}
    assert all(tree.cells <= room for tree in narrow.values())


def test_one_that_was_killed_in_its_rounds_goes_on_at_no_charge(tmp_path):
    file = clinic(tmp_path, lifetime="1", tables="2", method="aim")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    words = [sys.executable, Path(__file__).parent / "synth_worker.py", tmp_path, "rounds1"]
    died = subprocess.run([*words, tmp_path / "out"], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    for out in ("out", "again"):
        assert confide("synth", "run", file, "--out", tmp_path / out).code == 0
    one, other = (tmp_path / each / "marginals.json" for each in ("out", "again"))
    assert one.read_bytes() == other.read_bytes()


def test_a_target_beside_aim_is_refused(tmp_path):
    found = confide("synth", "plan", clinic(tmp_path, method="aim", target="died"))
    assert found.code == 7
    assert "no target beside it" in found.err


def test_a_tree_is_written_as_it_was():
    assert "adaptive" not in encode(job())
    assert encode(job(adaptive=2))["adaptive"] == 2
