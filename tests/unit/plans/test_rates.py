"""Rates of noisy cells: sums, differences and quotients against their definitions."""

import math

import pytest

from confide.plans.estimation.intervals import Component, quantile
from confide.plans.estimation.rates import (
    NO_RATE,
    Rate,
    RateCell,
    RateNoise,
    control_limits,
    difference,
    pooled,
    quotient,
    ratio,
    standardized,
)

Z = quantile((), level=0.95)


def cell(events, base, *, variance=0.0, of_events=1.0, of_base=0.0):
    noise = RateNoise(noise=Component(variance=variance), events=of_events, base=of_base)
    return RateCell(events=events, base=base, noise=(noise,) if variance else ())


def rate(value, lower, upper, *, error=0.0):
    return Rate(value=value, standard_error=error, lower=lower, upper=upper)


def test_pooled_cells_have_all_events_over_the_weighted_bases():
    of = pooled(
        [cell(2, 100, variance=3.0, of_base=0.5), cell(4, 50, variance=5.0, of_base=2.0)],
        weights=[0.5, 3.0],
    )
    assert (of.events, of.base) == (6, 200)
    assert [(s.noise.variance, s.events, s.base) for s in of.noise] == [
        (3.0, 1.0, 0.25),
        (5.0, 1.0, 6.0),
    ]
    assert of.base_deviation == pytest.approx(math.sqrt(3 * 0.0625 + 5 * 36))
    assert pooled([cell(2, 100), cell(4, 50)]).base == 150


def test_a_noisy_ratio_has_the_ends_at_which_its_noise_reaches_it():
    """|E − tB| ≤ 1.96·√(v(1 − t/2)²) has its ends in closed form."""
    found = ratio(cell(40, 200, variance=9.0, of_base=0.5), spread=0, curve=0, level=0.95)
    reach = Z * 3
    assert found.value == 0.2
    assert found.lower == pytest.approx((40 - reach) / (200 - reach / 2), rel=1e-9)
    assert found.upper == pytest.approx((40 + reach) / (200 + reach / 2), rel=1e-9)
    assert found.standard_error == pytest.approx(3 * (1 - 0.1) / 200)
    assert ratio(cell(1, 0), spread=0, curve=0, level=0.95) == NO_RATE
    assert ratio(cell(-3, 10), spread=0, curve=0, level=0.95).value == 0


def test_a_ratio_of_a_sample_without_noise_has_the_score_interval():
    found = ratio(cell(40, 1000), spread=1000, curve=0, level=0.95)
    centre, root = 40 + Z**2 / 2, Z * math.sqrt(40 + Z**2 / 4)
    assert found.lower <= (centre - root) / 1000 + 1e-12
    assert found.upper == pytest.approx((centre + root) / 1000, rel=1e-9)
    assert found.standard_error == pytest.approx(math.sqrt(40) / 1000)


def test_a_difference_has_the_square_of_its_parts_on_each_side():
    a, b = rate(5.0, 2.0, 9.0, error=3.0), rate(1.0, 0.5, 4.0, error=4.0)
    assert difference(a, b) == rate(4.0, 4 - math.hypot(3, 3), 4 + math.hypot(4, 0.5), error=5.0)
    open_above = rate(1.0, 0.5, None)
    assert difference(a, open_above).lower == -math.inf
    assert difference(open_above, a).upper is None
    for first, second in ((a, NO_RATE), (NO_RATE, a)):
        assert difference(first, second).value is None
        assert difference(first, second).lower == -math.inf


def test_a_quotient_ends_where_the_difference_with_that_multiple_does():
    a, b = rate(6.0, 4.0, 9.0, error=3.0), rate(2.0, 1.5, 2.6, error=0.5)
    found = quotient(a, b)
    assert found.value == 3.0
    assert found.standard_error == pytest.approx(math.hypot(3.0, 3 * 0.5) / 2)
    low, high = found.lower, found.upper
    assert (6 - 2 * low) ** 2 == pytest.approx((6 - 4) ** 2 + (low * (2.6 - 2)) ** 2)
    assert (6 - 2 * high) ** 2 == pytest.approx((9 - 6) ** 2 + (high * (2 - 1.5)) ** 2)


def test_a_quotient_that_no_value_bounds_is_open():
    a, b = rate(6.0, 4.0, 9.0), rate(2.0, 0.0, None)
    assert (quotient(a, b).lower, quotient(a, b).upper) == (0.0, None)
    assert quotient(a, NO_RATE) == quotient(NO_RATE, a) == NO_RATE
    assert quotient(a, rate(0.0, 0.0, 1.0)) == NO_RATE
    assert quotient(rate(6.0, 0.0, None), rate(2.0, 1.0, 3.0)).lower == 0.0


def test_a_standardised_rate_weighs_the_strata_and_their_noise():
    strata = [cell(10, 1000, variance=16.0), cell(60, 1500, variance=16.0), cell(1, -5)]
    found = standardized(strata, weights=[0.7, 0.3, 0.0], persons=False, sampled=False, level=0.95)
    error = 4 * math.hypot(0.7 / 1000, 0.3 / 1500)
    assert found.value == pytest.approx(0.019)
    assert found.standard_error == pytest.approx(error)
    assert (found.lower, found.upper) == (
        pytest.approx(0.019 - Z * error), pytest.approx(0.019 + Z * error),
    )  # fmt: skip


def test_a_standardised_rate_of_a_sample_has_its_poisson_or_binomial_error():
    strata = [cell(1000, 10_000), cell(6000, 15_000)]
    poisson, binomial = (
        standardized(strata, weights=[0.7, 0.3], persons=p, sampled=True, level=0.95)
        for p in (False, True)
    )
    squares = 0.49 * 0.1 / 10_000 + 0.09 * 0.4 / 15_000
    less = 0.49 * 0.01 / 10_000 + 0.09 * 0.16 / 15_000
    assert poisson.standard_error == pytest.approx(math.sqrt(squares), rel=2e-3)
    assert binomial.standard_error == pytest.approx(math.sqrt(squares - less), rel=2e-3)


def test_a_stratum_whose_base_is_within_four_deviations_of_its_noise_gives_no_rate():
    for base, fits in ((39.0, False), (41.0, True)):
        strata = [cell(5, base, variance=100.0, of_events=0.0, of_base=1.0)]
        found = standardized(strata, weights=[1.0], persons=True, sampled=True, level=0.95)
        assert (found != NO_RATE) is fits


def test_control_limits_lean_with_the_poisson_part_of_their_variance():
    low, high = control_limits(50, noise=[Component(variance=30)], curve=10, level=0.95)
    reach, lean = Z * math.sqrt(70), (Z**2 - 1) / 6 * 40 / 70
    assert low == pytest.approx(1 + (lean - reach) / 50)
    assert high == pytest.approx(1 + (lean + reach) / 50)
    assert control_limits(2, noise=[Component(variance=30)], curve=0, level=0.95)[0] == 0
