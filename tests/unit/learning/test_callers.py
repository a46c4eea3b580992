"""Every part of scikit-learn that takes a model is refused around a private one, but a pipeline."""

import contextlib
import inspect

import numpy as np
import pytest

from confide.learning import (
    DPHazardRegression,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegression,
    PATEClassifier,
    TemporaryLedger,
)

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn import model_selection
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from confide.errors import ContractError, MismatchError
from confide.learning import refusals
from confide.learning.ledger_folder import ledger_folder

pytestmark = pytest.mark.filterwarnings("ignore")

RNG = np.random.default_rng(1)
X = RNG.uniform(-1, 1, (40, 2))
Y = (X[:, 0] > 0).astype(int)
HOLDS = ("estimator", "estimators", "base_estimator", "regressor", "classifier", "transformers")


def module_classifier(**given):
    torch = pytest.importorskip("torch", reason="needs the extra `learning`")
    from confide.learning import DPModuleClassifier

    return DPModuleClassifier(module=torch.nn.Linear(2, 1), patients=40, epochs=1, **given)


def hazards(**given):
    return DPHazardRegression(edges=[0, 1, 2], **given)


FAMILIES = {
    "logistic": DPLogisticRegression,
    "linear": lambda **given: DPLinearRegression(target=(-1, 2), **given),
    "poisson": lambda **given: DPPoissonRegression(most_events=3, **given),
    "hazard": hazards,
    "pate": lambda **given: PATEClassifier(teacher=DecisionTreeClassifier(), teachers=20, **given),
    "module": module_classifier,
}


def private(family):
    return FAMILIES[family](bounds=(-1, 1), epsilon="5", workspace=TemporaryLedger())


def entries(model):
    """Return the size of the model's ledger, 0 where none was made."""
    ledger = ledger_folder(model.workspace) / ".confide" / "ledger.sqlite"
    return ledger.stat().st_size if ledger.exists() else 0


def taking_a_model():
    """Classes of scikit-learn that are made of other models, by the names of their parameters."""
    for name, kind in all_estimators():
        held = set(inspect.signature(kind).parameters) & set(HOLDS)
        if held and not issubclass(kind, Pipeline):
            yield pytest.param(kind, held.pop(), id=name)


def around(kind, holds, model):
    given = {}
    if holds == "estimators":
        given[holds] = [("private", model), ("tree", DecisionTreeClassifier())]
    elif holds == "transformers":
        given[holds] = [("private", model, [0, 1])]
    else:
        given[holds] = model
    names = inspect.signature(kind).parameters
    beside = {
        "param_grid": {"epsilon": ["1", "2"]},
        "param_distributions": {"epsilon": ["1", "2"]},
        "error_score": "raise",
    }
    given |= {name: value for name, value in beside.items() if name in names}
    return kind(**given)


@pytest.mark.parametrize("family", ["logistic", "linear", "pate", "module"])
def test_no_part_of_scikit_learn_fits_a_private_model_inside_it(family, monkeypatch):
    """However an attempt ends, no fit got past the refusal, and nothing was charged."""
    passed, asked = [], []
    real = refusals.refuse_callers

    def watched():
        asked.append(True)
        real()
        passed.append(True)

    for room in ("model", "pate", "module_classifier", "estimator"):
        monkeypatch.setattr(f"confide.learning.{room}.refuse_callers", watched)
    reached = set()
    for each in taking_a_model():
        (kind, holds), model = each.values, private(family)
        with contextlib.suppress(Exception):  # how it ends is the library's
            around(kind, holds, model).fit(X, Y, **({"public": X} if family == "pate" else {}))
        assert not passed, each.id
        assert entries(model) == 0, each.id
        reached |= {each.id} if asked else set()
        asked.clear()
    if family == "logistic":
        assert len(reached) > 15
        assert {"CalibratedClassifierCV", "VotingClassifier", "StackingClassifier"} < reached
        assert {"BaggingClassifier", "GridSearchCV", "RFE"} < reached


@pytest.fixture(scope="module")
def fitted():
    return private("logistic").fit(X, Y, patients="rows")


def test_no_calibration_vote_or_stack_learns_from_a_fitted_private_model(fitted):
    """Isotonic calibration of the answers on patients publishes their exact outcomes."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import StackingClassifier
    from sklearn.frozen import FrozenEstimator
    from sklearn.inspection import permutation_importance

    frozen = FrozenEstimator(fitted)
    for wrong in (
        lambda: CalibratedClassifierCV(frozen, method="isotonic").fit(X, Y),
        lambda: StackingClassifier([("m", fitted)], cv="prefit").fit(X, Y),
        lambda: permutation_importance(fitted, X, Y, scoring="accuracy"),
    ):
        with pytest.raises(ContractError, match="exact outcomes"):
            wrong()


def test_threads_of_scikit_learn_are_its_callers_too():
    from joblib import parallel_config
    from sklearn.ensemble import VotingClassifier

    model = private("logistic")
    vote = VotingClassifier([("a", model), ("b", DecisionTreeClassifier())], n_jobs=2)
    with parallel_config(backend="threading"), pytest.raises(ContractError, match="sklearn"):
        vote.fit(X, Y)
    assert entries(model) == 0


FUNCTIONS = ["cross_val_score", "cross_validate", "cross_val_predict", "learning_curve"]
FUNCTIONS += ["validation_curve", "permutation_test_score"]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("family", list(FAMILIES))
def test_functions_of_model_selection_are_refused_for_every_family(name, family):
    model, function = private(family), getattr(model_selection, name)
    given = {"param_name": "epsilon", "param_range": ["1", "2"]} if name[0] == "v" else {}
    if "error_score" in inspect.signature(function).parameters:
        given["error_score"] = "raise"
    with pytest.raises((ContractError, TypeError)):
        function(model, X, Y, cv=2, **given)
    assert entries(model) == 0


def test_every_function_of_model_selection_that_takes_a_model_is_walked():
    found = {
        name
        for name, each in vars(model_selection).items()
        if inspect.isfunction(each) and "estimator" in inspect.signature(each).parameters
    }
    assert found <= set(FUNCTIONS)


def test_a_pipeline_in_a_pipeline_is_allowed_and_a_union_is_not():
    model = private("logistic")
    inner = Pipeline([("model", model)])
    found = Pipeline([("inner", inner)]).fit(X, Y, inner__model__patients="rows")
    assert found.predict(X).shape == (40,)
    with pytest.raises((ContractError, TypeError)):
        make_pipeline(FeatureUnion([("m", private("linear"))])).fit(X, Y)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_whose_rows_they_are_is_said(family):
    y = np.column_stack([Y, Y + 0.5]) if family == "hazard" else Y
    model = private(family)
    public = {"public": X[:5]} if family == "pate" else {}
    with pytest.raises(ContractError, match="patients=ids"):
        model.fit(X, y, **public)
    with pytest.raises(ContractError, match=r"patients=ids|column and not its name"):
        model.fit(X, y, patients="pid" if family != "pate" else "rows", **public)
    assert entries(model) == 0


@pytest.mark.parametrize("family", [each for each in FAMILIES if each != "pate"])
def test_rows_that_are_protected_one_by_one_are_called_so_in_the_certificate(family):
    y = np.column_stack([Y, Y + 0.5]) if family == "hazard" else Y
    model = private(family).fit(X, y, patients="rows")
    assert model.certificate_["guarantee"]["unit"] == "event"
    words = str(model.certificate_["guarantee"]["in-words"]["en"])
    assert "any one event (one row)" in words
    assert "patient" not in str(model.certificate_["guarantee"].get("contribution-bounds"))
    with pytest.raises(MismatchError):
        model.fit(X, y, patients=np.arange(40))  # the ledger counts in rows
