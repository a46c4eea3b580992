"""Models whose covariates tell nothing, or all: the report is written, and no number pretends."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from confide.report.pages.save import save
from confide.workspace import open_workspace

N = 3_000
NUMBERS = {"age": (0, 100), "falls": (0, 5), "followed": (0, 8)}
CATEGORIES = {"sex": ["f", "m"], "ill": ["no", "yes"], "stage": ["A", "B", "C"], "end": ["c", "d"]}
DATASET = {
    "dataset": {"id": "nothing", "lineage": "nothing", "snapshot": "1"},
    "source": {"kind": "frames"},
    "protects": {"unit": "patient", "id": "person_id", "adjacency": "add-remove"},
    "accounting": {"measure": "zcdp", "delta": "1e-6"},
    "caps": {"lifetime": {"epsilon": "1000"}},
    "tables": {
        "people": {
            "rows-per-patient": "1",
            "columns": {
                **{
                    name: {"kind": "number", "lower": low, "upper": high}
                    for name, (low, high) in NUMBERS.items()
                },
                **{name: {"categories": each} for name, each in CATEGORIES.items()},
            },
        }
    },
}
LOGISTIC = {"kind": "logistic-regression", "of": {"ill": ["yes"]}}
MODELS = {
    "plain": LOGISTIC,
    "line": {**LOGISTIC, "recalibrate": "line", "subgroups": ["sex"]},
    "one-look": {**LOGISTIC, "method": "one-shot", "recalibrate": "intercept"},
    "classes": {"kind": "multinomial-regression", "outcome": "stage"},
    "counts": {"kind": "poisson-regression", "events": "falls"},
    "hazards": {
        "kind": "hazard-regression",
        "time": "followed",
        "of": {"end": ["d"]},
        "edges": [0, 2, 4, 8],
    },
}
WORLDS = {
    "nothing": lambda age: np.full(len(age), 0.4),
    "all": lambda age: np.where(age > 50, 1.0, 0.0),
    "everybody": lambda age: np.ones(len(age)),
    "nobody": lambda age: np.zeros(len(age)),
}


def people(risk):
    rng = np.random.default_rng(1)
    age = rng.integers(0, 101, N)
    ill = rng.random(N) < risk(age)
    return pa.table(
        {
            "person_id": np.arange(N),
            "age": age,
            "sex": rng.choice(CATEGORIES["sex"], N),
            "ill": np.where(ill, "yes", "no"),
            "stage": np.where(ill, "A", rng.choice(["B", "C"], N)),
            "falls": np.where(ill, 2, 0),
            "followed": rng.integers(0, 9, N),
            "end": np.where(ill, "d", "c"),
        }
    )


@pytest.mark.thinned(2)
@pytest.mark.parametrize("epsilon", ["2", "8"])
@pytest.mark.parametrize("world", WORLDS)
def test_a_model_that_tells_nothing_or_all_is_reported_and_no_number_pretends(
    world, epsilon, tmp_path
):
    asked = [
        {"id": name, "table": "people", "covariates": ["age", "sex"], "hold-out": "0.3", **model}
        for name, model in MODELS.items()
    ]
    frames = {"people": people(WORLDS[world])}
    with open_workspace(DATASET, frames=frames, folder=tmp_path / "ledger") as ws:
        release = ws.release(ws.plan(*asked, epsilon=epsilon))
    found = release.estimates
    keys = Counter((each.statistic, each.quantity, each.key, each.covers) for each in found)
    assert max(keys.values()) == 1
    for each in found:
        assert each.value is not None or each.flags
        if each.lower is not None and each.lower == each.upper:
            assert each.flags, each
    for name in ("plain", "line", "one-look"):
        ranges = [e.key[0].split() for e in release.of(name) if " to " in e.key[0]]
        assert all(float(first) < float(last) for _, first, _, last in ranges)
    save(release, tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()
