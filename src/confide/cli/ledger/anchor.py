"""``confide ledger anchor``: the signed head, for a notary or another place."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, write


def anchor(
    dataset: Dataset = HERE,
    *,
    out: Annotated[
        Path | None, typer.Option(help="File in another place to append to; stdout when left out.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the signed head for a notary, or append it to a file in another place."""
    from confide.service.ledger.anchor import anchor as anchored

    made = anchored(dataset, out=out)
    show = made.line if out is None else f"Appended the head of row {made.row} to {out}."
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-anchor", made, show=lambda: write(f"{show}\n"))
