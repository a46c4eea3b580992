"""Values ranked by their distance from a quantile: plain arithmetic, and how far a row moves it."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.attacks.audit.exact_loss import log_chance_of_set
from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.sensitivity_search import search
from confide.errors import ContractError, InvalidParameterError
from confide.noise.set_selection import SetSelection
from confide.plans.contribution import PerPatient
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.statistics import Quantiles
from confide.statistics.quantiles.spec import QuantileInterval
from confide.tables.aggregates.ranked.ranked_value import (
    MOST_VALUES,
    RankedValue,
    move_of_row,
    utilities,
)
from confide.tables.bound_contributions import RowBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation, domain
from noisy_answers import dataset
from seeded import SeededEntropy

TO = dataset()
AGE = ColumnOf(table="participants", column="age")
VALUES = 7
ADD, SWAP = Adjacency.ADD_REMOVE, Adjacency.SUBSTITUTE
QS = [Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(2, 3), Fraction(1, 100)]
MEDIAN = RankedValue(
    relation=Relation(table="participants"),
    of=AGE,
    lower=0,
    upper=100,
    steps=100,
    q=Fraction(1, 2),
    bounds=RowBound(max_rows=1),
)


def rows():
    return st.lists(st.integers(0, VALUES - 1), max_size=9)


def scored(values, *, q):
    return list(utilities([values.count(v) for v in range(VALUES)], q=q))


@given(values=rows(), q=st.sampled_from(QS))
def test_a_utility_is_the_distance_in_ranks_of_the_quantile_from_the_rows_at_a_value(values, q):
    for v, found in enumerate(scored(values, q=q)):
        below, up_to = sum(x < v for x in values), sum(x <= v for x in values)
        wanted = q * len(values)
        off = max(Fraction(0), below - wanted, wanted - up_to)
        assert found == -off * q.denominator


@given(values=rows().filter(bool), q=st.sampled_from(QS))
def test_the_best_values_are_the_quantiles_however_rows_heap(values, q):
    found = scored(values, q=q)
    wanted = math.ceil(q * len(values))
    assert found[sorted(values)[wanted - 1]] == 0 == max(found)
    for v, each in enumerate(found):
        halves = (sum(x < v for x in values), sum(x > v for x in values))
        quantile = halves[0] <= q * len(values) and halves[1] <= (1 - q) * len(values)
        assert (each == 0) == quantile


def test_a_score_of_the_rows_below_alone_would_not_find_a_heap():
    """Ranks below a value say that a heap in the middle is as far off as it is large."""
    heap = [0] * 2 + [3] * 20 + [6] * 3
    below = [abs(2 * sum(x < v for x in heap) - len(heap)) for v in range(VALUES)]
    assert min(below) >= 19
    assert scored(heap, q=Fraction(1, 2)).index(0) == 3


@given(values=rows(), more=st.integers(0, VALUES - 1), q=st.sampled_from(QS))
def test_a_row_more_moves_a_utility_by_its_move_and_no_two_further_apart_than_twice(
    values, more, q
):
    move = move_of_row(q, adjacency=ADD)
    pairs = zip(scored([*values, more], q=q), scored(values, q=q), strict=True)
    moved = [a - b for a, b in pairs]
    assert max(map(abs, moved)) <= move
    assert max(moved) - min(moved) <= 2 * move
    assert sum(map(abs, moved)) <= (VALUES - 1) * move
    assert sum(m * m for m in moved) <= (VALUES - 1) * move**2


@given(values=rows(), old=rows().filter(bool), new=st.integers(0, 6), q=st.sampled_from(QS))
def test_replaced_rows_move_a_utility_by_their_move_and_no_two_further_apart_than_twice(
    values, old, new, q
):
    """A patient of several rows is replaced by one of as many or fewer."""
    old, new = old[:3], [new] * min(len(old), 2)
    move = len(old[:3]) * move_of_row(q, adjacency=SWAP)
    pairs = zip(scored(values + old, q=q), scored(values + new, q=q), strict=True)
    moved = [a - b for a, b in pairs]
    assert max(map(abs, moved)) <= move
    assert max(moved) - min(moved) <= 2 * move
    assert sum(map(abs, moved)) <= (VALUES - 1) * move
    assert sum(m * m for m in moved) <= (VALUES - 1) * move**2


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("q", QS)
def test_of_two_values_one_reaches_over_the_other_half_as_far(q, adjacency):
    """Of all data sets of up to nine rows; so a yes or no costs half of what three values cost."""
    far, move = 0, move_of_row(q, adjacency=adjacency)
    for no, yes in itertools.product(range(10), repeat=2):
        before = list(utilities([no, yes], q=q))
        swapped = [(no - 1, yes + 1), (no + 1, yes - 1)]
        for after in swapped if adjacency is SWAP else [(no + 1, yes), (no, yes + 1)]:
            if min(after) >= 0:
                pairs = zip(utilities(after, q=q), before, strict=True)
                here = [a - b for a, b in pairs]
                far = max(far, max(here) - min(here))
    assert far == move
    binary = replace(MEDIAN, q=q, steps=1)
    claimed = binary.sensitivity(dataset(adjacency=adjacency), counted="rows")
    assert (claimed.reach, claimed.set_reach, claimed.l1) == (move, move, move)


@pytest.mark.parametrize("q", QS)
def test_the_reach_is_attained_so_no_half_of_it_would_do(q):
    """The quantile lies between two heaps; rows come to either side of it, and between."""
    a, b = q.numerator, q.denominator
    below, above = [0] * 2 + [1] * (9 * a), [5] * (9 * (b - a)) + [6] * 2
    attained = 0
    for these in itertools.chain(
        ([*below, *above[k:]] for k in range(12)), ([*below[k:], *above] for k in range(12))
    ):
        for x in range(VALUES):
            pairs = zip(scored([*these, x], q=q), scored(these, q=q), strict=True)
            moved = [after - before for after, before in pairs]
            attained = max(attained, max(moved) - min(moved))
    assert attained == 2 * move_of_row(q, adjacency=ADD)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_neighbours_change_no_choice_by_more_than_e_to_the_epsilon_and_half_the_reach_would(
    adjacency,
):
    """Of all data sets of up to six rows of five values, by the enumerated law."""
    sizes, q = 5, Fraction(1, 2)
    worst = {1: 0.0, 2: 0.0}  # by the part of the reach
    one = move_of_row(q, adjacency=adjacency)

    def laws(values, part):
        law = SetSelection(epsilon=Fraction(1), reach=2 * one // part, size=1, candidates=sizes)
        counts = [values.count(v) for v in range(sizes)]
        found = list(utilities(counts, q=q))
        return [log_chance_of_set(law, found, [v]) for v in range(sizes)]

    for n in range(7):
        for values in itertools.combinations_with_replacement(range(sizes), n):
            kept = values if adjacency is ADD else values[1:]
            others = [[*kept, x] for x in range(sizes)] if values or adjacency is ADD else []
            for part, other in itertools.product(worst, others):
                pairs = zip(laws(list(values), part), laws(other, part), strict=True)
                worst[part] = max(worst[part], *(abs(a - b) for a, b in pairs))
    assert worst[1] <= 1 + 1e-12
    assert worst[2] > 1.2
    assert worst[1] > 0.65


def test_the_value_of_a_candidate_is_its_own_or_the_middle_of_its_step():
    assert [MEDIAN.value(place) for place in (0, 57, 100)] == [0, 57, 100]
    wide = replace(MEDIAN, upper=103, steps=20)
    values = [wide.value(place) for place in range(21)]
    assert values[-1] == 103
    for value, low, above in zip(values, wide.edges, wide.edges[1:], strict=False):
        assert low <= value < above
        assert abs((value - low) - (above - 1 - value)) <= 1


def test_candidates_lie_between_the_declared_bounds_and_are_not_too_many():
    within = domain(AGE, dataset=TO)
    assert (within.lower, within.upper) == (0, 100)
    MEDIAN.check(TO)
    assert MEDIAN.coordinates(TO) == len(MEDIAN.edges) - 1 == 101
    with pytest.raises(ContractError, match="declared bounds"):
        replace(MEDIAN, upper=101).check(TO)
    replace(MEDIAN, upper=2 * MOST_VALUES, steps=MOST_VALUES)
    for change in (
        {"steps": 101},
        {"steps": 0},
        {"upper": 2 * MOST_VALUES, "steps": MOST_VALUES + 1},
        {"q": Fraction(0)},
        {"q": Fraction(1)},
    ):
        with pytest.raises(InvalidParameterError):
            replace(MEDIAN, **change)


def test_the_claim_grows_with_the_rows_of_a_patient_and_under_substitution():
    quarter = replace(MEDIAN, q=Fraction(1, 4), bounds=RowBound(max_rows=5))
    for adjacency, one in ((ADD, 15), (SWAP, 20)):
        claimed = quarter.sensitivity(dataset(adjacency=adjacency), counted="rows")
        assert (claimed.linf, claimed.reach, claimed.set_reach) == (one, 2 * one, 2 * one)
        assert claimed.l1 == 100 * one
        assert claimed.l2_squared == 100 * one**2
    assert quarter.step(TO).size == Fraction(1, 4)


@pytest.mark.L1
def test_nobody_moves_a_value_further_than_claimed_and_somebody_moves_it_as_far():
    asked = Quantiles(
        id="q",
        table="events",
        column="whole",
        at=(Fraction(1, 4), Fraction(1, 2)),
        interval=QuantileInterval.NONE,
        per_patient=PerPatient(rows=2),
    )
    drawn = neighbours(300, entity=Entity.PATIENT, entropy=SeededEntropy(8))
    for found in search([asked], drawn=drawn, entity=Entity.PATIENT):
        assert found.holds
        assert found.attained
