"""The ledger of a site's folder, with its anchor, signer and accountant; and its patients."""

import functools
from pathlib import Path

from confide.budget.chained_ledger import ChainedLedger
from confide.budget.per_patient.store import PatientStore
from confide.budget.per_patient.withdrawn import FOLDER, withdrawn
from confide.budget.stores.place import Place, SQLitePlace, open_store
from confide.plans.events import recompute
from confide.release.site.keys import SigningKey
from confide.release.site.ledger_pin import FolderSite

ANCHOR = "anchor.jsonl"
PATIENTS = "patients"


def site_ledger(
    folder: Path,
    *,
    signer: SigningKey,
    place: Place | None = None,
    anchor: Path | None = None,
) -> ChainedLedger:
    """Open a site's ledger, or make a new one, and check all of it.

    Args:
        folder: The workspace folder.
        signer: The site's key.
        place: Where the ledger is; a SQLite file in the folder when None.
        anchor: File of signed heads; one in the folder when None.
    """
    return ChainedLedger(
        open_store(place or SQLitePlace(), folder=folder),
        anchor=anchor or folder / ANCHOR,
        signer=signer,
        recompute=recompute,
        site=FolderSite(folder),
    )


def site_patients(folder: Path, *, lineage: str, hash_key: bytes) -> PatientStore:
    """Open the per-patient budgets of a lineage in a folder, or make them."""
    listed = functools.partial(withdrawn, folder / FOLDER, hash_key=hash_key)
    return PatientStore(folder / PATIENTS, lineage=lineage, hash_key=hash_key, listed=listed)
