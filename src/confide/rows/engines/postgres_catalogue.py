"""Where declared tables lie in a PostgreSQL database: from its catalogue, and from no row.

*Privacy:* a view may compute anything, a foreign table may change while it is read, and a policy of
row-level security may look at other rows: then what one person's rows do is not known, and the
table is refused.  So is one that the role may not read: the server would tell so after the charge.
"""

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.layout import Found, Layout, Located, ids_of
from confide.rows.cells.physical import COMPUTED, IN_MORE_DIGITS, MOST_DIGITS, Physical
from confide.tables.schema import Dataset, Kind, Table

_TYPES: Mapping[str, str] = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "text": "VARCHAR",
    "varchar": "VARCHAR",
    "bpchar": "VARCHAR",
    "name": "VARCHAR",
    "uuid": "UUID",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "bool": "BOOLEAN",
}
"""The server's names of its types as DuckDB calls what holds the same; absent ones are refused."""

_TABLES = """
SELECT c.oid, n.nspname::text, c.relname::text,
       CASE WHEN EXISTS (WITH RECURSIVE part (oid) AS (SELECT c.oid UNION
                             SELECT i.inhrelid FROM pg_inherits AS i, part
                             WHERE i.inhparent = part.oid)
                         SELECT FROM part JOIN pg_class AS k ON k.oid = part.oid
                         WHERE k.relkind = 'f')
            THEN 'f' ELSE c.relkind::text END,
       has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE'),
       row_security_active(c.oid)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\\_%'
  AND n.nspname <> 'information_schema' AND lower(c.relname) = ANY($1)
"""
_COLUMNS = """
SELECT a.attname::text, t.typname::text, t.typtype::text, a.atttypmod, a.attgenerated::text,
       t.typnamespace = 'pg_catalog'::regnamespace,
       (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder)
        FROM pg_enum AS e WHERE e.enumtypid = t.oid)
FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_WHY = {
    "v": "is a view, and views are not read: store it as a table",
    "m": "is a materialized view, and views are not read: store it as a table",
    "f": "is, or has a part that is, a foreign table, which may change while it is read",
}


def database_layout(
    connection: Any,
    *,
    dataset: Dataset,
    schema: str,
    fold_case: bool,
    withdrawn: bool = False,
) -> Layout:
    """Return where the declared tables lie, by schema and name, or by name in ``schema``.

    Args:
        connection: With its settings made.
        dataset: Public facts.
        schema: Of tables whose name says none; "" finds them in any schema, where there is one.
        fold_case: Whether names are matched without regard to case.
        withdrawn: Whether anybody withdrew consent.

    Raises:
        ContractError: If a table is a query.
    """
    for table in dataset.tables:
        if table.query:
            raise ContractError("Only a table of a DuckDB file can be a query.")
    wanted = {_split(table, schema=schema)[1].lower() for table in dataset.tables}
    stored = connection.execute(_TABLES, [sorted(wanted)]).fetchall()
    tables: dict[str, Located] = {}
    missing: dict[str, str] = {}
    for table in dataset.tables:
        found, why = _found(table, stored=stored, schema=schema, fold_case=fold_case)
        if found is None:
            missing[table.name] = f"Table {table.name!r}: {table.source!r} {why}."
            continue
        oid, of, name, *_ = found
        columns = _columns(connection, oid)
        if fold_case:
            columns = {**{key.lower(): each for key, each in columns.items()}, **columns}
        written = _written_numbers(table, columns)
        if written:
            missing[table.name] = written
            continue
        tables[table.name] = Located(relation=exp.table_(name, db=of, quoted=True), columns=columns)
    ids = ids_of(dataset, tables=tables)
    return Layout(tables=tables, ids=ids, missing=missing, withdrawn=withdrawn)


def _split(table: Table, *, schema: str) -> tuple[str, str]:
    """Return the schema and the name that a declared table is looked for by; "" for any schema."""
    of, point, name = table.source.rpartition(".")
    return (of, name) if point else (schema, table.source)


def _found(
    table: Table, *, stored: list[tuple[Any, ...]], schema: str, fold_case: bool
) -> tuple[tuple[Any, ...] | None, str]:
    """Return the row of the catalogue of a table, or why it cannot be read."""
    of, name = _split(table, schema=schema)

    def same(one: str, other: str) -> bool:
        return one.lower() == other.lower() if fold_case else one == other

    there = [row for row in stored if same(row[2], name) and (not of or same(row[1], of))]
    if not there:
        if of and not any(same(row[1], of) for row in stored):
            return None, (
                f"was not found: schema {of!r} holds no declared table, or is not there; check "
                "schema-name, or the schema in `from`"
            )
        return None, "was not found as a table in the source"
    if len(there) > 1:
        return None, "is in several schemas in the source: write schema.name, or schema-name"
    (row,) = there
    if row[3] in _WHY:
        return None, _WHY[row[3]]
    if not row[4]:
        return None, "may not be read by the role that connects: GRANT SELECT, and USAGE of schema"
    if row[5]:
        return None, "has row-level security, which may hide rows of one person for those of others"
    return row, ""


def _written_numbers(table: Table, columns: Mapping[str, Found]) -> str:
    """Return why a table cannot be read whose texts are floating-point numbers; "" if none are.

    Engines write other digits of some of them, and rows are kept in an order of their texts.
    """
    for column in table.columns:
        found = columns.get(column.source)
        real = found is not None and found.physical in (Physical.REAL, Physical.ROUNDED)
        if column.kind is Kind.TEXT and real:
            return (
                f"Column {column.name!r} of table {table.name!r} is declared as text, and the "
                "source holds floating-point numbers, whose digits PostgreSQL writes in its own "
                "way: declare a number, or store text."
            )
    return ""


def _columns(connection: Any, oid: int) -> dict[str, Found]:
    """Return the columns of a table by name, with the types that DuckDB has for theirs."""
    rows = connection.execute(_COLUMNS, [oid]).fetchall()
    return {str(row[0]): Found.of(row[0], type_name=_type_name(*row[1:])) for row in rows}


def _type_name(
    name: str, kind: str, modifier: int, generated: str, of_server: bool, labels: str | None
) -> str:
    if generated:
        return COMPUTED
    if kind == "e":
        return f"ENUM({labels})"
    if not of_server or kind != "b":
        return (
            f"type {name!r} of the database"  # whatever its name: TEXT may be a domain of numbers
        )
    if name != "numeric":
        return _TYPES.get(name, name)
    if modifier < 0:
        return IN_MORE_DIGITS
    digits, places = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
    if digits > MOST_DIGITS or places > digits:  # a negative number of places is a large one here
        return IN_MORE_DIGITS
    return f"DECIMAL({digits},{places})"
