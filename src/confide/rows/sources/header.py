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
import io
import re
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confide.errors import ContractError
from confide.regular_file import reading
from confide.rows.cells.layout import plain_name
from confide.tables.dialect import Dialect
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
    "`from: <name in the data>` for a column that is called otherwise there, "
    "and `dialect` or `encoding` of the table where the file is written otherwise."
)
_AGAIN = (
    "Declare it of the table, dialect: {{separator: {other}}}, and where numbers are written 6,5 "
    'decimal: "," too: with a point declared they are read as missing.'
)


def separator(path: Path, *, dialect: Dialect) -> str:
    """Return what stands between the fields of a file: as declared, else a tab in .tsv, a comma."""
    if dialect.separator is not None:
        return dialect.separator.sign
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
    lines = _first_lines(path, encoding=table.encoding)
    encoding = Encoding.UTF_8 if table.encoding is Encoding.UTF_16 else table.encoding
    reader = _Fields(sign=separator(path, dialect=table.dialect), quote=table.dialect.quote.sign)
    if not lines:
        why, hint = "cannot be read", "Is it whole, and packed as its ending says?"
    elif not is_header(_pieces(lines[-1], reader=reader, encoding=encoding), declared=declared):
        why, hint = "has a first line that names no declared column", _IS_THERE_ONE
    else:
        line, why, hint = _decoded(lines[0], encoding=encoding)
        if not why:
            names = reader.names(line)
            why, hint = _fault(names, ours=reader.sign)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fields:
    """How the fields of a line are told apart."""

    sign: str
    quote: str

    def names(self, line: str) -> list[str]:
        """Return the fields of a line; none if it has no such form."""
        with contextlib.suppress(csv.Error):
            if not self.quote:
                return next(csv.reader([line], delimiter=self.sign, quoting=csv.QUOTE_NONE), [])
            return next(csv.reader([line], delimiter=self.sign, quotechar=self.quote), [])
        return []


def _first_lines(path: Path, *, encoding: Encoding) -> tuple[bytes, ...]:
    """Return the first line, and the one that may be the header: after blank ones and sep=.

    None if they cannot be read.  Of UTF-16 they come as UTF-8.
    """
    try:
        with reading(path) as file:
            packed: Any = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            if encoding is Encoding.UTF_16:
                packed = io.BytesIO(_as_utf8(packed.read(LONGEST_LINE)))
            first = line = packed.readline(LONGEST_LINE)
            for _ in range(_BEFORE):
                if not line or _line(line, encoding="latin-1"):
                    break
                line = packed.readline(LONGEST_LINE)
    except (OSError, EOFError, zlib.error):
        return ()
    return first, line


def _as_utf8(raw: bytes) -> bytes:
    decoder = utf16_decoder()
    return decoder.decode(raw).encode("utf-8")


def utf16_decoder() -> codecs.IncrementalDecoder:
    """Return what decodes UTF-16 unit by unit: by its mark, and without one the lower byte first.

    A unit that is no character becomes U+FFFD, and so does half of one.
    """
    return _ByMark(errors="replace")


class _ByMark(codecs.BufferedIncrementalDecoder):
    """UTF-16 of either order."""

    def __init__(self, errors: str) -> None:
        super().__init__(errors)
        self._decode: Any = None

    def _buffer_decode(self, octets: Any, errors: str, final: bool) -> tuple[str, int]:
        passed = 0
        octets = bytes(octets)
        if self._decode is None:
            if len(octets) < 2 and not final:
                return "", 0
            upper = octets.startswith(codecs.BOM_UTF16_BE)
            self._decode = codecs.utf_16_be_decode if upper else codecs.utf_16_le_decode
            passed = 2 if octets.startswith(_UTF16) else 0
        text, used = self._decode(octets[passed:], errors, final)
        return text, used + passed


def _line(raw: bytes, *, encoding: str) -> str:
    """Return the first line of what was read that is neither blank nor sep=; "" if none is.

    Whatever its bytes are: UTF-16 loses its zeros, and a carriage return ends a line.
    """
    for mark in (codecs.BOM_UTF8, *_UTF16):
        raw = raw.removeprefix(mark)
    text = raw.replace(b"\0", b"").decode(encoding, errors="replace")
    lines = (line.strip() for line in re.split("[\r\n]", text))
    return next((line for line in lines if line and not line.lower().startswith(_SEP)), "")


def _pieces(raw: bytes, *, reader: _Fields, encoding: Encoding) -> list[str]:
    """Return what may be names in a line, also where it is encoded or separated as elsewhere."""
    pieces: list[str] = []
    for each in dict.fromkeys((encoding, Encoding.UTF_8, Encoding.LATIN_1)):
        names = reader.names(_line(raw, encoding=each.value))
        pieces += names if len(names) != 1 else re.split(_BETWEEN, names[0])
    return pieces


def _decoded(raw: bytes, *, encoding: Encoding) -> tuple[str, str, str]:
    """Return the first line of a file that has a header; or why it is none, and what helps."""
    if raw.startswith(_UTF16) or b"\0" in raw:
        return "", "is in UTF-16, or no text", "Declare `encoding: utf-16` of the table."
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


def _fault(names: list[str], *, ours: str) -> tuple[str, str]:
    """Return what is wrong with names that are known to be some; empty for nothing."""
    if len(names) == 1 and names[0]:
        return _other_separator(names[0], ours=ours)
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


def _other_separator(name: str, *, ours: str) -> tuple[str, str]:
    """Say that a first line of one name holds what separates fields elsewhere."""
    for other, called in _OTHERS.items():
        if other != ours and other in name:
            again = _AGAIN.format(other={"\t": "tab", "|": "bar"}.get(other, f'"{other}"'))
            why = f"has a header of one column with {called} in it"
            return (
                f"{why}: fields are separated by {_OTHERS[ours]}, unless another sign is declared",
                {"\t": f"Name it .tsv. {again}", ",": f"Name it .csv. {again}"}.get(other, again),
            )
    return "", ""
