"""``confide patients verify``: whether the records of who was in which release are whole."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say


def verify_patients(
    dataset: Annotated[Path, typer.Argument(help="A dataset.yaml.")] = Path("dataset.yaml"),
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check every membership file against its tag and the ledger; tells nothing of them."""
    from confide.workspace import open_workspace

    with open_workspace(dataset) as site:
        charges = site.patients().verify(site.ledger)
    body = {"holds": True, "charges": charges}
    shown = f"The patients' records are whole, of {charges} charges."
    Output(json=as_json, quiet=quiet).result("patients-verify", body, show=lambda: say(shown))
