"""The desk of a ledger where it is noted that patients withdrew consent, and by which lists.

*Privacy:* a row holds the tag of a sealed list: neither id, nor hash, nor how many.  Taking a
patient out spends nothing and gives nothing back.
"""

from confide.budget.journal import Journal
from confide.budget.lengths import require_reason
from confide.budget.workflow.acts import Officers


class ConsentDesk:
    """What a ledger knows of consent withdrawn; ``ledger.desk.consent``."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def note_withdrawal(self, lineage: str, *, tag: str, by: str) -> int:
        """Record that patients withdrew consent, and by which list; return the number of the row.

        No officer signs it: nobody's approval is needed to take a patient out.

        Args:
            lineage: Of the data.
            tag: Of the sealed list, a keyed hash over a fresh nonce: it says nothing of whom.
            by: Login of who did it.
        """
        with self._journal.transaction():
            self._journal.book.account(lineage)
            said = {"lineage": lineage, "by": by, "list": tag}
            return self._journal.append("consent-withdrawn", **said).number

    def note_lists_lost(
        self, lineage: str, *, tag: str, by: str, reason: str, officers: Officers = ()
    ) -> int:
        """Record that one list takes the place of all, which are lost; return the row's number.

        An act of officers of every policy: lists hold for all data sets of the ledger, and whoever
        is not listed again is counted again.  One row ends the old ones and names the new one, so
        there is no moment at which none is asked for.
        """
        require_reason(reason, what="going on without a list of withdrawn patients")
        with self._journal.transaction():
            self._journal.book.account(lineage)
            said = {"lineage": lineage, "by": by, "reason": reason, "list": tag}
            return self._journal.append("consent-lists-lost", officers, **said).number

    def withdrawals(self) -> frozenset[str]:
        """Return the tags of all lists that there must be.

        Through whichever data set they came, and under whichever hash key they were made: a list
        is asked for until officers say that all are lost.
        """
        with self._journal.transaction():
            return frozenset(self._journal.book.consent.lists)

    def ended(self) -> tuple[int, ...]:
        """Return the rows after which somebody who withdrew may be counted again, oldest first."""
        with self._journal.transaction():
            return tuple(self._journal.book.consent.ended)

    def hash_key(self) -> str:
        """Return the fingerprint of the hash key that the ledger goes with; "" where none is said.

        An officer may have gone on with another one since the ledger was opened here.
        """
        with self._journal.transaction():
            return self._journal.book.identity.order_key

    def hash_key_was_replaced(self) -> bool:
        """Return whether an officer ever went on with another hash key; reads every row."""
        with self._journal.transaction():
            rows = self._journal.store.events_after(0)
            return sum("order-key" in event.fields() for event in rows) > 1

    def era(self, entry: int) -> int:
        """Return a number that entries share which left out the same patients."""
        with self._journal.transaction():
            opened = self._journal.held(entry).entry.continues or entry
            return self._journal.book.consent.era(entry, opened)
