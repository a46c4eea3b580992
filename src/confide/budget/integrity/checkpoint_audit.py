"""Whether the stored checkpoint says what the rows add up to; asked by ``confide ledger verify``.

*Privacy:* a checkpoint that this site's key signed is believed when the ledger is opened.  One that
says something else than the rows, through a fault of the software or by the hand of whoever holds
the key, would grant what was spent; so it is named, and written anew from the rows.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from confide.budget.accounts.book import Book
from confide.budget.integrity.checkpoint import (
    NO_LINES,
    all_lines,
    is_header_signed,
    is_of,
    rolled_over,
    signed_fields,
)
from confide.budget.stores.store import StoredCheckpoint


class CheckpointAudit:
    """The newest signed checkpoint, held against the rows while they are read."""

    def __init__(self, rows: Sequence[StoredCheckpoint], *, key: str) -> None:
        """Take up the stored checkpoints, oldest first; those of other versions are left unread."""
        self._rows = rows
        self._forged = [
            row.number for row in rows if row.header and not is_header_signed(row, key=key)
        ]
        self._number, self._fits = 0, False
        self._fields: dict[str, Any] = {}
        for row in rows:
            fields = signed_fields(row, key=key)
            if fields is not None:
                self._number, self._fields = row.number, fields

    def see(self, book: Book) -> None:
        """Look at the book after each row."""
        if self._fields and book.number == self._number:
            self._fits = is_of(book, self._fields) and self._has_lines_of(book, self._fields)

    def problems(self) -> Iterator[str]:
        """Yield what does not hold, once all rows were seen."""
        for number in self._forged:
            yield f"The checkpoint of row {number} is not signed by this site's key."
        if self._fields and not self._fits:
            yield f"The checkpoint of row {self._number} is not what the rows add up to."

    def _has_lines_of(self, book: Book, fields: dict[str, Any]) -> bool:
        mine = [row.lines for row in self._rows if row.number <= self._number]
        last: dict[bytes, bytes] = {}
        for line in (line for lines in mine for line in lines.splitlines()):
            kind, number, _ = line.split(b" ", 2)
            last[kind + number] = line
        rolled = rolled_over(NO_LINES, *mine)
        return rolled == fields["lines"] and set(last.values()) == set(all_lines(book))
