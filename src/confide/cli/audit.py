"""``confide audit``: try to break this installation's guarantee, on data it generates itself."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table
from confide.errors import ContractError, MissingExtraError, UnsupportedError
from confide.regular_file import write_bytes, write_text

FAILED = 6
_RUN = "confide.attacks.audit.run"


def audit(
    part: Annotated[
        str, typer.Argument(help='Only parts with this word in their name, as "model".')
    ] = "",
    *,
    quick: Annotated[bool, typer.Option("--quick", help="The part that takes seconds.")] = False,
    only: Annotated[
        str, typer.Option("--only", help="The same; of both words, parts need both.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the results and figures.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to break this installation's guarantee, on data it generates itself.

    Reads no data of yours and charges nothing.  If a check fails, release nothing.
    """
    from confide.files.audit_results import audit_body

    run_audit = _harness()
    output = Output(json=as_json, quiet=quiet)
    if out is not None and out.exists() and not out.is_dir():
        raise ContractError(f"{out.name} is not a folder.", hint="Name a new folder.")
    trainings = _trainings(output)
    with output.stages({}) as progress:
        found = run_audit(quick=quick, progress=progress, only=(part, only), trainings=trainings)
    body = audit_body(found, quick=quick)
    if out is not None:
        _write(body, [check.curve for check in found.checks if check.curve is not None], out=out)
    output.result("audit", body, show=lambda: _show(body))
    if not body["holds"]:
        raise typer.Exit(FAILED)


def _harness() -> Any:
    try:
        return import_module(_RUN).run_audit
    except ModuleNotFoundError as missing:
        if missing.name and not missing.name.startswith("confide"):
            raise MissingExtraError(missing.name, extra="accounting") from None
        raise UnsupportedError(
            "This build has no audit.", hint="Install a release of confide that has it."
        ) from None


def _trainings(output: Output) -> tuple[Any, ...]:
    """Return trainings in steps; their claim takes an accountant of its own."""
    if find_spec("dp_accounting") is None:
        output.note("Not run: DP-SGD, whose claim needs `pip install '.[accounting]'`.")
        return ()
    from confide.learning.audited_steps import dp_sgd_steps

    return (dp_sgd_steps(),)


def _write(body: dict[str, Any], curves: Sequence[Any], *, out: Path) -> None:
    """Write the results, and a figure where there are curves."""
    from confide.files.audit_results import write_audit

    out.mkdir(parents=True, exist_ok=True)
    write_audit(body, out / "audit.json")
    if not curves:
        return
    from confide.drawing.charts.render import draw
    from confide.drawing.words import load_words
    from confide.report.membership_chart import Attacked, membership_chart

    drawn = draw(
        membership_chart(
            [Attacked(model=curve.name, points=curve.points) for curve in curves],
            epsilon=curves[0].epsilon,
            delta=curves[0].delta,
            words=load_words("en"),
        )
    )
    write_text(out / "membership.svg", drawn.svg)
    write_bytes(out / "membership.png", drawn.png)


def _show(body: dict[str, Any]) -> None:
    rows = [
        (
            "✓" if check["holds"] else "✗",
            check["layer"],
            check["name"],
            check["measured"],
            check["claimed"],
        )
        for check in body["checks"]
    ]
    table(("", "layer", "what", "measured", "claimed"), rows)
    say(
        f"{len(rows)} checks in {body['seconds']} s: "
        + (
            "nothing was broken." if body["holds"] else "the guarantee was broken; release nothing."
        ),
        style="bold",
    )
