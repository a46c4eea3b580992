"""When checkpoints are written: once enough rows have come since the last one.

*Privacy:* a checkpoint only makes opening quicker; one that cannot be written costs time, no more.
"""

import contextlib

from confide.budget.accounts.book import Book
from confide.budget.chain.chain import Signer
from confide.budget.integrity import checkpoint
from confide.budget.integrity.checkpoint import CheckpointBasis
from confide.budget.integrity.checkpoint_audit import CheckpointAudit
from confide.budget.stores.store import Store, StoredCheckpoint
from confide.errors import ConfideError


class Keeper:
    """Writes the checkpoints of one store.

    Attributes:
        basis: The checkpoint from which the next one goes on.
        beyond: How many more lines the anchor has than rows, from histories that were lost.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.basis: CheckpointBasis = checkpoint.nothing(store.events)
        self.beyond = 0

    def begin(self, basis: CheckpointBasis) -> None:
        """Go on from a checkpoint that was believed when the ledger was opened."""
        self.basis, self.beyond = basis, basis.fields["beyond"]

    def is_due(self, book: Book) -> bool:
        """Return whether enough rows have come since the last one."""
        return book.number - self.basis.number >= checkpoint.EVERY

    def audit(self, *, key: str) -> CheckpointAudit:
        """Return what holds the stored checkpoint against the rows."""
        rows: list[StoredCheckpoint] = []
        with contextlib.suppress(*self._store.failures):  # the inspection says so
            try:
                self._store.begin()
                rows = self._store.checkpoints()
            finally:
                self._store.rollback()
        return CheckpointAudit(rows, key=key)

    def renew(self, book: Book, *, signer: Signer) -> None:
        """Write a checkpoint of a book that was made of all rows, in the place of all others."""
        self.basis = checkpoint.nothing(self._store.events)
        store = self._store
        with contextlib.suppress(ConfideError, *store.failures):
            try:
                store.begin()
                self._commit(book, signer=signer, alone=True)
            finally:
                store.rollback()

    def keep(self, book: Book, *, signer: Signer, alone: bool) -> None:
        """Write a checkpoint, in the place of all others if it is ``alone``."""
        store = self._store
        with contextlib.suppress(ConfideError, *store.failures):
            try:
                store.begin()
                if not alone and not self._take_up(book, key=signer.public_key.hex()):
                    return
                if self.is_due(book):
                    self._commit(book, signer=signer, alone=alone)
            finally:
                store.rollback()

    def _commit(self, book: Book, *, signer: Signer, alone: bool) -> None:
        mine = checkpoint.made(book, after=self.basis, beyond=self.beyond, signer=signer)
        self._store.write_checkpoint(mine, alone=alone)
        self._store.commit()
        self.basis = checkpoint.grown(self.basis, mine)
        book.requests.changed.clear()
        book.docket.submissions.changed.clear()

    def _take_up(self, book: Book, *, key: str) -> bool:
        """Go on from what other processes wrote since our checkpoint; return whether that fits."""
        newer = self._store.checkpoints(after=self.basis.number)
        if not newer:
            return True
        basis = checkpoint.followed(self.basis, newer, trail=book.trail, key=key)
        self.basis = basis or self.basis
        return basis is not None
