"""``confide advance``: the next periods of a growing release, at no new charge."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.cli.releasing.stages import STAGES

if TYPE_CHECKING:
    from confide.service.releasing.deliver import Delivered


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
    from confide.service.releasing.deliver import advance_study

    output = Output(json=as_json, quiet=quiet)
    with output.stages(STAGES) as progress:
        made = advance_study(study, out=out, progress=progress)
    output.result("advance", made, show=lambda: _show(made))


def _show(made: "Delivered") -> None:
    from confide.cli.planning.growth import show_growth

    say(f"Report       {made.report}", style="bold")
    say(f"Certificate  {made.certificate}  (verifies; release {made.id})")
    say(f"Nothing charged now; the whole horizon had cost {made.loss.text}.")
    show_growth(made.grows)
