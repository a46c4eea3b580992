"""``bins: charged``: edges that are found by a charged part of the job, and are as good as any."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv

import confide as product
from command_line import confide
from confide.jobs.kinds import read_spec
from confide.jobs.synthesis.finding.charged_bins import (
    edges_of_one_width,
    edges_read,
    quantile_edges,
)
from confide.plans.canonical import encode
from confide.release.verify.verify_job import answer_in
from confide.service.synthesis.combining import synthetic_in
from pages import ROOT
from synth_clinic import clinic
from synthesis_world import job, people

ASKED = {"columns": {"age": {"bins": "charged"}, "sex": {}, "stage": {}, "died": {}}}


@pytest.mark.parametrize("measure", ["pure", "zcdp", "mixed"])
def test_bins_are_found_within_the_charge_that_was_planned(tmp_path, measure):
    file = clinic(tmp_path, measure=measure, lifetime="2", spend={"epsilon": "2"}, **ASKED)
    planned = confide("synth", "plan", file, "--json").json
    assert planned["noise"][0]["name"] == "bins"
    assert planned["columns"][0]["read"] == "at most 10 bins, which are found"
    made = confide("synth", "run", file, "--out", tmp_path / "out", "--json")
    assert (made.code, made.json["charged"], made.json["verifies"]) == (0, True, True)
    assert made.json["loss"] == planned["loss"]
    assert float(made.json["loss"]["epsilon"]) <= 2
    assert confide("verify", tmp_path / "out", "--ledger", tmp_path / "dataset.yaml").code == 0


def test_bins_lie_where_the_rows_are_and_analyses_read_them(tmp_path):
    file = clinic(
        tmp_path, lifetime="40", spend={"epsilon": "20"}, together=[["age", "died"]], **ASKED
    )
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    data = synthetic_in(tmp_path / "out")
    edges = edges_read(data.spec.reads.reads[0])
    age = people()["age"]
    held = np.histogram(age, bins=edges)[0] / age.size
    assert 7 <= len(edges) - 1 <= 10
    assert held.max() < 0.2  # of ten bins of one width between 0 and 100, two would be empty
    assert edges[1] >= 20
    table = csv.read_csv(tmp_path / "out" / "synthetic.csv")
    assert np.mean(table["age"].to_numpy()) == pytest.approx(age.mean(), abs=2)
    found = product.combine(tmp_path / "out", product.MeanIn(column="age"), tables=5)[0]
    assert found.value == pytest.approx(age.mean(), abs=2)
    assert "age" in (tmp_path / "out" / "report.html").read_text()


def test_criteria_are_checked_in_the_bins_that_were_released(tmp_path):
    accept = {
        "share": "1/4",
        "pairs": "0.3",
        "associations": [{"of": ["age", "stage"], "within": "0.4"}],
        "predictions": [{"outcome": "died", "level": "yes", "at-least": "0.55"}],
    }
    file = clinic(tmp_path, lifetime="40", spend={"epsilon": "20"}, accept=accept, **ASKED)
    assert len(confide("synth", "plan", file, "--json").json["check"]["noise"]) == 3
    assert confide("synth", "run", file, "--out", tmp_path / "out").code == 0
    told = confide("synth", "evaluate", file, "--out", tmp_path / "verdict", "--json")
    assert (told.code, told.json["charged"]) == (0, True)
    assert [each["verdict"] for each in told.json["criteria"]] == ["met"] * 3
    found = edges_read(synthetic_in(tmp_path / "out").spec.reads.reads[0])
    plan = answer_in(tmp_path / "verdict").plan
    check = read_spec(plan.kind, plan.spec)
    assert edges_read(check.synthesis.reads.reads[0]) == found
    ledger = ("--ledger", tmp_path / "dataset.yaml")
    assert confide("verify", tmp_path / "verdict", *ledger).code == 0


@pytest.mark.parametrize("at", ["bins1", "one-ways1"])
def test_one_that_was_killed_while_bins_are_found_goes_on_at_no_charge(tmp_path, at):
    file = clinic(tmp_path, lifetime="1", tables="2", **ASKED)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    words = [sys.executable, Path(__file__).parent / "synth_worker.py", tmp_path, at]
    died = subprocess.run([*words, tmp_path / "out"], env=environment, check=False)
    assert died.returncode == -signal.SIGKILL
    seen = confide("synth", "plan", file, "--json").json
    assert (seen["begun"], seen["released"], seen["fits"]) == (True, False, True)
    for out in ("out", "again", "out"):
        assert confide("synth", "run", file, "--out", tmp_path / out).code == 0
    one, other = (tmp_path / each / "marginals.json" for each in ("out", "again"))
    assert one.read_bytes() == other.read_bytes()
    assert len(json.loads(one.read_text())["bins"]) == 1


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"columns": {"age": {}, "sex": {"bins": "charged"}}}, "no bins to find"),
        ({"columns": ASKED["columns"], "bins-share": "1"}, "bins-share"),
        (
            {
                "columns": {"age": {"bins": "charged"}, "old": {"of": "age"}, "sex": {}},
                "order": [["age", "old"]],
            },
            "whose levels are not known yet",
        ),
        (
            {"columns": ASKED["columns"], "accept": {"never": [{"age": {"to": "30"}, "sex": "F"}]}},
            "'age', whose levels are not known yet",
        ),
        (
            {
                "columns": ASKED["columns"],
                "accept": {
                    "share": "1/4",
                    "associations": [
                        {"of": ["age", "died"], "measure": "odds-ratio", "levels": ["3", "yes"]}
                        | {"within": "1"}
                    ],
                },
            },
            "'age', whose levels are not known yet",
        ),
    ],
)
def test_bins_that_cannot_be_found_are_refused_before_the_charge(tmp_path, asked, told):
    found = confide("synth", "plan", clinic(tmp_path, **asked))
    assert found.code == 7
    assert told in found.err


def test_a_job_of_known_bins_is_written_as_it_was():
    assert not {"charged", "bins_share", "kinds"} & set(encode(job()))
    assert {"charged", "bins_share"} < set(encode(job(found=5)))


def test_edges_are_of_the_grid_and_part_it_whatever_the_counts():
    grid, rng = tuple(range(0, 330, 10)), np.random.default_rng(1)
    for _ in range(200):
        bins = int(rng.integers(2, 12))
        noisy = rng.integers(-50, rng.choice([1, 60, 900]), 32).astype(float)
        for edges in (
            quantile_edges(noisy, grid=grid, bins=bins),
            edges_of_one_width(grid, bins=bins),
        ):
            assert (edges[0], edges[-1]) == (0, 320)
            assert set(edges) <= set(grid)
            assert 2 <= len(edges) - 1 <= bins
            assert list(edges) == sorted(set(edges))
