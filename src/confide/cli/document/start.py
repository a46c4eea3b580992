"""``confide document start``: a legal.yaml in which every answer is still empty."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say


def start(
    out: Annotated[Path, typer.Option("--out", help="The file to write.")] = Path("legal.yaml"),
    *,
    private: Annotated[
        bool, typer.Option("--private", help="For a private site, with its balancing test.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a legal.yaml with every answer empty; an existing one is never written over."""
    from confide.service.documents.start import start_legal

    made = start_legal(out, private=private)
    Output(json=as_json, quiet=quiet).result("document-start", made, show=lambda: say(str(out)))
