"""``confide synth start``: a synth.yaml from a few words; never opens the data."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say


def start_synth(  # noqa: PLR0913 - one for each option
    dataset: Dataset = HERE,
    *,
    columns: Annotated[str, typer.Option(help="Columns of the table: age,sex,stage.")],
    rows: Annotated[int, typer.Option(help="Public planning number of rows.")],
    epsilon: Annotated[str, typer.Option(help="What it costs.")] = "1",
    about: Annotated[
        str, typer.Option("--table", help="Whose rows, where there are several tables.")
    ] = "",
    target: Annotated[str, typer.Option(help="Column that is to be predicted.")] = "",
    out: Annotated[Path, typer.Option("--out", "-o", help="The new file.")] = Path("synth.yaml"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a synth.yaml to read over and complete; never opens the data."""
    from confide.service.synthesis.start import start_synthesis

    made = start_synthesis(
        dataset,
        columns=columns,
        table=about,
        target=target,
        rows=rows,
        epsilon=epsilon,
        out=out,
    )
    output = Output(json=as_json, quiet=quiet)
    output.result("synth-start", made, show=lambda: say(f"made {made.file}"))
    output.note(f"Read it over, then: confide synth plan {made.file}")
