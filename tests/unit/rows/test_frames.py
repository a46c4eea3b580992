"""Frames of three libraries: categorical columns, layouts of Arrow, columns that nobody declared."""

import pyarrow as pa
import pytest

import confide
from confide.errors import ContractError

DATASET = """\
dataset: {id: t, lineage: t, snapshot: "1"}
source: {kind: frames}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 1000}}
tables:
  visits:
    columns:
      code: {categories: [a, b]}
      x: {kind: number, lower: 0, upper: 10}
"""
CODES = {"id": "codes", "kind": "histogram", "table": "visits", "by": ["code"]}
ROWS = {"pid": range(30), "code": ["a", "b", "b"] * 10, "x": [1.0] * 30}
COUNTED = [10, 20]


def counted(folder, frame):
    """Noise of ε = 80 is 0 but once in 10³⁴ times."""
    (folder / "dataset.yaml").write_text(DATASET)
    with confide.open(folder / "dataset.yaml", frames={"visits": frame}) as ws:
        plan = ws.plan(CODES | {"per-patient": {"cells": 1}}, epsilon="80")
        return [estimate.value for estimate in ws.release(plan).estimates]


def arrow(**changes):
    return pa.table({**{name: pa.array(list(cells)) for name, cells in ROWS.items()}, **changes})


def pandas_frame(name, dtype):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    return pd.DataFrame(ROWS | {"other": ROWS["code"]}).astype({name: dtype})


def polars_frame(name, dtype):
    pl = pytest.importorskip("polars", reason="Polars is not installed")
    kind = {"categorical": pl.Categorical, "enum": pl.Enum(["a", "b"])}[dtype]
    return pl.DataFrame(ROWS | {"other": ROWS["code"]}, schema_overrides={name: kind})


@pytest.mark.parametrize("name", ["code", "other"])
def test_a_categorical_column_of_pandas_is_read_as_its_categories(tmp_path, name):
    assert counted(tmp_path, pandas_frame(name, "category")) == COUNTED


@pytest.mark.parametrize("name", ["code", "other"])
@pytest.mark.parametrize("dtype", ["categorical", "enum"])
def test_a_categorical_column_of_polars_is_read_as_its_categories(tmp_path, name, dtype):
    assert counted(tmp_path, polars_frame(name, dtype)) == COUNTED


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_dictionary_of_arrow_is_read_as_its_values(tmp_path, kind):
    places = pa.array([0, 1, 1] * 10, pa.int8())
    coded = pa.DictionaryArray.from_arrays(places, pa.array(["a", "b"], kind))
    assert counted(tmp_path, arrow(code=coded)) == COUNTED
    assert counted(tmp_path, arrow(other=coded)) == COUNTED


def test_runs_of_arrow_are_read_as_their_values(tmp_path):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([10, 30], pa.int32()), pa.array(["a", "b"]))
    assert counted(tmp_path, arrow(code=runs)) == COUNTED


def texts_of(kind):
    """Return ten a, twenty b, the last of which is no UTF-8, in a layout of text."""
    octets = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}.get(
        kind, pa.binary_view()
    )
    return pa.array([b"a"] * 10 + [b"b"] * 19 + [b"\xff"], octets).view(kind)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_a_cell_that_is_no_text_costs_its_own_patient_alone_in_every_layout_of_text(tmp_path, kind):
    texts = texts_of(kind)
    assert counted(tmp_path, arrow(code=texts)) == [10, 19]
    if kind != pa.string_view():
        assert counted(tmp_path, arrow(code=texts.dictionary_encode())) == [10, 19]


def test_a_column_that_nobody_declared_cannot_refuse_a_frame(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas_frame("other", "category")
    frame["band"] = pd.cut(frame["x"], [0, 5, 10])
    frame["mixed"] = [1, "a", None, [1], {}] * 6
    frame[7] = 1
    twice = pd.concat([frame, frame[["other"]]], axis=1)
    assert counted(tmp_path, twice) == COUNTED


def test_a_declared_column_that_is_there_twice_is_refused_before_anything_is_read(tmp_path):
    twice = pa.table([*arrow().columns, arrow()["code"]], names=["pid", "code", "x", "code"])
    with pytest.raises(ContractError, match="cannot be read as Arrow columns"):
        counted(tmp_path, twice)
