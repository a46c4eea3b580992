"""``confide policy solve``: a division of the budget, or the contradiction and its repairs."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, REFUSED, File, Spent, show


def solve(
    path: File = HERE,
    *,
    figure: Annotated[
        Path | None, typer.Option(help="Draw it: a file that ends in .svg, .png or .html.")
    ] = None,
    spent: Spent = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Divide the budget over the releases, or show what contradicts and what would repair it."""
    from confide.service.policy.solve import solve_policy

    solved = solve_policy(path, spent=spent or (), figure=figure)
    output = Output(json=as_json, quiet=quiet)
    output.result("policy-solve", solved, show=lambda: show(solved.title, solved.parts))
    if figure is not None:
        output.note(f"Drawn to {figure}.")
    if not solved.can_be_met:
        raise typer.Exit(REFUSED)
