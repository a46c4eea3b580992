"""The ledger over a hash chain: what every store has in common.

Each call is one transaction of the journal: it reads what others wrote, decides, and appends at
most one row to the chain.  The whole ledger is checked when it is opened.

*Privacy:* see :mod:`confide.budget.ledger`.  A cap is checked three times in that transaction: from
the chain, by the statement that adds to the counter, and by a ``CHECK`` of the table.
*Utility:* a release costs four small transactions, a few milliseconds on a local disk.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

from confide.budget.accountant import Accountant
from confide.budget.accounts.account import Account
from confide.budget.accounts.account_record import caps_json
from confide.budget.accounts.file_caps import is_raised
from confide.budget.accounts.held import Held, key_of
from confide.budget.accounts.lost_lineages import UNKNOWN
from confide.budget.accounts.lost_terms import NOTHING_TOLD
from confide.budget.accounts.request_row import in_lanes_of, row_fields
from confide.budget.accounts.required_terms import (
    as_lost,
    in_orders_of,
    require_same_terms,
    require_terms,
)
from confide.budget.chain.chain import Chain, Signer
from confide.budget.chain.identity import SiteFolder
from confide.budget.chain.ledger_time import Clock, SystemClock, charged_year
from confide.budget.dead import GONE, Unheld
from confide.budget.desk import Desk
from confide.budget.entry import COUNTS_FROM, FORWARD, OVER
from confide.budget.journal import Journal
from confide.budget.ledger import (
    Caps,
    Charge,
    ChargeRequest,
    Entry,
    LedgerTerms,
    Reservation,
    State,
    StoredRelease,
)
from confide.budget.ledger_reading import LedgerReading
from confide.budget.lengths import require_reason
from confide.budget.policy.counters import ROLLING, Occasion
from confide.budget.refusals import (
    burned,
    exhausted,
    in_progress,
    is_policys,
    require_counting,
    require_covered,
    require_in_window,
    require_next,
    require_owner,
    require_same_question,
    state_error,
    unapproved,
    uncapped,
    under_policy,
    unopened,
    withheld,
)
from confide.budget.stores.store import Store
from confide.budget.workflow.acts import Officers
from confide.budget.workflow.rules import Refused, audience_of, claim_of
from confide.errors import LedgerFrozenError, PolicyError


class ChainedLedger(LedgerReading):
    """A ledger over a store; not to be shared between threads, nor carried over a fork."""

    def __init__(
        self,
        store: Store,
        *,
        anchor: Path,
        signer: Signer,
        recompute: Accountant,
        clock: Clock | None = None,
        site: SiteFolder | None = None,
    ) -> None:
        """Open the ledger, or make a new one, and check all of it.

        A ledger that does not pass is frozen: every call but ``unfreeze``, ``verify_chain`` and
        ``close`` then raises LedgerFrozenError with what was found.

        Args:
            store: Where the rows are; closed with the ledger, also when opening it fails.
            anchor: Where signed heads go; best on another disk.
            signer: The site's Ed25519 key.
            recompute: The loss of a request's ``events_json``; may not be more than was charged.
            clock: Read for the date of a row; the system's if ``None``.
            site: What the folder knows of its ledger; nothing if ``None``.
        """
        self._recompute = recompute
        clock = clock or SystemClock()
        self._journal = Journal(
            store, anchor=anchor, signer=signer, recompute=recompute, clock=clock, site=site
        )
        self.desk = Desk(self._journal)
        self._unheld = Unheld(self._journal, burn=self._burn_dead, give_back=self._give_back)
        if not self._journal.is_frozen:
            self._unheld.end_the_dead()

    def register(self, terms: LedgerTerms) -> None:
        """See :meth:`Ledger.register`."""
        with self._journal.transaction():
            account = self._journal.book.accounts.get(terms.lineage)
            lost = self._journal.book.lost.get(terms.lineage, UNKNOWN)
            now = self._journal.now().year
            if account is None:
                terms = as_lost(terms, lost=lost.told if lost.binds else NOTHING_TOLD)
            else:
                charged = self._journal.book.is_charged(terms.lineage)
                keeps = charged or account.policy is not None
                terms = in_orders_of(account.terms, new=terms) if keeps else terms
                if is_policys(account, terms=terms, charged=charged) or account.terms == terms:
                    return
                if charged:
                    require_terms(account.terms, new=terms)
                if account.awaited.versions:  # whose terms these are
                    require_same_terms(account.terms, new=terms)
            self._journal.append(
                "registered",
                lineage=terms.lineage,
                unit=terms.unit.value,
                adjacency=terms.adjacency.value,
                measure=terms.measure.value,
                caps=caps_json(terms.caps),
                year=str(lost.year(now) if account is None else account.year),
            )
            self._journal.store.write_counters(self._journal.book)

    def amend_caps(self, lineage: str, *, caps: Caps, reason: str = "") -> None:
        """See :meth:`Ledger.amend_caps`."""
        with self._journal.transaction():
            account = self._journal.book.account(lineage)
            if account.policy is not None:
                raise under_policy(account.policy)
            if is_raised(account.terms.caps, caps):
                require_reason(reason, what="raising a cap")
            fields = {"lineage": lineage, "caps": caps_json(caps), "reason": reason}
            self._journal.append("caps-amended", **fields)
            self._journal.store.write_counters(self._journal.book)

    def open_year(self, lineage: str, *, year: int, reason: str, officers: Officers = ()) -> None:
        """See :meth:`Ledger.open_year`."""
        require_reason(reason, what="opening a year")
        with self._journal.transaction():
            account, now = self._journal.book.account(lineage), self._journal.now()
            if year != now.year or year <= max(account.vouched, account.year - 1):
                raise unopened(year, now=now.year, account=account)
            opened = {"lineage": lineage, "year": str(year), "reason": reason}
            self._journal.append("year-opened", officers, **opened)
            self._journal.store.write_caps(book=self._journal.book, lineage=lineage)

    def reserve(self, request: ChargeRequest) -> Reservation | StoredRelease:
        """See :meth:`Ledger.reserve`."""
        cost = self._recompute(request.events_json, measure=request.measure)
        require_covered(request.amount, recomputed=cost, measure=request.measure)
        self._unheld.end_ours()
        while True:
            try:
                with self._journal.transaction():
                    answer = self._decide(request)
            except BaseException:
                self._unheld.try_to_end_ours()
                raise
            match answer:
                case Reservation(entry=entry):
                    self._unheld.held(entry.number)
                    return answer
                case StoredRelease():
                    return answer
                case PolicyError():  # after the transaction, so that the refusal is on record
                    raise answer
                case None:  # a dead reservation was cancelled: decide anew
                    continue

    def start_reading(self, reservation: Reservation) -> None:
        """See :meth:`Ledger.start_reading`."""
        with self._journal.transaction():
            self._require_owner(reservation)
            self._move(reservation.entry.number, kind="reading")

    def commit(self, reservation: Reservation, *, payload: bytes, members: str = "") -> Entry:
        """See :meth:`Ledger.commit`."""
        number = reservation.entry.number
        sealed = {"members": members} if members else {}
        with self._journal.transaction():
            self._require_owner(reservation)
            digest = hashlib.sha256(payload).hexdigest()
            self._move(number, kind="committed", sha256=digest, **sealed)
            self._journal.store.write_payload(entry=number, payload=payload)
        return self._journal.book.requests[number].entry

    def publish(self, entry: Entry) -> Entry:
        """See :meth:`Ledger.publish`."""
        with self._journal.transaction():
            if self._journal.book.is_withheld(self._journal.held(entry.number).entry):
                raise withheld(entry.number)
            if self._journal.held(entry.number).entry.state is not State.PUBLISHED:
                self._move(entry.number, kind="published")
            return self._journal.held(entry.number).entry

    def burn(self, reservation: Reservation, *, incident: str) -> None:
        """See :meth:`Ledger.burn`."""
        number = reservation.entry.number
        with self._journal.transaction():
            self._require_owner(reservation)
            if self._journal.held(number).entry.state is not State.BURNED:
                self._move(number, kind="burned", incident=incident)

    def cancel(self, reservation: Reservation) -> None:
        """See :meth:`Ledger.cancel`."""
        with self._journal.transaction():
            self._require_owner(reservation)
            self._give_back(reservation.entry.number, "cancelled by its owner")

    def let_go(self, reservation: Reservation, *, incident: str) -> State | None:
        """See :meth:`Ledger.let_go`."""
        self._unheld.let_go(reservation.entry.number, why=incident)
        self._unheld.try_to_end_ours()
        return self._unheld.state(reservation.entry.number)

    def stored(self, number: int) -> StoredRelease:
        """See :meth:`Ledger.stored`."""
        with self._journal.transaction():
            return self._stored(self._journal.held(number))

    def kept(self, number: int) -> bytes:
        """Return a stored answer for a backup, also one that is withheld and never delivered."""
        with self._journal.transaction():
            return self._stored(self._journal.held(number), withheld_too=True).payload

    @property
    def signer(self) -> Signer:
        """The site's key."""
        return self._journal.signer

    def rotate_key(self, new: Signer, *, reason: str, officers: Officers = ()) -> None:
        """See :meth:`Ledger.rotate_key`."""
        self._journal.rotate(new, reason=reason, officers=officers)

    def chain(self) -> Chain:
        """See :meth:`Ledger.chain`."""
        with self._journal.transaction():
            events = tuple(self._journal.store.events_after(0))
            return Chain(head=self._journal.signed_head(), events=events)

    def verify_chain(self, *, progress: Callable[[str], None] = lambda _: None) -> None:
        """See :meth:`Ledger.verify_chain`."""
        self._journal.verify(progress)

    def unfreeze(self, reason: str, *, officers: Officers = ()) -> None:
        """See :meth:`Ledger.unfreeze`."""
        self._journal.unfreeze(reason, officers=officers)

    def close(self) -> None:
        """See :meth:`Ledger.close`."""
        self._journal.close()

    def _decide(self, request: ChargeRequest) -> Reservation | StoredRelease | PolicyError | None:
        """Return the answer to a request; what it records is in the open transaction."""
        account = self._journal.book.account(request.lineage)
        require_same_terms(account.terms, new=request)
        request = in_lanes_of(account.terms.measure, request, recompute=self._recompute)
        number = self._journal.book.requests.answered(key_of(request))
        if number is not None and self._journal.held(number).entry.state not in OVER:
            return self._known(self._journal.held(number), request)
        if account.is_stopped:
            return uncapped(account)
        who = {"analyst": request.analyst, "project": request.project}
        if request.step is not None and request.step.continues is not None:
            require_next(request.step, growths=self._journal.book.growths, lineage=request.lineage)
            require_in_window(account, opened=self._journal.held(request.step.continues))
            self._charged_year(account)  # a year that nobody opened is another window as well
            return self._grant(request, when=account.occasion(year=account.year, **who), under=0)
        said = {"planned": request.planned, "audience": audience_of(request.plan_json)}
        claim, now = claim_of(request, **said), self._journal.moment()
        under = self._journal.book.admit(claim, lineage=request.lineage, now=now)
        if isinstance(under, Refused):
            return unapproved(under)
        when = account.occasion(year=self._charged_year(account), **who)
        refusal = exhausted(account, request.amount, when=when)
        if refusal is not None:
            self._record(request, kind="refused", when=when, charges=(), under=under)
            return refusal
        return self._grant(request, when=when, under=under)

    def _charged_year(self, account: Account) -> int:
        """Return the year that is charged now; refuse one that nobody opened, if any is capped."""
        capped = account.has_year_caps
        return charged_year(self._journal.now(), open_year=account.year, capped=capped)

    def _known(self, held: Held, request: ChargeRequest) -> StoredRelease | PolicyError | None:
        """Return what a key that was used before has."""
        require_same_question(held, request=request)
        number, state = held.entry.number, held.entry.state
        if state in {State.COMMITTED, State.PUBLISHED}:
            return self._stored(held)
        if state is State.BURNED:
            return burned(number)
        if self._journal.store.is_alive(held.owner):
            return in_progress(number)
        if state is State.READING:
            self._burn_dead(number, GONE)
            return burned(number)
        self._give_back(number, GONE)
        return None

    def _grant(self, request: ChargeRequest, *, when: Occasion, under: int) -> Reservation:
        """Charge the request."""
        account = self._journal.book.account(request.lineage)
        charges = account.charges(request.amount, when=when)
        number = self._record(request, kind="reserved", when=when, charges=charges, under=under)
        self._unheld.let_go(number)  # until the caller has it
        self._journal.store.write_caps(book=self._journal.book, lineage=request.lineage)
        held = self._journal.held(number)
        self._count(held, sign=1)
        return Reservation(entry=held.entry, owner=self._journal.store.owner)

    def _record(
        self,
        request: ChargeRequest,
        *,
        kind: str,
        when: Occasion,
        charges: tuple[Charge, ...],
        under: int,
    ) -> int:
        """Add the row of a request, granted or refused, and return its number."""
        of = self._journal.book.account(request.lineage).terms.measure
        fields = row_fields(request, measure=of, when=when, charges=charges, under=under)
        event = self._journal.append(kind, owner=self._journal.store.owner, **fields)
        self._journal.store.write_request(self._journal.held(event.number).entry)
        return event.number

    def _move(self, number: int, *, kind: str, **fields: str) -> None:
        """Take a request to its next state."""
        held = self._journal.held(number)
        before, after = FORWARD[kind]
        if held.entry.state is not before:
            raise state_error(held, wanted=after.value)
        account = self._journal.book.account(held.entry.lineage)
        paid = self._journal.held(held.entry.continues or number)
        if after is State.READING:
            require_counting(account, paid=paid)
            if held.entry.continues is not None:  # the year may have ended while it waited
                require_in_window(account, opened=paid)
        counts_again = after in COUNTS_FROM and account.has_left(ROLLING, when=paid.when)
        self._journal.append(kind, entry=str(number), lineage=held.entry.lineage, **fields)
        self._journal.store.write_state(self._journal.held(number).entry)
        if counts_again:
            self._journal.store.write_counters(self._journal.book)

    def _burn_dead(self, number: int, why: str) -> None:
        self._move(number, kind="burned", incident=why)

    def _give_back(self, number: int, why: str) -> None:
        """Give back a charge under which nothing was read."""
        self._move(number, kind="cancelled", reason=why)
        held = self._journal.held(number)
        self._count(held, sign=-1)
        self._journal.store.write_caps(book=self._journal.book, lineage=held.entry.lineage)

    def _count(self, held: Held, *, sign: int) -> None:
        """Add to the database's counters, which must then agree with the book."""
        lineage, book = held.entry.lineage, self._journal.book
        spent, account = book.spent(lineage), book.account(lineage)
        full = False
        for scope, units in account.shares(held.entry.amount, when=held.when).items():
            if scope not in spent or (sign < 0 and account.has_left(scope, when=held.when)):
                continue
            if account.counters[scope].is_full:  # for good: it takes nothing off
                full = True
                continue
            change = {"units": sign * units, "expect": spent[scope]}
            self._journal.store.add_spent(lineage=lineage, scope=scope, **change)
        if full:
            self._journal.store.write_counters(book)

    def _stored(self, held: Held, *, withheld_too: bool = False) -> StoredRelease:
        """Return an answer as it was stored."""
        if self._journal.book.is_withheld(held.entry) and not withheld_too:
            raise withheld(held.entry.number)
        if held.entry.state not in {State.COMMITTED, State.PUBLISHED}:
            raise state_error(held, wanted="read back")
        payload = self._journal.store.payload(held.entry.number) or b""
        if hashlib.sha256(payload).hexdigest() != held.entry.payload_sha256:
            raise LedgerFrozenError(f"The answer of entry {held.entry.number} was changed.")
        return StoredRelease(entry=held.entry, payload=payload)

    def _require_owner(self, reservation: Reservation) -> None:
        held = self._journal.held(reservation.entry.number)
        require_owner(held, reservation=reservation, owner=self._journal.store.owner)
