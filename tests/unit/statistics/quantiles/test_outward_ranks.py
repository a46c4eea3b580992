"""Quantiles where values heap or lie at a bound, and cells of one value."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.canonical import decode, encode
from confide.plans.contribution import PerPatient
from confide.plans.estimates import AT_BOUND
from confide.plans.estimation.cumulative import Ends, rank_widths
from confide.statistics import Mean, MedianDifference, Quantiles
from confide.tables.aggregates.aggregate import Aggregate
from noisy_answers import dataset, draws, estimate, mechanisms, moments
from seeded import SeededEntropy

TO = dataset()
MEDIAN = Quantiles(
    id="q",
    table="visits",
    column="days",
    at=(Fraction(1, 2),),
    bins=31,
    per_patient=PerPatient(rows=1),
)


def edges_of(spec):
    return spec.measured(TO).axes[-1].edges


def visits(*, days, spec=MEDIAN):
    edges = np.array(edges_of(spec))
    return {
        "histogram": tuple(
            np.bincount(
                np.searchsorted(edges, days, side="right") - 1, minlength=len(edges) - 1
            ).tolist()
        )
    }


def test_a_median_of_days_with_one_cell_a_day_is_the_day_itself():
    noise = mechanisms(MEDIAN, to=TO, spend=2)
    days = np.array([1] * 420 + [3] * 150 + [30] * 30)
    for noisy in draws(visits(days=days), noise=noise, runs=40, seed=3):
        for found in estimate(MEDIAN, noisy, to=TO, noise=noise):
            assert (found.value, found.lower, found.upper) == (1, 1, 1)


def test_a_quantile_that_was_clipped_to_the_upper_bound_is_the_bound_and_says_so():
    noise = mechanisms(MEDIAN, to=TO, spend=2)
    days = np.array([2] * 100 + [30] * 500)
    for noisy in draws(visits(days=days), noise=noise, runs=40, seed=4):
        for found in estimate(MEDIAN, noisy, to=TO, noise=noise):
            assert (found.value, found.upper) == (30, 30)
            assert AT_BOUND in found.flags


def test_a_mean_at_a_bound_says_so():
    spec = Mean(id="m", table="participants", column="bmi")
    noise = mechanisms(spec, to=TO, spend=1)
    exact = moments(np.full(500, 100), lower=100, upper=701, degree=1)
    (found,) = estimate(spec, {"distances": exact}, to=TO, noise=noise)
    assert AT_BOUND in found.flags
    inside = moments(np.full(500, 300), lower=100, upper=701, degree=1)
    (found,) = estimate(spec, {"distances": inside}, to=TO, noise=noise)
    assert found.flags == ()


@pytest.mark.parametrize("cells", [4, 24])
@pytest.mark.parametrize("q", [0.25, 0.5])
@pytest.mark.parametrize(
    "noise",
    [DiscreteLaplace(scale=Fraction(1, 3)), DiscreteGaussian(sigma_squared=Fraction(1, 4))],
    ids=["laplace", "gaussian"],
)
def test_ranks_are_within_their_width_at_the_level_even_on_a_lattice(cells, q, noise):
    widths = rank_widths(noise, cells=cells, q=q, level=0.95)
    drawn = noise.sample(20_000 * cells, entropy=SeededEntropy(8)).reshape(20_000, cells)
    total = drawn.sum(axis=1)
    for t in range(1, cells):
        error = drawn[:, :t].sum(axis=1) - q * total
        for sign in (-1, 1):
            over = np.mean(sign * error > widths[t] + 1e-9)
            assert over <= 0.025 + 4 * math.sqrt(0.025 / 20_000)


def test_named_edges_begin_cells_and_both_bounds_have_their_own():
    spec = replace(MEDIAN, edges=tuple(map(Fraction, (0, 3, 7, 14, 30))))
    assert edges_of(spec) == (0, 1, 3, 7, 14, 30, 31)
    rising, grid = "edges that rise from 0 to 30", "0.5 is not on the grid"
    told = {(0, 7): rising, (1, 30): rising, (0, 7, 7, 30): rising, (0, Fraction(1, 2), 30): grid}
    for wrong, text in told.items():
        with pytest.raises(ContractError, match=text):
            edges_of(replace(MEDIAN, edges=tuple(map(Fraction, wrong))))


def test_a_plan_made_before_bounds_had_cells_keeps_its_cells():
    said = encode(MEDIAN)
    assert said.pop("ends") == "apart"
    before = decode(Quantiles, said, names={})
    assert before.ends is Ends.MERGED
    assert "ends" not in encode(before)
    assert edges_of(before) == tuple(range(31))
    assert edges_of(MEDIAN) == tuple(range(32))


@pytest.mark.parametrize("spec", [Quantiles, MedianDifference])
def test_a_plan_made_before_there_were_two_rounds_has_64_cells(spec):
    asked = spec(id="q", table="participants", column="pressure", by=("sex",))
    said = encode(asked)
    assert said.pop("bins") is None
    before = decode(spec, said, names={})
    assert before.bins == 64
    assert encode(before) == said
    assert isinstance(before.measured(TO), Aggregate)
    assert not isinstance(asked.measured(TO), Aggregate)
