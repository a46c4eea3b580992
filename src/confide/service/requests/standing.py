"""Where a request for approval stands, and what was decided."""

from dataclasses import dataclass
from typing import Annotated

from confide.budget.desk import Desk
from confide.budget.ledger import Ledger
from confide.budget.workflow.rules import is_lapsed, of_roles, tier_of
from confide.budget.workflow.submission import Decision, Submission
from confide.service.dump import OMITTED, SPREAD
from confide.service.requests.seen import SeenPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldDecision:
    """Who decided what, as what, when and why.

    Attributes:
        person: Who.
        role: As what.
        decision: What.
        reason: Why.
        at: When.
        lapsed: Whether it counts no more; None where that was not asked.
    """

    person: str
    role: str
    decision: str
    reason: str
    at: str
    lapsed: Annotated[bool | None, OMITTED] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A request, where it stands, who may still approve it, and how many of them must.

    Attributes:
        number: Of the request.
        state: Where it stands.
        missing: Roles that may still approve.
        needed: How many of them must.
        requester: Who asks.
        at: When.
        tier: Of the policy.
        project: Whose.
        release: The planned one.
        plan: Its digest.
        policy_version: Under which it was asked.
        policy_sha256: Digest of that policy.
        note: For those who decide.
        revises: The request that it takes the place of.
        entry: Of the ledger, once it was run.
        decisions: So far.
        withheld: By whose decision its answer is delivered to nobody.
    """

    number: int
    state: str
    missing: tuple[str, ...]
    needed: int
    requester: str
    at: str
    tier: str
    project: str
    release: str
    plan: str
    policy_version: int
    policy_sha256: str
    note: str
    revises: int | None
    entry: int | None
    decisions: tuple[ToldDecision, ...]
    withheld: ToldDecision | None

    @property
    def waits_for(self) -> str:
        """Whose approval it waits for, and of how many of them where not of all."""
        return of_roles(self.missing, needed=self.needed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request with what those who decide see of its plan.

    Attributes:
        request: Where it stands.
        preview: Of the plan.
    """

    request: Annotated[Standing, SPREAD]
    preview: SeenPlan


def standing(submission: Submission, *, ledger: Ledger) -> Standing:
    """Return where a request stands."""
    desk = ledger.desk
    asked, lapsed = submission.asked, desk.lapsed()
    stands, missing = desk.stands(submission.number)
    return Standing(
        number=submission.number,
        state=stands.value,
        missing=tuple(missing),
        needed=_needed(submission, missing=tuple(missing), desk=desk),
        requester=submission.requester,
        at=submission.at,
        tier=asked.tier,
        project=asked.project,
        release=asked.release,
        plan=asked.plan_digest,
        policy_version=submission.version,
        policy_sha256=submission.policy,
        note=asked.note,
        revises=asked.revises or None,
        entry=submission.entry or None,
        decisions=tuple(
            told_decision(each, lapsed=is_lapsed(each, lapsed)) for each in submission.decisions
        ),
        withheld=withholding(submission.entry, ledger=ledger),
    )


def told_decision(made: Decision, *, lapsed: bool | None = None) -> ToldDecision:
    """Return who decided what, as what, when and why."""
    return ToldDecision(
        person=made.person,
        role=made.role,
        decision=made.verdict.value,
        reason=made.reason,
        at=made.at,
        lapsed=lapsed,
    )


def withholding(entry: int, *, ledger: Ledger) -> ToldDecision | None:
    """Return by whose decision an answer is delivered to nobody; None where it may be."""
    made = ledger.withholding(entry) if entry else None
    return None if made is None else told_decision(made)


def charged_to(submission: Submission, *, desk: Desk) -> str | None:
    """Return who pays once a request is approved; None where nobody's approval is needed."""
    present = desk.policy(submission.asked.lineage)
    tier = None if present is None else tier_of(present.policy, submission.asked.tier)
    return submission.requester if tier is not None and tier.approvals else None


def _needed(submission: Submission, *, missing: tuple[str, ...], desk: Desk) -> int:
    """Return how many roles more must approve."""
    present = desk.policy(submission.asked.lineage)
    if present is None or not missing:
        return 0
    for tier in present.policy.tiers:
        if tier.id == submission.asked.tier:
            return (tier.needed or len(tier.approvals)) - (len(tier.approvals) - len(missing))
    return len(missing)
