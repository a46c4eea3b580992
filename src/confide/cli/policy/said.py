"""What the commands of ``confide policy`` share: their options, and how parts are printed."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import say, table

if TYPE_CHECKING:
    from confide.service.grids import TextPart

File = Annotated[Path, typer.Argument(help="A policy.yaml.")]
HERE = Path("policy.yaml")
Spent = Annotated[
    list[str] | None,
    typer.Option(
        "--spent",
        metavar="ID=AMOUNT",
        help="Spent before under a cap, or ID@WINDOW=AMOUNT in one of its windows; repeatable.",
    ),
]
REFUSED = 3


def show(title: str, parts: "Iterable[TextPart]") -> None:
    """Print a title, and each part with its sentences and table."""
    say(title, style="bold")
    for part in parts:
        if part.title:
            say("")
            say(part.title, style="bold")
        for sentence in part.sentences:
            say(f"  {sentence}" if part.title else sentence)
        if part.table is not None:
            table(part.table.columns, part.table.rows, title=part.table.title)
