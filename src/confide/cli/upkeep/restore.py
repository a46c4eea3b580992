"""``confide ledger restore``: a backup instead of a ledger that is damaged, missing or older."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say

if TYPE_CHECKING:
    from confide.budget.backup import Restored
    from confide.budget.book import Book

HERE = Path("dataset.yaml")


def restore(
    folder: Annotated[Path, typer.Argument(help="Folder of the backup.")],
    dataset: Annotated[Path, typer.Argument(help="A dataset.yaml.")] = HERE,
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put a backup in the place of a ledger that is damaged, missing or older.

    With a whole ledger, what the backup holds beside it is put back where it is missing.
    """
    done = _restored(folder, dataset)
    frozen = _frozen_because(dataset)
    body = {"rows": done.rows, "aside": done.aside, "frozen": bool(frozen), "findings": frozen}
    body |= {"beside": done.beside, "whole": done.whole}

    def show() -> None:
        if done.whole:
            say(f"The ledger is whole and newer or as new, with {done.rows} rows: it stays.")
            say(f"Put back beside it, because they were missing or damaged: {done.beside}.")
        else:
            say(f"Restored {done.rows} rows.")
        if done.aside:
            say(f"What was there is kept as {done.aside}.")
        if frozen:
            say(frozen)
            say("Find out what came after the backup, then run:")
            say(f"  confide ledger unfreeze {dataset} --reason ...  (--officer, under a policy)")

    Output(json=as_json, quiet=quiet).result("ledger-restore", body, show=show)


def _restored(folder: Path, dataset: Path) -> "Restored":
    from confide.budget.backup import read_backup, require_of
    from confide.budget.backup import restore as put_back
    from confide.budget.per_patient.withdrawn import FOLDER, put_lists_back
    from confide.budget.place import open_store, set_aside_broken
    from confide.files.dataset import read_dataset
    from confide.files.private_places import WORKSPACE
    from confide.release.commitment import put_back as put_openings_back
    from confide.release.keys import read_signing_key, retired_keys
    from confide.release.ledger_pin import FolderSite
    from confide.release.site_ledger import ANCHOR, recomputed

    declared = read_dataset(dataset)
    inside = declared.base / WORKSPACE
    signer = read_signing_key(inside)
    keys = {name.removeprefix("ed25519:") for name in (signer.name, *retired_keys(inside))}
    held = read_backup(folder, keys=keys, recompute=recomputed)
    require_of(held, FolderSite(inside).ledger)
    broken = set_aside_broken(declared.ledger, folder=inside)
    store = open_store(declared.ledger, folder=inside)

    def put_beside(stays: "Book | None") -> int:
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
    from confide.errors import LedgerFrozenError
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (ledger, _):
        try:
            ledger.verify_chain()
        except LedgerFrozenError as frozen:
            return str(frozen)
    return ""
