"""What a Parquet file keeps of a cell may be more than its type says: ids, decimals, and others'
cells."""

from pathlib import Path

import pytest

import confide
from confide.errors import ContractError
from confide.rows.dialects import duckdb as dialect
from confide.rows.sources import parquet
from parquet_bytes import (
    BYTE_ARRAY,
    DECIMAL,
    FIXED,
    INT_8,
    INT_16,
    INT_32,
    INT_64,
    UINT_8,
    UINT_16,
    UINT_32,
    UINT_64,
    Stored,
    integers,
    texts,
    write,
)

DATASET = """\
dataset: {id: t, lineage: t, snapshot: "1"}
source: {kind: parquet, path: .}
protects: {unit: patient, id: pid, adjacency: add-remove}
accounting: {measure: pure}
caps: {lifetime: {epsilon: 1000}}
tables:
  v:
    rows-per-patient: 1
    columns:
      x: {kind: number, lower: -5, upper: 10}
      sex: {categories: [f, m]}
"""
SEXES = {"id": "n", "kind": "histogram", "table": "v", "by": ["sex"]}
SUM = {"id": "s", "kind": "sum", "table": "v", "column": "x"}


def released(folder: Path, asked, *columns):
    """Noise of ε = 80 is 0 but once in 10³⁴ times."""
    write(folder / "v.parquet", *columns)
    (folder / "dataset.yaml").write_text(DATASET)
    with confide.open(folder / "dataset.yaml") as ws:
        try:
            found = ws.release(ws.plan(asked, epsilon="80")).estimates
        except ContractError:
            assert ws.ledger.entries("t") == ()
            raise
    return [estimate.value for estimate in found]


def rows(pid):
    count = len(pid.cells)
    sexes = [("f", "m")[place % 2] for place in range(count)]
    return pid, integers("x", [1] * count), texts("sex", sexes)


def digits(precision, *, bits=None, length=None, cells=(1, 2, 3, 4), name="pid", **said):
    of = {"converted": DECIMAL, "precision": precision, "scale": 0, **said}
    if bits is not None:
        return integers(name, cells, bits=bits, **of)
    kind = BYTE_ARRAY if length is None else FIXED
    written = [cell.to_bytes(length or 2, "big", signed=True) for cell in cells]
    return Stored(name=name, physical=kind, length=length, cells=written, **of)


def whole(converted, *, bits):
    return integers("pid", (1, 2, 3, 4), bits=bits, converted=converted)


@pytest.mark.parametrize(
    "pid",
    [
        *(pytest.param(whole(of, bits=32), id=str(of)) for of in (INT_8, INT_16, UINT_8, UINT_16)),
        pytest.param(digits(4, bits=32), id="decimal-4-in-32-bits"),
        pytest.param(digits(3, bits=64), id="decimal-3-in-64-bits"),
        pytest.param(digits(9, bits=64), id="decimal-9-in-64-bits"),
    ],
)
def test_numbers_whose_upper_bits_are_dropped_identify_nobody(tmp_path, pid):
    with pytest.raises(ContractError, match=r"'pid' of table 'v' is of a type narrower.*32 or 64"):
        released(tmp_path, SEXES, *rows(pid))


@pytest.mark.parametrize(
    "pid",
    [
        *(pytest.param(whole(of, bits=32), id=str(of)) for of in (INT_32, UINT_32)),
        *(pytest.param(whole(of, bits=64), id=str(of)) for of in (INT_64, UINT_64)),
        pytest.param(whole(None, bits=32), id="32-bits"),
        pytest.param(digits(9, bits=32), id="decimal-9-in-32-bits"),
        pytest.param(digits(18, bits=64), id="decimal-18-in-64-bits"),
        pytest.param(digits(12, bits=32), id="decimal-12-in-32-bits"),
        pytest.param(digits(38, length=16), id="decimal-38-in-16-bytes"),
        pytest.param(digits(4, length=2), id="decimal-4-in-2-bytes"),
        pytest.param(digits(9, length=3), id="decimal-9-in-3-bytes"),
    ],
)
def test_numbers_of_which_every_bit_is_read_identify_persons(tmp_path, pid):
    assert released(tmp_path, SEXES, *rows(pid)) == [2, 2]


@pytest.mark.parametrize(
    "x",
    [
        *(digits(4, length=length, name="x") for length in (3, 16)),
        *(digits(9, length=5, name="x"), digits(18, length=9, name="x")),
        *(digits(38, length=length, name="x") for length in (17, 40)),
        *(digits(precision, name="x") for precision in (4, 38)),
    ],
    ids=lambda x: f"{x.precision}-digits-in-{x.length or 'any'}-bytes",
)
def test_decimals_of_more_bytes_than_the_engine_has_for_them_are_refused(tmp_path, x):
    pid, _, sexes = rows(integers("pid", range(4)))
    with pytest.raises(ContractError, match=r"'x' of table 'v'.*more bytes than their digits need"):
        released(tmp_path, SUM, pid, x, sexes)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (digits(38, length=16, name="x", cells=(1, 2, 3, -(2**127))), 6),
        (digits(38, length=16, name="x", cells=(1, 2, 3, 2**127 - 1)), 6),
        (digits(4, length=2, name="x", cells=(1, 2, 3, 2**15 - 1)), 6),
        (digits(4, length=2, name="x", cells=(1, 2, 3, 9999)), 16),
    ],
)
def test_a_decimal_of_more_digits_than_declared_is_missing(tmp_path, x, expected):
    pid, _, sexes = rows(integers("pid", range(4)))
    assert released(tmp_path, SUM, pid, x, sexes) == [expected]


def test_an_id_of_more_digits_than_declared_identifies_nobody(tmp_path):
    pid = digits(38, length=16, cells=(1, 2, 3, -(2**127)))
    assert released(tmp_path, SEXES, *rows(pid)) == [2, 1]


@pytest.fixture(params=["integers", "decimals"])
def beyond(request):
    """Cells of which two are read as -25536 and 4464; a file says that all are 1 to 3."""
    said = {"least": (1).to_bytes(4, "little"), "most": (3).to_bytes(4, "little")}
    cells = (1, 2, 40_000, 70_000)
    if request.param == "integers":
        return integers("x", cells, bits=32, converted=INT_16, **said)
    return digits(4, bits=32, cells=cells, name="x", **said)


def clipped(folder, x):
    pid, _, sexes = rows(integers("pid", range(4)))
    [found] = released(folder, SUM, pid, x, sexes)
    beyond = {"decimals": 0, "integers": -5}["decimals" if x.precision else "integers"]
    assert found == 1 + 2 + beyond + 10


def test_what_a_file_says_of_narrowed_cells_is_not_believed(tmp_path, beyond):
    clipped(tmp_path, beyond)


@pytest.mark.mutant
def test_what_a_file_says_of_narrowed_cells_is_seen_where_it_is_believed(
    tmp_path, beyond, monkeypatch
):
    monkeypatch.setattr(dialect, "unstated", lambda cell, *, type_name: cell)  # noqa: ARG005
    monkeypatch.setattr(dialect, "within_digits", lambda cell, *, type_name: cell)  # noqa: ARG005
    with pytest.raises(AssertionError):
        clipped(tmp_path, beyond)


@pytest.mark.mutant
@pytest.mark.parametrize("pid", [whole(INT_16, bits=32), digits(4, bits=32)])
def test_two_persons_whom_the_reader_takes_for_one_are_seen(tmp_path, pid, monkeypatch):
    monkeypatch.setattr(parquet, "_OCTETS", {"INT32": 0, "INT64": 0})
    four = integers("pid", (1, 2, 3, 2**16 + 1), bits=32, converted=pid.converted,
                    precision=pid.precision, scale=pid.scale)  # fmt: skip
    assert sum(released(tmp_path, SEXES, *rows(four))) == 3
