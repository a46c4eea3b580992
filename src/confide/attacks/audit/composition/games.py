"""Games against a rule of composition: an adversary who chooses each event by what came before.

An event is a pair of laws on two outcomes, told by the chance of the first under P and by its log
ratio.  What a strategy reaches is added up over the whole tree, without sampling.

*Privacy:* a strategy that reaches more than δ refutes the rule; strategies that do not prove
nothing beyond the proof in :mod:`confide.privacy.accounting.mixed`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from confide.privacy.accounting.mixed import Lanes, MixedCap, charge
from confide.privacy.amount import NANO
from confide.privacy.loss import PureDP

_HALVINGS = 60
_LEAST = 1e-12
_STOPS = 0.1

Chance: TypeAlias = Callable[[], float]
"""Draws a number from 0 on and below 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoOutcomes:
    """Laws P and Q on two outcomes.

    Attributes:
        chance: Of the first outcome under P.
        loss: ln P/Q of the first outcome.
        epsilon: Of the pure event that it is charged as; None where it is charged at an order.
    """

    chance: float
    loss: float
    epsilon: Fraction | None = None

    def outcomes(self) -> Iterator[tuple[float, float]]:
        """Yield the chance under P of each outcome, and its log ratio."""
        yield self.chance, self.loss
        other = math.log1p(-self.chance) - math.log1p(-self.chance * math.exp(-self.loss))
        yield 1 - self.chance, other

    def divergence(self, order: float) -> float:
        """Return the larger of both directions' divergence at an order."""
        both = [(order - 1) * ratio for _, ratio in self.outcomes()]
        back = [-order * ratio for _, ratio in self.outcomes()]
        return max(self._log_moment(both), self._log_moment(back)) / (order - 1)

    def _log_moment(self, exponents: Sequence[float]) -> float:
        most = max(exponents)
        chances = (p for p, _ in self.outcomes())
        found = sum(p * math.exp(e - most) for p, e in zip(chances, exponents, strict=True))
        return most + math.log(found)

    def rho(self) -> float:
        """Return the largest of its divergences by their orders, from above."""
        orders = [1 + 1.02**step / 100 for step in range(500)]
        return 1.0004 * max(self.divergence(order) / order for order in orders)

    def cost(self, order: int) -> Lanes:
        """Return what it costs in both lanes."""
        if self.epsilon is not None:
            return charge(PureDP(epsilon=self.epsilon), order=order)
        return Lanes(pure=None, ordered=math.ceil(self.divergence(order) * NANO))


class Rule(Protocol):
    """What admits events one after another, by a state of its own."""

    @property
    def epsilon(self) -> float:
        """ε*, at which the δ of all together is read."""

    def start(self) -> Any:
        """Return the state before the first event."""

    def after(self, state: Any, event: TwoOutcomes) -> Any:
        """Return the state after an event; None where it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCap:
    """The rule of the product.

    Attributes:
        cap: Which.
    """

    cap: MixedCap

    @property
    def epsilon(self) -> float:
        """ε* of the cap."""
        return float(self.cap.epsilon)

    def start(self) -> Lanes:
        """Nothing was charged."""
        return Lanes()

    def after(self, state: Lanes, event: TwoOutcomes) -> Lanes | None:
        """Admit as the product does."""
        together = state + event.cost(self.cap.order)
        return together if self.cap.admits(together) else None


def response(epsilon: Fraction) -> TwoOutcomes:
    """Return randomised response, the worst of all pure events."""
    kept = 1 / (1 + math.exp(-float(epsilon)))
    return TwoOutcomes(chance=kept, loss=float(epsilon), epsilon=epsilon)


Offered = Callable[[Rule, Any], TwoOutcomes | None]
"""An event that is as large as a rule admits after what was charged so far, or a part of that."""


def responding(share: float) -> Offered:
    """Return the offer of randomised response of a share of the largest ε that is admitted."""

    def offer(rule: Rule, state: Any) -> TwoOutcomes | None:
        most = _largest(
            lambda part: response(Fraction(round(4 * part * NANO) or 1, NANO)), rule, state
        )
        return (
            None if not most else response(Fraction(max(1, round(4 * most * share * NANO)), NANO))
        )

    return offer


def surprising(loss: float, share: float) -> Offered:
    """Return the offer of a rare outcome of that log ratio, of a share of the largest chance."""

    def offer(rule: Rule, state: Any) -> TwoOutcomes | None:
        most = _largest(lambda part: TwoOutcomes(chance=part**4 / 2, loss=loss), rule, state)
        return TwoOutcomes(chance=most**4 / 2 * share, loss=loss) if most else None

    return offer


def _largest(made: Callable[[float], TwoOutcomes], rule: Rule, state: Any) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if rule.after(state, made(middle)) is None:
            high = middle
        else:
            low = middle
    return low if low > _LEAST else 0.0


def best_reached(rule: Rule, *, offers: tuple[Offered, ...], depth: int) -> float:
    """Return the largest δ at ε* that a strategy of offers reaches: by dynamic programming."""

    def value(state: Any, seen: float, left: int) -> float:
        best = max(0.0, -math.expm1(rule.epsilon - seen))
        for offer in offers if left else ():
            event = offer(rule, state)
            after = None if event is None else rule.after(state, event)
            if event is not None and after is not None:
                found = sum(p * value(after, seen + ell, left - 1) for p, ell in event.outcomes())
                best = max(best, found)
        return best

    return value(rule.start(), 0.0, depth)


def reached_by_chance(rule: Rule, *, chance: Chance, depth: int) -> float:
    """Return the δ that a strategy reaches which chooses at random anew after every outcome."""

    def value(state: Any, seen: float, left: int) -> float:
        stop = max(0.0, -math.expm1(rule.epsilon - seen))
        if not left or chance() < _STOPS:
            return stop
        share = one_of((1.0, chance(), chance() ** 3), chance=chance)
        at = rule.epsilon - seen + one_of((0.0, 0.05, chance(), -chance()), chance=chance)
        offer = responding(share) if chance() < 1 / 2 else surprising(max(at, 0.01), share)
        event = offer(rule, state)
        after = None if event is None else rule.after(state, event)
        if event is None or after is None:
            return stop
        return sum(p * value(after, seen + ell, left - 1) for p, ell in event.outcomes())

    return value(rule.start(), 0.0, depth)


def one_of(values: Sequence[float], *, chance: Chance) -> float:
    """Return one of some numbers, each as likely."""
    return values[int(chance() * len(values))]


def sharpest(cap: MixedCap) -> float:
    """Return the log ratio at which the inequality of the proof is an equality."""
    return float(cap.epsilon) + math.log(cap.order / (cap.order - 1))
