"""What is read from a ledger: sums, requests, growing releases.

*Utility:* a request is found by its number or by a mark that it bears, and the others are not read;
so what a plan needs to know takes as long with a hundred releases as with a hundred thousand.
"""

from collections.abc import Iterator
from itertools import islice

from confide.budget.book import Book
from confide.budget.counters import counter_name
from confide.budget.entry import OVER, State
from confide.budget.held import GROWTH, PLAN, SNAPSHOT, STUDY, mark
from confide.budget.identity import Identity
from confide.budget.journal import Journal
from confide.budget.ledger import Entry, Growth, Head, Spent


class LedgerReading:
    """The part of a chained ledger that writes nothing of its own."""

    _journal: Journal

    def spent(
        self, lineage: str, *, project: str | None = None, analyst: str | None = None
    ) -> Spent:
        """See :meth:`Ledger.spent`."""
        with self._journal.transaction():
            account = self._journal.book.account(lineage)
            return account.summary(project=project, analyst=analyst)

    def entries(self, lineage: str, *, last: int | None = None) -> tuple[Entry, ...]:
        """See :meth:`Ledger.entries`."""
        with self._journal.transaction():
            self._journal.book.account(lineage)
            requests = self._journal.book.requests
            held = requests.all() if last is None else requests.newest()
            mine = (each.entry for each in held if each.entry.lineage == lineage)
            return tuple(mine) if last is None else tuple(islice(mine, last))[::-1]

    def entry(self, number: int) -> Entry:
        """See :meth:`Ledger.entry`."""
        with self._journal.transaction():
            return self._journal.held(number).entry

    def of_plan(self, lineage: str, *, digest: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.of_plan`."""
        return self._marked(PLAN, lineage, digest)

    def known(self, plan_digest: str, *, analyst: str, request_key: str) -> Entry | None:
        """See :meth:`Ledger.known`."""
        with self._journal.transaction():
            requests = self._journal.book.requests
            number = requests.answered((analyst, plan_digest, request_key))
            held = None if number is None else requests[number]
            if held is None or held.entry.state in OVER:
                return None
            is_begun = held.entry.state is not State.RESERVED
            return held.entry if is_begun or self._journal.store.is_alive(held.owner) else None

    def of_study(self, lineage: str, *, study: str, period: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.of_study`."""
        return self._marked(STUDY, lineage, study, period)

    def of_snapshot(self, lineage: str, *, snapshot: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.of_snapshot`."""
        return self._marked(SNAPSHOT, lineage, snapshot)

    def of_growth(self, growth: Growth) -> tuple[Entry, ...]:
        """See :meth:`Ledger.of_growth`."""
        return self._marked(GROWTH, growth.lineage, str(growth.opened))

    def beside(self, number: int, *, window: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.beside`."""
        with self._journal.transaction():
            return tuple(_beside(self._journal.book, number, window=window))

    def lost_beside(self, number: int, *, window: str) -> int:
        """See :meth:`Ledger.lost_beside`."""
        with self._journal.transaction():
            this = self._journal.held(number)
            account = self._journal.book.account(this.entry.lineage)
            return account.lost_beside(window, when=this.when)

    def growths(self, lineage: str) -> tuple[Growth, ...]:
        """See :meth:`Ledger.growths`."""
        with self._journal.transaction():
            found = self._journal.book.growths.values()
            return tuple(growth for growth in found if growth.lineage == lineage)

    def head(self) -> Head:
        """See :meth:`Ledger.head`."""
        with self._journal.transaction():
            return self._journal.book.head()

    def identity(self) -> Identity:
        """Return which ledger this is, as its rows say."""
        with self._journal.transaction():
            return self._journal.book.identity

    def _marked(self, what: str, lineage: str, *names: str) -> tuple[Entry, ...]:
        with self._journal.transaction():
            self._journal.book.account(lineage)
            found = self._journal.book.requests.marked(mark(what, lineage, *names))
            return tuple(each.entry for each in found)


def _beside(book: Book, number: int, *, window: str) -> Iterator[Entry]:
    """Yield the other requests of a lineage that count with one in a window, oldest first."""
    this = book.requests[number]
    account = book.account(this.entry.lineage)
    here = counter_name(window, when=account.counts_with(this.when))
    for other in book.requests.all():
        if other.entry.lineage != this.entry.lineage or other.entry.number == number:
            continue
        name = counter_name(window, when=account.counts_with(other.when))
        if name == here and not account.has_left(name, when=other.when):
            yield other.entry
