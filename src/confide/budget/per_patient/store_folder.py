"""The folder of a store of patients: one process at a time, and whom it shall forget.

*Privacy:* as :mod:`.people`.
"""

import contextlib
import hashlib
import hmac
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confide.budget.per_patient.people import People
from confide.budget.per_patient.sealed import read_sealed
from confide.errors import LedgerFrozenError
from confide.regular_file import locked

KIND = "store"
MARK = "store.sealed"


def store_key(hash_key: bytes) -> bytes:
    """Return what the files of a store are sealed with."""
    return hmac.new(hash_key, b"confide patient store 1", hashlib.sha256).digest()


def store_folder(folder: Path, *, lineage: str) -> Path:
    """Return the folder of a lineage's store, made for the steward alone, as that of all stores."""
    own = folder / hashlib.sha256(lineage.encode()).hexdigest()[:16]
    for each in (folder, own):  # `parents` would give the first of them the usual mode
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    return own


def alone(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Let one process at a time decide in the folder of a store; a killed one lets go."""
    return locked(folder / "lock")


def stores_of(
    folder: Path, *, hash_key: bytes, replaced: Callable[[], bool]
) -> tuple[tuple[People, ...], int]:
    """Return the patients of every store, all of them whole, and how many stores tell of nobody.

    Those were made under a hash key in whose place an officer accepted another: nobody can tell any
    more which number is whose.

    Args:
        folder: Of all stores.
        hash_key: Of the site.
        replaced: Whether an officer ever did.

    Raises:
        LedgerFrozenError: If a store is not whole, or under another hash key and none was replaced.
    """
    key, found, lost = store_key(hash_key), [], 0
    for people in sorted(folder.glob("*/people")):
        mark = people.parent / MARK
        with alone(people.parent):
            try:
                lineage = read_sealed(mark, key=key, kind=KIND).fields["lineage"]
            except LedgerFrozenError:
                if not mark.exists() or not replaced():
                    raise
                lost += 1
            else:
                found.append(People(people, lineage=lineage, key=key))
    return tuple(found), lost


def forget_people(stores: Iterable[People], identities: NDArray[np.uint64]) -> None:
    """Break the link between some patients and their numbers, in the stores of every lineage.

    What was charged stands, under numbers that are nobody's: a charge is never taken back.

    Args:
        stores: Of every lineage.
        identities: Shape (persons, 2).

    Raises:
        LedgerFrozenError: If a store is not whole.
    """
    for people in stores:
        store = people.folder.parent
        with alone(store):
            people.refresh()
            people.forget(identities)
            for cache in store.glob("*.roster"):
                cache.unlink()
