"""A category that is listed twice, or a code with two labels, is a slip; and it is refused for free."""

import pytest

import confide
from confide.errors import ContractError

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {{kind: csv, path: .}}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: zcdp, delta: 1e-6}}
caps: {{lifetime: {{epsilon: 10}}}}
tables:
  p:
    rows-per-patient: 1
    columns:
      sex: {sex}
      dead: {{categories: [no, yes]}}
      age: {{kind: number, lower: 0, upper: 100}}
      days: {{kind: number, lower: 0, upper: 1000, unit: d}}
      falls: {{kind: number, lower: 0, upper: 5}}
      strict_age: {{kind: number, from: age, lower: 0, upper: 100, outside: drop}}
      dead_or_unknown: {{from: dead, categories: [no, yes], nulls: no, other: no}}
derived: {{old: {{of: age, bins: [0, 50, 100]}}}}
"""


def opened(folder, *, sex="{categories: [f, m]}"):
    (folder / "dataset.yaml").write_text(DATASET.format(sex=sex))
    return confide.open(folder / "dataset.yaml")


def test_a_category_listed_twice_is_refused(tmp_path):
    with pytest.raises(ContractError, match="'sex' lists the category 'f' twice"):
        opened(tmp_path, sex="{categories: [f, m, f]}")


def test_a_code_with_two_labels_in_a_file_is_refused(tmp_path):
    (tmp_path / "sexes.csv").write_text("code,label\n1,f\n2,m\n1,m\n")
    with pytest.raises(ContractError, match=r"sexes\.csv gives the code '1' two labels"):
        opened(tmp_path, sex="{categories: {file: sexes.csv}}")


def test_several_codes_of_one_label_are_joined(tmp_path):
    with opened(tmp_path, sex="{categories: {1: f, F: f, 2: m}}") as ws:
        assert ws.declared.dataset.tables[0].columns[0].keys == ("f", "m")


OF = {"of": {"dead": ["yes"]}}
LOGISTIC = {"id": "l", "kind": "logistic-regression"} | OF
BOTH = LOGISTIC | {"of": {"any": [{"dead": ["yes"]}, {"age": {"from": 90}}]}}
CIRCULAR = [
    LOGISTIC | {"covariates": ["age", "dead"]},
    BOTH | {"covariates": ["old"]},
    {"id": "l", "kind": "linear-regression", "outcome": "age", "covariates": ["old"]},
    {"id": "l", "kind": "linear-regression", "outcome": "age", "covariates": ["strict_age"]},
    LOGISTIC | {"covariates": ["dead_or_unknown"]},
    {"id": "l", "kind": "poisson-regression", "events": "falls", "covariates": ["falls"]},
    {"id": "l", "kind": "hazard-regression", "time": "days", "edges": [0, 365], "covariates": ["days"]} | OF,
]  # fmt: skip


@pytest.mark.parametrize("spec", CIRCULAR, ids=lambda spec: spec["kind"])
def test_an_outcome_that_is_its_own_covariate_is_refused(tmp_path, spec):
    with opened(tmp_path) as ws:
        with pytest.raises(ContractError, match="the outcome would be explained by itself"):
            ws.plan(spec, epsilon="1")
        assert ws.ledger.entries("t") == ()


@pytest.mark.parametrize("spec", CIRCULAR, ids=lambda spec: spec["kind"])
def test_an_outcome_with_other_covariates_is_planned(tmp_path, spec):
    with opened(tmp_path) as ws:
        assert ws.plan(spec | {"covariates": ["sex"]}, epsilon="1").measurements
