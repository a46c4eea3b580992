"""``confide plan``: what a study would measure, how well, and what it would cost; all for free.

*Privacy:* made of public facts and the ledger; of the data, names and types are read, no rows.
"""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from confide.cli.output import Json, Output, Period, Quiet, say, table
from confide.errors import ContractError

if TYPE_CHECKING:
    from confide.budget.ledger import Entry, Spent
    from confide.errors import PolicyError
    from confide.plans.plan import Plan
    from confide.workspace import Workspace

OVER = 5
_BAR = 24


def plan(
    study: Annotated[Path, typer.Argument(help="A study.yaml.")],
    *,
    period: Period = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what a study would measure, how well, and what it would cost; reads no data."""
    from confide.cli.plan_alone import plan_alone, why_alone
    from confide.files.study import read_study
    from confide.workspace import open_study

    output = Output(json=as_json, quiet=quiet)
    read = read_study(study, period=period)
    why = why_alone(read.declared.base)
    if why:
        body = plan_alone(read, read.plan(), why=why)
    else:
        workspace, declared = open_study(study, period=period)
        with workspace:
            planned = declared.plan()
            body = describe_plan(planned, workspace=workspace)
    output.result("plan", body, show=lambda: show_plan(body))
    if why:
        output.note(body["unknown"])
    if body["grows-from"] is not None:
        output.note(
            f"The release of ledger entry {body['grows-from']} was charged for these periods: "
            "`confide advance` publishes them at no charge."
        )
    elif body["released-as"]:
        output.note("This study is released already: running it again costs nothing.")
    elif body["fits"] is False:
        output.note("It does not fit: a cap would be passed.")
        raise typer.Exit(OVER)


def describe_plan(planned: "Plan", *, workspace: "Workspace") -> dict[str, Any]:
    """Return everything that is known of a plan before it runs; opens the source for its names."""
    from confide.cli.reuse import offered

    return {
        **preview_plan(planned, workspace=workspace),
        "offers": offered(planned, workspace=workspace),
        "reading": _reading(planned, workspace=workspace),
    }


def preview_plan(
    planned: "Plan", *, workspace: "Workspace", analyst: str | None = None
) -> dict[str, Any]:
    """Return what follows from a plan and the ledger alone, without the source.

    Args:
        planned: What is asked.
        workspace: Whose ledger is looked at.
        analyst: Who is charged; who has approval, or the user's login, when None.
    """
    from confide.cli.caps import caps_body
    from confide.cli.deliver import loss_body, request_key
    from confide.cli.left_out import told_refusal
    from confide.cli.plan_body import growth_body, measurement_body, statistics_body
    from confide.drawing.words import load_words
    from confide.release.growing import growable
    from confide.report.guarantee import patient_promises

    dataset, project = planned.dataset, planned.study.project
    who = workspace.analyst(planned) if analyst is None else analyst
    spent = workspace.ledger.spent(dataset.lineage, project=project, analyst=who)
    asked = {"analyst": who, "request_key": request_key(planned, None)}
    known = workspace.ledger.known(planned.digest(), **asked)
    answered = known is not None and bool(known.payload_sha256)
    released = [known.number] if known is not None and answered and not known.withheld else []
    grows = growable(planned, ledger=workspace.ledger)
    caps = caps_body(spent, planned=planned, free=answered or grows is not None)
    refused = None if known is not None else told_refusal(planned, ledger=workspace.ledger)
    return {
        "study": planned.study.id,
        "title": planned.study.title,
        "period": planned.study.period,
        "dataset": dataset.id,
        "digest": planned.digest(),
        "loss": loss_body(planned),
        "measurements": [measurement_body(each, planned=planned) for each in planned.measurements],
        "statistics": statistics_body(workspace.forecast(planned)),
        "caps": caps,
        "patients": patient_promises(dataset, words=load_words("en")),
        "refusal": refused,
        "fits": refused is None and all(cap["fits"] for cap in caps),
        "released-as": released,
        "withheld-as": known.number if known is not None and known.withheld else None,
        "approval": approval(planned, workspace=workspace, spent=spent, analyst=who),
        "unlike-planned": _unlike(planned, workspace=workspace, known=known),
        "grows-from": grows,
        "grows": growth_body(planned),
        "published-before": _before(planned, workspace=workspace, asked=asked),
    }


def _unlike(planned: "Plan", *, workspace: "Workspace", known: "Entry | None") -> list[str]:
    """Say in what a study differs from the planned release of the policy that it names."""
    from confide.drawing.words import load_words
    from confide.report.policy_planned import unlike_planned

    adopted = workspace.ledger.desk.policy(planned.dataset.lineage)
    if adopted is None:
        return []
    day = None if known is None else known.at[:10]
    return unlike_planned(planned, policy=adopted.policy, day=day, words=load_words("en"))


def _before(planned: "Plan", *, workspace: "Workspace", asked: dict[str, str]) -> str:
    """Say what was published of what the plan asks, where it would be charged; "" for nothing."""
    from confide.release.growing import grown_before, told_grown
    from confide.release.published import published_before, told_before

    grown = grown_before(planned, ledger=workspace.ledger, **asked)
    if grown:
        return told_grown(grown, plan=planned)
    before = published_before(planned, ledger=workspace.ledger, **asked)
    return told_before(before, plan=planned) if before else ""


def _closed_year(spent: "Spent") -> "PolicyError | None":
    """Return why nothing is charged in a calendar year that has a cap and was not opened."""
    from confide.budget.ledger import Scope
    from confide.budget.ledger_time import SystemClock, charged_year
    from confide.errors import PolicyError

    for use in spent.scopes:
        if use.scope is Scope.CALENDAR_YEAR and use.cap is not None and use.period.isdigit():
            try:
                charged_year(SystemClock().now(), open_year=int(use.period), capped=True)
            except PolicyError as closed:
                return closed
    return None


def approval(
    planned: "Plan", *, workspace: "Workspace", spent: "Spent", analyst: str
) -> dict[str, Any]:
    """Return whether the policy admits the plan now, and if not why and what would help."""
    from confide.budget.workflow.rules import Refused
    from confide.release.approval import admission

    answer = admission(workspace.ledger, planned, analyst=analyst)
    closed = _closed_year(spent)
    if closed is not None:
        message = str(closed).removesuffix(closed.hint).strip()
        answer = Refused(message=message, hint=closed.hint)
    if isinstance(answer, Refused):
        return {
            "admitted": False,
            "request": None,
            "missing": list(answer.missing),
            "message": answer.message,
            "hint": answer.hint,
        }
    return {"admitted": True, "request": answer or None, "missing": [], "message": "", "hint": ""}


def _reading(planned: "Plan", *, workspace: "Workspace") -> list[str]:
    """Say how the source would be read; no part of the digest, as the integers are the same."""
    try:
        return list(workspace.explain(planned))
    except ContractError as missing:
        return [str(missing)]


def show_plan(body: dict[str, Any]) -> None:
    """Print a plan for people."""
    from confide.cli.caps import show_caps
    from confide.cli.reuse import show_offered

    run = f", {body['period']}" if body["period"] else ""
    say(f"{body['title'] or body['study']}{run}  ({body['dataset']})", style="bold")
    forecasts = {each["id"]: each for each in body["statistics"]}
    alike: dict[tuple[str, ...], list[float]] = {}
    for each in body["measurements"]:
        row = (
            f"{each['statistic']}: {each['measured']}",
            each["sensitivity"]["text"],
            each["noise"],
            _plus_minus(forecasts[each["statistic"]], measured=each["name"]),
        )
        alike.setdefault(row, []).append(float(each["cost-share"]))
    rows = [
        (_times(row[0], len(shares)), *row[1:], f"{100 * sum(shares):.1f} %")
        for row, shares in alike.items()
    ]
    head = (
        "measurement",
        f"one {body['loss']['unit']} moves it by",
        "noise",
        "result within",
        "cost",
    )
    table(head, rows, title="What is measured", right=(4,))
    reasons: dict[str, list[str]] = {}
    for each in body["measurements"]:
        name = f"{each['statistic']}/{each['name']}"
        reasons.setdefault(each["sensitivity"]["because"], []).append(name)
    for reason, names in reasons.items():
        rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
        say(f"  {', '.join(names[:3])}{rest}: because {reason}", style="dim")
    for each in body["statistics"]:
        for note in each.get("notes", [each["unknown"]] if "unknown" in each else []):
            say(f"  {each['id']}: {note}")
        if each.get("parts"):
            _show_parts(each)
    for line, count in Counter(body.get("reading", [])).items():
        say(f"  {_times(line, count)}", style="dim")
    if "offers" in body:
        show_offered(body["offers"], of=len(body["statistics"]))
    show_caps(body)
    _show_standing(body)
    say(f"All together: {body['loss']['text']}.", style="bold")
    for sentence in body["loss"]["odds"]:
        say(f"  {sentence}")


def _show_standing(body: dict[str, Any]) -> None:
    """Print whether the plan was published, is admitted, or repeats what was published."""
    from confide.cli.plan_body import show_growth

    show_growth(body["grows"])
    if body["released-as"]:
        entry = body["released-as"][0]
        say(f"Published already, as entry {entry}: it is delivered again as it is.", style="yellow")
    elif body["withheld-as"] is not None:
        say(f"Answered in entry {body['withheld-as']}, which is withheld.", style="yellow")
    elif body["approval"] is not None and not body["approval"]["admitted"]:
        say(f"Not yet: {body['approval']['message']} {body['approval']['hint']}", style="yellow")
    if body["unlike-planned"]:
        say(" ".join(body["unlike-planned"]), style="yellow")
    if body["published-before"]:
        say(f"{body['published-before']} To be charged anew: run it with --again.", style="yellow")


def _times(line: str, count: int) -> str:
    return line if count == 1 else f"{line} ({count} times)"


def _show_parts(statistic: dict[str, Any]) -> None:
    """Print the expected error of each part of the cells, with a bar of its length."""
    parts = statistic["parts"]
    largest = max(float(part["expected-error"]) for part in parts)
    uneven = any(float(part["loss-share"]) < 1 for part in parts)
    rows = []
    for part in parts:
        bar = "█" * max(1, round(_BAR * float(part["expected-error"]) / largest))
        row = (part["name"], part["cells"], part["expected-text"], part["text"], bar)
        rows.append((*row, f"{100 * float(part['loss-share']):.3g} %") if uneven else row)
    level = f"{100 * float(statistic['level']):g} % within"
    head = ("areas", "number", "expected error", level, "")
    title = f"{statistic['id']}: error by area, from public facts"
    table((*head, "loss of a patient") if uneven else head, rows, title=title, right=(1, 2, 3))


def _plus_minus(forecast: dict[str, Any], *, measured: str) -> str:
    """Return the error of a statistic; that of its part where a measurement names one."""
    if "unknown" in forecast:
        return "not known before"
    share = f"{100 * float(forecast['level']):g} %"
    _, _, level = measured.partition("/")
    parts = {part["name"]: part for part in forecast.get("parts", ())}
    return f"±{parts.get(level, forecast)['text']} ({share})"
