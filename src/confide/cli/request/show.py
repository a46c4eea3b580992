"""``confide request show``: what is asked, what it would cost, and what was decided."""

from confide.cli.output import Json, Output, Quiet
from confide.cli.request.options import HERE, Dataset, Number


def show(
    number: Number, dataset: Dataset = HERE, *, as_json: Json = False, quiet: Quiet = False
) -> None:
    """Show a request as those who decide see it: plan, errors, charges; reads no data."""
    from confide.budget.plan_text import plan_in
    from confide.cli.plan import preview_plan, show_plan
    from confide.cli.request.words import charged_to, request_body, show_decisions
    from confide.errors import UnknownNameError
    from confide.statistics import read_plan
    from confide.workspace import open_workspace

    with open_workspace(dataset) as workspace:
        desk = workspace.ledger.desk
        found = {s.number: s for s in desk.submissions(workspace.declared.dataset.lineage)}
        if number not in found:
            raise UnknownNameError("request", str(number), known=map(str, found))
        plan = read_plan(plan_in(found[number].asked.plan_json))
        who = charged_to(found[number], desk=desk)
        preview = preview_plan(plan, workspace=workspace, analyst=who)
        body = request_body(found[number], ledger=workspace.ledger)

    def print_all() -> None:
        show_plan(preview)
        show_decisions(body)

    Output(json=as_json, quiet=quiet).result(
        "request", {**body, "preview": preview}, show=print_all
    )
