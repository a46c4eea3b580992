"""``confide request list``: every request and where it stands."""

from confide.cli.output import Json, Output, Quiet, table
from confide.cli.request.options import HERE, Dataset


def list_requests(dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """List every request, where it stands, and whose approval is missing."""
    from confide.cli.request.words import request_body
    from confide.workspace import open_ledger

    with open_ledger(dataset) as (held, declared):
        desk = held.desk
        bodies = [
            request_body(each, standing=desk.stands(each.number))
            for each in desk.submissions(declared.dataset.lineage)
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
                    ", ".join(body["missing"]),
                    str(body["entry"] or ""),
                )
                for body in bodies
            ],
            title="Requests",
        )

    Output(json=as_json, quiet=quiet).result("requests", {"requests": bodies}, show=show)
