"""``confide request submit``: ask for approval of a study, a synthesis, or its check."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say
from confide.cli.request.options import Key


def submit(  # noqa: PLR0913 - one for each option
    study: Annotated[Path, typer.Argument(help="A study.yaml or a synth.yaml.")],
    *,
    key: Key,
    note: Annotated[str, typer.Option(help="For those who decide.")] = "",
    revises: Annotated[int, typer.Option(help="Request that this one takes the place of.")] = 0,
    period: Period = None,
    federation: Annotated[
        Path | None, typer.Option(help="federation.yaml: this site's part of a study over sites.")
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Of a synth.yaml that was run: the check of its criteria."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask those whom the file's tier names to approve it; shows what they will see."""
    from confide.cli.request.words import show_asked
    from confide.service.requests.submit import AskedFile, OfSynthesis
    from confide.service.requests.submit import submit as submitted

    part = OfSynthesis.CHECK if check else OfSynthesis.TABLE
    wanted = AskedFile(file=study, period=period, federation=federation, part=part)
    asked = submitted(wanted, key=key, note=note, revises=revises)

    def show() -> None:
        show_asked(asked.preview)
        say(f"Request {asked.request.number} is submitted.", style="bold")
        if asked.request.missing:
            say(f"Waiting for approval by {asked.request.waits_for}.")

    Output(json=as_json, quiet=quiet).result("request", asked, show=show)
