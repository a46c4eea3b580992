"""``confide request submit``: ask for approval of a study."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say
from confide.cli.request.options import Key


def submit(
    study: Annotated[Path, typer.Argument(help="A study.yaml.")],
    *,
    key: Key,
    note: Annotated[str, typer.Option(help="For those who decide.")] = "",
    revises: Annotated[int, typer.Option(help="Request that this one takes the place of.")] = 0,
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask those whom the study's tier names to approve it; shows what they will see."""
    from confide.cli.planning.plan import show_plan
    from confide.service.requests.submit import submit as submitted

    asked = submitted(study, key=key, note=note, revises=revises, period=period)

    def show() -> None:
        show_plan(asked.preview)
        say(f"Request {asked.request.number} is submitted.", style="bold")
        if asked.request.missing:
            say(f"Waiting for approval by {asked.request.waits_for}.")

    Output(json=as_json, quiet=quiet).result("request", asked, show=show)
