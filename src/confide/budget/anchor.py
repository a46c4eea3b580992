"""The anchor: signed heads of the chain in a second place.

One line per row, appended after the row is durable.  Whoever puts back an older ledger, or
recomputes the chain, leaves an anchor that says otherwise; keep it where a restore of the ledger's
disk does not reach.  A crash between the row and its line leaves the anchor one line behind, never
more, and the next writer adds it.

*Privacy:* an older ledger would offer spent budget again.  An anchor that was put back together
with its ledger shows nothing: known-weakness, and the reason for a second place.
"""

import json
import os
from pathlib import Path

from confide.budget.chain import SignedHead, canonical
from confide.errors import LedgerFrozenError


class Anchor:
    """An append-only file of signed heads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def heads(self) -> tuple[SignedHead | None, ...]:
        """Return every complete line, oldest first; ``None`` for one that cannot be read."""
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return ()
        return tuple(_parse(line) for line in _complete(text).splitlines())

    def last_number(self) -> int:
        """Return the number of the last complete line, 0 if there is none; reads the end only.

        Raises:
            LedgerFrozenError: If that line cannot be read.
        """
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 65_536))
                lines = _complete(file.read()).splitlines()
        except FileNotFoundError:
            return 0
        last = _parse(lines[-1]) if lines else None
        if lines and last is None:
            raise LedgerFrozenError("The last line of the anchor cannot be read.")
        return 0 if last is None else last.number

    def append(self, head: SignedHead) -> None:
        """Add a line, durably; what a crash left of a line is cut off first."""
        line = canonical(
            {
                "number": str(head.number),
                "hash": head.hash,
                "kind": head.kind,
                "lineage": head.lineage,
                "spent": {scope: str(units) for scope, units in head.spent.items()},
                "key": head.key,
                "signature": head.signature,
            }
        )
        is_new = not self._path.exists()
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.lseek(file, _cut_torn_line(file), os.SEEK_SET)
            os.write(file, line.encode("utf-8") + b"\n")
            os.fsync(file)
        finally:
            os.close(file)
        if is_new:
            _sync_folder(self._path.parent)


def _parse(line: bytes) -> SignedHead | None:
    try:
        fields = json.loads(line)
        return SignedHead(
            number=int(fields["number"]),
            hash=fields["hash"],
            kind=fields["kind"],
            lineage=fields["lineage"],
            spent={scope: int(units) for scope, units in fields["spent"].items()},
            key=fields["key"],
            signature=fields["signature"],
        )
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


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
