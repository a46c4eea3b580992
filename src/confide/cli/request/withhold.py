"""``confide request withhold``: an answer that is not to be delivered."""

from typing import Annotated

import typer

from confide.cli.output import Json, Output, Quiet, say
from confide.cli.request.options import HERE, Dataset, Key, Why


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
    from confide.release.keys import read_person_key
    from confide.workspace import open_ledger

    signer = read_person_key(key)
    with open_ledger(dataset) as (held, _):
        held.desk.withhold(entry, signer=signer, reason=reason)
    text = f"The answer of entry {entry} is withheld. Its charge stays."
    body = {"entry": entry, "withheld": True}
    Output(json=as_json, quiet=quiet).result("request-withhold", body, show=lambda: say(text))
