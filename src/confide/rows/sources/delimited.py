"""CSV and TSV files: every column is read as text, under the names of the header.

A reader that guesses types, separators or quotes from the rows lets one patient's row decide how
everyone's rows are read, so nothing is guessed: the declared encoding and dialect, or comma (tab
for .tsv) and double quotes, and one header line. Declared columns are parsed cell by cell later;
where a dialect writes numbers or dates otherwise, a column beside holds them in usual spelling. A
row with too few or too many fields is left out by itself, and disturbs no other row; nor do stray
quotes or carriage returns, nor bytes that are no text, which :mod:`.text_files` replaces. The empty
cell is NULL.

A reader that is strict about fields stops at a stray carriage return, and one that is not takes the
first fields of a longer row, in which a comma too many shifted every value.  So one column more
than the header has is read, and absent cells under another word than empty ones: a row is whole if
its last column is there and the one after it is not.

A line feed ends a row, with a carriage return before it or without.  A reader that learns from the
first line that rows end in both takes the line feed after a stray carriage return for the first
character of the *next* row, hence for a part of somebody else's id.

*Privacy:* a file is read from its beginning by one reader.  A second one that starts in the middle
may start inside a quoted cell, and then takes the lines of one patient's text for rows of others.
One unclosed quotation mark still swallows the rows after it; a file that people edit by hand
belongs into Parquet or DuckDB first.
"""

from collections.abc import Collection
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError
from confide.rows.cells.as_written import plain_date, plain_number
from confide.rows.cells.build import STAR, aliased, named, own, select
from confide.rows.sources.header import LONGEST_LINE, header, separator
from confide.rows.sources.opened import Export, Scan
from confide.tables.encoding import UNREADABLE
from confide.tables.schema import Kind, Table

_OTHERWISE = "\x01as a "
"""Before the name of a column: one of ours beside it, in usual spelling."""
_ABSENT = "\x01absent\x01"
"""What a cell that is not there reads as; a patient who writes it leaves out that row of theirs."""


def csv_scan(parts: tuple[Path, ...], *, table: Table, declared: Collection[str]) -> Scan:
    """Return how the part files of ``table`` are read, all columns as text.

    Args:
        parts: Its files.
        table: As declared.
        declared: Names of the source that it is read by, of which a header holds one.

    Raises:
        ContractError: If a header is missing, repeats a name, or differs between part files.
    """
    if len({separator(part, dialect=table.dialect) for part in parts}) > 1:
        raise ContractError(
            f"Table {table.name!r}: its part files are both .csv and .tsv.",
            hint="Write all parts with one separator.",
        )
    names = header(parts[0], table=table, declared=declared)
    for part in parts[1:]:
        if header(part, table=table, declared=declared) != names:
            raise ContractError(
                f"Table {table.name!r}: the header of {part.name!r} differs from the first part's.",
                hint="Write all parts with the same columns in the same order.",
            )
    sign = separator(parts[0], dialect=table.dialect)
    return text_scan(parts, table=table, header=names, sign=sign)


def text_scan(
    parts: tuple[Path, ...],
    *,
    table: Table,
    header: tuple[str, ...],
    sign: str,
    export: Export | None = None,
) -> Scan:
    """Return how text files with these names in their first line are read.

    Args:
        parts: The files.
        table: As declared.
        header: Names of all columns.
        sign: Between two fields.
        export: What writes such text from files that are none.
    """
    text = exp.Literal.string("VARCHAR")
    surplus = _unlike(header)
    columns = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.Literal.string(name), expression=text.copy())
            for name in (*header, surplus)
        ]
    )
    options: dict[str, exp.Expr] = {
        "auto_detect": exp.false(),
        "columns": columns,
        "header": exp.true(),
        "delim": exp.Literal.string(sign),
        "quote": exp.Literal.string(table.dialect.quote.sign),
        "escape": exp.Literal.string(table.dialect.quote.sign),
        "hive_partitioning": exp.false(),  # the name of a folder is no column
        "ignore_errors": exp.true(),  # row by row
        "strict_mode": exp.false(),  # else a stray carriage return stops every release
        "parallel": exp.false(),  # a reader that starts inside a quoted cell takes it for rows
        "max_line_size": exp.Literal.number(LONGEST_LINE),
        "new_line": exp.Literal.string(r"\n"),  # else the first line end says what all others are
        "null_padding": exp.true(),
        "nullstr": exp.Literal.string(_ABSENT),
    }
    files = exp.array(*(exp.Literal.string(str(part)) for part in parts))
    given = [
        exp.PropertyEQ(this=exp.to_identifier(name), expression=value)
        for name, value in options.items()
    ]
    read = exp.Table(this=exp.Anonymous(this="read_csv", expressions=[files, *given]))
    numbers, dates, made = _otherwise(table, header=header)
    relation = _whole_rows(read, header=header, surplus=surplus)
    return Scan(
        relation=_with(relation, made) if made else relation,
        numbers=numbers,
        dates=dates,
        dialect=table.dialect,
        lines=_lines(read, surplus=surplus),
        broken=UNREADABLE,
        parts=parts,
        encoding=table.encoding,
        export=export,
    )


def _otherwise(
    table: Table, *, header: tuple[str, ...]
) -> tuple[dict[str, str], dict[str, str], list[exp.Expr]]:
    """Return which columns are read where numbers and dates are, by declared name; and these."""
    numbers: dict[str, str] = {}
    dates: dict[str, str] = {}
    made: dict[str, exp.Expr] = {}
    names = {**{name.lower(): name for name in header}, **{name: name for name in header}}
    for column in table.columns:
        name = names.get(column.source, names.get(column.source.lower(), ""))
        if not name:
            continue
        if column.kind is Kind.NUMBER and not table.dialect.plain_numbers:
            numbers[column.source] = other = f"{_OTHERWISE}number {name}"
            made[other] = plain_number(own(name), dialect=table.dialect)
        elif column.kind is Kind.DATE and table.dialect.dates:
            dates[column.source] = other = f"{_OTHERWISE}date {name}"
            made[other] = plain_date(own(name), dialect=table.dialect)
    return numbers, dates, [named(value, name) for name, value in made.items()]


def _with(rows: exp.Table, made: list[exp.Expr]) -> exp.Table:
    return exp.Table(this=exp.Paren(this=select(STAR, *made, of=aliased(rows, "w"))))


def _whole_rows(read: exp.Table, *, header: tuple[str, ...], surplus: str) -> exp.Table:
    """Return the rows that have as many fields as the header; their empty cells are NULL."""
    cells = [
        named(exp.Nullif(this=own(name), expression=exp.Literal.string("")), name)
        for name in header
    ]
    there = exp.Not(this=exp.Is(this=own(header[-1]), expression=exp.null()))
    none_more = exp.Is(this=own(surplus), expression=exp.null())
    rows = select(*cells, of=read, where=[there, none_more])
    return exp.Table(this=exp.Paren(this=rows))


def _lines(read: exp.Table, *, surplus: str) -> exp.Table:
    """Return all records, as rows of the one column that nearly none has."""
    return exp.Table(this=exp.Paren(this=select(named(own(surplus), surplus), of=read)))


def _unlike(header: tuple[str, ...]) -> str:
    """Return a name that no column of the header has."""
    name = "surplus"
    while name in {each.lower() for each in header}:
        name += "_"
    return name
