import random
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.directed import exp_ceil, exp_floor, log_ceil, log_floor


@pytest.mark.parametrize(
    "value", [Fraction(3, 2), Fraction(1, 10**18), Fraction(10**40 + 1, 10**40)]
)
def test_logarithm_lies_between_its_floor_and_ceiling(value: Fraction) -> None:
    grid = 10**9
    with localcontext(prec=120):
        exact = (Decimal(value.numerator) / value.denominator).ln() * grid
    assert log_floor(value, grid=grid) <= exact <= log_ceil(value, grid=grid)
    assert log_ceil(value, grid=grid) - log_floor(value, grid=grid) == 1


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(-20), Fraction(100), Fraction(1, 10**30)]
)
def test_exponential_lies_between_its_floor_and_ceiling(value: Fraction) -> None:
    grid = 10**18
    with localcontext(prec=150):
        exact = (Decimal(value.numerator) / value.denominator).exp() * grid
    assert exp_floor(value, grid=grid) <= exact <= exp_ceil(value, grid=grid)


def test_rational_results_are_answered_exactly() -> None:
    assert log_floor(Fraction(1), grid=7) == log_ceil(Fraction(1), grid=7) == 0
    assert exp_floor(Fraction(0), grid=7) == exp_ceil(Fraction(0), grid=7) == 7


def test_a_value_within_a_hair_of_the_grid_is_still_decided() -> None:
    # e^x is within 1e-60 of 1 + x: forty digits do not decide the floor, eighty do.
    hair = Fraction(1, 10**60)
    assert exp_floor(hair, grid=10**60) == 10**60 + 1
    assert exp_ceil(hair, grid=10**60) == 10**60 + 2
    assert exp_floor(-hair, grid=10**60) == 10**60 - 1


def test_logarithm_of_nothing_and_absurd_exponents_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"Expected value > 0, got value=0"):
        log_floor(Fraction(0), grid=10)
    with pytest.raises(InvalidParameterError, match=r"Expected an exponent ≤ 10000"):
        exp_ceil(Fraction(10_001), grid=10)


@pytest.mark.parametrize(("floor", "real"), [(log_floor, Decimal.ln), (exp_floor, Decimal.exp)])
@pytest.mark.parametrize(("least", "most"), [(1, 3 * 10**44), (99 * 10**42, 101 * 10**42)])
def test_a_floor_is_that_of_the_real_number_where_forty_digits_nearly_decide_it(
    floor, real, least, most
):
    drawn = random.Random(1)
    for _ in range(400):
        value = Fraction(drawn.randrange(least, most), 10**44)
        grid = drawn.randrange(1, 10**39)
        with localcontext(prec=150):
            exact = real(Decimal(value.numerator) / value.denominator) * grid
        assert floor(value, grid=grid) <= exact < floor(value, grid=grid) + 1
