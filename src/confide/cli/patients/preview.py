"""``confide patients preview``: noise and bias of leaving patients out, from a public table.

*Privacy:* reads the table that is named and nothing else; never the data.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.patients.preview import LeavingOut


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
    from confide.service.patients.preview import preview_leaving_out

    found = preview_leaving_out(visits, releases=releases, epsilon=epsilon, rho=rho, figure=figure)
    output = Output(json=as_json, quiet=quiet)
    output.result("patients-preview", found, show=lambda: _show(found))


def _show(found: "LeavingOut") -> None:
    rows = [
        (str(each.releases), f"{each.noise:,.1f}", f"{each.missing:,.1f}", f"{each.rmse:,.1f}")
        for each in found.left_out_after
    ]
    head = ("in at most", "noise", "missing on average", "RMSE")
    table(head, rows, title=f"Counts near {found.count:,.0f}", right=(0, 1, 2, 3))
    say(f"Charging everybody for every release: RMSE {found.everybody_charged:,.1f}.")
    if found.gain > 1:
        say(
            f"Least error: each patient in at most {found.best} of them, "
            f"{found.gain:.2g} times better."
        )
    else:
        say("Leaving patients out gains nothing here: keep enforce: plan.")
