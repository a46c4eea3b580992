"""``confide init``: dataset.yaml and study.yaml to fill in, and the keys.

*Privacy:* the source is never opened; columns are those that the caller names.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say

if TYPE_CHECKING:
    from confide.service.preparing.start import Started


def init(
    directory: Annotated[Path, typer.Argument(help="Folder to make or to complete.")],
    *,
    source: Annotated[
        Path | None, typer.Option(help="The data: CSV, Parquet or DuckDB. It is not opened.")
    ] = None,
    person: Annotated[str, typer.Option("--id", help="Column that names the patient.")] = "",
    columns: Annotated[str, typer.Option(help="Names to declare: age,sex,diabetes.")] = "",
    table: Annotated[str, typer.Option(help="What to call the table.")] = "patients",
    organisation: Annotated[str, typer.Option(help="Who issues certificates.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make dataset.yaml, study.yaml and the keys; never opens the data."""
    from confide.service.preparing.start import start

    made = start(
        directory,
        source=source,
        person=person or "person_id",
        columns=columns,
        table=table,
        organisation=organisation,
    )
    output = Output(json=as_json, quiet=quiet)
    output.result("init", made, show=lambda: _show(made))
    output.note(f"Keep {made.keys} secret and backed up; hand signing.pub to your readers.")


def _show(made: "Started") -> None:
    for name in made.made:
        say(f"made {made.folder / name}")
    for name in made.kept:
        say(f"kept {made.folder / name}")
    say(f"Next: fill in {made.folder / 'dataset.yaml'}, then run")
    say(f"  confide plan {made.folder / 'study.yaml'}")
