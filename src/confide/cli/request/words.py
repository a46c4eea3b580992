"""A request for people and for machines."""

from typing import TYPE_CHECKING, Any

from confide.cli.output import say

if TYPE_CHECKING:
    from confide.budget.workflow.submission import Standing, Submission


def request_body(
    submission: "Submission", *, standing: "tuple[Standing, tuple[str, ...]]"
) -> dict[str, Any]:
    """Return a request, where it stands, and who may still approve it."""
    asked, (stands, missing) = submission.asked, standing
    return {
        "number": submission.number,
        "state": stands.value,
        "missing": list(missing),
        "requester": submission.requester,
        "at": submission.at,
        "tier": asked.tier,
        "project": asked.project,
        "release": asked.release,
        "plan": asked.plan_digest,
        "policy-version": submission.version,
        "policy-sha256": submission.policy,
        "note": asked.note,
        "revises": asked.revises or None,
        "entry": submission.entry or None,
        "decisions": [
            {
                "person": each.person,
                "role": each.role,
                "decision": each.verdict.value,
                "reason": each.reason,
                "at": each.at,
            }
            for each in submission.decisions
        ],
    }


def show_decisions(body: dict[str, Any]) -> None:
    """Print where a request stands and what was decided."""
    say(
        f"Request {body['number']} by {body['requester']}, tier {body['tier']}: {body['state']}.",
        style="bold",
    )
    if body["note"]:
        say(f"  {body['note']}")
    for each in body["decisions"]:
        why = f": {each['reason']}" if each["reason"] else ""
        say(f"  {each['at'][:10]} {each['person']} ({each['role']}) {each['decision']}{why}")
    if body["missing"]:
        say(f"  waiting for {', '.join(body['missing'])}")
