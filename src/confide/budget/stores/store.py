"""The store: where the rows of one ledger are, and which database keeps them.

A store holds the chain (`event`, the truth) with its stored answers, and beside it a copy of what
the rows add up to (`head`, `counter`, `request`), so that the database itself refuses to pass a
cap.  It knows who is still alive among those who opened it.  It decides nothing and signs nothing:
that is the journal's and the ledger's work, which every store shares.

*Privacy:* a store must be durable when ``commit`` returns, must let one writer in after another,
and must check ``spent + units ≤ cap`` in the statement that adds.  Doubt about whether an owner is
alive is resolved towards alive; an owner that is wrongly thought dead only burns its request.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import resources
from typing import Protocol

from confide.budget.accounts.book import Book
from confide.budget.accounts.counter import Counter
from confide.budget.chain.chain import GENESIS, Event
from confide.budget.ledger import Entry
from confide.regular_file import own_text


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    """A checkpoint as the tables hold it.

    Attributes:
        number: Of the row that it follows.
        lines: Of requests that changed since the checkpoint before.
        header: Text that is signed; "" of an old one, whose lines alone are kept.
        signature: Of the header, in hexadecimal.
    """

    number: int
    lines: bytes
    header: str
    signature: str


class Store(Protocol):
    """One open ledger database; not shared between threads, nor carried over a fork.

    Every store passes ``tests/contracts/ledger_contract.py``.
    """

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """What the driver raises when a rule of the tables is broken."""

    @property
    def failures(self) -> tuple[type[Exception], ...]:
        """What the driver raises when the tables cannot be read."""

    @property
    def most_behind(self) -> int | None:
        """Rows that an anchor may lack after a crash; ``None`` where other hosts write as well."""

    @property
    def owner(self) -> str:
        """Name of this open store in the ledger, 32 hex digits; a name, not a secret."""

    def is_alive(self, owner: str) -> bool:
        """Return whether the store called ``owner`` may still be open; in a transaction."""

    def turn(self) -> AbstractContextManager[None]:
        """Wait for the turn to write among the processes of this host."""

    def migrate(self) -> None:
        """Apply the migrations that the tables have not seen, each in its own transaction.

        Raises:
            ContractError: If the tables are of a newer version, or not what their version says.
        """

    def begin(self) -> None:
        """Open a transaction that no other writer shares, and that sees all they committed."""

    def commit(self) -> None:
        """Make the open transaction durable."""

    def rollback(self) -> bool:
        """Drop what is not committed; return whether a transaction was open."""

    def close(self) -> None:
        """Release the connection and the proof of life."""

    def set_aside(self) -> str:
        """Rename all that is there, start empty, and return the name it has now.

        Raises:
            PolicyError: If somebody else has the ledger open.
        """

    def events_after(self, number: int) -> Iterator[Event]:
        """Yield the rows of the chain after ``number``, in order."""

    def events(self, numbers: Sequence[int]) -> Iterator[Event]:
        """Yield the rows of the chain with these numbers, in the order given, as far as they are.

        The numbers must be ascending.
        """

    def checkpoints(self, *, after: int = 0) -> list[StoredCheckpoint]:
        """Return the checkpoints of rows after ``after``, oldest first; none if it may not."""

    def write_checkpoint(self, checkpoint: StoredCheckpoint, *, alone: bool) -> None:
        """Store a checkpoint, in the place of all others if ``alone``; nothing if it may not.

        Of old ones the lines are kept.
        """

    def head(self) -> tuple[int, str, str] | None:
        """Return number, hash and signature of the signed head; ``None`` of an empty ledger."""

    def payload(self, entry: int) -> bytes | None:
        """Return the stored answer of an entry."""

    def write_event(self, event: Event) -> None:
        """Append a row to the chain."""

    def write_head(self, *, book: Book, signature: str) -> None:
        """Record the signed head; replaces the one before."""

    def write_caps(self, *, book: Book, lineage: str) -> None:
        """Give every counter of ``lineage`` the cap that holds now."""

    def add_spent(self, *, lineage: str, scope: str, units: int, expect: int) -> None:
        """Add to a counter, if its cap allows, and require that it then holds ``expect``.

        The condition is checked by the database in the statement that adds.
        """

    def write_request(self, entry: Entry) -> None:
        """Record a request as it stands."""

    def write_state(self, entry: Entry) -> None:
        """Record the state that a request has come to."""

    def write_payload(self, *, entry: int, payload: bytes) -> None:
        """Store an answer."""

    def write_counters(self, book: Book) -> None:
        """Write every counter anew from the chain."""

    def differences(self, book: Book) -> Iterator[str]:
        """Yield what in the tables is not what the chain adds up to."""

    def recent_damage(self, book: Book) -> Iterator[str]:
        """Yield damage as far as it concerns the requests that a book holds in memory."""

    def damage(self, book: Book) -> Iterator[str]:
        """Yield what cannot be written anew from the chain."""


def counters_of(book: Book) -> set[tuple[str, str, int, int | None]]:
    """Return lineage, scope, spent and cap of every counter that a book adds up to."""
    return {
        (lineage, name, counter.spent, counter.cap)
        for lineage, account in book.accounts.items()
        for name, counter in account.counters.items()
    }


def capped_counters(book: Book, *, lineage: str) -> list[tuple[str, str, int, int | None]]:
    """Return lineage, scope, what it begins with, and cap of every counter of a lineage.

    A counter that is not in the table yet begins with what lost rows may have added to it.  Of one
    that is there and let go of it since, as a window of 365 days does, that may be past the cap.
    """
    counters = book.account(lineage).counters.items()
    return [(lineage, name, _beginning(counter), counter.cap) for name, counter in counters]


def _beginning(counter: Counter) -> int:
    """Return what a counter begins with; no more than its cap, as the table asks of every row."""
    return counter.start if counter.cap is None else min(counter.start, counter.cap)


def requests_of(book: Book) -> set[tuple[int, str, str, str, str]]:
    """Return every request of a book as a row of its table."""
    return {request_row(held.entry) for held in book.requests.all()}


def request_row(entry: Entry) -> tuple[int, str, str, str, str]:
    """Return a request as a row of its table."""
    return (entry.number, entry.analyst, entry.plan_digest, entry.request_key, entry.state.value)


def answers_of(book: Book) -> dict[int, str]:
    """Return the SHA-256 of every stored answer, by entry."""
    return {
        held.entry.number: held.entry.payload_sha256
        for held in book.requests.all()
        if held.entry.payload_sha256
    }


def table_problems(
    book: Book,
    *,
    requests: set[tuple[int, str, str, str, str]],
    answers: dict[int, str],
) -> Iterator[str]:
    """Yield what the tables of requests and answers hold that the chain does not say."""
    if requests != requests_of(book):
        yield "A request is not what the rows of the chain say."
    if answers != answers_of(book):
        yield "A stored answer is not what the rows of the chain say."


def recent_problems(
    book: Book,
    *,
    request: Callable[[int], tuple[int, str, str, str, str] | None],
    payload: Callable[[int], bytes | None],
) -> Iterator[str]:
    """Yield what the tables say otherwise of the requests that a book holds in memory."""
    for held in book.requests.recent():
        entry = held.entry
        if request(entry.number) != request_row(entry):
            yield "A request is not what the rows of the chain say."
        answer = payload(entry.number)
        digest = "" if answer is None else hashlib.sha256(answer).hexdigest()
        if digest != entry.payload_sha256:
            yield "A stored answer is not what the rows of the chain say."


def copy_problems(
    book: Book,
    *,
    counters: set[tuple[str, str, int, int | None]],
    head: tuple[int, str, str] | None,
) -> Iterator[str]:
    """Yield what the counters and the head hold that the chain does not say."""
    if counters != counters_of(book):
        yield "A counter is not what the rows of the chain say."
    if head_place(head) != (book.number, book.hash):
        yield "The signed head is not the last row of the chain."


def head_place(head: tuple[int, str, str] | None) -> tuple[int, str]:
    """Return number and hash of a head; those of an empty ledger when there is none."""
    return (0, GENESIS) if head is None else head[:2]


def migrations(kind: str) -> list[str]:
    """Return the SQL of every migration of one kind of database, in order."""
    folder = resources.files("confide.budget") / "migrations" / kind
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".sql"))
    return [own_text("confide.budget", f"migrations/{kind}/{name}") for name in names]
