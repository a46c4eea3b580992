"""Rotation of a site's signing key, so that a crash at any point leaves one key that is in force.

The new key is on disk before the chain names it, and the chain names it before it takes the old
one's place.  A rotation may end without knowing whether its row is on disk: killed, interrupted, or
with the connection lost while the row was committed.  Then both keys are kept, and whoever opens
the ledger next asks the chain which of the two is in force, under the lock for which such a commit
is waited; while the ledger is missing or damaged both are kept on.
The old private key is gone afterwards; its public half is kept in ``signing.old.pub``, oldest
first, for certificates and heads of its time.

The key that orders rows is not rotated: under another order other rows of a patient are kept.  A
growing release would then publish more of one patient than it was charged for, each prepared copy
would have to be made anew, and spends kept by a keyed hash of the patient would begin at zero.
"""

import contextlib
from pathlib import Path

from confide.budget.accounts.book import Book
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.stores.place import Place, exists, open_store
from confide.budget.workflow.acts import Officers
from confide.errors import LedgerFrozenError, PolicyError
from confide.regular_file import locked
from confide.release.site.keys import (
    SigningKey,
    drop_pending_key,
    has_pending_key,
    install_pending_key,
    make_pending_key,
    read_pending_key,
    read_signing_key,
)


def rotate_signing_key(
    folder: Path, ledger: ChainedLedger, *, reason: str, officers: Officers = ()
) -> SigningKey:
    """Make a new signing key, let the ledger's chain name it, and put it in force.

    Args:
        folder: The workspace folder.
        ledger: Open under the key that is replaced.
        reason: Recorded for good.
        officers: Keys of those who do it; needed where a policy in force names people.

    Raises:
        InvalidParameterError: If there is no reason.
        ApprovalMissingError: If an officer does not sign who must.
        LedgerFrozenError: If the ledger is not whole.
    """
    with _alone(folder):
        ledger.head()  # where it is frozen, a key is kept that its chain may name
        new = make_pending_key(folder)
        try:
            ledger.rotate_key(new, reason=reason, officers=officers)
        except BaseException:
            if ledger.signer is not new:  # else its row may be on disk
                drop_pending_key(folder)
            raise
        install_pending_key(folder)
    return new


def refuse_order_key() -> PolicyError:
    """Return why the key that orders rows is not rotated."""
    return PolicyError(
        "The row-order key is not rotated: under another order other rows of a patient are kept, "
        "so a growing release would publish more of a patient than it was charged for, and "
        "per-patient spends, which are kept under it, would begin at zero.",
        hint="Guarantees hold when it is stolen; who has it can tell which of the rows that they "
        "planted are kept.",
    )


def signing_key(folder: Path, *, place: Place) -> SigningKey:
    """Return the site's signing key, after ending a rotation that a crash cut off.

    Raises:
        ContractError: If it is missing, unreadable, or readable by others.
    """
    if has_pending_key(folder):
        with _alone(folder):
            if has_pending_key(folder):
                _settle(folder, place=place)
    return read_signing_key(folder)


def _settle(folder: Path, *, place: Place) -> None:
    """Ask the chain which key is in force."""
    book = _book(folder, place=place)
    if book is None:  # the ledger says what is wrong with it, under the key that is there
        return
    if book.signing.current == read_pending_key(folder).public_key.hex():
        install_pending_key(folder)
    else:
        drop_pending_key(folder)


def _book(folder: Path, *, place: Place) -> Book | None:
    """Return what the chain adds up to; None where it is missing, empty or damaged."""
    if not exists(place, folder=folder):
        return None
    store, book = open_store(place, folder=folder), Book()
    broken: tuple[type[Exception], ...] = (LedgerFrozenError, *store.failures)
    try:
        with store.turn():
            store.migrate()
            store.begin()
            for event in store.events_after(-1):
                book.follow(event)
            store.rollback()
    except broken:
        return None
    finally:
        store.close()
    return book if book.number else None


def _alone(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Let one process at a time replace the key."""
    return locked(folder / "signing.lock")
