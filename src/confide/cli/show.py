"""``confide show``: the tables of a release, in the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table

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
    from confide.errors import UnknownNameError, VerificationError
    from confide.release.noisy import read_payload
    from confide.release.verify import read_certificate, verify

    certificate = read_certificate(directory / "certificate.json")
    checked = verify(certificate, folder=directory)
    if not checked.holds:
        failed = ", ".join(check.name for check in checked.checks if not check.holds)
        raise VerificationError(
            f"{directory.name} does not verify ({failed}); its numbers are not shown.",
            hint=f"Run: confide verify {directory}",
        )
    noisy = read_payload((directory / "noisy.json").read_bytes())
    known = [each.id for each in noisy.plan.statistics]
    if statistic and statistic not in known:
        raise UnknownNameError("statistic", statistic, known=known)
    estimates = noisy.estimates()
    tables = [
        _table(each, [e for e in estimates if e.statistic == each.id])
        for each in noisy.plan.statistics
        if not statistic or each.id == statistic
    ]
    body = {"release": certificate["id"], "verifies": True, "tables": tables}
    output = Output(json=as_json, quiet=quiet)
    output.result("show", body, show=lambda: _show(tables))
    output.note(f"Verifies. Signed by {checked.signer}, which you have not pinned.")


def _table(statistic: "Statistic", estimates: "list[Estimate]") -> dict[str, Any]:
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
        columns, rows = each["columns"], each["rows"]
        groups = columns[1 : columns.index("value")]
        head = (*columns[:1], *groups, "value", "interval", "covers", "unit", "flags")
        at = {name: place for place, name in enumerate(columns)}
        shown = [
            (
                row[0],
                *row[1 : 1 + len(groups)],
                _short(row[at["value"]]),
                _interval(row[at["lower"]], row[at["upper"]], level=row[at["level"]]),
                row[at["covers"]],
                row[at["unit"]],
                row[at["flags"]],
            )
            for row in rows
        ]
        if not shown:
            say(each["title"], style="bold")
            say("  nothing was published")
            continue
        table(head, shown, title=each["title"], right=(len(groups) + 1,))


def _short(number: str) -> str:
    return f"{float(number):,.6g}" if number else "–"


def _interval(lower: str, upper: str, *, level: str) -> str:
    if not lower or not upper:
        return "–"
    return f"{_short(lower)} to {_short(upper)} ({100 * float(level):g} %)"
