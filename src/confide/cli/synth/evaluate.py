"""``confide synth evaluate``: whether a synthetic table is fit for what was agreed on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table
from confide.cli.releasing.stages import STAGES

if TYPE_CHECKING:
    from confide.service.synthesis.evaluate import EvaluatedSynthesis

COMPARING = {"compare": "Comparing the table with the data"}


def evaluate_synth(
    file: Annotated[Path, typer.Argument(help="The synth.yaml that was run.")] = Path("synth.yaml"),
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the verdict.")],
    request: Annotated[
        str | None, typer.Option(help="Key of the request under which the synthesis was run.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a synthetic table by the criteria that were agreed on; charges their share once."""
    from confide.service.synthesis.evaluate import evaluate_synthesis

    output = Output(json=as_json, quiet=quiet)
    with output.stages(STAGES | COMPARING) as progress:
        found = evaluate_synthesis(file, out=out, request=request, progress=progress)
    output.result("synth-evaluate", found, show=lambda: show_evaluation(found))


def show_evaluation(found: "EvaluatedSynthesis") -> None:
    """Print a verdict for people."""
    say(found.says, style="bold")
    rows = [
        (
            each.criterion,
            f"{each.value:.3f}",
            f"{each.lower:.3f} to {each.upper:.3f}",
            each.accepted,
            each.verdict,
        )
        for each in found.criteria
    ]
    head = ("criterion", "found", "95 % interval", "accepted", "verdict")
    table(head, rows, title="Criteria", right=(1,))
    say(f"Report       {found.report}", style="bold")
    if found.loss is None:
        say("Nothing was compared with the data, so it cost nothing.")
        return
    say(f"Certificate  {found.certificate}  (verifies)")
    spent = "Spent" if found.charged else "Delivered again, nothing charged or read; it had cost"
    say(f"{spent} {found.loss.text}.")
