"""Consent withdrawn: a person is taken out of copies, membership files and every later release.

::

    list       keyed hashes in a sealed list: durable, and left out of every reading from then on
    copies     all prepared copies are deleted; they are made anew without the person
    records    the hash that led to the person's number is overwritten, in every store
    note       a row of the ledger: the day and the tag of the list, and not who, nor how many

After a crash in between, the same again brings it to its end.

*Privacy:* what is done is the same whether or not the data hold the person.  What was published,
trained or backed up stays as it is (docs/how-to/consent-withdrawn.md).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from confide.budget.ledger import Ledger
from confide.budget.per_patient.store_folder import forget_people
from confide.budget.per_patient.withdrawn import (
    FOLDER,
    Withdrawn,
    list_withdrawn,
    require_listed,
    withdrawn,
)
from confide.errors import ContractError
from confide.privacy.unit import Entity
from confide.release.approval import login
from confide.release.keys import read_order_key
from confide.release.site_ledger import PATIENTS
from confide.rows.engine import Engine
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was done.

    Attributes:
        patients: How many ids were given.
        copies: Whether prepared copies were in use, which are deleted now.
        row: Of the ledger in which it is noted.
    """

    patients: int
    copies: bool
    row: int


def who_withdrew(folder: Path, *, ledger: Ledger | None, lineage: str) -> Withdrawn:
    """Return whose rows are left out of every reading.

    Args:
        folder: The workspace folder.
        ledger: Knows which lists there are; None where no release comes of it.
        lineage: Of the data.

    Raises:
        LedgerFrozenError: If a list is missing or was changed.
    """
    found = withdrawn(folder / FOLDER, hash_key=read_order_key(folder))
    if ledger is not None:
        require_listed(found, noted=ledger.desk.consent.withdrawals(lineage))
    return found


def require_not_withdrawn(
    folder: Path, *, ledger: Ledger, lineage: str, words: tuple[int, int]
) -> None:
    """Refuse to speak of a person of whom nothing is known any more.

    Raises:
        ContractError: If they withdrew consent.
    """
    high, low = words
    if f"{high:016x}{low:016x}" in who_withdrew(folder, ledger=ledger, lineage=lineage).hashes:
        raise ContractError(
            "This person withdrew consent: what led from the id to charges was deleted.",
            hint="Charges that everybody pays: confide ledger show",
        )


def withdraw(
    ids: Iterable[str], *, dataset: Dataset, engine: Engine, ledger: Ledger, folder: Path
) -> Forgotten:
    """Take persons out of all that is kept and of every later release, for good.

    Args:
        ids: Person ids as the source has them.
        dataset: Public facts.
        engine: Over the source, for how ids are compared there; reads no row.
        ledger: Where it is noted.
        folder: The workspace folder.

    Raises:
        ContractError: If there are none, one cannot be an id, or rows have no persons; says which
            one by its place, and nothing was done.
        LedgerFrozenError: If the patients' records are not whole.
    """
    from confide.rows.prepared.build import delete_copies
    from confide.rows.prepared.copies import PREPARED

    if dataset.unit.entity is Entity.EVENT:
        raise ContractError(
            "With the row as privacy unit no person is known, so none can be taken out.",
            hint="Delete the rows in the source.",
        )
    words = [engine.identity(each) for each in ids]
    if not words:
        raise ContractError("Expected a person id, got none.", hint="Write one on each line.")
    for place, each in enumerate(words, start=1):
        if each is None:
            raise ContractError(
                f"Id {place} cannot be a person id of this source; nothing was done.",
                hint="Write ids as the source has them, one on each line.",
            )
    identities = np.array(words, dtype=np.uint64)
    key = read_order_key(folder)
    tag = list_withdrawn(folder / FOLDER, identities, hash_key=key)
    copies = delete_copies(folder / PREPARED)
    forget_people(folder / PATIENTS, identities, hash_key=key)
    row = ledger.desk.consent.note_withdrawal(dataset.lineage, tag=tag, by=login())
    return Forgotten(patients=len(words), copies=copies, row=row)
