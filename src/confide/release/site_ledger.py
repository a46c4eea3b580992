"""The ledger of a site's folder, with its anchor, signer and accountant; and its patients."""

from pathlib import Path

from confide.budget.amount import Amount
from confide.budget.chained_ledger import ChainedLedger
from confide.budget.per_patient.store import PatientStore
from confide.budget.sqlite_store import SQLiteStore
from confide.plans.events import recompute
from confide.release.keys import SigningKey, read_order_key

LEDGER = "ledger.sqlite"
ANCHOR = "anchor.jsonl"
PATIENTS = "patients"


def site_ledger(folder: Path, *, signer: SigningKey) -> ChainedLedger:
    """Open the ledger in a folder, or make a new one, and check all of it."""
    return ChainedLedger(
        SQLiteStore(folder / LEDGER),
        anchor=folder / ANCHOR,
        signer=signer,
        recompute=recomputed,
    )


def recomputed(events: str) -> Amount:
    """Return what events charge, computed again from their JSON text."""
    loss = recompute(events)
    return Amount(nano=loss.nano, delta_atto=loss.atto)


def site_patients(folder: Path, *, lineage: str) -> PatientStore:
    """Open the per-patient budgets of a lineage in a folder, or make them."""
    return PatientStore(folder / PATIENTS, lineage=lineage, hash_key=read_order_key(folder))
