"""What a patient may contribute: the bound that is enforced, or the refusal that asks for one."""

import pytest

from confide.errors import ContractError, UnboundedError
from confide.plans.contribution import (
    Counted,
    PerPatient,
    contribution_bounds,
    one_row_each,
    rows_of_each,
)
from confide.privacy.unit import Entity
from confide.tables.bound_contributions import CellBound, OneEvent, RowBound
from confide.tables.expression import ColumnOf
from noisy_answers import dataset

SEX = ColumnOf(table="participants", column="sex")
WARD = ColumnOf(table="visits", column="ward")


def bounds(counted, *, table="visits", axes=(WARD,), entity=Entity.PATIENT, **stated):
    return contribution_bounds(
        PerPatient(**stated),
        table=table,
        axes=axes,
        counted=counted,
        dataset=dataset(entity=entity),
    )


@pytest.mark.parametrize("counted", Counted)
def test_a_table_of_one_row_each_needs_no_bound(counted):
    one = CellBound(max_cells=1, max_rows_per_cell=1)
    assert bounds(counted, table="participants", axes=(SEX,)) == one


@pytest.mark.parametrize(
    ("axes", "stated", "bound"),
    [
        ((SEX,), {}, CellBound(max_cells=1)),
        ((), {"rows": 1}, CellBound(max_cells=1)),
        ((WARD,), {"cells": 3}, CellBound(max_cells=3)),
        ((SEX, WARD), {"cells": 2, "rows": 1}, CellBound(max_cells=2)),
    ],
)
def test_patients_are_counted_once_in_each_of_so_many_cells(axes, stated, bound):
    assert bounds(Counted.PATIENTS, axes=axes, **stated) == bound


@pytest.mark.parametrize(
    ("axes", "stated", "bound"),
    [
        ((WARD,), {"rows": 5}, RowBound(max_rows=5)),
        ((WARD,), {"rows": 5, "cells": 2}, CellBound(max_cells=2, max_rows_per_cell=5)),
        ((SEX,), {"rows": 5}, CellBound(max_cells=1, max_rows_per_cell=5)),
    ],
)
def test_rows_are_counted_up_to_so_many_altogether_or_in_a_cell(axes, stated, bound):
    assert bounds(Counted.EVENTS, axes=axes, **stated) == bound


def test_what_has_no_bound_is_refused_with_the_bound_to_write():
    with pytest.raises(UnboundedError, match="any number of cells") as refused:
        bounds(Counted.PATIENTS)
    assert "cells: 5" in refused.value.hint
    for stated in ({}, {"cells": 2}):
        with pytest.raises(UnboundedError, match="any number of rows") as refused:
            bounds(Counted.EVENTS, **stated)
        assert "rows: 5" in refused.value.hint
    with pytest.raises(ContractError, match="keeps one row"):
        bounds(Counted.PATIENTS, cells=2, rows=2)


def test_under_weaker_units_an_event_is_one_and_nobody_else_is_counted():
    assert bounds(Counted.EVENTS, entity=Entity.EVENT) == OneEvent()
    with pytest.raises(ContractError, match="patients cannot be counted"):
        bounds(Counted.PATIENTS, entity=Entity.EVENT)
    with pytest.raises(ContractError, match="persons and their rows are not protected"):
        bounds(Counted.EVENTS, entity=Entity.EDGE)
    with pytest.raises(ContractError, match="rows of patients are not bounded"):
        bounds(Counted.EVENTS, entity=Entity.HOSPITAL)


def each(rule, *, table="visits", entity=Entity.PATIENT, **stated):
    more = {"axes": (WARD,)} if rule is one_row_each else {}
    return rule(PerPatient(**stated), table=table, dataset=dataset(entity=entity), **more)


def test_a_test_keeps_one_row_of_a_patient():
    assert each(one_row_each, rows=1) == RowBound(max_rows=1)
    assert each(one_row_each, rows=1, cells=1) == RowBound(max_rows=1)
    assert each(one_row_each, table="participants") == CellBound(max_cells=1, max_rows_per_cell=1)
    assert each(one_row_each, entity=Entity.EVENT) == OneEvent()
    with pytest.raises(UnboundedError, match="need one row of each patient"):
        each(one_row_each)
    for stated in ({"rows": 2}, {"rows": 1, "cells": 2}):
        with pytest.raises(ContractError, match="not independent"):
            each(one_row_each, **stated)


def test_a_model_keeps_so_many_rows_of_a_patient_and_has_no_cells():
    assert each(rows_of_each, rows=4) == RowBound(max_rows=4)
    assert each(rows_of_each, table="participants") == RowBound(max_rows=1)
    assert each(rows_of_each, entity=Entity.EVENT) == RowBound(max_rows=1)
    with pytest.raises(UnboundedError, match="any number of rows"):
        each(rows_of_each)
    with pytest.raises(ContractError, match="no cells to bound"):
        each(rows_of_each, rows=4, cells=2)
