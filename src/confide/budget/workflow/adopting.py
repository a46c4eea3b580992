"""What one version of a policy needs to take the place of another.

Versions only go up.  Lowering needs nothing.  What an officer of data protection would ask of the
rest:

- *A reason*, recorded, for whatever allows more than before: a cap raised, removed, or kept by
  leaving rows out instead of by refusing; a δ raised; a change of who decides.
- *A signature of those in force.*  Once a policy names people, its next version is endorsed by a
  privacy officer of the present one (by anybody who may approve, if none has that role).  Otherwise
  whoever can edit the file could name themselves and approve their own requests.  A signature grows
  old like an approval.
- *The strictest approvals of the policy in force*, for a cap that stands for a law or a promise
  (``basis: legal``, or priority 1): as many of the roles of its most demanding tier as that tier
  asks for, each filled by another person who may approve, two at least, one a privacy officer.  A
  policy that names nobody cannot relax it at all; it must name people first, which is on record.
  Who decides is changed by the same people, as far as the policy names them, since one of them
  could otherwise name friends and let those sign.
- *Nobody who asks.*  With separation of duties, whoever has a request open, under which a charge
  may still be made, signs no relaxation.

*Privacy:* nothing here gives back what was spent.  A version holds from its adoption, never by
the clock alone, and never before the day from which it says it is effective.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from confide.budget.policy.adoption import (
    WHO_DECIDES,
    Adopted,
    Relaxation,
    is_highest,
    relaxations,
    relaxed_file_caps,
)
from confide.budget.policy.counters import HeldCap
from confide.budget.policy.policy import Person, Policy
from confide.budget.workflow.acts import OFFICER, deciders, officers
from confide.privacy.measure import LedgerMeasure

TWO = 2
"""Nobody relaxes alone what stands for a law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a version is not adopted, and the way out."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """Who must sign a version.

    Attributes:
        may: Whose signatures count.
        people: How many of them, at least; one a privacy officer.
        roles: Of these roles ...
        filled: ... so many, each by another person.
    """

    may: tuple[Person, ...]
    people: int = 1
    roles: tuple[str, ...] = ()
    filled: int = 0

    def is_met(self, signers: Sequence[Person], *, officers: Collection[Person]) -> bool:
        """Return whether those who signed are enough."""
        return (
            len({person.key for person in signers}) >= self.people
            and any(person in officers for person in signers)
            and most_filled(self.roles, signers) >= self.filled
        )

    def text(self) -> str:
        """Return it in words: "2 people, one a privacy officer, as 2 of steward, dpo"."""
        people = "1 person" if self.people == 1 else f"{self.people} people, one"
        as_roles = f", as {self.filled} of {', '.join(self.roles)}," if self.filled else ""
        return f"{people} a {OFFICER}{as_roles}".replace("1 person a", "a")


def adoption_problem(
    old: Adopted | None,
    new: Adopted,
    *,
    caps: tuple[HeldCap, ...],
    measure: LedgerMeasure,
    reason: str,
    returns: bool,
    endorsed: frozenset[str],
    askers: frozenset[str],
) -> Problem | None:
    """Return why ``new`` cannot be adopted now; None if it can.

    Args:
        old: In force; None when none is.
        new: To be adopted.
        caps: That hold now.
        measure: Of the ledger.
        reason: Why it is adopted.
        returns: Whether it was in force before, in rows that are lost, where it was endorsed.
        endorsed: Keys of the people in force who signed it.
        askers: Names of those who have a request open.
    """
    relaxed = relaxed_file_caps(caps, new.held(measure)) if old is None else relaxations(old, new)
    told = "; ".join(f"{each.what} {each.how}" for each in relaxed)
    found = _nobody_problem(new.policy)
    if old is not None:
        found = found or _order_problem(old.policy, new.policy)
    if found is not None:
        return found
    if relaxed and not reason.strip():
        return Problem(
            message=f"Expected a reason for allowing more than before: {told}.",
            hint='Say why, for the record: --reason "...".',
        )
    if old is None or returns:
        return None
    if not old.policy.workflow.people:
        return _alone_problem(relaxed, told)
    return _signatures_problem(old.policy, relaxed, told, endorsed=endorsed, askers=askers)


def awaited_problem(awaited: Sequence[tuple[int, str]], new: Adopted) -> Problem | None:
    """Return why another policy than those that lost rows let hold cannot be adopted.

    Args:
        awaited: Their versions and SHA-256; none if nothing is awaited.
        new: To be adopted.
    """
    if not awaited or new.digest in {digest for _, digest in awaited}:
        return None
    lost = ", ".join(f"version {version} (sha256 {digest[:16]})" for version, digest in awaited)
    return Problem(
        message=f"Rows of the ledger that are lost let {lost} hold, and this is another policy.",
        hint="Put the newest of these policy files back, and adopt it: confide ledger adopt "
        "--reason ...; or restore a backup that holds it: confide ledger restore FOLDER.",
    )


def _nobody_problem(new: Policy) -> Problem | None:
    """Return why a policy that names people would leave its acts to nobody."""
    if not new.workflow.people or deciders(new):
        return None
    return Problem(
        message=f"Policy {new.id!r} names people, and none of them may approve.",
        hint=f"Give somebody the role steward or {OFFICER}: they sign what changes the budget.",
    )


def _order_problem(old: Policy, new: Policy) -> Problem | None:
    if new.id != old.id:
        return Problem(
            message=f"Expected a version of policy {old.id!r}, got policy {new.id!r}.",
            hint="A lineage keeps its policy for life; write its next version.",
        )
    if new.version <= old.version:
        return Problem(
            message=f"Expected a version after {old.version} of policy {old.id!r}, "
            f"got {new.version}.",
            hint=f"Write version: {old.version + 1}; a version that was adopted is not edited.",
        )
    return None


def _alone_problem(relaxed: Sequence[Relaxation], told: str) -> Problem | None:
    """Return why a policy that names nobody does not relax what stands for a law."""
    if not any(each.highest for each in relaxed):
        return None
    return Problem(
        message=f"Priority 1, or what the law says, is not relaxed by one person: {told}.",
        hint="First adopt a version with workflow: {people: [...]}; two of them, one a "
        f"{OFFICER}, then sign this one.",
    )


def quorum(old: Policy, relaxed: Sequence[Relaxation], *, askers: Collection[str]) -> Quorum:
    """Return who of the policy in force must sign what a new version relaxes."""
    able = deciders(old)
    if relaxed and old.workflow.separation_of_duties:
        able = tuple(person for person in able if person.name not in askers)
    highest = any(each.highest for each in relaxed)
    renamed = any(each.what == WHO_DECIDES for each in relaxed)
    if not highest and not (renamed and any(is_highest(cap) for cap in old.caps)):
        return Quorum(may=able)
    demands = {tier.id: tier.needed or len(tier.approvals) for tier in old.tiers}
    strictest = max(old.tiers, key=lambda tier: demands[tier.id], default=None)
    roles = () if strictest is None else strictest.approvals
    filled = 0 if strictest is None else demands[strictest.id]
    if highest:
        return Quorum(may=able, people=max(TWO, filled), roles=roles, filled=filled)
    filled = min(filled, most_filled(roles, deciders(old)))
    people = min(max(TWO, filled), len({person.key for person in deciders(old)}))
    return Quorum(may=able, people=people, roles=roles, filled=filled)


def most_filled(roles: Sequence[str], people: Sequence[Person]) -> int:
    """Return how many roles can be filled at once, each by another person.

    A greatest matching: a role takes a free person, or moves whoever has them to another.
    """
    fills: dict[str, str] = {}

    def takes(role: str, tried: set[str]) -> bool:
        for person in people:
            if role in person.roles and person.key not in tried:
                tried.add(person.key)
                if person.key not in fills or takes(fills[person.key], tried):
                    fills[person.key] = role
                    return True
        return False

    return sum(takes(role, set()) for role in roles)


def _signatures_problem(
    old: Policy,
    relaxed: tuple[Relaxation, ...],
    told: str,
    *,
    endorsed: frozenset[str],
    askers: frozenset[str],
) -> Problem | None:
    needs = quorum(old, relaxed, askers=askers)
    signers = [person for person in needs.may if person.key in endorsed]
    if needs.is_met(signers, officers=officers(old)):
        return None
    have = ", ".join(person.name for person in signers) or "nobody"
    may = ", ".join(f"{person.name} ({', '.join(person.roles)})" for person in needs.may)
    why = f" ({told})" if told else ""
    return Problem(
        message=f"Version {old.version} names people, so {needs.text()} must sign the next "
        f"version{why}; signed by {have} of those whose word counts.",
        hint=f"Each runs: confide request endorse --key THEIRS.key; may: {may or 'nobody'}.",
    )
