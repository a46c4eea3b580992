"""``confide patients preview``: noise and bias of leaving patients out, from a public table.

*Privacy:* reads the table that is named and nothing else; never the data.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table
from confide.errors import ContractError
from confide.public_csv import csv_lines
from confide.regular_file import write_text

if TYPE_CHECKING:
    from confide.budget.per_patient.preview import Outcome, Year


def preview(
    visits: Annotated[
        Path, typer.Argument(help="CSV with columns releases,patients, from public sources.")
    ],
    *,
    releases: Annotated[int, typer.Option(min=1, max=400, help="Releases in the window.")] = 12,
    epsilon: Annotated[str, typer.Option(help="Cap of a patient in ε, with Laplace noise.")] = "",
    rho: Annotated[str, typer.Option(help="Cap of a patient in ρ, with Gaussian noise.")] = "",
    figure: Annotated[Path | None, typer.Option(help="Write an SVG here.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Preview what `enforce: drop` would do to counts; spends nothing and reads no data."""
    from confide.budget.per_patient.preview import Year, outcomes, worst_case
    from confide.privacy.amount import amount
    from confide.privacy.measure import Measure

    if bool(epsilon) == bool(rho):
        raise ContractError("Expected one cap.", hint='Write --epsilon "0.5", or --rho "0.01".')
    year = Year(
        visits=_read(visits),
        releases=releases,
        cap=float(amount(epsilon or rho)),
        measure=Measure.PURE if epsilon else Measure.ZCDP,
    )
    found, worst = outcomes(year), worst_case(year)
    if figure is not None:
        from confide.drawing.charts.render import draw
        from confide.drawing.words import load_words
        from confide.report.left_out_chart import left_out_chart

        chart = left_out_chart(year, found, worst=worst, words=load_words("en"))
        write_text(figure, draw(chart).svg)
    body = _body(year, found, worst=worst)
    output = Output(json=as_json, quiet=quiet)
    output.result("patients-preview", body, show=lambda: _show(body))


def _read(path: Path) -> dict[int, int]:
    """Return patients by number of releases.

    Raises:
        ContractError: If the table is not one.
    """
    head, *lines = csv_lines(path)
    try:
        releases, patients = head.index("releases"), head.index("patients")
        rows = [(int(line[releases]), int(line[patients])) for line in lines]
    except ValueError:
        raise ContractError(
            f"{path.name} cannot be read as a table of visits.",
            hint="Write a line releases,patients and then lines such as 12,300.",
        ) from None
    if len({releases for releases, _ in rows}) != len(rows):
        raise ContractError(f"{path.name} names a number of releases twice.")
    return dict(rows)


def _body(year: "Year", found: "tuple[Outcome, ...]", *, worst: "Outcome") -> dict[str, Any]:
    from confide.budget.per_patient.preview import best

    chosen = best(found)
    return {
        "count": round(year.count, 1),
        "everybody-charged": round(worst.rmse, 2),
        "left-out-after": [
            {
                "releases": each.shares,
                "noise": round(each.noise, 2),
                "missing": round(each.bias, 2),
                "rmse": round(each.rmse, 2),
            }
            for each in found
        ],
        "best": chosen.shares,
        "gain": round(worst.rmse / chosen.rmse, 2),
    }


def _show(body: dict[str, Any]) -> None:
    rows = [
        (str(each["releases"]), *(f"{each[name]:,.1f}" for name in ("noise", "missing", "rmse")))
        for each in body["left-out-after"]
    ]
    head = ("in at most", "noise", "missing on average", "RMSE")
    table(head, rows, title=f"Counts near {body['count']:,.0f}", right=(0, 1, 2, 3))
    say(f"Charging everybody for every release: RMSE {body['everybody-charged']:,.1f}.")
    if body["gain"] > 1:
        say(
            f"Least error: each patient in at most {body['best']} of them, "
            f"{body['gain']:.2g} times better."
        )
    else:
        say("Leaving patients out gains nothing here: keep enforce: plan.")
