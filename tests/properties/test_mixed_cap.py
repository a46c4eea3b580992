"""Whoever chooses each event by what came before stays within (ε*, δ) of a cap on every kind of loss."""

import math
from fractions import Fraction
from random import Random

import pytest

from confide.privacy.accounting.mixed import MixedCap
from mixed_games import OneCap, best_reached, reached_by_chance, responding, surprising

CAPS = [("1", "1e-6"), ("0.5", "1e-5"), ("3", "1e-6"), ("0.1", "1e-8"), ("10", "1e-5")]


def game(epsilon: str, delta: str) -> OneCap:
    return OneCap(cap=MixedCap.of(Fraction(epsilon), delta=Fraction(delta)))


def sharpest(rule: OneCap) -> float:
    """The log ratio at which the proof's inequality is an equality."""
    order = rule.cap.order
    return rule.epsilon + math.log(order / (order - 1))


@pytest.mark.parametrize(("epsilon", "delta"), CAPS)
def test_the_delta_of_a_cap_is_reached_and_never_passed(epsilon: str, delta: str) -> None:
    rule = game(epsilon, delta)
    far = sharpest(rule)
    one = best_reached(rule, offers=(surprising(far, 1.0),), depth=1)
    parts = (
        surprising(far, 0.5),
        surprising(far / 2, 0.5),
        surprising(far / 10, 0.05),
        responding(1.0),
        responding(0.5),
    )
    two = best_reached(rule, offers=(surprising(far, 1.0), *parts), depth=2)
    assert 0.999 * float(Fraction(delta)) < one <= two <= float(Fraction(delta))


def passed(runs: int, *, depth: int) -> list[tuple[str, int]]:
    return [
        (epsilon, seed)
        for number, (epsilon, delta) in enumerate(CAPS)
        for seed in range(runs // len(CAPS))
        if reached_by_chance(game(epsilon, delta), random=Random(7919 * number + seed), depth=depth)
        > float(Fraction(delta))
    ]


def test_no_random_strategy_passes_the_delta_of_a_cap() -> None:
    assert passed(100, depth=3) == []


@pytest.mark.audit
def test_none_of_ten_thousand_random_strategies_passes_the_delta_of_a_cap() -> None:
    assert passed(10_000, depth=4) == []
