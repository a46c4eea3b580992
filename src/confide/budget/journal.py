"""The journal: one locked transaction, one row of the chain, one signed head.

Holds the store, the anchor, the signer and the book, and knows nothing of budgets.  A writer
takes its turn, opens an immediate transaction, reads what others wrote since, and may then append
one row; the new head is signed into the database and, once durable, into the anchor.  What is not
committed is rolled back and forgotten.  It also adds to the anchor what other hosts wrote.

*Privacy:* a frozen journal grants nothing; going on needs a recorded reason, and what was ever seen
spent stays spent.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from confide.budget.accountant import Accountant
from confide.budget.accounts.awaited import guards, guards_of
from confide.budget.accounts.book import Book
from confide.budget.accounts.held import Held
from confide.budget.chain.chain import Event, SignedHead, Signer, canonical, row_hash, sign_head
from confide.budget.chain.identity import SiteFolder
from confide.budget.chain.key_history import rotation_message
from confide.budget.chain.ledger_time import Clock, ledger_time, utc_now
from confide.budget.chain.readings import Moment
from confide.budget.entry import follows_reading
from confide.budget.integrity.acceptance import acceptance, burn, under_way
from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.anchor_audit import missing_anchor
from confide.budget.integrity.book_head import current_head, unsigned_head
from confide.budget.integrity.head_check import KEY_REPLACED, HeadCheck
from confide.budget.integrity.inspection import Inspection, against_folder, inspect, told
from confide.budget.integrity.keeping import Keeper
from confide.budget.integrity.opening import look
from confide.budget.lengths import require_reason, require_short
from confide.budget.refusals import require_act, require_none_under_way
from confide.budget.stores.store import Store
from confide.budget.workflow.acts import (
    NAMED,
    SIGNED,
    Officers,
    act_message,
    is_act,
    signatures,
)
from confide.errors import ContractError, LedgerFrozenError, UnknownNameError

_RESTORE = (
    "Restore a backup: confide ledger restore FOLDER. "
    "Leave anchor.jsonl where it is: what it saw spent stays spent."
)
_ACCEPT = "An officer finds out why, then runs: confide ledger unfreeze --reason ..."
_FEW = 20  # lines that a row by which an officer goes on names one by one
_OPEN_AGAIN = "Open the ledger again to see everything."
_RENEWED = "The rows are whole, and it was written anew from them. Find out who wrote it."


class Journal:
    """The chain of one store, with its copy in tables and its anchor."""

    def __init__(
        self,
        store: Store,
        *,
        anchor: Path,
        signer: Signer,
        recompute: Accountant,
        clock: Clock,
        site: SiteFolder | None = None,
    ) -> None:
        """Migrate the store and inspect all of it; see :class:`ChainedLedger`."""
        self.signer, self._recompute, self._clock = signer, recompute, clock
        self._anchor, self._site, self._process = Anchor(anchor), site, os.getpid()
        self._time: datetime | None = None
        self.book, self._keeper, self._findings = Book(), Keeper(store), tuple[str, ...]()
        self._durable, self._half = 0, False  # last row on disk; whether half of one is taken in
        self._damaged, self.store, self._head = False, store, HeadCheck(store)
        try:
            with store.turn():
                store.migrate()
            self._open()
        except BaseException:
            self.close()
            raise

    @property
    def public_key(self) -> str:
        """The key that signs, in hexadecimal."""
        return self.signer.public_key.hex()

    @property
    def is_frozen(self) -> bool:
        """Whether something was found that an officer has not accepted."""
        return bool(self._findings)

    def close(self) -> None:
        """Release the store."""
        self.store.close()

    def verify(self, progress: Callable[[str], None]) -> None:
        """Inspect everything again, every signature of the anchor too, and raise what was found."""
        self._require_process()
        audit = self._keeper.audit(key=self.public_key)
        found = self.inspect(watch=told(audit.see, progress=progress), signer=self.signer)
        self._require_whole()
        if found.unsigned:
            raise _frozen(found.unsigned, hint=_ACCEPT)
        if wrong := tuple(audit.problems()):
            with self.store.turn():
                self._keeper.renew(self.book, signer=self.signer)
            raise _frozen(wrong, hint=_RENEWED)

    def unfreeze(self, reason: str, *, officers: Officers = ()) -> None:
        """Go on after an officer has looked, unless there is damage."""
        require_reason(reason, what="unfreezing")
        self._require_process()
        if self._site is not None and not self._site.signs(self.public_key):
            raise _frozen((KEY_REPLACED,), hint=_OPEN_AGAIN)
        with self.store.turn(), self._immediate():
            found = self._look(signer=self.signer)
            found.differences.extend(found.unsigned[:_FEW])
            if found.damage:
                raise _frozen(found.damage, hint=_RESTORE)
            self.book, self._durable = found.book, found.book.number
            differs = bool(found.differences)
            head = self._accept(found, reason=reason, officers=officers) if differs else None
            if head is not None:
                self._commit()
        if head is not None:  # an anchor that was lost is made whole, but not of two histories
            self._add_lines((*(() if found.lost else found.missing), head))
        self._keeper.beyond = self._anchor.count() - self._anchor.last_number()
        self._findings, self._damaged = (), False

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Take a turn; everything in it is one transaction with at most one row of the chain."""
        self._require_process()
        self._require_whole()
        with self.store.turn():
            head = None
            with self._immediate():
                self._catch_up()
                yield
                if self.book.number != self._durable:
                    head = self._sign()
                    self._commit()
            if head is not None:
                self._write_lines(head)
                if self._keeper.is_due(self.book):
                    self._keeper.keep(self.book, signer=self.signer, alone=False)

    @contextlib.contextmanager
    def _immediate(self) -> Iterator[None]:
        """Run one immediate transaction; what is not committed inside is rolled back."""
        try:
            self.store.begin()
            self._time = utc_now(self._clock)  # one transaction has one time
            self._forget_what_is_not_on_disk()
            yield
        except self.store.refusals as error:
            raise self._freeze("The database refused what its own rows allow.") from error
        except LedgerFrozenError as error:
            raise self._freeze(str(error)) from error
        finally:
            self._time = None
            if self.store.rollback():
                self._forget_what_is_not_on_disk()

    def _forget_what_is_not_on_disk(self) -> None:
        """Begin anew where the book holds a row, or half of one, that was not committed."""
        if self._half or self.book.number != self._durable:
            self._begin_anew()

    def _take_in(self, event: Event) -> None:
        self._half = True  # an interrupt may come at any line of what follows
        self.book.follow(event)
        self._half = False

    def _freeze(self, finding: str) -> LedgerFrozenError:
        """Grant nothing more; the book may have taken in half a row, so forget it."""
        self._findings = (*self._findings, finding)
        self.book, self._durable, self._half = Book(), 0, False
        return LedgerFrozenError(finding, hint=_OPEN_AGAIN)

    def _begin_anew(self, *, known: int | None = None) -> None:
        """Forget the book; read on from the last checkpoint, if it is no later than ``known``."""
        basis = self._keeper.basis
        self.book = basis.book() if known is None or basis.number <= known else Book()
        self._durable, self._half = self.book.number, False

    def _commit(self) -> None:
        self.store.commit()
        self._durable = self.book.number
        self._remember()

    def _remember(self) -> None:
        """Note beside the ledger which one it is, so that its loss is found."""
        ledger = self.book.identity.ledger
        if self._site is not None and ledger and self._site.ledger != ledger:
            self._site.begun(ledger)

    def _catch_up(self) -> None:
        """Take in what others wrote, and add to the anchor what it is missing."""
        last = self._anchor.last()
        anchored = 0 if last is None else last.number
        if anchored < self.book.number:  # our own line was lost: its head is found by reading anew
            self._begin_anew(known=anchored)
        since, missing = self.book.head(), []
        for event in self.store.events_after(self.book.number):
            self._take_in(event)
            if event.number > anchored:
                missing.append(unsigned_head(self.book, key=self.public_key))
        self._durable, most = self.book.number, self.store.most_behind
        for lost in missing_anchor(self._site, self.book, is_empty=last is None, most=most):
            raise LedgerFrozenError(lost)
        self._head.require(
            self.book, since=since, anchored=last, missing=len(missing), key=self.public_key
        )
        self._add_lines(missing)

    def _add_lines(self, missing: Sequence[SignedHead]) -> None:
        """Sign what the anchor lacks; the ledger's own signed head vouches for it."""
        if missing:
            self._write_lines(*(sign_head(head, signer=self.signer) for head in missing))

    def _write_lines(self, *heads: SignedHead) -> None:
        self._anchor.append(*heads)
        if self._site is not None:
            self._site.anchored()

    def append(self, kind: str, officers: Officers = (), /, **fields: Any) -> Event:
        """Add a row to the chain and to the book; an officer's act with its signatures.

        Raises:
            ApprovalMissingError: If an officer whom the policy in force names did not sign.
        """
        require_short(fields)
        book, moment = self.book, self.moment(by_day=follows_reading(kind, fields))
        fields = {**book.identity.unsaid(self._site), **fields}
        fields |= self._signed(kind, fields, officers=officers)
        row = {"kind": kind, "number": str(book.number + 1), "at": moment.at, **fields}
        if moment.reading != moment.at:
            row["clock"] = moment.reading
        body = canonical(row)
        event = Event(
            number=book.number + 1,
            body=body,
            previous=book.hash,
            hash=row_hash(book.hash, body=body),
        )
        self._take_in(event)
        self.store.write_event(event)
        return event

    def _signed(
        self, kind: str, fields: Mapping[str, Any], *, officers: Officers
    ) -> dict[str, list[dict[str, str]]]:
        """Return the signatures of an officer's act, where the policy in force names people."""
        book = self.book
        policies = book.policies(kind, fields.get("lineage", ""))
        named = guards_of({"kind": kind, **fields}, awaited=book.awaited())
        named = (*fields.get(NAMED, ()), *named)
        if not is_act(kind) or not (policies or named):
            return {}
        require_act(kind, policies, named=named, officers=officers)
        message = act_message(kind, fields, number=book.number + 1, previous=book.hash)
        return {SIGNED: signatures(message, by=officers)}

    def moment(self, *, by_day: bool = False) -> Moment:
        """Return when something that is decided now is decided; or the day alone."""
        now, book = self.now(), self.book
        at, reading = (ledger_time(now, last=last, by_day=by_day) for last in (book.at, ""))
        same_day = by_day and at[:10] == reading[:10]
        return Moment(at=at, reading=at if same_day else reading, readings=book.readings)

    def _sign(self) -> SignedHead:
        """Sign the book's head into the database."""
        head = sign_head(unsigned_head(self.book, key=self.public_key), signer=self.signer)
        self.store.write_head(book=self.book, signature=head.signature)
        self._head.made(head)
        return head

    def signed_head(self) -> SignedHead:
        """Return the last head as it was signed; in a transaction."""
        return current_head(self.store, self.book, key=self.public_key)

    def rotate(self, new: Signer, *, reason: str, officers: Officers = ()) -> None:
        """Let ``new`` sign from now on; the row is the old key's word for it.

        Where it fails once the row was made, ``new`` stays: nobody knows then whether the row is on
        disk.  If it is not, the head is still the old key's, and nothing is written under ``new``.
        """
        require_reason(reason, what="rotating the signing key")
        old = self.signer
        names = {"old": old.public_key.hex(), "new": new.public_key.hex()}
        with self.transaction():
            reads = (self.book.requests[number] for number in sorted(self.book.open))
            require_none_under_way(reads, store=self.store)
            message = rotation_message(
                number=self.book.number + 1, previous=self.book.hash, **names
            )
            proof = old.sign(message).hex()
            self.append("key-rotated", officers, reason=reason, proof=proof, **names)
            self.signer = new

    def _open(self) -> None:
        """Look at the ledger from its last checkpoint on, or inspect all of it."""
        with self.store.turn():
            with self._immediate():
                seen = look(
                    self.store,
                    anchor=self._anchor,
                    public_key=self.public_key,
                    recompute=self._recompute,
                )
                if seen is not None and self._is_of_this_folder(seen[0].book):
                    found, basis = seen
                    self._keeper.begin(basis)
                    self.book, self._durable = found.book, found.book.number
                    self._add_lines(found.missing)
                    self._remember()
                else:
                    seen = None
            if seen is None:
                self.inspect()
            if not self._findings and self._keeper.is_due(self.book):
                self._keeper.keep(self.book, signer=self.signer, alone=seen is None)

    def _is_of_this_folder(self, book: Book) -> bool:
        """Return whether the folder knows of nothing that speaks against this ledger."""
        return self._site is None or not any(book.identity.against(self._site, rows=book.number))

    def inspect(
        self, *, watch: Callable[[Book], None] = lambda _: None, signer: Signer | None = None
    ) -> Inspection:
        """Check everything, and freeze or take up the book and complete the anchor."""
        with self.store.turn(), self._immediate():
            found = self._look(watch=watch, signer=signer)
            self._findings, self._damaged = found.findings(), bool(found.damage)
            self.book = Book() if self._findings else found.book
            self._durable = self.book.number
            if not self._findings:
                self._add_lines(found.missing)
                self._remember()
                self._keeper.beyond = self._anchor.count() - self.book.number
        return found

    def _look(
        self, *, watch: Callable[[Book], None] = lambda _: None, signer: Signer | None = None
    ) -> Inspection:
        found = inspect(
            self.store,
            anchor=self._anchor,
            public_key=self.public_key,
            recompute=self._recompute,
            watch=watch,
            signer=signer,
        )
        if self._site is not None and not found.damage:
            against_folder(found, self._site, store=self.store, anchor=self._anchor)
        return found

    def _accept(self, found: Inspection, *, reason: str, officers: Officers) -> SignedHead:
        """Record what an officer accepts; nothing that was seen spent is given back."""
        lost, policies = under_way(self.book), self.book.policies("unfrozen")
        named = (*found.named, *guards(self.book.awaited()))  # before a hash key is made
        require_act("unfrozen", policies, named=named, officers=officers)
        fields = acceptance(found, book=self.book, lost=lost, site=self._site, key=self.public_key)
        self.append("unfrozen", officers, reason=reason, **fields)
        burn(lost, store=self.store)
        self.store.write_counters(self.book)
        return self._sign()

    def held(self, number: int) -> Held:
        """Return a request by its number."""
        if number not in self.book.requests:
            raise UnknownNameError(
                "entry", str(number), known=(), hint="Entries stand in: confide ledger show"
            )
        return self.book.requests[number]

    def _require_whole(self) -> None:
        if self._findings:
            raise _frozen(self._findings, hint=_RESTORE if self._damaged else _ACCEPT)

    def _require_process(self) -> None:
        if os.getpid() != self._process:
            told = "This ledger was opened by another process."
            raise ContractError(told, hint="Open it after the fork.")

    def now(self) -> datetime:
        """Return the clock's time in UTC."""
        return self._time or utc_now(self._clock)


def _frozen(findings: Sequence[str], *, hint: str) -> LedgerFrozenError:
    return LedgerFrozenError(f"The ledger is frozen. {' '.join(findings)}", hint=hint)
