"""Who may decide, when enough have, and what the ledger admits then.

An approval counts while the policy under which it was given is in force, its request has the
digest of the plan that is run, and it is no older than the workflow allows.  With separation of
duties nobody approves what they asked for, and nobody fills two of the roles.  One approved
request admits one charge; fresh noise is a new question and needs a new request.  Rows
that are lost may have used an approval, so those that were given before count no more once an
officer goes on without them.

*Privacy:* decided from the chain alone, in the transaction that charges, so nothing is read before
those who answer for the data have agreed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from confide.budget.chain.readings import Moment
from confide.budget.ledger import ChargeRequest, Entry, State
from confide.budget.plan_text import plan_in
from confide.budget.policy.adoption import Adopted
from confide.budget.policy.policy import Person, PlannedRelease, Policy, Tier
from confide.budget.workflow.acts import deciding_roles
from confide.budget.workflow.submission import Decision, Standing, Submission, Verdict
from confide.privacy.accounting.concentrated import epsilon_beside
from confide.privacy.amount import NANO, decimal_text
from confide.privacy.measure import Measure

READER = "reader"
DEFAULT_AUDIENCE = "public"
"""Of a study that names none; canonical JSON leaves it out."""
ENDS = {
    State.COMMITTED: Standing.RUN,
    State.PUBLISHED: Standing.PUBLISHED,
    State.BURNED: Standing.BURNED,
}
OPEN = frozenset({Standing.SUBMITTED, Standing.APPROVED, Standing.EXPIRED})
"""Where a request stands that may still be decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Why a charge is not admitted.

    Attributes:
        message: What is wrong.
        hint: The way out.
        missing: Roles whose approval is missing.
    """

    message: str
    hint: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyClaim:
    """What of a charge the policy has a say in; ``nano`` is what it costs, in 1e-9."""

    analyst: str
    plan_digest: str
    tier: str
    project: str
    release: str
    nano: int
    audience: str


def claim_of(request: ChargeRequest | Entry, *, planned: str, audience: str) -> PolicyClaim:
    """Return what the policy has a say in of a request, or of the entry that it became."""
    return PolicyClaim(
        analyst=request.analyst,
        plan_digest=request.plan_digest,
        tier=request.tier,
        project=request.project,
        release=planned,
        nano=request.amount.alone,
        audience=audience,
    )


def person_of(policy: Policy, key: str) -> Person | None:
    """Return who has a public key, in hex; None when nobody does."""
    wanted = key.removeprefix("ed25519:")
    for person in policy.workflow.people:
        if person.key.removeprefix("ed25519:") == wanted:
            return person
    return None


def tier_of(policy: Policy, name: str) -> Tier | None:
    """Return a tier by name."""
    for tier in policy.tiers:  # asked eight times a release, when a ledger is verified
        if tier.id == name:
            return tier
    return None


def demands_a_tier(policy: Policy) -> bool:
    """Return whether any tier asks for anything, so that none may be left out to avoid it."""
    return any(tier.approvals or tier.audience or tier.ceiling for tier in policy.tiers)


def approvals(submission: Submission, *, policy: Policy, now: Moment) -> dict[str, Decision]:
    """Return the approvals that count at a moment, by role."""
    found: dict[str, Decision] = {}
    for decision in submission.decisions:
        if decision.verdict is Verdict.APPROVE and not _is_expired(decision, policy, now):
            found.setdefault(decision.role, decision)
    return found


def is_lapsed(decision: Decision, row: int) -> bool:
    """Return whether rows that ``row`` goes on without, if any, may have used an approval."""
    return decision.verdict is Verdict.APPROVE and decision.number < row


def missing(submission: Submission, *, policy: Policy, now: Moment) -> tuple[str, ...]:
    """Return the roles that could still approve, while not enough have; () once enough have."""
    tier = tier_of(policy, submission.asked.tier)
    if tier is None:
        return ()
    given = approvals(submission, policy=policy, now=now)
    if len(given) >= (tier.needed or len(tier.approvals)):
        return ()
    return tuple(role for role in tier.approvals if role not in given)


def standing(
    submission: Submission, *, adopted: Adopted | None, now: Moment, entry: Entry | None
) -> Standing:
    """Return where a request stands at a moment, with the entry that was charged under it."""
    if entry is not None:
        return Standing.WITHHELD if entry.withheld else ENDS.get(entry.state, Standing.CHARGED)
    ends = {Verdict.REJECT: Standing.REJECTED, Verdict.ASK_CHANGES: Standing.CHANGES_ASKED}
    for decision in submission.decisions:
        if decision.verdict in ends:
            return ends[decision.verdict]
    if adopted is None or adopted.digest != submission.policy:
        return Standing.LAPSED
    if not missing(submission, policy=adopted.policy, now=now):
        return Standing.APPROVED
    given = [each for each in submission.decisions if each.verdict is Verdict.APPROVE]
    if any(_is_expired(each, adopted.policy, now) for each in given):
        return Standing.EXPIRED
    return Standing.SUBMITTED


def is_open(
    submission: Submission, *, adopted: Adopted | None, now: Moment, entry: Entry | None
) -> bool:
    """Return whether a charge may still be made under a request.

    It is over once it is charged, sent back or rejected, or lapsed with its policy; and one in a
    tier that needs nobody's approval admits nothing, and nobody could ever close it.
    """
    tier = None if adopted is None else tier_of(adopted.policy, submission.asked.tier)
    stands = standing(submission, adopted=adopted, now=now, entry=entry)
    return tier is not None and bool(tier.approvals) and stands in OPEN


def decision_problem(
    submission: Submission,
    *,
    policy: Policy,
    person: Person,
    role: str,
    verdict: Verdict,
    stands: Standing,
    now: Moment,
) -> str:
    """Return why somebody may not decide so about a request; "" if they may."""
    tier = tier_of(policy, submission.asked.tier)
    allowed = () if tier is None else tier.approvals
    if role not in person.roles or role not in allowed:
        may = f"; {_of(tier)} does" if tier is not None and allowed else ""
        roles = role or ", ".join(person.roles) or "nobody"
        return f"{person.name} does not decide about tier {submission.asked.tier} as {roles}{may}"
    if stands not in OPEN:
        return f"request {submission.number} is {stands.value}"
    if verdict is not Verdict.APPROVE:
        return ""
    given = approvals(submission, policy=policy, now=now)
    if policy.workflow.separation_of_duties:
        if person.name == submission.requester:
            return "whoever asks does not approve; another person has to"
        if any(each.person == person.name for each in given.values()):
            return (
                f"{person.name} has approved already, and one person fills one role; another has "
                "to approve"
            )
    if role in given:
        return f"{role} has approved already"
    return ""


def may_withhold(policy: Policy, person: Person) -> str:
    """Return the role in which somebody may withhold an answer; "" if in none."""
    deciding = deciding_roles(policy)
    return next((role for role in person.roles if role in deciding), "")


def admitted(
    claim: PolicyClaim,
    *,
    adopted: Adopted | None,
    unused: Iterable[Submission],
    now: Moment,
) -> int | Refused:
    """Return the request that admits a charge, 0 where none is needed, or why it is refused.

    Args:
        claim: What is to be charged.
        adopted: The policy in force.
        unused: Requests of the lineage under which nothing is charged, oldest first.
        now: Of the charge.
    """
    if adopted is None:
        return 0
    policy = adopted.policy
    named = named_problem(policy, tier=claim.tier, project=claim.project, release=claim.release)
    if named is not None:
        return named
    outside = audience_problem(policy, tier=claim.tier, audience=claim.audience)
    outside = outside or ceiling_problem(adopted, tier=claim.tier, nano=claim.nano)
    if outside is not None:
        return outside
    tier = tier_of(policy, claim.tier)
    if tier is None or not tier.approvals:
        return 0
    best: Refused | None = None
    for submission in unused:
        if not _is_about(submission, claim):
            continue
        stands = standing(submission, adopted=adopted, now=now, entry=None)
        if stands is Standing.APPROVED and submission.requester == claim.analyst:
            return submission.number
        best = _why_not(submission, policy, claim=claim, stands=stands, now=now)
    return best or Refused(
        message=f"Tier {tier.id} needs approval by {_of(tier)}; nobody was asked.",
        hint="Run: confide request submit STUDY.yaml --key YOURS.key, with the file of the study "
        "or synthesis",
        missing=tier.approvals,
    )


def named_problem(policy: Policy, *, tier: str, project: str, release: str) -> Refused | None:
    """Return why a study's tier, project and planned release do not fit a policy."""
    if release:
        planned = next((each for each in policy.releases if each.id == release), None)
        if planned is None:
            known = ", ".join(each.id for each in policy.releases) or "none"
            return Refused(
                message=f"Policy {policy.id!r} plans no release {release!r}.",
                hint=f"Planned: {known}. Leave release: out for one that was not planned.",
            )
        wrong = _differs(planned, tier=tier, project=project)
        if wrong:
            return Refused(
                message=f"Release {release!r} is planned with {wrong}.",
                hint="Write the same in the study's file.",
            )
    if tier_of(policy, tier) is None and (tier or demands_a_tier(policy)):
        known = ", ".join(each.id for each in policy.tiers) or "none"
        return Refused(
            message=f"Policy {policy.id!r} has no tier {tier!r}."
            if tier
            else f"Policy {policy.id!r} says by tier who approves, what a release may cost or for "
            "whom it is, and the study names no tier.",
            hint="Write tier: under study: in study.yaml, or under synthesis: in synth.yaml; "
            f"tiers: {known}.",
        )
    return None


def audience_problem(policy: Policy, *, tier: str, audience: str) -> Refused | None:
    """Return why a study for an audience may not use a tier; None if it may."""
    found = tier_of(policy, tier)
    if found is None or not found.audience or audience in found.audience:
        return None
    return Refused(
        message=f"Tier {tier!r} is for the audience {' or '.join(found.audience)}; the study is "
        f"for {audience or 'none that it names'}.",
        hint="Name a tier for that audience, or another audience, in the study's file.",
    )


def ceiling_problem(adopted: Adopted, *, tier: str, nano: int) -> Refused | None:
    """Return why a study that costs so much may not use a tier; None if it may."""
    most = dict(adopted.ceilings).get(tier)
    if most is None or nano <= most:
        return None
    asked, allowed = (_amount_text(units, policy=adopted.policy) for units in (nano, most))
    return Refused(
        message=f"Tier {tier!r} is for releases of up to {allowed}; this one costs {asked}.",
        hint="Ask for larger errors, or name a tier that may cost as much.",
    )


def _amount_text(nano: int, *, policy: Policy) -> str:
    """Return an amount; under zcdp with the ε that policies are written in beside it."""
    text = f"{policy.measure.letter}={decimal_text(nano, per_one=NANO)}"
    if policy.measure is not Measure.ZCDP:
        return text
    return f"{text} (ε {epsilon_beside(Fraction(nano, NANO), delta=policy.epsilon_delta)})"


def audience_of(plan_json: str) -> str:
    """Return for whom a recorded plan is; "" if it does not say."""
    try:
        return str(plan_in(plan_json)["study"].get("audience", DEFAULT_AUDIENCE))
    except (KeyError, TypeError, AttributeError):
        return ""


def _differs(planned: PlannedRelease, *, tier: str, project: str) -> str:
    if planned.tier != tier:
        return f"tier {planned.tier!r}, the study says {tier!r}"
    if planned.project != project:
        return f"project {planned.project!r}, the study says {project!r}"
    return ""


def _is_about(submission: Submission, claim: PolicyClaim) -> bool:
    """Return whether a request is for the same plan, in the same tier, project and release."""
    asked = submission.asked
    return (asked.plan_digest, asked.tier, asked.project, asked.release) == (
        claim.plan_digest,
        claim.tier,
        claim.project,
        claim.release,
    )


def _why_not(
    submission: Submission, policy: Policy, *, claim: PolicyClaim, stands: Standing, now: Moment
) -> Refused:
    number = submission.number
    left = missing(submission, policy=policy, now=now)
    tier = tier_of(policy, submission.asked.tier)
    given = 0 if tier is None else len(tier.approvals) - len(left)
    needed = len(left) if tier is None else (tier.needed or len(tier.approvals)) - given
    match stands:
        case Standing.APPROVED:
            return Refused(
                message=f"Request {number} was approved for {submission.requester}, "
                f"and {claim.analyst} asks.",
                hint=f"{submission.requester} runs it, or {claim.analyst} submits their own.",
            )
        case Standing.SUBMITTED | Standing.EXPIRED:
            expired = "; what was approved has expired" if stands is Standing.EXPIRED else ""
            if any(is_lapsed(each, now.readings.lapsed) for each in submission.decisions):
                expired = "; rows that are lost may have used what was approved before"
            return Refused(
                message=f"Request {number} lacks approval by "
                f"{of_roles(left, needed=needed)}{expired}.",
                hint=f"They run: confide request approve {number} --key THEIRS.key",
                missing=left,
            )
        case _:
            return Refused(
                message=f"Request {number} is {stands.value}.",
                hint="Submit it again, changed where that was asked: "
                "confide request submit STUDY.yaml --key YOURS.key",
                missing=left,
            )


def of_roles(roles: Sequence[str], *, needed: int) -> str:
    """Return roles, and how many of them must approve where not all must.

    Example:
        >>> of_roles(("steward", "ethics-board"), needed=1)
        '1 of steward, ethics-board'
    """
    names = ", ".join(roles)
    return names if needed == len(roles) else f"{needed} of {names}"


def _of(tier: Tier) -> str:
    return of_roles(tier.approvals, needed=tier.needed or len(tier.approvals))


def _is_expired(decision: Decision, policy: Policy, now: Moment) -> bool:
    days = policy.workflow.expires_after_days
    return is_lapsed(decision, now.readings.lapsed) or now.is_past(
        number=decision.number, given=decision.clock, days=days
    )
