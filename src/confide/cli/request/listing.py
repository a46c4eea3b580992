"""``confide request list``: every request and where it stands."""

from typing import TYPE_CHECKING

from confide.cli.options import HERE, Dataset
from confide.cli.output import Json, Output, Quiet, say, table

if TYPE_CHECKING:
    from confide.service.requests.listing import Requests


def list_requests(dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """List every request, where it stands, whose approval is missing, and what is withheld."""
    from confide.service.requests.listing import list_requests as listed

    found = listed(dataset)
    Output(json=as_json, quiet=quiet).result("requests", found, show=lambda: _show(found))


def _show(found: "Requests") -> None:
    from confide.cli.request.words import withheld_text

    table(
        ("request", "when (UTC)", "who", "tier", "state", "waiting for", "entry"),
        [
            (
                str(each.number),
                each.at[:16].replace("T", " "),
                each.requester,
                each.tier,
                each.state,
                each.waits_for,
                str(each.entry or ""),
            )
            for each in found.requests
        ],
        title="Requests",
    )
    for withheld in found.withheld:
        say(withheld_text(withheld.entry, withheld.by))
