"""What must hold of the head in every transaction: all that is asked of it when a ledger is opened.

::

    place     the head is the last row of the chain
    key       the one that the chain names is ours
    signed    by it; a ledger that was restored from a backup has a head that nobody signed
    anchor    its last line is of this history, and no later than the ledger

*Privacy:* a process may stay open while an older ledger is put back under it.  Without this it
would grant again what was lost, and sign the ledger whole for everybody else.
*Utility:* the signature of a head is checked once, and one that was made here is known.
"""

from confide.budget.accounts.book import Book
from confide.budget.chain.chain import SignedHead
from confide.budget.entry import Head
from confide.budget.integrity.anchor_line import Line
from confide.budget.integrity.inspection import head_differences
from confide.budget.stores.store import Store, head_place
from confide.errors import LedgerFrozenError

KEY_REPLACED = "The signing key was replaced by another process or host."


class HeadCheck:
    """Looks at the head of one store under the lock of a transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._signed: tuple[str, int, str, str] | None = None  # key, and the head that it signed

    def made(self, head: SignedHead) -> None:
        """Note a head that this process signs, whether it comes to be on disk or not."""
        self._signed = (head.key, head.number, head.hash, head.signature)

    def require(
        self, book: Book, *, since: Head, anchored: Line | None, missing: int, key: str
    ) -> None:
        """Refuse to go on unless the head is that of an opening without findings.

        Args:
            book: What all rows add up to.
            since: Where the book was before it took in what others wrote.
            anchored: The last line of the anchor, no earlier than ``since``; None of an empty one.
            missing: How many of the rows taken in the anchor lacks.
            key: The one that signs here, in hexadecimal.

        Raises:
            LedgerFrozenError: If it is not; nothing of the book may be used then.
        """
        head, most = self._store.head(), self._store.most_behind
        if head_place(head) != (book.number, book.hash):
            raise LedgerFrozenError("The signed head is not the last row of the chain.")
        if book.signing.current not in {"", key}:
            raise LedgerFrozenError(KEY_REPLACED)
        if head is not None and (key, *head) != self._signed:
            for wrong in head_differences(self._store, book, public_key=key):
                raise LedgerFrozenError(wrong)
            self._signed = (key, *head)
        if (most is not None and missing > most) or not _is_there(anchored, book, since=since):
            raise LedgerFrozenError("The anchor is not where the ledger is.")


def _is_there(line: Line | None, book: Book, *, since: Head) -> bool:
    """Return whether the row of a line is in the book with its hash."""
    if line is None:
        return True
    row = since.hash if line.number == since.number else book.trail.get(line.number)
    return row == line.hash
