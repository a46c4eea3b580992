"""Who was in one release and what they paid: written once, before its noise is drawn.

A file names the patients who paid by their own norm, with what they paid, and those who were left
out.  What everybody paid, whatever their rows, stands in its header: nobody else is named.

*Privacy:* the tag, a keyed hash over a fresh nonce too, is what the public ledger holds of it.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confide.budget.entry import Entry
from confide.budget.per_patient.sealed import changed, read_sealed, write_sealed
from confide.errors import LedgerFrozenError

KIND = "members"
SUFFIX = ".members"


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """The membership of one release.

    Attributes:
        everybody: What each patient paid who was not left out, in 1e-15.
        people: How many patients were known.
        paid: Numbers of those who pay by their own norm too, each once; shape (paid,).
        spends: What they paid for it, in 1e-15; 0 where they are left out; shape (paid,).
        left_out: Numbers of those who were left out, and paid nothing, each once.
        rolled: Digest over who the patients were.
        version: The edition of who is who that it was made under; "" of none.
    """

    everybody: int
    people: int
    paid: NDArray[np.integer]
    spends: NDArray[np.int64]
    left_out: NDArray[np.integer]
    rolled: str = ""
    version: str = ""


def members_path(folder: Path, *, number: int) -> Path:
    """Return where the membership of an entry is, or would be."""
    return folder / f"{number:010d}{SUFFIX}"


def write_members(folder: Path, members: Members, *, entry: Entry, nonce: bytes, key: bytes) -> str:
    """Write the membership of an entry durably; return its tag."""
    fields: dict[str, Any] = {
        "kind": KIND,
        "lineage": entry.lineage,
        "entry": entry.number,
        "hash": entry.hash,
        "plan": entry.plan_digest,
        "nonce": nonce.hex(),
        "everybody": str(members.everybody),
        "people": members.people,
        "rolled": members.rolled,
        "version": members.version,
    }
    columns = {
        "paid": members.paid.astype("<u4", copy=False),
        "spends": members.spends.astype("<i8", copy=False),
        "left_out": members.left_out.astype("<u4", copy=False),
    }
    path = members_path(folder, number=entry.number)
    return write_sealed(path, key=key, fields=fields, columns=columns)


def read_members(folder: Path, *, entry: Entry, key: bytes) -> tuple[Members, str]:
    """Return the membership of an entry with its tag.

    Raises:
        LedgerFrozenError: If it is missing, was changed, or is of another entry.
    """
    path = members_path(folder, number=entry.number)
    found = read_sealed(path, key=key, kind=KIND)
    of = tuple(map(found.fields.get, ("lineage", "entry", "plan", "hash")))
    if of != (entry.lineage, entry.number, entry.plan_digest, entry.hash):
        raise changed(path)
    members = Members(
        everybody=int(found.fields["everybody"]),
        people=found.fields["people"],
        paid=found.columns["paid"],
        spends=found.columns["spends"],
        left_out=found.columns["left_out"],
        rolled=found.fields["rolled"],
        version=found.fields.get("version", ""),
    )
    return members, found.tag


def forgotten_by(folder: Path, *, key: bytes) -> frozenset[str]:
    """Return which editions of who is who the files were made under."""
    found = set()
    for path in folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(LedgerFrozenError):  # damaged: nothing is released beside it
            found.add(read_sealed(path, key=key, kind=KIND).fields.get("version", ""))
    return frozenset(found - {""})
