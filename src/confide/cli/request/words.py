"""A request for people and for machines."""

from typing import TYPE_CHECKING, Any

from confide.cli.output import say

if TYPE_CHECKING:
    from confide.budget.desk import Desk
    from confide.budget.ledger import Ledger
    from confide.budget.workflow.submission import Decision, Submission

LAPSED = " (counts no more: rows of the ledger that are lost may have used it)"


def request_body(submission: "Submission", *, ledger: "Ledger") -> dict[str, Any]:
    """Return a request, where it stands, who may still approve it, and how many of them must."""
    from confide.budget.workflow.rules import is_lapsed

    desk = ledger.desk
    asked, lapsed = submission.asked, desk.lapsed()
    stands, missing = desk.stands(submission.number)
    return {
        "number": submission.number,
        "state": stands.value,
        "missing": list(missing),
        "needed": _needed(submission, missing=missing, desk=desk),
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
            {**decision_body(each), "lapsed": is_lapsed(each, lapsed)}
            for each in submission.decisions
        ],
        "withheld": withheld_body(submission.entry, ledger=ledger),
    }


def decision_body(made: "Decision") -> dict[str, Any]:
    """Return who decided what, as what, when and why."""
    return {
        "person": made.person,
        "role": made.role,
        "decision": made.verdict.value,
        "reason": made.reason,
        "at": made.at,
    }


def withheld_body(entry: int, *, ledger: "Ledger") -> dict[str, Any] | None:
    """Return by whose decision an answer is delivered to nobody; None where it may be."""
    made = ledger.withholding(entry) if entry else None
    return None if made is None else decision_body(made)


def withheld_text(entry: int, made: dict[str, Any]) -> str:
    """Return who withheld an answer, when and why."""
    who = f"{made['person']} ({made['role']}) on {made['at'][:10]}"
    return f"The answer of entry {entry} was withheld by {who}: {made['reason']}"


def charged_to(submission: "Submission", *, desk: "Desk") -> str | None:
    """Return who pays once a request is approved; None where nobody's approval is needed."""
    from confide.budget.workflow.rules import tier_of

    present = desk.policy(submission.asked.lineage)
    tier = None if present is None else tier_of(present.policy, submission.asked.tier)
    return submission.requester if tier is not None and tier.approvals else None


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
        lapsed = LAPSED if each["lapsed"] else ""
        say(
            f"  {each['at'][:10]} {each['person']} ({each['role']}) {each['decision']}{why}{lapsed}"
        )
    if body["withheld"]:
        say(f"  {withheld_text(body['entry'], body['withheld'])}")
    if body["missing"]:
        say(f"  waiting for {waiting_text(body)}")


def waiting_text(body: dict[str, Any]) -> str:
    """Return whose approval a request waits for, and of how many of them where not of all."""
    from confide.budget.workflow.rules import of_roles

    return of_roles(body["missing"], needed=body["needed"])


def _needed(submission: "Submission", *, missing: tuple[str, ...], desk: "Desk") -> int:
    """Return how many roles more must approve."""
    present = desk.policy(submission.asked.lineage)
    if present is None or not missing:
        return 0
    for tier in present.policy.tiers:
        if tier.id == submission.asked.tier:
            return (tier.needed or len(tier.approvals)) - (len(tier.approvals) - len(missing))
    return len(missing)
