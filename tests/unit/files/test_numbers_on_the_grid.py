"""A number that a file gives in the unit of a column is on the column's grid, or refused for free.

Noise at these ε is 0 but once in more than 10⁸ times, so published numbers are exact ones.
"""

import pytest

import confide
from confide.errors import ContractError

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 650}}}}
tables:
  p:
    from: p.csv
    rows-per-patient: 1
    columns:
      crea: {{kind: number, lower: 0, upper: 20{step}}}
      years: {{kind: number, lower: 0, upper: 3, unit: a{time_step}}}
      dead: {{categories: {{0: alive, 1: dead}}}}
per-patient:
  n: {{count: p, at-most: 5}}
{derived}
"""
CREA = (0.7, 1.1, 1.2, 1.3, 1.9, 2.0, 5.0)
COUNT = {"id": "n", "kind": "count", "table": "p"}
KM = {"id": "km", "kind": "survival", "time": "years", "status": "dead", "censored": "alive"}
HAZARD = {"id": "h", "kind": "hazard-regression", "time": "years", "of": {"dead": ["dead"]}}
INCIDENCE = {"id": "i", "kind": "incidence", "time": "years", "of": {"dead": ["dead"]}, "per": 100}


def opened(folder, *, step="", time_step="", derived=""):
    rows = [f"{i},{x},{i % 30 / 10},{i % 2}" for i, x in enumerate(CREA * 100)]
    (folder / "p.csv").write_text("\n".join(["pid,crea,years,dead", *rows]) + "\n")
    text = DATASET.format(step=step, time_step=time_step, derived=derived)
    (folder / "dataset.yaml").write_text(text)
    return confide.open(folder / "dataset.yaml")


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (COUNT | {"where": {"crea": {"from": "1.2"}}}, "crea: 1.2 .* steps of 1. .*step: 0.1 "),
        (COUNT | {"where": {"crea": {"to": "1.25"}}}, "crea: 1.25 .*step: 0.01 "),
        (COUNT | {"where": {"crea": ["1.2"]}}, "crea: 1.2 .*step: 0.1 "),
        (COUNT | {"where": {"crea": {"from": "4/3"}}}, "crea: 4/3 .*step: 1/3 "),
        (COUNT | {"where": {"not": {"crea": {"from": "1.2"}}}}, "crea: 1.2 .*step: 0.1 "),
        (COUNT | {"where": {"n": {"from": "0.5"}}}, "n: 0.5 .*or a number on the grid"),
        ({"id": "q", "kind": "proportion", "of": {"crea": {"from": "1.2"}}}, "crea: 1.2 .*0.1 "),
        (
            {"id": "q", "kind": "quantiles", "column": "crea", "edges": ["0", "1.2", "20"]},
            "Quantiles 'q': 1.2 .*step: 0.1 ",
        ),
        (KM | {"until": "2.5"}, "years: 2.5 .*step: 0.1 "),
        (KM | {"edges": ["0", "0.25", "3"]}, "years: 0.25 .*step: 0.01 "),
        (HAZARD | {"covariates": ["crea"], "edges": ["0", "0.5", "3"]}, "years: 0.5 .*step: 0.1 "),
    ],
)
def test_a_number_between_two_steps_is_refused_with_the_step_to_write(tmp_path, spec, text):
    with opened(tmp_path) as ws:
        with pytest.raises(ContractError, match=text):
            ws.plan(spec, epsilon="1")
        assert ws.ledger.entries("t") == ()


def test_bins_between_two_steps_are_refused_with_the_step_to_write(tmp_path):
    derived = "derived: {stage: {of: crea, bins: [0, 1.25, 20]}}"
    with pytest.raises(ContractError, match=r"'stage': crea: 1\.25 .* steps of 1\. .*step: 0\.01 "):
        opened(tmp_path, derived=derived)


def test_a_condition_of_a_per_patient_value_is_on_the_grid_too(tmp_path):
    value = "  high: {any: p, where: {crea: {from: 1.2}}}"
    with pytest.raises(ContractError, match=r"'high': crea: 1.2 .*step: 0.1 "):
        opened(tmp_path, derived=value)


def test_numbers_on_the_grid_mean_what_they_say(tmp_path):
    derived = "derived: {stage: {of: crea, bins: [0, 1.2, 2, 20]}}"
    with opened(tmp_path, step=", step: 0.1", derived=derived) as ws:
        asked = (
            COUNT | {"where": {"crea": {"from": "1.2"}}},
            COUNT | {"id": "up-to", "where": {"crea": {"to": "1.20"}}},
            {"id": "stages", "kind": "histogram", "table": "p", "by": ["stage"]},
        )
        found = ws.release(ws.plan(*asked, epsilon="600")).estimates
    counts = {(e.statistic, *e.key): e.value for e in found if e.quantity == "count"}
    assert counts == {
        ("n",): 500,
        ("up-to",): 300,
        ("stages", "0-1.1"): 200,
        ("stages", "1.2-1.9"): 300,
        ("stages", "2-20"): 200,
    }


@pytest.mark.parametrize(
    "spec",
    [
        KM,
        KM | {"expect": {"count": 700}},
        INCIDENCE,
        INCIDENCE | {"expect": {"count": 900, "rate": 20}},
    ],
)
def test_a_plan_remarks_on_a_time_of_which_few_steps_lie_between_the_bounds(tmp_path, spec):
    (tmp_path / "coarse").mkdir()
    said = []
    for folder, step in (("coarse", ""), (".", ", step: 0.01")):
        with opened(tmp_path / folder, time_step=step) as ws:
            plan = ws.plan(spec, epsilon="10")
            [found] = ws.forecast(plan).values()
            said.append(found if isinstance(found, str) else " ".join(found.notes))
    assert "time 'years' is rounded to steps of 1, of which only 3 lie" in said[0]
    assert "rounded to steps" not in said[1]
