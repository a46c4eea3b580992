"""``confide ledger verify``: every row of the chain, every copy and every signed head."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say


def verify_ledger(
    dataset: Dataset = HERE,
    *,
    anchor: Annotated[
        Path | None, typer.Option(help="Heads noted in another place, to compare with.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="An exported chain to check instead; needs no ledger.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="The signing.pub that you trust, for --export.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check every row of the chain, every copy and every signed head."""
    from confide.service.ledger.verify import verify_export
    from confide.service.ledger.verify import verify_ledger as verified

    output = Output(json=as_json, quiet=quiet)
    if export is None:
        with output.stages({}) as progress:
            found = verified(dataset, anchor=anchor, progress=progress)
    else:
        found = verify_export(export, key=key)
    show = f"The chain is whole: {found.rows} rows, head {found.head[:16]}…"
    show += f", ledger {found.ledger}." if found.ledger else "."
    if export is not None:
        pinned = "which you have pinned" if found.pinned else "which you have not pinned"
        show += f" Signed by {found.signer}, {pinned}."
    output.result("ledger-verify", found, show=lambda: say(show))
