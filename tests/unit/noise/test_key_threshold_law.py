"""Key thresholds: exact laws on neighbours, and refusals."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.noise.threshold import KeyThreshold
from confide.privacy.adjacency import Adjacency
from seeded import SeededEntropy

ROUNDING = 1 + 1e-9


rules = st.builds(
    KeyThreshold,
    epsilon=st.fractions(min_value=Fraction(1, 20), max_value=4, max_denominator=20),
    delta=st.sampled_from([Fraction(1, 10**k) for k in (3, 5, 6, 9, 15)]),
    keys_per_person=st.integers(1, 20),
    adjacency=st.sampled_from(Adjacency),
)


@settings(max_examples=100, deadline=None)
@given(rule=rules)
def test_tau_is_the_least_threshold_that_keeps_delta(rule: KeyThreshold) -> None:
    k, delta, noise, tau = rule.keys_per_person, float(rule.delta), rule.noise(), rule.threshold()
    alone = noise.tail(tau - 2) / 2  # P[1 + Z ≥ τ]
    assert k * alone <= delta * ROUNDING
    assert tau == 1 or k * noise.tail(tau - 3) / 2 > delta / ROUNDING
    assert rule.chance_of_release(1) == pytest.approx(alone)
    closed = 1 + math.ceil(
        float(noise.scale) * math.log(k / (delta * (1 + math.exp(-1 / float(noise.scale)))))
    )
    assert abs(tau - closed) <= 1


def test_substitution_doubles_the_noise_of_key_counts() -> None:
    def rule(adjacency: Adjacency) -> KeyThreshold:
        return KeyThreshold(
            epsilon=Fraction(1), delta=Fraction(1, 10**6), keys_per_person=3, adjacency=adjacency
        )

    scales = [rule(a).noise().scale for a in (Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE)]
    assert scales == [3, 6]


@pytest.mark.parametrize("epsilon", ["1/10", "1", "3"])
def test_one_key_appearing_or_vanishing_is_epsilon_delta_private(epsilon: str) -> None:
    rule = KeyThreshold(
        epsilon=Fraction(epsilon),
        delta=Fraction(1, 1000),
        keys_per_person=1,
        adjacency=Adjacency.ADD_REMOVE,
    )
    q, factor = rule.chance_of_release(1), math.exp(rule.epsilon)
    assert q <= 0.001 * ROUNDING  # vanishing: released in one data set, never in the other
    assert 1 - factor * (1 - q) <= 0.001  # appearing
    for persons in range(1, 40):  # counts that both data sets have
        p, p_more = rule.chance_of_release(persons), rule.chance_of_release(persons + 1)
        assert p_more <= factor * p * ROUNDING


def test_a_delta_near_epsilon_is_refused_under_substitution() -> None:
    with pytest.raises(InvalidParameterError, match="Expected delta well below epsilon"):
        KeyThreshold(
            epsilon=Fraction(1, 100),
            delta=Fraction(1, 10),
            keys_per_person=1,
            adjacency=Adjacency.SUBSTITUTE,
        )


@pytest.mark.parametrize("epsilon", ["1/20", "3/10", "1", "2", "5"])
def test_a_delta_is_accepted_under_substitution_exactly_if_appearing_keys_cost_nothing(
    epsilon: str,
) -> None:
    def rule(delta: Fraction, adjacency: Adjacency) -> KeyThreshold:
        return KeyThreshold(
            epsilon=Fraction(epsilon), delta=delta, keys_per_person=1, adjacency=adjacency
        )

    seen = set()
    for percent in range(1, 100):
        delta = Fraction(percent, 100)
        # The same noise under the other adjacency tells τ without the refusal.
        scale = rule(Fraction(1, 10**6), Adjacency.SUBSTITUTE).noise().scale
        same = KeyThreshold(
            epsilon=1 / scale, delta=delta, keys_per_person=1, adjacency=Adjacency.ADD_REMOVE
        )
        fits = same.chance_of_release(1) <= -math.expm1(-1 / scale)
        seen.add(fits)
        if fits:
            assert rule(delta, Adjacency.SUBSTITUTE).threshold() == same.threshold()
        else:
            with pytest.raises(InvalidParameterError, match="well below epsilon"):
                rule(delta, Adjacency.SUBSTITUTE)
    assert seen == {True, False}


@pytest.mark.parametrize(("hair", "tau"), [("1e-40", 9), ("-1e-40", 10)])
def test_tau_is_certain_also_where_delta_is_within_a_hair_of_the_chance(
    hair: str, tau: int
) -> None:
    with localcontext(prec=80):
        a = (-Decimal(1) / 2).exp()
        delta = Fraction(3 * a**8 / (1 + a) + Decimal(hair))
    rule = KeyThreshold(
        epsilon=Fraction(3, 2), delta=delta, keys_per_person=3, adjacency=Adjacency.ADD_REMOVE
    )
    assert rule.threshold() == tau


def test_a_key_of_exactly_tau_noisy_persons_is_released() -> None:
    rule = KeyThreshold(
        epsilon=Fraction(1, 2),
        delta=Fraction(1, 5),
        keys_per_person=1,
        adjacency=Adjacency.ADD_REMOVE,
    )
    selected = rule.select(np.ones(2000, dtype=np.int64), entropy=SeededEntropy(6))
    assert selected.noisy.min() == rule.threshold()


def test_selected_keys_are_those_at_or_above_tau_and_never_keys_of_nobody() -> None:
    rule = KeyThreshold(
        epsilon=Fraction(1, 2),
        delta=Fraction(1, 5),
        keys_per_person=1,
        adjacency=Adjacency.ADD_REMOVE,
    )
    counts = np.repeat(np.array([0, 1, 3, 500]), 2000)
    selected = rule.select(counts, entropy=SeededEntropy(4))
    assert (selected.noisy >= rule.threshold()).all()
    released = np.bincount(selected.positions // 2000, minlength=4) / 2000
    assert released[0] == 0
    assert released[3] == 1
    assert released[1] == pytest.approx(rule.chance_of_release(1), abs=0.03)
    assert released[2] == pytest.approx(rule.chance_of_release(3), abs=0.04)
    assert rule.expected_missed([3, 500]) == pytest.approx(1 - rule.chance_of_release(3))
    assert rule.chance_of_release(0) == 0


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), Fraction(-1), Fraction(2), 1e-6, None])
def test_key_selection_without_an_exact_delta_is_refused(delta) -> None:
    with pytest.raises(InvalidParameterError, match="Expected delta as an exact Fraction"):
        KeyThreshold(
            epsilon=Fraction(1), delta=delta, keys_per_person=1, adjacency=Adjacency.ADD_REMOVE
        )
