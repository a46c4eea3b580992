"""A policy in force as the chain holds it, and what one version allows that another does not.

*Privacy:* limits are on the grid as they were computed when the policy was adopted, so that a later
computation of ρ from ε cannot change what an old row meant.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from confide.budget.policy.counters import (
    DELTA,
    HeldCap,
    caps_of_policy,
    is_kept_by_ledger,
    kind_of_cap,
)
from confide.budget.policy.policy import Basis, Policy, PolicyCap
from confide.errors import ContractError, LedgerFrozenError
from confide.plans.canonical import canonical_bytes, decode, encode
from confide.privacy.amount import atto
from confide.privacy.measure import LedgerMeasure

HIGHEST = 1
WHO_DECIDES = "who decides"
ARITHMETIC = 10**6
"""One part in so many: what two versions of this software may make of one limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """A version of a policy as the chain holds it.

    Attributes:
        policy: What it says.
        digest: SHA-256 of its canonical JSON.
        units: Grid units of each cap, by id, as they were computed when it was adopted.
        delta_atto: Σδ that selections may spend, in 1e-18.
        ceilings: Grid units that a release of a tier may cost, by the tiers that have a ceiling.
    """

    policy: Policy
    digest: str
    units: tuple[tuple[str, int], ...]
    delta_atto: int
    ceilings: tuple[tuple[str, int], ...] = ()

    def held(self, measure: LedgerMeasure) -> tuple[HeldCap, ...]:
        """Return the caps that a ledger of some measure charges."""
        units, delta = dict(self.units), self.delta_atto
        return caps_of_policy(self.policy, units=units, delta_atto=delta, measure=measure)

    def to_fields(self) -> dict[str, Any]:
        """Return it as it stands in the chain."""
        ceilings = {tier: str(units) for tier, units in self.ceilings}
        return {
            **({"ceilings": ceilings} if ceilings else {}),
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
        highest: Whether it is a cap of priority 1 or of basis legal.
    """

    what: str
    how: str
    highest: bool = False


def adopted(policy: Policy) -> Adopted:
    """Return a policy with its limits on the grid, rounded down."""
    return Adopted(
        policy=policy,
        digest=policy.digest(),
        units=tuple((cap.id, policy.units(cap)) for cap in policy.caps),
        delta_atto=atto(policy.selection_delta) if policy.selection_delta else 0,
        ceilings=tuple((tier, policy.ceiling(tier)) for tier in _capped_tiers(policy)),
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
    ceilings, capped = fields.get("ceilings", {}), _capped_tiers(policy)
    if set(capped) != set(ceilings):
        raise LedgerFrozenError("A policy in the ledger has other ceilings than were counted.")
    found = Adopted(
        policy=policy,
        digest=fields["policy-sha256"],
        units=tuple((cap.id, int(fields["units"][cap.id])) for cap in policy.caps),
        delta_atto=int(fields["delta-atto"]),
        ceilings=tuple((tier, int(ceilings[tier])) for tier in capped),
    )
    try:
        said = adopted(policy)
    except ContractError:
        raise LedgerFrozenError("A policy in the ledger has a limit that says nothing.") from None
    if _allows_more(found, than=said):
        raise LedgerFrozenError("A policy in the ledger was counted as more than it says.")
    return found


def _allows_more(counted: Adopted, *, than: Adopted) -> bool:
    """Return whether a row counts more than its policy allows, beyond what arithmetic may differ.

    Officers sign the policy, and not the units that somebody's software made of it.
    """
    pairs = [*zip(counted.units, than.units, strict=True)]
    pairs += zip(counted.ceilings, than.ceilings, strict=True)
    more = any(mine[1] > said[1] + said[1] // ARITHMETIC for mine, said in pairs)
    return more or counted.delta_atto > than.delta_atto


def _capped_tiers(policy: Policy) -> tuple[str, ...]:
    return tuple(tier.id for tier in policy.tiers if tier.ceiling is not None)


def relaxations(old: Adopted, new: Adopted) -> tuple[Relaxation, ...]:
    """Return everything that ``new`` allows and ``old`` does not, in the order of ``old``."""
    return tuple(_relaxed_caps(old, new)) + tuple(_relaxed_rest(old, new))


def relaxed_file_caps(old: tuple[HeldCap, ...], new: tuple[HeldCap, ...]) -> tuple[Relaxation, ...]:
    """Return which caps of dataset.yaml a first policy raises or leaves out."""
    after: dict[str, int] = {}
    for cap in new:
        after[cap.kind] = min(cap.allows, after.get(cap.kind, cap.allows))
    found = []
    for cap in old:
        if after.get(cap.kind, cap.allows + 1) > cap.allows:
            how = "is raised" if cap.kind in after else "has none in its place"
            found.append(Relaxation(what=f"cap {cap.kind} of dataset.yaml", how=how))
    return tuple(found)


def is_highest(cap: PolicyCap) -> bool:
    """Return whether a cap stands for a law or a promise, so that nobody relaxes it alone."""
    return cap.priority == HIGHEST or cap.basis is Basis.LEGAL


def _relaxed_caps(old: Adopted, new: Adopted) -> Iterator[Relaxation]:
    before, after = dict(old.units), dict(new.units)
    caps = {cap.id: cap for cap in new.policy.caps}
    for cap in old.policy.caps:
        how = _how(cap, caps.get(cap.id), before=before[cap.id], after=after.get(cap.id, 0))
        if how:
            yield Relaxation(what=f"cap {cap.id}", how=how, highest=is_highest(cap))


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
    if is_highest(old) and not is_highest(new):
        return "is no longer said to be the law's"
    return ""


def _relaxed_rest(old: Adopted, new: Adopted) -> Iterator[Relaxation]:
    if new.delta_atto > old.delta_atto:
        yield Relaxation(what=DELTA, how="is raised")
    if new.policy.report_delta > old.policy.report_delta:
        yield Relaxation(what="report-delta", how="is raised")
    if new.policy.workflow != old.policy.workflow or _approvals(new) != _approvals(old):
        yield Relaxation(what=WHO_DECIDES, how="is changed")


def _approvals(adopted: Adopted) -> tuple[tuple[object, ...], ...]:
    most = dict(adopted.ceilings)
    return tuple(
        (tier.id, tier.approvals, tier.needed, tier.audience, most.get(tier.id))
        for tier in adopted.policy.tiers
    )
