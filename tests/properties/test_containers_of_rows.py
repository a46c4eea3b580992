"""Rows in every container: features by name, no cell in a refusal, and no row that refuses a fit.

Each container holds the same rows; what an estimator makes of them before the charge is the same,
and what it refuses, it refuses for names, types and shapes alone, in words without a cell.
"""

import decimal
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
sparse = pytest.importorskip("scipy.sparse")

from confide.errors import ConfideError  # noqa: E402
from confide.learning import (  # noqa: E402
    DPHazardRegression,
    DPLinearRegression,
    DPLogisticRegression,
    DPPoissonRegression,
    PublicScaler,
    TemporaryLedger,
)
from confide.learning.columns import declared  # noqa: E402
from confide.learning.containers import names_of  # noqa: E402
from confide.learning.hazard import _event_and_time  # noqa: E402
from confide.learning.in_memory import OUTCOME, PATIENT, column_of, frame_of  # noqa: E402
from python_objects import missing, spellings  # noqa: E402

CELLS = [(64.587, 31), (38.885, 32), (77.123, 33)]
SHOWN = ("64.587", "38.885", "77.123", "31", "32", "33")
NAMES = ("age", "ward")
IDS = [1, 2, 3]


class Odd:
    """A table of which nobody has heard, and whose ``columns`` are the data too."""

    columns = ([64.587, 38.885, 77.123], [31, 32, 33])
    shape = (3, 2)


def by_name(kind):
    return kind({name: [row[place] for row in CELLS] for place, name in enumerate(NAMES)})


CONTAINERS = {
    "list": lambda: [list(row) for row in CELLS],
    "tuples": lambda: tuple(CELLS),
    "numpy": lambda: np.array(CELLS),
    "numpy of objects": lambda: np.array(CELLS, dtype=object),
    "pandas": lambda: by_name(pd.DataFrame),
    "pandas, places as names": lambda: pd.DataFrame(CELLS),
    "pandas, cells as names": lambda: by_name(pd.DataFrame).T.set_index(0).T,
    "pandas, Arrow": lambda: by_name(pd.DataFrame).convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: by_name(pl.DataFrame),
    "arrow": lambda: by_name(pa.table),
    "record batch": lambda: by_name(pa.RecordBatch.from_pydict),
    "sparse matrix": lambda: sparse.csr_matrix(np.array(CELLS)),
    "sparse array": lambda: sparse.coo_array(np.array(CELLS)),
    "twice the same name": lambda: pa.table([[1.5], [2.5]], names=["age", "age"]),
    "no table": lambda: {"age": [64.587, 38.885, 77.123]},
    "one row": lambda: np.array([64.587, 38.885, 77.123]),
    "cells as columns": Odd,
}
DECLARED = [
    {"bounds": {"age": (18, 100)}},
    {"bounds": {"height": (18, 100)}},
    {"bounds": {"x0": (18, 100)}},
    {"bounds": {"age": (18, 100)}, "categories": {"ward": ["a", "b"], "age": [1]}},
    {"bounds": None, "categories": {"height": ["a"]}},
    {"bounds": [(18, 100)]},
    {"bounds": None},
]
MODELS = {
    "logistic": DPLogisticRegression,
    "linear": lambda **of: DPLinearRegression(target=(0, 1), **of),
    "poisson": lambda **of: DPPoissonRegression(most_events=1, **of),
    "hazard": lambda **of: DPHazardRegression(edges=[0, 1], **of),
}


@pytest.fixture(scope="module")
def ledger():
    return TemporaryLedger()


def words_of(work):
    """Return what a refusal says; nothing where there is none."""
    try:
        work()
    except (ConfideError, TypeError) as error:
        return f"{error} {getattr(error, 'hint', '')}"
    return ""


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("model", MODELS)
def test_no_refusal_of_a_fit_says_a_cell(container, model, ledger):
    """Of a pyarrow Table, what is called ``columns`` are the cells."""
    y = [[0, 0.5], [1, 0.5], [0, 0.5]] if model == "hazard" else [0, 1, 0]
    for of in DECLARED:
        made = MODELS[model](**of, workspace=ledger)
        words = words_of(lambda made=made: made.fit(CONTAINERS[container](), y, patients=IDS))
        assert not [cell for cell in SHOWN if cell in words], words
        # a list has no width of its own: one of another width than declared is all missing
        assert words or container in {"list", "tuples", "numpy of objects"}


@pytest.mark.parametrize("container", CONTAINERS)
def test_no_refusal_of_scaling_says_a_cell(container):
    for of in DECLARED:
        words = words_of(
            lambda of=of: PublicScaler(bounds=of["bounds"]).transform(CONTAINERS[container]())
        )
        assert not [cell for cell in SHOWN if cell in words], words


FEATURES = declared(NAMES, bounds={"age": (0, 100)}, categories={"ward": [31, 32]})
SAME = [
    name for name in CONTAINERS
    if name in {"list", "tuples"} or name.startswith(("numpy", "pandas, A", "polars", "arrow", "rec", "sparse"))
]  # fmt: skip


@pytest.mark.parametrize("container", [*SAME, "pandas"])
def test_every_container_of_the_same_rows_is_the_same_rows(container):
    table = CONTAINERS[container]()
    found = frame_of(table, {OUTCOME: column_of([0, 1, 0])}, IDS, features=FEATURES)
    expected = frame_of(np.array(CELLS), {OUTCOME: column_of([0, 1, 0])}, IDS, features=FEATURES)
    assert found.equals(expected)
    if not container.startswith(("list", "tuples", "numpy", "sparse")):
        assert names_of(table) == NAMES


def test_a_fit_on_an_arrow_table_is_the_fit_on_a_frame_and_costs_nothing_more(ledger):
    def fit(table):
        return DPLogisticRegression(
            bounds={"age": (0, 100), "ward": (0, 40)}, workspace=ledger, lineage="arrow"
        ).fit(table, [0, 1, 0], patients=pa.array(IDS))

    frame = fit(by_name(pd.DataFrame))
    table = fit(by_name(pa.table))
    assert table.certificate_ == frame.certificate_
    assert list(table.feature_names_in_) == list(NAMES)


EDGES = (0.0, -0.0, 5e-324, -5e-324, 1e-300, 0.5, 1e308, -1.7e308, np.inf, -np.inf, np.nan)
WIDE = (0.5, 3, 1e-300, 1.7e308)
ODD = (
    np.longdouble("1e4000"),
    np.float16(7),
    np.complex128(1j),
    decimal.Decimal("1e400"),
    "x",
    None,
)


class Warns(float):
    """A number that says what it is."""

    def __float__(self):
        warnings.warn("the number 4711", stacklevel=1)
        return 0.5


@given(
    cells=st.lists(st.sampled_from((*EDGES, *ODD, Warns(4711))), min_size=1, max_size=4),
    edge=st.sampled_from(WIDE),
    kept=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_number_of_a_row_warns_or_stops_the_public_scaler(cells, edge, kept):
    """Whatever the caller set for NumPy; and what comes of a row is in [−1, 1] or missing."""
    plain = [cell for cell in cells if type(cell) in (float, np.longdouble)]
    held = np.array(plain or [0.0]) if kept else np.array([*cells, None], dtype=object)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        found = PublicScaler(bounds=[(str(-edge), str(edge))]).transform(held[:, None])
    assert (np.isnan(found) | (abs(found) <= 1)).all()


@pytest.mark.parametrize("edge", WIDE)
def test_a_public_scaler_maps_bounds_and_middles_exactly(edge):
    scaler = PublicScaler(bounds=[(str(-edge), str(edge))])
    found = scaler.transform(np.array([-edge, -edge / 2, 0, edge / 2, edge])[:, None])
    assert found.ravel() == pytest.approx([-1, -0.5, 0, 0.5, 1])


@pytest.mark.parametrize("more", [0, 1])
def test_how_many_zeros_there_are_refuses_no_fit(more):
    """A ColumnTransformer returns a matrix without zeros where there are many, an array else."""
    compose = pytest.importorskip("sklearn.compose")
    text = pytest.importorskip("sklearn.feature_extraction")
    pipeline = pytest.importorskip("sklearn.pipeline")
    words = [["a"]] * 50 + [[]] * (50 + more)
    frame = pd.DataFrame({"age": [0.0] * len(words), "words": words})
    hashed = text.FeatureHasher(n_features=4, input_type="string", alternate_sign=False)
    both = compose.ColumnTransformer(
        [("hashed", hashed, "words"), ("kept", "passthrough", ["age"])]
    )
    assert sparse.issparse(both.fit_transform(frame)) == bool(more)
    model = DPLogisticRegression(bounds=(-1, 1), workspace=TemporaryLedger())
    fitted = pipeline.make_pipeline(both, model).fit(
        frame,
        [0, 1] * (len(words) // 2) + [0] * more,
        dplogisticregression__patients=range(len(words)),
    )
    assert fitted[-1].n_features_in_ == 5


@pytest.mark.parametrize("kind", [pa.table, pl.DataFrame])
def test_a_cell_that_is_missing_changes_no_other_id_or_category(kind):
    """NumPy makes floats of whole numbers once one is missing, and 2⁵³ + 1 is none."""
    wide = 2**53 + 1
    of = declared(("code",), bounds=None, categories={"code": [wide]})
    full, gap = kind({"code": [wide, 7]}), kind({"code": [wide, None]})
    for table in (full, gap):
        ids = table["code"]
        found = frame_of(table, {}, ids, features=of).to_pydict()
        assert (found["code"][0], found[PATIENT][0]) == (str(wide), str(wide))


def test_a_cell_of_arrow_that_python_cannot_hold_refuses_nothing():
    bad = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")]
    )
    of = declared(("code",), bounds=None, categories={"code": ["a"]})
    assert frame_of(pa.table({"code": bad}), {}, [1, 2], features=of)["code"].to_pylist() == [
        "a",
        None,
    ]
    late = pa.table({"code": pa.array([1, 2], pa.time64("ns"))})
    assert frame_of(late, {}, [1, 2], features=of)["code"].null_count == 2


CODES = [900000000000000011, 900000000000000013, 2**60 + 1]
"""Codes and ids of as many digits as registers write; a float holds none of them."""
NAMED = "Mx Roe"


def categories(cells):
    """Return whole numbers as pandas' categories, the last of them absent where it is None."""
    known = pd.Index([cell for cell in cells if cell is not None])
    codes = [-1 if cell is None else known.get_loc(cell) for cell in cells]
    return pd.Series(pd.Categorical.from_codes(codes, categories=known))


def masked(cells):
    return np.ma.MaskedArray([cell or 0 for cell in cells], mask=[cell is None for cell in cells])


WHOLE = {
    "pandas Int64": lambda cells: pd.Series(cells, dtype="Int64"),
    "pandas UInt64": lambda cells: pd.Series(cells, dtype="UInt64"),
    "pandas, Arrow": lambda cells: pd.Series(cells, dtype="int64[pyarrow]"),
    "pandas category": categories,
    "pandas objects": lambda cells: pd.Series(cells, dtype=object),
    "pandas array": lambda cells: pd.array(cells, dtype="Int64"),
    "pandas index": lambda cells: pd.Index(cells, dtype="Int64"),
    "arrow": pa.array,
    "arrow, chunks": lambda cells: pa.chunked_array([cells[:1], cells[1:]]),
    "arrow, dictionary": lambda cells: pa.array(cells).dictionary_encode(),
    "polars": lambda cells: pl.Series(cells, dtype=pl.Int64),
    "polars Int128": lambda cells: pl.Series(cells, dtype=pl.Int128),
    "polars UInt64": lambda cells: pl.Series(cells, dtype=pl.UInt64),
    "masked": masked,
    "masked objects": lambda cells: masked(cells).astype(object),
    "list with a masked cell": lambda cells: [np.ma.masked if c is None else c for c in cells],
}


def texts(cells):
    """Return texts of Arrow that nobody has checked, so that their bytes may be no text."""
    return pa.Array.from_buffers(pa.string(), len(cells), pa.array(cells, pa.binary()).buffers())


def dates(cells):
    """Return dates of Arrow by their days, of which Python's go to the year 9999 alone."""
    return pa.array(cells, pa.int32()).view(pa.date32())


def in_pandas(column, **how):
    return pa.table({"c": column}).to_pandas(**how)["c"]


BROKEN = {
    "pandas str": lambda: in_pandas(texts([b"31", b"32", NAMED.encode() + b"\xff"])),
    "pandas, Arrow texts": lambda: in_pandas(
        texts([b"31", b"32", NAMED.encode() + b"\xff"]), types_mapper=pd.ArrowDtype
    ),
    "arrow texts": lambda: texts([b"31", b"32", NAMED.encode() + b"\xff"]),
    "pandas, Arrow dates": lambda: in_pandas(
        dates([31, 32, 2**31 - 1]), types_mapper=pd.ArrowDtype
    ),
    "arrow dates": lambda: dates([31, 32, 2**31 - 1]),
}


def as_table(column):
    """Return a table of one column, as outcomes and ids are often held."""
    if isinstance(column, pd.Series):
        return pd.DataFrame({"ward": column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"ward": column})
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return pa.table({"ward": column})
    return None


def read(column, *, kept):
    """Return what is read of a column as a feature, an outcome and an id, in every shape."""
    table, of = as_table(column), declared(("ward",), bounds=None, categories={"ward": kept})
    rows = [[cell] for cell in kept]
    shapes = [column] if table is None else [column, table]
    if table is not None:
        yield frame_of(table, {}, [1, 2, 3], features=of)["ward"].to_pylist()
    for shape in shapes:
        yield frame_of(rows, {OUTCOME: column_of(shape)}, IDS, features=of)[OUTCOME].to_pylist()
        yield frame_of(rows, {}, shape, features=of)[PATIENT].to_pylist()


@pytest.mark.parametrize("kind", WHOLE)
def test_a_code_that_is_absent_changes_no_other_in_any_container(kind):
    """As floats the first two of these codes, and of these patients, would be one."""
    for last in (CODES[2], None):
        expected = [str(CODES[0]), str(CODES[1]), None if last is None else str(last)]
        for found in read(WHOLE[kind]([*CODES[:2], last]), kept=CODES):
            assert found == expected


@pytest.mark.parametrize("kind", BROKEN)
def test_a_cell_that_python_cannot_hold_is_missing_in_any_container(kind):
    for found in read(BROKEN[kind](), kept=[31, 32, 33]):
        assert found == (["31", "32", None] if "texts" in kind or "str" in kind else [None] * 3)


@pytest.mark.parametrize("kind", [*BROKEN, "outcomes in a table"])
def test_one_broken_cell_refuses_no_fit(kind):
    of = {"workspace": TemporaryLedger(), "classes": (31, 32)}
    if kind in BROKEN:
        model = DPLogisticRegression(categories={"ward": [31, 32]}, **of)
        model.fit(as_table(BROKEN[kind]()), [31, 32, 31], patients=IDS)
    else:
        y = as_table(BROKEN["arrow texts"]())
        model = DPLogisticRegression(bounds=[(0, 1)], **of).fit([[0.5]] * 3, y, patients=IDS)
    assert model.certificate_ is not None


class Unreadable:
    """An array that says a cell when it is read."""

    shape = (3, 1)

    def __array__(self, *_, **__):
        raise ValueError(NAMED)

    def __len__(self):
        return 3


@pytest.mark.parametrize("kind", [*BROKEN, "array"])
def test_what_cannot_be_read_is_refused_without_a_cell(kind, ledger):
    column = BROKEN[kind]() if kind in BROKEN else Unreadable()
    model = DPLogisticRegression(bounds=[(0, 1)], lineage="broken", workspace=ledger)
    with pytest.raises(ConfideError) as refused:  # a column is no table of features
        model.fit(column, [0, 1, 0], patients=IDS)
    assert NAMED not in str(refused.value)
    assert refused.value.__context__ is None
    if kind == "array":
        for y, ids in ((column, IDS), ([0, 1, 0], column)):
            with pytest.raises(ConfideError, match="could not be read") as refused:
                model.fit([[0.5]] * 3, y, patients=ids)
            assert refused.value.__context__ is None


def test_outcomes_of_a_hazard_lose_no_digit_and_no_gap_in_a_frame():
    event, time = [1, 0, None], [2**53 + 1, 7, 9]
    for y in (
        pd.DataFrame({"event": pd.Series(event, dtype="Int64"), "time": time}),
        pl.DataFrame({"event": event, "time": time}),
        pa.table({"event": event, "time": time}),
    ):
        found = _event_and_time(y)
        assert [list(map(int, found[0][:2])), list(map(int, found[1]))] == [event[:2], time]
    whole = np.array([(1, 7), (0, 0)], dtype=[("event", int), ("time", int)])
    gaps = np.ma.MaskedArray(whole, mask=[(False, False), (True, True)])
    assert [column.tolist() for column in _event_and_time(gaps)] == [[1, None], [7, None]]


FLOATS = {
    "list": list,
    "numpy": lambda cells: np.array(cells, dtype=np.float64),
    "numpy objects": lambda cells: np.array(cells, dtype=object),
    "pandas": lambda cells: pd.Series(cells, dtype="float64"),
    "pandas Float64": lambda cells: pd.Series(cells, dtype="Float64"),
    "pandas category": lambda cells: pd.Series(cells, dtype="float64").astype("category"),
    "arrow": lambda cells: pa.array(cells, pa.float64()),
    "polars": lambda cells: pl.Series(cells, dtype=pl.Float64),
}


@settings(max_examples=30, deadline=None)
@given(
    drawn=st.lists(
        st.one_of(
            st.floats(), st.integers(-40, 40).map(lambda k: float(2**53 + k)),
            st.integers(-(2**53), 2**53).map(float),
        ),
        min_size=1, max_size=5,
    )
)  # fmt: skip
@pytest.mark.parametrize("kind", FLOATS)
def test_a_float_is_an_id_only_where_no_other_whole_number_is_it(kind, drawn):
    of = declared(("age",), bounds={"age": (0, 1)}, categories=None)
    found = frame_of([[0.5]] * len(drawn), {}, FLOATS[kind](drawn), features=of)[PATIENT]
    assert found.to_pylist() == [
        str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else None for cell in drawn
    ]


@pytest.mark.parametrize("person", [12, 2**60 + 1, "12"])
def test_an_id_is_one_patient_whatever_object_says_it(person):
    ids = [*spellings(person), True, decimal.Decimal("0.5"), *missing()]
    of = declared(("age",), bounds={"age": (0, 1)}, categories=None)
    found = frame_of([[0.5]] * len(ids), {}, ids, features=of)[PATIENT].to_pylist()
    said = len(spellings(person))
    assert found == [str(person)] * said + [None] * (len(ids) - said)


def test_a_code_is_one_category_whatever_object_says_it():
    cells = [*spellings(12), *missing()]
    of = declared(("code",), bounds=None, categories={"code": [12]})
    found = frame_of([[cell] for cell in cells], {}, None, features=of)["code"].to_pylist()
    assert found == ["12"] * len(spellings(12)) + [None] * len(missing())


def test_a_float_among_long_ids_is_nobody_and_no_other_patient():
    ids = [2**60 + k for k in range(3)]
    ids[1] = float(ids[1])
    of = declared(("age",), bounds={"age": (0, 1)}, categories=None)
    found = frame_of([[0.5]] * 3, {}, ids, features=of)[PATIENT].to_pylist()
    assert found == [str(2**60), None, str(2**60 + 2)]


ODD_CELLS = st.one_of(
    st.none(), st.text(max_size=3), st.floats(), st.integers(), st.just(decimal.Decimal("sNaN"))
)
ODD_ROWS = st.one_of(
    ODD_CELLS,
    st.lists(ODD_CELLS, max_size=4),
    st.lists(ODD_CELLS, max_size=4).map(tuple),
    st.lists(st.floats(), max_size=3).map(np.array),
    st.dictionaries(st.text(max_size=2), ODD_CELLS, max_size=2),
)


def frame(rows, outcomes, ids):
    return frame_of(rows, {OUTCOME: column_of(outcomes)}, ids, features=FEATURES).to_pydict()


@settings(max_examples=200, deadline=None)
@given(
    odd=ODD_ROWS, outcome=ODD_ROWS, patient=ODD_ROWS, nested=st.booleans(), place=st.integers(0, 3)
)
def test_no_row_of_a_list_changes_another_row_or_refuses_the_fit(
    odd, outcome, patient, nested, place
):
    """Each row is a patient's: also one of another width, among outcomes and ids that are rows."""

    def column(values):
        return [[value] for value in values] if nested else list(values)

    outcomes, ids = column([0, 1, 0]), column(IDS)
    before = frame(CELLS, outcomes, ids)
    after = frame(
        [*CELLS[:place], odd, *CELLS[place:]],
        [*outcomes[:place], outcome, *outcomes[place:]],
        [*ids[:place], patient, *ids[place:]],
    )
    for name, cells in after.items():
        assert cells[:place] + cells[place + 1 :] == before[name]
    if not isinstance(odd, list | tuple | np.ndarray) or len(odd) != len(NAMES):
        assert np.isnan(after["age"][place])
        assert after["ward"][place] is None


@settings(max_examples=100, deadline=None)
@given(odd=ODD_ROWS, place=st.integers(0, 2))
def test_no_outcome_of_a_hazard_changes_another_or_refuses_the_fit(odd, place):
    rows = [[1, 30.0], [0, 400.0]]
    event, time = _event_and_time([*rows[:place], odd, *rows[place:]])
    others = [k for k in range(3) if k != place]
    assert [[event[k], time[k]] for k in others] == rows


@pytest.mark.parametrize("odd", [None, [50.0, 1.0], [], [50.0], "50", {"age": 50.0}])
def test_one_row_of_a_list_of_another_width_is_missing_and_fits(odd, ledger):
    rows, y = [[20.0]] * 30 + [odd], [0, 1] * 15 + [0]
    model = DPLogisticRegression(bounds=[(18, 100)], workspace=TemporaryLedger()).fit(
        rows, y, patients=list(range(31))
    )
    assert model.n_features_in_ == 1
    scaled = PublicScaler(bounds=[(18, 100)]).transform(rows)
    assert scaled.shape == (31, 1)
    assert not np.isnan(scaled[:30]).any()


def test_how_many_columns_a_list_has_is_declared_and_not_looked_up():
    words = words_of(
        lambda: DPLogisticRegression(bounds=(18, 100), workspace=TemporaryLedger()).fit(
            [[20.0]] * 3, [0, 1, 0], patients=IDS
        )
    )
    assert "a list of rows" in words
