"""``confide ledger rotate-keys``: a new signing key, named by the old one on the chain."""

from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset, Officer, Reason
from confide.cli.output import Json, Output, Quiet, say
from confide.service.ledger.rotate_keys import Which
from confide.service.ledger.rotate_keys import rotate_keys as rotated


def rotate_keys(
    dataset: Dataset = HERE,
    *,
    reason: Reason,
    which: Annotated[Which, typer.Option("--key", help="Which key.")] = Which.SIGNING,
    officer: Officer = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a new signing key; the chain records it, signed by the old one."""
    made = rotated(dataset, which=which, reason=reason, officers=officer)
    output = Output(json=as_json, quiet=quiet)
    output.result("ledger-rotate-keys", made, show=lambda: say(f"The key is now {made.new}."))
    output.note("Hand the new signing.pub to your readers, and back up signing.key offline.")
    output.note("Hosts that share this ledger need signing.key and signing.pub copied to them.")
