"""Losses of every kind under one cap: a pure lane, and a lane of one Rényi order.

Law.  A cap (ε*, δ) fixes one whole order a, publicly and before its first event.  The next event is
admitted if, with it, at least one of these holds:

- *pure lane*: every event so far is pure, and Σε ≤ ε*;
- *order lane*: Σd ≤ B, where d is the charge of an event at order a, and with
  κ = (1/a)(1 − 1/a)^{a−1} the budget is B = ε* − ln(κ/δ)/(a − 1).

Events are charged at order a:

- any ε-DP event ε − [ln(1 + e^{−ε}) − ln(1 + e^{−(2a−1)ε})]/(a − 1), the divergence of randomised
  response, which is the worst of them [KOV15];
- a choice by the exponential mechanism that, or aε²/8 where it is less [CR21];
- ρ-zCDP aρ; steps on Poisson samples the divergence of that order (:mod:`.sampled_gaussian`).

*Theorem.*  However each event is chosen, by whoever sees what came before, all that was admitted
is together (ε*, δ)-DP.  *Proof.*  P and Q are the laws of the transcript on neighbours, L the log
of their ratio on what was seen so far, S the sum of the charges.  (1) Given the past, an event has
E_P[e^{(a−1)ℓ}] ≤ e^{(a−1)d}, so e^{(a−1)(L−S)} is a supermartingale under P that begins at 1.
(2) For every real ℓ, (1 − e^{ε*−ℓ})₊ ≤ κ·e^{(a−1)(ℓ−ε*)}: over z ≥ 1, (1 − 1/z)·z^{−(a−1)} is
greatest at z = a/(a−1), and κ there.  (3) What is refused adds nothing, so at the end one lane
holds.  If the pure one, L ≤ ε* surely and (1 − e^{ε*−L})₊ = 0.  Else S ≤ B, and (1 − e^{ε*−L})₊ ≤
κ·e^{(a−1)(B−ε*)}·e^{(a−1)(L−S)} = δ·e^{(a−1)(L−S)}.  So E_P(1 − e^{ε*−L})₊ ≤ δ, which is the
claim; exchange P and Q for the other direction.  ∎  `docs/design/043-mixed-ledger.md` says what
follows when a cap is changed, and which nearby rules are false.

*Privacy:* decimals of 60 digits; a charge is rounded up and a budget down to 1e-9, past an error of
1e-30 that is larger than all of evaluation.  A cap that is changed keeps its order: one that is
chosen after answers were seen is not covered.
*Utility:* the order is that of the largest ρ which the cap has room for.  A cap of (1, 1e-6) takes
ten pure events of 0.1 as their sum does, and of ρ what zCDP takes but for 1 part in 2·10⁶.

References:
    [KOV15] Kairouz, Oh, Viswanath. The composition theorem for differential privacy. ICML 2015.
        https://arxiv.org/abs/1311.0776
    [CR21] Cesar, Rogers. Bounding, concentrating, and truncating. ALT 2021.
        https://arxiv.org/abs/2004.07223
    [Mir17] Mironov. Rényi differential privacy. CSF 2017. https://arxiv.org/abs/1702.07476
    [WRRW23] Whitehouse, Ramdas, Rogers, Wu. Fully-adaptive composition in differential privacy.
        ICML 2023. https://arxiv.org/abs/2203.05481
"""

import decimal
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, assert_never

from confide.errors import InvalidParameterError
from confide.privacy.accounting.sampled_gaussian import SampledSteps, divergence_at
from confide.privacy.amount import ATTO, NANO, InLanes, nano
from confide.privacy.exact import as_decimal, require_exact_delta
from confide.privacy.loss import PureDP, ZeroConcentratedDP
from confide.privacy.measure import Mixed

MixedLoss: TypeAlias = PureDP | ZeroConcentratedDP | SampledSteps
"""What has a charge at every order: losses that have no δ of their own."""

_DIGITS = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_SLACK = Fraction(1, 10**30)
_MOST_ORDER = 2**40  # that of an ε of 1e-10, less than a ledger counts in


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """What events cost in each lane, in 1e-9 nats; of one event, or of all so far.

    Attributes:
        pure: Their Σε; None as soon as one of them is not pure.
        ordered: Their Σd at the order of a cap.
    """

    pure: int | None = 0
    ordered: int = 0

    def __add__(self, other: "Lanes") -> "Lanes":
        """Return the cost of both together."""
        pure = None if self.pure is None or other.pure is None else self.pure + other.pure
        return Lanes(pure=pure, ordered=self.ordered + other.ordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedCap:
    """The most that all events together may reveal, and the order in which they are counted.

    Attributes:
        epsilon: ε*, in nats.
        delta: δ, in (0, 1).
        order: Whole, at least 2; fixed before the first event.
    """

    epsilon: Fraction
    delta: Fraction
    order: int

    def __post_init__(self) -> None:
        _require(self.epsilon, delta=self.delta)
        _require_order(self.order)

    @classmethod
    def of(cls, epsilon: Fraction, *, delta: Fraction) -> "MixedCap":
        """Return a cap at its best order.

        Raises:
            InvalidParameterError: If ε is below 1e-9, or δ not in (0, 1).

        Example:
            >>> MixedCap.of(Fraction(1), delta=Fraction("1e-6")).order
            22
        """
        return cls(epsilon=epsilon, delta=delta, order=best_order(epsilon, delta=delta))

    @property
    def budget(self) -> int:
        """B in 1e-9 nats, rounded down; at or below 0 nothing fits the order lane."""
        return _budget(self.epsilon, self.delta, self.order)

    def admits(self, total: Lanes) -> bool:
        """Return whether the events, the one that is asked for among them, are within the cap.

        Example:
            Ten pure events of 0.1 fit a cap of 1, and no eleventh:

            >>> cap = MixedCap.of(Fraction(1), delta=Fraction("1e-6"))
            >>> each = charge(PureDP(epsilon=Fraction("0.1")), order=cap.order)
            >>> [cap.admits(sum([each] * count, Lanes())) for count in (10, 11)]
            [True, False]
        """
        if total.pure is not None and total.pure <= nano(self.epsilon):
            return True
        return total.ordered <= self.budget

    def changed(self, epsilon: Fraction) -> "MixedCap":
        """Return the cap at another ε*, which keeps its order: events were counted in it."""
        return replace(self, epsilon=epsilon)


def best_order(epsilon: Fraction, *, delta: Fraction) -> int:
    """Return the order at which the most ρ fits a cap: the greatest B/a.

    B/a as a function of real a rises, then falls: it is the ρ whose conversion at a is ε*, and the
    conversion of any ρ falls, then rises [CKS20, cor. 13 in :mod:`.concentrated`].

    Raises:
        InvalidParameterError: If ε is below 1e-9, or δ not in (0, 1).
    """
    _require(epsilon, delta=delta)

    def rises(order: int) -> bool:
        here, there = (_exact_budget(epsilon, delta, each) / each for each in (order, order + 1))
        return there > here

    if not rises(2):
        return 2
    low, high = 2, 4  # B/a rises at low, and no more at high
    while high <= _MOST_ORDER and rises(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rises(middle) else (low, middle)
    return high


def charge(loss: MixedLoss, *, order: int) -> Lanes:
    """Return what an event costs in each lane, each rounded up to 1e-9.

    Raises:
        InvalidParameterError: If the order is not a whole number of at least 2, or the loss has a
            δ of its own.

    Example:
        A count with Laplace noise at ε = 0.1, and one with Gaussian noise at ρ = 0.005:

        >>> charge(PureDP(epsilon=Fraction("0.1")), order=22)
        Lanes(pure=100000000, ordered=69956223)
        >>> charge(ZeroConcentratedDP(rho=Fraction("0.005")), order=22)
        Lanes(pure=None, ordered=110000000)
    """
    _require_order(order)
    match loss:
        case PureDP(epsilon=epsilon):
            pure, ordered = math.ceil(epsilon * NANO), _pure_divergence(Fraction(epsilon), order)
            return Lanes(pure=pure, ordered=min(pure, _up(ordered)))
        case ZeroConcentratedDP(rho=rho) if not loss.delta:
            return Lanes(pure=None, ordered=math.ceil(order * rho * NANO))
        case SampledSteps():
            return Lanes(pure=None, ordered=_up(divergence_at([loss], order=order)))
        case ZeroConcentratedDP():
            raise InvalidParameterError(
                f"Expected a loss without a δ of its own, got delta={loss.delta}.",
                hint="Take that δ from the δ of the cap, and charge ρ.",
            )
        case _:
            assert_never(loss)


def choice_charge(loss: PureDP, *, order: int) -> Lanes:
    """Return the cost of a choice by the exponential mechanism of that ε, each rounded up.

    Example:
        >>> choice_charge(PureDP(epsilon=Fraction("0.1")), order=22)
        Lanes(pure=100000000, ordered=27500000)
    """
    any_pure = charge(loss, order=order)
    range_bounded = math.ceil(order * Fraction(loss.epsilon) ** 2 / 8 * NANO)
    return replace(any_pure, ordered=min(any_pure.ordered, range_bounded))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneEvent:
    """One event, or the same event many times, as lanes charge it.

    Attributes:
        loss: Of one of them.
        chooses: Whether it is a choice by the exponential mechanism.
        count: Number of them; at least 1.
    """

    loss: MixedLoss
    chooses: bool = False
    count: int = 1

    def charged(self, order: int) -> Lanes:
        """Return what all of them cost in each lane, each rounded up."""
        if self.chooses and isinstance(self.loss, PureDP):
            one = choice_charge(self.loss, order=order)
        else:
            one = charge(self.loss, order=order)
        pure = None if one.pure is None else one.pure * self.count
        return Lanes(pure=pure, ordered=one.ordered * self.count)


def cost(uses: Sequence[LaneEvent], *, measure: Mixed) -> InLanes:
    """Return what events together cost a mixed ledger.

    Args:
        uses: At least one, all fixed before the first is made.
        measure: Of the ledger.

    Raises:
        InvalidParameterError: If there are none.
    """
    counted = _counted(uses)
    ordered = {order: _total(counted, order=order) for order in measure.orders}
    alone = _alone(counted, delta=Fraction(measure.atto, ATTO))
    pure = next(iter(ordered.values())).pure
    return InLanes(
        alone=alone,
        pure=pure,
        ordered=tuple((order, total.ordered) for order, total in ordered.items()),
    )


def _alone(uses: Sequence[LaneEvent], *, delta: Fraction) -> int:
    """Return an ε in 1e-9 that events lose together at δ, if all are fixed before the first.

    Σε where all are pure, at no δ; else the least of all orders, as Σd + ln(κ/δ)/(a − 1) falls and
    then rises with the order.
    """
    pure = _total(uses, order=2).pure
    if pure is not None:
        return pure

    def lost(order: int) -> int:
        return epsilon_of_lanes(_total(uses, order=order), order=order, delta=delta)

    low, high = 2, 4
    while high <= _MOST_ORDER and lost(high) < lost(low):
        low, high = high, high * 2
    low = max(2, low // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if lost(middle + 1) < lost(middle) else (low, middle)
    return min(lost(low), lost(high))


def epsilon_of_lanes(total: Lanes, *, order: int, delta: Fraction) -> int:
    """Return in 1e-9 the least ε* of a cap at an order that admits what was charged; 0 for nothing.

    Example:
        >>> gaussian = charge(ZeroConcentratedDP(rho=Fraction("0.005")), order=22)
        >>> epsilon_of_lanes(gaussian, order=22, delta=Fraction("1e-6"))
        574168942
    """
    if not total.ordered:
        return 0
    in_order = total.ordered + _up(-_exact_budget(Fraction(0), delta, order))
    return in_order if total.pure is None else min(total.pure, in_order)


def least_cap(losses: Sequence[MixedLoss], *, delta: Fraction) -> Fraction:
    """Return the least ε* in steps of 1e-9 whose cap at ``delta`` admits all losses.

    Raises:
        InvalidParameterError: If there are no losses, or δ is not in (0, 1).

    Example:
        Five pure counts and a Gaussian regression; with ε²/2 for each count it would be 1.215:

        >>> counts = [PureDP(epsilon=Fraction("0.1"))] * 5
        >>> study = [*counts, ZeroConcentratedDP(rho=Fraction("0.01"))]
        >>> float(round(least_cap(study, delta=Fraction("1e-6")), 3))
        1.043
    """
    counted = _counted([LaneEvent(loss=each) for each in losses])

    def fits(steps: int) -> bool:
        cap = MixedCap.of(Fraction(steps, NANO), delta=delta)
        return cap.admits(_total(counted, order=cap.order))

    low, high = 0, NANO
    while not fits(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return Fraction(high, NANO)


def _counted(uses: Sequence[LaneEvent]) -> tuple[LaneEvent, ...]:
    """Return the events, equal ones together."""
    if not uses:
        raise InvalidParameterError("Expected at least one loss, got none.")
    counts: dict[tuple[MixedLoss, bool], int] = {}
    for each in uses:
        kind = (each.loss, each.chooses)
        counts[kind] = counts.get(kind, 0) + each.count
    return tuple(LaneEvent(loss=loss, chooses=c, count=n) for (loss, c), n in counts.items())


def _total(uses: Sequence[LaneEvent], *, order: int) -> Lanes:
    return sum((each.charged(order) for each in uses), Lanes())


@functools.lru_cache(maxsize=4096)
def _budget(epsilon: Fraction, delta: Fraction, order: int) -> int:
    return ((_exact_budget(epsilon, delta, order) - _SLACK) * NANO).__floor__()


@functools.lru_cache(maxsize=4096)
def _exact_budget(epsilon: Fraction, delta: Fraction, order: int) -> Fraction:
    """Return ε* − ln(κ/δ)/(a − 1) to some 50 digits."""
    with decimal.localcontext(_DIGITS):
        a = decimal.Decimal(order)
        log_kappa = (a - 1) * (1 - 1 / a).ln() - a.ln()
        return epsilon - Fraction((log_kappa - as_decimal(delta).ln()) / (a - 1))


@functools.lru_cache(maxsize=4096)
def _pure_divergence(epsilon: Fraction, order: int) -> Fraction:
    """Return the divergence of randomised response at an order, to some 50 digits."""
    with decimal.localcontext(_DIGITS):
        e = as_decimal(epsilon)
        kept = (1 + (-e).exp()).ln() - (1 + (-(2 * order - 1) * e).exp()).ln()
        return Fraction(e - kept / (order - 1))


def _up(nats: Fraction) -> int:
    return math.ceil((nats + _SLACK) * NANO)


def _require(epsilon: Fraction, *, delta: Fraction) -> None:
    nano(epsilon)
    require_exact_delta(delta)


def _require_order(order: int) -> None:
    if not isinstance(order, int) or isinstance(order, bool) or not 2 <= order <= 2 * _MOST_ORDER:
        raise InvalidParameterError(f"Expected a whole order of at least 2, got {order!r}.")
