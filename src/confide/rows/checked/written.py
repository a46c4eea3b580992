"""How the bytes of a CSV file look beside what is declared, and the dialect that would fit.

*Privacy:* looks at rows, so what it says is for the steward alone; nothing is read by it.
"""

import codecs
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from confide.regular_file import reading
from confide.rows.sources.header import is_header, separator
from confide.tables.dialect import Separator
from confide.tables.encoding import Encoding
from confide.tables.schema import Table

_CHUNK, _HEAD = 2**20, 2**16
_OTHER_FILES = {
    b"PK\x03\x04": ("an Excel workbook or a zip", "Save the sheet as CSV UTF-8."),
    b"\xd0\xcf\x11\xe0": ("an old Excel workbook", "Save the sheet as CSV UTF-8."),
    b"\x1f\x8b": ("packed with gzip", "Name it .csv.gz."),
    b"PAR1": ("Parquet", "Write source: {kind: parquet, path: ...}."),
    b"<": ("HTML or XML, as some exports called Excel are", "Save it as CSV UTF-8."),
    b"{": ("JSON", "Load it into a DuckDB file, and write source: {kind: duckdb, path: ...}."),
}
_UNUSED_1252 = b"\x81\x8d\x8f\x90\x9d"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misread:
    """Something of a file that is not as declared.

    Attributes:
        what: In a few words.
        why: A sentence.
        fix: Line of dataset.yaml, or what to do.
        cells: How many cells or rows; None where it is the whole file.
    """

    what: str
    why: str
    fix: str
    cells: int | None = None


@dataclass(slots=True)
class _Bytes:
    """What a file is made of."""

    head: bytes = b""
    quotes: int = 0
    lines: int = 0
    is_utf8: bool = True
    is_1252: bool = True
    zeros: int = 0
    size: int = 0
    decoder: Any = field(default_factory=codecs.getincrementaldecoder("utf-8"))

    def add(self, chunk: bytes, *, final: bool = False) -> None:
        if len(self.head) < _HEAD:
            self.head += chunk[:_HEAD]
        self.size += len(chunk)
        self.quotes += chunk.count(b'"')
        self.lines += chunk.count(b"\n")
        self.zeros += chunk.count(b"\0")
        self.is_1252 &= not any(each in chunk for each in _UNUSED_1252)
        if self.is_utf8:
            try:
                self.decoder.decode(chunk, final)
            except UnicodeDecodeError:
                self.is_utf8 = False


def as_written(
    parts: tuple[Path, ...], *, table: Table, declared: frozenset[str]
) -> tuple[Table, list[Misread]]:
    """Return a table in the dialect that its files seem to have, and how that differs.

    Args:
        parts: Its files.
        table: As declared.
        declared: Names that its header should hold.
    """
    found: list[Misread] = []
    for part in parts:
        table, more = _of_file(part, table=table, declared=declared)
        found += [each for each in more if each not in found]
    return table, found


def _of_file(path: Path, *, table: Table, declared: frozenset[str]) -> tuple[Table, list[Misread]]:
    seen = _Bytes()
    try:
        for chunk in _chunks(path):
            seen.add(chunk)
        seen.add(b"", final=True)
    except (OSError, EOFError):
        why = f"{path.name!r} cannot be read, or is not packed as its ending says."
        return table, [Misread(what="no readable file", why=why, fix="Write the file again.")]
    if not seen.head.strip():
        why = f"{path.name!r} is empty."
        return table, [Misread(what="empty file", why=why, fix="Export it again, with its header.")]
    for magic, (what, fix) in _OTHER_FILES.items():
        if seen.head.lstrip(b"\xef\xbb\xbf \r\n").startswith(magic):
            why = f"{path.name!r} is {what}, and no CSV file."
            return table, [Misread(what="another kind of file", why=why, fix=fix)]
    table, found = _encoding(seen, path=path, table=table)
    text = seen.head.decode(table.encoding.value, errors="replace").lstrip("\ufeff")
    table, more = _separator(text, path=path, table=table, declared=declared)
    found += more
    if table.dialect.quote.sign == '"' and seen.quotes % 2:
        found.append(
            Misread(
                what="open quotation mark",
                why=f"{path.name!r} holds an odd number of quotation marks: one that is not closed "
                "swallows the rows after it.",
                fix="Close it in the file, or where marks stand inside texts declare dialect: "
                "{quote: none}.",
            )
        )
    return table, found


def _encoding(seen: _Bytes, *, path: Path, table: Table) -> tuple[Table, list[Misread]]:
    units = seen.head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if (units or 3 * seen.zeros > seen.size) and table.encoding is not Encoding.UTF_16:
        return replace(table, encoding=Encoding.UTF_16), [_another(path, Encoding.UTF_16)]
    if table.encoding is Encoding.UTF_16 and not units and not seen.zeros:
        other = Encoding.UTF_8 if seen.is_utf8 else Encoding.WINDOWS_1252
        return replace(table, encoding=other), [_another(path, other)]
    if table.encoding is Encoding.UTF_8 and not seen.is_utf8:
        other = Encoding.WINDOWS_1252 if seen.is_1252 else Encoding.LATIN_1
        return replace(table, encoding=other), [_another(path, other)]
    ascii_only = seen.head.isascii()
    if table.encoding not in (Encoding.UTF_8, Encoding.UTF_16) and seen.is_utf8 and not ascii_only:
        return replace(table, encoding=Encoding.UTF_8), [_another(path, Encoding.UTF_8)]
    return table, []


def _another(path: Path, encoding: Encoding) -> Misread:
    return Misread(
        what="another encoding",
        why=f"{path.name!r} is not in the declared encoding, and seems to be "
        f"{encoding.value.upper()}: letters beyond ASCII are read as others.",
        fix=f"encoding: {encoding.value}",
    )


def _separator(
    text: str, *, path: Path, table: Table, declared: frozenset[str]
) -> tuple[Table, list[Misread]]:
    """Return the table with the separator that parts its header into declared names."""
    lines = [line for line in re.split("[\r\n]+", text) if line.strip()]
    if lines and lines[0].lower().startswith("sep="):
        lines = lines[1:]
    first = lines[0] if lines else ""
    ours = separator(path, dialect=table.dialect)

    def known(sign: str) -> int:
        return sum(is_header([n.strip(" \"'")], declared=declared) for n in first.split(sign))

    best = max((each for each in Separator), key=lambda each: known(each.sign))
    if known(best.sign) <= known(ours):
        return table, []
    called = best.value if best.value.isalpha() else f'"{best.sign}"'
    fitting = replace(table, dialect=replace(table.dialect, separator=best))
    return fitting, [
        Misread(
            what="another separator",
            why=f"{path.name!r} separates its fields by {called}, and another sign is declared.",
            fix=f"dialect: {{separator: {called}}}",
        )
    ]


def _chunks(path: Path) -> Iterator[bytes]:
    with reading(path) as file:
        packed = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
        while chunk := packed.read(_CHUNK):
            yield chunk
