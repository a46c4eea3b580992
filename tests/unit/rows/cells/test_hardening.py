"""The engine's connection opens the declared files and nothing else, and prints no cell."""

import hashlib
import stat
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confide.errors import ContractError, EngineError, InvalidParameterError
from confide.rows.engines.duckdb import open_engine
from confide.tables.aggregates.value import Plain
from confide.tables.bound_contributions import RowBound
from confide.tables.schema import Column, Kind, Table
from confide.tables.source import Source, SourceKind
from rows_world import KEY, PERSON, ask, category, col, dataset, number

CANARY = "CANARY-4711"
SECRETS = Table(
    name="secrets",
    source="secrets",
    columns=(
        number("amount", 0, 100),
        category("word", {"a": 0}, 2, other=1),
        Column(name="note", kind=Kind.TEXT, source="note"),
    ),
)


def warehouse(folder: Path, rows: int = 100) -> Path:
    path = folder / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"""CREATE TABLE secrets AS SELECT i % 10 AS pid, '{CANARY}' || i AS note,
            '{CANARY}' AS amount, '{CANARY}' AS word FROM range({rows}) t(i)"""
        )
    return path


def opened(folder: Path, path: str = "warehouse.duckdb", table: Table = SECRETS, **options):
    of = dataset(tables=(table,), per_patient=())
    kind = options.pop("kind", SourceKind.DUCKDB)
    source = Source(kind=kind, path=path)
    return of, open_engine(source, base=folder, dataset=of, hash_key=KEY, **options)


REFUSED = [
    "SELECT * FROM read_text('{outside}')",
    "SELECT * FROM read_csv('{outside}')",
    "SELECT * FROM read_parquet('{outside}')",
    "SELECT * FROM read_blob('{outside}')",
    "SELECT * FROM '{outside}'",
    "SELECT * FROM glob('{folder}/*')",
    "ATTACH '{folder}/other.duckdb' AS other",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "INSTALL spatial",
    "LOAD spatial",
    "SET lock_configuration = false",
    "SET enable_external_access = true",
    "RESET allowed_paths",
    "SET threads = 1",
    "SET allow_community_extensions = true",
    "SELECT * FROM a_python_variable",
    "INSERT INTO source.main.secrets VALUES (1, 'x', 'y', 'z')",
    "DROP TABLE source.main.secrets",
    "CREATE TABLE source.main.more (i INTEGER)",
]


@pytest.mark.parametrize("statement", REFUSED)
def test_the_connection_refuses_everything_but_its_declared_file(tmp_path, statement):
    warehouse(tmp_path)
    outside = tmp_path / "outside.csv"
    outside.write_text("a\n1\n")
    a_python_variable = pa.table({"a": [1]})
    _, engine = opened(tmp_path)
    with engine, pytest.raises(duckdb.Error):
        engine._connection.execute(statement.format(outside=outside, folder=tmp_path)).fetchall()
    assert a_python_variable.num_rows == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["outside.csv", "warehouse.duckdb"]


def test_the_source_is_never_written_and_may_be_read_only(tmp_path):
    path = warehouse(tmp_path)
    path.chmod(stat.S_IRUSR)
    before = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
    of, engine = opened(tmp_path)
    with engine:
        assert engine.aggregate((ask("secrets"),), dataset=of).reveal_to_gate() == ((20,),)
    assert before == (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
    assert list(tmp_path.iterdir()) == [path]


def test_a_sort_larger_than_memory_spills_into_the_temporary_folder_and_leaves_nothing(tmp_path):
    rows = 3_000_000
    table = pa.table(
        {
            "pid": pa.array(range(rows), pa.int64()),
            "note": pa.array(["x"] * rows).dictionary_encode(),
            "amount": pa.array([1] * rows, pa.int8()),
            "word": pa.array(["a"] * rows).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "secrets")
    _, engine = opened(tmp_path, ".", kind=SourceKind.PARQUET, memory_limit="100MB", threads=1)
    temporary = engine._spill.path
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700
    with engine:
        spilled = engine._connection.execute(
            "SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY hash(pid), pid) AS r "
            f"FROM read_parquet('{tmp_path}/secrets'))"
        ).fetchall()
        assert spilled == [(rows,)]
    assert not temporary.exists()


def test_tables_outside_the_declared_source_are_refused(tmp_path):
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"pid": [1]}), tmp_path / "outside.parquet")
    (tmp_path / "in" / "link.parquet").symlink_to(tmp_path / "outside.parquet")
    for name in ("../outside.parquet", "link.parquet", str(tmp_path / "outside.parquet")):
        table = Table(name="t", source=name, columns=())
        with pytest.raises(ContractError, match="outside its source"):
            opened(tmp_path, "in", table, kind=SourceKind.PARQUET)


def test_a_source_that_is_no_database_is_refused_without_its_content(tmp_path):
    (tmp_path / "warehouse.duckdb").write_text(CANARY * 1000)
    with pytest.raises(ContractError, match="cannot be opened") as caught:
        opened(tmp_path)
    assert CANARY not in everything_said(caught.value)


def test_a_missing_source_is_refused(tmp_path):
    with pytest.raises(ContractError, match="does not exist"):
        opened(tmp_path)


def test_a_short_row_order_key_is_refused(tmp_path):
    warehouse(tmp_path)
    of = dataset(tables=(SECRETS,), per_patient=())
    source = Source(kind=SourceKind.DUCKDB, path="warehouse.duckdb")
    with pytest.raises(InvalidParameterError, match="at least 16 bytes"):
        open_engine(source, base=tmp_path, dataset=of, hash_key=b"short")


def test_views_are_not_tables(tmp_path):
    path = warehouse(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE VIEW v AS SELECT * FROM secrets")
    of, engine = opened(tmp_path, table=Table(name="v", source="v", columns=()))
    with engine, pytest.raises(ContractError, match="is a view in the source"):
        engine.check((ask("v"),), dataset=of)


def test_a_table_name_in_two_schemas_must_say_which(tmp_path):
    path = warehouse(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE SCHEMA other; CREATE TABLE other.secrets AS FROM secrets LIMIT 5"
        )
    of, engine = opened(tmp_path)
    with engine, pytest.raises(ContractError, match="several schemas"):
        engine.check((ask("secrets"),), dataset=of)
    table = Table(name="secrets", source="other.secrets", columns=SECRETS.columns)
    of, engine = opened(tmp_path, table=table)
    with engine:
        assert engine.aggregate((ask("secrets"),), dataset=of).reveal_to_gate() == ((5,),)


def everything_said(error: BaseException) -> str:
    """The error, its chain, and their arguments."""
    said = []
    chain: BaseException | None = error
    while chain is not None:
        said += [str(chain), repr(chain), repr(chain.args), repr(getattr(chain, "__notes__", ""))]
        chain = chain.__cause__ or chain.__context__
    return " ".join(said)


def damaged(folder: Path) -> None:
    """A Parquet file whose footer is whole and whose pages are not."""
    path = folder / "secrets"
    table = pa.table(
        {
            "pid": pa.array(range(5000)),
            "note": [f"{CANARY}{i}" for i in range(5000)],
            "amount": [float(i) for i in range(5000)],
            "word": [f"{CANARY}{i}" for i in range(5000)],
        }
    )
    pq.write_table(table, path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[4:30_000] = bytes(30_000 - 4)
    path.write_bytes(bytes(content))


def test_check_reads_no_row_and_a_failure_while_reading_names_no_cell(tmp_path):
    damaged(tmp_path)
    of, engine = opened(tmp_path, ".", kind=SourceKind.PARQUET)
    asked = (ask("secrets", axes=[col("word", "secrets")]),)
    with engine:
        engine.check(asked, dataset=of)  # would fail if it read a page
        with pytest.raises(EngineError) as caught:
            engine.aggregate(asked, dataset=of)
    assert CANARY not in everything_said(caught.value)
    assert caught.value.__context__ is None


def test_no_cell_makes_reading_fail(tmp_path):
    """Every cell holds a text where a number, a known word and an integer id are declared."""
    path = warehouse(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE secrets ALTER pid TYPE VARCHAR USING note")
    of, engine = opened(tmp_path)
    asked = (
        ask("secrets", value=Plain(of=col("amount", "secrets")), bounds=RowBound(max_rows=1)),
        ask("secrets", axes=[col("word", "secrets")]),
    )
    with engine:
        engine.check(asked, dataset=of)
        assert engine.aggregate(asked, dataset=of).reveal_to_gate() == ((0,), (0, 100))


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (number("note", 0, 9), None),
        (Column(name="made", kind=Kind.DATE, source="pid", lower=0, upper=9), "holds integers"),
        (number("made", 0, 9), "holds timestamps"),
        (category("listed", {"a": 0}, 1), "holds values of another type"),
        (number("took", 0, 9), "holds values of another type"),
    ],
)
def test_types_that_cannot_be_read_as_declared_are_refused_without_a_value(tmp_path, column, says):
    path = warehouse(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE secrets ADD made TIMESTAMP DEFAULT '1999-01-01 12:00:00'")
        connection.execute(f"ALTER TABLE secrets ADD listed VARCHAR[] DEFAULT ['{CANARY}']")
        connection.execute("ALTER TABLE secrets ADD took INTERVAL DEFAULT '3 days'")
    table = Table(name="secrets", source="secrets", columns=(column,))
    of, engine = opened(tmp_path, table=table)
    with engine:
        if says is None:
            engine.check((ask("secrets"),), dataset=of)
            return
        with pytest.raises(ContractError, match=says) as caught:
            engine.check((ask("secrets"),), dataset=of)
    assert CANARY not in everything_said(caught.value)
    assert "1999" not in everything_said(caught.value)


def test_a_person_id_that_is_a_date_is_refused(tmp_path):
    path = warehouse(tmp_path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE secrets ALTER pid TYPE DATE USING DATE '2020-01-01'")
    of, engine = opened(tmp_path)
    with engine, pytest.raises(ContractError, match="cannot identify a person"):
        engine.check((ask("secrets"),), dataset=of)


def test_frames_that_arrow_cannot_read_are_refused_without_a_value():
    pd = pytest.importorskip("pandas")

    frame = pd.DataFrame([[1, CANARY, CANARY]], columns=["pid", "note", "note"])
    with pytest.raises(ContractError, match="one type") as caught:
        opened(Path(), "", kind=SourceKind.FRAMES, frames={"secrets": frame})
    assert CANARY not in everything_said(caught.value)
    with pytest.raises(ContractError, match="no table that Arrow can read"):
        opened(Path(), "", kind=SourceKind.FRAMES, frames={"secrets": [CANARY]})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_pandas_polars_and_arrow_frames_give_the_same_counts(library):
    columns = {"pid": [1, 1, 2, None], "sex": ["8507", "8507", None, "8532"]}
    columns |= {"age": [20.0, 20.0, None, 1.0], "db": [0, 0, 1, 2]}
    module = pytest.importorskip(library)
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    of = dataset(tables=(PERSON,), per_patient=())
    source = Source(kind=SourceKind.FRAMES)
    with open_engine(source, base=Path(), dataset=of, hash_key=KEY, frames={"person": frame}) as e:
        (sexes,) = e.aggregate(
            (ask("person", axes=[col("sex", "person")]),), dataset=of
        ).reveal_to_gate()
    assert sexes == (1, 0, 0)


def test_csv_rows_that_do_not_fit_their_header_disturb_no_other(tmp_path):
    (tmp_path / "secrets").write_bytes(
        b"pid,note,amount,word\n1,x,1,a\n2,x\n3,x,1,a,more\n4,\xff\xfe,1,a\n5,x,1,a\n,,,\n6,,,\n"
    )
    of, engine = opened(tmp_path, ".", kind=SourceKind.CSV)
    with engine:
        (count,) = engine.aggregate((ask("secrets"),), dataset=of).reveal_to_gate()
    assert count == (4,)  # 1, 4, 5, 6: of 2 there is too little, of 3 too much


def test_csv_types_do_not_depend_on_rows(tmp_path):
    """Ids that look like numbers stay text: 7 and 07 are two people, whoever else is in the
    file."""
    for extra in (b"", b"x9,x,1,a\n"):
        (tmp_path / "secrets").write_bytes(b"pid,note,amount,word\n7,x,1,a\n07,x,1,a\n" + extra)
        of, engine = opened(tmp_path, ".", kind=SourceKind.CSV)
        one = ask("secrets", bounds=RowBound(max_rows=1))
        with engine:
            (count,) = engine.aggregate((one,), dataset=of).reveal_to_gate()
        assert count == (2 + bool(extra),)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        (b"", "names no declared column"),
        (b"note,,b\n1,2,3\n", "no name for column 2 of 3"),
        (b"note,Note\n1,2\n", "a column 'note' twice"),
        (b"\xff\xfen\0o\0t\0e\0\n\0001\0\n\0", "UTF-16"),
        (b"\xff,note\n1,2\n", "not UTF-8"),
    ],
)
def test_csv_headers_that_cannot_be_trusted_are_refused(tmp_path, header, told):
    (tmp_path / "secrets").write_bytes(header)
    with pytest.raises(ContractError, match=told):
        opened(tmp_path, ".", kind=SourceKind.CSV)
