"""Linear, Poisson, hazard and multinomial models as estimators: declared, charged, and private."""

import numpy as np
import pytest

from confide.errors import ContractError, UnboundedError, UnknownNameError
from confide.learning import (
    DPHazardRegression,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegression,
    TemporaryLedger,
)
from confide.learning.refusals import refuse_callers, refuse_learnt_steps

N = 3_000
BOUNDS = [(0, 100), (0, 10)]
EDGES = (0, 365, 1095, 1825)


def rows(rng, n=N):
    return np.column_stack([rng.uniform(0, 100, n), rng.uniform(0, 10, n)])


def linear(**others):
    given = {"bounds": BOUNDS, "target": (-20, 20), "workspace": TemporaryLedger()}
    return DPLinearRegression(**{**given, **others})


def poisson(**others):
    given = {"bounds": BOUNDS, "most_events": 6, "workspace": TemporaryLedger()}
    return DPPoissonRegression(**{**given, **others})


def hazard(**others):
    given = {"bounds": BOUNDS, "edges": EDGES, "workspace": TemporaryLedger()}
    return DPHazardRegression(**{**given, **others})


def several(**others):
    given = {"bounds": BOUNDS, "classes": ("none", "mild", "late"), "workspace": TemporaryLedger()}
    return DPLogisticRegression(**{**given, **others})


ALL = {"linear": linear, "poisson": poisson, "hazard": hazard, "several classes": several}
every = pytest.mark.parametrize("model", ALL.values(), ids=ALL.keys())


def outcomes(name, n=60):
    rng = np.random.default_rng(1)
    if name is hazard:
        return np.column_stack([rng.integers(0, 2, n), rng.integers(1, 2000, n)])
    if name is several:
        return rng.choice(["none", "mild", "late"], n)
    return rng.integers(0, 5, n)


def test_a_linear_model_has_coefficients_in_the_order_of_the_columns_and_predicts():
    rng = np.random.default_rng(2)
    X = rows(rng)
    group = rng.choice(["a", "b"], N)
    y = X[:, 0] / 10 - X[:, 1] + 3 * (group == "b") + rng.normal(0, 1, N)
    table = np.column_stack([X[:, 0].astype(object), group, X[:, 1]])
    model = linear(
        bounds={"x0": (0, 100), "x2": (0, 10)}, categories={"x1": ["a", "b"]}, epsilon="50"
    ).fit(table, y, patients="rows")
    assert model.terms_ == ("x0", "x1: b vs a", "x2")
    assert model.coef_ == pytest.approx([0.1, 3, -1], abs=0.2)
    assert model.predict(table) == pytest.approx(y, abs=6)
    assert model.score(table, y, public=True) > 0.8
    slope = next(e for e in model.estimates_ if e.key == ("x0",))
    assert slope.lower < slope.value < slope.upper


def test_a_poisson_model_predicts_rates_per_person_time():
    rng = np.random.default_rng(3)
    X, days = rows(rng), rng.uniform(30, 365, N)
    rate = np.exp(X[:, 0] / 50 - X[:, 1] / 10 - 6)
    y = rng.poisson(rate * days)
    model = poisson(exposure=(30, 365), epsilon="50").fit(X, y, exposure=days, patients="rows")
    assert model.coef_ == pytest.approx([1 / 50, -1 / 10], abs=0.03)
    assert model.predict(X).sum() == pytest.approx(rate.sum(), rel=0.15)
    with pytest.raises(ContractError, match="or neither"):
        poisson(exposure=(30, 365)).fit(X, y, patients="rows")
    alike = poisson(epsilon="50").fit(X, rng.poisson(np.exp(X[:, 0] / 50 - 1)), patients="rows")
    assert alike.coef_[0] == pytest.approx(1 / 50, abs=0.01)
    with_rows = poisson(rows_per_patient=3, epsilon="50").fit(
        np.repeat(X, 2, axis=0), np.repeat(y, 2), patients=np.repeat(np.arange(N), 2)
    )
    (weights,) = (e for e in with_rows.estimates_ if e.quantity == "sum of weights")
    assert weights.value == pytest.approx(N, rel=0.1)


@pytest.mark.parametrize("most", [6, 60])
def test_counts_are_predicted_by_the_rates_whatever_bound_was_declared(most):
    rng = np.random.default_rng(6)
    X = rows(rng)
    rate = np.exp(X[:, 0] / 60 - X[:, 1] / 20 - 1)
    model = poisson(most_events=most, epsilon="300").fit(X, rng.poisson(rate), patients="rows")
    assert model.predict(X).std() == pytest.approx(rate.std(), rel=0.15)


def lives(n=N, seed=4):
    rng = np.random.default_rng(seed)
    X = rows(rng, n)
    daily = np.exp((X[:, 0] - 50) / 40 + (X[:, 1] - 5) / 10) / 2000
    time, last = rng.exponential(1 / daily), rng.uniform(300, 3000, n)
    return X, (time <= last).astype(int), np.floor(np.minimum(time, last)), daily


def test_a_hazard_model_ranks_and_says_how_many_are_without_the_event():
    X, event, time, daily = lives()
    model = hazard(epsilon="50", hold_out="0.2").fit(
        X, np.column_stack([event, time]), patients=np.arange(N)
    )
    assert model.coef_ == pytest.approx([1 / 40, 1 / 10], abs=0.04)
    found = model.predict_survival(X, [365, 1000, 1825])
    exact = np.exp(-np.outer(daily, [365, 1000, 1825]))
    assert found.mean(axis=0) == pytest.approx(exact.mean(axis=0), abs=0.03)
    assert (np.diff(found, axis=1) < 0).all()
    (c,) = model.evaluation_["concordance"]
    exact_c = model.score(X, np.column_stack([event, time]), public=True)
    assert c.lower < c.value < c.upper
    assert c.value == pytest.approx(exact_c, abs=0.12)  # by interval, so of pairs farther apart
    with pytest.raises(ContractError, match="horizon"):
        model.predict_survival(X, [2000])


def test_a_hazard_model_of_few_events_is_chosen_by_public_numbers_and_predicts_only():
    X, event, time, daily = lives(1_500)
    given = {"expect_rows": 200, "expect_share": "0.5", "epsilon": "2"}
    model = hazard(**given).fit(X, np.column_stack([event, time]), patients=np.arange(1_500))
    assert model.method_ == "wide"
    assert not any(each.quantity == "hazard ratio" for each in model.estimates_)
    assert model.score(X, np.column_stack([event, time]), public=True) > 0.6
    found = model.predict_survival(X, [1825])
    assert found.mean() == pytest.approx(np.exp(-daily * 1825).mean(), abs=0.15)


@pytest.mark.parametrize("given", [{}, {"expect_rows": 10**6}, {"expect_rows": 10**7}])
def test_a_hazard_model_of_many_events_or_unknown_is_fitted_in_rounds_and_asks_the_same(given):
    X, event, time, _ = lives(200)
    model = hazard(**given).fit(X, np.column_stack([event, time]), patients=np.arange(200))
    assert model.method_ == "rounds"


def test_a_method_of_hazards_that_there_is_not_is_named():
    with pytest.raises(UnknownNameError, match="one-shot"):
        hazard(method="one-shot").fit(
            rows(np.random.default_rng(1), 60), outcomes(hazard), patients=np.arange(60)
        )


def test_an_event_beyond_the_horizon_is_none_at_it():
    X, event, time, _ = lives(2_000)
    beyond = np.array([(True, 5000.0)] * 2_000, dtype=[("event", bool), ("time", float)])
    model = hazard(epsilon="50").fit(X, beyond, patients="rows")
    assert model.predict_survival(X, [1825]).mean() > 0.97
    assert ((event == 1) & (time < 1825)).any()


def test_three_classes_of_a_logistic_model_have_chances_that_add_up_to_one():
    rng = np.random.default_rng(5)
    X = rows(rng)
    odds = np.column_stack([np.zeros(N), X[:, 0] / 25 - 2, X[:, 1] / 2 - 2])
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    y = np.array(["none", "mild", "late"])[(rng.random(N)[:, None] > shares.cumsum(1)).sum(1)]
    model = several(epsilon="50", hold_out="0.2").fit(X, y, patients=np.arange(N))
    assert model.coef_.shape == (3, 2)
    assert (model.coef_[0] == 0).all()
    assert model.coef_[1] == pytest.approx([1 / 25, 0], abs=0.1)
    assert model.coef_[2] == pytest.approx([0, 1 / 2], abs=0.15)
    chances = model.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert np.abs(chances - shares).mean() < 0.05
    assert (model.predict(X) == model.classes_[chances.argmax(axis=1)]).all()
    assert [e.key[0] for e in model.evaluation_["auc"]] == [
        f"{name} vs the rest" for name in ("none", "mild", "late")
    ]


@every
def test_a_model_without_a_ledger_or_bounds_is_refused_and_nothing_is_read(model):
    X = rows(np.random.default_rng(1), 60)
    with pytest.raises(ContractError, match="ledger"):
        model(workspace=None).fit(X, outcomes(model), patients="rows")
    with pytest.raises(UnboundedError, match="'x1'"):
        model(bounds={"x0": (0, 100)}).fit(X, outcomes(model), patients="rows")


@pytest.mark.parametrize(
    ("model", "lacks", "says"),
    [
        (linear, {"target": None}, "'outcome' has neither bounds"),
        (poisson, {"most_events": None}, "most_events=5"),
        (hazard, {"edges": None}, "edges="),
    ],
)
def test_what_is_explained_needs_public_bounds_too(model, lacks, says):
    with pytest.raises(UnboundedError, match=says):
        model(**lacks).fit(rows(np.random.default_rng(1), 60), outcomes(model), patients="rows")


@every
def test_an_exact_score_on_private_patients_is_refused(model):
    with pytest.raises(ContractError, match="no budget was charged"):
        model().score([[1, 2]], [1])


@every
def test_feasibility_is_told_before_anything_is_spent(model):
    small, large = (model().feasibility(rows=n) for n in (1_000, 100_000))
    assert small.half_width > 50 * large.half_width


@every
def test_searches_and_learnt_steps_are_refused(model):
    pytest.importorskip("sklearn", reason="pip install '.[sklearn]'")
    from sklearn.base import clone, is_classifier, is_regressor
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y, one = rows(np.random.default_rng(1), 60), outcomes(model), model()
    with pytest.raises(ContractError, match="Fit once"):
        cross_val_score(one, X, y, cv=2, error_score="raise")
    with pytest.raises(ContractError, match="learns from the patients"):
        make_pipeline(StandardScaler(), one).fit(X, y)
    other = clone(one)
    assert other.get_params() == one.get_params()
    assert is_classifier(one) is (model is several)
    assert is_regressor(one) is (model in (linear, poisson))
    refuse_callers()
    refuse_learnt_steps()


def test_a_structured_outcome_of_anything_but_event_and_time_is_refused():
    with pytest.raises(ContractError, match="column_stack"):
        hazard().fit(rows(np.random.default_rng(1), 60), np.ones(60), patients="rows")


def test_classes_are_given_once_each():
    X = rows(np.random.default_rng(1), 60)
    for classes in (("a",), ("a", "a"), ("a", None)):
        with pytest.raises(ContractError, match="each given once"):
            several(classes=classes).fit(X, outcomes(several), patients="rows")


def test_one_class_only_is_defined_and_predicts_it():
    X = rows(np.random.default_rng(6), 2_000)
    model = DPLogisticRegression(bounds=BOUNDS, epsilon="50", workspace=TemporaryLedger())
    model.fit(X, np.zeros(2_000, int), patients="rows")
    assert model.predict_proba(X)[:, 1].max() < 0.2
    three = several(epsilon="50").fit(X, np.array(["mild"] * 2_000), patients="rows")
    assert (three.predict(X) == "mild").all()


@pytest.mark.parametrize("model", [several, poisson, linear])
def test_a_column_that_is_constant_in_the_data_has_no_interval_or_a_wide_one(model):
    X, y = rows(np.random.default_rng(7), 2_000), outcomes(model, 2_000)
    X[:, 1] = 5.0
    found = model(epsilon="2").fit(X, y, patients="rows")
    of = [e for e in found.estimates_ if e.quantity == "coefficient" and e.key[0] == "x1"]
    assert of
    varying = [e for e in found.estimates_ if e.quantity == "coefficient" and e.key[0] == "x0"]
    for one, other in zip(of, varying, strict=True):
        wide = 10 * (other.upper - other.lower) if other.lower is not None else 0
        assert one.lower is None or one.upper - one.lower > 3 * wide / 10
    assert np.isfinite(found.coef_).all()


@every
def test_rows_with_missing_values_are_left_out_and_nothing_breaks(model):
    rng = np.random.default_rng(8)
    X, y = rows(rng, 2_000), outcomes(model, 2_000)
    X[::2, 0] = np.nan
    found = model(epsilon="50").fit(X, y, patients="rows")
    fitted = {"count", "sum of weights"}  # of rows, where nobody is weighed
    (number,) = (e for e in found.estimates_ if e.quantity in fitted)
    assert number.value == pytest.approx(1_000, rel=0.15)


@every
def test_fewer_patients_than_terms_are_too_few_and_told_so(model):
    rng = np.random.default_rng(9)
    X = rng.uniform(0, 1, (8, 10))
    found = model(bounds=[(0, 1)] * 10, epsilon="1").fit(X, outcomes(model, 8), patients="rows")
    assert any(e.flags for e in found.estimates_ if e.quantity in ("coefficient", "count"))
    assert not any(e.lower is not None for e in found.estimates_ if e.quantity == "coefficient")


def test_auto_takes_the_fit_for_many_terms_for_few_rows_and_rounds_for_many_by_public_numbers_alone():
    rng = np.random.default_rng(10)
    X = rows(rng, 600)
    y = (rng.random(600) < 1 / (1 + np.exp(2 - X[:, 0] / 25))).astype(int)
    given = {"bounds": BOUNDS, "method": "auto", "epsilon": "1"}
    for expected, taken in ((400, "wide"), (20_000, "rounds"), (None, "rounds")):
        model = DPLogisticRegression(**given, expect_rows=expected, workspace=TemporaryLedger())
        model.fit(X, y, patients="rows")
        assert model.method_ == taken
        assert model.predict_proba(X).shape == (600, 2)
        ratios = [e for e in model.estimates_ if e.quantity == "odds ratio"]
        assert bool(ratios) is (taken == "rounds")
    with pytest.raises(ContractError, match="number of rows"):
        DPLogisticRegression(**{**given, "method": "wide"}, workspace=TemporaryLedger()).fit(
            X, y, patients="rows"
        )
    with pytest.raises(UnknownNameError, match="one-shoot"):
        DPLogisticRegression(**{**given, "method": "one-shoot"}, workspace=TemporaryLedger()).fit(
            X, y, patients="rows"
        )


def test_several_classes_take_the_fit_for_a_rare_one_by_public_numbers_and_predict_all_the_same():
    rng = np.random.default_rng(5)
    X, ids = rows(rng, 2_000), np.arange(2_000)
    y = np.where(rng.random(2_000) < 0.04, "late", np.where(X[:, 0] > 50, "mild", "none"))
    for beside, taken in (
        ({}, "rounds"),
        ({"expect_rows": 2_000}, "rounds"),
        ({"expect_rows": 2_000, "expect_share": "0.03"}, "wide"),
        ({"expect_rows": 2_000, "expect_share": "0.03", "method": "rounds"}, "rounds"),
        ({"expect_rows": 2_000, "method": "wide"}, "wide"),
    ):
        model = several(**beside).fit(X, y, patients=ids)
        assert model.method_ == taken
        ratios = [e for e in model.estimates_ if e.quantity == "odds ratio"]
        assert bool(ratios) is (taken == "rounds")
        if taken == "wide":
            chance = model.predict_proba(X)
            assert chance.sum(axis=1) == pytest.approx(1)
            assert 0.01 < chance[:, 2].mean() < 0.12
            assert chance[X[:, 0] > 60, 1].mean() > chance[X[:, 0] < 40, 1].mean() + 0.3
    with pytest.raises(ContractError, match="one look"):
        several(method="one-shot").fit(X, y, patients=ids)
    with pytest.raises(ContractError, match="number of rows"):
        several(method="wide").fit(X, y, patients=ids)


def test_counts_take_the_fit_for_few_events_by_public_numbers_and_predict_all_the_same():
    rng = np.random.default_rng(4)
    frame, ids = rows(rng, 900), np.arange(900)
    visits = np.minimum(rng.poisson(0.8, 900), 50)
    for beside, taken in (
        ({}, "rounds"),
        ({"expect_rows": 900}, "wide"),
        ({"expect_rows": 900, "method": "rounds"}, "rounds"),
        ({"expect_rows": 900, "expect_share": "0.016", "method": "wide"}, "wide"),
    ):
        model = poisson(most_events=50, exposure=None, **beside).fit(frame, visits, patients=ids)
        assert model.method_ == taken
        if taken == "wide":
            assert 0.4 < model.predict(frame).mean() < 1.6
    with pytest.raises(UnknownNameError, match="one-shot"):
        poisson(method="one-shot").fit(frame, visits, patients=ids)
