"""Estimators that hold patients out are put right by half of them, and judged by subgroups."""

import numpy as np
import pytest

from confide.errors import ConfideError
from confide.learning import (
    DPHazardRegression,
    DPLogisticRegression,
    DPPoissonRegression,
    TemporaryLedger,
)

pd = pytest.importorskip("pandas")

N = 20_000
RNG = np.random.default_rng(4)
X = pd.DataFrame({"age": RNG.integers(0, 101, N), "sex": RNG.choice(["f", "m"], N)})
RISK = (X["age"].to_numpy() - 50) / 25 - 0.5
IDS = np.arange(N)
DAYS = np.ceil(np.minimum(RNG.exponential(500, N) / np.exp(RISK), RNG.uniform(30, 500, N)))
PUBLIC = {"bounds": {"age": (0, 100)}, "categories": {"sex": ["f", "m"]}, "epsilon": "20"}
MODELS = {
    "logistic": (DPLogisticRegression, {}, (RNG.random(N) < 1 / (1 + np.exp(-RISK))).astype(int)),
    "poisson": (DPPoissonRegression, {"most_events": 6}, RNG.poisson(np.exp(RISK) / 2)),
    "hazard": (
        DPHazardRegression,
        {"edges": [0, 100, 250, 365]},
        np.column_stack([RNG.random(N) < 0.5, DAYS]),
    ),
}
every_model = pytest.mark.parametrize("name", MODELS)


def fitted(name, **given):
    kind, own, y = MODELS[name]
    model = kind(**PUBLIC, **own, **given, workspace=TemporaryLedger())
    return model.fit(X, y, patients=IDS)


def valued(model, quantity):
    return {e.key[0]: e.value for e in model.estimates_ if e.quantity == quantity}


@every_model
def test_what_predicts_is_the_recalibrated_model_and_subgroups_are_judged(name):
    model = fitted(name, hold_out="0.4", recalibrate="line", subgroups=["sex"])
    moved, before = (
        valued(model, f"{which} coefficient") for which in ("recalibrated", "prediction")
    )
    assert moved.keys() == before.keys()
    assert model.coef_.ravel()[0] == pytest.approx(moved["age"])
    slope = valued(model, "recalibration slope")["recalibrated"]
    assert moved["age"] == pytest.approx(slope * before["age"])
    quantity = "auc" if name == "logistic" else "concordance"
    assert {e.key[0] for e in model.evaluation_[quantity]} == {"held out", "sex: f", "sex: m"}
    assert all(e.value is not None for e in model.evaluation_[quantity])
    assert {e.key[0] for e in model.evaluation_["calibration slope"]} >= {
        "held out",
        "recalibrated",
    }


@every_model
def test_without_recalibration_it_predicts_as_it_was_fitted(name):
    model = fitted(name, hold_out="0.2")
    assert valued(model, "recalibrated coefficient") == {}
    before = valued(model, "prediction coefficient")
    assert model.coef_.ravel()[0] == pytest.approx(before["age"])


@every_model
@pytest.mark.parametrize(
    "given",
    [
        {"recalibrate": "line"},
        {"hold_out": "0.2", "recalibrate": "lines"},
        {"hold_out": "0.2", "subgroups": ["ward"]},
        {"hold_out": "0.2", "subgroups": ["age"]},
    ],
    ids=str,
)
def test_what_cannot_be_judged_is_refused_and_costs_nothing(name, given):
    with pytest.raises(ConfideError):
        fitted(name, **given)


def test_several_classes_predict_with_their_recalibrated_model():
    y = np.searchsorted([-0.5, 0.8], RISK + RNG.logistic(size=N))
    model = DPLogisticRegression(
        **PUBLIC,
        classes=(0, 1, 2),
        hold_out="0.4",
        recalibrate="line",
        subgroups=["sex"],
        workspace=TemporaryLedger(),
    ).fit(X, y, patients=IDS)
    moved = [e for e in model.estimates_ if e.quantity == "recalibrated coefficient"]
    assert [e.value for e in moved if e.key[0] == "age"] == pytest.approx(model.coef_[1:, 0])
    assert len(model.evaluation_["auc"]) == 3 * 3
    assert np.mean(model.predict(X) == y) > 0.5
