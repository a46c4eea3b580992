"""Arguments and options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

HERE = Path("dataset.yaml")
Dataset = Annotated[Path, typer.Argument(help="A dataset.yaml.")]
Officer = Annotated[
    list[Path] | None,
    typer.Option(
        "--officer",
        metavar="KEY",
        help="Key of an officer who does this, of confide request key; needed once the policy "
        "names people; repeatable.",
    ),
]
Reason = Annotated[str, typer.Option(help="Why; it is recorded for good.")]
