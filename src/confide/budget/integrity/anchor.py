"""The anchor: signed heads of the chain in a second place.

One line per row, appended after the row is durable.  Whoever puts back an older ledger, or
recomputes the chain, leaves an anchor that says otherwise; keep it where a restore of the ledger's
disk does not reach.  A crash between the row and its line leaves the anchor one line behind, and
the next writer adds it.

Where several hosts write to one ledger, each has an anchor of its own that records what that host
saw: it may lack the rows of others, which the host adds when it next looks, and is never ahead.

*Privacy:* an older ledger would offer spent budget again.  An anchor that was put back together
with its ledger shows nothing: known-weakness, and the reason for a second place.
"""

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from confide.budget.chain.chain import SignedHead, canonical
from confide.budget.integrity.anchor_line import Line, line_of
from confide.errors import LedgerFrozenError
from confide.regular_file import descriptor, read_bytes, reading, sync_folder, write_all

_BLOCK = 65_536


class Anchor:
    """An append-only file of signed heads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lines(self) -> tuple[Line | None, ...]:
        """Return every complete line, oldest first; ``None`` for one that cannot be read."""
        try:
            text = read_bytes(self._path, largest=None)
        except FileNotFoundError:
            return ()
        return tuple(map(line_of, _complete(text).split(b"\n")[:-1]))

    def heads(self) -> tuple[SignedHead | None, ...]:
        """Return the heads of all lines."""
        return tuple(None if line is None else line.head() for line in self.lines())

    def last(self) -> Line | None:
        """Return the last complete line, None if there is none; reads the end only.

        Raises:
            LedgerFrozenError: If that line cannot be read.
        """
        for line in self._backwards():
            last = line_of(line)
            if last is None:
                raise LedgerFrozenError("The last line of the anchor cannot be read.")
            return last
        return None

    def last_number(self) -> int:
        """Return the number of the last complete line, 0 if there is none; as :meth:`last`."""
        last = self.last()
        return 0 if last is None else last.number

    def is_empty(self) -> bool:
        """Return whether there is no complete line; reads the end only."""
        return next(self._backwards(), None) is None

    def since(self, number: int) -> tuple[SignedHead | None, ...]:
        """Return the lines from the last one of row ``number`` on; reads no more than those.

        A line that cannot be read, or of an earlier row, ends the search and is the first returned.
        """
        found: list[SignedHead | None] = []
        for line in self._backwards():
            read = line_of(line)
            found.append(None if read is None else read.head())
            if read is None or read.number <= number:
                break
        return tuple(reversed(found))

    def count(self) -> int:
        """Return the number of complete lines."""
        try:
            with reading(self._path) as file:
                return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        except FileNotFoundError:
            return 0

    def is_of(self, keys: Collection[str]) -> bool:
        """Return whether the file holds whole lines of heads by these keys alone, or nothing.

        A line that a crash left torn is not whole; a file that is not there holds nothing.
        """
        try:
            text = read_bytes(self._path, largest=None)
        except FileNotFoundError:
            return True
        *lines, last = text.split(b"\n")
        heads = [line_of(line) for line in lines]
        return not last and all(each is not None and each.key in keys for each in heads)

    def _backwards(self) -> Iterator[bytes]:
        """Yield the complete lines, newest first, however long they are."""
        try:
            file = descriptor(self._path)
        except FileNotFoundError:
            return
        try:
            yield from _lines_backwards(file)
        finally:
            os.close(file)

    def append(self, *heads: SignedHead) -> None:
        """Add lines, durably; what a crash left of a line is cut off first."""
        lines = "".join(canonical(head.to_fields()) + "\n" for head in heads)
        is_new = not self._path.exists()
        file = descriptor(self._path, os.O_RDWR | os.O_CREAT)
        try:
            os.lseek(file, _cut_torn_line(file), os.SEEK_SET)
            write_all(file, lines.encode("utf-8"))
            os.fsync(file)
        finally:
            os.close(file)
        if is_new:
            sync_folder(self._path.parent)


def _complete(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]


def _lines_backwards(file: int) -> Iterator[bytes]:
    start = os.fstat(file).st_size
    held: list[bytes] = []  # of a line whose beginning was not read yet, last part first
    torn = True
    while start:
        size = min(start, _BLOCK)
        start -= size
        parts = _read(file, size=size, start=start).split(b"\n")
        for part in reversed(parts[1:]):
            line = part + b"".join(reversed(held))
            held = []
            if not torn:
                yield line
            torn = False
        held.append(parts[0])
    if not torn:
        yield b"".join(reversed(held))


def _read(file: int, *, size: int, start: int) -> bytes:
    found = os.pread(file, size, start)
    if len(found) != size:
        raise LedgerFrozenError("The anchor was cut off while it was read.")
    return found


def _cut_torn_line(file: int) -> int:
    size = end = os.fstat(file).st_size
    while end and os.pread(file, 1, end - 1) != b"\n":
        start = max(0, end - _BLOCK)
        end = start + os.pread(file, end - start, start).rfind(b"\n") + 1
    if end < size:
        os.ftruncate(file, end)
    return end
