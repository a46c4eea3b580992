"""Estimators inside scikit-learn: pipelines work; what learns from the data or searches does not."""

from functools import partial

import numpy as np
import pytest

from confide import learning
from confide.errors import ContractError
from confide.learning import DPLogisticRegression, PublicScaler, TemporaryLedger

sklearn = pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")

from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.compose import ColumnTransformer, make_column_selector  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    FunctionTransformer,
    OneHotEncoder,
    StandardScaler,
    normalize,
    quantile_transform,
    scale,
)
from sklearn.utils import estimator_checks as checks  # noqa: E402


def cohort(n=600):
    rng = np.random.default_rng(2)
    X = rng.uniform(0, 10, (n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(5 - X[:, 0]))).astype(int)


def model(**others):
    return DPLogisticRegression(**{"bounds": (-1, 1), "workspace": TemporaryLedger(), **others})


def test_a_pipeline_with_public_bounds_fits_and_predicts():
    X, y = cohort()
    found = make_pipeline(PublicScaler(bounds=(0, 10)), model(epsilon="5")).fit(
        X, y, dplogisticregression__patients="rows"
    )
    assert found.predict_proba(X).shape == (len(X), 2)
    assert (found.predict(X) == y).mean() > 0.6


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        OneHotEncoder(),
        SimpleImputer(),
        ColumnTransformer([("scale", StandardScaler(), [0])]),
        ColumnTransformer([("kept", "passthrough", [0])], remainder=StandardScaler()),
        FunctionTransformer(scale),
        FunctionTransformer(partial(quantile_transform, n_quantiles=9)),
        FunctionTransformer(StandardScaler().fit([[0.0, 1.0]]).transform),
        FeatureUnion([("public", PublicScaler(bounds=(0, 1))), ("learnt", StandardScaler())]),
        Pipeline([("inner", SimpleImputer())]),
    ],
    ids=lambda step: type(step).__name__,
)
def test_a_step_that_learns_from_the_patients_is_refused_by_name(step):
    X, y = cohort(50)
    if isinstance(step, OneHotEncoder):
        X = np.rint(X)
    with pytest.raises(ContractError, match="learns from the patients") as refusal:
        make_pipeline(step, model()).fit(X, y, dplogisticregression__patients="rows")
    assert "PublicScaler" in str(refusal.value)


def test_columns_that_a_function_chooses_from_rows_are_refused_and_by_type_are_not():
    X, y = cohort(50)
    table = {"dplogisticregression__patients": "rows"}
    busy = ColumnTransformer([("busy", "passthrough", lambda rows: [0, int(rows.max() < 99)])])
    with pytest.raises(ContractError, match="chooses columns"):
        make_pipeline(busy, model()).fit(X, y, **table)
    pandas = pytest.importorskip("pandas")
    typed = ColumnTransformer([("typed", "passthrough", make_column_selector(dtype_include=float))])
    frame = pandas.DataFrame(X, columns=["a", "b"])
    assert make_pipeline(typed, model(epsilon="5")).fit(frame, y, **table)[-1].n_features_in_ == 2


def test_functions_that_look_at_one_row_at_a_time_are_allowed():
    X, y = cohort(50)
    made = make_pipeline(FunctionTransformer(normalize), model(epsilon="5"))
    assert made.fit(X, y, dplogisticregression__patients="rows")[-1].n_features_in_ == 2


def test_a_step_that_learns_nothing_is_allowed():
    X, y = cohort()
    found = make_pipeline(FunctionTransformer(lambda x: x / 5 - 1), model()).fit(
        X, y, dplogisticregression__patients="rows"
    )
    assert found[-1].n_features_in_ == 2


def test_a_search_and_a_cross_validation_are_refused_with_the_reason():
    X, y = cohort(60)
    with pytest.raises(ContractError, match="Fit once"):
        cross_val_score(model(), X, y, cv=2, error_score="raise")
    with pytest.raises(ContractError, match="Fit once"):
        GridSearchCV(model(), {"epsilon": ["1", "2"]}, cv=2, error_score="raise").fit(X, y)


def test_a_larger_delta_is_allowed_where_the_public_number_of_patients_allows_it():
    X, y = cohort()

    def asking(**others):
        return model(bounds=[(0, 10), (0, 10)], **others)

    with pytest.raises(ContractError, match="needs the public number of patients"):
        asking(delta="1e-5").fit(X, y, patients=np.arange(600))
    with pytest.raises(ContractError, match="that many whole records could leak"):
        asking(delta="1e-5", population=2_000).fit(X, y, patients=np.arange(600))
    fitted = asking(delta="1e-5", population=900).fit(X, y, patients=np.arange(600))
    assert fitted.certificate_["guarantee"]["equivalent"]["delta"] == "0.00001"
    usual = asking().feasibility(rows=600).half_width
    assert asking(delta="1e-5", population=900).feasibility(rows=600).half_width < usual


def test_a_clone_has_the_parameters_and_spends_from_the_same_ledger():
    one = model(epsilon="2")
    other = clone(one)
    assert other is not one
    assert other.get_params() == one.get_params()
    assert other.workspace is one.workspace
    assert is_classifier(one)


@pytest.mark.parametrize(
    "check",
    [
        checks.check_no_attributes_set_in_init,
        checks.check_get_params_invariance,
        checks.check_set_params,
        checks.check_parameters_default_constructible,
        checks.check_estimator_repr,
        checks.check_estimator_cloneable,
        checks.check_valid_tag_types,
        checks.check_estimator_tags_renamed,
        checks.check_mixin_order,
        checks.check_estimators_unfitted,
    ],
    ids=lambda check: check.__name__,
)
@pytest.mark.parametrize(
    "estimator",
    [
        getattr(learning, name)()
        for name in learning.__all__
        if name != "ModuleOverSites"  # it trains a classifier over sites, and is none
        and hasattr(getattr(learning, name), "fit")
    ],
    ids=lambda e: type(e).__name__,
)
def test_the_checks_of_scikit_learn_that_need_no_data_pass(estimator, check):
    check(type(estimator).__name__, clone(estimator))
