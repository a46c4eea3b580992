"""``confide export``: a certificate in the forms that registries, checkers and journals ask for."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Labels, Output, Quiet, write
from confide.service.reading.export import Form
from confide.service.reading.export import export as exported


def export(
    certificate: Annotated[Path, typer.Argument(help="A certificate.json, or its folder.")],
    *,
    form: Annotated[Form, typer.Option("--as", help="Which form.")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write.")] = None,
    noisy: Annotated[
        Path | None, typer.Option(help="noisy.json, where a house rule withholds it.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="For the steward: dataset.yaml, to ask its ledger.")
    ] = None,
    labels: Labels = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a registry record, a checker's results, methods, a model card, or tables for a journal.

    Only what verifies is exported. `noisy` hands an authority the raw noisy numbers that a house
    rule keeps out of the folder.
    """
    made = exported(certificate, form=form, out=out, noisy=noisy, dataset=ledger, labels=labels)

    def show() -> None:
        write(f"Written to {out}.\n" if made.content is None else made.content.rstrip("\n") + "\n")

    Output(json=as_json, quiet=quiet).result("export", made, show=show)
