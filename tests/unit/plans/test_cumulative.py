"""Ranks over cells: their edges, the laws of their noise by enumeration, and what lies between."""

import itertools
import math
from fractions import Fraction

import pytest

from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.estimation.cumulative import (
    Ends,
    Ranked,
    cell_edges,
    given_edges,
    monotone,
    rank_widths,
)
from confide.tables.schema import Domain, Kind


def grid(upper, *, lower=0):
    return Domain(kind=Kind.NUMBER, lower=lower, upper=upper)


@pytest.mark.parametrize(
    ("of", "cells", "ends", "edges"),
    [
        (grid(1), 5, Ends.APART, (0, 1, 2)),
        (grid(2), 5, Ends.APART, (0, 1, 2, 3)),
        (grid(9), 1, Ends.APART, (0, 1, 9, 10)),
        (grid(9), 4, Ends.APART, (0, 1, 5, 9, 10)),
        (grid(-2, lower=-5), 9, Ends.APART, (-5, -4, -3, -2, -1)),
        (grid(10), 4, Ends.MERGED, (0, 2, 5, 7, 10)),
        (grid(3, lower=1), 9, Ends.MERGED, (1, 2, 3)),
    ],
)
def test_each_bound_has_a_cell_of_its_own_and_the_others_are_equal(of, cells, ends, edges):
    assert cell_edges(of, cells=cells, ends=ends) == edges


def test_edges_that_a_study_names_begin_cells_and_bounds_stay_apart():
    named = [Fraction(n) for n in (0, 4, 9)]
    assert given_edges(named, of=grid(9), name="Age") == (0, 1, 4, 9, 10)
    assert given_edges([Fraction(0), Fraction(1)], of=grid(1), name="Age") == (0, 1, 2)


@pytest.mark.parametrize("edges", [(0, 4, 4, 9), (0, 5, 4, 9), (1, 4, 9), (0, 4, 8), (4,)])
def test_edges_that_do_not_rise_from_bound_to_bound_are_refused(edges):
    with pytest.raises(ContractError, match="Age: expected edges that rise from 0 to 9"):
        given_edges([Fraction(n) for n in edges], of=grid(9), name="Age")


def test_sums_that_fall_are_pooled_to_the_nearest_that_rise():
    assert monotone([1, 3, 2, 2, 9]) == pytest.approx([1, 7 / 3, 7 / 3, 7 / 3, 9])
    assert monotone([5, 4, 3, 2]) == pytest.approx([3.5] * 4)
    assert monotone([2, 2, 3]) == [2, 2, 3]
    assert monotone([]) == []


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace(scale=Fraction(1, 2)), DiscreteGaussian(sigma_squared=Fraction(1, 3))]
)
@pytest.mark.parametrize(("q", "level"), [(0.5, 0.95), (0.25, 0.9)])
def test_little_noise_of_ranks_has_the_least_width_that_its_law_allows(noise, q, level):
    """Three cells, each noise from −9 to 9, by enumeration."""
    values = range(-9, 10)
    chances = {z: noise.pmf(z) for z in values}
    widths = rank_widths(noise, cells=3, q=q, level=level)
    assert len(widths) == 4
    for t, width in enumerate(widths):
        factors = [1 - q] * t + [-q] * (3 - t)
        law = {}
        for zs in itertools.product(values, repeat=3):
            at = round(sum(f * z for f, z in zip(factors, zs, strict=True)), 6)
            law[at] = law.get(at, 0.0) + math.prod(chances[z] for z in zs)
        outside = math.fsum(p for at, p in law.items() if at > width + 1e-6)
        assert outside <= (1 - level) / 2
        assert outside + law[round(width, 6)] > (1 - level) / 2


@pytest.mark.parametrize("noise", [DiscreteLaplace(scale=40), DiscreteGaussian(sigma_squared=2500)])
def test_much_noise_of_ranks_has_the_width_of_its_deviation(noise):
    q, cells, normal = 0.25, 16, 1.959963985
    more = -math.log(0.05) / math.sqrt(2) - normal if isinstance(noise, DiscreteLaplace) else 0
    widths = rank_widths(noise, cells=cells, q=q, level=0.95)
    for t, width in enumerate(widths):
        squares = t * (1 - q) ** 2 + (cells - t) * q**2
        fourths = t * (1 - q) ** 4 + (cells - t) * q**4
        smooth = normal + more * (fourths / squares**2) ** 0.75
        expected = smooth * math.sqrt(noise.variance() * squares) + q / 2  # and half a step
        assert width == pytest.approx(expected, rel=1e-3)


def ranked(cumulative, *, q=0.5, width=0.0, edges=(0, 1, 4, 9, 10)):
    return Ranked(
        cumulative=cumulative, edges=edges, upper=9, widths=[width] * len(cumulative), q=q
    )


def test_the_point_is_spread_evenly_over_its_cell():
    assert ranked((0, 0, 30, 100, 100), q=0.1).point() == 1
    assert ranked((0, 0, 30, 100, 100), q=0.11).point() == 2
    assert ranked((0, 0, 30, 100, 100), q=0.3).point() == 3
    assert ranked((0, 0, 30, 80, 100), q=0.31).point() == 4
    assert ranked((0, 0, 30, 80, 100), q=0.81).point() == 9
    assert ranked((0, 10, 30, 80, 100), q=0.1).point() == 0
    assert ranked((0, 0, 0, 0, 0)).point() == 0


def test_an_interval_goes_from_the_first_cell_within_reach_to_the_last():
    of = ranked((0, 10, 40, 90, 100), width=5)
    assert of.rows == 100
    assert of.interval(sampled=False, level=0.95) == (4, 8)
    assert ranked((0, 10, 46, 90, 100), width=5).interval(sampled=False, level=0.95) == (1, 8)
    assert ranked((0, 10, 46, 54, 100), width=5).interval(sampled=False, level=0.95) == (1, 9)
    assert ranked((0, 45, 46, 54, 100), width=5).interval(sampled=False, level=0.95) == (0, 9)
    assert of.located(sampled=False, level=0.95) == (of.point(), 4, 8)


def test_other_samples_of_the_population_widen_the_ranks_by_their_binomial_error():
    """At 100 rows and the median, 1.96·√(101/4) = 9.85 ranks, and √(9.85² + 5²) = 11.05."""
    near, far = (0, 10, 39, 90, 100), (0, 10, 38.9, 90, 100)
    assert ranked(near, width=5).interval(sampled=True, level=0.95) == (1, 8)
    assert ranked(far, width=5).interval(sampled=True, level=0.95) == (4, 8)
    assert ranked((0, 0, 0, 0, -7.0), width=1).interval(sampled=True, level=0.95)[1] == 9
