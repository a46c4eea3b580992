"""Where declared tables lie for Spark: Parquet files, each table a view with its types.

Types come from what Spark reads in the footers, and from the footers themselves where a type says
less than the file: what the shared code refuses of Parquet it refuses here too.

Refused besides, from names and types alone: what Spark would write otherwise than other engines.
Text of floating-point numbers and of dates, and numbers of decimals with more than 18 digits.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.layout import Found, Layout, Located, ids_of
from confide.rows.cells.physical import Physical, digits_of, octets_of
from confide.rows.dialects.spark import LONGEST_NUMBER
from confide.rows.engines.spark.spark_session import SparkRows
from confide.rows.sources.opened import Scan
from confide.rows.sources.parquet import parquet_scan
from confide.tables.schema import Column, Dataset, Kind, Table

_TYPES: Mapping[str, str] = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
    "boolean": "BOOLEAN",
    "void": '"NULL"',
}
"""Types of Spark, by the names that the shared code has for them; others are not read."""
_DECIMAL = re.compile(r"decimal\(([0-9]+),([0-9]+)\)")
_COLLATED = " collate "
_PLAIN_DIGITS = re.compile(r"0|-?[1-9][0-9]*")


def spark_layout(
    found: Mapping[str, tuple[tuple[Path, ...], ...]],
    *,
    dataset: Dataset,
    on: SparkRows,
    withdrawn: bool,
) -> Layout:
    """Return where the declared tables lie, each as a view; reads footers and no row.

    Args:
        found: The files of each declared table, by its name.
        dataset: Public facts.
        on: The session that reads them.
        withdrawn: Whether anybody withdrew consent.
    """
    tables: dict[str, Located] = {}
    missing: dict[str, str] = {}
    for number, table in enumerate(dataset.tables):
        if not found[table.name]:
            missing[table.name] = (
                f"Table {table.name!r}: no file and no folder {table.source!r} in the source."
            )
            continue
        (files,) = found[table.name]
        try:
            tables[table.name] = _located(table, files, name=f"confide_source_{number}", on=on)
        except ContractError as error:
            missing[table.name] = f"Table {table.name!r}: {error}"
    return Layout(
        tables=tables, ids=ids_of(dataset, tables=tables), missing=missing, withdrawn=withdrawn
    )


def _located(table: Table, files: tuple[Path, ...], *, name: str, on: SparkRows) -> Located:
    scan = parquet_scan(files, table=table)
    columns = {
        column: _found(column, kind, scan=scan) for column, kind in on.read(name, files=files)
    }
    for column in table.columns:
        if (of := columns.get(column.source)) is not None:
            _require_same_number(column, found=of)
    for source, codes in _compared(table):
        if (of := columns.get(source)) is not None:
            _require_same_text(source, codes=codes, found=of)
    return Located(relation=exp.Table(this=exp.to_identifier(name, quoted=True)), columns=columns)


def _found(name: str, kind: str, *, scan: Scan) -> Found:
    kind = kind.partition(_COLLATED)[0]  # which is taken off each cell
    decimal = _DECIMAL.fullmatch(kind)
    own = f"DECIMAL({decimal[1]},{decimal[2]})" if decimal else _TYPES.get(kind, kind)
    type_name = scan.types.get(name, own)
    return Found.of(
        name, type_name=type_name, narrowed=scan.octets.get(name, 0) > octets_of(type_name)
    )


def _compared(table: Table) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    """Yield columns of the source whose text is compared with codes; None where it is the value."""
    for each in (*table.conditions, *table.without):
        yield each.source, each.codes
    for column in table.columns:
        if column.kind is Kind.TEXT:
            yield column.source, None
        elif column.kind is Kind.CATEGORY:
            yield column.source, (*(code for code, _ in column.codes), *column.absent)
        if column.units is not None and not column.units.in_cell:
            yield column.units.source, tuple(each.code for each in column.units.known)


def _require_same_number(column: Column, *, found: Found) -> None:
    """Refuse a number that Spark reads otherwise than other engines.

    Raises:
        ContractError: If it is one.
    """
    if column.kind is not Kind.NUMBER:
        return
    if found.physical is Physical.DECIMAL and digits_of(found.type_name)[0] > LONGEST_NUMBER:
        raise ContractError(
            f"Column {column.name!r} holds decimals of more than {LONGEST_NUMBER} digits, "
            "which Spark may round otherwise than other engines.",
            hint="Store them as doubles, or with fewer digits.",
        )
    # of a double the code that means missing is found by its value as well
    plain = all(_PLAIN_DIGITS.fullmatch(code) for code in column.absent)
    if found.type_name == "FLOAT" and not plain:
        raise _text_differs(column.name, found=found)


def _require_same_text(source: str, *, codes: tuple[str, ...] | None, found: Found) -> None:
    """Refuse a column whose text Spark writes otherwise than other engines.

    Raises:
        ContractError: If it is one.
    """
    if found.physical is Physical.DATE and codes != ():
        raise _text_differs(source, found=found)
    plain = codes is not None and all(_PLAIN_DIGITS.fullmatch(code) for code in codes)
    if found.physical is Physical.REAL and not plain:
        raise _text_differs(source, found=found)


def _text_differs(name: str, *, found: Found) -> ContractError:
    return ContractError(
        f"Column {name!r} is read as text of {found.physical.value}, which Spark writes otherwise "
        "than other engines.",
        hint="Store the column as text or as whole numbers.",
    )
