"""The ledger of a site's folder, with its anchor, signer and accountant."""

from pathlib import Path

from confide.budget.amount import Amount
from confide.budget.sqlite import SQLiteLedger
from confide.plans.events import recompute
from confide.release.keys import SigningKey

LEDGER = "ledger.sqlite"
ANCHOR = "anchor.jsonl"


def site_ledger(folder: Path, *, signer: SigningKey) -> SQLiteLedger:
    """Open the ledger in a folder, or make a new one, and check all of it."""
    return SQLiteLedger(
        folder / LEDGER, anchor=folder / ANCHOR, signer=signer, recompute=recomputed
    )


def recomputed(events: str) -> Amount:
    """Return what events charge, computed again from their JSON text."""
    loss = recompute(events)
    return Amount(nano=loss.nano, delta_atto=loss.atto)
