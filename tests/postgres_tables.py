"""Tables of Arrow in PostgreSQL: types that hold the same, loaded by COPY; a schema a data set."""

import io
import itertools
from collections.abc import Mapping

import duckdb
import pyarrow as pa
import pyarrow.csv

from confide.tables.source import Source, SourceKind
from postgres_server import server

_SCHEMAS = itertools.count()
_TYPES = {
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.string(): "text",
    pa.large_string(): "text",
}


def type_of(kept: pa.DataType) -> str:
    """Return the type of the server that holds the same values."""
    if pa.types.is_decimal(kept):
        return f"numeric({kept.precision}, {kept.scale})"
    if pa.types.is_timestamp(kept):
        return "timestamptz" if kept.tz else "timestamp"
    return _TYPES[kept]


def in_postgres(tables: Mapping[str, pa.Table], *, texts: str = "text", schema: str = "") -> Source:
    """Store tables in a schema of the server of this process; the test skips where there is none."""
    import psycopg

    schema = schema or f"s{next(_SCHEMAS)}"
    with psycopg.connect(server().url, autocommit=True) as connection:
        connection.execute("SET datestyle = 'ISO, YMD'; SET timezone = 'UTC'")
        connection.execute(f'CREATE SCHEMA "{schema}"')
        for name, rows in tables.items():
            columns = [
                f"{_quoted(each.name)} {texts if type_of(each.type) == 'text' else type_of(each.type)}"
                for each in rows.schema
            ]
            table = f"{_quoted(schema)}.{_quoted(name)}"
            connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
            with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
                copy.write(_lines(rows))
    return Source(kind=SourceKind.POSTGRES, url=server().url, schema=schema)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _lines(rows: pa.Table) -> bytes:
    plain = pa.table({each.name: _plain(rows[each.name], each.type) for each in rows.schema})
    out = io.BytesIO()
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="all_valid")
    pyarrow.csv.write_csv(plain, out, options)
    return out.getvalue()


def _plain(cells: pa.ChunkedArray, kept: pa.DataType) -> pa.ChunkedArray:
    """Return what the server reads: dates beyond Python's calendar too."""
    if kept != pa.date32():
        return cells
    dates = pa.table({"day": cells})
    with duckdb.connect() as connection:
        connection.register("dates", dates)
        rows = connection.execute("SELECT CAST(day AS VARCHAR) FROM dates").fetchall()
    texts = [None if text is None else text.replace("(BC)", "BC") for (text,) in rows]
    return pa.chunked_array([pa.array(texts, pa.string())])
