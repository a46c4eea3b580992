"""How the sheets of workbooks look beside what is declared.

*Privacy:* looks at rows, so what it says is for the steward alone; nothing is read by it.
"""

import re
from pathlib import Path
from typing import Any

from confide.errors import MissingExtraError
from confide.regular_file import reading
from confide.rows.checked.written import Misread
from confide.rows.sources.exported.cell_text import cell_text
from confide.rows.sources.exported.workbook import merged_below, sheet_rows
from confide.tables.schema import Kind, Table

_OTHER_FILES = {
    b"\xd0\xcf\x11\xe0": (
        "an old workbook, or one with a password",
        "Save it as .xlsx, without a password.",
    ),
    b"<": ("HTML or XML, as some exports called Excel are", "Save it as .xlsx."),
    b"PAR1": ("Parquet", "Write source: {kind: parquet, path: ...}."),
}
_PACKED = b"PK"
_VALUE = re.compile(r"[-+]?[0-9.,]+(?:[eE][-+]?[0-9]+)?|[0-9]{1,4}[./-].*")


def misread_sheets(parts: tuple[Path, ...], *, table: Table) -> list[Misread]:
    """Return how the sheets of a table differ from what is declared of it.

    Args:
        parts: Its files.
        table: As declared.
    """
    found: list[Misread] = []
    for part in parts:
        found += [each for each in _of_file(part, table=table) if each not in found]
    return found


def _of_file(path: Path, *, table: Table) -> list[Misread]:
    try:
        with reading(path) as file:
            head = file.read(64)
    except OSError:
        return []  # told when it is opened
    if not head:
        why = f"{path.name!r} is empty."
        return [Misread(what="empty file", why=why, fix="Export it again.")]
    if not head.startswith(_PACKED):
        what, fix = next(
            (told for magic, told in _OTHER_FILES.items() if head.startswith(magic)),
            ("text, such as CSV", "Write source: {kind: csv, path: ...}, and name it .csv."),
        )
        why = f"{path.name!r} is {what}, and no workbook."
        return [Misread(what="another kind of file", why=why, fix=fix)]
    try:
        rows = sheet_rows(path, name=table.sheet.name)
        merged = merged_below(path, sheet=table.sheet)
    except (OSError, MissingExtraError):
        return []  # told when it is opened
    return [*_second_header(rows, table=table), *_merged(merged)]


def _second_header(rows: list[list[Any]], *, table: Table) -> list[Misread]:
    """Say so if the first row of a table holds words where it declares numbers and days."""
    sheet = table.sheet
    if len(rows) < sheet.first:
        return []
    names = [cell_text(cell).strip() for cell in rows[sheet.header - 1]]
    typed = {c.source for c in table.columns if c.kind in (Kind.NUMBER, Kind.DATE)}
    first = [
        cell
        for name, cell in zip(names, rows[sheet.first - 1], strict=False)
        if name in typed and cell != ""
    ]
    words = [each for each in first if isinstance(each, str) and not _VALUE.fullmatch(each.strip())]
    if not words or len(words) < len(first):
        return []
    return [
        Misread(
            what="second header line",
            cells=1,
            why=f"Row {sheet.first} holds words where numbers and dates are declared: names or "
            "units, it seems. It is read as a patient.",
            fix=f"sheet: {{header: {sheet.header}, rows-from: {sheet.first + 1}}}",
        )
    ]


def _merged(ranges: int) -> list[Misread]:
    if not ranges:
        return []
    return [
        Misread(
            what="merged cells",
            cells=ranges,
            why="Of merged cells the first alone has the value; the others are missing.",
            fix="Unmerge them in the sheet, and fill in what stands there into each.",
        )
    ]
