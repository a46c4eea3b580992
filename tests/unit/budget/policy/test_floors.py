"""Floors against the laws themselves: enough, and a billionth less is not."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.budget.policy.attained import error
from confide.budget.policy.floors import drawn, floor_of
from confide.budget.policy.policy import Metric, Noise, PlannedRelease
from confide.errors import ContractError
from confide.noise.discrete_gaussian import DiscreteGaussian
from confide.noise.discrete_laplace import DiscreteLaplace
from confide.privacy.measure import Measure
from policies import utility

NANO = 10**9


def release(noise, *, metric=Metric.MDAPE, at_most="0.1", count=40, sensitivity=1):
    asked = utility("r", metric=metric, at_most=at_most, count=count)
    return PlannedRelease(
        id="r", tier="critical", noise=noise, utility=asked, sensitivity=sensitivity
    )


@pytest.mark.parametrize(
    ("noise", "metric", "at_most", "units"),
    [
        # ln 2/4, ln 20/4, 2·ln 20/8 and √2/4, by hand to nine digits, rounded up
        (Noise.LAPLACE, Metric.MDAPE, "0.1", 173_286_796),
        (Noise.LAPLACE, Metric.P95, "0.1", 748_933_069),
        (Noise.LAPLACE, Metric.INTERVAL_WIDTH, "8", 748_933_069),
        (Noise.LAPLACE, Metric.RMSE, "4", 353_553_391),
    ],
)
def test_floors_of_the_textbooks_laplace_law(noise, metric, at_most, units):
    assert floor_of(release(noise, metric=metric, at_most=at_most), measure=Measure.PURE) == units


def test_the_discrete_floor_solves_its_equation():
    """4a⁵ = 1 + a for a count of 40 within 10 %: found by mpmath 1.3, findroot, 40 digits."""
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 40
    root = mpmath.findroot(lambda a: 4 * a**5 - 1 - a, 0.86)
    expected = math.ceil(-mpmath.log(root) * NANO)
    assert floor_of(release(Noise.DISCRETE_LAPLACE), measure=Measure.PURE) == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(list(Metric)),
    st.integers(1, 60),
    st.integers(5, 3000),
    st.integers(1, 4),
)
def test_a_discrete_floor_is_enough_and_a_billionth_less_is_not(metric, size, count, sensitivity):
    relative = metric in (Metric.MDAPE, Metric.P95)
    at_most = Fraction(size, 100) if relative else Fraction(size)
    planned = release(
        Noise.DISCRETE_LAPLACE, metric=metric, at_most=at_most, count=count, sensitivity=sensitivity
    )
    floor = floor_of(planned, measure=Measure.PURE)
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 50
    reach = math.floor(at_most * count if relative else at_most / 2)

    def kept(units):
        a = mpmath.exp(-mpmath.mpf(units) / NANO / sensitivity)
        if metric is Metric.RMSE:
            return 2 * a <= mpmath.mpf(size) ** 2 * (1 - a) ** 2
        miss = mpmath.mpf(1) / 2 if metric is Metric.MDAPE else mpmath.mpf(1) / 20
        return 2 * a ** (reach + 1) / (1 + a) <= miss

    assert kept(floor)
    assert floor == 1 or not kept(floor - 1)


def test_gaussian_floors_are_in_rho_and_only_under_zcdp():
    planned = release(Noise.GAUSSIAN)
    floor = floor_of(planned, measure=Measure.ZCDP)
    assert floor == math.ceil((0.6744897501960817 / 4) ** 2 / 2 * NANO)
    rmse = release(Noise.GAUSSIAN, metric=Metric.RMSE, at_most="4")
    assert floor_of(rmse, measure=Measure.ZCDP) == NANO // 32
    with pytest.raises(ContractError, match="no finite ε"):
        floor_of(planned, measure=Measure.PURE)


def test_a_pure_floor_costs_half_its_square_under_zcdp():
    planned = release(Noise.LAPLACE)
    epsilon = floor_of(planned, measure=Measure.PURE)
    rho = floor_of(planned, measure=Measure.ZCDP)
    assert Fraction(rho, NANO) >= Fraction(epsilon, NANO) ** 2 / 2 > Fraction(rho - 1, NANO)


@pytest.mark.parametrize("noise", list(Noise))
@pytest.mark.parametrize("metric", list(Metric))
def test_the_error_that_a_floor_attains_is_the_error_that_was_asked(noise, metric):
    relative = metric in (Metric.MDAPE, Metric.P95)
    at_most = Fraction(1, 4) if relative else Fraction(20)
    planned = release(noise, metric=metric, at_most=at_most, count=200)
    floor = floor_of(planned, measure=Measure.ZCDP)
    attained = error(planned, units=floor, measure=Measure.ZCDP)
    assert attained <= float(at_most) * (1 + 1e-9)
    assert attained >= float(at_most) * (0.999 if noise is not Noise.DISCRETE_LAPLACE else 0.9)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 200), st.sampled_from([Metric.MDAPE, Metric.P95]), st.integers(20, 500))
def test_a_floor_of_whole_reach_is_enough_for_what_is_drawn(reach, metric, count):
    level = 0.5 if metric is Metric.MDAPE else 0.95
    at_most = Fraction(reach, count)
    laplace = release(Noise.LAPLACE, metric=metric, at_most=at_most, count=count)
    epsilon = floor_of(laplace, measure=Measure.PURE)
    assert DiscreteLaplace(scale=Fraction(NANO, epsilon)).tail(reach) <= 1 - level
    gaussian = replace(laplace, noise=Noise.GAUSSIAN)
    rho = floor_of(gaussian, measure=Measure.ZCDP)
    assert DiscreteGaussian(sigma_squared=Fraction(NANO, 2 * rho)).tail(reach) <= 1 - level
    assert drawn(laplace, measure=Measure.PURE) <= epsilon
    assert drawn(gaussian, measure=Measure.ZCDP) == rho


def test_a_floor_of_broken_reach_may_not_be_enough_for_what_is_drawn():
    """4.9 counts: whole numbers within 4 are needed, and the textbook's ε is too small for them."""
    planned = release(Noise.LAPLACE, at_most="0.1", count=49)
    epsilon = floor_of(planned, measure=Measure.PURE)
    assert DiscreteLaplace(scale=Fraction(NANO, epsilon)).tail(4) > 0.5
    enough = drawn(planned, measure=Measure.PURE)
    assert enough > epsilon
    assert DiscreteLaplace(scale=Fraction(NANO, enough)).tail(4) <= 0.5
    gaussian = replace(planned, noise=Noise.GAUSSIAN)
    rho = drawn(gaussian, measure=Measure.ZCDP)
    assert rho > floor_of(gaussian, measure=Measure.ZCDP)
    assert DiscreteGaussian(sigma_squared=Fraction(NANO, 2 * rho)).tail(4) <= 0.5
