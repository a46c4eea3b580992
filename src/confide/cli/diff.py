"""``confide diff``: two certificates side by side; it never ranks what cannot be ranked."""

from pathlib import Path
from typing import Annotated, Any

import typer

from confide.cli.output import Json, Output, Quiet, say, table


def diff(
    first: Annotated[Path, typer.Argument(help="A certificate.json, or its folder.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare two releases: promise, bounds, scales, charges, versions. Verifies neither."""
    from confide.cli.verify import certificate_path
    from confide.release.compare import Order, compare
    from confide.release.verify import read_certificate

    paths = [certificate_path(each) for each in (first, second)]
    one, other = (read_certificate(path) for path in paths)
    found = compare(one, other)
    body: dict[str, Any] = {
        "first": str(one.get("id")),
        "second": str(other.get("id")),
        "ranked": found.order is not Order.NONE,
        "order": found.order.value,
        "because": list(found.because),
        "versions": found.versions,
        "lines": [
            {"line": each.line, "first": each.one, "second": each.other} for each in found.lines
        ],
    }
    Output(json=as_json, quiet=quiet).result("diff", body, show=lambda: _show(body))


def _show(body: dict[str, Any]) -> None:
    say(f"{body['first']} and {body['second']}: {body['order']}.", style="bold")
    for reason in body["because"]:
        say(f"  {reason}")
    if body["versions"]:
        say(f"{body['versions'][:1].upper()}{body['versions'][1:]}.")
    if body["lines"]:
        rows = [(each["line"], each["first"], each["second"]) for each in body["lines"]]
        table(("line", body["first"], body["second"]), rows, title="What differs")
    else:
        say("No line differs.")
