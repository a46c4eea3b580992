"""Restore: a backup instead of a ledger that is damaged, missing or older."""

from dataclasses import dataclass, replace
from pathlib import Path

from confide.budget.accounts.book import Book
from confide.budget.backup import Restored, read_backup, require_of
from confide.budget.backup import restore as put_back
from confide.budget.per_patient.withdrawn import FOLDER, put_lists_back
from confide.budget.stores.place import open_store, set_aside_broken
from confide.errors import LedgerFrozenError
from confide.files.dataset import read_dataset
from confide.files.public.private_places import WORKSPACE
from confide.plans.events import recompute
from confide.release.site.commitment import put_back as put_openings_back
from confide.release.site.keys import read_signing_key, retired_keys
from confide.release.site.ledger_pin import FolderSite
from confide.release.site.site_ledger import ANCHOR
from confide.service.opening import open_ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class PutBack:
    """A backup in the place of a ledger.

    Attributes:
        rows: How many there are now.
        aside: Where what was there is kept; "" if nothing was.
        frozen: Whether the ledger is frozen.
        findings: Why.
        beside: How much was put back beside the ledger.
        whole: Whether the ledger was whole, and stays.
    """

    rows: int
    aside: str
    frozen: bool
    findings: str
    beside: int
    whole: bool


def restore(folder: Path, *, dataset: Path) -> PutBack:
    """Put a backup in the place of a ledger that is damaged, missing or older.

    With a whole ledger, what the backup holds beside it is put back where it is missing.

    Args:
        folder: Of the backup.
        dataset: A dataset.yaml.

    Raises:
        VerificationError: If the backup is not whole, or of another ledger.
    """
    done = _restored(folder, dataset)
    frozen = _frozen_because(dataset)
    return PutBack(
        rows=done.rows,
        aside=done.aside,
        frozen=bool(frozen),
        findings=frozen,
        beside=done.beside,
        whole=done.whole,
    )


def _restored(folder: Path, dataset: Path) -> Restored:
    declared = read_dataset(dataset)
    inside = declared.base / WORKSPACE
    signer = read_signing_key(inside)
    keys = {name.removeprefix("ed25519:") for name in (signer.name, *retired_keys(inside))}
    held = read_backup(folder, keys=keys, recompute=recompute)
    require_of(held, FolderSite(inside).ledger)
    broken = set_aside_broken(declared.ledger, folder=inside)
    store = open_store(declared.ledger, folder=inside)

    def put_beside(stays: Book | None) -> int:
        noted = None if stays is None else stays.consent.lists
        lists = put_lists_back(inside / FOLDER, held.beside, noted=noted)
        return lists + put_openings_back(inside, held.beside)

    try:
        anchor, key = declared.anchor or inside / ANCHOR, signer.public_key.hex()
        done = put_back(store, held, anchor=anchor, public_key=key, beside=put_beside)
    finally:
        store.close()
    return replace(done, aside=done.aside or broken)


def _frozen_because(dataset: Path) -> str:
    """Return what was found in a ledger that is frozen; "" if it is whole."""
    with open_ledger(dataset) as (ledger, _):
        try:
            ledger.verify_chain()
        except LedgerFrozenError as frozen:
            return str(frozen)
    return ""
