"""The patients who withdrew consent: sealed lists of keyed hashes, which every reading leaves out.

Each withdrawal writes one list, once, in a file of its own; the ledger's row of it holds the tag of
the file.  A list that the ledger knows and the folder lacks stops every release, so nobody comes
back with an older copy of the folder; a list that the ledger does not know (an older ledger was put
back) is left out all the same.  Nobody is ever taken off: see docs/design/037.

*Privacy:* as secret as membership files: mode 0600, hashes under the site's key.  The tag is a
keyed hash over a fresh nonce, so that in the public ledger it says nothing of whom, or of how many.
The lists are fixed before the data are read, and leaving one person out of two neighbouring data
sets leaves neighbours, or the same data set: no bound, refusal or charge depends on them.
"""

import datetime as dt
import hashlib
import hmac
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.budget.chain.identity import fingerprint
from confide.budget.per_patient.sealed import TAG_OCTETS, read_sealed, write_sealed
from confide.errors import LedgerFrozenError
from confide.regular_file import create_durable, read_bytes, sync_folder

FOLDER = "withdrawn"
SUFFIX = ".withdrawn"
_NONCE = 16
_LOST = (
    "Put .confide/withdrawn back from a backup. If it is lost for good, list everybody again: "
    "confide patients forget --lists-lost REASON"
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Withdrawn:
    """Everybody who withdrew consent; prints as nothing.

    Attributes:
        hashes: Keyed hashes as 32 hexadecimal digits, sorted.
        tags: Of the lists that they stand in.
        key: Fingerprint of the hash key that the hashes, and those of rows, are made under.
    """

    hashes: tuple[str, ...] = ()
    tags: frozenset[str] = frozenset()
    key: str = ""

    def __repr__(self) -> str:
        return "Withdrawn(<secret>)"


def list_withdrawn(folder: Path, identities: NDArray[np.uint64], *, hash_key: bytes) -> str:
    """Write one more list, on disk before this returns; return its tag.

    Args:
        folder: Of all lists.
        identities: Shape (persons, 2): the two words of each keyed hash.
        hash_key: Of the site.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    nonce = os.urandom(_NONCE).hex()
    day = dt.datetime.now(dt.UTC).date().isoformat()
    fields: dict[str, Any] = {"kind": FOLDER, "day": day, "nonce": nonce}
    columns = {"high": identities[:, 0].copy(), "low": identities[:, 1].copy()}
    tag = write_sealed(
        folder / f"{nonce}{SUFFIX}", key=_key(hash_key), fields=fields, columns=columns
    )
    sync_folder(folder.parent)
    return tag


def withdrawn(folder: Path, *, hash_key: bytes) -> Withdrawn:
    """Return who stands in the lists of a folder.

    Raises:
        LedgerFrozenError: If one was changed, or made under another hash key.
    """
    hashes: set[str] = set()
    tags: set[str] = set()
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            found = read_sealed(path, key=_key(hash_key), kind=FOLDER)
        except LedgerFrozenError:
            raise LedgerFrozenError(
                f"The list of withdrawn patients {path.name} was changed, or made under another "
                "hash.key.",
                hint="Restore it, or hash.key, from a backup. If that is lost for good: move the "
                "list away, and list everybody again: confide patients forget --lists-lost REASON",
            ) from None
        words = zip(found.columns["high"].tolist(), found.columns["low"].tolist(), strict=True)
        hashes.update(f"{high:016x}{low:016x}" for high, low in words)
        tags.add(found.tag)
    return Withdrawn(hashes=tuple(sorted(hashes)), tags=frozenset(tags), key=fingerprint(hash_key))


def require_listed(found: Withdrawn, *, noted: frozenset[str]) -> None:
    """Refuse to read where a list is missing that the ledger knows of.

    Raises:
        LedgerFrozenError: If one is.
    """
    if noted - found.tags:
        raise LedgerFrozenError(
            "A list of patients who withdrew consent is missing, and they would be counted again.",
            hint=_LOST,
        )


def saved_lists(folder: Path) -> dict[str, bytes]:
    """Return what a backup keeps, by name."""
    return {path.name: read_bytes(path, largest=None) for path in sorted(folder.glob(f"*{SUFFIX}"))}


def put_lists_back(
    folder: Path, files: Mapping[str, bytes], *, noted: Collection[str] | None = None
) -> int:
    """Put back the lists that a backup kept; those that are there as they were stay.

    A list is written once, so one with other octets is damaged: it is set aside as ``.damaged``.

    Args:
        folder: Of all lists.
        files: Of the backup, by name.
        noted: Tags of those that there must be; None puts back all.

    Returns:
        How many were missing or damaged.
    """
    missing = 0
    for name, content in files.items():
        path = folder / name
        if not name.endswith(SUFFIX) or _is(path, content):
            continue
        if noted is not None and content[-TAG_OCTETS:].hex() not in noted:
            continue  # ended by officers since
        missing += 1
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_name(f"{name}.part")
        part.unlink(missing_ok=True)
        create_durable(part, content)
        if path.exists():
            path.replace(path.with_name(f"{name}.damaged"))
        part.rename(path)
        sync_folder(folder)
    return missing


def _is(path: Path, content: bytes) -> bool:
    try:
        return read_bytes(path, largest=None) == content
    except OSError:
        return False


def _key(hash_key: bytes) -> bytes:
    return hmac.new(hash_key, b"confide withdrawn patients 1", hashlib.sha256).digest()
