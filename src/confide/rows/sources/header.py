"""The header line of a CSV file: its names, or what is wrong with it, in words that name the file.

What is wrong with it is told only where one of its names is declared: a file without a header, or a
part without one, begins with a patient, of whom not even is told which cells are empty or equal, or
hold an umlaut.  So that is asked first, of the line as it can best be made out, and of all others
the same is said; of an empty file too, which one without a header is when its patient is left out.
"""

import codecs
import contextlib
import csv
import gzip
import re
import zlib
from collections.abc import Collection
from pathlib import Path

from confide.errors import ContractError
from confide.regular_file import reading
from confide.rows.cells.layout import plain_name
from confide.tables.encoding import Encoding
from confide.tables.schema import Table

LONGEST_LINE = 2**21
_NAMES = "The first line names every column."
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_SEP = "sep="
_BEFORE = 9
"""How many lines that are blank, or sep=, may stand before what is still known as a header."""

_OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
_BETWEEN = "[;\t|,]"
_IS_THERE_ONE = (
    f"Does it have a header? {_NAMES} Between fields stand commas, in .tsv tabs; write "
    "`from: <name in the data>` for a column that is called otherwise there."
)
_AGAIN = (
    "Write the file again with commas, for instance in Python: "
    'pandas.read_csv(FILE, sep="{other}", dtype=str, keep_default_na=False)'
    ".to_csv(NEW, index=False). Numbers have a point: 6,5 is read as missing."
)


def separator(path: Path) -> str:
    """Return what stands between the fields of a file: a tab in .tsv, else a comma."""
    return "\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ","


def header(path: Path, *, table: Table, declared: Collection[str]) -> tuple[str, ...]:
    """Return the names in the first line; no other line is decoded, so none can refuse the file.

    Args:
        path: The file.
        table: Whose it is.
        declared: Names of the source that the table is read by, those of its ids among them.

    Raises:
        ContractError: If they cannot be read, one is missing, or two are the same.
    """
    names: list[str] = []
    lines = _first_lines(path)
    if not lines:
        why, hint = "cannot be read", "Is it whole, and packed as its ending says?"
    elif not is_header(_pieces(lines[-1], path=path, encoding=table.encoding), declared=declared):
        why, hint = "has a first line that names no declared column", _IS_THERE_ONE
    else:
        line, why, hint = _decoded(lines[0], encoding=table.encoding)
        if not why:
            names = _names(line, path=path)
            why, hint = _fault(names, path=path)
    if why:
        raise ContractError(f"Table {table.name!r}: {path.name!r} {why}.", hint=hint)
    return tuple(names)


def is_header(names: Collection[str], *, declared: Collection[str]) -> bool:
    """Return whether a first line names a declared column, near enough, and so is no row."""
    known = {as_told for name in declared for as_told in _told(name)}
    return any(as_told in known for name in names for as_told in _told(name))


def _told(name: str) -> tuple[str, ...]:
    """Return a name without regard to capitals, and without blanks and signs as well."""
    return tuple(filter(None, (name.lower(), plain_name(name))))


def _first_lines(path: Path) -> tuple[bytes, ...]:
    """Return the first line, and the one that may be the header: after blank ones and sep=.

    None if they cannot be read.
    """
    try:
        with reading(path) as file:
            packed = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            first = line = packed.readline(LONGEST_LINE)
            for _ in range(_BEFORE):
                if not line or _line(line, encoding="latin-1"):
                    break
                line = packed.readline(LONGEST_LINE)
    except (OSError, EOFError, zlib.error):
        return ()
    return first, line


def _line(raw: bytes, *, encoding: str) -> str:
    """Return the first line of what was read that is neither blank nor sep=; "" if none is.

    Whatever its bytes are: UTF-16 loses its zeros, and a carriage return ends a line.
    """
    for mark in (codecs.BOM_UTF8, *_UTF16):
        raw = raw.removeprefix(mark)
    text = raw.replace(b"\0", b"").decode(encoding, errors="replace")
    lines = (line.strip() for line in re.split("[\r\n]", text))
    return next((line for line in lines if line and not line.lower().startswith(_SEP)), "")


def _pieces(raw: bytes, *, path: Path, encoding: Encoding) -> list[str]:
    """Return what may be names in a line, also where it is encoded or separated as elsewhere."""
    pieces: list[str] = []
    for each in dict.fromkeys((encoding, Encoding.UTF_8, Encoding.LATIN_1)):
        names = _names(_line(raw, encoding=each.value), path=path)
        pieces += names if len(names) != 1 else re.split(_BETWEEN, names[0])
    return pieces


def _names(line: str, *, path: Path) -> list[str]:
    """Return the fields of a line; none if it has no such form."""
    with contextlib.suppress(csv.Error):
        return next(csv.reader([line], delimiter=separator(path)), [])
    return []


def _decoded(raw: bytes, *, encoding: Encoding) -> tuple[str, str, str]:
    """Return the first line of a file that has a header; or why it is none, and what helps."""
    if raw.startswith(_UTF16) or b"\0" in raw:
        return "", "is in UTF-16, or no text", "Write it as UTF-8: iconv -f UTF-16 -t UTF-8 OLD"
    if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
        return "", "has no end of its first line", _NAMES
    text, is_utf8 = None, encoding is Encoding.UTF_8
    if not is_utf8 and raw.startswith(codecs.BOM_UTF8):
        return "", "begins with the mark of UTF-8", f"Leave `encoding: {encoding.value}` out."
    with contextlib.suppress(UnicodeDecodeError):
        text = raw.decode("utf-8-sig" if is_utf8 else encoding.value)
    if text is None:
        hint = (
            "Declare the `encoding` of the table, such as windows-1252, or write it as UTF-8, for "
            "instance: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW"
        )
        return "", f"has a header line that is not {encoding.value.upper()}", hint
    return text, *_form(text)


def _form(line: str) -> tuple[str, str]:
    """Return what is wrong with the form of a first line, and what helps; empty for nothing."""
    if not line.strip():
        return "begins with a blank line", f"Delete it. {_NAMES}"
    if line.lower().startswith(_SEP):
        return "begins with the line sep= of Excel", f"Delete it. {_NAMES}"
    if "\r" in line.removesuffix("\n").removesuffix("\r"):
        return (
            "ends its lines in carriage returns alone",
            "Write it with line feeds, for instance: tr '\\r' '\\n' < OLD > NEW",
        )
    return "", ""


def _fault(names: list[str], *, path: Path) -> tuple[str, str]:
    """Return what is wrong with names that are known to be some; empty for nothing."""
    if len(names) == 1 and names[0]:
        return _other_separator(names[0], path=path)
    if "" in names:
        return _unnamed(names)
    folded = [name.lower() for name in names]
    twice = next((name for name in folded if folded.count(name) > 1), None)
    if twice is None:
        return "", ""
    first, second = [place + 1 for place, name in enumerate(folded) if name == twice][:2]
    places = f"columns {first} and {second}; capitals make no difference"
    return (
        f"names a column {names[first - 1]!r} twice ({places})",
        "Give each column a name of its own.",
    )


def _unnamed(names: list[str]) -> tuple[str, str]:
    """Say which column has no name; the first and the last are known mistakes."""
    place = names.index("") + 1
    if place == 1:
        return (
            "has no name for its first column",
            "Is it the index that pandas writes? to_csv(..., index=False) leaves it out.",
        )
    if place == len(names):
        return (
            "ends its header with a separator, so that the last column has no name",
            "Write the file without the separator at the end of each line.",
        )
    return f"has no name for column {place} of {len(names)}", _NAMES


def _other_separator(name: str, *, path: Path) -> tuple[str, str]:
    """Say that a first line of one name holds what separates fields elsewhere."""
    ours = separator(path)
    for other, called in _OTHERS.items():
        if other != ours and other in name:
            again = _AGAIN.format(other=other)
            why = f"has a header of one column with {called} in it"
            return (
                f"{why}: fields are separated by {_OTHERS[ours]}, and no other separator is read",
                {"\t": "Name it .tsv.", ",": "Name it .csv."}.get(other, again),
            )
    return "", ""
