"""``confide doctor``: what a question about an installation needs, and nothing of the data."""

from typing import TYPE_CHECKING

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.checking.doctor import Diagnosis


def doctor(dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show versions, who may read the workspace, the ledger's state, and past failures.

    Holds neither rows nor what failures said: kinds of errors and lines of programs alone. It opens
    the ledger and no source. Send this with a question, never a log.
    """
    from confide.cli.border import log_file
    from confide.service.checking.doctor import diagnose

    found = diagnose(dataset, logs=(log_file(),))
    Output(json=as_json, quiet=quiet).result("doctor", found, show=lambda: _show(found))


def _show(found: "Diagnosis") -> None:
    software, workspace = found.software, found.workspace
    say(f"confide {software.confide}, Python {software.python}, {software.platform}")
    say(", ".join(f"{name} {version}" for name, version in software.libraries.items()))
    if workspace is None:
        say("No dataset.yaml here, so no workspace was looked at.")
    else:
        say(f"Ledger: {workspace.ledger or 'not opened'}; {workspace.state.rstrip('.')}.")
        others = ", ".join(workspace.open_to_others)
        say(f"Others may look into: {others}." if others else "Nobody else may look into it.")
        if not workspace.writable:
            say("The workspace cannot be written, so nothing can be planned or released here.")
    if not found.incidents:
        say("No failures on record.")
        return
    rows = [
        (each.at, each.incident, " from ".join(each.kinds), ", ".join(each.places[-3:]))
        for each in found.incidents
    ]
    table(("when", "incident", "kind", "innermost lines"), rows, title="Failures")
