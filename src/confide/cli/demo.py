"""``confide demo``."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Quiet


def demo(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the reports.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Release two studies of public data, from CSV and from an OMOP database."""
    del out, as_json, quiet
