"""A request, for people."""

from typing import TYPE_CHECKING

from confide.cli.output import say

if TYPE_CHECKING:
    from confide.service.requests.seen import SeenPlan
    from confide.service.requests.standing import Standing, ToldDecision

LAPSED = " (counts no more: rows of the ledger that are lost may have used it)"


def withheld_text(entry: int | None, made: "ToldDecision") -> str:
    """Return who withheld an answer, when and why."""
    who = f"{made.person} ({made.role}) on {made.at[:10]}"
    return f"The answer of entry {entry} was withheld by {who}: {made.reason}"


def show_standing(found: "Standing") -> None:
    """Print where a request stands and what was decided."""
    say(
        f"Request {found.number} by {found.requester}, tier {found.tier}: {found.state}.",
        style="bold",
    )
    if found.note:
        say(f"  {found.note}")
    for each in found.decisions:
        why = f": {each.reason}" if each.reason else ""
        lapsed = LAPSED if each.lapsed else ""
        say(f"  {each.at[:10]} {each.person} ({each.role}) {each.decision}{why}{lapsed}")
    if found.withheld:
        say(f"  {withheld_text(found.entry, found.withheld)}")
    if found.missing:
        say(f"  waiting for {found.waits_for}")


def show_asked(seen: "SeenPlan") -> None:
    """Print what those who decide see of a plan."""
    from confide.cli.planning.job import show_job
    from confide.cli.planning.plan import show_plan
    from confide.service.planning.job_preview import JobPreview

    if isinstance(seen, JobPreview):
        show_job(seen)
    else:
        show_plan(seen)
