"""A declared code that no cell of the source's type can equal is refused before anything is
charged."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlglot import exp

import confide
from confide.errors import ContractError
from confide.rows.cells.build import select
from confide.rows.cells.clean import cell_of, text
from confide.rows.cells.code_texts import impossible
from confide.rows.cells.layout import Found
from confide.tables.schema import Column, Kind
from native_types import IN_DUCKDB, NativeType

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 650}}}}
tables: {{v: {{from: {table}, {only}columns: {{sex: {column}}}}}}}
"""
BY_SEX = {"id": "n", "kind": "histogram", "table": "v", "by": ["sex"], "per-patient": {"cells": 1}}
FILE, PARQUET, FRAMES = (
    "{kind: duckdb, path: d.duckdb}",
    "{kind: parquet, path: .}",
    "{kind: frames}",
)


def declared(folder, *, column, source=FILE, table="v", only=""):
    path = folder / "dataset.yaml"
    path.write_text(DATASET.format(source=source, table=table, column=column, only=only))
    return path


def stored(folder: Path, type_: str, value: str) -> None:
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        connection.execute("CREATE TYPE s AS ENUM ('male', 'female', 'don''t know')")
        connection.execute(
            f"CREATE TABLE v AS SELECT i AS pid, ({value})::{type_} AS sex FROM range(20) r(i)"
        )


def refused(path, *, match, frames=None):
    with confide.open(path, frames=frames) as ws:
        with pytest.raises(ContractError, match=match):
            ws.release(ws.plan(BY_SEX, epsilon="1"))
        assert ws.ledger.entries("t") == ()


def counted(path, *, frames=None):
    with confide.open(path, frames=frames) as ws:
        found = ws.release(ws.plan(BY_SEX, epsilon="600")).estimates
    return {e.key[0]: e.value for e in found if e.quantity == "count"}


@pytest.mark.parametrize(
    ("type_", "value", "codes", "match"),
    [
        ("BOOLEAN", "i % 2 = 0", "{True: f, False: m}", r"'sex' of table 'v'.*'True'.*booleans\. Write true"),
        ("BOOLEAN", "i % 2 = 0", "{1: f, 0: m}", "code '1', because the source holds booleans"),
        ("TINYINT", "1 + i % 2", '{"01": f, "02": m}', "code '01'.*integers.*plain digits"),
        ("TINYINT", "1 + i % 2", "[f, m]", "code 'f'.*integers"),
        ("DOUBLE", "1 + i % 2", '{"1.0": f, "2.0": m}', r"code '1\.0'.*plain digits"),
        ("DECIMAL(5,2)", "i / 2", '{"0.5": f}', r"code '0\.5'.*2 decimals, 0\.50"),
        ("DATE", "'2025-01-01'", "{2025-1-1: f}", "code '2025-1-1'.*2025-01-31"),
        ("s", "'male'", "[f, m]", "code 'f', because the source holds labels of an ENUM"),
        ("s", "'male'", "{male: m, f: f}", "code 'f'"),
        ("UUID", "uuid()", "{A0000000-0000-4000-8000-000000000000: f}", "lower case"),
    ],
)  # fmt: skip
def test_a_code_that_the_type_of_its_column_cannot_hold_is_refused(
    tmp_path, type_, value, codes, match
):
    stored(tmp_path, type_, value)
    refused(declared(tmp_path, column=f"{{categories: {codes}}}"), match=match)


@pytest.mark.parametrize(
    ("type_", "value", "codes"),
    [
        ("BOOLEAN", "i % 2 = 0", "{true: f, false: m}"),
        ("TINYINT", "1 + i % 2", "{1: f, 2: m}"),
        ("DOUBLE", "0.5 + i % 2", "{0.5: f, 1.5: m}"),
        ("DECIMAL(5,2)", "0.5 + i % 2", "{0.50: f, 1.50: m}"),
        (
            "s",
            "CASE i % 2 WHEN 0 THEN 'don''t know' ELSE 'male' END",
            '{"don\'t know": f, male: m}',
        ),
        ("INTEGER", "1 + i % 2", '{1: f, "01": f, 2: m}'),
        ("INTEGER", "1 + i % 2", "{1: f, rest: m}, other: m"),
    ],
)
def test_codes_as_the_type_prints_them_are_counted(tmp_path, type_, value, codes):
    stored(tmp_path, type_, value)
    assert counted(declared(tmp_path, column=f"{{categories: {codes}}}")) == {"f": 10, "m": 10}


def test_a_code_of_rows_that_the_type_cannot_hold_is_refused_too(tmp_path):
    stored(tmp_path, "TINYINT", "1 + i % 2")
    path = declared(tmp_path, column="{categories: {1: f, 2: m}}", only='only: {sex: ["01"]}, ')
    refused(path, match="code '01'.*integers")


def test_booleans_of_parquet_are_true_and_false(tmp_path):
    rows = pa.table({"pid": range(20), "sex": [i % 2 == 0 for i in range(20)]})
    pq.write_table(rows, tmp_path / "v.parquet")
    wrong = declared(
        tmp_path, column="{categories: {1: f, 0: m}}", source=PARQUET, table="v.parquet"
    )
    refused(wrong, match="code '1'.*booleans")


def test_the_labels_of_a_frame_are_found_in_its_rows_so_they_refuse_nothing(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    sexes = pd.Categorical(["f"] * 20)
    frame = pd.DataFrame({"pid": range(20), "sex": sexes})
    path = declared(tmp_path, column="{categories: [f, m]}", source=FRAMES)
    assert counted(path, frames={"v": frame}) == {"f": 20, "m": 0}


SPELLINGS = (
    *(
        "0",
        "1",
        "-1",
        "01",
        "+1",
        "1.0",
        "1.00",
        "0.5",
        ".5",
        "0.50",
        "0.500",
        "-0.5",
        "-.5",
        "1.5",
    ),
    *(
        "1e3",
        "1000",
        "1e+16",
        "1e16",
        "10000000000000000",
        "1e-05",
        "0.00001",
    ),
    *("inf", "nan", "-inf", "true", "True", "t", "false", "2025-01-31", "2025-1-31", "infinity"),
    *("a", "A", "male", "-0", "-0.0", "00000000-0000-0000-0000-000000000001", "9." + "9" * 37),
    *("12345-01-01", "0044-03-15 (BC)", "2025-01-31 00:00:00", "1_000", " 1", "1 ", "\u0661"),
)
READ = tuple(
    of
    for of in IN_DUCKDB
    if of.of.split("(")[0].split()[0]
    in {"BOOLEAN", "DATE", "DECIMAL", "DOUBLE", "ENUM", "FLOAT", "UUID"}
    or of.of.endswith("INT")
    or of.of.endswith("INTEGER")
)


def whole(code: str) -> bool:
    return code.isascii() and code.removeprefix("-").isdecimal()


@pytest.mark.parametrize("of", READ, ids=lambda of: of.name)
def test_a_code_is_possible_where_the_engine_reads_some_cell_as_it(of: NativeType):
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE rows (x {of.of})")
        cells = (of.plain, *(cell for cell in of.odd if cell is not None), *SPELLINGS)
        connection.executemany(
            f"INSERT INTO rows SELECT TRY_CAST(? AS {of.of})", [[cell] for cell in cells]
        )
        [(_, type_name, *_)] = connection.execute("DESCRIBE rows").fetchall()
        found = Found.of("x", type_name=type_name)
        read = text(cell_of(found), of=found)
        query = select(read, of=exp.Table(this=exp.to_identifier("rows"), alias="s"))
        texts = {text_ for (text_,) in connection.execute(query.sql("confideduckdb")).fetchall()}
    for code in {*SPELLINGS, *texts} - {None}:
        column = Column(name="x", kind=Kind.CATEGORY, source="x", keys=("a",), codes=((code, 0),))
        no = impossible(column, physical=found.physical, type_name=type_name)
        if code in texts and not (whole(code) and abs(int(code)) >= 2**63):  # compared as no code
            assert no is None, code
        elif not whole(code):  # what is beyond the ends of a type may be declared
            assert no is not None, code
