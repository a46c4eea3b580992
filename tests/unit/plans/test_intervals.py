"""Quantiles of sums of noises against the exact law, and intervals of ratios."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.plans.estimation.intervals import (
    Component,
    cautious_variance,
    median_error,
    noise_component,
    quantile,
    ratio_interval,
    share,
    together,
)

LEVELS = (0.8, 0.9, 0.95, 0.99)
GRID = np.linspace(1e-9, 60, 120_001)


def coverage(width: float, *, laplace: list[float], normal: float) -> float:
    """Return P(|X| ≤ width) for a sum of Laplace errors and a normal one, by inversion."""
    transform = np.exp(-normal * GRID**2 / 2)
    for variance in laplace:
        transform = transform / (1 + variance / 2 * GRID**2)
    return float(2 / math.pi * np.trapezoid(np.sin(width * GRID) / GRID * transform, GRID))


@pytest.mark.parametrize("part", [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1])
@pytest.mark.parametrize("level", LEVELS)
def test_the_quantile_of_a_sum_is_within_0_004_of_its_level(part, level):
    pairs = [([part], 1 - part), ([part, 1 - part], 0.0)]
    for laplace, normal in pairs:
        parts = [Component(variance=v, excess_kurtosis=3.0) for v in laplace]
        width = quantile([*parts, Component(variance=normal)], level=level)
        assert coverage(width, laplace=laplace, normal=normal) == pytest.approx(level, abs=0.004)


def test_median_errors_of_normal_and_laplace_noise_are_known():
    assert median_error([Component(variance=1.0)]) == pytest.approx(0.6745, abs=1e-4)
    laplace = Component(variance=2.0, excess_kurtosis=3.0, step=1.0)
    assert median_error([laplace]) == pytest.approx(math.log(2))


@pytest.mark.parametrize("scale", ["1/2", "3", "40"])
def test_the_error_of_noise_has_the_moments_of_its_law(scale):
    noise = DiscreteLaplace(scale=Fraction(scale))
    values = range(-2000, 2001)
    second = math.fsum(noise.pmf(z) * z**2 for z in values)
    fourth = math.fsum(noise.pmf(z) * z**4 for z in values)
    found = noise_component(noise, factor=-3.0)
    assert found.variance == pytest.approx(9 * second)
    assert found.excess_kurtosis == pytest.approx(fourth / second**2 - 3)
    assert found.step == 3
    gaussian = noise_component(DiscreteGaussian(sigma_squared=Fraction(100)), factor=0.5)
    assert (gaussian.excess_kurtosis, gaussian.step) == (0, 0.5)
    assert gaussian.variance == pytest.approx(25)


def test_hardly_any_noise_has_a_kurtosis_that_stays_a_number():
    assert noise_component(DiscreteLaplace(scale=Fraction(1, 50))).excess_kurtosis == 1e6
    assert noise_component(DiscreteLaplace(scale=Fraction(1, 2**20))).excess_kurtosis == 0


def test_errors_that_are_added_add_their_cumulants():
    parts = [
        Component(variance=3.0, excess_kurtosis=2.0, step=1.0),
        Component(variance=1.0, excess_kurtosis=-1.0, step=5.0),
    ]
    both = together(parts)
    assert both == Component(variance=4.0, excess_kurtosis=2 * 9 / 16 - 1 / 16, step=3 / 4 + 5 / 4)
    assert together([]) == together([Component(variance=0.0, step=1.0)]) == Component(variance=0.0)
    assert parts[0].times(-2) == Component(variance=12.0, excess_kurtosis=2.0, step=2.0)
    assert quantile([both], level=0.95) == pytest.approx(quantile(parts, level=0.95))


def test_a_kurtosis_past_that_of_laplace_errors_or_below_0_is_cut():
    laplace, most, least = (
        quantile([Component(variance=1.0, excess_kurtosis=k)], level=0.9) for k in (3.0, 99.0, -2.0)
    )
    assert most == laplace == pytest.approx(-math.log(0.1) / math.sqrt(2))
    assert least == quantile((), level=0.9)


def test_a_variance_is_raised_by_its_own_error():
    assert cautious_variance(0.0, error=3.0) == 3.0
    assert cautious_variance(8.0, error=3.0) == 9.0
    assert cautious_variance(-8.0, error=3.0) == 1.0


def test_half_a_step_is_added_for_a_lattice():
    smooth = quantile([Component(variance=4.0)], level=0.95)
    stepped = quantile([Component(variance=4.0, step=2.0)], level=0.95)
    assert 2 * (stepped - smooth) == pytest.approx(1.0)


def test_no_noise_gives_the_normal_quantile():
    assert quantile((), level=0.95) == pytest.approx(1.96, abs=1e-3)


@given(
    numerator=st.floats(-1e6, 1e6),
    denominator=st.floats(-1e6, 1e6).filter(lambda d: d == 0 or abs(d) > 1e-9),  # sums on a grid
    noise=st.floats(0, 1e6),
)
def test_a_ratio_interval_holds_its_ratio_or_says_that_it_is_unbounded(
    numerator, denominator, noise
):
    found = ratio_interval(numerator, denominator, coefficients=(noise, 0.0, noise))
    if denominator**2 <= noise:
        assert found is None
    elif found is not None:
        low, high = found
        ratio = numerator / denominator
        assert low - 1e-6 * (1 + abs(ratio)) <= ratio <= high + 1e-6 * (1 + abs(ratio))


def test_a_share_without_noise_has_the_interval_of_wilson():
    """Newcombe 1998, table I: 81 of 263, 95 %: 0.2553 to 0.3662."""
    found = share(81, 182, noise=Component(variance=0.0), spread=263, least=1, level=0.95)
    assert (round(found.lower, 4), round(found.upper, 4)) == (0.2553, 0.3662)


def test_a_share_of_too_little_has_no_value_and_the_whole_range():
    found = share(2, -2, noise=Component(variance=1.0), spread=0, least=1, level=0.95)
    assert (found.value, found.lower, found.upper) == (None, 0.0, 1.0)
