"""Estimators that refuse or read by cells: each must be caught by looking at what leaves them."""

import contextlib

import numpy as np
import pyarrow as pa
import pytest

from confide.errors import ConfideError, ReleaseFailedError
from confide.learning import (
    DPLogisticRegression,
    PublicScaler,
    TemporaryLedger,
    containers,
    estimator,
    in_memory,
    scaling,
)
from confide.learning.columns import declared, label
from confide.learning.in_memory import OUTCOME, column_of, frame_of
from confide.rows.engines.duckdb import DuckDBEngine
from left_behind import everything_carried

pytestmark = pytest.mark.mutant

CELL = "64.587"


def refused_with_a_cell():
    """Return whether a refusal of a fit on an Arrow table says what is in it."""
    table = pa.table({"age": [64.587, 38.885, 77.123]})
    model = DPLogisticRegression(bounds={"height": (18, 250)}, workspace=TemporaryLedger())
    with pytest.raises(ConfideError) as refused:
        model.fit(table, [0, 1, 0], patients=[1, 2, 3])
    return CELL in str(refused.value)


def moved_by_one():
    """Return whether one outcome that is a row of two cells changes anybody else's."""
    of = declared(("age",), bounds={"age": (0, 100)}, categories=None)

    def outcomes(y):
        frame = frame_of([[1.0]] * len(y), {OUTCOME: column_of(y)}, range(len(y)), features=of)
        return frame[OUTCOME].to_pylist()

    return outcomes([[0], [1], [0, 1]])[:2] != outcomes([[0], [1]])


def ids_of(patients):
    """Return what is read of ids."""
    of = declared(("age",), bounds={"age": (0, 100)}, categories=None)
    return frame_of([[1.0]] * len(patients), {}, patients, features=of)["patient"].to_pylist()


def merged_by_an_absence():
    """Return whether two patients are one as soon as a third one's id is absent."""
    pd = pytest.importorskip("pandas")
    first, second, _ = ids_of(pd.Series([2**60 + 1, 2**60 + 2, None], dtype="Int64"))
    return first == second


def merged_as_floats():
    """Return whether two patients whose ids were rounded count as one."""
    return ids_of(np.array([2**60 + 1, 2**60 + 2], dtype=np.float64)) != [None, None]


def test_the_real_estimator_says_moves_and_merges_nothing():
    assert not refused_with_a_cell()
    assert not moved_by_one()
    assert not merged_by_an_absence()
    assert not merged_as_floats()


def test_columns_whose_type_is_chosen_by_their_absent_cells_are_caught(monkeypatch):
    monkeypatch.setattr(containers, "_column", np.asarray)
    assert merged_by_an_absence()


def test_floats_that_are_ids_whatever_their_size_are_caught(monkeypatch):
    monkeypatch.setattr(in_memory, "identity", label)
    assert merged_as_floats()


def test_names_that_are_taken_from_what_is_called_columns_are_caught(monkeypatch):
    monkeypatch.setattr(estimator, "names_of", lambda table: tuple(map(str, table.columns)))
    assert refused_with_a_cell()


def test_a_column_of_which_one_row_decides_how_all_are_read_is_caught(monkeypatch):
    def by_all_widths(values, *, width=None):
        del width
        rows = list(values)
        if len({len(row) if isinstance(row, list) else -1 for row in rows}) == 1:
            return np.array(rows, dtype=object)
        found = np.empty(len(rows), dtype=object)
        found[:] = rows
        return found

    monkeypatch.setattr(in_memory, "cells", by_all_widths)
    assert moved_by_one()


@pytest.mark.parametrize("sealed", [True, False], ids=["real", "mutant"])
def test_a_fit_whose_frames_leave_with_its_failure_is_caught(sealed, monkeypatch):
    def failing(self, asked, *, dataset):
        del self, asked, dataset
        raise ValueError("of a row")

    monkeypatch.setattr(DuckDBEngine, "aggregate", failing)
    fit = DPLogisticRegression.fit
    model = DPLogisticRegression(bounds=[(18, 100)], workspace=TemporaryLedger())
    with pytest.raises(ReleaseFailedError) as failed:
        (fit if sealed else fit.__wrapped__)(
            model, np.array([[64.587], [38.0], [77.0]]), [0, 1, 0], patients=[1, 2, 3]
        )
    shown = any(CELL in each for each in everything_carried(failed.value))
    assert shown is not sealed


def refused_for_its_zeros():
    """Return whether a fit is refused because a step left out the zeros."""
    sparse = pytest.importorskip("scipy.sparse")
    model = DPLogisticRegression(bounds=[(0, 1)], workspace=TemporaryLedger())
    try:
        model.fit(sparse.csr_matrix([[0.0], [1.0]] * 9), [0, 1] * 9, patients=range(18))
    except ConfideError:
        return True
    return False


def test_matrices_without_zeros_that_are_no_tables_are_caught(monkeypatch):
    assert not refused_for_its_zeros()
    monkeypatch.setattr(containers, "_is_sparse", lambda _: False)
    assert refused_for_its_zeros()


def test_a_scaler_that_numpy_may_stop_is_caught(monkeypatch):
    """One cell of 1.6 × 10³⁰⁸, doubled before it is divided."""

    def doubled(values, *, of):
        low, high = float(of.lower), float(of.upper)
        return (2 * np.clip(values, low, high) - low - high) / (high - low)

    monkeypatch.setattr(scaling, "_scaled", doubled)
    monkeypatch.setattr(scaling, "no_warnings", contextlib.nullcontext)
    monkeypatch.setattr(scaling.np, "errstate", lambda **_: contextlib.nullcontext())
    scaler = PublicScaler(bounds=[("0", "1.7e308")])
    scaler.transform(np.array([[1.0]]))
    with pytest.raises(RuntimeWarning, match="overflow"):
        scaler.transform(np.array([[1.6e308]]))
