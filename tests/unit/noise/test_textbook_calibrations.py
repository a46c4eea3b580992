"""Continuous Laplace and Gaussian: the textbook's numbers, and the refusals they need."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.noise import gaussian, laplace
from confide.noise.gaussian import (
    analytic_sigma,
    classical_sigma,
    gaussian_delta,
)
from confide.noise.laplace import ContinuousLaplace


@given(epsilon=st.floats(0.01, 20), exponent=st.floats(2, 12), sensitivity=st.floats(0.01, 100))
def test_the_analytic_sigma_is_the_least_that_keeps_delta(
    epsilon: float, exponent: float, sensitivity: float
) -> None:
    delta = 10**-exponent
    sigma = analytic_sigma(epsilon, delta=delta, sensitivity=sensitivity)
    at, below = (
        gaussian_delta(s, epsilon=epsilon, sensitivity=sensitivity)
        for s in (sigma, sigma * (1 - 1e-7))
    )
    assert at <= delta * (1 + 1e-6)
    assert below > delta * (1 - 1e-9)


@given(epsilon=st.floats(0.01, 1), exponent=st.floats(2, 12))
def test_the_classical_sigma_is_private_up_to_one_and_never_less_than_the_analytic(
    epsilon: float, exponent: float
) -> None:
    delta = 10**-exponent
    assert classical_sigma(epsilon, delta=delta) >= analytic_sigma(epsilon, delta=delta)


def test_the_classical_sigma_above_one_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidParameterError, match="proved up to 1 and false at 10"):
        classical_sigma(10, delta=1e-5)


def test_nothing_continuous_can_be_sampled() -> None:
    for module in (laplace, gaussian):
        assert not any("sample" in name or "randomize" in name for name in vars(module))
    assert not hasattr(ContinuousLaplace(scale=Fraction(1)), "sample")


def test_continuous_laplace_widths_and_medians_are_quantiles() -> None:
    noise = ContinuousLaplace(scale=Fraction(2))
    assert noise.half_width(0.5) == pytest.approx(noise.median_absolute())
    assert math.exp(-noise.half_width(0.95, coordinates=7) / 2) == pytest.approx(
        1 - 0.95 ** (1 / 7)
    )
    assert noise.variance() == 8


@pytest.mark.parametrize(
    "call",
    [
        lambda: analytic_sigma(0, delta=1e-6),
        lambda: analytic_sigma(1, delta=0),
        lambda: analytic_sigma(1, delta=1e-6, sensitivity=0),
        lambda: analytic_sigma(1000, delta=1e-6),
        lambda: gaussian_delta(0, epsilon=1),
        lambda: gaussian_delta(1, epsilon=-1),
    ],
)
def test_parameters_out_of_range_are_refused(call) -> None:
    with pytest.raises(InvalidParameterError, match="Expected"):
        call()
