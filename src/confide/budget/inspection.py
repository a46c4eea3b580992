"""The inspection of a ledger: every row, every copy, every signed head.

What is found is of two kinds.  *Differences* are what an officer may accept, because going on can
be made safe: an anchor that knows more than the ledger (an older copy was put back), a counter, an
entry whose events cost more than was charged.  *Damage* cannot be accepted: the chain, a request or
an answer was changed, so the ledger must be restored from a backup first.

*Privacy:* what the anchor saw spent stays spent, so a rollback never gives budget back.
"""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from confide.budget import database as db
from confide.budget.amount import Amount
from confide.budget.anchor import Anchor
from confide.budget.book import OVER, Book
from confide.budget.chain import SignedHead, is_signed
from confide.budget.counters import shares
from confide.errors import ConfideError, LedgerFrozenError

Raised = dict[str, dict[str, int]]


@dataclass(slots=True)
class Inspection:
    """What was found.

    Attributes:
        book: What the chain adds up to, as far as it is whole.
        damage: Needs a backup.
        differences: Needs an officer.
        raised: Grid units by lineage and scope that must count as spent to go on.
    """

    book: Book
    damage: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    raised: Raised = field(default_factory=dict)

    def findings(self) -> tuple[str, ...]:
        """Return everything found, damage first."""
        return (*self.damage, *self.differences)


def inspect(
    database: sqlite3.Connection,
    *,
    anchor: Anchor,
    public_key: bytes,
    recompute: Callable[[str], Amount],
) -> Inspection:
    """Check the whole ledger; the caller holds the write lock."""
    found = Inspection(book=Book())
    hashes = [""]
    try:
        if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            found.damage.append("The database file is corrupt.")
        for event in db.events_after(database, -1):
            found.book.follow(event)
            hashes.append(event.hash)
        found.damage.extend(db.damage(database, found.book))
        found.differences.extend(db.differences(database, found.book))
    except LedgerFrozenError as error:
        found.damage.append(str(error))
        return found
    except sqlite3.DatabaseError:
        found.damage.append("The database file cannot be read.")
        return found
    heads = anchor.heads()
    if found.book.number == 0 and heads:
        found.damage.append(
            "The ledger's file is missing or empty, though its anchor knows it "
            f"({len(heads)} rows)."
        )
        return _with_lost(found, hashes=hashes, heads=heads)
    if not is_head_signed(database, found.book, public_key=public_key):
        found.differences.append("The head is not signed by this site's key.")
    _check_anchor(found, hashes=hashes, heads=heads, public_key=public_key)
    _check_charges(found, recompute=recompute)
    return found


def current_head(database: sqlite3.Connection, book: Book, *, public_key: bytes) -> SignedHead:
    """Return the head of ``book`` with the signature that the database holds."""
    row = database.execute("SELECT signature FROM head").fetchone()
    return SignedHead(
        number=book.number,
        hash=book.hash,
        kind=book.kind,
        lineage=book.lineage,
        spent=book.spent(book.lineage),
        key=public_key.hex(),
        signature="" if row is None else str(row[0]),
    )


def is_head_signed(database: sqlite3.Connection, book: Book, *, public_key: bytes) -> bool:
    """Return whether the head is ours; an empty ledger has none."""
    if book.number == 0:
        return True
    return is_signed(current_head(database, book, public_key=public_key), public_key=public_key)


def _check_anchor(
    found: Inspection,
    *,
    hashes: list[str],
    heads: tuple[SignedHead | None, ...],
    public_key: bytes,
) -> None:
    """Compare the anchor with the chain, from the last time an officer accepted it."""
    _with_lost(found, hashes=hashes, heads=heads)
    current = heads[_last_accepted(heads, public_key=public_key) :]
    found.differences.extend(_anchor_differences(current, hashes=hashes, public_key=public_key))


def _with_lost(
    found: Inspection, *, hashes: list[str], heads: tuple[SignedHead | None, ...]
) -> Inspection:
    """Remember what rows that the anchor alone knows had spent."""
    in_chain = frozenset(hashes)
    for head in heads:
        if head is not None and head.hash not in in_chain:
            _note_spent(found, head)
    return found


def _last_accepted(heads: tuple[SignedHead | None, ...], *, public_key: bytes) -> int:
    """Return the place of the last line by which an officer went on; 0 if there is none.

    A line that was there before does not count: it may have been copied to hide what followed.
    """
    start, seen = 0, set()
    for place, head in enumerate(heads):
        if head is None or head.hash in seen:
            continue
        seen.add(head.hash)
        if head.kind == "unfrozen" and is_signed(head, public_key=public_key):
            start = place
    return start


def _anchor_differences(
    heads: tuple[SignedHead | None, ...], *, hashes: list[str], public_key: bytes
) -> Iterator[str]:
    last = heads[-1] if heads else None
    first = heads[0] if heads else None
    number = last.number if last is not None else 0
    if any(head is None for head in heads):
        yield "A line of the anchor cannot be read."
    numbers = [head.number for head in heads if head is not None]
    if numbers != list(range(number - len(numbers) + 1, number + 1)):
        yield "Lines of the anchor are missing or out of order."
    if first is not None and first.number != 1 and first.kind != "unfrozen":
        yield "The anchor does not begin at the first row."
    if number > len(hashes) - 1:
        yield "The anchor is ahead of the ledger: an older copy of the ledger was put back."
    if number < len(hashes) - 2:
        yield "The anchor is missing, or lines at its end are."
    known = [head for head in heads if head is not None and 0 < head.number < len(hashes)]
    if any(head.hash != hashes[head.number] for head in known):
        yield "The anchor holds another history than the ledger."
    if last is not None and not is_signed(last, public_key=public_key):
        yield "The last line of the anchor is not signed by this site's key."


def _note_spent(found: Inspection, head: SignedHead) -> None:
    """Remember what a lost history had spent, signed or not: more is safer."""
    for scope, units in head.spent.items():
        scopes = found.raised.setdefault(head.lineage, {})
        scopes[scope] = max(scopes.get(scope, 0), units)


def _check_charges(found: Inspection, *, recompute: Callable[[str], Amount]) -> None:
    """Recompute the loss of every entry since an officer last looked."""
    for held in found.book.requests.values():
        entry = held.entry
        if entry.state in OVER or entry.number < found.book.accepted:
            continue
        try:
            cost = recompute(held.events_json)
        except ConfideError:
            found.differences.append(f"The events of entry {entry.number} cannot be recomputed.")
            continue
        if entry.amount.covers(cost):
            continue
        found.differences.append(f"Entry {entry.number} costs more than was charged.")
        had, kept = shares(entry.amount, when=held.when), found.book.spent(entry.lineage)
        for scope, units in shares(cost, when=held.when).items():
            if scope not in kept:
                continue
            short = max(0, units - had[scope])
            _add(found, lineage=entry.lineage, scope=scope, units=short)


def _add(found: Inspection, *, lineage: str, scope: str, units: int) -> None:
    spent = found.book.spent(lineage).get(scope, 0)
    scopes = found.raised.setdefault(lineage, {})
    scopes[scope] = max(scopes.get(scope, 0), spent) + units
