"""Quantiles chosen together: faces, utilities, the law against enumeration, its loss."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.attacks.audit.exact_loss import log_chance_of_quantiles
from confide.errors import InvalidParameterError
from confide.noise.choices.quantile_set import QuantileSet, RankScores
from confide.plans.events import PrivacyEvent
from confide.privacy.adjacency import Adjacency
from confide.privacy.ranks import faces, moves_of_ranks, parts_of_row
from goodness_of_fit import p_value_of_counts
from seeded import SeededEntropy

ADD, SWAP = Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE
QUARTILES = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
THIRDS = (Fraction(1, 3), Fraction(2, 3))
ATS = [(Fraction(1, 2),), (Fraction(1, 10),), THIRDS, (Fraction(1, 10), Fraction(1, 2)), QUARTILES]
VALUES = 5
ROUNDING = 1 + 1e-9


def chosen(at, *, epsilon=1, part=1, candidates=VALUES, moved=ADD):
    reach = 2 * parts_of_row(at, moves=moved) // part
    return QuantileSet(
        epsilon=Fraction(epsilon), reach=reach, at=at, candidates=candidates, moves=moved
    )


def tuples(at, candidates=VALUES):
    return list(itertools.combinations_with_replacement(range(candidates), len(at)))


def law_of(choice, counts):
    """ln P of every tuple."""
    scores = RankScores(counts=tuple(counts), at=choice.at, moves=choice.moves)
    law = {t: float(choice.slope) * scores.of(t) for t in tuples(choice.at, len(counts))}
    best = max(law.values())
    total = best + math.log(math.fsum(math.exp(each - best) for each in law.values()))
    first = next(iter(law))
    assert law[first] - total == pytest.approx(log_chance_of_quantiles(choice, counts, first))
    return {t: each - total for t, each in law.items()}


def counts_of(values, among=VALUES):
    return [list(values).count(v) for v in range(among)]


def scored(values, at, moved=ADD):
    scores = RankScores(counts=tuple(counts_of(values)), at=at, moves=moved)
    of_row = parts_of_row(at, moves=moved)
    return {t: Fraction(scores.of(t), of_row) for t in tuples(at)}


def rows(most=12):
    return st.lists(st.integers(0, VALUES - 1), max_size=most)


def test_faces_of_quartiles_are_those_of_a_cube_cut_by_the_signs_of_ranks():
    """2·max(|e₂|, |e₁ + e₃ − e₂|, |e₃ − e₁|), which its corners in each orthant span."""
    rng = np.random.default_rng(1)
    for e in rng.normal(size=(200, 3)):
        norm = 2 * max(abs(e[1]), abs(e[0] + e[2] - e[1]), abs(e[2] - e[0]))
        of_faces = max(
            float(np.dot([float(x) for x in w], e)) for w in faces(QUARTILES, adjacency=ADD)
        )
        assert of_faces == pytest.approx(norm)


@pytest.mark.parametrize("at", ATS)
@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_face_is_moved_by_more_than_one_and_each_by_one_somewhere(at, adjacency):
    for w in faces(at, adjacency=adjacency):
        moved = [abs(sum(a * b for a, b in zip(w, d, strict=True)))
                 for d in moves_of_ranks(at, adjacency=adjacency)]  # fmt: skip
        assert max(moved) == 1
    of_rows = moves_of_ranks(at, adjacency=ADD)
    for w in faces(at, adjacency=SWAP):
        assert all(abs(sum(a * b for a, b in zip(w, d, strict=True))) <= 1 for d in of_rows)


@pytest.mark.parametrize("at", ATS)
@settings(max_examples=25)
@given(values=rows(), more=st.integers(0, VALUES - 1))
def test_a_row_more_moves_no_utility_by_more_than_one_row(at, values, more):
    before, after = scored(values, at), scored([*values, more], at)
    assert max(abs(after[t] - before[t]) for t in before) <= 1


@pytest.mark.parametrize("at", ATS)
@settings(max_examples=25)
@given(values=rows().filter(bool), new=st.integers(0, VALUES - 1))
def test_a_row_replaced_moves_no_utility_by_more_than_one_row(at, values, new):
    before, after = scored(values, at, SWAP), scored([new, *values[1:]], at, SWAP)
    gone = scored(values[1:], at, SWAP)
    assert max(abs(after[t] - before[t]) for t in before) <= 1
    assert max(abs(gone[t] - before[t]) for t in before) <= 1


@pytest.mark.parametrize("at", ATS)
@settings(max_examples=25)
@given(values=rows().filter(bool))
def test_quantiles_and_no_others_have_utilities_of_0_or_more(at, values):
    n = len(values)
    for t, u in scored(values, at).items():
        exact = all(
            sum(x < v for x in values) <= q * n <= sum(x <= v for x in values)
            for v, q in zip(t, at, strict=True)
        )
        assert (u >= 0) == exact


def test_a_heap_is_the_better_the_more_rows_have_to_go_before_another_value_is_the_median():
    median = (Fraction(1, 2),)
    for heap in (3, 9, 21):
        values = [1] * 2 + [2] * heap + [3] * 2
        assert scored(values, median)[(2,)] == heap
        assert scored(values, median)[(1,)] == -heap


@pytest.mark.parametrize(
    ("at", "counts"),
    [
        (THIRDS, (0, 9, 1, 0, 12)),
        (QUARTILES, (1, 2, 0, 3, 1)),
        (QUARTILES, (*[0] * 9, 2, *[0] * 9, 2)),
    ],
)
def test_choices_are_drawn_with_the_enumerated_law(at, counts):
    choice, draws = chosen(at, epsilon=3, candidates=len(counts)), 300
    entropy = SeededEntropy(7)
    found = dict.fromkeys(tuples(at, len(counts)), 0)
    for _ in range(draws):
        found[choice.select(counts, entropy=entropy)] += 1
    law = {t: math.exp(p) for t, p in law_of(choice, counts).items()}
    likely = [t for t in law if law[t] * draws >= 5]
    seen = [*(found[t] for t in likely), sum(found[t] for t in law if t not in likely)]
    said = [*(law[t] for t in likely), max(1e-12, 1 - sum(law[t] for t in likely))]
    assert p_value_of_counts(seen, said) > 1e-3
    assert sum(law.values()) == pytest.approx(1)


@pytest.mark.parametrize("at", ATS)
@pytest.mark.parametrize("adjacency", Adjacency)
@settings(max_examples=20)
@given(values=rows(60), epsilon=st.sampled_from(["1/9", "1", "30"]))
def test_each_choice_is_in_one_box_that_is_drawn_often_enough(at, adjacency, values, epsilon):
    choice = chosen(at, epsilon=epsilon, moved=adjacency)
    scores = RankScores(counts=tuple(counts_of(values)), at=at, moves=adjacency)
    boxes = scores.boxes(slope=float(choice.slope))
    held = []
    for box, first, sizes in zip(boxes.quarters, boxes.first, boxes.sizes, strict=True):
        ranges = [range(a, a + n) for a, n in zip(first.tolist(), sizes.tolist(), strict=True)]
        for t in itertools.product(*ranges):
            if list(t) == sorted(t):
                held.append(t)
                weight = float(choice.slope) * (scores.of(t) - boxes.most)
                assert math.log(math.prod(sizes.tolist())) + weight <= box / 4
    assert sorted(held) == tuples(at)


@pytest.mark.parametrize(
    ("heaps", "epsilon"),
    [
        ({}, 1),
        ({32_768: 47}, 1),
        ({0: 80, 65_000: 80}, "3/10"),
        ({0: 9, 32_000: 39, 65_000: 39}, 1),
        (dict.fromkeys(range(0, 65_000, 65), 2), 1),
    ],
)
def test_few_draws_are_refused_wherever_rows_heap(heaps, epsilon, monkeypatch):
    """Two in three are kept and one in ten at least; a coin for each refused 10⁷ for one kept.

    With one in ten kept, 300 are refused by chance once in 10¹³ tries.
    """
    choice = chosen(QUARTILES, epsilon=epsilon, candidates=65_537)
    counts = tuple(heaps.get(place, 0) for place in range(65_537))
    tried, of = itertools.count(), RankScores.of

    def counted(scores, places):
        assert next(tried) < 300
        return of(scores, places)

    monkeypatch.setattr(RankScores, "of", counted)
    found = choice.select(counts, entropy=SeededEntropy(5))
    assert list(found) == sorted(found)


@pytest.mark.parametrize("at", [(Fraction(1, 2),), THIRDS])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_neighbours_change_no_choice_by_more_than_e_to_the_epsilon_and_half_the_reach_would(
    at, adjacency
):
    """Of all data sets of up to four rows of five values, by the enumerated law."""
    worst, widest = [], 0.0
    for part in (1, 2):
        choice = chosen(at, part=part, moved=adjacency)
        law = functools.cache(lambda counts, choice=choice: law_of(choice, counts))
        found = []
        for n in range(5):
            for values in itertools.combinations_with_replacement(range(VALUES), n):
                if adjacency is SWAP and not values:
                    continue
                kept = values if adjacency is ADD else values[1:]
                first = law(tuple(counts_of(values)))
                for x in range(VALUES):
                    second = law(tuple(counts_of([*kept, x])))
                    ratios = [first[t] - second[t] for t in first]
                    found.append(max(map(abs, ratios)))
                    if part == 1:
                        widest = max(widest, max(ratios) - min(ratios))
        worst.append(max(found))
    assert worst[0] <= ROUNDING
    assert widest <= ROUNDING  # bounded range, hence ε²/8-zCDP
    assert worst[1] > 1.1


def test_the_loss_is_that_of_an_exponential_mechanism_of_the_reach_that_is_measured():
    choice = chosen(QUARTILES)
    for times in (1, 2):
        event = PrivacyEvent(
            mechanism=choice, l1=1, l2_squared=1, reach=times * choice.reach, set_reach=1
        )
        assert event.epsilon() == times
        assert event.rho() == Fraction(times**2, 8)
        assert event.use.chooses


def test_quartiles_together_err_less_than_each_for_a_third_of_the_charge():
    """Of even rows without heaps, by enumeration: a half or less of the squared error."""
    among = 15
    counts = [5] * among
    together = chosen(QUARTILES, candidates=among)
    apart = [chosen((q,), epsilon=Fraction(1, 3), candidates=among) for q in QUARTILES]
    true = [3, 7, 11]
    for place, (q, alone) in enumerate(zip(true, apart, strict=True)):
        joint = law_of(together, counts)
        own = law_of(alone, counts)
        error = sum(math.exp(p) * (t[place] - q) ** 2 for t, p in joint.items())
        assert error < 0.5 * sum(math.exp(p) * (t[0] - q) ** 2 for t, p in own.items())


def test_groups_are_chosen_each_by_its_own_rows():
    two = QuantileSet(epsilon=Fraction(100), reach=24, at=QUARTILES, candidates=VALUES, groups=2)
    counts = (90, 10, 300, 0, 200, 0, 0, 0, 500, 0)
    assert two.select(counts, entropy=SeededEntropy(1)) == (2, 2, 4, 3, 3, 3)
    with pytest.raises(InvalidParameterError):
        two.select(counts[:5], entropy=SeededEntropy(1))


def test_a_count_beyond_64_bits_is_no_less_exact():
    wide = chosen(QUARTILES, epsilon=100)
    counts = tuple(2**70 * n for n in (90, 10, 300, 0, 200))
    assert wide.select(counts, entropy=SeededEntropy(1)) == (2, 2, 4)


@pytest.mark.parametrize(
    "change",
    [
        {"at": ()},
        {"at": QUARTILES[::-1]},
        {"at": (Fraction(1, 2), Fraction(1, 2))},
        {"at": (Fraction(0),)},
        {"at": tuple(Fraction(i, 5) for i in range(1, 5))},
        {"candidates": 1},
        {"groups": 0},
        {"reach": 0},
        {"epsilon": Fraction(0)},
    ],
)
def test_a_choice_of_nothing_is_refused(change):
    said = {"epsilon": Fraction(1), "reach": 24, "at": QUARTILES, "candidates": 9}
    with pytest.raises(InvalidParameterError):
        QuantileSet(**{**said, **change})


def test_a_lead_and_a_shortfall_are_those_of_the_law():
    choice = chosen(QUARTILES, epsilon=4)
    counts = (3, 4, 9, 5, 3)
    law = law_of(choice, counts)
    scores = RankScores(counts=counts, at=QUARTILES)
    ordered = sorted(law, key=scores.of)
    best, second = scores.of(ordered[-1]), scores.of(ordered[-2])
    chance = math.exp(law[ordered[-1]])
    at_least = 1 / (1 + (choice.tuples - 1) * math.exp(-float(choice.slope) * (best - second)))
    assert chance >= at_least
    assert choice.lead(at_least) == pytest.approx(best - second)
    for failure in (0.5, 0.05):
        short = best - choice.shortfall(failure)
        assert sum(math.exp(p) for t, p in law.items() if scores.of(t) < short) <= failure
