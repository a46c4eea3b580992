"""The brackets hold the true value and are narrow."""

from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confide.errors import InvalidParameterError
from confide.noise.exponential_bits import (
    _exp_minus_small,
    ceil_ratio,
    exp_minus,
    logistic,
    rational,
)

exponents = st.fractions(min_value=0, max_value=300, max_denominator=10**9)
CONTEXT = Context(prec=250, Emin=-(10**6), Emax=10**6)


def true_exp_minus(x: Fraction) -> Decimal:
    return CONTEXT.exp(CONTEXT.divide(Decimal(-x.numerator), Decimal(x.denominator)))


@settings(max_examples=200, deadline=None)
@given(x=exponents, bits=st.integers(1, 300))
def test_exp_minus_brackets_the_decimal_value_within_two(x: Fraction, bits: int) -> None:
    lower, upper = exp_minus(x, bits=bits)
    true = CONTEXT.multiply(true_exp_minus(x), Decimal(2**bits))
    assert lower <= true <= upper
    assert upper - lower <= 2


@settings(max_examples=300, deadline=None)
@given(x=st.fractions(0, 2, max_denominator=10**6), work=st.integers(2, 40))
def test_the_series_brackets_the_value_before_any_guard_bit_is_cut_off(x, work) -> None:
    lower, upper = _exp_minus_small(x, halvings=2, work=work)
    true = CONTEXT.multiply(true_exp_minus(x / 4), Decimal(2**work))
    assert lower <= true <= upper
    assert upper - lower <= 30


@settings(max_examples=200, deadline=None)
@given(x=exponents, bits=st.integers(1, 300))
def test_logistic_brackets_the_decimal_value_within_three(x: Fraction, bits: int) -> None:
    lower, upper = logistic(x, bits=bits)
    e = true_exp_minus(x)
    true = CONTEXT.multiply(CONTEXT.divide(e, CONTEXT.add(1, e)), Decimal(2**bits))
    assert lower <= true <= upper
    assert upper - lower <= 3


@given(x=st.fractions(min_value=0, max_value=100, max_denominator=10**6))
def test_more_bits_refine_the_same_number(x: Fraction) -> None:
    coarse, fine = exp_minus(x, bits=40), exp_minus(x, bits=104)
    assert coarse[0] << 64 <= fine[1]
    assert fine[0] <= coarse[1] << 64


def test_exp_of_zero_and_a_half_chance_are_exact() -> None:
    assert exp_minus(Fraction(0), bits=8) == (256, 256)
    assert logistic(Fraction(0), bits=8) == (128, 128)


def test_far_exponents_cost_nothing() -> None:
    assert exp_minus(Fraction(10**12), bits=64) == (0, 1)


@given(p=st.fractions(min_value=0, max_value=1), bits=st.integers(1, 80))
def test_rational_is_floor_and_ceiling(p: Fraction, bits: int) -> None:
    lower, upper = rational(p, bits=bits)
    assert lower <= p * 2**bits <= upper
    assert upper - lower == (0 if (p * 2**bits).denominator == 1 else 1)
    assert ceil_ratio(p.numerator, p.denominator) == (1 if p else 0)


def test_negative_exponents_and_no_bits_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="Expected x ≥ 0"):
        exp_minus(Fraction(-1), bits=8)
    with pytest.raises(InvalidParameterError, match="Expected bits ≥ 1"):
        logistic(Fraction(1), bits=0)
