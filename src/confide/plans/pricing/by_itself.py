"""What one release loses by itself, from the laws of its noise; never what a ledger adds up.

*Privacy:* (ε, δ) for the release alone, whose noise is fixed before it begins: also where rounds of
a model ask what earlier rounds answered, since that does not change their noise.  Two such numbers
do not add up to that of two releases (:mod:`confide.privacy.accounting.one_release`).
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from confide.errors import UnsupportedError
from confide.noise.choices.quantile_set import QuantileSet
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.distributed.polya_difference import PolyaDifference
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
from confide.privacy.amount import NANO
from confide.privacy.loss import ApproxDP, ZeroConcentratedDP

_GRID = 10**4
_RAISED = 1 + 1e-12  # more than the rounding errors of logarithms and sums


def loss_by_itself(plan: Plan) -> ApproxDP | None:
    """Return (ε, δ) of a release of ρ by itself, ε rounded up at four decimals.

    None where the laws of its noise say no more than ρ does, as under pure privacy; and over sites,
    where noise is a sum of parts, whose law is bounded in ρ alone.
    """
    loss, delta = plan.loss, plan.dataset.delta
    if not isinstance(loss, ZeroConcentratedDP) or plan.federation is not None:
        return None
    of_charges = Fraction(epsilon_at(loss, delta=delta))
    events = [each.event for each in plan.measurements]
    found = epsilon_of_release(uses_of(events), delta=delta - loss.delta, at_most=of_charges)
    epsilon, shown = (Fraction(math.ceil(each * _GRID), _GRID) for each in (found, of_charges))
    return ApproxDP(epsilon=epsilon, delta=delta) if epsilon < shown else None


def pointwise_by_itself(plan: Plan) -> Fraction:
    """Return ε that the loss of a release of both noises passes with a chance of at most δ.

    By Markov's inequality it is at most d(a) + ln(1/δ′)/(a − 1) at each order a, with δ′ what key
    selections leave of δ; the least of whole orders up to where it grows, rounded up at six
    decimals.
    """
    uses = [each.event.use for each in plan.measurements]
    of_keys = sum(each.event.delta for each in plan.measurements)
    chance = math.log(1 / (plan.dataset.delta - of_keys)) * _RAISED

    def passed(order: int) -> float:
        charged = sum(use.charged(order).ordered for use in uses)
        return charged / NANO + chance / (order - 1)

    order = 2
    while passed(order + 1) < passed(order):
        order += 1
    return Fraction(math.ceil(passed(order) * _RAISED * 10**6), 10**6)


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
            case SetSelection() | Peeling() | QuantileSet():
                count, epsilon = each.pure_uses()
                yield PureUse(epsilon=epsilon, chooses=True, count=count)
            case PolyaDifference():
                raise UnsupportedError("Parts of noise are charged as the law of those counted on.")
            case _:
                assert_never(each.mechanism)
