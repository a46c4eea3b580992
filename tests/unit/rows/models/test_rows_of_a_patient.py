"""What an engine hands to a model of patients with several rows: bounded, and one fold a
patient."""

import numpy as np
import pyarrow as pa
import pytest

from confide.rows.relational import descent
from confide.workspace import open_workspace

PATIENTS, EACH, MOST = 300, 7, 3
DATASET = {
    "dataset": {"id": "visits", "lineage": "visits", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "pid", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"epsilon": "9"}},
    "tables": {
        "visits": {
            "columns": {
                "dose": {"kind": "number", "lower": "0", "upper": "100"},
                "result": {"categories": ["low", "middle", "high"]},
            }
        }
    },
}
KINDS = {
    "logistic-regression": {"of": {"result": ["high"]}},
    "multinomial-regression": {"outcome": "result"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_patient_keeps_their_bounded_rows_and_is_held_out_with_all_of_them(
    kind, tmp_path, monkeypatch
):
    rng, seen = np.random.default_rng(1), []
    n = PATIENTS * EACH
    frame = pa.table(
        {
            "pid": np.repeat(np.arange(PATIENTS), EACH),
            "dose": rng.integers(0, 101, n),
            "result": rng.choice(["low", "middle", "high"], n),
        }
    )
    real = descent.DescentRows

    def seeing(aggregate, columns, *, dataset):
        seen.append({name: np.asarray(value) for name, value in columns.items()})
        return real(aggregate, columns, dataset=dataset)

    monkeypatch.setattr(descent, "DescentRows", seeing)
    asked = {"id": "m", "kind": kind, "table": "visits", "covariates": ["dose"], **KINDS[kind]}
    rows = {"per-patient": {"rows": MOST}, "hold-out": "0.3"}
    with open_workspace(DATASET, frames={"visits": frame}, folder=tmp_path) as ws:
        found = ws.release(ws.plan({**asked, **rows}, epsilon="2")).of("m")
    (columns,) = seen
    _, patient = np.unique(columns["p"], return_inverse=True)
    assert (np.bincount(patient) == MOST).all()
    assert sorted(set(columns["rk"].tolist())) == [1, 2, 3]
    folds = [set(columns["fold"][patient == p].tolist()) for p in range(PATIENTS)]
    assert all(len(fold) == 1 for fold in folds)
    held = sum(min(fold) < 300 for fold in folds)
    (weights,) = (e for e in found if e.quantity == "sum of weights")
    assert weights.value == pytest.approx(PATIENTS - held, abs=80)
