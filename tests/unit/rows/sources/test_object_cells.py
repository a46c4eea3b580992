"""Columns of Python objects: what is missing is missing, and equal numbers are one person or code."""

import datetime as dt
import math
import operator
import uuid
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import confide
from confide.errors import ContractError
from confide.rows.sources.object_cells import object_id, object_text
from python_objects import Label, missing, spellings

pd = pytest.importorskip("pandas", reason="pandas is not installed")

DATASET = """\
dataset: {id: t, lineage: t, snapshot: "1"}
source: {kind: frames}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure, delta: 1e-6}
caps: {lifetime: {epsilon: 5000}}
tables:
  visits:
    columns:
      x: {categories: {a: a, "1": one, "0.5": half, none: unknown, rest: rest},
          nulls: unknown, other: rest}
      key: {kind: text, from: x}
  texts:
    from: visits
    columns:
      key: {kind: text, from: x}
"""
BY_X = {"id": "n", "kind": "histogram", "table": "visits", "by": ["x"], "per-patient": {"cells": 1}}
KEYS = {
    "id": "k",
    "kind": "key-selection",
    "table": "texts",
    "key": "key",
    "per-patient": {"cells": 1},
}
FIVE_ROWS = {**BY_X, "count": "events", "per-patient": {"rows": 5}}
MISSING = {f"{type(cell).__name__} {cell}": cell for cell in missing()}
PEOPLE = 40


def released(folder, frame, asked):
    """Return what is released, where noise of ε = 400 and more is 0 but once in 10²⁰ times."""
    (folder / "dataset.yaml").write_text(DATASET)
    with confide.open(folder / "dataset.yaml", frames={"visits": frame}) as ws:
        found = ws.release(ws.plan(asked, epsilon="600")).estimates
    return {each.key[0]: round(each.value) for each in found if each.value}


def objects(ids, cells):
    return pd.DataFrame({"pid": pd.Series(ids, dtype=object), "x": pd.Series(cells, dtype=object)})


@pytest.mark.parametrize("cell", MISSING.values(), ids=MISSING)
def test_a_missing_object_is_a_missing_cell_and_no_key(tmp_path, cell):
    frame = objects(range(2 * PEOPLE), ["a"] * PEOPLE + [cell] * PEOPLE)
    assert released(tmp_path, frame, BY_X) == {"a": PEOPLE, "unknown": PEOPLE}
    assert released(tmp_path, frame, KEYS) == {"a": PEOPLE}


ABSENT = {
    "python's texts": lambda cells: pd.array(cells, dtype=pd.StringDtype("python", na_value=math.nan)),
    "arrow's texts": lambda cells: pd.array(cells, dtype=pd.StringDtype("pyarrow", na_value=math.nan)),
    "python's texts, NA": lambda cells: pd.array(cells, dtype=pd.StringDtype("python")),
    "categories of objects": lambda cells: pd.Categorical(cells, pd.Index(["a"], dtype=object)),
    "a join of objects": lambda cells: pd.merge(
        pd.DataFrame({"key": range(len(cells))}),
        objects(range(len(cells)), cells).dropna().rename(columns={"pid": "key"}),
        how="left",
    )["x"],
}  # fmt: skip


@pytest.mark.parametrize("kind", ABSENT)
def test_an_absent_text_is_a_missing_cell_however_pandas_keeps_it(tmp_path, kind):
    cells = ["a"] * PEOPLE + [None] * PEOPLE
    frame = pd.DataFrame({"pid": range(2 * PEOPLE), "x": ABSENT[kind](cells)})
    assert released(tmp_path, frame, BY_X) == {"a": PEOPLE, "unknown": PEOPLE}
    assert released(tmp_path, frame, KEYS) == {"a": PEOPLE}


NOBODY = (
    *missing(), True, np.False_, 0.5, Decimal("1.5"), Fraction(1, 3), math.inf, Decimal("-Infinity"),
    2.0**53, np.float32(2**60), Decimal("1E+999999999"), 10**5000, dt.date(2020, 1, 1), dt.time(1),
    dt.datetime(2020, 1, 1, tzinfo=dt.UTC), np.datetime64("2020-01-01", "ns"), dt.timedelta(1),
    np.timedelta64(5, "ns"), "", "\ud800", b"\xff", [1], np.array([1]), 1j, object(), *Label,
)[:-1]  # fmt: skip


def test_who_has_no_id_among_objects_is_nobody(tmp_path):
    """Not one patient either: of a person who is nobody, five rows were kept, and others' not."""
    for ids in ([cell] * 5 for cell in NOBODY):
        frame = objects(["p", *ids], ["a"] * 6)
        assert released(tmp_path, frame, FIVE_ROWS) == {"a": 1}, repr(type(ids[0]))


@pytest.mark.parametrize("person", [12, -5, 0, 2**53 + 1, 10**40, "12", "é"])
def test_one_id_is_one_patient_whatever_objects_say_it(tmp_path, person):
    ids = [*spellings(person)] * 6
    assert released(tmp_path, objects(ids, ["a"] * len(ids)), FIVE_ROWS) == {"a": 5}


def test_a_uuid_is_an_id_as_in_a_typed_column(tmp_path):
    ids = [uuid.UUID(int=number) for number in range(1, 4)]
    frame = objects([*ids, str(ids[0])], ["a"] * 4)
    assert released(tmp_path, frame, BY_X) == {"a": 3}


@pytest.mark.parametrize(("code", "label"), [(1, "one"), (0.5, "half"), ("a", "a")])
def test_one_code_is_one_label_whatever_objects_say_it(tmp_path, code, label):
    cells = [*spellings(code), *([Decimal("0.50")] if code == 0.5 else [])]
    assert released(tmp_path, objects(range(len(cells)), cells), BY_X) == {label: len(cells)}


TYPED = {
    "integers": [1, 2, None, -(2**63)],
    "numbers": [1.0, 0.5, math.nan, None, math.inf, 2.0**53, 1e300],
    "decimals": [Decimal("1.0"), Decimal("2.0"), None, Decimal("-0.0")],
    "texts": ["a", "1", "", None, "\0", "rest"],
    "booleans": [True, False, None],
    "dates": [dt.date(2020, 1, 1), None],
}


@pytest.mark.parametrize("kind", TYPED)
def test_objects_are_released_as_the_column_of_their_type(tmp_path, kind):
    cells = [cell for cell in TYPED[kind] for _ in range(PEOPLE)]
    typed = pa.table({"pid": range(len(cells)), "x": pa.array(cells, from_pandas=False)})
    found = objects(range(len(cells)), cells)
    assert released(tmp_path, found, KEYS) == released(tmp_path, typed, KEYS)


def test_objects_of_polars_are_refused_by_their_type(tmp_path):
    pl = pytest.importorskip("polars", reason="Polars is not installed")
    for cells in (["a"], [None], [object()]):
        frame = pl.DataFrame({"pid": [1], "x": pl.Series(cells, dtype=pl.Object)})
        with pytest.raises(ContractError, match="holds values of another type"):
            released(tmp_path, frame, BY_X)


NUMBERS = st.one_of(
    st.integers(), st.integers(-300, 300), st.floats(allow_nan=False), st.fractions(),
    st.floats(-300, 300, width=16).map(np.float16), st.integers(-128, 127).map(np.int8),
    st.floats(width=32, allow_nan=False).map(np.float32), st.decimals(allow_nan=False, allow_infinity=False),
    st.integers(-3, 3).map(lambda n: Decimal(n).scaleb(-n)), st.booleans(),
)  # fmt: skip


def equal(one, other):
    """Return whether two numbers are equal, as Python's: NumPy would make one of the other's type."""
    return operator.eq(
        *(each.item() if isinstance(each, np.generic) else each for each in (one, other))
    )


def is_long(number):
    return isinstance(number, float | np.floating) and abs(float(number)) >= 2**53


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(one=NUMBERS, other=NUMBERS, places=st.integers(0, 40))
def test_a_number_has_one_text_and_is_one_id_or_none(one, other, places):
    for first, second in ((one, other), *((cell, one) for cell in spellings(one))):
        ids = object_id(first), object_id(second)
        if None not in ids:
            assert (ids[0] == ids[1]) == equal(first, second)
        if equal(first, second) and not (is_long(first) or is_long(second)):
            said = (object_text(each, flags_are_numbers=True) for each in (first, second))
            assert len(set(said)) == 1
    if isinstance(one, Decimal) and one.is_finite() and -500 < one.adjusted() < 500:
        longer = Decimal(f"{one:f}" + ("" if "." in f"{one:f}" else ".") + "0" * places)
        assert object_id(longer) == object_id(one)
        assert object_text(longer) == object_text(one)
