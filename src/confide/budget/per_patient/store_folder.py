"""The folder of a store of patients: one process at a time, and whom it shall forget.

*Privacy:* as :mod:`.people`.
"""

import contextlib
import hashlib
import hmac
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confide.budget.per_patient.people import People
from confide.budget.per_patient.sealed import read_sealed
from confide.regular_file import locked

KIND = "store"
MARK = "store.sealed"


def store_key(hash_key: bytes) -> bytes:
    """Return what the files of a store are sealed with."""
    return hmac.new(hash_key, b"confide patient store 1", hashlib.sha256).digest()


def alone(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Let one process at a time decide in the folder of a store; a killed one lets go."""
    return locked(folder / "lock")


def forget_people(folder: Path, identities: NDArray[np.uint64], *, hash_key: bytes) -> None:
    """Break the link between some patients and their numbers, in the stores of every lineage.

    What was charged stands, under numbers that are nobody's: a charge is never taken back.

    Args:
        folder: Of all stores.
        identities: Shape (persons, 2).
        hash_key: Of the site.

    Raises:
        LedgerFrozenError: If a store was made under another hash key, or is not whole.
    """
    key = store_key(hash_key)
    for people in sorted(folder.glob("*/people")):
        with alone(people.parent):
            lineage = read_sealed(people.parent / MARK, key=key, kind=KIND).fields["lineage"]
            People(people, lineage=lineage, key=key).forget(identities)
            for cache in people.parent.glob("*.roster"):
                cache.unlink()
