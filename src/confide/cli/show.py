"""``confide show``: the tables of a release, in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table
from confide.regular_file import reading_text

NOISE, SAMPLING = "noise", "sampling and noise"

if TYPE_CHECKING:
    from confide.plans.estimates import Estimate
    from confide.plans.plan import Statistic


def show(
    directory: Annotated[Path, typer.Argument(help="Folder that `confide run` left.")],
    *,
    statistic: Annotated[str, typer.Option("--only", help="Show this statistic only.")] = "",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the tables of a release, with whether it verifies."""
    from confide.errors import UnknownNameError
    from confide.release.cuts import cut_notes_of
    from confide.report.load import verified

    certificate, checked = verified(directory)
    tables = (
        _tables(certificate, directory) if checked.rebuilt else _printed(certificate, directory)
    )
    known = [each["id"] for each in tables]
    if statistic and statistic not in known:
        raise UnknownNameError("statistic", statistic, known=known)
    tables = [
        {**each, "notes": list(cut_notes_of(certificate, statistic=each["id"]))}
        for each in tables
        if not statistic or each["id"] == statistic
    ]
    body = {"release": certificate["id"], "verifies": True, "tables": tables}
    output = Output(json=as_json, quiet=quiet)
    output.result("show", body, show=lambda: _show(tables))
    output.note(f"Verifies. Signed by {checked.signer}, which you have not pinned.")


def _tables(certificate: Any, directory: Path) -> list[dict[str, Any]]:
    from confide.report.load import rebuilt

    release = rebuilt(certificate, folder=directory)
    return [_table(each, release.of(each)) for each in release.plan.statistics]


def _printed(certificate: Any, directory: Path) -> list[dict[str, Any]]:
    """Return the certified tables as they lie in the folder, where noisy.json is withheld."""
    from confide.release.export import lines_of

    found = []
    for output in certificate["outputs"]:
        if "columns" in output:
            with reading_text(directory / output["path"]) as file:
                head, *rows = lines_of(file.read())
            name = Path(output["path"]).stem
            found.append({"id": name, "title": name, "columns": head, "rows": rows})
    return found


def _table(statistic: "Statistic", estimates: "Sequence[Estimate]") -> dict[str, Any]:
    from confide.release.export import rows

    head, body = rows(statistic, estimates)
    return {
        "id": statistic.id,
        "title": str(getattr(statistic, "title", "")) or statistic.id,
        "columns": list(head),
        "rows": [list(row) for row in body],
    }


def _show(tables: list[dict[str, Any]]) -> None:
    for each in tables:
        columns = each["columns"]
        groups = columns[1 : columns.index("value")]
        at = {name: place for place, name in enumerate(columns)}
        numbers: dict[tuple[str, ...], dict[str, list[str]]] = {}
        for row in each["rows"]:
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
            say(each["title"], style="bold")
            say("  nothing was published")
            continue
        ends = (*head, *(["noise alone"] if both else []), "unit", "flags")
        table(ends, shown, title=each["title"], right=(len(groups) + 1,))
        for note in each["notes"]:
            say(f"  {note}")


def _short(number: str) -> str:
    return f"{float(number):,.4g}" if number and abs(float(number)) < 1000 else _large(number)


def _large(number: str) -> str:
    return f"{float(number):,.0f}" if number else "–"


def _interval(row: list[str], at: dict[str, int]) -> str:
    lower, upper = row[at["lower"]], row[at["upper"]]
    if not lower or not upper:
        return "–"
    return f"{_short(lower)} to {_short(upper)} ({100 * float(row[at['level']]):g} %)"
