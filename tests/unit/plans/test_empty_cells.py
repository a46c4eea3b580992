"""What conditions leave empty is said by the plan, and a condition that nobody satisfies refused."""

import pytest

import confide
from confide.errors import ContractError

DATASET = """\
dataset: {id: t, lineage: t, snapshot: "1"}
source: {kind: csv, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: zcdp, delta: 1e-6}
caps: {lifetime: {epsilon: 10}}
tables:
  p:
    rows-per-patient: 1
    columns:
      sex: {categories: [f, m]}
      ill: {categories: [no, yes]}
      age: {kind: number, lower: 18, upper: 100, unit: a}
      sbp: {kind: number, lower: 60, upper: 260}
derived: {band: {of: age, bins: [18, 40, 65, 100]}}
"""
MEN, OLD = {"sex": ["m"]}, {"age": {"from": 70}}
MEANS = {"id": "x", "kind": "two-means-test", "table": "p", "column": "sbp", "by": ["sex"]}
LINE = {"id": "x", "kind": "linear-regression", "table": "p", "outcome": "sbp"}
CHI = {"id": "x", "kind": "chi-squared-test", "table": "p"}
HISTOGRAM = {"id": "x", "kind": "histogram", "table": "p", "by": ["band"]}
RATE = {"id": "x", "kind": "standardized-rate", "table": "p", "of": {"ill": ["yes"]},
        "strata": ["band"], "standard": {"18-39": "1", "40-64": "1", "65-100": "1"}}  # fmt: skip
EMPTY = [
    (MEANS | {"where": MEN}, "nobody can be in f:"),
    (HISTOGRAM | {"where": OLD}, "nobody can be in 18-39, 40-64:"),
    (HISTOGRAM | {"where": {"age": {"from": 40, "to": 64}}}, "nobody can be in 18-39, 65-100:"),
    (CHI | {"by": ["band", "sex"], "where": {"not": MEN}}, "nobody can be in m:"),
    (RATE | {"where": {"all": [OLD, {"any": [MEN, {"sex": ["f"]}]}]}}, "in 18-39, 40-64:"),
    (LINE | {"covariates": ["sex"], "where": MEN}, "everybody has the same sex"),
    (LINE | {"covariates": ["age"], "where": {"age": {"from": 50, "to": 50}}}, "the same age"),
]
FULL = [
    HISTOGRAM | {"where": {"age": {"from": 39}}},
    HISTOGRAM | {"where": {"any": [OLD, MEN]}},
    MEANS | {"where": OLD},
    LINE | {"covariates": ["age", "sex"], "where": OLD},
]
NOBODY = [
    {"all": [{"sex": ["m"]}, {"sex": ["f"]}]},
    {"all": [{"age": {"from": 80}}, {"age": {"to": 30}}]},
    {"all": [MEN, {"not": MEN}]},
]


@pytest.fixture
def ws(tmp_path):
    (tmp_path / "dataset.yaml").write_text(DATASET)
    with confide.open(tmp_path / "dataset.yaml") as workspace:
        yield workspace


def told(ws, spec):
    plan = ws.plan(spec | {"expect": {"count": "900"}}, epsilon="1")
    found = ws.forecast(plan)["x"]
    return found if isinstance(found, str) else " ".join(found.notes)


@pytest.mark.parametrize(("spec", "words"), EMPTY, ids=range(len(EMPTY)))
def test_a_plan_says_which_cells_its_conditions_leave_empty(ws, spec, words):
    assert words in told(ws, spec)


@pytest.mark.parametrize("spec", FULL, ids=range(len(FULL)))
def test_nothing_is_said_of_cells_that_somebody_may_be_in(ws, spec):
    said = told(ws, spec)
    assert "nobody can be" not in said
    assert "everybody has" not in said


@pytest.mark.parametrize("where", NOBODY, ids=range(len(NOBODY)))
def test_conditions_that_contradict_each_other_are_refused_at_no_charge(ws, where):
    with pytest.raises(ContractError, match="no row can satisfy all of its conditions"):
        ws.plan({"id": "x", "kind": "count", "table": "p", "where": where}, epsilon="1")
    assert ws.ledger.entries("t") == ()
