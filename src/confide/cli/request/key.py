"""``confide request key``: a key of one's own, which signs requests and decisions."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say


def key(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write it; mode 600.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a person's signing key; its public half goes into the policy."""
    from confide.service.requests.key import make_key

    made = make_key(out)

    def show() -> None:
        say(f"Key     {out}  (keep it to yourself; nobody can sign in your place without it)")
        say(f"Public  {made.public}")
        say(
            "For workflow → people in policy.yaml: "
            "{name: ..., roles: [...], key: " + made.public + "}"
        )

    Output(json=as_json, quiet=quiet).result("request-key", made, show=show)
