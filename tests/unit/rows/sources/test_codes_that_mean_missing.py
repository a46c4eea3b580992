"""A code that means missing is found however a file spells it, and before a plan is made."""

from collections.abc import Mapping

import duckdb
import pyarrow as pa
import pytest

import confide
from confide.errors import ContractError

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 650}}}}
tables: {{v: {{from: {table}, rows-per-patient: 1, columns: {{x: {column}}}}}}}
"""
NUMBER = "{kind: number, lower: 0, upper: 1000, step: 0.1, missing: [%s]}"
DAY = "{kind: date, lower: 1900-01-01, upper: 2026-12-31, missing: [%s]}"
CODE = "{categories: {1: one, 01: two}, missing: [%s]}"
SPELLED = ["999", "999.0", " 999", "999 ", "+999", "0999", "9.99e2", "999.", "9_99"]
NEAR = ["999.1", "998", "9990", "-999"]


def states(text: str, *, folder, frames: Mapping[str, pa.Table] | None = None) -> dict[str, float]:
    """Return how many cells are in which state; noise at this ε is 0 but once in 10⁸ times."""
    quality = {"id": "q", "kind": "data-quality", "table": "v"}
    with confide.open(text, frames=frames, folder=folder) as ws:
        found = ws.release(ws.plan(quality, epsilon="600")).of("q")
    return {e.key[1]: e.value for e in found if e.quantity == "count" and e.key[0]}


def of_file(cells: list[str], *, column: str, folder) -> dict[str, float]:
    rows = "".join(f"{place},{cell}\n" for place, cell in enumerate(cells))
    (folder / "v.csv").write_text(f"pid,x\n{rows}")
    return states(DATASET.format(source="{kind: csv, path: .}", table="v.csv", column=column), folder=folder)  # fmt: skip


def test_a_number_that_means_missing_is_so_however_it_is_spelled(tmp_path):
    """pandas writes whole numbers as 999.0 where another cell of the column is empty."""
    found = of_file([*SPELLED, *NEAR, "1", ""], column=NUMBER % "999", folder=tmp_path)
    assert found == {"ok": 3, "missing": len(SPELLED) + 1, "out of range": 2}


@pytest.mark.parametrize("code", ["-9.0", "-09", "-9"])
def test_a_code_is_itself_read_as_a_number(tmp_path, code):
    found = of_file(["-9", "-9.0", "-90", "9"], column=NUMBER % code, folder=tmp_path)
    assert found == {"ok": 1, "missing": 2, "out of range": 1}


def test_words_beside_numbers_may_mean_missing_and_so_does_nothing(tmp_path):
    column = NUMBER % '"", NA, ".", -1'
    found = of_file(["NA", ".", "-1.00", "", "?", "7"], column=column, folder=tmp_path)
    assert found == {"ok": 1, "missing": 4, "out of range": 1}


def test_a_date_that_means_missing_is_so_with_a_time_too(tmp_path):
    cells = ["1901-01-01", "1901-01-01 00:00:00", "1901/1/1", "1901-01-02", "1900-02-01T10:00Z"]
    found = of_file(cells, column=DAY % "1901-01-01, 1900/02/01", folder=tmp_path)
    assert found == {"ok": 1, "missing": 4, "out of range": 0}


def test_a_code_of_a_category_is_a_text_so_another_spelling_is_another_code(tmp_path):
    found = of_file(["1", "01", "9", "09", "9.0"], column=CODE % "9", folder=tmp_path)
    assert found == {"ok": 2, "missing": 1, "unknown code": 2}


@pytest.mark.parametrize("type_", ["FLOAT", "DOUBLE", "DECIMAL(6,2)", "VARCHAR"])
def test_a_code_with_decimals_is_found_in_every_type_of_number(tmp_path, type_):
    with duckdb.connect(str(tmp_path / "d.duckdb")) as file:
        file.execute(f"CREATE TABLE v AS SELECT i AS pid, (i - 99.9)::{type_} AS x FROM range(3) r(i)")  # fmt: skip
    text = DATASET.format(source="{kind: duckdb, path: d.duckdb}", table="v", column=NUMBER % "-99.9")  # fmt: skip
    assert states(text, folder=tmp_path) == {"ok": 0, "missing": 1, "out of range": 2}


@pytest.mark.parametrize("type_", [pa.int32(), pa.float32(), pa.float64(), pa.string()])
def test_a_whole_code_written_with_a_decimal_is_found_in_frames(tmp_path, type_):
    frames = {"v": pa.table({"pid": [1, 2, 3], "x": pa.array([-9, 5, 7]).cast(type_)})}
    text = DATASET.format(source="{kind: frames}", table="v", column=NUMBER % "-9.0")
    assert states(text, folder=tmp_path, frames=frames) == {"ok": 2, "missing": 1, "out of range": 0}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "match"),
    [
        ('{categories: {yes: yes, "": none}}', "'x' maps the empty text, which counts as missing"),
        ('{categories: [yes, ""]}', "'x' maps the empty text, which counts as missing"),
        ('{categories: {"\\u00e9": one, "e\\u0301": two}}', "two spellings of one Unicode text"),
    ],
)
def test_codes_that_cannot_be_told_apart_are_refused_before_there_is_a_plan(
    tmp_path, column, match
):
    text = DATASET.format(source="{kind: csv, path: .}", table="v.csv", column=column)
    with pytest.raises(ContractError, match=match):
        confide.open(text, folder=tmp_path)
