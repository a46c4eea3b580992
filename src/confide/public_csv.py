"""CSV files of public facts: codes and labels, areas, standard populations, visit frequencies.

All are read alike: UTF-8, with or without a byte order mark, lines that end as on any system, and
commas.  Cells are compared with declared names and with cells of the data, letter by letter, so
whatever would make them differ unseen is refused before anything is charged: another separator,
blanks around a cell, signs that nobody sees, and lines of unequal width.  Empty lines are none.
"""

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from confide.errors import ContractError, NotAFileError
from confide.regular_file import LARGEST, reading_text

_OTHERS = {";": "semicolons", "\t": "tabs", "|": "upright strokes"}
_UNSEEN = re.compile("[\0-\x1f\x7f\ufeff\ufffd]")
_AS_UTF_8 = (
    "Save it as CSV UTF-8, or for instance: iconv -f UTF-16 -t UTF-8 OLD > NEW (or from "
    "WINDOWS-1252)."
)


def _nothing(_: IO[Any]) -> None:
    return


def csv_lines(
    path: Path, *, opened: Callable[[IO[Any]], None] = _nothing, largest: int = LARGEST
) -> list[list[str]]:
    """Return the cells of every line, all lines of the same width; at least one line.

    Args:
        path: The file.
        opened: Called with the open file before a byte is read; may refuse it.
        largest: Bytes that it may hold.

    Raises:
        ContractError: If it is missing, empty, not CSV in UTF-8 with commas, or a cell has blanks
            around it or holds signs that nobody sees; NotAFileError if it is no file, or too large.
    """
    name = path.name
    try:
        with reading_text(path, encoding="utf-8-sig", newline=None, largest=largest) as file:
            opened(file)
            text = file.read()
        found = _parsed(text, separator=",")
    except (NotAFileError, ContractError):
        raise
    except OSError:
        raise ContractError(f"There is no {name} that can be read.") from None
    except UnicodeDecodeError:
        raise ContractError(f"{name} cannot be read as CSV in UTF-8.", hint=_AS_UTF_8) from None
    except csv.Error:
        raise ContractError(
            f"{name} cannot be read as CSV in UTF-8.", hint="Is a quote left open?"
        ) from None
    if not found:
        raise ContractError(f"{name} is empty.", hint="Write a line for each.")
    _require_commas(found, text=text, name=name)
    for number, cells in found:
        _require_plain(cells, wide=len(found[0][1]), place=f"{name}: line {number}")
    return [cells for _, cells in found]


def _parsed(text: str, *, separator: str) -> list[tuple[int, list[str]]]:
    """Return the cells of every line that has some, with its number."""
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    return [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]


def _require_commas(found: list[tuple[int, list[str]]], *, text: str, name: str) -> None:
    """Refuse lines whose first separator is another one, as spreadsheets of Europe write them."""
    if re.match(r"\s*sep=", text, re.IGNORECASE):
        raise ContractError(
            f"{name} begins with the line sep= of Excel.", hint="Delete it, and write commas."
        )
    for sign, called in _OTHERS.items():
        if not all(sign in cells[0] for _, cells in found):
            continue
        try:
            separates = all(len(cells) > 1 for _, cells in _parsed(text, separator=sign))
        except csv.Error:
            continue
        if separates:
            raise ContractError(
                f"{name} separates its columns by {called}.",
                hint="Save it with commas; where they belong to the labels, write those in quotes.",
            )


def _require_plain(cells: list[str], *, wide: int, place: str) -> None:
    if len(cells) != wide:
        raise ContractError(
            f"{place} has {len(cells)} columns, and the first one {wide}.",
            hint="Write a label that holds a comma in quotes.",
        )
    for column, cell in enumerate(cells, start=1):
        if cell != cell.strip():
            raise ContractError(
                f"{place}, column {column} has blanks before or after what it says.",
                hint="Delete them; a label that has them in the data is declared in the YAML "
                "file itself.",
            )
        if _UNSEEN.search(cell):
            raise ContractError(
                f"{place} holds signs that nobody sees, or that were damaged.", hint=_AS_UTF_8
            )
