"""Sums and averages of published cells: their intervals cover, and averages lose nothing."""

from fractions import Fraction

import numpy as np
import pytest

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.estimation.intervals import Component, noise_component, share
from confide.plans.estimation.sums import NoisySum, averaged, repeated
from confide.statistics import Count, Histogram, Proportion
from confide.tables.filter import Everything
from noisy_answers import dataset
from seeded import SeededEntropy

RUNS = 20_000
LAPLACE = DiscreteLaplace(scale=Fraction(8))
NARROW = DiscreteLaplace(scale=Fraction(1))
GAUSSIAN = DiscreteGaussian(sigma_squared=Fraction(50))
SMALL = DiscreteGaussian(sigma_squared=Fraction(1, 2))


def noise(mechanism, *, cells, seed):
    drawn = mechanism.sample(RUNS * cells, entropy=SeededEntropy(seed))
    return np.asarray(drawn).reshape(RUNS, cells).sum(axis=1)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("cells", [1, 2, 5, 40])
@pytest.mark.parametrize("mechanism", [LAPLACE, NARROW, GAUSSIAN, SMALL], ids=repr)
def test_intervals_of_sums_cover(mechanism, cells, level):
    errors = noise(mechanism, cells=cells, seed=cells)
    width = NoisySum(value=0, error=repeated(noise_component(mechanism), times=cells)).width(
        level=level
    )
    covered = float(np.mean(np.abs(errors) <= width))
    deviation = np.sqrt(cells * mechanism.variance())
    assert covered >= level - 0.012
    if deviation > 10:  # a lattice of whole numbers covers more
        assert covered <= level + 0.02


@pytest.mark.parametrize(
    ("one", "other"), [(LAPLACE, LAPLACE), (LAPLACE, NARROW), (GAUSSIAN, LAPLACE)], ids=repr
)
def test_intervals_of_averages_cover(one, other):
    truth = 500
    answers = (truth + noise(one, cells=3, seed=1), truth + noise(other, cells=1, seed=2))
    errors = (repeated(noise_component(one), times=3), noise_component(other))

    def average(first, second):
        both = zip((first, second), errors, strict=True)
        return averaged([NoisySum(value=float(v), error=e) for v, e in both])

    width = average(0, 0).width(level=0.95)
    precision = np.array([1 / error.variance for error in errors])
    values = np.average(np.array(answers), axis=0, weights=precision)
    assert average(answers[0][7], answers[1][7]).value == pytest.approx(values[7])
    assert np.var(values) == pytest.approx(average(0, 0).error.variance, rel=0.05)
    covered = float(np.mean(np.abs(values - truth) <= width))
    assert 0.94 <= covered <= 0.975


def test_an_average_of_gaussian_answers_is_as_good_as_one_that_cost_the_sum():
    rhos = (Fraction(1, 100), Fraction(3, 100))
    parts = [DiscreteGaussian(sigma_squared=1 / (2 * rho)) for rho in rhos]
    whole = DiscreteGaussian(sigma_squared=1 / (2 * sum(rhos)))
    found = averaged([NoisySum(value=0, error=noise_component(part)) for part in parts])
    assert found.error.variance == pytest.approx(whole.variance(), rel=1e-6)


def test_the_whole_numbers_of_an_interval_are_those_inside():
    assert NoisySum(value=10.5, error=Component(variance=1.0)).ends(level=0.95) == (9, 12)
    assert NoisySum(value=7.0, error=Component(variance=0.0)).ends(level=0.95) == (7, 7)


def test_what_no_row_can_be_in_is_exactly_zero():
    nothing = NoisySum(value=0.0, error=Component(variance=0.0))
    some = NoisySum(value=9.0, error=Component(variance=4.0))
    assert averaged([some, nothing]) == nothing
    by_sex = Histogram(id="h", table="participants", by=("sex",))
    zero, other = by_sex.estimate_sums([nothing, some], dataset=dataset())
    assert (zero.value, zero.lower, zero.upper, zero.standard_error) == (0, 0, 0, 0)
    assert other.value == 9


def test_a_share_of_counts_with_unequal_errors_covers():
    having, without = 300, 900
    a, b = noise_component(GAUSSIAN), repeated(noise_component(GAUSSIAN), times=9)
    xs, ys = having + noise(GAUSSIAN, cells=1, seed=5), without + noise(GAUSSIAN, cells=9, seed=6)
    found = [
        share(float(x), float(y), noise=a, other=b, spread=0.0, least=1, level=0.95)
        for x, y in zip(xs[:4000], ys[:4000], strict=True)
    ]
    covered = np.mean([each.lower <= 0.25 <= each.upper for each in found])
    assert 0.935 <= covered <= 0.965


def test_a_rounded_average_says_so_in_its_error_and_its_ends():
    total = Count(id="n", table="participants")
    (found,) = total.estimate_sums(
        [NoisySum(value=41.6, error=Component(variance=4.0))], dataset=dataset()
    )
    assert found.value == 42
    assert found.standard_error == pytest.approx((4 + 1 / 12) ** 0.5)
    assert (found.lower, found.upper) == (38, 45)
    tens = Histogram(id="h", table="participants", by=("sex",), round_to=10, threshold=20)
    low, high = tens.estimate_sums(
        [NoisySum(value=v, error=Component(variance=4.0)) for v in (12.0, 41.6)], dataset=dataset()
    )
    assert low.value is None
    assert (high.value, high.lower, high.upper) == (40, 30, 50)


def test_the_forecast_of_a_sum_is_that_of_its_noisiest_cell():
    by_sex = Histogram(id="h", table="participants", by=("sex",))
    errors = [Component(variance=4.0), Component(variance=100.0)]
    found = by_sex.forecast_sums(errors, dataset=dataset(), level=Fraction(95, 100))
    assert found.half_width == pytest.approx(19.6, abs=0.01)
    share_of = Proportion(id="p", table="participants", of=Everything(), expect=Fraction(100))
    found = share_of.forecast_sums(errors, dataset=dataset(), level=Fraction(95, 100))
    assert found.half_width == pytest.approx(1.96 * 10 / 100, abs=1e-3)
