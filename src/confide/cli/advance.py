"""``confide advance``: the next periods of a growing release, at no new charge."""

from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say


def advance(
    study: Annotated[Path, typer.Argument(help="A study.yaml with a later `through`.")],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the release.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Publish the next periods of running counts that `confide run` was charged for.

    Only `through` and the snapshot may differ from the study that was run. Each period is measured
    once; asking again delivers the same numbers.
    """
    from confide.cli.deliver import deliver

    output = Output(json=as_json, quiet=quiet)
    delivered = deliver(
        study, out=out, request=None, output=output, way=lambda workspace: workspace.advance
    )
    output.result("advance", delivered.body, show=lambda: _show(delivered.body))


def _show(body: dict[str, Any]) -> None:
    from confide.cli.plan_body import show_growth

    say(f"Report       {body['report']}", style="bold")
    say(f"Certificate  {body['certificate']}  (verifies; release {body['id']})")
    say(f"Nothing charged now; the whole horizon had cost {body['loss']['text']}.")
    show_growth(body["grows"])
