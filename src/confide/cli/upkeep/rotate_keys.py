"""``confide ledger rotate-keys``: a new signing key, named by the old one on the chain."""

import enum
from pathlib import Path
from typing import Annotated, assert_never

import typer

from confide.cli.officers import Officer, officers_of
from confide.cli.output import Json, Output, Quiet, say

HERE = Path("dataset.yaml")


class Which(enum.Enum):
    """Keys of a site."""

    SIGNING = "signing"
    ORDER = "order"


def rotate_keys(
    dataset: Annotated[Path, typer.Argument(help="A dataset.yaml.")] = HERE,
    *,
    reason: Annotated[str, typer.Option(help="Why; it is recorded for good.")],
    which: Annotated[Which, typer.Option("--key", help="Which key.")] = Which.SIGNING,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a new signing key; the chain records it, signed by the old one."""
    from confide.files.private_places import WORKSPACE
    from confide.release.rotation import refuse_order_key, rotate_signing_key
    from confide.workspace import open_ledger

    match which:
        case Which.ORDER:
            raise refuse_order_key()
        case Which.SIGNING:
            by = officers_of(officer)
            with open_ledger(dataset) as (held, declared):
                old = f"ed25519:{held.signer.public_key.hex()}"
                inside = declared.base / WORKSPACE
                new = rotate_signing_key(inside, held, reason=reason, officers=by)
        case _:
            assert_never(which)
    body = {"old": old, "new": new.name}
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-rotate-keys", body, show=lambda: say(f"The key is now {new.name}."))
    output.note("Hand the new signing.pub to your readers, and back up signing.key offline.")
    output.note("Hosts that share this ledger need signing.key and signing.pub copied to them.")
