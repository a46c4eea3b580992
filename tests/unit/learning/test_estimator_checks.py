"""All checks of scikit-learn on every estimator; each that fails is named, with its reason.

The checks fit made-up rows, again and again and without ids, which is what a private model refuses.
So here each row is protected, the ledger forgets, and who calls is not looked at; all else is as
users have it.
"""

import sys
import warnings

import numpy as np
import pytest

from confide import learning

pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.utils.estimator_checks import check_estimator

NOT_LISTS = "the width of a list of rows is not public: bounds of each column are asked for"
NO_ROWS = "whether there are rows is not public: a fit of none is charged and says nothing"
CELLS = "what a cell is, is a patient's: what cannot be read is missing, and refuses nothing"
SCORE = "an exact score of private patients is refused, unless they are said to be public"
DECLARED = "classes are declared, (0, 1) here; any other outcome is missing, and refuses nothing"
MISSING = "of a row that lacks a value nothing is predicted, unless a constant is declared for it"
SHAPES = "rows of y are as X has them: a column of a table is taken without a warning"

SCALER = {
    "check_dtype_object": CELLS,
    "check_estimators_empty_data_messages": NO_ROWS,
    "check_transformer_data_not_an_array": NOT_LISTS,
}
MODEL = {
    "check_fit_score_takes_y": SCORE,
    "check_n_features_in_after_fitting": SCORE,
    "check_estimators_pickle": MISSING,
    "check_estimators_empty_data_messages": NO_ROWS,
}
CLASSIFIER = MODEL | {
    "check_supervised_y_2d": SHAPES,
    "check_classifier_data_not_an_array": NOT_LISTS,
    "check_classifiers_classes": DECLARED,
    "check_classifiers_train": NOT_LISTS,
    "check_classifiers_regression_target": DECLARED,
    "check_supervised_y_no_nan": DECLARED,
    "check_classifier_not_supporting_multiclass": DECLARED,
}
REGRESSOR = MODEL | {
    "check_supervised_y_2d": SHAPES,
    "check_regressor_data_not_an_array": NOT_LISTS,
    "check_regressors_train": NOT_LISTS,
    "check_supervised_y_no_nan": CELLS,
}
ASKED = {"epsilon": 50, "lifetime": 10**8, "bounds": (-100, 100)}


class DPLogisticRegression(learning.DPLogisticRegression):
    def fit(self, X, y):
        return super().fit(X, y, patients="rows")


class DPLinearRegression(learning.DPLinearRegression):
    def fit(self, X, y):
        return super().fit(X, y, patients="rows")


class DPPoissonRegression(learning.DPPoissonRegression):
    def fit(self, X, y):
        return super().fit(X, y, patients="rows")


class DPHazardRegression(learning.DPHazardRegression):
    """The checks know no outcome of two columns: y is the time, which ends with the event."""

    def fit(self, X, y):
        y = None if y is None else np.column_stack([np.ones(len(y)), np.abs(y)])
        return super().fit(X, y, patients="rows")


def failed(estimator, monkeypatch, expected):
    """The checks that fail and should not, or do not and should, each with what was raised."""
    for name, module in list(sys.modules.items()):
        if name.startswith("confide.learning.") and hasattr(module, "refuse_callers"):
            monkeypatch.setattr(module, "refuse_callers", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            estimator, expected_failed_checks=expected, on_skip=None, on_fail=None
        )
    fell = {each["check_name"] for each in found if each["status"] == "xfail"}
    return {
        each["check_name"]: repr(each["exception"])[:300]
        for each in found
        if each["status"] == "failed"
    } | {name: "holds" for name in expected if name not in fell}


def test_the_scaler_passes_every_check_but_those_named(monkeypatch):
    assert failed(learning.PublicScaler(bounds=(-100, 100)), monkeypatch, SCALER) == {}


@pytest.mark.audit
@pytest.mark.parametrize(
    ("kind", "more", "expected"),
    [
        (DPLogisticRegression, {}, CLASSIFIER),
        (DPLinearRegression, {"target": (-1000, 1000)}, REGRESSOR),
        (DPPoissonRegression, {"most_events": 5}, REGRESSOR),
        (DPHazardRegression, {"edges": [0, 5, 10]}, MODEL),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_model_passes_every_check_but_those_named(kind, more, expected, monkeypatch):
    estimator = kind(workspace=learning.TemporaryLedger(), **ASKED, **more)
    assert failed(estimator, monkeypatch, expected) == {}
