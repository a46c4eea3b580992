"""``confide request submit``: ask for approval of a study."""

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.output import Json, Output, Period, Quiet, say
from confide.cli.request.options import Key


def submit(
    study: Annotated[Path, typer.Argument(help="A study.yaml.")],
    *,
    key: Key,
    note: Annotated[str, typer.Option(help="For those who decide.")] = "",
    revises: Annotated[int, typer.Option(help="Request that this one takes the place of.")] = 0,
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Ask those whom the study's tier names to approve it; shows what they will see."""
    from confide.cli.left_out import told_refusal
    from confide.cli.plan import preview_plan, show_plan
    from confide.cli.request.words import charged_to, request_body, waiting_text
    from confide.errors import BudgetExhaustedError
    from confide.release.asking import asked_for
    from confide.release.keys import read_person_key
    from confide.release.refusal import told_in_epsilon
    from confide.workspace import open_study

    output, signer = Output(json=as_json, quiet=quiet), read_person_key(key)
    workspace, declared = open_study(study, period=period)
    with workspace:
        plan = declared.plan()
        told_refusal(plan, ledger=workspace.ledger)  # one that can never run asks nobody
        asked = asked_for(plan, note=note, revises=revises)
        try:
            submission = workspace.ledger.desk.submit(asked, signer=signer)
        except BudgetExhaustedError as refusal:
            raise told_in_epsilon(refusal, plan=plan) from None
        who = charged_to(submission, desk=workspace.ledger.desk)
        preview = preview_plan(plan, workspace=workspace, analyst=who)
        body = {**request_body(submission, ledger=workspace.ledger), "preview": preview}

    def show() -> None:
        show_plan(preview)
        say(f"Request {submission.number} is submitted.", style="bold")
        if body["missing"]:
            say(f"Waiting for approval by {waiting_text(body)}.")

    output.result("request", body, show=show)
