"""``confide request``: ask for approval of a study, decide, and withhold; all on the ledger."""

import typer

from confide.cli.request.decide import approve, ask_changes, reject
from confide.cli.request.endorse import endorse
from confide.cli.request.key import key
from confide.cli.request.listing import list_requests
from confide.cli.request.show import show
from confide.cli.request.submit import submit
from confide.cli.request.withhold import withhold

request = typer.Typer(
    help="Requests and decisions where a policy asks for approval. Reads no data, spends nothing.",
    no_args_is_help=True,
)
for name, command in (
    ("key", key),
    ("submit", submit),
    ("list", list_requests),
    ("show", show),
    ("ask-changes", ask_changes),
    ("approve", approve),
    ("reject", reject),
    ("withhold", withhold),
    ("endorse", endorse),
):
    request.command(name)(command)
