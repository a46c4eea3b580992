"""Columns are what their names say, wherever they stand."""

import numpy as np
import pytest

from confide.errors import ContractError
from confide.learning import DPLogisticRegression, PublicScaler, TemporaryLedger

pd = pytest.importorskip("pandas", reason="pandas is not installed")
pytest.importorskip("sklearn", reason="scikit-learn is not installed")

BOUNDS = {"age": (0, 100), "marker": (0, 10)}
ROWS = 1500


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    return pd.DataFrame({"age": rng.integers(0, 100, ROWS), "marker": rng.integers(0, 10, ROWS)})


@pytest.fixture(scope="module")
def model(rows):
    ill = np.asarray(rows.age > 50, dtype=int)
    fitted = DPLogisticRegression(workspace=TemporaryLedger(), epsilon="20", bounds=BOUNDS)
    return fitted.fit(rows, ill, patients=list(range(ROWS)))


def test_predictions_do_not_depend_on_the_order_of_columns(model, rows):
    said = model.predict_proba(rows)
    assert np.ptp(said[:, 1]) > 0.5
    assert np.array_equal(said, model.predict_proba(rows[["marker", "age"]]))
    assert np.array_equal(said, model.predict_proba(rows.to_numpy()))


def test_a_column_that_is_not_there_is_named(model, rows):
    with pytest.raises(ContractError, match="not here: age"):
        model.predict(rows.rename(columns={"age": "weight"}))
    with pytest.raises(ContractError, match="X has 3 features, but it is expecting 2"):
        model.predict(rows.assign(more=1))


def test_a_scaler_gives_columns_in_the_order_of_its_bounds(rows):
    scaler = PublicScaler(bounds=BOUNDS)
    scaled = scaler.transform(rows)
    assert np.array_equal(scaled, scaler.transform(rows[["marker", "age"]]))
    assert np.allclose(scaled[:, 0], rows.age / 50 - 1)
