"""``confide request withhold``: an answer that is not to be delivered."""

from typing import Annotated

import typer

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say
from confide.cli.request.options import Key, Why


def withhold(
    entry: Annotated[int, typer.Argument(help="Number of the entry, as in confide ledger show.")],
    dataset: Dataset = HERE,
    *,
    key: Key,
    reason: Why,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Decide that an answer is not delivered again; it stays in the ledger, and charged."""
    from confide.service.requests.withhold import withhold as withheld

    done = withheld(entry, dataset=dataset, key=key, reason=reason)
    text = f"The answer of entry {entry} is withheld. Its charge stays."
    Output(json=as_json, quiet=quiet).result("request-withhold", done, show=lambda: say(text))
