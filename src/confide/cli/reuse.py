"""What earlier releases already answer: shown by ``confide plan``, delivered by ``run --reuse``.

*Privacy:* the ledger is read, the source is never opened, and nothing is charged or recorded.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from confide.cli.output import Output, say, table
from confide.errors import ContractError, VerificationError

if TYPE_CHECKING:
    from confide.plans.estimates import Forecast
    from confide.plans.plan import Plan
    from confide.plans.reuse import Answer, Same
    from confide.workspace import Workspace


def offered(planned: "Plan", *, workspace: "Workspace") -> list[dict[str, Any]]:
    """Return the statistics of a plan that published releases answer, each with its error."""
    from confide.drawing.numbers import significant
    from confide.drawing.words import load_words
    from confide.plans.reuse import Same, Summed

    words, wanted = load_words("en"), workspace.forecast(planned)
    found = []
    for name, answer in workspace.offers(planned).items():
        if isinstance(answer, ContractError):
            continue
        entries = sorted({earlier.entry for earlier in answer.sources})
        body: dict[str, Any] = {
            "id": name,
            "way": "summed" if isinstance(answer, Summed) else "same",
            "entries": entries,
            "released": [workspace.ledger.entry(number).at for number in entries],
            "unread": list(answer.unread) if isinstance(answer, Same) else [],
            "otherwise": list(answer.otherwise) if isinstance(answer, Same) else [],
        }
        error, planned_error = _forecast(answer, planned=planned), wanted[name]
        if error is not None:
            body |= {
                "plus-minus": f"{error.half_width:.6g}",
                "text": words.amount(significant(error.half_width), error.unit),
                "level": f"{error.level:g}",
            }
            if not isinstance(planned_error, str):
                body["as-precise"] = error.half_width <= planned_error.half_width
        found.append(body)
    return found


def _forecast(answer: "Answer", *, planned: "Plan") -> "Forecast | None":
    from confide.plans.calibrate_to_error import DEFAULT_LEVEL

    try:
        return answer.forecast(dataset=planned.dataset, level=DEFAULT_LEVEL)
    except ContractError:  # its error depends on what only the data tell
        return None


def show_offered(found: list[dict[str, Any]], *, of: int) -> None:
    """Print what is free, out of ``of`` statistics."""
    if not found:
        return
    rows = [
        (
            each["id"],
            ", ".join(
                f"entry {entry} ({released[:10]})"
                for entry, released in zip(each["entries"], each["released"], strict=True)
            ),
            f"±{each['text']} ({100 * float(each['level']):g} %)" if "text" in each else "",
            _met(each.get("as-precise")),
        )
        for each in found
    ]
    head = ("statistic", "from", "result within", "as precise as planned")
    table(head, rows, title="Published before: costs nothing")
    for each in found:
        _show_unread(each["id"], unread=each["unread"], otherwise=each["otherwise"])
    if len(found) == of:
        say("All of it is answered: confide run STUDY --out FOLDER --reuse spends nothing.")


def _met(as_precise: bool | None) -> str:
    return {True: "yes", False: "no", None: "not known before"}[as_precise]


def deliver_reused(
    study: Path, *, out: Path, output: Output, period: str | None = None
) -> dict[str, Any]:
    """Answer a study from published releases, save it to ``out`` and verify it there.

    Raises:
        ContractError: If they do not answer all of it, or ``out`` holds something else.
        VerificationError: If what was saved does not verify.
    """
    from confide.cli.deliver import STAGES
    from confide.release.verify import verify
    from confide.workspace import open_study

    with output.stages(STAGES) as progress:
        workspace, declared = open_study(study, period=period)
        with workspace:
            plan = declared.plan()
            release = workspace.reuse(plan)
            passed_over = _passed_over(plan, workspace=workspace)
            release.save(out, progress=progress)
            progress("verify")
            checked = verify(release.certificate, folder=out, pinned_key=workspace.public_key)
    if checked.failed:
        raise VerificationError(f"What was saved does not verify: {checked.failed}.")
    return {
        "folder": str(out),
        "report": str(out / "report.html"),
        "certificate": str(out / "certificate.json"),
        "id": release.certificate["id"],
        "charged": False,
        "snapshot": plan.dataset.snapshot,
        "entries": [source.entry for source in release.reused.sources],
        "unread": {name: list(each.unread) for name, each in passed_over.items()},
        "otherwise": {name: list(each.otherwise) for name, each in passed_over.items()},
        "verifies": True,
        "signer": checked.signer,
    }


def _passed_over(plan: "Plan", *, workspace: "Workspace") -> dict[str, "Same"]:
    """Return the answers that are read as they stand, with the entries that they pass over."""
    from confide.plans.reuse import Same

    answers = workspace.offers(plan).items()
    return {name: each for name, each in answers if isinstance(each, Same)}


def _show_unread(name: str, *, unread: list[int], otherwise: list[int]) -> None:
    """Print which answers that were paid for are not read, and why."""
    if unread:
        others = ", ".join(map(str, unread))
        say(
            f"{name}: entries {others} measured it as well. Such answers are averaged of "
            "counts alone, so the one of least noise is read."
        )
    if otherwise:
        others = ", ".join(map(str, otherwise))
        say(
            f"{name}: entries {others} measured its value in other groups, rows or bounds. Of "
            "sums, means and other moments no cells are added up, so they are not read."
        )


def show_reused(body: dict[str, Any]) -> None:
    """Print where a release made of earlier ones is, and that it was free."""
    say(f"Report       {body['report']}", style="bold")
    say(f"Certificate  {body['certificate']}  (verifies; {body['id']})")
    entries = ", ".join(map(str, body["entries"]))
    say(
        f"Nothing charged or read: made of ledger entries {entries}, snapshot {body['snapshot']!r}."
    )
    for name, unread in body["unread"].items():
        _show_unread(name, unread=unread, otherwise=body["otherwise"][name])
