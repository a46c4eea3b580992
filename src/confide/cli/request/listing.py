"""``confide request list``: every request and where it stands."""

from confide.cli.output import Json, Output, Quiet, say, table
from confide.cli.request.options import HERE, Dataset


def list_requests(dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """List every request, where it stands, whose approval is missing, and what is withheld."""
    from confide.cli.request.words import (
        request_body,
        waiting_text,
        withheld_body,
        withheld_text,
    )
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, declared):
        lineage = declared.dataset.lineage
        bodies = [request_body(each, ledger=held) for each in held.desk.submissions(lineage)]
        withheld = [
            {"entry": each.number, **(withheld_body(each.number, ledger=held) or {})}
            for each in held.entries(lineage)
            if each.withheld
        ]

    def show() -> None:
        table(
            ("request", "when (UTC)", "who", "tier", "state", "waiting for", "entry"),
            [
                (
                    str(body["number"]),
                    body["at"][:16].replace("T", " "),
                    body["requester"],
                    body["tier"],
                    body["state"],
                    waiting_text(body),
                    str(body["entry"] or ""),
                )
                for body in bodies
            ],
            title="Requests",
        )
        for each in withheld:
            say(withheld_text(each["entry"], each))

    body = {"requests": bodies, "withheld": withheld}
    Output(json=as_json, quiet=quiet).result("requests", body, show=show)
