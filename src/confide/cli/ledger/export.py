"""``confide ledger export``: the chain, so that others can check it."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say, write


def export(
    dataset: Dataset = HERE,
    *,
    out: Annotated[Path | None, typer.Option(help="File to make; stdout when left out.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the chain as JSON lines, without answers, for anybody to verify."""
    from confide.service.ledger.export import export_chain

    made = export_chain(dataset, out=out)
    if out is None:
        write(made.text)
        return
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-export", made, show=lambda: say(f"Wrote {made.rows} rows."))
    output.note(f"Anybody checks it with: confide ledger verify --export {out} --key signing.pub")
