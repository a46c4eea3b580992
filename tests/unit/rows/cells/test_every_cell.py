"""Whatever a cell holds, it stops no query, joins no other, and refuses nothing before a charge."""

import datetime as dt
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import ContractError
from confide.files.dataset import declare
from confide.files.yaml_text import parse_yaml
from confide.rows.cells.physical import TYPES, Physical, physical
from confide.rows.engines.duckdb import open_engine
from confide.rows.sources import arrow_cells
from confide.tables.aggregates.aggregate import Aggregate
from confide.tables.aggregates.keyed import KeyedAggregate
from confide.tables.aggregates.value import Ones, Plain
from confide.tables.bound_contributions import CellBound, RowBound
from confide.tables.expression import ColumnOf, QualityOf
from confide.tables.relation import Relation
from rows_world import KEY

DATASET = """\
dataset: {{id: t, lineage: t, snapshot: "1"}}
source: {source}
protects: {{unit: patient, id: pid, adjacency: add-remove}}
accounting: {{measure: pure}}
caps: {{lifetime: {{epsilon: 1}}}}
tables: {{v: {{from: {table}, columns: {{x: {column}}}}}}}
"""
CODES = ", ".join(f"{code}: one" for code in (-5, 3, *range(100, 180, 2)))
COLUMNS = {
    "number": "{kind: number, lower: 0, upper: 10}",
    "category": f"{{categories: {{{CODES}, a: two}}}}",
    "date": "{kind: date, lower: 2026-01-01, upper: 2026-12-31}",
    "text": "{kind: text}",
}
X, ROWS = ColumnOf(table="v", column="x"), Relation(table="v")


def asked(kind):
    found = [
        Aggregate(relation=ROWS, axes=(), value=Ones(), bounds=RowBound(max_rows=2)),
        Aggregate(
            relation=ROWS, axes=(QualityOf(of=X),), value=Ones(), bounds=CellBound(max_cells=1)
        ),
    ]
    match kind:
        case "number":
            found.append(
                Aggregate(relation=ROWS, axes=(), value=Plain(of=X), bounds=RowBound(max_rows=2))
            )
        case "category":
            found.append(
                Aggregate(relation=ROWS, axes=(X,), value=Ones(), bounds=CellBound(max_cells=1))
            )
        case "text":
            found.append(KeyedAggregate(relation=ROWS, key=X, bounds=CellBound(max_cells=1)))
    return tuple(found)


def opened(folder, kind, *, source, table="v", frames=None):
    text = DATASET.format(source=source, table=table, column=COLUMNS[kind])
    declared = declare(parse_yaml(text, name="d"), path=folder / "dataset.yaml")
    engine = open_engine(
        declared.source, base=folder, dataset=declared.dataset, hash_key=KEY, frames=frames
    )
    return engine, declared.dataset


def exact(folder, kind, **source):
    engine, dataset = opened(folder, kind, **source)
    with engine:
        engine.check(asked(kind), dataset=dataset)
        return engine.aggregate(asked(kind), dataset=dataset).reveal_to_gate()


FILE = "{kind: duckdb, path: d.duckdb}"
FOLDER = "{kind: parquet, path: .}"
FRAMES = "{kind: frames}"


def stored(folder, *statements):
    with duckdb.connect(str(folder / "d.duckdb")) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NOCASE.NOACCENT"])
def test_ids_and_texts_that_a_collation_calls_equal_stay_apart(tmp_path, collation):
    rows = "('Ana', 'a'), ('ana', 'A'), ('ANA', 'á'), ('aná', 'a')"
    for folder, type_ in (("plain", "VARCHAR"), ("collated", f"VARCHAR COLLATE {collation}")):
        (tmp_path / folder).mkdir()
        stored(
            tmp_path / folder,
            f"CREATE TABLE v (pid {type_}, x {type_})",
            f"INSERT INTO v VALUES {rows}",
        )
    for kind in ("category", "text"):
        plain, collated = (
            exact(tmp_path / each, kind, source=FILE) for each in ("plain", "collated")
        )
        assert collated == plain
        assert collated[0] == (4,)
    assert exact(tmp_path / "collated", "text", source=FILE)[2] == {"a": 2, "A": 1, "á": 1}


FAR = {
    "HUGEINT": ["170141183460469231731687303715884105727", "-5"],
    "UHUGEINT": ["340282366920938463463374607431768211455", "100"],
    "UBIGINT": ["18446744073709551615", "100"],
    "DECIMAL(38,10)": ["'-9999999999999999999999999999.9999999999'", "3"],
    "DECIMAL(38,38)": ["0.5", "0"],
    "DOUBLE": ["'nan'", "'inf'", "1e308"],
    "BOOLEAN": ["true"],
    "VARCHAR": ["chr(0)", "'infinity'", "repeat('9', 500)", "'290000-01-01 (BC)'"],
    "ENUM('a', 'A')": ["'A'"],
    "UUID": ["'00000000-0000-0000-0000-000000000000'"],
    "DATE": ["'infinity'", "'-infinity'", "'5881580-07-10'", "'5877642-06-25 (BC)'"],
    "TIMESTAMP": ["'infinity'", "'290309-12-22 (BC) 00:00:00'", "'294247-01-10 04:00:54'"],
    "TIMESTAMP_S": ["'infinity'", "'-infinity'", "'290309-12-22 (BC) 00:00:00'"],
    "TIMESTAMP_MS": ["'infinity'", "'294247-01-10 04:00:54'"],
    "TIMESTAMP_NS": ["'infinity'", "'-infinity'"],
    "TIMESTAMPTZ": ["'infinity'", "'294247-01-10 04:00:54+00'"],
}  # fmt: skip


@pytest.mark.thinned(2)
@pytest.mark.parametrize("type_", FAR)
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_native_type_is_refused_when_bound_or_read_cell_by_cell(tmp_path, type_, kind):
    cells = [f"({i}, {cell}::{type_})" for i, cell in enumerate([*FAR[type_], "NULL"])]
    stored(
        tmp_path, f"CREATE TABLE v (pid INT, x {type_})", f"INSERT INTO v VALUES {', '.join(cells)}"
    )
    engine, dataset = opened(tmp_path, kind, source=FILE)
    with engine:
        try:
            engine.check(asked(kind), dataset=dataset)
        except ContractError:
            return
        assert engine.aggregate(asked(kind), dataset=dataset).reveal_to_gate()[0] == (len(cells),)


@pytest.mark.parametrize("type_", [t for t in FAR if not t.startswith(("DATE", "TIME", "BOOL"))])
def test_no_id_stops_a_query(tmp_path, type_):
    cells = [f"({cell}::{type_}, {i})" for i, cell in enumerate([*FAR[type_], "NULL"])]
    stored(
        tmp_path, f"CREATE TABLE v (pid {type_}, x INT)", f"INSERT INTO v VALUES {', '.join(cells)}"
    )
    assert exact(tmp_path, "number", source=FILE)[0][0] < len(cells)


@pytest.mark.parametrize(
    "type_",
    ["TIME", "INTERVAL", "BLOB", "BIT", "JSON", "VARIANT", "INT[]", "STRUCT(a INT)", "BIGNUM"],
)
def test_other_types_are_refused_when_they_are_bound(tmp_path, type_):
    stored(tmp_path, f"CREATE TABLE v (pid INT, x {type_})")
    for kind in COLUMNS:
        with pytest.raises(ContractError, match="values of another type"):
            exact(tmp_path, kind, source=FILE)


def test_a_generated_column_is_refused_when_it_is_bound(tmp_path):
    stored(tmp_path, "CREATE TABLE v (pid INT, x DOUBLE GENERATED ALWAYS AS (random()))")
    with pytest.raises(ContractError, match="computed whenever they are read"):
        exact(tmp_path, "number", source=FILE)


def test_an_unknown_type_is_refused():
    assert physical("ENUMERATION") is Physical.OTHER
    assert physical("TIMESTAMP_PS") is Physical.OTHER
    assert physical("DECIMAL(4,1)[]") is Physical.OTHER
    assert Physical.OTHER not in TYPES.values()


TIMES = [2**63 - 1, -(2**63), 0, 1_767_225_600]
UNITS = ["s", "ms", "us", "ns"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Paris"])
def test_no_time_in_a_frame_stops_a_query(tmp_path, unit, zone):
    cells = [*TIMES[:3], TIMES[3] * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit], None]
    x = pa.array(cells, pa.int64()).view(pa.timestamp(unit, zone))
    for column in (x, x.dictionary_encode()):
        frame = pa.table({"pid": range(5), "x": column})
        found = exact(tmp_path, "date", source=FRAMES, frames={"v": frame})
        assert found == ((5,), (1, 1, 3))


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("unit", ["us", "ns", "int96"])
def test_no_time_in_a_parquet_file_stops_a_query(tmp_path, unit, statistics):
    x = pa.array(TIMES, pa.int64()).view(pa.timestamp("us" if unit == "us" else "ns"))
    pq.write_table(
        pa.table({"pid": range(4), "x": x}), tmp_path / "v.parquet",
        write_statistics=statistics, use_deprecated_int96_timestamps=unit == "int96",
    )  # fmt: skip
    assert exact(tmp_path, "date", source=FOLDER, table="v.parquet")[0] == (4,)


@pytest.mark.parametrize("cell", [2**62, 0])
@pytest.mark.parametrize("statistics", [True, False])
def test_milliseconds_in_parquet_are_refused_whatever_a_cell_holds(tmp_path, statistics, cell):
    x = pa.array([cell], pa.int64()).view(pa.timestamp("ms"))
    frame = pa.table({"pid": [1], "x": x})
    pq.write_table(frame, tmp_path / "v.parquet", write_statistics=statistics)
    with pytest.raises(ContractError, match="timestamps in milliseconds"):
        exact(tmp_path, "date", source=FOLDER, table="v.parquet")
    other = pa.table({"pid": [1], "x": [3], "far": x})
    pq.write_table(other, tmp_path / "v.parquet", write_statistics=statistics)
    assert exact(tmp_path, "number", source=FOLDER, table="v.parquet")[2] == (3,)


@pytest.mark.parametrize("kind", ["text", "category"])
def test_text_of_a_parquet_file_that_is_no_utf8_stops_no_query(tmp_path, kind):
    texts = pa.array([b"a", b"\xff", b"\xe9\x00", None]).view(pa.string())
    pq.write_table(pa.table({"pid": range(4), "x": texts}), tmp_path / "v.parquet")
    assert exact(tmp_path, kind, source=FOLDER, table="v.parquet")[0] == (4,)
    ids = pa.array([b"a", b"Jos\xe9", b"Jos\xe8"]).view(pa.string())
    pq.write_table(pa.table({"pid": ids, "x": ids}), tmp_path / "v.parquet")
    assert exact(tmp_path, kind, source=FOLDER, table="v.parquet")[0] == (1,)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_folder_is_no_column(tmp_path, ending):
    """Hive partitioning would make one patient of two, and 77 of every value."""
    base = tmp_path / "pid=77" / "x=9"
    base.mkdir(parents=True)
    frame = pa.table({"pid": [1, 2], "x": [3, 4]})
    if ending == "parquet":
        pq.write_table(frame, base / "v.parquet")
    else:
        (base / "v.csv").write_text("pid,x\n1,3\n2,4\n")
    source = f"{{kind: {ending}, path: .}}"
    assert exact(base, "number", source=source)[::2] == ((2,), (7,))
    assert exact(tmp_path, "number", source=source, table=f"pid=77/x=9/v.{ending}")[2] == (7,)


def parts(folder: Path, ending: str) -> str:
    (folder / "v").mkdir()
    for i in (1, 2):
        if ending == "parquet":
            pq.write_table(pa.table({"pid": [i], "x": [i]}), folder / "v" / f"{i}.parquet")
        else:
            (folder / "v" / f"{i}.csv").write_text(f"pid,x\n{i},{i}\n")
    return f"{{kind: {ending}, path: .}}"


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_what_tools_leave_in_a_folder_of_parts_is_not_read(tmp_path, ending):
    source = parts(tmp_path, ending)
    for name in (
        "_SUCCESS",
        f".1.{ending}.swp",
        f"._1.{ending}",
        f"_temporary.{ending}",
        "README.md",
    ):
        (tmp_path / "v" / name).write_text("not rows")
    assert exact(tmp_path, "number", source=source)[::2] == ((2,), (3,))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_folder_without_a_fitting_file_says_what_is_looked_for(tmp_path, ending):
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "_SUCCESS").write_text("")
    with pytest.raises(ContractError, match=rf"no file ending in \.{ending}.* in folder 'v'"):
        exact(tmp_path, "number", source=f"{{kind: {ending}, path: .}}")


OTHER_PARTS = [
    {"pid": [3], "x": ["3"]},
    {"pid": [3]},
    {"pid": [3], "x": [3], "y": [1]},
    {"pid": [3], "x": [3.5]},
    {"pid": [3], "x": [dt.date(2026, 1, 1)]},
]


@pytest.mark.parametrize("other", OTHER_PARTS)
def test_a_parquet_part_of_another_schema_is_refused_before_a_charge(tmp_path, other):
    source = parts(tmp_path, "parquet")
    pq.write_table(pa.table(other), tmp_path / "v" / "3.parquet")
    with pytest.raises(ContractError, match="part files differ in column"):
        exact(tmp_path, "number", source=source)


def test_a_parquet_part_in_another_order_is_read_by_name(tmp_path):
    source = parts(tmp_path, "parquet")
    pq.write_table(pa.table({"x": [5], "pid": [3]}), tmp_path / "v" / "3.parquet")
    assert exact(tmp_path, "number", source=source)[::2] == ((3,), (8,))


@pytest.mark.parametrize("header", ["x,pid", "x", "pid,x,y", "PID,x"])
def test_a_csv_part_of_another_header_is_refused_before_a_charge(tmp_path, header):
    source = parts(tmp_path, "csv")
    (tmp_path / "v" / "3.csv").write_text(f"{header}\n")
    with pytest.raises(ContractError, match=r"header of '3\.csv' differs"):
        exact(tmp_path, "number", source=source)


def test_csv_parts_with_two_separators_are_refused_before_a_charge(tmp_path):
    source = parts(tmp_path, "csv")
    (tmp_path / "v" / "3.tsv").write_text("pid\tx\n3\t3\n")
    with pytest.raises(ContractError, match=r"both \.csv and \.tsv"):
        exact(tmp_path, "number", source=source)


@pytest.mark.parametrize("text", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_one_long_text_at_many_places_has_room_beyond_2_gib(text):
    """Else whether a frame is refused, free of charge, would hang on how long the text is."""
    places, ends = pa.array([0, 1, 1], pa.int32()), pa.array([1, 3], pa.int32())
    values = pa.array(["yes", "long"], text)
    columns = {
        "dictionary": pa.DictionaryArray.from_arrays(places, values),
        "runs": pa.RunEndEncodedArray.from_arrays(ends, values),
    }
    read = arrow_cells.plain(pa.table(columns))
    assert {column.type for column in read.columns} == {pa.large_string()}
    assert read["runs"].to_pylist() == ["yes", "long", "long"]
