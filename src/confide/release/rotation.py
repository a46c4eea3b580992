"""Rotation of a site's signing key, so that a crash at any point leaves one key that is in force.

The new key is on disk before the chain names it, and the chain names it before it takes the old
one's place.  Whoever opens the ledger after a crash asks the chain which of the two is in force.
The old private key is gone afterwards; its public half is kept in ``signing.old.pub``, oldest
first, for certificates and heads of its time.

The key that orders rows is not rotated: under another order other rows of a patient are kept.  A
growing release would then publish more of one patient than it was charged for, each prepared copy
would have to be made anew, and spends kept by a keyed hash of the patient would begin at zero.
"""

import contextlib
from pathlib import Path

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.place import Place, exists, open_store
from confide.budget.workflow.acts import Officers
from confide.errors import PolicyError
from confide.regular_file import locked
from confide.release.keys import (
    PENDING,
    SigningKey,
    drop_pending_key,
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
        new = make_pending_key(folder)
        try:
            ledger.rotate_key(new, reason=reason, officers=officers)
        except BaseException:
            if ledger.signer is not new:
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
    if (folder / PENDING).exists():
        with _alone(folder):
            if (folder / PENDING).exists():
                _settle(folder, place=place)
    return read_signing_key(folder)


def _settle(folder: Path, *, place: Place) -> None:
    """Ask the chain which key is in force."""
    if _last_named(folder, place=place) == read_pending_key(folder).public_key.hex():
        install_pending_key(folder)
    else:
        drop_pending_key(folder)


def _last_named(folder: Path, *, place: Place) -> str:
    """Return the key that the chain named last, in hexadecimal; "" if none."""
    if not exists(place, folder=folder):
        return ""
    store = open_store(place, folder=folder)
    try:
        with store.turn():
            store.migrate()
            store.begin()
            named = ""
            for event in store.events_after(0):
                fields = event.fields()
                if fields.get("kind") == "key-rotated":
                    named = str(fields["new"])
            store.rollback()
    finally:
        store.close()
    return named


def _alone(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Let one process at a time replace the key."""
    return locked(folder / "signing.lock")
