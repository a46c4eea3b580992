"""Rows that lie nested in a DuckDB file, and the queries that give them back.

A table is stored twice: a row in each row, and all rows of a person in one list.  The query over
the latter is declared but where each row is protected by itself, as the event.
"""

from dataclasses import replace

import duckdb
from sqlglot import exp

from confide.privacy.unit import Entity
from confide.rows.cells.layout import source_names
from confide.tables.schema import Dataset, Table


def quoted(name: str) -> str:
    """Return an identifier."""
    return '"' + name.replace('"', '""') + '"'


def nest(connection: duckdb.DuckDBPyConnection, table: str, *, json: bool) -> None:
    """Put the rows of a table into structs, or into JSON whose values are texts."""
    columns = connection.execute(f"DESCRIBE {quoted(table)}").fetchall()
    names = [name for name, *_ in columns]
    if json:
        pairs = ", ".join(f"{_text(n)}, CAST({quoted(n)} AS VARCHAR)" for n in names)
        cells, head = f"json_object({pairs})", "json_object('pid', CAST(pid AS VARCHAR))"
        many = "to_json(list(cells))"
    else:
        pairs = ", ".join(f"{quoted(n)} := {quoted(n)}" for n in names)
        cells, head, many = f"struct_pack({pairs})", "struct_pack(pid := pid)", "list(cells)"
    rows, lists = quoted(f"{table} rows"), quoted(f"{table} lists")
    connection.execute(
        f"CREATE TABLE {rows} AS SELECT {head} AS head, {cells} AS cells FROM {quoted(table)}"
    )
    connection.execute(
        f"CREATE TABLE {lists} AS SELECT head, {many} AS cells FROM {rows} GROUP BY head"
    )
    connection.execute(f"DROP TABLE {quoted(table)}")


def queried(dataset: Dataset, *, json: bool) -> Dataset:
    """Return the data set with a query for each table."""
    return replace(
        dataset, tables=tuple(_queried(each, of=dataset, json=json) for each in dataset.tables)
    )


def _queried(table: Table, *, of: Dataset, json: bool) -> Table:
    of_row = table.id_column not in ("", "pid")  # an id that lies in the row, not before it
    alone = of_row or of.unit.entity in (Entity.EVENT, Entity.EDGE)
    cell = "t.cells" if alone else "e.one"
    names = sorted({*source_names(table, dataset=of), "pid"} - {"pid"})
    places = {"pid": "t.head", **dict.fromkeys(names, cell)}
    columns = [
        f"{_field(place, name, json=json)} AS {quoted(name)}" for name, place in places.items()
    ]
    unnest = ", UNNEST(t.cells -> '$[*]') AS e(one)" if json else ", UNNEST(t.cells) AS e(one)"
    origin = f"{table.source} {'rows' if alone else 'lists'}"
    return replace(
        table,
        query=f"SELECT {', '.join(columns)} FROM {quoted(origin)} AS t{'' if alone else unnest}",
    )


def _field(of: str, name: str, *, json: bool) -> str:
    return f"{of} ->> '$.{quoted(name)}'" if json else f"{of}.{quoted(name)}"


def _text(text: str) -> str:
    return exp.Literal.string(text).sql("duckdb")
