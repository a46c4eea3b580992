"""What a model in rounds publishes of those who were fitted is a sum of weights, and says so."""

import numpy as np
import pytest

import confide

pd = pytest.importorskip("pandas")

PATIENTS = 2_000
DATASET = {
    "dataset": {"id": "costs", "lineage": "costs", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"epsilon": "1000"}},
    "tables": {
        "people": {
            "rows-per-patient": 1,
            "columns": {
                "ill": {"categories": ["no", "yes"]},
                "dose": {"categories": ["low", "mid", "high"]},
                "score": {"kind": "number", "lower": 0, "upper": 60},
                "age": {"kind": "number", "lower": 0, "upper": 100},
                "days": {"kind": "number", "lower": 1, "upper": 1000, "unit": "d"},
                "falls": {"kind": "number", "lower": 0, "upper": 4},
            },
        }
    },
}
COVARIATES = {"table": "people", "covariates": ["score", "age"]}
MODELS = {
    "logistic-regression": {"of": {"ill": ["yes"]}},
    "multinomial-regression": {"outcome": "dose", "reference": "low"},
    "poisson-regression": {"events": "falls"},
    "hazard-regression": {"of": {"ill": ["yes"]}, "time": "days", "edges": [0, 500, 1000]},
    "linear-regression": {"outcome": "days"},
}


@pytest.fixture(scope="module")
def people():
    """Patients with a skewed covariate: who is far from the middle weighs less."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "pid": range(PATIENTS),
            "ill": rng.choice(["no", "yes"], PATIENTS),
            "dose": rng.choice(["low", "mid", "high"], PATIENTS),
            "score": np.clip(rng.exponential(4, PATIENTS).round(), 0, 60),
            "age": np.clip(rng.normal(58, 17, PATIENTS).round(), 0, 100),
            "days": rng.integers(1, 1000, PATIENTS),
            "falls": rng.integers(0, 5, PATIENTS),
        }
    )


@pytest.mark.parametrize("kind", MODELS)
def test_a_number_of_rows_of_a_model_is_one_and_a_sum_of_weights_is_called_so(
    kind, people, tmp_path
):
    with confide.open(DATASET, frames={"people": people}, folder=tmp_path) as ws:
        plan = ws.plan({"id": "fit", "kind": kind, **COVARIATES, **MODELS[kind]}, epsilon="200")
        found = ws.release(plan).of("fit")
    counted = [each for each in found if each.unit in ("rows", "persons")]
    weighed = [each for each in found if each.quantity == "sum of weights"]
    assert len(counted) + len(weighed) == 1
    assert all(each.value == pytest.approx(PATIENTS, abs=2) for each in counted)
    assert all(each.unit == "1" and each.value < 0.95 * PATIENTS for each in weighed)
