"""What one release loses by itself, from the laws of its noise; never what a ledger adds up.

*Privacy:* (ε, δ) for the release alone, whose noise is fixed before it begins: also where rounds of
a model ask what earlier rounds answered, since that does not change their noise.  Two such numbers
do not add up to that of two releases (:mod:`confide.privacy.accounting.one_release`).
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection
from confide.noise.threshold import KeyThreshold
from confide.plans.events import PrivacyEvent
from confide.plans.plan import Plan
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.accounting.one_release import (
    GaussianUse,
    NoiseUse,
    PureUse,
    epsilon_of_release,
)
from confide.privacy.loss import ApproxDP, ZeroConcentratedDP

_GRID = 10**4


def loss_by_itself(plan: Plan) -> ApproxDP | None:
    """Return (ε, δ) of a release of ρ by itself, ε rounded up at four decimals.

    None where the laws of its noise say no more than ρ does, as under pure privacy.
    """
    loss, delta = plan.loss, plan.dataset.delta
    if not isinstance(loss, ZeroConcentratedDP):
        return None
    of_charges = Fraction(epsilon_at(loss, delta=delta))
    events = [each.event for each in plan.measurements]
    found = epsilon_of_release(uses_of(events), delta=delta - loss.delta, at_most=of_charges)
    epsilon, shown = (Fraction(math.ceil(each * _GRID), _GRID) for each in (found, of_charges))
    return ApproxDP(epsilon=epsilon, delta=delta) if epsilon < shown else None


def uses_of(events: Sequence[PrivacyEvent]) -> Iterator[NoiseUse]:
    """Yield what is known of the noise of events that are not on samples.

    A key selection is taken for its noise, beside its δ.
    """
    for each in events:
        match each.mechanism:
            case DiscreteGaussian(sigma_squared=sigma_squared):
                yield GaussianUse(
                    l1=each.l1,
                    l2_squared=each.l2_squared,
                    sigma_squared=sigma_squared,
                    count=each.count,
                )
            case DiscreteLaplace() | KeyThreshold():
                count, epsilon = each.pure_uses()
                yield PureUse(epsilon=epsilon, count=count)
            case SetSelection() | Peeling():
                count, epsilon = each.pure_uses()
                yield PureUse(epsilon=epsilon, chooses=True, count=count)
            case _:
                assert_never(each.mechanism)
