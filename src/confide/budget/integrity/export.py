"""The exported chain: JSON lines that anybody can check without the ledger, and without data.

One line a row, ``{"number", "previous", "hash", "body"}``, and last the signed head.  Answers are
not in it, only their hashes.  Who checks recomputes every hash, follows every rule of the book
(states, charges before + amount = after ≤ cap, words of the old key for the new), recomputes what
each request's events cost, and checks the signature of the head.

*Privacy:* a body holds the declared plan, who asked, and reasons that officers gave; nothing exact.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from confide.budget.accountant import Accountant
from confide.budget.accounts.book import Book
from confide.budget.chain.chain import Chain, Event, SignedHead, canonical, head_of, is_signed
from confide.budget.integrity.inspection import Inspection, check_charges
from confide.errors import LedgerFrozenError, VerificationError

_WENT_ON = "unfrozen"


def chain_text(chain: Chain) -> str:
    """Return a chain as JSON lines."""
    lines = [canonical(_fields(event)) for event in chain.events]
    return "\n".join([*lines, canonical({"head": chain.head.to_fields()})]) + "\n"


def read_chain(text: bytes, *, name: str) -> Chain:
    """Return the chain that an export holds.

    Raises:
        VerificationError: If it is not one, or has no signed head at its end.
    """
    try:
        *rows, last = [json.loads(line) for line in text.splitlines()]
        return Chain(
            head=head_of(last["head"]),
            events=tuple(
                Event(
                    number=int(row["number"]),
                    body=str(row["body"]),
                    previous=str(row["previous"]),
                    hash=str(row["hash"]),
                )
                for row in rows
            ),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise VerificationError(
            f"{name} is not an exported chain, or is cut off.",
            hint="Make it with: confide ledger export --out FILE",
        ) from None


def check_chain(chain: Chain, *, recompute: Accountant, key: str | None = None) -> Book:
    """Return what a chain adds up to, if everything in it holds.

    Args:
        chain: As exported.
        recompute: The loss of events.
        key: Public key in hexadecimal that the head must be signed by; any if None.

    Raises:
        VerificationError: With what does not hold.
    """
    found = Inspection(book=Book())
    try:
        for event in chain.events:
            found.book.follow(event)
    except LedgerFrozenError as broken:
        raise VerificationError(str(broken)) from None
    book, head = found.book, chain.head
    if (head.number, head.hash, head.kind, head.lineage) != _last_row(book):
        raise VerificationError("The signed head is not of the last row.")
    if not is_signed(head, keys={head.key}):
        raise VerificationError("The head is not signed by the key that it names.")
    if book.signing.current not in {"", head.key}:
        raise VerificationError("The head is not signed by the key that the chain names last.")
    if key is not None and key != head.key:
        raise VerificationError(
            f"The head is signed by ed25519:{head.key}, another key than the given one.",
            hint="Was the key rotated? Ask the issuer for the new signing.pub.",
        )
    check_charges(found, book.requests.all(), recompute=recompute)
    if found.findings():
        raise VerificationError(" ".join(found.findings()))
    return book


def _last_row(book: Book) -> tuple[int, str, str, str]:
    """Return what the head of every version says of its row; what else it tells is signed too."""
    return book.number, book.hash, book.kind, book.lineage


def unlike(chain: Chain, noted: Sequence[SignedHead | None], *, keys: Iterable[str]) -> list[str]:
    """Return where heads that were noted elsewhere and the chain do not agree.

    Args:
        chain: Of the ledger as it is.
        noted: Heads from a second place: a notary, a print, another disk.
        keys: The site's public keys in hexadecimal, old and new.
    """
    known, found, without = frozenset(keys), list[str](), _went_on_without(chain)
    for head in noted:
        if head is None:
            found.append("A line cannot be read.")
        elif not is_signed(head, keys=known):
            found.append(f"The head of row {head.number} is not signed by this site.")
        elif head.hash in without:
            found.append(
                f"Row {head.number} was noted, and is lost: an officer went on without it, as row "
                f"{without[head.hash]} says."
            )
        elif head.number > len(chain.events):
            found.append(f"Row {head.number} was noted, and the ledger ends before it.")
        elif chain.events[head.number - 1].hash != head.hash:
            found.append(f"Row {head.number} was noted with another hash.")
    return found


def _went_on_without(chain: Chain) -> dict[str, int]:
    """Return the rows by which officers went on, by the hashes of lost rows that they name."""
    rows = (event for event in chain.events if _WENT_ON in event.body)  # no other is read
    named = ((event.number, event.fields()) for event in rows)
    return {
        digest: number
        for number, fields in named
        if fields["kind"] == _WENT_ON
        for digest in fields.get("lost", ())
    }


def _fields(event: Event) -> dict[str, Any]:
    return {
        "number": str(event.number),
        "previous": event.previous,
        "hash": event.hash,
        "body": event.body,
    }
