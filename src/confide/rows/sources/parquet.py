"""Parquet files: one file a table, or a folder of part files of one schema.

Types come from the footer of the files, which the engine reads without reading rows.
"""

from pathlib import Path

from sqlglot import exp

from confide.tables.schema import Table


def parquet_relation(parts: tuple[Path, ...], *, table: Table) -> exp.Table:
    """Return a relation over the part files of ``table``."""
    del table
    files = exp.array(*(exp.Literal.string(str(part)) for part in parts))
    return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[files]))
