"""Back up a ledger: a signed copy of the chain, the answers and what lies beside; no keys."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from confide.budget.backup import write_backup
from confide.budget.per_patient.withdrawn import FOLDER, saved_lists
from confide.files.public.private_places import WORKSPACE
from confide.release.site.commitment import saved
from confide.release.site.site_ledger import PATIENTS
from confide.service.opening import open_ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUp:
    """A backup.

    Attributes:
        folder: Where it is.
        rows: How many.
        head: Hash of the last.
        apart: Folders of secrets that are copied by hand, at the same moment: ``patients``, where
            there are per-patient budgets.
    """

    folder: Path
    rows: int
    head: str
    apart: tuple[str, ...]


def backup(folder: Path, *, dataset: Path) -> BackedUp:
    """Copy chain, answers, nonces and who withdrew consent into a new folder, signed; no keys."""
    at = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open_ledger(dataset) as (held, declared):
        inside = declared.base / WORKSPACE
        chain = write_backup(
            held,
            folder,
            signer=held.signer,
            at=at,
            beside=lambda: {**saved(inside), **saved_lists(inside / FOLDER)},
        )
    apart = tuple(name for name in (PATIENTS,) if (inside / name).is_dir())
    return BackedUp(folder=folder, rows=chain.head.number, head=chain.head.hash, apart=apart)
