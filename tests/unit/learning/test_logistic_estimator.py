"""Logistic regression with the conventions of scikit-learn: declared, charged once, and private."""

import math
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import BudgetExhaustedError, ContractError, UnboundedError, UnknownNameError
from confide.learning import DPLogisticRegression, PublicScaler, TemporaryLedger
from confide.workspace import open_workspace

N = 4_000
BOUNDS = {"age": (0, 100), "marker": (0, 10)}
LEVELS = {"group": ["none", "some", "rare"]}


class Frame(dict):
    """Columns by name: all that is asked of a frame."""

    @property
    def columns(self):
        return list(self)

    @property
    def shape(self):
        return len(next(iter(self.values()))), len(self)

    def __array__(self, dtype=None, copy=None):
        return np.column_stack([np.asarray(v, dtype=object) for v in self.values()])

    def only(self, rows):
        return Frame({name: values[rows] for name, values in self.items()})


def people(start=3, *, n=N):
    rng = np.random.default_rng(start)
    age, marker = rng.uniform(0, 100, n), rng.uniform(0, 10, n)
    group = rng.choice(LEVELS["group"], n, p=[0.6, 0.3, 0.1])
    odds = (age - 50) / 25 + (marker - 5) / 5 - (group == "some")
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    return Frame(age=age, marker=marker, group=group), y


@pytest.fixture(scope="module")
def fitted():
    X, y = people()
    model = DPLogisticRegression(
        bounds=BOUNDS,
        categories=LEVELS,
        epsilon="5",
        lifetime="8",
        workspace=TemporaryLedger(),
        hold_out="0.2",
    )
    return model.fit(X, y, patients=np.arange(N)), X, y


def spent(model):
    dataset = {
        "dataset": {"id": model.lineage, "lineage": model.lineage, "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": "patient", "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": "zcdp", "delta": model.delta},
        "caps": {"lifetime": {"epsilon": model.lifetime or model.epsilon}},
        "tables": {"rows": {"columns": {"sex": {"categories": ["F", "M"]}}}},
    }
    with open_workspace(dataset, folder=model.workspace.path) as ws:
        return len(ws.ledger.entries(model.lineage))


def test_coefficients_are_per_unit_and_predict_what_they_say(fitted):
    model, X, _ = fitted
    assert model.terms_ == ("age", "marker", "group: some vs none", "group: rare vs none")
    assert model.coef_[0] == pytest.approx([1 / 25, 1 / 5, -1, 0], abs=0.4)
    assert model.coef_[0][0] == pytest.approx(1 / 25, rel=0.4)
    terms = np.column_stack(
        [X["age"], X["marker"], X["group"] == "some", X["group"] == "rare"]
    ).astype(float)
    by_hand = 1 / (1 + np.exp(-(terms @ model.coef_[0] + model.intercept_[0])))
    chances = model.predict_proba(X)
    assert chances[:, 1] == pytest.approx(by_hand, abs=1e-9)
    assert chances.sum(axis=1) == pytest.approx(1)
    assert (model.predict(X) == (by_hand > 0.5)).all()


def test_intervals_and_evaluation_come_from_the_release(fitted):
    model, _, _ = fitted
    ratios = [e for e in model.estimates_ if e.quantity == "odds ratio"]
    assert [e.key[0] for e in ratios] == list(model.terms_)
    assert all(e.lower < e.value < e.upper for e in ratios)
    (auc,) = model.evaluation_["auc"]
    assert auc.lower < auc.value < auc.upper
    assert model.certificate_["signature"]


def test_values_beyond_the_bounds_predict_as_those_on_them(fitted):
    model, _, _ = fitted
    far = Frame(
        age=np.array([1e6, 100.0]), marker=np.array([-3.0, 0.0]), group=np.array(["none"] * 2)
    )
    assert model.decision_function(far)[0] == model.decision_function(far)[1]


def test_a_second_fit_on_the_same_rows_is_the_same_release_and_costs_nothing(fitted):
    model, X, y = fitted
    before, entries = model.coef_.copy(), spent(model)
    again = DPLogisticRegression(**model.get_params()).fit(X, y, patients=np.arange(N))
    assert (again.coef_ == before).all()
    assert spent(model) == entries


def test_a_fit_on_other_rows_is_charged_and_the_lifetime_binds():
    X, y = people(5, n=400)
    model = DPLogisticRegression(bounds=BOUNDS, categories=LEVELS, workspace=TemporaryLedger())
    model.fit(X, y, patients="rows")
    with pytest.raises(BudgetExhaustedError):
        model.fit(X.only(slice(1, None)), y[1:], patients="rows")


def test_a_fit_without_a_ledger_is_refused():
    X, y = people(n=50)
    with pytest.raises(ContractError, match="ledger") as refusal:
        DPLogisticRegression(bounds=BOUNDS, categories=LEVELS).fit(X, y, patients="rows")
    assert "workspace=" in str(refusal.value)


def test_a_column_without_bounds_is_refused_and_never_measured():
    X, y = people(n=50)
    with pytest.raises(UnboundedError, match="'marker'"):
        DPLogisticRegression(
            bounds={"age": (0, 100)}, categories=LEVELS, workspace=TemporaryLedger()
        ).fit(X, y, patients="rows")
    with pytest.raises(UnknownNameError, match="marke"):
        DPLogisticRegression(
            bounds={**BOUNDS, "marke": (0, 1)}, categories=LEVELS, workspace=TemporaryLedger()
        ).fit(X, y, patients="rows")


def test_a_column_of_another_type_is_refused_without_its_cells():
    X, y = people(n=50)
    X["age"] = np.array(["canary-71"] * 50)
    with pytest.raises(ContractError, match="type is no number") as refusal:
        DPLogisticRegression(bounds=BOUNDS, categories=LEVELS, workspace=TemporaryLedger()).fit(
            X, y, patients="rows"
        )
    assert "canary" not in str(refusal.value)


def test_a_cell_that_is_no_number_is_missing_and_never_refused():
    from confide.learning.columns import numbers

    cells = np.array([1, "2.5", "canary", None, b"x", 10**400, True], dtype=object)
    found = numbers(cells, name="age")
    assert found[[0, 1, 6]].tolist() == [1, 2.5, 1]
    assert np.isnan(found[2:6]).all()


def test_holding_out_needs_ids_because_a_rows_place_is_none():
    X, y = people(n=50)
    with pytest.raises(ContractError, match="place is not an id"):
        DPLogisticRegression(
            bounds=BOUNDS, categories=LEVELS, workspace=TemporaryLedger(), hold_out="0.2"
        ).fit(X, y, patients="rows")


def test_an_exact_score_on_private_patients_is_refused(fitted):
    model, X, y = fitted
    with pytest.raises(ContractError, match="no budget was charged"):
        model.score(X, y)
    assert 0.6 < model.score(X, y, public=True) <= 1


def test_missing_values_become_public_constants_or_drop_the_row():
    X, y = people(7)
    X["marker"] = np.where(np.arange(N) % 2, X["marker"], np.nan)
    X["group"] = np.where(np.arange(N) % 3, X["group"], None)
    model = DPLogisticRegression(
        bounds=BOUNDS,
        categories=LEVELS,
        missing={"marker": 5, "group": "none"},
        epsilon="5",
        workspace=TemporaryLedger(),
    ).fit(X, y, patients="rows")
    (rows,) = [e for e in model.estimates_ if e.quantity == "sum of weights"]
    assert rows.value == pytest.approx(N, rel=0.1)
    assert np.isfinite(model.predict_proba(X)).all()
    dropping = DPLogisticRegression(
        bounds=BOUNDS, categories=LEVELS, epsilon="5", workspace=TemporaryLedger()
    ).fit(X, y, patients="rows")
    (rows,) = [e for e in dropping.estimates_ if e.quantity == "sum of weights"]
    assert rows.value == pytest.approx(N / 3, rel=0.1)
    with pytest.raises(ContractError, match="lacks values"):
        dropping.predict(X.only(slice(4, 5)))


def test_several_rows_of_a_patient_are_one_contribution():
    X, y = people(9, n=500)
    many = Frame({name: np.tile(values, 8) for name, values in X.items()})
    model = DPLogisticRegression(
        bounds=BOUNDS, categories=LEVELS, epsilon="5", workspace=TemporaryLedger()
    ).fit(many, np.tile(y, 8), patients=np.tile(np.arange(500), 8))
    (rows,) = [e for e in model.estimates_ if e.quantity == "sum of weights"]
    assert rows.value == pytest.approx(500, rel=0.3)


def test_feasibility_is_told_from_public_numbers_before_anything_is_spent():
    model = DPLogisticRegression(bounds=BOUNDS, categories=LEVELS, workspace=TemporaryLedger())
    small, large = (model.feasibility(rows=rows, share="0.2") for rows in (1_000, 100_000))
    assert small.half_width == pytest.approx(100 * large.half_width, rel=0.01)
    assert spent(model) == 0
    assert "`method: wide`" in small.notes[0]  # fits take rounds, as no number of rows is declared
    assert "`method: wide`" not in large.notes[0]
    model.expect_rows = 1_000
    with pytest.raises(ContractError, match="below 60; it predicts only"):
        model.feasibility(rows=1_000)


def test_arrays_take_bounds_in_the_order_of_their_columns():
    X, y = people(4, n=1_000)
    array = np.column_stack([X["age"], X["marker"]])
    model = DPLogisticRegression(
        bounds=[(0, 100), (0, 10)], epsilon="5", workspace=TemporaryLedger()
    ).fit(array, y, patients="rows")
    assert model.terms_ == ("x0", "x1")
    with pytest.raises(ContractError, match="2 features"):
        model.predict(array[:, :1])


def test_a_scaler_with_public_bounds_learns_nothing():
    scaler = PublicScaler(bounds=[(0, 10), (-1, 1)])
    rows = np.array([[5.0, 0.0], [20.0, -5.0], [np.nan, 1.0]])
    alone = scaler.transform(rows[:1])
    whole = scaler.fit(rows).transform(rows)
    assert (whole[:1] == alone).all()
    assert whole[1].tolist() == [1.0, -1.0]
    assert math.isnan(whole[2, 0])


def test_bounds_that_are_no_multiples_of_a_step_are_widened_to_the_grid():
    from confide.learning.columns import Feature

    section = Feature(name="x", lower=Fraction(1, 3), upper=Fraction(22, 7)).section()
    low, high, step = (Fraction(section[key]) for key in ("lower", "upper", "step"))
    assert low <= Fraction(1, 3)
    assert high >= Fraction(22, 7)
    assert 1000 <= (high - low) / step <= 10_100
