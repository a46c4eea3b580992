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

import json
import os
from pathlib import Path

from confide.budget.chain import SignedHead, canonical, head_of
from confide.errors import LedgerFrozenError
from confide.regular_file import descriptor, read_bytes, reading, sync_folder, write_all


class Anchor:
    """An append-only file of signed heads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def heads(self) -> tuple[SignedHead | None, ...]:
        """Return every complete line, oldest first; ``None`` for one that cannot be read."""
        try:
            text = read_bytes(self._path, largest=None)
        except FileNotFoundError:
            return ()
        return tuple(_parse(line) for line in _complete(text).splitlines())

    def last_number(self) -> int:
        """Return the number of the last complete line, 0 if there is none; reads the end only.

        Raises:
            LedgerFrozenError: If that line cannot be read.
        """
        try:
            with reading(self._path) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 65_536))
                lines = _complete(file.read()).splitlines()
        except FileNotFoundError:
            return 0
        last = _parse(lines[-1]) if lines else None
        if lines and last is None:
            raise LedgerFrozenError("The last line of the anchor cannot be read.")
        return 0 if last is None else last.number

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


def _parse(line: bytes) -> SignedHead | None:
    try:
        return head_of(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _complete(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]


def _cut_torn_line(file: int) -> int:
    size = os.fstat(file).st_size
    start = max(0, size - 65_536)
    end = start + len(_complete(os.pread(file, size - start, start)))
    if end < size:
        os.ftruncate(file, end)
    return end
