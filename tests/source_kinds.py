"""Every kind of source that rows can lie in, with the decorations that have misled readers.

A kind is a row of a table: what it is called, how rows are stored, and what its cells cannot be.
Generators make rows as Arrow tables; a test that runs over ``KINDS`` meets its rows as each source
would hold them.  A decoration adds nothing to the rows: whatever a kind answers, a plain Arrow
table of the rows that it ``holds`` answers too.
"""

import contextlib
import datetime as dt
import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from confide.rows.copies.copies import UseCopies
from confide.rows.engines.duckdb import DuckDBEngine, open_engine
from confide.rows.engines.postgres import PostgresEngine, open_postgres
from confide.rows.prepared.build import Preparation
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind
from confide.tables.source_files import Sheet
from postgres_tables import in_postgres
from python_objects import objects
from queried import nest, queried, quoted
from workbooks import workbook

Tables = Mapping[str, pa.Table]
HIVE = Path("pid=77/code=A/db=5/note=odd/x=7")
"""Folders that a reader with hive partitioning takes for columns."""
FIRST_DAY, LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31: what Python can say


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Rows that lie somewhere."""

    source: Source
    base: Path
    frames: Mapping[str, object] | None = None
    copies: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of source.

    Attributes:
        name: For people.
        store: Puts tables into a folder, or gives them as frames.
        holds: The rows as this kind can hold them.
        text_ids: Whether every id comes back as text.
        in_memory: Whether there are no files, of which copies could be prepared.
        declares: What a data set says of rows that lie in this way.
        needs: A library that may be absent.
    """

    name: str
    store: Callable[[Path, Tables], Stored]
    holds: Callable[[pa.Table], pa.Table] = lambda table: table
    text_ids: bool = False
    in_memory: bool = False
    declares: Callable[[Dataset], Dataset] = lambda dataset: dataset
    needs: str = ""


@contextlib.contextmanager
def opened(
    stored: Stored, *, of: Dataset, hash_key: bytes, withdrawn: tuple[str, ...] = ()
) -> Iterator[DuckDBEngine | PostgresEngine]:
    """Open stored rows as releases do, from their copies where there are some."""
    if stored.source.in_postgres:
        with open_postgres(
            stored.source, dataset=of, hash_key=hash_key, withdrawn=withdrawn
        ) as database:
            yield database
        return
    copying = None if stored.copies is None else UseCopies(folder=stored.copies)
    with open_engine(
        stored.source,
        base=stored.base,
        dataset=of,
        hash_key=hash_key,
        frames=stored.frames,
        threads=1,
        copying=copying,
        withdrawn=withdrawn,
    ) as engine:
        yield engine


def prepared(
    stored: Stored, *, of: Dataset, hash_key: bytes, withdrawn: tuple[str, ...] = ()
) -> Stored:
    """Prepare stored rows; what answers afterwards are the copies."""
    work = Preparation(
        source=stored.source,
        base=stored.base,
        dataset=of,
        hash_key=hash_key,
        folder=stored.base / ".confide" / "prepared",
        threads=1,
        memory_limit="1GB",
        withdrawn=withdrawn,
    )
    work.prepare()
    return Stored(source=stored.source, base=stored.base, copies=work.folder)


# -- DuckDB files


def _in_duckdb(*, texts: str = "VARCHAR", name: str = "rows.duckdb") -> Any:
    """Return a way to store tables whose texts, ids too, are of a type.

    Generated columns are refused when they are bound (tests/unit/rows/cells/test_every_cell.py).
    """

    def store(folder: Path, tables: Tables) -> Stored:
        with duckdb.connect(str(folder / name)) as connection:
            for table, rows in tables.items():
                connection.register("given", rows)
                given = connection.execute("SELECT * FROM given LIMIT 0").description
                connection.execute("SELECT 1").fetchall()
                of = {n: str(kind) for n, kind, *_ in given}
                columns = [
                    f"{quoted(n)} {texts if kind == 'VARCHAR' else kind}" for n, kind in of.items()
                ]
                names = ", ".join(quoted(n) for n in of)
                connection.execute(f"CREATE TABLE {quoted(table)} ({', '.join(columns)})")
                connection.execute(
                    f"INSERT INTO {quoted(table)} ({names}) SELECT {names} FROM given"
                )
                connection.unregister("given")
        return Stored(source=Source(kind=SourceKind.DUCKDB, path=name), base=folder)

    return store


def _nested(*, json: bool) -> Any:
    def store(folder: Path, tables: Tables) -> Stored:
        stored = _in_duckdb()(folder, tables)
        with duckdb.connect(str(folder / stored.source.path)) as connection:
            for table in tables:
                nest(connection, table, json=json)
        return stored

    return store


# -- Parquet, CSV and OMOP


def _in_parquet(*, parts: int = 1, under: Path = Path(), **options: Any) -> Any:
    """Return a way to store tables as files; each may be a folder of parts."""

    def store(folder: Path, tables: Tables) -> Stored:
        base = folder / under
        base.mkdir(parents=True, exist_ok=True)
        for name, rows in tables.items():
            if parts == 1:
                pq.write_table(rows, base / f"{name}.parquet", **options)
                continue
            (base / name).mkdir()
            each = -(-max(rows.num_rows, 1) // parts)
            for part in range(parts):
                path = base / name / f"{part}.parquet"
                pq.write_table(rows.slice(part * each, each), path, **options)
        return Stored(source=Source(kind=SourceKind.PARQUET, path="."), base=base)

    return store


def _in_splits(folder: Path, tables: Tables) -> Stored:
    """Shards in folders of splits, as MEDS has them."""
    for name, rows in tables.items():
        third = -(-max(rows.num_rows, 1) // 3)
        for place, split in enumerate(("held_out", "train", "train/later")):
            path = folder / name / split / f"{place}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows.slice(place * third, third), path)
    return Stored(source=Source(kind=SourceKind.MEDS, path=".", version="0.4"), base=folder)


def _in_csv(folder: Path, tables: Tables) -> Stored:
    for name, rows in tables.items():
        pyarrow.csv.write_csv(rows, folder / f"{name}.csv")
    return Stored(source=Source(kind=SourceKind.CSV, path="."), base=folder)


BROKEN = (b"\xfc", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\x80")
"""Bytes that are no UTF-8, each read as one U+FFFD: of other encodings, cut off, or begun nowhere."""


def _in_broken_csv(folder: Path, tables: Tables) -> Stored:
    """Cells hold broken bytes where rows hold U+FFFD, and ids where they are NULL: both are
    nobody."""
    for name, rows in tables.items():
        note = pa.array(["\ufffd"] * rows.num_rows, pa.string())
        ids = pc.fill_null(rows["pid"].cast(pa.string()), "\ufffd")
        named = rows.set_column(rows.schema.get_field_index("pid"), "pid", ids)
        path = folder / f"{name}.csv"
        pyarrow.csv.write_csv(named.add_column(1, "remark", note), path)
        first, *rest = path.read_bytes().split("\ufffd".encode())
        broken = (BROKEN[place % len(BROKEN)] + each for place, each in enumerate(rest))
        path.write_bytes(first + b"".join(broken))
    return Stored(source=Source(kind=SourceKind.CSV, path="."), base=folder)


def _in_omop(folder: Path, tables: Tables) -> Stored:
    """Names of the CDM are matched without regard to case."""
    for name, rows in tables.items():
        loud = rows.rename_columns([column.upper() for column in rows.column_names])
        pq.write_table(loud, folder / f"{name.upper()}.parquet")
    return Stored(source=Source(kind=SourceKind.OMOP, path=".", version="5.4"), base=folder)


def _in_omop_csv(folder: Path, tables: Tables) -> Stored:
    _in_csv(folder, tables)
    return Stored(source=Source(kind=SourceKind.OMOP, path=".", version="5.4"), base=folder)


def _in_omop_duckdb(folder: Path, tables: Tables) -> Stored:
    stored = _in_duckdb(texts="VARCHAR COLLATE NOCASE")(folder, tables)
    return Stored(
        source=Source(kind=SourceKind.OMOP, path=stored.source.path, version="5.3"), base=folder
    )


# -- files of other programs


def _in_excel(folder: Path, tables: Tables) -> Stored:
    """One workbook, a sheet a table, under a title; what Excel cannot store is typed as text."""
    sheets = {
        name: [
            ["Ward 7"],
            rows.column_names,
            *map(_typed, zip(*rows.to_pydict().values(), strict=True)),
        ]
        for name, rows in tables.items()
    }
    (folder / "rows.xlsx").write_bytes(workbook({"About": [["x", 1]], **sheets}))
    return Stored(source=Source(kind=SourceKind.EXCEL, path="rows.xlsx"), base=folder)


def _typed(row: tuple[object, ...]) -> list[object]:
    return [_as_excel(cell) for cell in row]


def _as_excel(cell: object) -> object:
    match cell:
        case float() if not math.isfinite(cell):
            return str(cell)
        case int() if abs(cell) >= 10**15:
            return str(cell)
        case dt.date() if cell < dt.date(1900, 3, 1):
            return cell.isoformat()
    return cell


def _in_sheets(data: Dataset) -> Dataset:
    sheets = (replace(table, sheet=Sheet(name=table.source, header=2)) for table in data.tables)
    return replace(data, tables=tuple(sheets))


def _of_statistics(ending: str, kind: SourceKind) -> Any:
    def store(folder: Path, tables: Tables) -> Stored:
        import pandas as pd
        import pyreadstat

        write = getattr(pyreadstat, f"write_{ending}")
        for name, rows in tables.items():
            cells = {
                key: pd.Series(values, dtype=object) for key, values in rows.to_pydict().items()
            }
            for key, kept in zip(rows.column_names, rows.schema.types, strict=True):
                if pa.types.is_integer(kept) or pa.types.is_floating(kept):
                    cells[key] = cells[key].astype(float)
                elif pa.types.is_string(kept):
                    cells[key] = cells[key].fillna("")
            write(pd.DataFrame(cells), str(folder / f"{name}.{ending}"))
        return Stored(source=Source(kind=kind, path="."), base=folder)

    return store


# -- PostgreSQL


def _in_postgres(folder: Path, tables: Tables) -> Stored:
    return Stored(source=in_postgres(tables), base=folder)


def _in_omop_postgres(folder: Path, tables: Tables) -> Stored:
    """Names are loud, and texts have a collation that is not that of the database."""
    loud = {
        name.upper(): rows.rename_columns([column.upper() for column in rows.column_names])
        for name, rows in tables.items()
    }
    kept = in_postgres(loud, texts='varchar COLLATE "pg_unicode_fast"')
    return Stored(source=replace(kept, kind=SourceKind.OMOP, version="5.4"), base=folder)


# -- frames


def _as_frames(change: Callable[[pa.Table], object]) -> Any:
    def store(folder: Path, tables: Tables) -> Stored:
        frames = {name: change(rows) for name, rows in tables.items()}
        return Stored(source=Source(kind=SourceKind.FRAMES), base=folder, frames=frames)

    return store


def _in_pandas(rows: pa.Table) -> object:
    import pandas as pd

    nullable = {
        pa.int64(): pd.Int64Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int16(): pd.Int16Dtype(),
    }
    return rows.to_pandas(types_mapper=nullable.get, date_as_object=False)


def _in_pandas_of_arrow(rows: pa.Table) -> object:
    import pandas as pd

    return rows.to_pandas(types_mapper=pd.ArrowDtype)


def _in_pandas_of_categories(rows: pa.Table) -> object:
    frame: Any = _in_pandas(rows)
    return frame.astype(dict.fromkeys(_texts(rows), "category"))


def _in_pandas_of_objects(rows: pa.Table) -> object:
    """Every cell is a Python object, of another type in each row; every third id is a text."""
    import pandas as pd

    cells = {name: objects(rows[name].to_pylist()) for name in rows.column_names}
    for place, cell in enumerate(rows["pid"].to_pylist()):
        if place % 3 == 0 and cell is not None:
            cells["pid"][place] = str(cell)
    return pd.DataFrame({name: pd.Series(each, dtype=object) for name, each in cells.items()})


def _in_pandas_of_python_texts(rows: pa.Table) -> object:
    """Texts are Python's, and an absent one is NaN; every second column is of categories."""
    import pandas as pd

    frame: Any = _in_pandas(rows)
    absent = pd.StringDtype("python", na_value=math.nan)
    for place, name in enumerate(_texts(rows)):
        texts = frame[name].astype(absent)
        known = pd.Index(texts.dropna().unique(), dtype=object)
        frame[name] = pd.Categorical(texts, categories=known) if place % 2 else texts
    return frame


def _in_polars(rows: pa.Table) -> object:
    import polars as pl

    return pl.from_arrow(rows)


def _in_polars_of_categories(rows: pa.Table) -> object:
    import polars as pl

    frame: Any = pl.from_arrow(rows)
    return frame.with_columns([pl.col(name).cast(pl.Categorical) for name in _texts(rows)])


def _in_dictionaries(rows: pa.Table) -> pa.Table:
    for name in _texts(rows):
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, name, rows[name].dictionary_encode())
    return rows


def _in_views(rows: pa.Table) -> pa.Table:
    """Texts as views, in many chunks, some of them empty."""
    for name in _texts(rows):
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, name, rows[name].cast(pa.string_view()))
    return pa.concat_tables([rows.slice(0, 0), rows.slice(0, 1), rows.slice(1), rows.slice(0, 0)])


def _texts(rows: pa.Table) -> list[str]:
    texts = (pa.string(), pa.large_string())
    return [each.name for each in rows.schema if each.type in texts]


# -- what cells cannot be


def _changed(rows: pa.Table, change: Callable[[pa.ChunkedArray], pa.ChunkedArray]) -> pa.Table:
    columns = [change(column) for column in rows.columns]
    return pa.table(columns, names=rows.column_names)


def _calendar(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates that Python can say; others are NULL."""
    if column.type != pa.date32():
        return column
    days = column.cast(pa.int32())
    inside = pc.and_(pc.greater_equal(days, FIRST_DAY), pc.less_equal(days, LAST_DAY))
    return pc.if_else(inside, column, pa.scalar(None, pa.date32()))


def in_calendar(rows: pa.Table) -> pa.Table:
    """Return rows without dates beyond the calendar."""
    return _changed(rows, _calendar)


def in_broken_lines(rows: pa.Table) -> pa.Table:
    """Return rows whose texts, but ids, have lost what is not ASCII."""
    rows = in_calendar(rows)
    for name in _texts(rows):
        if name != "pid":
            at, cells = rows.schema.get_field_index(name), rows[name].to_pylist()
            texts = [None if t is None else re.sub("[^\\x00-\\x7f]", "\ufffd", t) for t in cells]
            rows = rows.set_column(at, name, pa.array(texts, pa.string()))
    return rows


def without_nul(rows: pa.Table) -> pa.Table:
    """Return rows whose texts hold no NUL, which neither XML nor strings of C can."""
    rows = in_calendar(rows)
    for name in _texts(rows):
        at, cells = rows.schema.get_field_index(name), rows[name].to_pylist()
        texts = [None if t is None else t.replace("\0", "?") for t in cells]
        rows = rows.set_column(at, name, pa.array(texts, pa.string()))
    return rows


def in_doubles(rows: pa.Table) -> pa.Table:
    """Return rows whose numbers are those that statistical programs store."""
    rows = without_nul(rows)
    for name in rows.column_names:
        at, kept = rows.schema.get_field_index(name), rows.schema.field(name).type
        if pa.types.is_floating(kept) or pa.types.is_integer(kept):
            cells = [
                n if n is not None and abs(n) < 2**53 else None for n in rows[name].to_pylist()
            ]
            rows = rows.set_column(at, name, pa.array(cells, kept))
    return rows


KINDS = (
    Kind(name="duckdb", store=_in_duckdb()),
    *(
        Kind(name=f"duckdb, {collation}", store=_in_duckdb(texts=f"VARCHAR COLLATE {collation}"))
        for collation in ("NOCASE", "NOACCENT", "NFC", "NOCASE.NOACCENT")
    ),
    Kind(
        name="duckdb, queries of structs",
        store=_nested(json=False),
        declares=functools.partial(queried, json=False),
    ),
    Kind(
        name="duckdb, queries of JSON",
        store=_nested(json=True),
        declares=functools.partial(queried, json=True),
        holds=in_calendar,
        text_ids=True,
    ),
    Kind(name="parquet", store=_in_parquet(row_group_size=997)),
    Kind(name="parquet, no statistics", store=_in_parquet(write_statistics=False)),
    Kind(
        name="parquet, version 1, no dictionary, int96",
        store=_in_parquet(
            version="1.0", use_dictionary=False, use_deprecated_int96_timestamps=True
        ),
    ),
    Kind(name="parquet, parts", store=_in_parquet(parts=3, data_page_version="2.0")),
    Kind(name="parquet, hive", store=_in_parquet(under=HIVE)),
    Kind(name="parquet, parts, hive", store=_in_parquet(parts=2, under=HIVE)),
    Kind(name="meds", store=_in_splits),
    Kind(name="csv", store=_in_csv, holds=in_calendar, text_ids=True),
    Kind(name="csv, broken bytes", store=_in_broken_csv, holds=in_broken_lines, text_ids=True),
    Kind(name="omop, parquet", store=_in_omop),
    Kind(name="omop, csv", store=_in_omop_csv, holds=in_calendar, text_ids=True),
    Kind(name="omop, duckdb, NOCASE", store=_in_omop_duckdb),
    Kind(
        name="excel",
        store=_in_excel,
        holds=without_nul,
        text_ids=True,
        declares=_in_sheets,
        needs="python_calamine",
    ),
    Kind(
        name="stata",
        store=_of_statistics("dta", SourceKind.STATA),
        holds=in_doubles,
        text_ids=True,
        needs="pyreadstat",
    ),
    Kind(
        name="spss",
        store=_of_statistics("sav", SourceKind.SPSS),
        holds=in_doubles,
        text_ids=True,
        needs="pyreadstat",
    ),
    Kind(name="postgres", store=_in_postgres, holds=without_nul, in_memory=True, needs="psycopg"),
    Kind(
        name="omop, postgres, another collation",
        store=_in_omop_postgres,
        holds=without_nul,
        in_memory=True,
        needs="psycopg",
    ),
    Kind(name="arrow", store=_as_frames(lambda rows: rows), in_memory=True),
    Kind(name="arrow, dictionaries", store=_as_frames(_in_dictionaries), in_memory=True),
    Kind(name="arrow, views and chunks", store=_as_frames(_in_views), in_memory=True),
    Kind(name="pandas", store=_as_frames(_in_pandas), in_memory=True, needs="pandas"),
    Kind(
        name="pandas, Arrow", store=_as_frames(_in_pandas_of_arrow), in_memory=True, needs="pandas"
    ),
    Kind(
        name="pandas, categories",
        store=_as_frames(_in_pandas_of_categories),
        in_memory=True,
        needs="pandas",
    ),
    Kind(
        name="pandas, objects",
        store=_as_frames(_in_pandas_of_objects),
        in_memory=True,
        holds=in_calendar,
        text_ids=True,
        needs="pandas",
    ),
    Kind(
        name="pandas, Python's texts",
        store=_as_frames(_in_pandas_of_python_texts),
        in_memory=True,
        needs="pandas",
    ),
    Kind(name="polars", store=_as_frames(_in_polars), in_memory=True, needs="polars"),
    Kind(
        name="polars, categories",
        store=_as_frames(_in_polars_of_categories),
        in_memory=True,
        needs="polars",
    ),
)
