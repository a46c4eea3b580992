"""A quick look at a ledger: from its newest checkpoint on, or not at all.

Checked: the checkpoint's signature, its lines, its row in the chain and in the anchor; every row
since, with its hash, its charges and its events; every line of the anchor since; the signed head;
every counter; the requests and answers that changed since; tables and triggers.  Rows before the
checkpoint are checked when somebody asks for them, and all of them by ``confide ledger verify``.

*Privacy:* nothing is reported from here.  Whatever is missing or does not fit, the caller inspects
the whole ledger instead, and freezes it with what it finds then.
"""

from collections.abc import Sequence

from confide.budget.accountant import Accountant
from confide.budget.chain.chain import SignedHead, is_signed
from confide.budget.integrity.anchor import Anchor
from confide.budget.integrity.book_head import is_head_signed, unsigned_head
from confide.budget.integrity.checkpoint import CheckpointBasis, read_basis, signed_fields
from confide.budget.integrity.inspection import Inspection, check_charges
from confide.budget.stores.store import Store
from confide.errors import LedgerFrozenError


def look(
    store: Store, *, anchor: Anchor, public_key: str, recompute: Accountant
) -> tuple[Inspection, CheckpointBasis] | None:
    """Return what a quick look shows, and from where it began; None if the ledger is to be read.

    The caller holds the write lock.  What is returned has no findings.
    """
    try:
        heads, basis = _believed(store, anchor=anchor, public_key=public_key)
        if basis is None:
            return None
        found = Inspection(book=basis.book())
        hashes = [basis.hash, *_followed(store, found, heads=heads, key=public_key)]
        check_charges(found, found.book.requests.recent(), recompute=recompute)
        whole = (
            _is_anchored(heads, hashes=hashes, first=basis.number)
            and anchor.count() - heads[-1].number == basis.fields["beyond"]
            and _is_whole(store, found, last=heads[-1], key=public_key)
        )
    except (LedgerFrozenError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None  # a full inspection says what is wrong
    except store.failures:
        return None
    return (found, basis) if whole else None


def _believed(
    store: Store, *, anchor: Anchor, public_key: str
) -> tuple[tuple[SignedHead, ...], CheckpointBasis | None]:
    """Return the newest checkpoint that the anchor knows of, and the anchor from there on."""
    rows, anchored = store.checkpoints(), anchor.last_number()
    for row in reversed(rows):
        fields = signed_fields(row, key=public_key) if row.number <= anchored else None
        if fields is None:
            continue
        heads = tuple(head for head in anchor.since(row.number) if head is not None)
        if not heads or (heads[0].number, heads[0].hash) != (row.number, fields["hash"]):
            return (), None
        if [event.hash for event in store.events([row.number])] != [fields["hash"]]:
            return (), None
        return heads, read_basis(rows, fields=fields, read=store.events)
    return (), None


def _followed(
    store: Store, found: Inspection, *, heads: Sequence[SignedHead], key: str
) -> Sequence[str]:
    """Take in the rows since the checkpoint, and return their hashes."""
    hashes = []
    for event in store.events_after(found.book.number):
        found.book.follow(event)
        hashes.append(event.hash)
        if event.number > heads[-1].number:
            found.missing.append(unsigned_head(found.book, key=key))
    return hashes


def _is_anchored(heads: Sequence[SignedHead], *, hashes: Sequence[str], first: int) -> bool:
    """Return whether the anchor has one line for each row from ``first`` on, as far as it goes."""
    if len(heads) > len(hashes):
        return False
    return all(
        (head.number, head.hash) == (first + place, hashes[place])
        for place, head in enumerate(heads)
    )


def _is_whole(store: Store, found: Inspection, *, last: SignedHead, key: str) -> bool:
    """Return whether head, keys, counters and tables are what a quick look expects."""
    book, most = found.book, store.most_behind
    return not (
        found.findings()
        or book.signing.current not in {"", key}
        or (most is not None and len(found.missing) > most)
        or not is_signed(last, keys=book.signing.since(last.number) | {key})
        or not is_head_signed(store, book, public_key=key)
        or any(store.differences(book))
        or any(store.recent_damage(book))
    )
