"""Rows held in memory: one patient's cells change nobody else's, and refuse nothing."""

import decimal

import numpy as np
import pytest

from confide.learning.columns import declared
from confide.learning.hazard import _event_and_time
from confide.learning.in_memory import OUTCOME, PATIENT, column_of, frame_of

FEATURES = declared(
    ("age", "sex"), bounds={"age": (0, 100)}, categories={"sex": ["f", "m"]}, missing=None
)
ROWS, OUTCOMES, IDS = [[41.0, "f"], [52.0, "m"]], [0.0, 1.0], [2**53 + 1, 7.0]


class Broken:
    """A cell whose own code fails, as a tensor of two numbers does."""

    def __float__(self):
        raise RuntimeError("a cell")

    @property
    def item(self):
        raise RuntimeError("a cell")


ODD = ["unknown", None, float("nan"), 10**5000, 2**70, -1, "\ud800", True, b"x", 1j]
ODD += [Broken(), [1.0], [1.0, 2.0], np.array([1.0]), np.array([1.0, 2.0]), np.ma.masked]
ODD += [np.complex128(1j), np.longdouble("1e400"), decimal.Decimal("sNaN")]


def frame(rows, outcomes, ids):
    return frame_of(rows, {OUTCOME: column_of(outcomes)}, ids, features=FEATURES).to_pydict()


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("where", ["age", "sex", "outcome", "patient"])
def test_of_rows_in_lists_one_cell_changes_no_other_cell_and_refuses_nothing(odd, where):
    """NumPy would choose one type by all cells: 0.0 would become the text "0.0"."""
    before = frame(ROWS, OUTCOMES, IDS)
    more = {"age": 60.0, "sex": "f", "outcome": 1.0, "patient": "c"} | {where: odd}
    after = frame(
        [*ROWS, [more["age"], more["sex"]]],
        [*OUTCOMES, more["outcome"]],
        [*IDS, more["patient"]],
    )
    assert before[PATIENT] == [str(2**53 + 1), "7"]
    assert before[OUTCOME] == ["0", "1"]
    assert {name: column[:2] for name, column in after.items()} == before


def test_a_time_of_follow_up_that_is_no_number_changes_no_other():
    event, time = _event_and_time([[1, 30.0], [0, 400.0], [0, "unknown"]])
    assert (event[:2].tolist(), time[:2].tolist()) == ([1, 0], [30.0, 400.0])


def test_a_number_that_is_too_wide_warns_nobody():
    """Warnings are errors here, and would tell that somebody's number is one."""
    wide = np.array([[np.longdouble("1e400")], [np.longdouble(1)]])
    found = frame_of(
        wide, {}, [1, 2], features=declared(("age",), bounds={"age": (0, 100)}, categories=None)
    )
    assert found["age"].to_pylist() == [np.inf, 1.0]


def test_an_event_that_is_none_is_left_to_its_row():
    """A structured outcome once named the cell in its refusal."""
    kind = [("event", object), ("time", float)]
    event, time = _event_and_time(np.array([(True, 30.0), ("perhaps", 40.0)], dtype=kind))
    assert (event[0], event[1], time[0]) == (True, "perhaps", 30.0)
    gaps = np.array([(1.0, 30.0), (np.nan, 40.0)], dtype=[("event", float), ("time", float)])
    assert np.isnan(_event_and_time(gaps)[0][1])
