"""The ledger on SQLite: for one host, any number of processes.

Each call takes its turn, opens one immediate transaction, reads what others wrote since, decides,
appends one row to the chain, and signs the new head into the database and the anchor.  The whole
chain is checked when the ledger is opened.

*Privacy:* see :mod:`confide.budget.ledger`.  A cap is checked three times in that transaction: from
the chain, by the statement that adds to the counter, and by a ``CHECK`` of the table.

*Utility:* a release costs four small transactions, a few milliseconds on a local disk.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from confide.budget import database as db
from confide.budget.account import caps_json, charges_json, is_raised, shares
from confide.budget.amount import Amount
from confide.budget.anchor import Anchor
from confide.budget.book import FORWARD, OVER, Book, Held
from confide.budget.chain import (
    Event,
    SignedHead,
    Signer,
    canonical,
    is_signed,
    row_hash,
    sign_head,
)
from confide.budget.inspection import Inspection, current_head, inspect
from confide.budget.lease import Lease
from confide.budget.ledger import (
    Caps,
    Charge,
    ChargeRequest,
    Entry,
    Head,
    LedgerTerms,
    Reservation,
    Spent,
    State,
    StoredRelease,
)
from confide.budget.ledger_time import Clock, SystemClock, charged_year, ledger_time, utc_now
from confide.budget.refusals import (
    burned,
    exhausted,
    in_progress,
    require_covered,
    require_same_question,
    require_same_terms,
    require_terms,
    state_error,
)
from confide.errors import (
    ContractError,
    InvalidParameterError,
    LedgerFrozenError,
    PolicyError,
    UnknownNameError,
)


class SQLiteLedger:
    """A ledger in one SQLite file; satisfies :class:`confide.budget.ledger.Ledger`.

    Not to be shared between threads, nor carried over a fork: each opens its own.
    """

    def __init__(
        self,
        path: Path,
        *,
        anchor: Path,
        signer: Signer,
        recompute: Callable[[str], Amount],
        clock: Clock | None = None,
    ) -> None:
        """Open the ledger, or make a new one, and check all of it.

        A ledger that does not pass is frozen: every call but ``unfreeze``, ``verify_chain`` and
        ``close`` then raises LedgerFrozenError with what was found.

        Args:
            path: The SQLite file, in a folder of its own with mode 700.
            anchor: Where signed heads go; best on another disk.
            signer: The site's Ed25519 key.
            recompute: The loss of a request's ``events_json``; may not be more than was charged.
            clock: Read for the date of a row; the system's if ``None``.
        """
        self._signer, self._recompute = signer, recompute
        self._clock: Clock = clock or SystemClock()
        self._anchor = Anchor(anchor)
        self._process = os.getpid()
        self._db = db.open_database(path)
        try:
            self._lease = Lease(path.with_name(path.name + ".leases"))
        except BaseException:
            self._db.close()
            raise
        self._book = Book()
        self._findings: tuple[str, ...] = ()
        try:
            with self._lease.writing():
                db.migrate(self._db)
            self._inspect()
            if not self._findings:
                self._end_the_dead()
        except BaseException:
            self.close()
            raise

    def register(self, terms: LedgerTerms) -> None:
        """See :meth:`Ledger.register`."""
        with self._transaction():
            account = self._book.accounts.get(terms.lineage)
            if account is not None:
                require_terms(account.terms, new=terms)
                return
            self._append(
                "registered",
                lineage=terms.lineage,
                unit=terms.unit.value,
                adjacency=terms.adjacency.value,
                measure=terms.measure.value,
                caps=caps_json(terms.caps),
                year=str(self._now().year),
            )
            db.write_caps(self._db, book=self._book, lineage=terms.lineage)

    def amend_caps(self, lineage: str, *, caps: Caps, reason: str = "") -> None:
        """See :meth:`Ledger.amend_caps`."""
        with self._transaction():
            account = self._book.account(lineage)
            if is_raised(account.terms.caps, caps):
                _require_reason(reason, what="raising a cap")
            self._append("caps-amended", lineage=lineage, caps=caps_json(caps), reason=reason)
            db.write_caps(self._db, book=self._book, lineage=lineage)

    def open_year(self, lineage: str, *, year: int, reason: str) -> None:
        """See :meth:`Ledger.open_year`."""
        _require_reason(reason, what="opening a year")
        with self._transaction():
            account, now = self._book.account(lineage), self._now()
            if year != now.year or year <= account.year:
                raise PolicyError(
                    f"Expected the year of the clock, after {account.year}, got {year}; "
                    f"the clock shows {now.year}."
                )
            self._append("year-opened", lineage=lineage, year=str(year), reason=reason)
            db.write_caps(self._db, book=self._book, lineage=lineage)

    def reserve(self, request: ChargeRequest) -> Reservation | StoredRelease:
        """See :meth:`Ledger.reserve`."""
        cost = self._recompute(request.events_json)
        require_covered(request.amount, recomputed=cost, measure=request.measure)
        while True:
            with self._transaction():
                answer = self._decide(request)
            match answer:
                case Reservation() | StoredRelease():
                    return answer
                case PolicyError():  # after the transaction, so that the refusal is on record
                    raise answer
                case None:  # a dead reservation was cancelled: decide anew
                    continue

    def start_reading(self, reservation: Reservation) -> None:
        """See :meth:`Ledger.start_reading`."""
        with self._transaction():
            self._require_owner(reservation)
            self._move(reservation.entry.number, kind="reading")

    def commit(self, reservation: Reservation, *, payload: bytes) -> Entry:
        """See :meth:`Ledger.commit`."""
        number = reservation.entry.number
        with self._transaction():
            self._require_owner(reservation)
            self._move(number, kind="committed", sha256=hashlib.sha256(payload).hexdigest())
            self._db.execute("INSERT INTO payload VALUES (?, ?)", (number, bytes(payload)))
        return self._book.requests[number].entry

    def publish(self, entry: Entry) -> Entry:
        """See :meth:`Ledger.publish`."""
        with self._transaction():
            if self._held(entry.number).entry.state is not State.PUBLISHED:
                self._move(entry.number, kind="published")
            return self._held(entry.number).entry

    def burn(self, reservation: Reservation, *, incident: str) -> None:
        """See :meth:`Ledger.burn`."""
        number = reservation.entry.number
        with self._transaction():
            self._require_owner(reservation)
            if self._held(number).entry.state is not State.BURNED:
                self._move(number, kind="burned", incident=incident)

    def cancel(self, reservation: Reservation) -> None:
        """See :meth:`Ledger.cancel`."""
        with self._transaction():
            self._require_owner(reservation)
            self._cancel(reservation.entry.number, reason="cancelled by its owner")

    def spent(self, lineage: str) -> Spent:
        """See :meth:`Ledger.spent`."""
        with self._transaction():
            return self._book.account(lineage).summary()

    def entries(self, lineage: str) -> tuple[Entry, ...]:
        """See :meth:`Ledger.entries`."""
        with self._transaction():
            self._book.account(lineage)
            entries = (held.entry for held in self._book.requests.values())
            return tuple(entry for entry in entries if entry.lineage == lineage)

    def stored(self, number: int) -> StoredRelease:
        """See :meth:`Ledger.stored`."""
        with self._transaction():
            return self._stored(self._held(number))

    def head(self) -> Head:
        """See :meth:`Ledger.head`."""
        with self._transaction():
            return self._book.head()

    def verify_chain(self) -> None:
        """See :meth:`Ledger.verify_chain`."""
        self._require_process()
        self._inspect()
        self._require_whole()

    def unfreeze(self, reason: str) -> None:
        """See :meth:`Ledger.unfreeze`."""
        _require_reason(reason, what="unfreezing")
        self._require_process()
        with self._lease.writing(), self._immediate():
            found = self._look()
            unknown = found.raised.keys() - found.book.accounts.keys() - {""}
            if found.damage or unknown:
                lost = [f"Lineage {name!r} is in the anchor alone." for name in sorted(unknown)]
                raise _frozen((*found.damage, *lost), hint="Restore the ledger from a backup.")
            if not found.differences:
                self._book, self._findings = found.book, ()
                return
            self._book = found.book
            head = self._accept(found, reason=reason)
            self._db.execute("COMMIT")
        self._anchor.append(head)
        self._findings = ()

    def close(self) -> None:
        """See :meth:`Ledger.close`."""
        self._db.close()
        if self._process == os.getpid():
            self._lease.release()

    # --- one transaction, one row ---

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """Take a turn; everything in it is one transaction with at most one row of the chain."""
        self._require_process()
        self._require_whole()
        head = None
        with self._lease.writing():
            with self._immediate():
                self._catch_up()
                before = self._book.number
                yield
                if self._book.number != before:
                    head = self._sign()
                    self._db.execute("COMMIT")
            if head is not None:
                self._anchor.append(head)

    @contextlib.contextmanager
    def _immediate(self) -> Iterator[None]:
        """Run one immediate transaction; what is not committed inside is rolled back."""
        self._db.execute("BEGIN IMMEDIATE")
        before = self._book.number
        try:
            yield
        except BaseException as error:
            if isinstance(error, LedgerFrozenError):
                self._findings = self._findings or (str(error),)
            if self._book.number != before or isinstance(error, LedgerFrozenError):
                self._book = Book()  # it may hold what was not committed: read it anew
            raise
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _catch_up(self) -> None:
        """Take in what others wrote, and what the anchor is missing."""
        for event in db.events_after(self._db, self._book.number):
            self._book.follow(event)
        behind = self._book.number - self._anchor.last_number()
        if behind == 0:
            return
        head = current_head(self._db, self._book, public_key=self._signer.public_key)
        if behind != 1 or not is_signed(head, public_key=self._signer.public_key):
            raise LedgerFrozenError("The anchor is not where the ledger is.")
        self._anchor.append(head)

    def _append(self, kind: str, **fields: Any) -> Event:
        """Add a row to the chain and to the book."""
        book = self._book
        row = {
            "kind": kind,
            "number": str(book.number + 1),
            "at": ledger_time(self._now(), last=book.at),
            **fields,
        }
        body = canonical(row)
        event = Event(
            number=book.number + 1,
            body=body,
            previous=book.hash,
            hash=row_hash(book.hash, body=body),
        )
        book.follow(event)
        db.write_event(self._db, event)
        return event

    def _sign(self) -> SignedHead:
        """Sign the book's head into the database."""
        key = self._signer.public_key
        head = sign_head(current_head(self._db, self._book, public_key=key), signer=self._signer)
        db.write_head(self._db, book=self._book, signature=head.signature)
        return head

    # --- deciding ---

    def _decide(self, request: ChargeRequest) -> Reservation | StoredRelease | PolicyError | None:
        """Return the answer to a request; what it records is in the open transaction."""
        account = self._book.account(request.lineage)
        require_same_terms(account.terms, new=request)
        known = self._book.keys.get((request.analyst, request.plan_digest, request.request_key))
        if known is not None and self._held(known).entry.state not in OVER:
            return self._known(self._held(known), request)
        capped = account.terms.caps.calendar_year is not None
        year = charged_year(self._now(), open_year=account.year, capped=capped)
        charges = account.charges(request.amount, year=year)
        refusal = exhausted(charges, measure=request.measure)
        if refusal is not None:
            self._record(request, kind="refused", year=year, charges=())
            return refusal
        return self._grant(request, year=year, charges=charges)

    def _known(self, held: Held, request: ChargeRequest) -> StoredRelease | PolicyError | None:
        """Return what a key that was used before has."""
        require_same_question(held, request=request)
        number, state = held.entry.number, held.entry.state
        if state in {State.COMMITTED, State.PUBLISHED}:
            return self._stored(held)
        if state is State.BURNED:
            return burned(number)
        if self._lease.is_alive(held.owner):
            return in_progress(number)
        if state is State.READING:
            self._move(number, kind="burned", incident="the process that read is gone")
            return burned(number)
        self._cancel(number, reason="the process is gone and had not read")
        return None

    def _grant(
        self, request: ChargeRequest, *, year: int, charges: tuple[Charge, ...]
    ) -> Reservation:
        """Charge the request."""
        number = self._record(request, kind="reserved", year=year, charges=charges)
        db.write_caps(self._db, book=self._book, lineage=request.lineage)
        self._count(request.amount, lineage=request.lineage, year=year, sign=1)
        return Reservation(entry=self._held(number).entry, owner=self._lease.owner)

    def _record(
        self, request: ChargeRequest, *, kind: str, year: int, charges: tuple[Charge, ...]
    ) -> int:
        """Add the row of a request, granted or refused, and return its number."""
        event = self._append(
            kind,
            **{
                "lineage": request.lineage,
                "analyst": request.analyst,
                "request-key": request.request_key,
                "plan-digest": request.plan_digest,
                "nano": str(request.amount.nano),
                "delta-atto": str(request.amount.delta_atto),
                "events": request.events_json,
                "plan": request.plan_json,
                "year": str(year),
                "owner": self._lease.owner,
                "charges": charges_json(charges),
            },
        )
        db.write_request(self._db, self._held(event.number).entry)
        return event.number

    def _move(self, number: int, *, kind: str, **fields: str) -> None:
        """Take a request to its next state."""
        held = self._held(number)
        before, after = FORWARD[kind]
        if held.entry.state is not before:
            raise state_error(held, wanted=after.value)
        self._append(kind, entry=str(number), lineage=held.entry.lineage, **fields)
        db.write_state(self._db, self._held(number).entry)

    def _cancel(self, number: int, *, reason: str) -> None:
        """Give back a charge under which nothing was read."""
        self._move(number, kind="cancelled", reason=reason)
        held = self._held(number)
        amount, lineage = held.entry.amount, held.entry.lineage
        self._count(amount, lineage=lineage, year=held.year, sign=-1)

    def _count(self, amount: Amount, *, lineage: str, year: int, sign: int) -> None:
        """Add to the database's counters, which must then agree with the book."""
        spent = self._book.spent(lineage)
        for scope, units in shares(amount, year=year).items():
            db.add_spent(
                self._db, lineage=lineage, scope=scope, units=sign * units, expect=spent[scope]
            )

    def _stored(self, held: Held) -> StoredRelease:
        """Return an answer as it was stored."""
        if held.entry.state not in {State.COMMITTED, State.PUBLISHED}:
            raise state_error(held, wanted="read back")
        payload = db.stored_payload(self._db, held.entry.number) or b""
        if hashlib.sha256(payload).hexdigest() != held.entry.payload_sha256:
            raise LedgerFrozenError(f"The answer of entry {held.entry.number} was changed.")
        return StoredRelease(entry=held.entry, payload=payload)

    # --- opening ---

    def _inspect(self) -> None:
        """Check everything, and freeze or take up the book."""
        with self._lease.writing(), self._immediate():
            found = self._look()
            self._findings = found.findings()
            self._book = Book() if self._findings else found.book

    def _look(self) -> Inspection:
        return inspect(
            self._db,
            anchor=self._anchor,
            public_key=self._signer.public_key,
            recompute=self._recompute,
        )

    def _end_the_dead(self) -> None:
        """Burn what dead processes were reading, and cancel what they only reserved."""
        for number, held in list(self._book.requests.items()):
            if held.entry.state in {State.RESERVED, State.READING}:
                self._end_if_dead(number)

    def _end_if_dead(self, number: int) -> None:
        with self._transaction():
            held = self._held(number)  # as it is now, under the lock
            if self._lease.is_alive(held.owner):
                return
            if held.entry.state is State.READING:
                self._move(number, kind="burned", incident="the process that read is gone")
            elif held.entry.state is State.RESERVED:
                self._cancel(number, reason="the process is gone and had not read")

    def _accept(self, found: Inspection, *, reason: str) -> SignedHead:
        """Record what an officer accepts; nothing that was seen spent is given back."""
        raised = {
            lineage: {scope: str(units) for scope, units in scopes.items()}
            for lineage, scopes in found.raised.items()
            if lineage
        }
        self._append("unfrozen", reason=reason, findings=list(found.differences), raised=raised)
        db.write_counters(self._db, self._book)
        return self._sign()

    # --- guards ---

    def _held(self, number: int) -> Held:
        if number not in self._book.requests:
            raise UnknownNameError("entry", str(number), known=())
        return self._book.requests[number]

    def _require_owner(self, reservation: Reservation) -> None:
        held = self._held(reservation.entry.number)
        if not held.owner == reservation.owner == self._lease.owner:
            raise PolicyError(
                f"Entry {reservation.entry.number} was reserved by another process or ledger.",
                hint="Reserve, read and commit with the same open ledger.",
            )

    def _require_whole(self) -> None:
        if self._findings:
            raise _frozen(
                self._findings,
                hint="An officer looks into it and runs unfreeze(reason), or restores a backup.",
            )

    def _require_process(self) -> None:
        if os.getpid() != self._process:
            raise ContractError(
                "This ledger was opened by another process.", hint="Open it after the fork."
            )

    def _now(self) -> datetime:
        return utc_now(self._clock)


def _frozen(findings: tuple[str, ...], *, hint: str) -> LedgerFrozenError:
    return LedgerFrozenError(f"The ledger is frozen. {' '.join(findings)}", hint=hint)


def _require_reason(reason: str, *, what: str) -> None:
    if not reason.strip():
        raise InvalidParameterError(f"Expected a reason for {what}, got none.")
