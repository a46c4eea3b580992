"""Parameters that all estimators share are refused by one rule, before anything is charged."""

import numpy as np
import pytest

from confide.errors import ConfideError
from confide.learning import (
    DPHazardRegression,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegression,
    PATEClassifier,
    TemporaryLedger,
)
from confide.learning.ledger_folder import ledger_folder

X, IDS = np.linspace(18, 100, 60)[:, None], np.arange(60)
Y = np.arange(60) % 2


def module_classifier(**given):
    torch = pytest.importorskip("torch", reason="needs the extra `learning`")
    pytest.importorskip("opacus", reason="needs the extra `learning`")
    from confide.learning import DPModuleClassifier

    wide = max(2, len(given.get("classes", (0, 1))))
    module = torch.nn.Linear(1, 1 if wide == 2 else wide)
    return DPModuleClassifier(module=module, patients=60, epochs=1, **given)


def pate(**given):
    tree = pytest.importorskip("sklearn.tree", reason="needs scikit-learn")
    return PATEClassifier(teacher=tree.DecisionTreeClassifier(), teachers=20, **given)


MODELS = {
    "logistic": DPLogisticRegression,
    "linear": lambda **given: DPLinearRegression(target=(0, 1), **given),
    "poisson": lambda **given: DPPoissonRegression(most_events=1, **given),
    "hazard": lambda **given: DPHazardRegression(edges=[0, 1], **given),
    "module": module_classifier,
    "pate": pate,
}
CLASSIFIERS = ["logistic", "module", "pate"]


def refused(model, **given):
    """Return what a fit is refused for, with nothing charged."""
    one = MODELS[model](**{"bounds": [(18, 100)], "workspace": TemporaryLedger()} | given)
    y = np.column_stack([Y, 0.5 + 0 * Y]) if model == "hazard" else Y
    more = {"public": [[50.0]]} if model == "pate" else {}
    with pytest.raises(ConfideError) as told:
        one.fit(X, y, patients=IDS, **more)
    assert not (ledger_folder(one.workspace) / ".confide" / "ledger.sqlite").exists()
    return str(told.value)


@pytest.mark.parametrize(
    ("model", "measure"), [*((name, {}) for name in MODELS), ("module", {"measure": "zcdp"})]
)
@pytest.mark.parametrize("epsilon", ["701", 701, "700.000000001", 10**9])
def test_an_epsilon_that_no_certificate_can_state_is_refused_by_every_model(
    model, epsilon, measure
):
    words = refused(model, epsilon=epsilon, lifetime=10**10, **measure)
    assert "Expected epsilon ≤ 700" in words


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("epsilon", ["none", "nan", "-1", 0, None, float("nan"), -0.5])
def test_an_epsilon_that_is_no_amount_is_named(model, epsilon):
    assert "epsilon" in refused(model, epsilon=epsilon)


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize(
    "classes", [(0, 0), (0,), (), (0, "0"), (1, True), (1, 1.0, 2), (0, None), (0, float("nan"))]
)
def test_classes_that_are_fewer_than_two_or_repeat_are_refused_by_every_classifier(model, classes):
    words = refused(model, classes=classes, epsilon="12")
    assert "at least two classes, each given once" in words
