"""Choices of quantiles that are wrong on purpose: each has to be noticed."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from confide.attacks.audit.exact_loss import log_chance_of_quantiles
from confide.noise.choices import quantile_set
from confide.noise.choices.quantile_set import QuantileSet
from goodness_of_fit import p_value_of_counts
from seeded import SeededEntropy

pytestmark = pytest.mark.mutant

MEDIAN = QuantileSet(epsilon=Fraction(1), reach=2, at=(Fraction(1, 2),), candidates=31)
ALONE = (0, 1, *[0] * 29)
"""One row, just above the least value."""


def loses(choice: QuantileSet, *, first=ALONE, more: int = 1) -> float:
    second = (*first[:-1], more)
    return log_chance_of_quantiles(choice, first, (0,)) - log_chance_of_quantiles(
        choice, second, (0,)
    )


def test_half_the_reach_of_quantiles_together_is_caught():
    """As if a row moved the utilities of all values in one direction, as it does counts."""
    assert 0.9 < loses(MEDIAN) <= 1
    assert loses(replace(MEDIAN, reach=1)) > 1.5


def test_rows_of_a_patient_that_count_once_are_caught():
    """Three rows of one patient, of a reach for one."""
    heavy = (0, 3, *[0] * 29)
    assert loses(replace(MEDIAN, reach=6), first=heavy, more=3) <= 1
    assert loses(MEDIAN, first=heavy, more=3) > 1


def test_draws_that_no_coin_refuses_are_caught(monkeypatch):
    """As likely as the best of their boxes could be: another law."""
    at, counts, draws = (Fraction(1, 3), Fraction(2, 3)), (2,) * 9, 500
    choice = QuantileSet(epsilon=Fraction(1), reach=12, at=at, candidates=9)
    places = [(a, b) for a in range(9) for b in range(a, 9)]

    def fits() -> bool:
        entropy, found = SeededEntropy(2), dict.fromkeys(places, 0)
        for _ in range(draws):
            found[choice.select(counts, entropy=entropy)] += 1
        law = [math.exp(log_chance_of_quantiles(choice, counts, place)) for place in places]
        return p_value_of_counts(list(found.values()), law) > 1e-3

    assert fits()
    monkeypatch.setattr(quantile_set, "bernoulli", lambda *_, **__: [True])
    assert not fits()
