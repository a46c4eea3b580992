"""What a policy over a mixed ledger is planned as: one that counts ε, or one that counts ρ.

Whatever keeps all caps in one of the two keeps those of the ledger, whose lanes they are: releases
of ε are within its pure lane, and those of ρ cost order·ρ at its orders, Laplace noise less than
that.  So the planner solves two ordinary policies, and takes the one that gives more.

*Utility:* a ledger may hold more than either: what is measured with both noises fits its order lane
closer than ρ says.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from confide.budget.policy.counters import RELEASE, kind_of_cap, window_order
from confide.budget.policy.epsilon_caps import EpsilonCaps, measure_for
from confide.budget.policy.floors import floor_of
from confide.budget.policy.policy import Limit, Noise, PlannedRelease, Policy
from confide.privacy.accounting.mixed import MixedCap
from confide.privacy.amount import NANO, from_nano
from confide.privacy.measure import Measure

_GRID = Fraction(1, 10**6)
"""On which amounts of ρ are allocated."""


def in_one_measure(policy: Policy) -> Iterator[Policy]:
    """Yield the policies of one measure that a policy of a mixed ledger is planned as.

    That of ρ is missing where a cap leaves none at its order.
    """
    yield policy
    counted = measure_for(EpsilonCaps.of(policy), delta=policy.epsilon_delta)
    caps = []
    for cap in policy.caps:
        kind = kind_of_cap(cap)
        order = None if kind == RELEASE else window_order(kind, measure=counted)
        limit = _in_rho(cap.limit, policy=policy, order=order)
        if limit is None:
            return
        caps.append(replace(cap, limit=limit))
    tiers = []
    for tier in policy.tiers:
        ceiling = tier.ceiling and _in_rho(tier.ceiling, policy=policy, order=None)
        if tier.ceiling is not None and ceiling is None:
            return
        tiers.append(replace(tier, ceiling=ceiling))
    yield replace(
        policy,
        measure=Measure.ZCDP,
        caps=tuple(caps),
        tiers=tuple(tiers),
        releases=tuple(map(_cheaper, policy.releases)),
        round_down_to=min(policy.round_down_to, _GRID),
    )


def _in_rho(limit: Limit, *, policy: Policy, order: int | None) -> Limit | None:
    """Return the most ρ under a limit: at an order, or at the best; None where that is none."""
    epsilon, delta = from_nano(policy.units_of(limit)), policy.epsilon_delta
    cap = MixedCap.of(epsilon, delta=delta)
    if order is not None:
        cap = MixedCap(epsilon=epsilon, delta=delta, order=order)
    rho = cap.budget // cap.order
    return Limit(rho=Fraction(rho, NANO)) if rho > 0 else None


def _cheaper(release: PlannedRelease) -> PlannedRelease:
    """Return a release with the noise that needs less ρ."""
    choices = (release, replace(release, noise=Noise.GAUSSIAN))
    return min(choices, key=lambda choice: floor_of(choice, measure=Measure.ZCDP))
