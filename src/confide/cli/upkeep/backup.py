"""``confide ledger backup``: a copy of the chain and the answers."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say

HERE = Path("dataset.yaml")
Dataset = Annotated[Path, typer.Argument(help="A dataset.yaml.")]
Folder = Annotated[Path, typer.Argument(help="Folder of the backup.")]


def backup(
    folder: Folder, dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Copy chain, answers, nonces and who withdrew consent into a new folder, signed; no keys."""
    from confide.budget.backup import write_backup
    from confide.budget.per_patient.withdrawn import FOLDER, saved_lists
    from confide.files.private_places import WORKSPACE
    from confide.release.commitment import saved
    from confide.workspace import open_ledger

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
    body = {"folder": str(folder), "rows": chain.head.number, "head": chain.head.hash}
    show = f"Backed up {chain.head.number} rows into {folder}, head {chain.head.hash[:16]}…"
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-backup", body, show=lambda: say(show))
    output.note("Keep signing.key and hash.key elsewhere: they are not in it.")
    output.note("Keep the backup as secret as .confide: nonces of commitments are in it.")
