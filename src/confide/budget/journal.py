"""The journal: one locked transaction, one row of the chain, one signed head.

Holds the database, the anchor, the signer and the book, and knows nothing of budgets.  A writer
takes its turn, opens an immediate transaction, reads what others wrote since, and may then append
one row; the new head is signed into the database and, once durable, into the anchor.  What is not
committed is rolled back and forgotten.

*Privacy:* a frozen journal grants nothing; going on needs a recorded reason, and what was ever seen
spent stays spent.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from confide.budget import database as db
from confide.budget.amount import Amount
from confide.budget.anchor import Anchor
from confide.budget.book import Book, Held
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
from confide.budget.ledger_time import Clock, ledger_time, utc_now
from confide.errors import (
    ContractError,
    InvalidParameterError,
    LedgerFrozenError,
    UnknownNameError,
)

_RESTORE = "Restore ledger.sqlite from a backup; leave anchor.jsonl where it is."
_ACCEPT = "An officer finds out why, then runs: confide ledger unfreeze --reason ..."


class Journal:
    """The chain of one SQLite file, with its copy in tables and its anchor."""

    def __init__(
        self,
        path: Path,
        *,
        anchor: Path,
        signer: Signer,
        recompute: Callable[[str], Amount],
        clock: Clock,
    ) -> None:
        """Open or make the file and inspect all of it; see :class:`SQLiteLedger`."""
        self._signer, self._recompute, self._clock = signer, recompute, clock
        self._anchor = Anchor(anchor)
        self._process = os.getpid()
        self.book = Book()
        self._durable = 0  # the row up to which the book is known to be on disk
        self._findings: tuple[str, ...] = ()
        self._damaged = False
        self.database: sqlite3.Connection = db.open_database(path)
        try:
            self.lease = Lease(path.with_name(path.name + ".leases"))
        except BaseException:
            self.database.close()
            raise
        try:
            with self.lease.writing():
                db.migrate(self.database)
            self.inspect()
        except BaseException:
            self.close()
            raise

    @property
    def is_frozen(self) -> bool:
        """Whether something was found that an officer has not accepted."""
        return bool(self._findings)

    def close(self) -> None:
        """Release the files."""
        self.database.close()
        if self._process == os.getpid():
            self.lease.release()

    def verify(self) -> None:
        """Inspect everything again and raise what was found."""
        self._require_process()
        self.inspect()
        self._require_whole()

    def unfreeze(self, reason: str) -> None:
        """Go on after an officer has looked, unless there is damage."""
        require_reason(reason, what="unfreezing")
        self._require_process()
        with self.lease.writing(), self._immediate():
            found = self._look()
            unknown = found.raised.keys() - found.book.accounts.keys() - {""}
            if found.damage or unknown:
                lost = [f"Lineage {name!r} is in the anchor alone." for name in sorted(unknown)]
                raise _frozen((*found.damage, *lost), hint=_RESTORE)
            self.book, self._durable = found.book, found.book.number
            head = self._accept(found, reason=reason) if found.differences else None
            if head is not None:
                self._commit()
        if head is not None:
            self._anchor.append(head)
        self._findings, self._damaged = (), False

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Take a turn; everything in it is one transaction with at most one row of the chain."""
        self._require_process()
        self._require_whole()
        head = None
        with self.lease.writing():
            with self._immediate():
                self._catch_up()
                yield
                if self.book.number != self._durable:
                    head = self._sign()
                    self._commit()
            if head is not None:
                self._anchor.append(head)

    @contextlib.contextmanager
    def _immediate(self) -> Iterator[None]:
        """Run one immediate transaction; what is not committed inside is rolled back."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise self._freeze("The database refused what its own rows allow.") from error
        except LedgerFrozenError as error:
            raise self._freeze(str(error)) from error
        finally:
            if self.database.in_transaction:
                self.database.execute("ROLLBACK")
                if self.book.number != self._durable:
                    self.book, self._durable = Book(), 0  # holds what is not on disk: read anew

    def _freeze(self, finding: str) -> LedgerFrozenError:
        """Grant nothing more; the book may have taken in half a row, so forget it."""
        self._findings = (*self._findings, finding)
        self.book, self._durable = Book(), 0
        return LedgerFrozenError(finding, hint="Open the ledger again to see everything.")

    def _commit(self) -> None:
        self.database.execute("COMMIT")
        self._durable = self.book.number

    def _catch_up(self) -> None:
        """Take in what others wrote, and what the anchor is missing."""
        for event in db.events_after(self.database, self.book.number):
            self.book.follow(event)
        self._durable = self.book.number
        behind = self.book.number - self._anchor.last_number()
        if behind == 0:
            return
        head = current_head(self.database, self.book, public_key=self._signer.public_key)
        if behind != 1 or not is_signed(head, public_key=self._signer.public_key):
            raise LedgerFrozenError("The anchor is not where the ledger is.")
        self._anchor.append(head)

    def append(self, kind: str, **fields: Any) -> Event:
        """Add a row to the chain and to the book."""
        book = self.book
        row = {
            "kind": kind,
            "number": str(book.number + 1),
            "at": ledger_time(self.now(), last=book.at),
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
        db.write_event(self.database, event)
        return event

    def _sign(self) -> SignedHead:
        """Sign the book's head into the database."""
        key = self._signer.public_key
        head = sign_head(
            current_head(self.database, self.book, public_key=key), signer=self._signer
        )
        db.write_head(self.database, book=self.book, signature=head.signature)
        return head

    def inspect(self) -> None:
        """Check everything, and freeze or take up the book."""
        with self.lease.writing(), self._immediate():
            found = self._look()
            self._findings, self._damaged = found.findings(), bool(found.damage)
            self.book = Book() if self._findings else found.book
            self._durable = self.book.number

    def _look(self) -> Inspection:
        return inspect(
            self.database,
            anchor=self._anchor,
            public_key=self._signer.public_key,
            recompute=self._recompute,
        )

    def _accept(self, found: Inspection, *, reason: str) -> SignedHead:
        """Record what an officer accepts; nothing that was seen spent is given back."""
        raised = {
            lineage: {scope: str(units) for scope, units in scopes.items()}
            for lineage, scopes in found.raised.items()
            if lineage
        }
        self.append("unfrozen", reason=reason, findings=list(found.differences), raised=raised)
        db.write_counters(self.database, self.book)
        return self._sign()

    def held(self, number: int) -> Held:
        """Return a request by its number."""
        if number not in self.book.requests:
            raise UnknownNameError("entry", str(number), known=())
        return self.book.requests[number]

    def _require_whole(self) -> None:
        if self._findings:
            raise _frozen(
                self._findings,
                hint=_RESTORE if self._damaged else _ACCEPT,
            )

    def _require_process(self) -> None:
        if os.getpid() != self._process:
            raise ContractError(
                "This ledger was opened by another process.", hint="Open it after the fork."
            )

    def now(self) -> datetime:
        """Return the clock's time in UTC."""
        return utc_now(self._clock)


def _frozen(findings: tuple[str, ...], *, hint: str) -> LedgerFrozenError:
    return LedgerFrozenError(f"The ledger is frozen. {' '.join(findings)}", hint=hint)


def require_reason(reason: str, *, what: str) -> None:
    """Refuse to go on without a reason to record."""
    if not reason.strip():
        raise InvalidParameterError(f"Expected a reason for {what}, got none.")
