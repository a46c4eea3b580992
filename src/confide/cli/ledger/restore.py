"""``confide ledger restore``: a backup instead of a ledger that is damaged, missing or older."""

from pathlib import Path
from typing import TYPE_CHECKING

from confide.cli.ledger.backup import Folder
from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say

if TYPE_CHECKING:
    from confide.service.ledger.restore import PutBack


def restore(
    folder: Folder, dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Put a backup in the place of a ledger that is damaged, missing or older.

    With a whole ledger, what the backup holds beside it is put back where it is missing.
    """
    from confide.service.ledger.restore import restore as restored

    done = restored(folder, dataset=dataset)
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-restore", done, show=lambda: _show(done, dataset=dataset))


def _show(done: "PutBack", *, dataset: Path) -> None:
    if done.whole:
        say(f"The ledger is whole and newer or as new, with {done.rows} rows: it stays.")
        say(f"Put back beside it, because they were missing or damaged: {done.beside}.")
    else:
        say(f"Restored {done.rows} rows.")
    if done.aside:
        say(f"What was there is kept as {done.aside}.")
    if done.frozen:
        say(done.findings)
        say("Find out what came after the backup, then run:")
        say(f"  confide ledger unfreeze {dataset} --reason ...  (--officer, under a policy)")
