"""The ledger of a site's folder, with its anchor, signer and accountant; and its patients."""

from pathlib import Path

from confide.budget.amount import Amount
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.per_patient.store import PatientStore
from confide.budget.stores.place import Place, SQLitePlace, open_store
from confide.plans.events import recompute
from confide.plans.job import is_job_events, recompute_job
from confide.release.site.keys import SigningKey, read_order_key
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
        recompute=recomputed,
        site=FolderSite(folder),
    )


def recomputed(events: str) -> Amount:
    """Return what events charge, computed again from their JSON text."""
    if is_job_events(events):
        nano, atto = recompute_job(events)
        return Amount(nano=nano, delta_atto=atto)
    loss = recompute(events)
    return Amount(nano=loss.nano, delta_atto=loss.atto)


def site_patients(folder: Path, *, lineage: str) -> PatientStore:
    """Open the per-patient budgets of a lineage in a folder, or make them."""
    return PatientStore(folder / PATIENTS, lineage=lineage, hash_key=read_order_key(folder))
