"""Text files of a source as UTF-8, whatever their bytes are, so that no row is lost to an encoding.

An engine that reads UTF-8 leaves out the rows in which it meets other bytes: in an export in
Latin-1 everybody with an umlaut.  So each file is read under a name of our own in the private spill
folder.  That name is a link to the file.  Before the first rows are read through it, the file is
gone through in chunks; where it is not UTF-8 already, or has a cell that is longer than the engine
can pass over (:mod:`.long_cells`), a copy that is takes the place of the link.  Bytes are decoded
as declared; those that cannot be become U+FFFD.

*Lemma* (nobody else's row). Each cell of the copy is a function of the bytes of that cell. In every
:class:`~confide.tables.encoding.Encoding` (of UTF-16 read "unit" for "byte") an ASCII byte stands
for itself and is part of no other character. A decoder meets it as itself even where a character
was begun, which ends as U+FFFD before it, and knows nothing afterwards of what came before [Uni,
sec. 3.9]. So commas, tabs, quotes and line ends of the copy are those of the file, in the same
order, and what lies between two of them is decoded alone. Where chunks end changes nothing: the
decoder is incremental.

Of a file that is no text, a workbook say, the copy is what its :class:`~.opened.Export` writes: a
line for each of its rows, made of that row alone.

*Privacy:* whether there is a copy depends on everybody's bytes, and decides where rows are read
from, never what they are.  It is found out when rows are read, hence after the charge, and what
fails then is reading.  The copy is made of the file in the state that a release is committed to,
or not kept; it has mode 0600 and goes with its folder.

References:
    [Uni] The Unicode standard, version 15.0, chapter 3: substitution of maximal subparts.
        https://www.unicode.org/versions/Unicode15.0.0/ch03.pdf
"""

import codecs
import contextlib
import csv
import gzip
import os
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlglot import exp

from confide.errors import ContractError, EngineError
from confide.regular_file import descriptor, reading
from confide.rows.sources.fingerprint import SourceState, fingerprints
from confide.rows.sources.header import separator, utf16_decoder
from confide.rows.sources.long_cells import quoted_cells
from confide.rows.sources.opened import PATTERN, Export, Opened, Scan
from confide.tables.dialect import Dialect
from confide.tables.encoding import Encoding

CHUNK, ERRORS = 2**20, "replace"
_READER = "read_csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """A file, its encoding, and the name under which it is read."""

    file: Path
    encoding: Encoding
    dialect: Dialect
    link: Path
    export: Export | None = None

    @property
    def packed(self) -> bool:
        """Whether it is compressed, as its copy then is."""
        return self.link.suffix == ".gz"


class TextFiles:
    """The text files of one engine, under names in a folder that is this process's alone."""

    def __init__(self, folder: Path, *, state: SourceState) -> None:
        self._folder, self._state = folder, state
        self._texts: dict[tuple[Path, Encoding, Dialect, Export | None], _Text] = {}
        self._settled: set[Path] = set()
        self._one_at_a_time = threading.Lock()

    def linked(self, opened: Opened) -> Opened:
        """Return a source whose text files are read under our names.

        Raises:
            ContractError: If the temporary folder cannot hold such names.
        """
        scans = {name: self._scan(scan) for name, scan in opened.scans.items()}
        relations = {name: scan.relation for name, scan in scans.items()}
        return replace(opened, scans=scans, relations={**opened.relations, **relations})

    def settle(self, sql: str) -> None:
        """See to it that the files that a query reads are UTF-8, or stand as a copy that is.

        Raises:
            EngineError: If a file cannot be read, or its copy not be written.
        """
        for text in self._texts.values():
            if _inside(text.link) in sql:
                with self._one_at_a_time:  # two would write one copy
                    self._settle(text)

    def _settle(self, text: _Text) -> None:
        if text.link in self._settled:
            return
        _settle(text)
        if set(fingerprints((text.file,))) <= set(self._state.fingerprints):
            self._settled.add(text.link)  # else it may be another file by the next query

    def _scan(self, scan: Scan) -> Scan:
        if not scan.parts:
            return scan
        links = [self._link(part, scan) for part in scan.parts]
        lines = None if scan.lines is None else _reading(scan.lines, links)
        return replace(scan, relation=_reading(scan.relation, links), lines=lines)

    def _link(self, file: Path, scan: Scan) -> Path:
        key = (file, scan.encoding, scan.dialect, scan.export)
        if key not in self._texts:
            packed = file.suffix == ".gz" and scan.export is None
            link = self._folder / f"text{len(self._texts)}{'.gz' if packed else '.csv'}"
            linked = False
            with contextlib.suppress(OSError):
                link.symlink_to(file)
                linked = not set(str(link)) & set(PATTERN)
            if not linked:
                raise ContractError(
                    "The temporary folder cannot hold links, or has *, ? or [ in its path.",
                    hint="Set TMPDIR to a folder of a local disk.",
                )
            self._texts[key] = _Text(
                file=file,
                encoding=scan.encoding,
                dialect=scan.dialect,
                link=link,
                export=scan.export,
            )
        return self._texts[key].link


def _reading(relation: exp.Table, links: list[Path]) -> exp.Table:
    """Return a relation that reads other files."""
    read = relation.copy()
    for reader in read.find_all(exp.Anonymous):
        if reader.this == _READER:
            files = exp.array(*(exp.Literal.string(str(link)) for link in links))
            reader.set("expressions", [files, *reader.expressions[1:]])
    return read


def _inside(link: Path) -> str:
    """Return what no query holds but one that reads this link."""
    return f"{link.parent.name}/{link.name}"


def _settle(text: _Text) -> None:
    part = text.link.with_suffix(".part")
    failed = ""
    try:
        if text.export is not None:
            _write(text.export.lines(text.file), to=part)
            part.replace(text.link)
        elif not _is_readable(text):
            _copy(text, to=part)
            part.replace(text.link)
        elif not text.link.is_symlink():  # the copy of a file that is another one by now
            with contextlib.suppress(FileNotFoundError):
                part.unlink()
            part.symlink_to(text.file)
            part.replace(text.link)  # never a moment without it
    except (OSError, EOFError, zlib.error) as error:
        failed = type(error).__name__
    if failed:
        with contextlib.suppress(OSError):
            part.unlink()  # what it holds of a full disk
        raise EngineError(failed)


def _write(lines: Iterable[Sequence[str]], *, to: Path) -> None:
    """Write rows of texts as a file that the engine reads."""
    with contextlib.suppress(FileNotFoundError):
        to.unlink()
    file = descriptor(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(file, "w", encoding="utf-8", errors=ERRORS, newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(lines)


def _is_readable(text: _Text) -> bool:
    """Return whether a file has no cell that is too long, and its bytes say the same as UTF-8."""
    if text.encoding is Encoding.UTF_16:
        return False
    decoder = codecs.getincrementaldecoder(Encoding.UTF_8.value)()
    cells = quoted_cells(separator(text.file, dialect=text.dialect), quote=text.dialect.quote.sign)
    begun = False
    for chunk in _chunks(text):
        cells.shortened(chunk)
        if cells.cut:
            return False
        if chunk.isascii() and not begun:
            continue
        if text.encoding is not Encoding.UTF_8:
            return False
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            return False
        begun = bool(decoder.getstate()[0])
    return not begun


def _copy(text: _Text, *, to: Path) -> None:
    units = text.encoding is Encoding.UTF_16
    decoder = utf16_decoder() if units else _decoder_of(text.encoding)
    with contextlib.suppress(FileNotFoundError):
        to.unlink()
    with os.fdopen(descriptor(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        packer = gzip.GzipFile("", "wb", 1, file, 0) if text.packed else None
        out = packer or file
        sign = separator(text.file, dialect=text.dialect)
        cells = quoted_cells(sign, quote=text.dialect.quote.sign)
        for chunk in _chunks(text):
            if units:  # in which no byte is a quote: first what they say, then how long it is
                out.write(cells.shortened(decoder.decode(chunk).encode()))
            else:
                out.write(decoder.decode(cells.shortened(chunk)).encode())
        out.write(decoder.decode(b"", final=True).encode())
        if packer is not None:
            packer.close()


def _decoder_of(encoding: Encoding) -> codecs.IncrementalDecoder:
    return codecs.getincrementaldecoder(encoding.value)(errors=ERRORS)


def _chunks(text: _Text) -> Iterator[bytes]:
    with reading(text.file) as file:
        lines = gzip.GzipFile(fileobj=file) if text.packed else file
        while chunk := lines.read(CHUNK):
            yield chunk
