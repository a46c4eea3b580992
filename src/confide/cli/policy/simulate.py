"""``confide policy simulate``: play the planned releases against the caps, in order of time."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet
from confide.cli.policy.said import HERE, File, Spent, show


def simulate(
    path: File = HERE,
    *,
    years: Annotated[int, typer.Option(help="How often the plan is repeated.")] = 1,
    visits: Annotated[
        Path | None,
        typer.Option(
            help="Public visit frequencies, a CSV of appearances,share: previews the bias of drop."
        ),
    ] = None,
    spent: Spent = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Play the planned releases against the caps: what is granted, what refused, what is left."""
    from confide.service.policy.simulate import simulate_policy

    played = simulate_policy(path, years=years, visits=visits, spent=spent or ())
    output = Output(json=as_json, quiet=quiet)
    output.result("policy-simulate", played, show=lambda: show(played.title, played.parts))
