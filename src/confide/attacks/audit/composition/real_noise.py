"""Strategies of real mechanisms against a cap: counts with either noise, and choices.

The first answer is looked at: whether its log ratio is above a threshold decides what is asked
afterwards, both times until nothing more fits or the adversary stops.  What that reaches is summed
over all outcomes of the first event, and the laws of the others are convolved.

*Privacy:* laws are upper bounds (:mod:`confide.privacy.accounting.loss_distribution`), so a δ that
they keep is kept.  Pure events have their losses on the grid, where nothing is rounded.
"""

import bisect
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from confide.attacks.audit.composition.games import Chance, one_of
from confide.privacy.accounting.loss_distribution import (
    CERTAIN,
    LossDistribution,
    no_loss,
    response_law,
    unit_gaussian,
)
from confide.privacy.accounting.mixed import Lanes, MixedCap, charge, choice_charge
from confide.privacy.amount import NANO
from confide.privacy.loss import PureDP, ZeroConcentratedDP

_STEPS = 200  # of the grid of losses in ε*
_CUT = 1e-9  # of δ
_MOST_EVENTS = 5
_COUNTS = (1, 1, 3, 10)  # how often a pure event is made
_STOPS = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseEvent:
    """An event with the law of its loss.

    Attributes:
        law: From above.
        cost: In both lanes of the cap.
    """

    law: LossDistribution
    cost: Lanes


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseGame:
    """A cap, and the largest events that it admits.

    Attributes:
        cap: Which.
        charged: Returns what an event is charged; another than the product's is a mutant.
        admits: Whether the cap admits what was charged; likewise.
    """

    cap: MixedCap
    charged: Callable[[PureDP | ZeroConcentratedDP, bool, int], Lanes] = lambda loss, chooses, a: (
        choice_charge(loss, order=a)
        if chooses and isinstance(loss, PureDP)
        else charge(loss, order=a)
    )
    admits: Callable[[MixedCap, Lanes], bool] = MixedCap.admits

    @property
    def step(self) -> Fraction:
        """Of the grid of losses."""
        return self.cap.epsilon / _STEPS

    @property
    def cut(self) -> int:
        """Most that is put at infinity at an end of a law."""
        return math.floor(self.cap.delta * CERTAIN * Fraction(_CUT))

    def gaussian(self, share: float, *, spent: Lanes) -> NoiseEvent | None:
        """Return a count with Gaussian noise of a share of the most ρ that is admitted."""
        room = Fraction(self.cap.budget - spent.ordered, NANO * self.cap.order)
        rho = Fraction(math.floor(room * Fraction(share) * NANO), NANO)
        if rho <= 0:
            return None
        cost = self.charged(ZeroConcentratedDP(rho=rho), False, self.cap.order)
        law = unit_gaussian(1 / (2 * rho), left_out=float(self.cap.delta) * _CUT)
        return self._admitted(NoiseEvent(law=law, cost=cost), spent=spent)

    def pure(
        self, share: float, *, spent: Lanes, lead: float | None = None, count: int = 1
    ) -> NoiseEvent | None:
        """Return randomised response, or a choice, of a share of the largest ε that is admitted.

        Args:
            share: Of the largest.
            spent: What was charged.
            lead: Of a choice, the larger of its losses as a share of ε; None for a response.
            count: How often it is made.
        """

        def cost(steps: int) -> Lanes:
            loss = PureDP(epsilon=steps * self.step)
            one = self.charged(loss, lead is not None, self.cap.order)
            pure = None if one.pure is None else one.pure * count
            return Lanes(pure=pure, ordered=one.ordered * count)

        sizes = range(1, 4 * _STEPS)
        admitted = bisect.bisect_left(
            sizes, True, key=lambda steps: not self.admits(self.cap, spent + cost(steps))
        )
        steps = math.ceil(admitted * share)
        if not steps:
            return None
        epsilon = steps * self.step
        one = (
            response_law(epsilon)
            if lead is None
            else _choice_law(epsilon, at=round(lead * steps) * self.step)
        )
        law = one.times(count, cut=self.cut)
        return self._admitted(NoiseEvent(law=law, cost=cost(steps)), spent=spent)

    def _admitted(self, event: NoiseEvent, *, spent: Lanes) -> NoiseEvent | None:
        return event if self.admits(self.cap, spent + event.cost) else None

    def drawn(self, *, spent: Lanes, chance: Chance) -> NoiseEvent | None:
        """Return an event of some kind and size; None where it would be refused."""
        share = one_of((1.0, chance(), chance() ** 2), chance=chance)
        if chance() < 1 / 2:
            return self.gaussian(share, spent=spent)
        lead = None if chance() < 1 / 2 else chance()
        count = int(one_of(_COUNTS, chance=chance))
        return self.pure(share, spent=spent, lead=lead, count=count)

    def sequence(self, *, spent: Lanes, chance: Chance) -> Iterator[NoiseEvent]:
        """Yield events until one is refused, or nobody wants more."""
        for _ in range(_MOST_EVENTS):
            event = self.drawn(spent=spent, chance=chance)
            if event is None or chance() < _STOPS:
                return
            spent += event.cost
            yield event

    def together(self, events: Iterator[NoiseEvent]) -> LossDistribution:
        """Return the law of all losses together, on the grid."""
        found = replace(no_loss(), step=self.step)
        for event in events:
            found = found.beside(event.law.on_grid(self.step), cut=self.cut)
        return found


def reached_by_noise(game: NoiseGame, *, chance: Chance) -> float:
    """Return an upper bound of the δ at ε* that a strategy reaches which is chosen at random."""
    first = game.drawn(spent=Lanes(), chance=chance)
    if first is None:
        return 0.0
    losses = first.law.losses()
    threshold = losses[int(chance() * len(losses))]
    above, below = (
        _curve(game.together(game.sequence(spent=first.cost, chance=chance))) for _ in range(2)
    )
    epsilon = float(game.cap.epsilon)
    pairs = zip(first.law.masses, losses, strict=True)
    reached = (
        mass / CERTAIN * (above if ell >= threshold else below)(epsilon - ell)
        for mass, ell in pairs
    )
    return math.fsum(reached) + first.law.infinite / CERTAIN


def _choice_law(epsilon: Fraction, *, at: Fraction) -> LossDistribution:
    """Return the law of a choice of two: losses ``at`` and ``at`` − ε, which are balanced."""
    kept = math.expm1(float(at - epsilon)) / math.expm1(-float(epsilon))
    masses = tuple(math.ceil(CERTAIN * min(1.0, each)) for each in (1 - kept, kept))
    return LossDistribution(start=at - epsilon, step=epsilon, masses=masses)


def _curve(law: LossDistribution) -> Callable[[float], float]:
    """Return δ as a function of ε, by sums from above on."""
    losses = law.losses()
    masses = [mass / CERTAIN for mass in law.masses]
    kept = [*itertools.accumulate(reversed(masses), initial=0.0)][::-1]
    other = [m * math.exp(-ell) for m, ell in zip(masses, losses, strict=True)]
    lost = [*itertools.accumulate(reversed(other), initial=0.0)][::-1]

    def delta(epsilon: float) -> float:
        # A loss of ε itself adds nothing, however it is rounded.
        place = bisect.bisect_right(losses, epsilon + 1e-12)
        return max(0.0, kept[place] - math.exp(epsilon) * lost[place]) + law.infinite / CERTAIN

    return delta
