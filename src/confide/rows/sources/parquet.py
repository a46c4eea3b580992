"""Parquet files: one file a table, or a folder of part files of one schema.

Types come from the footers, without their statistics: what a file says of its own cells may refuse
nothing.  Part files whose columns differ are refused before anything is charged, because the engine
would cast the cells of one to the types of another.  The path of a file says nothing: a folder
``pid=77`` is no column.  Text that is not UTF-8 is read with ``?`` in its place.

A type may be narrower than what a file keeps of it, and nothing keeps a cell within its type.  Of
integers the reader drops the upper bits: such a column is no person id.  At bytes that do not fit
it stops: decimals that may hold such are refused.
"""

from collections.abc import Mapping
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.physical import (
    DURATION,
    IN_MILLISECONDS,
    IN_MORE_BYTES,
    IN_MORE_DIGITS,
    MOST_DIGITS,
    octets_for,
)
from confide.rows.sources.opened import Scan
from confide.tables.schema import Table

BROKEN = "?"
"""What the engine reads for bytes of Parquet that are no UTF-8."""
_Columns = dict[str, tuple[object, ...]]
_OCTETS: Mapping[object, int] = {"INT32": 4, "INT64": 8}


def parquet_scan(parts: tuple[Path, ...], *, table: Table) -> Scan:
    """Return how the part files of ``table`` are read.

    Raises:
        ContractError: If a footer cannot be read, repeats a name, or differs between part files.
    """
    first, *others = (_columns(part, table=table) for part in parts)
    for part, columns in zip(parts[1:], others, strict=True):
        _require_same(first, columns, part=part, table=table)
    types = {name: of for name, column in first.items() if (of := _otherwise(column))}
    octets = {name: _OCTETS[column[0]] for name, column in first.items() if column[0] in _OCTETS}
    return Scan(relation=parquet_relation(*parts), types=types, octets=octets, broken=BROKEN)


def _otherwise(column: tuple[object, ...]) -> str:
    """Return our own name of a type that the engine reads as another; empty for all others."""
    stored, *_, unit, length, precision, _ = column
    if unit == DURATION:
        return DURATION
    if unit == "milliseconds":
        return IN_MILLISECONDS
    if not isinstance(precision, int) or precision <= 0:
        return ""
    if precision > MOST_DIGITS:
        return IN_MORE_DIGITS
    fixed = isinstance(length, int) and 0 < length <= octets_for(precision)
    return "" if stored in _OCTETS or fixed else IN_MORE_BYTES


def parquet_relation(*parts: Path) -> exp.Table:
    """Return files as a relation in which nothing but their columns is found."""
    files = exp.array(*(exp.Literal.string(str(part)) for part in parts))
    options = {
        "hive_partitioning": exp.false(),
        "utf8_validation": exp.Literal.string("replace"),
    }
    given = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
        for name, value in options.items()
    ]
    return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[files, *given]))


def _columns(part: Path, *, table: Table) -> _Columns:
    """Return the columns of one file, by name, as its footer declares them."""
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow = None
    try:
        with pq.ParquetFile(part) as file:
            schema, arrow = file.metadata.schema, file.schema_arrow
    except (pa.ArrowException, OSError, ValueError):  # their messages may print anything
        schema = None
    if schema is None or arrow is None:
        raise ContractError(
            f"Table {table.name!r}: {part.name!r} cannot be read as a Parquet file.",
            hint="Write it again.",
        )
    durations = {field.name for field in arrow if pa.types.is_duration(field.type)}
    found: _Columns = {}
    for index in range(len(schema)):
        column = schema.column(index)
        logical = json.loads(column.logical_type.to_json())
        found[column.path] = (
            column.physical_type,
            column.converted_type,
            json.dumps(logical, sort_keys=True),
            DURATION if column.path in durations else _unit_of(logical),
            column.length,
            column.precision,
            column.scale,
        )
    if len({name.lower() for name in found}) != len(schema):
        raise ContractError(
            f"Table {table.name!r}: {part.name!r} names a column twice: capitals make no "
            "difference.",
            hint="Give each column a name of its own.",
        )
    return found


def _unit_of(logical: dict[str, object]) -> object:
    return logical.get("timeUnit") if logical.get("Type") == "Timestamp" else None


def _require_same(first: _Columns, other: _Columns, *, part: Path, table: Table) -> None:
    for name in dict.fromkeys((*first, *other)):
        if first.get(name) != other.get(name):
            raise ContractError(
                f"Table {table.name!r}: its part files differ in column {name!r}, which is another "
                f"one in {part.name!r}.",
                hint="Write all parts with one schema.",
            )
