"""What is read from a ledger: sums, requests, growing releases.

*Utility:* a request is found by its number or by a mark that it bears, and the others are not read;
so what a plan needs to know takes as long with a hundred releases as with a hundred thousand.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from confide.budget.accounts.account import Account
from confide.budget.accounts.account_summary import summary
from confide.budget.accounts.book import Book
from confide.budget.accounts.held import GROWTH, PLAN, SNAPSHOT, STUDY, Held, mark
from confide.budget.accounts.required_terms import in_orders_of, require_same_terms
from confide.budget.chain.identity import Identity
from confide.budget.entry import OVER, CountingNow, State, entry_with
from confide.budget.journal import Journal
from confide.budget.ledger import Entry, Growth, Head, LedgerTerms, Spent
from confide.budget.policy.counters import Occasion, counter_name
from confide.budget.workflow.submission import Decision
from confide.errors import LedgerFrozenError
from confide.privacy.measure import LedgerMeasure


class LedgerReading:
    """The part of a chained ledger that writes nothing of its own."""

    _journal: Journal

    def require_measured(self, terms: LedgerTerms) -> None:
        """Refuse words under which amounts of a lineage would mean something else.

        Raises:
            MismatchError: If unit, adjacency or measure are others than those of what was charged.
        """
        with self._journal.transaction():
            account = self._journal.book.account(terms.lineage)
            if self._journal.book.is_charged(terms.lineage):
                told = in_orders_of(account.terms, new=terms)
                require_same_terms(account.terms, new=told)

    def spent(
        self, lineage: str, *, project: str | None = None, analyst: str | None = None
    ) -> Spent:
        """See :meth:`Ledger.spent`."""
        with self._journal.transaction():
            account = self._journal.book.account(lineage)
            return summary(account, project=project, analyst=analyst)

    def entries(self, lineage: str, *, last: int | None = None) -> tuple[Entry, ...]:
        """See :meth:`Ledger.entries`."""
        with self._journal.transaction():
            self._journal.book.account(lineage)
            requests = self._journal.book.requests
            held = requests.all() if last is None else requests.newest()
            mine = (self._told(each.entry) for each in held if each.entry.lineage == lineage)
            return tuple(mine) if last is None else tuple(islice(mine, last))[::-1]

    def entry(self, number: int) -> Entry:
        """See :meth:`Ledger.entry`."""
        with self._journal.transaction():
            return self._told(self._journal.held(number).entry)

    def withholding(self, number: int) -> Decision | None:
        """See :meth:`Ledger.withholding`."""
        with self._journal.transaction():
            return _withholding(self._journal.book, self._journal.held(number).entry)

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
            is_alive = is_begun or self._journal.store.is_alive(held.owner)
            return self._told(held.entry) if is_alive else None

    def is_under_way(self, number: int) -> bool:
        """See :meth:`Ledger.is_under_way`."""
        with self._journal.transaction():
            held = self._journal.held(number)
            is_open = held.entry.state in {State.RESERVED, State.READING}
            return is_open and self._journal.store.is_alive(held.owner)

    def under_way(self, lineage: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.under_way`."""
        with self._journal.transaction():
            held = [self._journal.held(number) for number in sorted(self._journal.book.open)]
            return tuple(self._told(each.entry) for each in held if each.entry.lineage == lineage)

    def of_study(self, lineage: str, *, study: str, period: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.of_study`."""
        return self._marked(STUDY, lineage, study, period)

    def of_snapshot(self, lineage: str, *, snapshot: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.of_snapshot`."""
        return self._marked(SNAPSHOT, lineage, snapshot)

    def of_growth(self, growth: Growth) -> tuple[Entry, ...]:
        """See :meth:`Ledger.of_growth`."""
        return self._marked(GROWTH, growth.lineage, str(growth.opened))

    def counted_in(self, lineage: str) -> LedgerMeasure:
        """See :meth:`Ledger.counted_in`."""
        with self._journal.transaction():
            return self._journal.book.account(lineage).terms.measure

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

    def counting_now(self, lineage: str, *, window: str) -> CountingNow:
        """See :meth:`Ledger.counting_now`."""
        with self._journal.transaction():
            book = self._journal.book
            account = book.account(lineage)
            now = account.occasion(year=account.year, analyst="", project="")
            counting = _counting(book, account, when=now, window=window)
            return CountingNow(
                entries=tuple(
                    (held.entry, account.leaves(window, when=held.when)) for held in counting
                ),
                lost=account.lost_beside(window, when=now),
                lost_leaves=account.lost_leaves(window),
            )

    def recorded_plan(self, number: int) -> str:
        """See :meth:`Ledger.recorded_plan`."""
        with self._journal.transaction():
            entry = self._journal.held(number).entry
            (event,) = self._journal.store.events([number])
        plan = str(event.fields()["plan"])
        if hashlib.sha256(plan.encode()).hexdigest() != entry.plan_digest:
            raise LedgerFrozenError(f"Row {number} of the ledger holds another plan than it says.")
        return plan

    def growths(self, lineage: str) -> tuple[Growth, ...]:
        """See :meth:`Ledger.growths`."""
        with self._journal.transaction():
            found = self._journal.book.growths.values()
            return tuple(self._in_window(growth) for growth in found if growth.lineage == lineage)

    def _in_window(self, growth: Growth) -> Growth:
        """Return a growth, as one that ended where what was charged for it counts no more."""
        if growth.closed:
            return growth
        over = self._journal.book.window_over(growth.opened)
        told = f"what it was charged counts no more under a cap of window {over}"
        return replace(growth, closed=told) if over else growth

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
            return tuple(self._told(each.entry) for each in found)

    def _told(self, entry: Entry) -> Entry:
        """Return an entry as withheld also where its answer repeats the periods of one that is."""
        withheld = self._journal.book.is_withheld(entry)
        return entry if entry.withheld == withheld else entry_with(entry, withheld=withheld)


def _withholding(book: Book, entry: Entry) -> Decision | None:
    """Return the decision about an answer itself, or about the first one that it repeats."""
    made = book.docket.withheld
    if entry.number in made or not book.is_withheld(entry):
        return made.get(entry.number)
    growth = book.growths.of(entry)
    for number, decision in made.items():
        step, opened = book.requests[number].entry.step, book.requests[number].entry.continues
        if step is not None and (opened or number, step.stop) == (growth.opened, growth.withheld):
            return decision
    return None


def _beside(book: Book, number: int, *, window: str) -> Iterator[Entry]:
    """Yield the other requests of a lineage that count with one in a window, oldest first."""
    this = book.requests[number]
    account = book.account(this.entry.lineage)
    for other in _counting(book, account, when=this.when, window=window):
        if other.entry.number != number:
            yield other.entry


def _counting(book: Book, account: Account, *, when: Occasion, window: str) -> Iterator[Held]:
    """Yield the requests of a lineage that count in a window on an occasion, oldest first."""
    here = counter_name(window, when=account.counts_with(when))
    for held in book.requests.all():
        if held.entry.lineage != account.terms.lineage:
            continue
        name = counter_name(window, when=account.counts_with(held.when))
        if name == here and not account.has_left(name, when=held.when):
            yield held
