"""What tables may say that suits some sources alone: encoding, dialect, sheet, a query.

What a query may say is known where SQL is: :mod:`confide.rows.sources.row_query`.
"""

from collections.abc import Iterable
from dataclasses import replace

from confide.errors import ContractError
from confide.tables.dialect import AS_USUAL
from confide.tables.encoding import Encoding
from confide.tables.schema import Table
from confide.tables.source import Source, SourceKind
from confide.tables.source_files import FIRST_ROW

MOST_CHARACTERS = 10_000
"""A query stands in every plan of the data set, and so in every row of the ledger."""


def require_suited(tables: Iterable[Table], *, source: Source) -> None:
    """Refuse encoding, dialect and sheet where no file has one, and a query where none is read.

    Raises:
        ContractError: Then.
    """
    for table in tables:
        _require_text(table, source=source)
        if not table.query:
            continue
        if source.kind is not SourceKind.DUCKDB:
            raise ContractError(
                f"Table {table.name!r}: only a table of a DuckDB file can be a query, and the "
                f"source is {source.kind.value}.",
                hint="Load the files into one: CREATE TABLE raw AS SELECT * FROM 'raw.parquet'; "
                "then write source: {kind: duckdb, path: rows.duckdb}.",
            )
        if len(table.query) > MOST_CHARACTERS:
            raise ContractError(
                f"Table {table.name!r}: its query has {len(table.query):,} characters, and at most "
                f"{MOST_CHARACTERS:,} are read.",
                hint="Store what it flattens as a table of its own.",
            )


def _require_text(table: Table, *, source: Source) -> None:
    """Refuse what is said of text that the files do not hold."""
    kind, dialect = source.kind, table.dialect
    text = kind in (SourceKind.CSV, SourceKind.OMOP) and not source.in_postgres
    typed = kind.exported and kind is not SourceKind.FHIR
    encoded = text or (typed and kind is not SourceKind.EXCEL)
    if table.encoding is not Encoding.UTF_8 and not encoded:
        raise ContractError(
            f"Table {table.name!r}: only CSV files have an encoding, and the source is "
            f"{kind.value}.",
            hint="Leave `encoding` out.",
        )
    if dialect != AS_USUAL and not (text or typed):
        raise ContractError(
            f"Table {table.name!r}: only CSV files have a dialect, and the source is {kind.value}.",
            hint="Leave `dialect` out.",
        )
    cells = replace(AS_USUAL, decimal=dialect.decimal, thousands=dialect.thousands)
    if kind.exported and replace(cells, dates=dialect.dates) != dialect:
        raise ContractError(
            f"Table {table.name!r}: fields of {kind.value} have no separator and no quotes.",
            hint="Leave `separator` and `quote` out.",
        )
    if table.sheet != FIRST_ROW and kind is not SourceKind.EXCEL:
        raise ContractError(
            f"Table {table.name!r}: only workbooks have a sheet, and the source is {kind.value}.",
            hint="Leave `sheet` out.",
        )
