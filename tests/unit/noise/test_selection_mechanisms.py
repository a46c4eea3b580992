"""Exponential mechanism, noisy maximum, key thresholds: exact laws on neighbours, and refusals."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.noise.entropy import SystemEntropy
from confide.noise.exponential import ExponentialMechanism, _locate
from confide.noise.noisy_max import Movement, NoisyMax
from confide.noise.threshold import KeyThreshold
from confide.noise.truncated_geometric import TruncatedGeometricSelection
from confide.privacy.adjacency import Adjacency
from confide.privacy.loss import ApproxDP, PureDP
from seeded import SeededEntropy

utilities = st.lists(st.integers(-50, 50), min_size=1, max_size=6)
ROUNDING = 1 + 1e-9


# ---- exponential mechanism -------------------------------------------------------------


@given(us=utilities, data=st.data())
def test_moving_every_utility_by_delta_changes_no_choice_by_more_than_e_to_the_epsilon(
    us: list[int], data: st.DataObject
) -> None:
    choice = ExponentialMechanism(epsilon=Fraction(3, 4), sensitivity=2)
    moved = [u + data.draw(st.integers(-2, 2)) for u in us]
    pairs = zip(choice.probabilities(us), choice.probabilities(moved), strict=True)
    assert all(abs(math.log(p / q)) <= 0.75 * ROUNDING for p, q in pairs)


def test_the_worst_neighbours_of_the_exponential_mechanism_attain_epsilon() -> None:
    choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
    others = 4000
    p = choice.probabilities([0] + [0] * others)[0]
    q = choice.probabilities([1] + [-1] * others)[0]
    assert math.log(q / p) == pytest.approx(1, abs=0.001)


@given(us=utilities)
def test_the_log_ratio_of_the_exponential_mechanism_has_bounded_range(us: list[int]) -> None:
    choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
    moved = [u + (-1) ** i for i, u in enumerate(us)]
    logs = [
        math.log(p / q)
        for p, q in zip(choice.probabilities(us), choice.probabilities(moved), strict=True)
    ]
    assert max(logs) - min(logs) <= ROUNDING
    assert choice.zcdp().rho == Fraction(1, 8)


@given(us=utilities, drawn=st.integers(0, 2**20 - 1))
def test_a_choice_is_made_only_if_every_refinement_agrees(us: list[int], drawn: int) -> None:
    best, slope = max(us), Fraction(1, 7)
    gaps = [best - u for u in us]
    chosen = _locate(gaps, slope=slope, drawn=drawn, bits=20)
    ends = {
        _locate(gaps, slope=slope, drawn=(drawn << 100) + extra, bits=120)
        for extra in (0, 2**99, 2**100 - 1)
    }
    assert chosen is None or ends == {chosen}


def test_every_number_of_twelve_bits_is_located_in_proportion() -> None:
    gaps, slope = [0, 3, 1], Fraction(1, 2)
    located = [_locate(gaps, slope=slope, drawn=u, bits=12) for u in range(4096)]
    weights = [math.exp(-g / 2) for g in gaps]
    assert located.count(None) <= 2  # the two inner boundaries
    for i, weight in enumerate(weights):
        assert abs(located.count(i) - 4096 * weight / sum(weights)) <= 2


def test_a_single_candidate_and_huge_utilities_are_chosen_without_overflow() -> None:
    choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
    assert choice.select([5], entropy=SystemEntropy()) == 0
    assert choice.select([0, 2**126], entropy=SystemEntropy()) == 1


@pytest.mark.parametrize("t", [0.5, 2.0])
def test_the_chosen_utility_falls_short_no_more_often_than_stated(t: float) -> None:
    choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
    us = [0] + [-s for s in range(5, 60)]
    bound = choice.shortfall(len(us), failure=math.exp(-t))
    missed = sum(p for u, p in zip(us, choice.probabilities(us), strict=True) if u <= -bound)
    assert missed <= math.exp(-t)


def test_exponential_mechanisms_without_candidates_epsilon_or_sensitivity_are_refused() -> None:
    choice = ExponentialMechanism(epsilon=Fraction(1), sensitivity=1)
    with pytest.raises(InvalidParameterError, match="at least one candidate"):
        choice.select([], entropy=SystemEntropy())
    with pytest.raises(InvalidParameterError, match="Expected epsilon"):
        ExponentialMechanism(epsilon=0.5, sensitivity=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="Expected sensitivity as an integer ≥ 1"):
        ExponentialMechanism(epsilon=Fraction(1), sensitivity=0)
    with pytest.raises(InvalidParameterError, match="Expected candidates ≥ 1"):
        choice.shortfall(0, failure=0.1)


# ---- report noisy maximum --------------------------------------------------------------


def law_of_the_maximum(us: tuple[int, ...], *, scale: Fraction) -> list[float]:
    """Return P[i wins], lowest position first among equals, by summing over the winner's noise."""
    noise = DiscreteLaplace(scale=scale)
    law = []
    for i, u in enumerate(us):
        total = 0.0
        for z in range(-60, 61):
            rivals = (
                noise.cdf(u + z - v - (1 if j < i else 0)) for j, v in enumerate(us) if j != i
            )
            total += noise.pmf(z) * math.prod(rivals)
        law.append(total)
    return law


def test_the_law_of_the_maximum_sums_to_one() -> None:
    assert sum(law_of_the_maximum((0, 2, 1), scale=Fraction(2))) == pytest.approx(1)


@pytest.mark.parametrize(
    ("movement", "moves"),
    [
        (Movement.ANY, tuple(itertools.product((-1, 0, 1), repeat=3))),
        (Movement.ONE_DIRECTION, tuple(itertools.product((0, 1), repeat=3))),
    ],
)
def test_noisy_maximum_keeps_epsilon_on_every_neighbour_ties_included(
    movement: Movement, moves: tuple[tuple[int, ...], ...]
) -> None:
    choice = NoisyMax.calibrate(PureDP(epsilon=Fraction(1)), sensitivity=1, movement=movement)
    worst = 0.0
    for us in [(0, 0, 0), (4, 0, 2), (-9, 0, 0)]:
        before = law_of_the_maximum(us, scale=choice.noise.scale)
        for move in moves:
            moved = tuple(u + m for u, m in zip(us, move, strict=True))
            after = law_of_the_maximum(moved, scale=choice.noise.scale)
            worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(before, after, strict=True)))
    assert 0.85 <= worst <= ROUNDING
    assert choice.loss().epsilon == 1


def test_one_direction_noise_is_too_little_for_utilities_that_move_apart() -> None:
    scale = NoisyMax.calibrate(
        PureDP(epsilon=Fraction(1)), sensitivity=1, movement=Movement.ONE_DIRECTION
    ).noise.scale
    p = law_of_the_maximum((-9, 0, 0), scale=scale)[0]
    q = law_of_the_maximum((-8, -1, -1), scale=scale)[0]
    assert math.log(q / p) > 1.5


def test_noisy_maximum_returns_a_position_and_breaks_ties_at_the_lowest() -> None:
    quiet = NoisyMax(
        noise=DiscreteLaplace(scale=Fraction(1, 1000)), sensitivity=1, movement=Movement.ANY
    )
    assert quiet.select([3, 7, 7, 1], entropy=SystemEntropy()) == 1
    assert quiet.select([2**126, 2**126 + 1], entropy=SystemEntropy()) == 1


def test_noisy_maximum_refuses_no_candidates_and_no_sensitivity() -> None:
    noise = DiscreteLaplace(scale=Fraction(1))
    with pytest.raises(InvalidParameterError, match="at least one candidate"):
        NoisyMax(noise=noise, sensitivity=1, movement=Movement.ANY).select(
            [], entropy=SystemEntropy()
        )
    with pytest.raises(InvalidParameterError, match="Expected sensitivity"):
        NoisyMax(noise=noise, sensitivity=0, movement=Movement.ANY)
    with pytest.raises(InvalidParameterError, match="Expected candidates"):
        NoisyMax(noise=noise, sensitivity=1, movement=Movement.ANY).shortfall(5, failure=1)


# ---- keys of the data ------------------------------------------------------------------

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


def optimal(epsilon: str, delta: str, keys: int = 1) -> TruncatedGeometricSelection:
    return TruncatedGeometricSelection(
        epsilon=Fraction(epsilon),
        delta=Fraction(delta),
        keys_per_person=keys,
        adjacency=Adjacency.ADD_REMOVE,
    )


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1/2", "1/50"), ("2", "1/100000"), ("1/10", "1/1000")]
)
def test_optimal_chances_meet_epsilon_delta_on_every_neighbour_and_one_bound_is_tight(
    epsilon: str, delta: str
) -> None:
    rule = optimal(epsilon, delta)
    e, d = math.exp(rule.epsilon), float(rule.delta)
    chances = [rule.chance_of_release(n) for n in range(120)]
    for p, q in itertools.pairwise(chances):
        slacks = (e * p + d - q, e * (1 - q) + d - (1 - p))
        assert min(slacks) >= -1e-12
        assert q == 1 or min(slacks) <= 1e-12


@pytest.mark.parametrize(("epsilon", "delta", "keys"), [("1", "1/100000", 1), ("1", "1/1000", 4)])
def test_optimal_selection_is_never_worse_than_the_threshold(
    epsilon: str, delta: str, keys: int
) -> None:
    rule = optimal(epsilon, delta, keys)
    threshold = KeyThreshold(
        epsilon=rule.epsilon,
        delta=rule.delta,
        keys_per_person=keys,
        adjacency=rule.adjacency,
    )
    for n in range(60):
        assert rule.chance_of_release(n) >= threshold.chance_of_release(n) * (1 - 1e-12)


def test_optimal_selection_releases_with_the_stated_chances_and_never_keys_of_nobody() -> None:
    rule = optimal("1/2", "1/50")
    counts = np.repeat(np.array([0, 3, 6, 8, 500]), 4000)
    released = np.bincount(rule.select(counts, entropy=SeededEntropy(9)) // 4000, minlength=5)
    expected = [rule.chance_of_release(n) for n in (0, 3, 6, 8, 500)]
    assert (released / 4000).tolist() == pytest.approx(expected, abs=0.035)
    assert (released[0], released[4]) == (0, 4000)


def test_optimal_selection_shares_epsilon_and_delta_over_the_keys_of_a_person() -> None:
    assert optimal("1", "1/1000", 4).chance_of_release(1) == pytest.approx(1 / 4000)
    assert optimal("1", "1/1000", 4).loss() == ApproxDP(
        epsilon=Fraction(1), delta=Fraction(1, 1000)
    )


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), 1e-6])
def test_key_selection_without_an_exact_delta_is_refused(delta) -> None:
    for rule in (KeyThreshold, TruncatedGeometricSelection):
        with pytest.raises(InvalidParameterError, match="Expected delta as an exact Fraction"):
            rule(
                epsilon=Fraction(1), delta=delta, keys_per_person=1, adjacency=Adjacency.ADD_REMOVE
            )
