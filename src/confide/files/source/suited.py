"""What tables may say that suits some sources alone: encoding, dialect, a query and its length.

What a query may say is known where SQL is: :mod:`confide.rows.sources.row_query`.
"""

from collections.abc import Iterable

from confide.errors import ContractError
from confide.tables.dialect import AS_USUAL
from confide.tables.encoding import Encoding
from confide.tables.schema import Table
from confide.tables.source import Source, SourceKind

MOST_CHARACTERS = 10_000
"""A query stands in every plan of the data set, and so in every row of the ledger."""


def require_suited(tables: Iterable[Table], *, source: Source) -> None:
    """Refuse encoding and dialect where no file is text, and a query of no DuckDB file or too long.

    Raises:
        ContractError: Then.
    """
    for table in tables:
        text = source.kind in (SourceKind.CSV, SourceKind.OMOP)
        if table.encoding is not Encoding.UTF_8 and not text:
            raise ContractError(
                f"Table {table.name!r}: only CSV files have an encoding, and the source is "
                f"{source.kind.value}.",
                hint="Leave `encoding` out.",
            )
        if table.dialect != AS_USUAL and not text:
            raise ContractError(
                f"Table {table.name!r}: only CSV files have a dialect, and the source is "
                f"{source.kind.value}.",
                hint="Leave `dialect` out.",
            )
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
