"""Frames of three libraries: categorical columns, layouts of Arrow, columns that nobody declared."""

import ctypes
import struct
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import confide
from confide.errors import ContractError
from confide.rows.sources import arrow_cells
from confide.rows.sources.frames import _with_types
from confide.tables.schema import Table
from rows_world import category, number

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
  others:
    columns:
      y: {kind: number, lower: 0, upper: 10}
"""
CODES = {"id": "codes", "kind": "histogram", "table": "visits", "by": ["code"]}
ROWS = {"pid": range(30), "code": ["a", "b", "b"] * 10, "x": [1.0] * 30}
COUNTED = [10, 20]


def counted(folder, frame, **others):
    """Noise of ε = 80 is 0 but once in 10³⁴ times."""
    folder.mkdir(exist_ok=True)
    (folder / "dataset.yaml").write_text(DATASET)
    with confide.open(folder / "dataset.yaml", frames={"visits": frame} | others) as ws:
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


class Unwilling:
    """A cell that answers no question."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


ODD_CELLS = {
    "array": np.array([1, 2]),
    "no-function": SimpleNamespace(item=None),
    "more-digits-than-are-printed": 10**5000,
    "unwilling": Unwilling(),
    "half-a-character": "\ud800",
}


def of_objects(column, cell):
    """Return a frame of Python objects, one of whose patients is odd."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    cells = {name: list(column) for name, column in ROWS.items()}
    cells[column][-1] = cell
    return pd.DataFrame({name: pd.Series(each, dtype=object) for name, each in cells.items()})


@pytest.mark.parametrize("cell", ODD_CELLS)
@pytest.mark.parametrize("column", ["pid", "code", "x"])
def test_a_cell_of_python_objects_costs_its_own_patient_alone(tmp_path, column, cell):
    left = COUNTED if column == "x" else [10, 19]
    assert counted(tmp_path, of_objects(column, ODD_CELLS[cell])) == left


def test_a_frame_of_a_subclass_is_read_as_one_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    outline = type("Outlines", (pd.DataFrame,), {"__module__": "elsewhere"})
    assert counted(tmp_path, outline(of_objects("code", 1))) == [10, 19]


def test_the_index_of_a_frame_is_not_looked_at(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas_frame("code", "category")
    frame.index = pd.Index([*range(29), "a"], dtype=object)
    assert counted(tmp_path, frame) == COUNTED


def test_half_a_character_costs_its_own_patient_alone_where_texts_are_python_s(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    texts = pd.array([*ROWS["code"][:-1], "\ud800"], dtype=pd.StringDtype("python"))
    assert counted(tmp_path, pd.DataFrame(ROWS | {"code": texts})) == [10, 19]


@pytest.mark.parametrize("kind", [pa.float16(), pa.float64()], ids=str)
def test_a_frame_without_rows_is_read_as_one_with_rows(tmp_path, kind):
    frame = arrow(x=pa.array([1.0] * 30, kind))
    assert counted(tmp_path / "rows", frame) == COUNTED
    assert counted(tmp_path / "none", frame.slice(0, 0)) == [0, 0]


@pytest.mark.parametrize(
    "odd", [2.0**53, -(2.0**53), 2.0**53 + 2, 1e300, 1.5, float("inf"), float("nan")]
)
def test_a_number_that_may_be_two_ids_identifies_nobody_where_ids_are_text(tmp_path, odd):
    ids = [*range(29), odd]
    rows = arrow(pid=pa.array(ids, pa.float64()))
    assert counted(tmp_path / "arrow", rows, others=pa.table({"pid": ["a"], "y": [1]})) == [10, 19]
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    objects = pd.DataFrame(ROWS | {"pid": pd.Series(["text", *ids[1:]], dtype=object)})
    assert counted(tmp_path / "objects", objects) == [10, 19]


CELLS_OF_A_BUFFER = 2048


def of_four_digits(*, without=None):
    """Two buffers of patients; every other cell of the second has more digits than four."""
    first = [1 + who % 2 for who in range(CELLS_OF_A_BUFFER)]
    second = [10**6 if who % 2 else 3 for who in range(CELLS_OF_A_BUFFER)]
    cells = pa.array([Decimal(cell) for cell in first + second], pa.decimal128(38, 0))
    pids = [who for who in range(2 * CELLS_OF_A_BUFFER) if who != without]
    codes = cells.cast(pa.decimal128(4, 0), safe=False).take(pa.array(pids))
    return pa.table({"pid": pids, "code": codes})


def as_given(frame, library):
    match library:
        case "pandas":
            pd = pytest.importorskip("pandas", reason="pandas is not installed")
            return frame.to_pandas(types_mapper=pd.ArrowDtype)
        case "arrow, dictionaries":
            at = frame.schema.get_field_index("code")
            every = pa.DictionaryArray.from_arrays(
                pa.array(range(len(frame)), pa.int32()), frame["code"].combine_chunks()
            )
            return frame.set_column(at, "code", every)
        case _:
            return frame


def by_digits(folder, frame):
    source = DATASET.replace("categories: [a, b]", "categories: ['1', '2', '3']")
    source = source.replace("      x: {kind: number, lower: 0, upper: 10}\n", "")
    folder.mkdir(exist_ok=True)
    (folder / "dataset.yaml").write_text(source)
    with confide.open(folder / "dataset.yaml", frames={"visits": frame}) as ws:
        plan = ws.plan(CODES | {"per-patient": {"cells": 1}}, epsilon="80")
        return [estimate.value for estimate in ws.release(plan).estimates]


@pytest.mark.parametrize("library", ["arrow", "arrow, dictionaries", "pandas"])
def test_a_decimal_of_too_many_digits_is_nobody_else_s_cell(tmp_path, library):
    half = CELLS_OF_A_BUFFER // 2
    everybody = by_digits(tmp_path / "all", as_given(of_four_digits(), library))
    assert everybody == [half, half, half]
    less = of_four_digits(without=CELLS_OF_A_BUFFER - 1)
    assert by_digits(tmp_path / "one less", as_given(less, library)) == [half, half - 1, half]


@pytest.mark.mutant
def test_decimals_that_are_not_looked_at_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_cells, "_within_digits", lambda array: array)
    with pytest.raises(AssertionError):
        test_a_decimal_of_too_many_digits_is_nobody_else_s_cell(tmp_path, "arrow")


@pytest.mark.parametrize("places", [pa.int8(), pa.int32(), pa.uint64()])
def test_a_place_that_a_dictionary_lacks_is_a_missing_cell(tmp_path, places):
    beyond = 2**64 - 1 if places == pa.uint64() else -1
    at = pa.array([0, 1, 1] * 9 + [0, 2, beyond], places)
    column = pa.DictionaryArray.from_arrays(at, pa.array(["a", "b"]), safe=False)
    assert counted(tmp_path, arrow(code=column)) == [10, 18]


def test_a_byte_that_stands_for_true_or_false_is_one_of_the_two(tmp_path):
    bytes_ = pa.array([0, 1, -128] * 10, pa.int8())
    column = pa.ExtensionArray.from_storage(pa.bool8(), bytes_)
    assert counted(tmp_path, arrow(x=column)) == COUNTED
    read = arrow_cells.plain(pa.table({"x": column}))["x"]
    assert read.to_pylist() == [False, True, True] * 10


def test_an_extension_of_text_is_text(tmp_path):
    cells = pa.array([b"a", b"b", b"b"] * 9 + [b"a", b"b", b"\xff"]).view(pa.string())
    column = pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "code", "site"), cells)
    assert counted(tmp_path, arrow(code=column)) == [10, 19]


def test_runs_that_do_not_rise_and_texts_that_lie_elsewhere_are_refused(tmp_path):
    texts = pa.array(["a", "b", "b"] * 10)
    ends = pa.array([*range(1, 31)], pa.int32())
    runs = pa.RunEndEncodedArray.from_arrays(ends, texts)
    moved(runs.run_ends.buffers()[1], (2, 1))
    elsewhere = pa.array(["a", "b", "b"] * 10)
    moved(elsewhere.buffers()[1], (0, 2**30, 2))
    for column in (runs, elsewhere):
        with pytest.raises(ContractError, match="'visits' cannot be read"):
            counted(tmp_path, arrow(code=column))


def moved(buffer, numbers):
    """Write the first integers of a buffer, as no call of Arrow would."""
    ctypes.memmove(buffer.address, struct.pack(f"<{len(numbers)}i", *numbers), 4 * len(numbers))


FLAGS = """\
dataset: {id: t, lineage: t, snapshot: "1"}
source: {kind: frames}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 400}}
tables:
  people:
    rows-per-patient: 1
    without: {gone: ["true"]}
    columns:
      smokes: {categories: ["true", "false"]}
      pack: {from: smokes, kind: number, lower: 0, upper: 1}
      left: {from: gone, kind: number, lower: 0, upper: 1, missing: ["false"]}
"""
OF_FLAGS = (
    {"id": "codes", "kind": "histogram", "by": ["smokes"]},
    {"id": "sum", "kind": "sum", "column": "pack"},
    {"id": "left", "kind": "count", "where": {"left": "known"}},
)


@pytest.mark.parametrize("library", ["arrow", "pandas"])
def test_a_flag_is_a_code_and_a_number_at_a_time_of_python_objects_too(tmp_path, library):
    """A column of flags, some of which are missing, is one of Python objects in pandas."""
    columns = {
        "pid": list(range(30)),
        "smokes": [True, False, None] * 10,
        "gone": [False] * 24 + [True] * 3 + [None] * 3,
    }
    frame = pa.table(columns)
    if library == "pandas":
        pd = pytest.importorskip("pandas", reason="pandas is not installed")
        frame = pd.DataFrame({name: pd.Series(c, dtype=object) for name, c in columns.items()})
    (tmp_path / "dataset.yaml").write_text(FLAGS)
    with confide.open(tmp_path / "dataset.yaml", frames={"people": frame}) as ws:
        release = ws.release(ws.plan(*OF_FLAGS, epsilon="300"))
    found = {each: [e.value for e in release.of(each)] for each in ("codes", "sum", "left")}
    assert found["codes"] == [9, 9]
    assert (found["sum"][0], found["left"][0]) == (9, 0)


@pytest.mark.parametrize("kind", ["number", "category"])
def test_a_flag_among_objects_is_a_number_where_one_is_declared(kind):
    pd = pytest.importorskip("pandas")
    column = number("x", 0, 10) if kind == "number" else category("x", {"True": 0}, 1)
    frame = pd.DataFrame({"pid": ["1", "2"], "x": np.array([True, 2.5], object)})
    table = Table(name="t", source="t", columns=(column,))
    typed, apart = _with_types(frame, table, wanted={"pid", "x"}, ids={"pid"})
    assert list(typed["x"]) == (["1", "2.5"] if kind == "number" else ["true", "2.5"])
    assert apart == {}
