"""Where rows are protected one by one, a study that bounds patients is refused and told the fix."""

import pyarrow as pa
import pytest

from confide.errors import ContractError
from confide.workspace import open_workspace


def clinic(folder, *, unit):
    dataset = {
        "dataset": {"id": "clinic", "lineage": "clinic", "snapshot": "1"},
        "source": {"kind": "frames"},
        "protects": {"unit": unit, "id": "patient", "adjacency": "add-remove"},
        "accounting": {"measure": "pure", "delta": "0"},
        "caps": {"lifetime": {"epsilon": "9"}},
        "tables": {"visits": {"columns": {"ward": {"categories": ["a", "b"]}}}},
    }
    frame = pa.table({"patient": ["1", "1", "2"], "ward": ["a", "b", "a"]})
    return open_workspace(dataset, frames={"visits": frame}, folder=folder)


COUNT = {"id": "visits", "kind": "count", "table": "visits", "count": "events"}
CODES = {"id": "wards", "kind": "histogram", "table": "visits", "by": ["ward"], "count": "events"}


@pytest.mark.parametrize("of", [COUNT, CODES], ids=["count", "histogram"])
@pytest.mark.parametrize("bounds", [{"rows": 3}, {"cells": 2}, {"cells": 2, "rows": 3}])
def test_several_rows_or_cells_of_a_patient_are_refused_where_each_row_stands_for_itself(
    tmp_path, of, bounds
):
    """They would be read as one, and the reader of the study would think otherwise."""
    with clinic(tmp_path, unit="event") as ws:
        with pytest.raises(ContractError, match="each row is protected by itself") as refused:
            ws.plan({**of, "per-patient": bounds}, epsilon="1")
        assert "Leave per-patient out" in str(refused.value)


@pytest.mark.parametrize("bounds", [{}, {"rows": 1}])
def test_one_row_or_nothing_said_is_what_holds_of_events(tmp_path, bounds):
    with clinic(tmp_path, unit="event") as ws:
        said = ws.plan({**COUNT, "per-patient": bounds}, epsilon="1")
        assert said.loss == ws.plan(COUNT, epsilon="1").loss


def test_several_rows_of_a_patient_stay_a_bound_where_patients_are_protected(tmp_path):
    with clinic(tmp_path, unit="patient") as ws:
        ws.plan({**COUNT, "per-patient": {"rows": 3}}, epsilon="1")
