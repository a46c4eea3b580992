"""``confide audit``: try to break the guarantee of this installation, on generated data."""

from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet


def audit(
    *,
    quick: Annotated[bool, typer.Option("--quick", help="The part that takes seconds.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to break this installation's guarantee, on data it generates itself."""
    del quick, as_json, quiet
    Output()
    raise NotImplementedError
