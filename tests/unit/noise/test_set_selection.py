"""Choices of sets and peeling: the law against enumeration, its privacy loss, its statements."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.noise.entropy import SystemEntropy
from confide.noise.peeling import Peeling
from confide.noise.set_selection import SetSelection, _middle, draw_sets
from goodness_of_fit import p_value_of_counts
from seeded import SeededEntropy

ROUNDING = 1 + 1e-9


def law_of_sets(us, *, size, slope):
    """P[S] for every set, by enumeration."""
    sets = list(itertools.combinations(range(len(us)), size))
    best = max(us)
    weights = [math.exp(slope * sum(us[i] - best for i in chosen)) for chosen in sets]
    return {chosen: w / sum(weights) for chosen, w in zip(sets, weights, strict=True)}


def law_of_peeling(us, *, size, slope):
    """P[order] for every ordered choice, round by round."""
    law = {}
    for order in itertools.permutations(range(len(us)), size):
        chance, left = 1.0, set(range(len(us)))
        for i in order:
            chance *= math.exp(slope * us[i]) / sum(math.exp(slope * us[j]) for j in left)
            left -= {i}
        law[order] = chance
    return law


@pytest.mark.parametrize(
    ("us", "size"), [([5, 3, -2, 4, 0], 2), ([0, 0, 0, 9], 3), ([7, 7, 1, -60, 3], 1)]
)
def test_sets_are_drawn_with_the_enumerated_law(us, size):
    draws = 60_000
    slope = Fraction(2, 5)
    found = draw_sets(us, size=size, slope=slope, count=draws, entropy=SeededEntropy(4))
    counts = dict.fromkeys(itertools.combinations(range(len(us)), size), 0)
    for chosen in map(tuple, found.tolist()):
        counts[chosen] += 1
    law = law_of_sets(us, size=size, slope=float(slope))
    for slack, fits in ((1.0, True), (1.15, False)):  # a slope 15 % off must be noticed
        other = law_of_sets(us, size=size, slope=float(slope) * slack)
        p = p_value_of_counts(list(counts.values()), [other[s] for s in counts])
        assert (p > 1e-3) is fits
    assert sum(law.values()) == pytest.approx(1)


def test_peeling_draws_the_order_of_its_rounds():
    us, draws = (4, 2, 0, 3), 2_500
    peeling = Peeling(epsilon=Fraction(1), reach=2, size=2, candidates=4)
    entropy = SeededEntropy(5)
    counts = dict.fromkeys(itertools.permutations(range(4), 2), 0)
    for _ in range(draws):
        counts[peeling.select(us, entropy=entropy)] += 1
    law = law_of_peeling(us, size=2, slope=0.5)
    assert p_value_of_counts(list(counts.values()), [law[o] for o in counts]) > 1e-3


utilities = st.lists(st.integers(-20, 20), min_size=4, max_size=6)


@given(us=utilities, data=st.data())
def test_moves_within_the_reach_change_no_choice_of_a_set_by_more_than_e_to_the_epsilon(us, data):
    moved = [u + data.draw(st.integers(-1, 1)) for u in us]
    size = data.draw(st.integers(1, 3))
    reach = 2 * min(size, len(us) - size)
    first, second = (law_of_sets(v, size=size, slope=1 / reach) for v in (us, moved))
    ratios = [math.log(first[s] / second[s]) for s in first]
    assert max(map(abs, ratios)) <= ROUNDING
    assert max(ratios) - min(ratios) <= ROUNDING  # bounded range, hence ε²/8-zCDP


@given(us=utilities, data=st.data())
def test_renyi_divergence_of_a_choice_stays_below_an_eighth_of_epsilon_squared(us, data):
    moved = [u + data.draw(st.integers(-1, 1)) for u in us]
    first, second = (law_of_sets(v, size=2, slope=1 / 4) for v in (us, moved))
    for alpha in (1.5, 2.0, 8.0, 64.0):
        moments = sum(p * (p / second[s]) ** (alpha - 1) for s, p in first.items())
        assert math.log(moments) / (alpha - 1) <= alpha / 8 * ROUNDING + 1e-12


def test_the_worst_neighbours_of_a_set_attain_epsilon():
    """Three rise by 1 while all others fall by 1: the ratio tends to e^ε with their number."""
    size, others, reach = 3, 3_000, 6
    slope = 1 / reach
    up, down = math.exp(slope), math.exp(-slope)

    def chance(inside, outside):  # of the set that rises: 1/Σ_j C(3,3−j)·C(others,j)·(out/in)^j
        ratio = outside / inside
        return 1 / sum(
            math.comb(size, size - j) * math.comb(others, j) * ratio**j for j in range(size + 1)
        )

    assert math.log(chance(up, down) / chance(1, 1)) == pytest.approx(1, abs=0.005)


def test_counts_that_move_in_one_direction_need_no_factor_two():
    us = (10, 8, 7, 7)
    for moved in itertools.product((0, 1), repeat=4):
        first = law_of_sets(us, size=1, slope=1.0)
        second = law_of_sets([u + m for u, m in zip(us, moved, strict=True)], size=1, slope=1.0)
        assert max(abs(math.log(first[s] / second[s])) for s in first) <= ROUNDING


@given(us=utilities, size=st.integers(1, 3), epsilon=st.fractions(Fraction(1, 4), 4))
def test_a_leading_candidate_is_chosen_at_least_as_often_as_stated(us, size, epsilon):
    top = SetSelection(epsilon=epsilon, reach=2, size=size, candidates=len(us))
    peeling = Peeling(epsilon=epsilon, reach=2, size=size, candidates=len(us))
    best = max(range(len(us)), key=us.__getitem__)
    others = sorted((u for i, u in enumerate(us) if i != best), reverse=True)
    leading = us[best] - others[size - 1]  # over all others but size − 1
    for law, choices in (
        (law_of_sets(us, size=size, slope=float(top.slope)), top),
        (law_of_peeling(us, size=size, slope=float(peeling.slope)), peeling),
    ):
        chosen = sum(p for places, p in law.items() if best in places)
        assert chosen * ROUNDING >= choices.chance(leading)


@pytest.mark.parametrize(("candidates", "size"), [(2, 1), (7, 3), (500, 20), (500, 499)])
def test_as_many_heads_are_expected_as_are_wanted(candidates, size):
    """Where none is far ahead: then a try succeeds with the stated chance."""
    gaps = np.sort(np.random.default_rng(candidates).uniform(0, 2, candidates))[::-1]
    gaps -= gaps[size - 1]
    heads = 1 / (1 + np.exp(float(_middle(gaps, size=size)) - gaps))
    assert heads.sum() == pytest.approx(size, abs=1e-3)


def test_a_share_that_is_far_ahead_or_behind_keeps_the_threshold_within_reach():
    for gaps in ([600.0] * 9 + [0.0], [0.0] + [-600.0] * 9):
        assert abs(_middle(np.array(gaps), size=gaps.index(0.0) + 1)) <= math.log(10) + 1


def test_a_candidate_without_a_lead_is_chosen_as_often_as_by_lot():
    top = SetSelection(epsilon=Fraction(1), reach=1, size=2, candidates=12)
    assert top.chance(0) == pytest.approx(1 / 11)
    assert top.lead(1 / 20) == 0
    assert top.lead(0.99) == pytest.approx(math.log(10 * 99))
    assert top.chance(-10_000) == pytest.approx(0, abs=1e-250)


@pytest.mark.parametrize("epsilon", [Fraction(0), 0.5, Fraction(-1)])
def test_a_choice_without_an_exact_epsilon_is_refused(epsilon):
    for kind in (SetSelection, Peeling):
        with pytest.raises(InvalidParameterError, match="Expected epsilon"):
            kind(epsilon=epsilon, reach=1, size=1, candidates=3)


def test_shortfalls_are_the_published_bounds():
    top = SetSelection(epsilon=Fraction(1, 2), reach=3, size=2, candidates=9)
    assert top.shortfall(0.05) == pytest.approx(6 * math.log(math.comb(9, 2) / 0.05))
    peeling = Peeling(epsilon=Fraction(1, 2), reach=3, size=2, candidates=9)
    assert peeling.shortfall(0.05) == pytest.approx(6 * 2 * math.log(9 * 2 / 0.05))


def test_the_lead_and_its_chance_are_inverse():
    for law in (SetSelection, Peeling):
        top = law(epsilon=Fraction(1, 2), reach=4, size=3, candidates=163)
        assert top.chance(top.lead(0.95)) == pytest.approx(0.95)


@given(us=utilities, size=st.integers(1, 3))
def test_the_choice_falls_short_no_more_often_than_stated(us, size):
    top = SetSelection(epsilon=Fraction(1), reach=2, size=size, candidates=len(us))
    peeling = Peeling(epsilon=Fraction(1), reach=2, size=size, candidates=len(us))
    best = sum(sorted(us, reverse=True)[:size])
    for failure in (0.5, 0.05):
        for law, choices in (
            (law_of_sets(us, size=size, slope=0.5), top),
            (law_of_peeling(us, size=size, slope=0.5), peeling),
        ):
            bound = choices.shortfall(failure)
            missed = sum(p for s, p in law.items() if sum(us[i] for i in s) < best - bound)
            assert missed <= failure


def test_with_the_noise_off_the_best_are_chosen():
    us = tuple((37 * i) % 101 for i in range(101))
    top = SetSelection(epsilon=Fraction(900), reach=4, size=4, candidates=101)
    assert {us[i] for i in top.select(us, entropy=SystemEntropy())} == {97, 98, 99, 100}
    peeling = Peeling(epsilon=Fraction(900), reach=2, size=4, candidates=101)
    assert [us[i] for i in peeling.select(us, entropy=SystemEntropy())] == [100, 99, 98, 97]


def test_utilities_far_apart_are_chosen_without_overflow_or_delay():
    top = SetSelection(epsilon=Fraction(1), reach=1, size=3, candidates=1_002)
    us = (2**125, *([0] * 1_000), 2**100)
    chosen = top.select(us, entropy=SystemEntropy())
    assert {0, 1_001} < set(chosen)
    assert top.select([2**120] * 1_002, entropy=SystemEntropy()) != ()


def test_choices_of_none_or_all_and_other_numbers_of_utilities_are_refused():
    for kind in (SetSelection, Peeling):
        for size in (0, 5):
            with pytest.raises(InvalidParameterError, match="size < candidates"):
                kind(epsilon=Fraction(1), reach=1, size=size, candidates=5)
        with pytest.raises(InvalidParameterError, match="Expected reach"):
            kind(epsilon=Fraction(1), reach=0, size=1, candidates=5)
        choices = kind(epsilon=Fraction(1), reach=1, size=1, candidates=5)
        with pytest.raises(InvalidParameterError, match="Expected 5 utilities"):
            choices.select((1, 2), entropy=SystemEntropy())
