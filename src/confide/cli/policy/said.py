"""What the commands of ``confide policy`` share: their options, and how parts are printed."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import say, table
from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.report.policy_words import Part

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


def spent_from(given: list[str] | None) -> dict[str, int]:
    """Return what was spent before, in 1e-9, by cap or cap and window; rounded up.

    Raises:
        ContractError: If a text is not ID=AMOUNT.

    Example:
        >>> spent_from(["annual@2027=0.12"])
        {'annual@2027': 120000000}
    """
    from confide.privacy.amount import NANO
    from confide.statistics.section import exact

    found: dict[str, int] = {}
    for text in given or []:
        key, _, number = text.rpartition("=")
        try:
            amount = exact(number)
        except ValueError:
            key = ""
        if not key or amount < 0 or key in found:
            raise ContractError(
                f"Expected what was spent once for each cap, got {text[:60]!r}.",
                hint="Write --spent ethics-annual=0.12, or --spent ethics-annual@2027=0.12.",
            )
        found[key] = math.ceil(amount * NANO)
    return found


def show(title: str, parts: "Iterable[Part]") -> None:
    """Print a title, and each part with its sentences and table."""
    say(title, style="bold")
    for part in parts:
        if part.title:
            say("")
            say(part.title, style="bold")
        for sentence in part.sentences:
            say(f"  {sentence}" if part.title else sentence)
        if part.grid is not None:
            table(part.grid.head, part.grid.rows, title=part.grid.title)


def as_body(title: str, parts: "Iterable[Part]") -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "title": title,
        "parts": [
            {
                "title": part.title,
                "sentences": list(part.sentences),
                "table": None
                if part.grid is None
                else {
                    "title": part.grid.title,
                    "columns": list(part.grid.head),
                    "rows": [list(row) for row in part.grid.rows],
                },
            }
            for part in parts
        ],
    }
