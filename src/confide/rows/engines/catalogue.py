"""Where declared tables lie, asked of the engine's catalogue: names and types, and nothing else.

*Privacy:* queries are bound and never run.  Running even ``LIMIT 0`` plans a scan, and planning
looks at what a file says of its own cells.
"""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.build import STAR, select
from confide.rows.cells.layout import Found, Layout, Located, ids_of
from confide.rows.cells.operations import written
from confide.rows.cells.physical import COMPUTED, octets_of
from confide.rows.cells.session import dropping_messages
from confide.rows.dialects.duckdb import ConfideDuckDB
from confide.rows.engines.hardening import ATTACHED
from confide.rows.sources.opened import Opened, Scan
from confide.rows.sources.prepare import in_catalog
from confide.rows.sources.row_query import RowQuery, row_query
from confide.rows.sources.row_relation import relation_of
from confide.tables.schema import Dataset

Computed: TypeAlias = Mapping[tuple[str, str], set[str]]
"""Columns that are computed when they are read, by schema and table; None where none are stored."""


def found_layout(
    connection: Any, *, opened: Opened, dataset: Dataset, withdrawn: bool = False
) -> Layout:
    """Return where the declared tables lie; the source is open and locked."""
    relations, missing = dict(opened.relations), dict(opened.missing)
    queries = {table.name: row_query(table) for table in dataset.tables if table.query}
    attached = opened.attach is not None
    if queries and not attached:
        raise ContractError("Only a table of a DuckDB file can be a query.")
    if attached:
        relations, missing = in_catalog(
            _stored(connection, "SELECT schema_name, table_name FROM duckdb_tables()"),
            views=_stored(connection, "SELECT schema_name, view_name FROM duckdb_views()"),
            database=ATTACHED,
            dataset=_of_bases(dataset, queries=queries),
            fold_case=opened.fold_case,
        )
    computed: Computed | None = None
    tables: dict[str, Located] = {}
    for table in dataset.tables:
        relation = relations.get(table.name)
        if relation is None:
            continue
        columns: dict[str, Found] = {}
        scan = opened.scans.get(table.name, Scan(relation=relation))
        with dropping_messages() as failed:
            if attached and computed is None:
                computed = _computed(connection)
            columns = _columns(connection, scan, computed=computed)
            if table.name in queries:
                relation = relation_of(
                    queries[table.name],
                    table=table,
                    dataset=dataset,
                    base=relation,
                    columns={found.name: found.type_name for found in columns.values()},
                    describe=functools.partial(_described, connection),
                )
                columns = _columns(connection, Scan(relation=relation), computed=computed)
        if failed:
            missing[table.name] = f"Table {table.name!r} cannot be opened ({failed[0]})."
            continue
        if opened.fold_case:
            columns = {**{name.lower(): found for name, found in columns.items()}, **columns}
        instead = {*scan.numbers.values(), *scan.dates.values()}
        tables[table.name] = Located(
            relation=relation,
            columns={name: found for name, found in columns.items() if found.name not in instead},
            lines=scan.lines,
            numbers=_read_instead({**opened.numbers.get(table.name, {}), **scan.numbers}, columns),
            dates=_read_instead(scan.dates, columns),
        )
    ids = ids_of(dataset, tables=tables)
    return Layout(tables=tables, ids=ids, missing=missing, withdrawn=withdrawn)


def _read_instead(those: Mapping[str, str], columns: Mapping[str, Found]) -> dict[str, Found]:
    """Return the columns that are read instead of others, by the names of those."""
    return {name: columns[other] for name, other in those.items() if other in columns}


def _of_bases(dataset: Dataset, *, queries: Mapping[str, RowQuery]) -> Dataset:
    """Return a data set whose tables are those that are read where it declares queries."""
    tables = (
        replace(table, source=queries[table.name].base) if table.name in queries else table
        for table in dataset.tables
    )
    return replace(dataset, tables=tuple(tables))


def _described(connection: Any, query: exp.Query) -> Mapping[str, str]:
    """Return the columns of a query with their types; none where it cannot be bound."""
    with dropping_messages():
        rows = connection.execute(f"DESCRIBE {written(query, dialect=ConfideDuckDB)}").fetchall()
        return {str(name): str(kind) for name, kind, *_ in rows}
    return {}


def _stored(connection: Any, those: str) -> list[tuple[str, str]]:
    """Return schema and name of what is stored in the attached file."""
    rows = connection.execute(f"{those} WHERE database_name = $name", {"name": ATTACHED}).fetchall()
    return [(str(schema), str(name)) for schema, name in rows]


def _columns(connection: Any, scan: Scan, *, computed: Computed | None) -> dict[str, Found]:
    """Return the columns of a relation by name; ``computed`` of what is stored in a database."""
    query = written(select(STAR, of=scan.relation), dialect=ConfideDuckDB)
    stored, types = computed is not None, dict(scan.types)
    if computed is not None:
        types = dict.fromkeys(computed.get((scan.relation.db, scan.relation.name), ()), COMPUTED)
    return {
        str(name): Found.of(
            name,
            type_name=types.get(name, str(kind) if stored else _without_labels(str(kind))),
            broken=scan.broken,
            narrowed=scan.octets.get(name, 0) > octets_of(str(kind)),
        )
        for name, kind, *_ in connection.execute(f"DESCRIBE {query}").fetchall()
    }


def _without_labels(kind: str) -> str:
    """Return the type of a column in memory: labels that were found in its rows are text."""
    return "VARCHAR" if kind.startswith("ENUM(") else kind


def _computed(connection: Any) -> Computed:
    """Return the columns of stored tables that are computed when read, by schema and table."""
    rows = connection.execute(
        "SELECT schema_name, table_name, column_name FROM duckdb_columns()"
        " WHERE is_generated AND database_name = $database",
        {"database": ATTACHED},
    ).fetchall()
    found: dict[tuple[str, str], set[str]] = {}
    for schema, table, column in rows:
        found.setdefault((str(schema), str(table)), set()).add(str(column))
    return found
