"""Workbooks of Excel (.xlsx, .xlsm): the cells of one sheet, as they are stored.

A workbook stores numbers, texts, and styles by which a number is shown as a day.  So a cell is what
Excel takes it for: a day if it is shown as one, counted from 1900 or 1904 as the workbook says; a
number typed as text is text.  A formula is its last result, an error (#N/A) is missing.  Columns
are those that the header row names; what stands beside them belongs to no table.

*Privacy:* a row of the table is made of one row of the sheet.  Names and sheets are looked up
before a charge, for which the reader parses the whole file: a workbook that is damaged is refused
then, free of charge.  That is a matter of the program that wrote it, of no cell: any number, text
or error that Excel can store is read.

References:
    [ECMA376] Office Open XML file formats, part 1, 18.17.4 (dates and times).
        https://ecma-international.org/publications-and-standards/standards/ecma-376/
"""

import functools
import re
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.errors import ContractError, MissingExtraError
from confide.regular_file import reading
from confide.rows.sources.exported.cell_text import cell_text
from confide.rows.sources.fingerprint import Fingerprint, fingerprints
from confide.rows.sources.header import is_header
from confide.tables.dialect import SERIAL
from confide.tables.schema import Kind, Table
from confide.tables.source_files import Sheet

EXTRA = "files"
MOST_BEFORE = 30
"""Rows among which a header is looked for, to say where it is."""
_1904 = re.compile(rb"<(?:\w+:)?workbookPr\b[^>]*\bdate1904=[\"'](?:1|true|on)[\"']")
_DAYS_OF_1904 = 1462


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetExport:
    """The rows of a sheet.

    Attributes:
        sheet: Where the table stands.
        pointed: Columns whose numbers are written with this dialect's decimal.
        decimal: That sign.
        counted: Columns in which a bare number is a day, counted as the workbook counts.
    """

    sheet: Sheet
    pointed: frozenset[str] = frozenset()
    decimal: str = "."
    counted: frozenset[str] = frozenset()

    def lines(self, path: Path) -> Iterator[Sequence[str]]:
        """Yield the names of all columns, then the cells of each row that is not empty.

        Raises:
            OSError: If the file is no workbook, or has no such sheet.
        """
        rows = sheet_rows(path, name=self.sheet.name)
        names = _trimmed(rows[self.sheet.header - 1])
        later = _DAYS_OF_1904 if self.counted and _counts_from_1904(path) else 0
        special = [i for i, name in enumerate(names) if name in self.counted | self.pointed]
        width = len(names)
        yield names
        for row in rows[self.sheet.first - 1 :]:
            cells = [*map(cell_text, row[:width])]
            for place in special:
                if place < len(cells) and type(row[place]) in (int, float):
                    cells[place] = self._number(row[place], name=names[place], later=later)
            if any(cells):
                yield [*cells, *[""] * (width - len(cells))]

    def _number(self, value: float, *, name: str, later: int) -> str:
        if name in self.counted:
            return cell_text(value + later)
        return cell_text(value).replace(".", self.decimal)


def sheet_export(table: Table) -> SheetExport:
    """Return what writes the sheet of a table."""
    numbers = (column.source for column in table.columns if column.kind is Kind.NUMBER)
    days = (column.source for column in table.columns if column.kind is Kind.DATE)
    dialect = table.dialect
    return SheetExport(
        sheet=table.sheet,
        pointed=frozenset(() if dialect.decimal == "." else numbers),
        decimal=dialect.decimal,
        counted=frozenset(days if SERIAL in dialect.dates else ()),
    )


def sheet_names(path: Path, *, table: Table, declared: Collection[str]) -> tuple[str, ...]:
    """Return the names in the header row of a table's sheet.

    What is wrong with it is told only where it names a declared column: else it may be a patient.

    Raises:
        ContractError: If there is no such sheet, or its header cannot be read.
        MissingExtraError: Without the library.
    """
    where = f"Table {table.name!r}: {path.name!r}"
    firsts = _first_rows(path, table=table)
    at = table.sheet.header
    row = firsts[at - 1] if at <= len(firsts) else ()
    if not is_header([name for name in row if name], declared=declared):
        raise ContractError(
            f"{where} has a row {at} that names no declared column.",
            hint=_where(firsts, declared=declared),
        )
    names = _trimmed(row)
    _require_names(names, where=f"{where}, row {at},")
    return tuple(names)


def _first_rows(path: Path, *, table: Table) -> tuple[tuple[str, ...], ...]:
    """Return the first rows of a table's sheet, among which its header is.

    Raises:
        ContractError: If there is no such sheet.
    """
    where = f"Table {table.name!r}: {path.name!r}"
    try:
        sheets, firsts = _beginning(path, table.sheet.name, fingerprints((path,)))
    except OSError:
        raise ContractError(
            f"{where} cannot be read as a workbook.",
            hint="Save it as .xlsx, without a password.",
        ) from None
    if not firsts:
        listed = ", ".join(map(repr, sheets[:10]))
        which = f"has no sheet {table.sheet.name!r}" if table.sheet.name else "has several sheets"
        raise ContractError(f"{where} {which}.", hint=f"Declare `sheet`, one of {listed}.")
    return firsts


def header_names(path: Path, *, sheet: Sheet) -> tuple[str, ...]:
    """Return the names in a row of a sheet, for the steward who says which row that is.

    Raises:
        ContractError: If there is no such sheet, or its header cannot be read.
        MissingExtraError: Without the library.
    """
    table = Table(name=path.stem, source=path.name, columns=(), sheet=sheet)
    rows = _first_rows(path, table=table)
    row = rows[sheet.header - 1] if sheet.header <= len(rows) else ()
    return sheet_names(path, table=table, declared=[name for name in row if name])


def sheet_rows(path: Path, *, name: str) -> list[list[Any]]:
    """Return the cells of a sheet, from its first row and column on.

    Raises:
        OSError: If the file is no workbook, or has no such sheet.
    """
    calamine = reader()
    try:
        with reading(path) as file, calamine.load_workbook(file) as book:
            sheets = book.sheet_names
            chosen = name or (sheets[0] if len(sheets) == 1 else "")
            if chosen not in sheets:
                raise OSError("no such sheet")
            rows: list[list[Any]] = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False)
    except calamine.CalamineError as error:
        raise OSError(type(error).__name__) from None
    return rows


def merged_below(path: Path, *, sheet: Sheet) -> int:
    """Return how many ranges of merged cells reach into the rows of a table.

    Raises:
        OSError: If the file is no workbook.
    """
    calamine = reader()
    try:
        with reading(path) as file, calamine.load_workbook(file) as book:
            name = sheet.name or book.sheet_names[0]
            ranges = book.get_sheet_by_name(name).merged_cell_ranges or ()
    except calamine.CalamineError as error:
        raise OSError(type(error).__name__) from None
    return sum(last >= sheet.first - 1 for _, (last, _) in ranges)


def reader() -> Any:
    """Return the library that reads workbooks.

    Raises:
        MissingExtraError: If it is not there.
    """
    try:
        import python_calamine
    except ImportError:
        raise MissingExtraError("python-calamine", extra=EXTRA) from None
    return python_calamine


@functools.lru_cache(maxsize=8)
def _beginning(
    path: Path, name: str, state: tuple[Fingerprint, ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the names of all sheets, and the first rows of one; none where it is not there."""
    del state  # by which what is remembered is known to hold
    calamine = reader()
    try:
        with reading(path) as file, calamine.load_workbook(file) as book:
            sheets = tuple(book.sheet_names)
    except calamine.CalamineError as error:
        raise OSError(type(error).__name__) from None
    if (name or len(sheets) > 1) and name not in sheets:
        return sheets, ()
    rows = sheet_rows(path, name=name)[:MOST_BEFORE]
    return sheets, tuple(tuple(cell_text(cell).strip() for cell in row) for row in rows) or ((),)


def _trimmed(row: Sequence[Any]) -> list[str]:
    """Return the names of a row, without the empty cells after the last one."""
    names = [cell_text(cell).strip() for cell in row]
    while names and not names[-1]:
        names.pop()
    return names


def _where(rows: Sequence[Sequence[str]], *, declared: Collection[str]) -> str:
    """Say in which row the header is, if one of the first is one."""
    for number, row in enumerate(rows, start=1):
        if is_header([name for name in row if name], declared=declared):
            return f"Row {number} does: declare sheet: {{header: {number}}} of the table."
    return (
        "Declare in which row the names stand, sheet: {header: 3}, and write "
        "`from: <name in the data>` for a column that is called otherwise there."
    )


def _require_names(names: Sequence[str], *, where: str) -> None:
    folded = [name.lower() for name in names]
    for place, name in enumerate(folded):
        if not name:
            raise ContractError(
                f"{where} has no name for column {_letters(place)}.",
                hint="Is it below a merged cell, or one of two header lines? Write one name into "
                "each cell of one row, and declare sheet: {header: ..., rows-from: ...}.",
            )
        if name in folded[:place]:
            raise ContractError(
                f"{where} names a column {names[place]!r} twice ({_letters(folded.index(name))} "
                f"and {_letters(place)}; capitals make no difference).",
                hint="Give each column a name of its own.",
            )


def _letters(place: int) -> str:
    """Return the letters by which a spreadsheet calls a column."""
    letters = ""
    place += 1
    while place:
        place, digit = divmod(place - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters


def _counts_from_1904(path: Path) -> bool:
    """Return whether day 0 of a workbook is 1904-01-01."""
    try:
        with reading(path) as file, zipfile.ZipFile(file) as packed:
            return _1904.search(packed.read("xl/workbook.xml")) is not None
    except (zipfile.BadZipFile, KeyError):
        return False
