"""Utilities of candidates: against plain arithmetic, and how far one patient moves them."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.attacks.audit.generate import neighbours
from confide.attacks.audit.sensitivity_search import search
from confide.errors import InvalidParameterError
from confide.plans.contribution import PerPatient, question
from confide.privacy.adjacency import Adjacency
from confide.privacy.unit import Entity
from confide.statistics import TopFeatures
from confide.tables.aggregates.ranked.ranked_features import (
    MOST_FEATURES,
    About,
    RankedFeatures,
    moves,
    multipliers,
    one_row,
    scores,
)
from confide.tables.aggregates.shapes import parts
from confide.tables.bound_contributions import CellBound
from confide.tables.expression import ColumnOf
from confide.tables.relation import Relation, centre, domain
from noisy_answers import dataset
from seeded import SeededEntropy

TO = dataset()
NAMES = ("bmi", "age", "pressure")
BMI, AGE, PRESSURE = (ColumnOf(table="participants", column=name) for name in NAMES)
BOUNDS = {
    name: (of.lower, of.upper)
    for name, of in ((n, domain(c, dataset=TO)) for n, c in zip(NAMES, (BMI, AGE, PRESSURE), strict=True))
}  # fmt: skip


def ranked(about: About, *, size: int = 1) -> RankedFeatures:
    return RankedFeatures(
        relation=Relation(table="participants"),
        features=(BMI, AGE),
        outcome=PRESSURE,
        about=about,
        bounds=CellBound(max_cells=1),
        size=size,
    )


def row():
    return st.tuples(*(st.integers(low, high) for low, high in BOUNDS.values()))


def sums(rows) -> list[tuple[int, ...]]:
    """Return the engine's answers: products, number, outcome, features, all about the centres."""
    middles = [centre(domain(c, dataset=TO))[0] for c in (BMI, AGE, PRESSURE)]
    x, z, y = ([r[i] - middles[i] for r in rows] for i in range(3))
    dots = [sum(a * b for a, b in zip(v, y, strict=True)) for v in (x, z)]
    return [(total,) for total in (*dots, len(rows), sum(y), sum(x), sum(z))]


@given(rows=st.lists(row(), min_size=1, max_size=8))
def test_scores_about_the_means_are_n_times_the_covariance(rows):
    of = ranked(About.MEANS)
    found = scores(of, sums(rows), dataset=TO)
    n, ys = len(rows), [r[2] for r in rows]
    for place, m in enumerate(multipliers(of, dataset=TO)):
        xs = [r[place] for r in rows]
        products = sum(x * y for x, y in zip(xs, ys, strict=True))
        exact = abs(products - Fraction(sum(xs) * sum(ys), n))
        assert m * exact <= found[place] < m * exact + 1


@given(rows=st.lists(row(), max_size=8))
def test_scores_about_the_centres_are_sums_of_products(rows):
    of = ranked(About.CENTRES)
    found = scores(of, sums(rows), dataset=TO)
    (low, high) = BOUNDS["pressure"]
    for place, (name, m) in enumerate(
        zip(("bmi", "age"), multipliers(of, dataset=TO), strict=True)
    ):
        a, b = BOUNDS[name]
        exact = sum((2 * r[place] - a - b) * (2 * r[2] - low - high) for r in rows)
        assert found[place] == m * abs(exact)


def test_the_trend_score_is_the_numerator_of_the_cochran_armitage_test():
    """Malformation by alcohol, scores 0, ½, 1½, 4, 7 doubled: z² = 6.57 [Agresti 2002, 5.3.5]."""
    absent, present = (17_066, 14_464, 788, 126, 37), (48, 38, 5, 1, 1)
    dose, n, cases = (0, 1, 3, 8, 14), sum(absent) + sum(present), sum(present)
    both = [a + p for a, p in zip(absent, present, strict=True)]
    of = replace(ranked(About.MEANS), features=(AGE, BMI))
    product, plain, square = (
        sum(w * d**power for w, d in zip(weights, dose, strict=True))
        for weights, power in ((present, 1), (both, 1), (both, 2))
    )
    m, _ = multipliers(of, dataset=TO)
    answers = [(product,), (0,), (n,), (cases,), (plain,), (0,)]
    numerator = scores(of, answers, dataset=TO)[0] / m
    variance = (square - plain**2 / n) * (cases - cases**2 / n) / n
    assert numerator**2 / variance == pytest.approx(6.57, abs=0.005)


@given(rows=st.lists(row(), max_size=6), other=row(), about=st.sampled_from(About))
def test_one_row_moves_a_score_by_at_most_the_product_of_the_widths(rows, other, about):
    of = ranked(about)
    before, after = (scores(of, sums(r), dataset=TO) for r in (rows, [*rows, other]))
    for a, b, most in zip(before, after, moves(of, dataset=TO), strict=True):
        assert abs(a - b) <= most


def test_a_row_against_many_equal_rows_moves_a_covariance_by_almost_the_product_of_the_widths():
    of = ranked(About.MEANS)
    corner, opposite = zip(*BOUNDS.values(), strict=True)
    before, after = (scores(of, sums([corner] * 999 + r), dataset=TO) for r in ([], [opposite]))
    moved = max(b - a for a, b in zip(before, after, strict=True))
    assert 0.998 <= moved / one_row(of, dataset=TO) <= 1


def test_features_are_scaled_to_widths_equal_within_one_in_a_thousand():
    each = moves(ranked(About.MEANS), dataset=TO)
    assert 1 <= max(each) / min(each) < 1.001


@given(rows=st.lists(row(), max_size=5), first=row(), second=row())
def test_a_replaced_row_moves_a_covariance_no_further_than_an_added_one(rows, first, second):
    of = ranked(About.MEANS)
    before, after = (scores(of, sums([*rows, r]), dataset=TO) for r in (first, second))
    for a, b, most in zip(before, after, moves(of, dataset=TO), strict=True):
        assert abs(a - b) <= most


def test_substitution_doubles_the_move_about_the_centres_alone():
    to = dataset(adjacency=Adjacency.SUBSTITUTE)
    once, twice = (moves(ranked(About.CENTRES), dataset=d) for d in (TO, to))
    assert twice == tuple(2 * m for m in once)
    assert moves(ranked(About.MEANS), dataset=to) == moves(ranked(About.MEANS), dataset=TO)


def test_several_rows_multiply_the_move():
    of = ranked(About.MEANS)
    several = replace(of, bounds=CellBound(max_cells=1, max_rows_per_cell=3))
    assert moves(several, dataset=TO) == tuple(3 * m for m in moves(of, dataset=TO))


def test_the_reach_of_one_feature_is_what_two_features_move():
    each = moves(ranked(About.MEANS), dataset=TO)
    asked = question("choice", ranked(About.MEANS), dataset=TO).sensitivity
    assert (asked.reach, asked.set_reach) == (sum(each), sum(each))


def test_all_parts_of_a_choice_are_over_the_same_complete_rows():
    of = parts(ranked(About.MEANS))
    assert len({(p.relation, p.axes, p.bounds) for p in of}) == 1
    assert len(of) == 6


def test_features_listed_twice_and_unscreened_panels_are_refused():
    with pytest.raises(InvalidParameterError, match="listed twice"):
        replace(ranked(About.MEANS), features=(BMI, BMI))
    with pytest.raises(InvalidParameterError, match="listed twice"):
        replace(ranked(About.MEANS), features=(BMI, PRESSURE))
    many = tuple(ColumnOf(table="t", column=f"g{i}") for i in range(MOST_FEATURES + 1))
    with pytest.raises(InvalidParameterError, match="Expected at most 1000 features"):
        replace(ranked(About.MEANS), features=many)


@pytest.mark.L1
def test_nobody_moves_a_covariance_further_than_claimed():
    asked = TopFeatures(
        id="cov",
        table="events",
        features=("amount", "change", "strict"),
        outcome="whole",
        per_patient=PerPatient(rows=1),
        size=2,
    )
    drawn = neighbours(1_500, entity=Entity.PATIENT, entropy=SeededEntropy(6))
    for found in search([asked], drawn=drawn, entity=Entity.PATIENT):
        assert found.holds
        assert found.linf >= found.claimed.linf / 2  # n/(n+1) of it at best, for n other rows
