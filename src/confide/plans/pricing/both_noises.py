"""A plan of ρ in which some statistics have Laplace noise, where a mixed ledger bills that less.

At one order a mixed ledger bills a pure event ε − [ln(1 + e^−ε) − ln(1 + e^−(2a−1)ε)]/(a − 1), a
Gaussian one aρ (:mod:`confide.privacy.accounting.mixed`).  So a sharp number costs less with
Laplace noise, a rough one with Gaussian, and a study of one sharp number beside many rough ones is
cheapest with both.  Costs at one order add up, so each statistic is decided by itself, and no other
division of the statistics costs less.  The same holds of a statistic with a large share of what is
spent beside many with small ones: at the same cost its Laplace noise is the smaller.

*Privacy:* the noise of each statistic is that of a plan of ε or of a plan of ρ, priced before any
row is read.  Laplace noise of ε is ε²/2-zCDP [BS16, prop. 1.4]; that is what the plan's ρ says, and
it bounds the loss.  What the ledger charges is recomputed from the events.

References:
    [BS16] Bun, Steinke. Concentrated differential privacy. TCC 2016.
        https://arxiv.org/abs/1605.02065
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.events import cost_in_lanes
from confide.plans.plan import Measurement, Plan, Statistic
from confide.privacy.accounting.mixed import best_order, charge
from confide.privacy.amount import ATTO, NANO, InLanes, atto
from confide.privacy.loss import PureDP
from confide.privacy.measure import Measure, Mixed
from confide.tables.aggregates.shapes import InRounds

Forecaster: TypeAlias = Callable[[Statistic, Sequence[Measurement]], float | None]
"""The error of a statistic, if its questions are answered with this noise."""

AS_GOOD = 0.01
"""Errors that differ by a smaller share are taken for the same."""

_GRID = 2**20
_STEPS = 256


def with_both(
    rho: Plan, pure: Plan, *, measure: Mixed, order: int, error: Forecaster
) -> tuple[Plan, ...]:
    """Return plans of ρ with Laplace noise wherever it costs less, or errs less at the same cost.

    Args:
        rho: Of a study, in ρ.
        pure: Of the same study, in ε.
        measure: Of the ledger.
        order: At which costs are compared, one of its orders; errors at the same cost are compared
            at the order in which the larger of the two plans by itself loses least.
        error: Of a statistic with given noise; None where it cannot be forecast.

    Returns:
        Nothing if all statistics or none would have it, or the release by itself would lose more
        than either plan does; else one in which no statistic costs more than in the plan of ρ, and
        one that by itself loses as much.
    """
    alone = max(_lanes(plan.measurements, measure).alone for plan in (rho, pure))
    own = best_order(Fraction(alone, NANO), delta=Fraction(measure.atto, ATTO))
    parts = [
        _part(
            rho.of(statistic.id),
            pure.of(statistic.id),
            error=functools.partial(error, statistic),
            less=lambda these, those: (
                _lanes(these, measure).at(order) < _lanes(those, measure).at(order)
            ),
            own=own,
        )
        for statistic in rho.statistics
    ]
    most = _most(parts, alone=alone, order=own, measure=measure)
    plans = (
        replace(rho, measurements=tuple(each for part in parts for each in part.at(factor, own)))
        for factor in dict.fromkeys((Fraction(1), most))
    )
    number = len(rho.statistics)
    return tuple(
        plan
        for plan in plans
        if 0 < len(with_laplace(plan)) < number
        and _lanes(plan.measurements, measure).alone <= alone
    )


def has_both(plan: Plan) -> bool:
    """Return whether a plan of ρ has statistics with Laplace noise."""
    return plan.dataset.measure is Measure.ZCDP and bool(with_laplace(plan))


def with_laplace(plan: Plan) -> tuple[Statistic, ...]:
    """Return the statistics of a plan that have Laplace noise."""
    found = {m.statistic for m in plan.measurements if isinstance(m.mechanism, DiscreteLaplace)}
    return tuple(each for each in plan.statistics if each.id in found)


def cost_shares(plan: Plan) -> tuple[float, ...]:
    """Return the share of each measurement in what a plan costs; of both noises, at its order.

    That is the order at which the release by itself loses least, at the δ of the data set.
    """
    if not has_both(plan):
        return tuple(each.nano / plan.amount.nano for each in plan.measurements)
    delta = plan.dataset.delta
    alone = _lanes(plan.measurements, Mixed(atto=atto(delta), yearly=2, lifetime=2)).alone
    order = best_order(Fraction(alone, NANO), delta=delta)
    costs = [each.event.use.charged(order).ordered for each in plan.measurements]
    return tuple(cost / sum(costs) for cost in costs)


def _ask_the_same(ours: Sequence[Measurement], theirs: Sequence[Measurement]) -> bool:
    """Return whether they ask the same, and are answered with added noise in one round."""
    if len(ours) != len(theirs):
        return False
    return all(
        one.name == other.name
        and one.aggregate == other.aggregate
        and one.sensitivity == other.sensitivity
        and not isinstance(one.aggregate, InRounds)
        and isinstance(other.mechanism, DiscreteLaplace)
        for one, other in zip(ours, theirs, strict=True)
    )


def _lanes(measurements: Sequence[Measurement], measure: Mixed) -> InLanes:
    return cost_in_lanes([each.event for each in measurements], measure=measure)


def _is_at_most(error: float | None, other: float | None, *, factor: float) -> bool:
    return error is not None and other is not None and error <= factor * other


def _in_rho(measurement: Measurement) -> Measurement:
    return replace(measurement, nano=math.ceil(measurement.event.rho() * NANO))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The measurements of a statistic, and whether it takes a share of what is left."""

    measurements: tuple[Measurement, ...]
    shares: bool = False

    def at(self, factor: Fraction, order: int) -> tuple[Measurement, ...]:
        """Return them at so many times their cost, if they take a share."""
        if not self.shares or factor == 1:
            return self.measurements
        return tuple(_more(each, factor=factor, order=order) for each in self.measurements)


def _part(
    ours: tuple[Measurement, ...],
    theirs: tuple[Measurement, ...],
    *,
    error: Callable[[Sequence[Measurement]], float | None],
    less: Callable[[Sequence[Measurement], Sequence[Measurement]], bool],
    own: int,
) -> _Part:
    """Return the noise of a statistic, of ρ, of ε, or of ε at the cost of ρ."""
    before = error(ours)
    if before is None or not _ask_the_same(ours, theirs):
        return _Part(measurements=ours)
    after = error(theirs)
    as_good = _is_at_most(after, before, factor=1 + AS_GOOD)
    if as_good and less(theirs, ours):
        return _Part(measurements=tuple(map(_in_rho, theirs)))
    if as_good and _is_at_most(
        before, after, factor=1 + AS_GOOD
    ):  # both keep an error that is named
        return _Part(measurements=ours)
    sharper = tuple(_laplace(each, order=own, cost=own * each.nano) for each in ours)
    better = _is_at_most(error(sharper), before, factor=1 - AS_GOOD)
    return _Part(measurements=sharper if better else ours, shares=True)


def _most(parts: Sequence[_Part], *, alone: int, order: int, measure: Mixed) -> Fraction:
    """Return how many times their cost those that share may have, for what all may lose.

    It is more than once, as the best order of both noises is another than that of either.
    """
    low, high = _STEPS, 2 * _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        found = [each for part in parts for each in part.at(Fraction(middle, _STEPS), order)]
        fits = _lanes(found, measure).alone <= alone
        low, high = (middle, high) if fits else (low, middle)
    return Fraction(low, _STEPS)


def _more(measurement: Measurement, *, factor: Fraction, order: int) -> Measurement:
    """Return a measurement with less noise of its kind, at so many times its cost at an order."""
    if isinstance(measurement.mechanism, DiscreteLaplace):
        cost = math.floor(factor * measurement.event.use.charged(order).ordered)
        return _laplace(measurement, order=order, cost=cost)
    nano = math.floor(factor * measurement.nano)
    variance = measurement.sensitivity.l2_squared / (2 * Fraction(nano, NANO))
    return replace(measurement, nano=nano, mechanism=DiscreteGaussian(sigma_squared=variance))


def _laplace(measurement: Measurement, *, order: int, cost: int) -> Measurement:
    """Return a measurement with the Laplace noise that costs so much at an order, in 1e-9."""
    epsilon = _largest(cost, order=order)
    noise = DiscreteLaplace(scale=measurement.sensitivity.l1 / epsilon)
    return _in_rho(replace(measurement, mechanism=noise))


@functools.lru_cache(maxsize=1024)
def _largest(nano: int, *, order: int) -> Fraction:
    """Return the largest ε on the grid that costs at most so much at an order."""
    low, high = 1, math.ceil((Fraction(nano, NANO) + 1) * _GRID)  # as d ≥ ε − ln 2/(a − 1)
    while high - low > 1:
        middle = (low + high) // 2
        costs = charge(PureDP(epsilon=Fraction(middle, _GRID)), order=order).ordered
        low, high = (middle, high) if costs <= nano else (low, middle)
    return Fraction(low, _GRID)
