"""CSV and TSV files: every column is read as text, under the names of the header.

A reader that guesses types, separators or quotes from the rows lets one patient's row decide how
everyone's rows are read, so nothing is guessed: UTF-8, comma (tab for .tsv), double quotes, and one
header line.  Declared columns are parsed cell by cell later.  A row with too few fields is left out
by itself, of one with too many the first count, and stray quotes, carriage returns or bytes that
are no UTF-8 disturb no other row.  The empty cell is NULL.

*Privacy:* a file is read from its beginning by one reader.  A second one that starts in the middle
may start inside a quoted cell, and then takes the lines of one patient's text for rows of others.
One unclosed quotation mark still swallows the rows after it; a file that people edit by hand
belongs into Parquet or DuckDB first.
"""

import csv
import gzip
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.sources.prepare import Scan
from confide.tables.schema import Table

LONGEST_LINE = 2**21


def csv_scan(parts: tuple[Path, ...], *, table: Table) -> Scan:
    """Return how the part files of ``table`` are read, all columns as text.

    Raises:
        ContractError: If a header is missing, repeats a name, or differs between part files.
    """
    if len({_separator(part) for part in parts}) > 1:
        raise ContractError(
            f"Table {table.name!r}: its part files are both .csv and .tsv.",
            hint="Write all parts with one separator.",
        )
    header = _header(parts[0], table)
    for part in parts[1:]:
        if _header(part, table) != header:
            raise ContractError(
                f"Table {table.name!r}: the header of {part.name!r} differs from the first part's.",
                hint="Write all parts with the same columns in the same order.",
            )
    text = exp.Literal.string("VARCHAR")
    columns = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=text.copy()) for name in header
        ]
    )
    options: dict[str, exp.Expr] = {
        "auto_detect": exp.false(),
        "columns": columns,
        "header": exp.true(),
        "delim": exp.Literal.string(_separator(parts[0])),
        "quote": exp.Literal.string('"'),
        "escape": exp.Literal.string('"'),
        "hive_partitioning": exp.false(),  # the name of a folder is no column
        "ignore_errors": exp.true(),  # row by row
        "strict_mode": exp.false(),  # else a stray carriage return stops every release
        "parallel": exp.false(),  # a reader that starts inside a quoted cell takes it for rows
        "max_line_size": exp.Literal.number(LONGEST_LINE),
    }
    files = exp.array(*(exp.Literal.string(str(part)) for part in parts))
    given = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
        for name, value in options.items()
    ]
    return Scan(
        relation=exp.Table(this=exp.Anonymous(this="read_csv", expressions=[files, *given]))
    )


def _separator(path: Path) -> str:
    return "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","


def _header(path: Path, table: Table) -> tuple[str, ...]:
    """Return the names in the first line; no other line is decoded, so none can refuse the file."""
    reader = gzip.open if path.suffix == ".gz" else Path.open
    try:
        with reader(path, "rb") as lines:
            first = lines.readline(LONGEST_LINE).decode("utf-8-sig")
        names = next(csv.reader([first], delimiter=_separator(path)), [])
    except (UnicodeDecodeError, OSError, csv.Error):
        names = []
    if not names or not all(names):
        raise ContractError(
            f"Table {table.name!r}: its file has no readable header line.",
            hint="The first line names every column, in UTF-8.",
        )
    if len({name.lower() for name in names}) != len(names):
        raise ContractError(f"Table {table.name!r}: its header names a column twice.")
    return tuple(names)
