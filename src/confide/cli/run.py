"""``confide run``: the one command that spends."""

from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Period, Quiet, say
from confide.errors import ContractError


def run(
    study: Annotated[Path, typer.Argument(help="A study.yaml.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the release.")],
    request: Annotated[
        str | None,
        typer.Option(help="Key of this request: the same key again costs nothing."),
    ] = None,
    reuse: Annotated[
        bool,
        typer.Option("--reuse", help="Answer from published releases: reads and charges nothing."),
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Publish anew what was published, or grows: another charge."),
    ] = False,
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Charge, read, add noise, certify, and leave a report.

    Running the same study again delivers the same numbers at no charge to the same login; for fresh
    noise, and a fresh charge, give another --request. With --reuse, published releases answer it,
    or it is refused. What another login has published, or this one under a --request, a period that
    this study has published under any plan, as from an earlier snapshot, and running counts that
    `confide advance` publishes, are charged a second time only with --again.
    """
    from confide.cli.deliver import deliver
    from confide.cli.reuse import deliver_reused, show_reused

    output = Output(json=as_json, quiet=quiet)
    if reuse:
        if request is not None or again:
            raise ContractError(
                "--reuse asks for nothing new, so it has no --request and no --again.",
                hint="Leave one out.",
            )
        body = deliver_reused(study, out=out, period=period, output=output)
        output.result("run", body, show=lambda: show_reused(body))
        return
    delivered = deliver(study, out=out, request=request, period=period, again=again, output=output)
    output.result("run", delivered.body, show=lambda: show_run(delivered.body))


def show_run(body: dict[str, Any]) -> None:
    """Print where a release is, what it cost and that it verifies."""
    from confide.cli.plan_body import show_growth

    say(f"Report       {body['report']}", style="bold")
    say(f"Certificate  {body['certificate']}  (verifies; release {body['id']})")
    again = (
        f"Delivered again from snapshot {body['snapshot']!r}, nothing charged or read; it had cost"
    )
    spent = "Spent" if body["charged"] else again
    say(f"{spent} {body['loss']['text']}.")
    for sentence in body["loss"]["odds"]:
        say(f"  {sentence}")
    show_growth(body["grows"])
