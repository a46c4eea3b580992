"""``confide ledger backup``: a copy of the chain and the answers."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say

Folder = Annotated[Path, typer.Argument(help="Folder of the backup.")]


def backup(
    folder: Folder, dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Copy chain, answers, nonces and who withdrew consent into a new folder, signed; no keys."""
    from confide.service.ledger.backup import backup as backed_up

    done = backed_up(folder, dataset=dataset)
    show = f"Backed up {done.rows} rows into {folder}, head {done.head[:16]}…"
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-backup", done, show=lambda: say(show))
    output.note("Keep signing.key and hash.key elsewhere: they are not in it.")
    for name in done.apart:
        output.note(
            f".confide/{name} is not in it: copy that folder now, by yourself; a ledger is "
            "restored with the folder of the same moment, or not at all."
        )
    output.note("Keep the backup as secret as .confide: nonces of commitments are in it.")
