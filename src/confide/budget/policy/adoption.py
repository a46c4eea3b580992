"""A policy in force: how one version takes the place of another, and what that needs.

Versions of one policy only go up, each a row of the chain with the whole policy in it.  Lowering
needs nothing.  What an officer of data protection would ask of the rest:

- *A reason*, recorded, for whatever allows more than before: a cap raised, removed, or kept by
  leaving rows out instead of by refusing; a δ raised; a change of who decides.
- *A signature of those in force.*  Once a policy names people, its next version is endorsed by a
  privacy officer of the present one (by any of its people, if none has that role).  Otherwise
  whoever can edit the file could name themselves and approve their own requests.
- *Two signatures for priority 1.*  Such a cap stands for a law or a promise, so one person does
  not relax it: two different people of the policy in force do, one of them a privacy officer.
  A policy that names nobody cannot relax it at all; it must name people first, which is on record.

*Privacy:* nothing here gives back what was spent.  A version holds from its adoption, never by
the clock alone, and never before the day from which it says it is effective.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from confide.budget.counters import (
    DELTA,
    HeldCap,
    caps_of_policy,
    is_kept_by_ledger,
    kind_of_cap,
)
from confide.budget.policy.policy import Person, Policy, PolicyCap
from confide.errors import LedgerFrozenError
from confide.plans.canonical import canonical_bytes, decode, encode
from confide.privacy.amount import atto

OFFICER = "privacy-officer"
HIGHEST = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """A version of a policy as the chain holds it.

    Attributes:
        policy: What it says.
        digest: SHA-256 of its canonical JSON.
        units: Grid units of each cap, by id, as they were computed when it was adopted.
        delta_atto: Σδ that selections may spend, in 1e-18.
    """

    policy: Policy
    digest: str
    units: tuple[tuple[str, int], ...]
    delta_atto: int

    def held(self) -> tuple[HeldCap, ...]:
        """Return the caps that the ledger charges."""
        return caps_of_policy(self.policy, units=dict(self.units), delta_atto=self.delta_atto)

    def to_fields(self) -> dict[str, Any]:
        """Return it as it stands in the chain."""
        return {
            "policy": canonical_bytes(encode(self.policy)).decode(),
            "policy-sha256": self.digest,
            "units": {name: str(units) for name, units in self.units},
            "delta-atto": str(self.delta_atto),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """Something that a new version allows and the present one does not.

    Attributes:
        what: The cap, or what else changed.
        how: In words.
        highest: Whether it is of priority 1.
    """

    what: str
    how: str
    highest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a version is not adopted, and the way out."""

    message: str
    hint: str


def adopted(policy: Policy) -> Adopted:
    """Return a policy with its limits on the grid, rounded down."""
    return Adopted(
        policy=policy,
        digest=policy.digest(),
        units=tuple((cap.id, policy.units(cap)) for cap in policy.caps),
        delta_atto=atto(policy.selection_delta) if policy.selection_delta else 0,
    )


def adopted_of(fields: Mapping[str, Any]) -> Adopted:
    """Return the policy that :meth:`Adopted.to_fields` wrote.

    Raises:
        LedgerFrozenError: If its text is not that of its digest.
    """
    import json

    text = fields["policy"]
    if hashlib.sha256(text.encode()).hexdigest() != fields["policy-sha256"]:
        raise LedgerFrozenError("A policy in the ledger is not that of its digest.")
    policy: Policy = decode(Policy, json.loads(text), names={})
    if {cap.id for cap in policy.caps} != set(fields["units"]):
        raise LedgerFrozenError("A policy in the ledger has other caps than were counted.")
    return Adopted(
        policy=policy,
        digest=fields["policy-sha256"],
        units=tuple((cap.id, int(fields["units"][cap.id])) for cap in policy.caps),
        delta_atto=int(fields["delta-atto"]),
    )


def relaxations(old: Adopted, new: Adopted) -> tuple[Relaxation, ...]:
    """Return everything that ``new`` allows and ``old`` does not, in the order of ``old``."""
    return tuple(_relaxed_caps(old, new)) + tuple(_relaxed_rest(old, new))


def relaxed_file_caps(old: tuple[HeldCap, ...], new: Adopted) -> tuple[Relaxation, ...]:
    """Return which caps of dataset.yaml a first policy raises or leaves out."""
    after: dict[str, int] = {}
    for cap in new.held():
        after[cap.kind] = min(cap.units, after.get(cap.kind, cap.units))
    found = []
    for cap in old:
        if after.get(cap.kind, cap.units + 1) > cap.units:
            how = "is raised" if cap.kind in after else "has none in its place"
            found.append(Relaxation(what=f"cap {cap.kind} of dataset.yaml", how=how))
    return tuple(found)


def adoption_problem(
    old: Adopted | None,
    new: Adopted,
    *,
    caps: tuple[HeldCap, ...],
    reason: str,
    endorsed: frozenset[str],
) -> Problem | None:
    """Return why ``new`` cannot be adopted now; None if it can.

    Args:
        old: In force; None when none is.
        new: To be adopted.
        caps: That hold now.
        reason: Why it is adopted.
        endorsed: Keys of the people in force who signed it.
    """
    relaxed = relaxed_file_caps(caps, new) if old is None else relaxations(old, new)
    told = "; ".join(f"{each.what} {each.how}" for each in relaxed)
    if old is not None:
        order = _order_problem(old.policy, new.policy)
        if order is not None:
            return order
    if relaxed and not reason.strip():
        return Problem(
            message=f"Expected a reason for allowing more than before: {told}.",
            hint='Say why, for the record: --reason "...".',
        )
    return None if old is None else _signatures_problem(old.policy, relaxed, told, endorsed)


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


def _signatures_problem(
    old: Policy, relaxed: tuple[Relaxation, ...], told: str, endorsed: frozenset[str]
) -> Problem | None:
    people = old.workflow.people
    highest = [each.what for each in relaxed if each.highest]
    if not people:
        if highest:
            return Problem(
                message=f"Priority 1 is not relaxed by one person: {told}.",
                hint="First adopt a version with workflow: {people: [...]}; two of them, one a "
                f"{OFFICER}, then sign this one.",
            )
        return None
    signers = [person for person in people if person.key in endorsed]
    needed = 2 if highest else 1
    officers = {p.key for p in people if OFFICER in p.roles} or {p.key for p in people}
    if len({p.key for p in signers}) >= needed and any(p.key in officers for p in signers):
        return None
    have = ", ".join(person.name for person in signers) or "nobody"
    return Problem(
        message=f"Version {old.version} names people, so {needed} of them must sign the next "
        f"version, one a privacy officer; signed by {have}.",
        hint="Each runs: confide request endorse --key THEIRS.key; may: "
        + ", ".join(person.name for person in _able(people, officers, highest=bool(highest)))
        + ".",
    )


def _able(people: tuple[Person, ...], officers: set[str], *, highest: bool) -> list[Person]:
    return [person for person in people if highest or person.key in officers]


def _relaxed_caps(old: Adopted, new: Adopted) -> Iterator[Relaxation]:
    before, after = dict(old.units), dict(new.units)
    caps = {cap.id: cap for cap in new.policy.caps}
    for cap in old.policy.caps:
        how = _how(cap, caps.get(cap.id), before=before[cap.id], after=after.get(cap.id, 0))
        if how:
            yield Relaxation(what=f"cap {cap.id}", how=how, highest=cap.priority == HIGHEST)


def _how(old: PolicyCap, new: PolicyCap | None, *, before: int, after: int) -> str:
    if new is None:
        return "is removed"
    if is_kept_by_ledger(old) and not is_kept_by_ledger(new):
        return "is kept by leaving rows out"
    if (old.scope, kind_of_cap(old)) != (new.scope, kind_of_cap(new)):
        return "counts over something else"
    if after > before:
        return "is raised"
    if old.priority == HIGHEST != new.priority:
        return "loses priority 1"
    return ""


def _relaxed_rest(old: Adopted, new: Adopted) -> Iterator[Relaxation]:
    if new.delta_atto > old.delta_atto:
        yield Relaxation(what=DELTA, how="is raised")
    if new.policy.report_delta > old.policy.report_delta:
        yield Relaxation(what="report-delta", how="is raised")
    if new.policy.workflow != old.policy.workflow or _approvals(new) != _approvals(old):
        yield Relaxation(what="who decides", how="is changed")


def _approvals(adopted: Adopted) -> tuple[tuple[str, tuple[str, ...], int], ...]:
    return tuple((tier.id, tier.approvals, tier.needed) for tier in adopted.policy.tiers)
