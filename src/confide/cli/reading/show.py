"""``confide show``: the tables of a release, in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.reading.show import ShownTable

NOISE, SAMPLING = "noise", "sampling and noise"


def show(
    directory: Annotated[Path, typer.Argument(help="Folder that `confide run` left.")],
    *,
    statistic: Annotated[str, typer.Option("--only", help="Show this statistic only.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the tables of a release, with whether it verifies."""
    from confide.service.reading.show import show as shown

    found = shown(directory, only=statistic)
    output = Output(json=as_json, quiet=quiet)
    output.result("show", found, show=lambda: _show(found.tables))
    output.note(f"Verifies. Signed by {found.signer}, which you have not pinned.")


def _show(tables: "Sequence[ShownTable]") -> None:
    for each in tables:
        columns = each.columns
        groups = columns[1 : columns.index("value")]
        at = {name: place for place, name in enumerate(columns)}
        numbers: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}
        for row in each.rows:
            covers = row[at["covers"]]
            numbers.setdefault(tuple(row[: 1 + len(groups)]), {})[covers] = row
        both = any(len(found) > 1 for found in numbers.values())
        head = (*columns[:1], *groups, "value", "interval", "covers")
        shown = []
        for key, found in numbers.items():
            outer = found.get(SAMPLING) or next(iter(found.values()))
            inner = found.get(NOISE) if both else None
            shown.append(
                (
                    *key,
                    _short(outer[at["value"]]),
                    _interval(outer, at),
                    outer[at["covers"]],
                    *([_interval(inner, at) if inner else ""] if both else []),
                    outer[at["unit"]],
                    outer[at["flags"]],
                )
            )
        if not shown:
            say(each.title, style="bold")
            say("  nothing was published")
            continue
        ends = (*head, *(["noise alone"] if both else []), "unit", "flags")
        table(ends, shown, title=each.title, right=(len(groups) + 1,))
        for note in each.notes:
            say(f"  {note}")


def _short(number: str) -> str:
    return f"{float(number):,.4g}" if number and abs(float(number)) < 1000 else _large(number)


def _large(number: str) -> str:
    return f"{float(number):,.0f}" if number else "–"


def _interval(row: tuple[str, ...], at: dict[str, int]) -> str:
    lower, upper = row[at["lower"]], row[at["upper"]]
    if not lower:
        return "–"
    ends = f"{_short(lower)} to {_short(upper)}" if upper else f"from {_short(lower)}"
    return f"{ends} ({100 * float(row[at['level']]):g} %)"
