"""Quantiles of sums of noises against the exact law, and intervals of ratios."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.plans.estimation.intervals import (
    Component,
    median_error,
    quantile,
    ratio_interval,
    share,
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
