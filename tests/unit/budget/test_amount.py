from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.budget.amount import (
    LARGEST,
    NANO,
    Amount,
    atto_down,
    charge_for,
    decimal_text,
    nano_down,
    parse_amount,
)
from confide.errors import InvalidParameterError, MismatchError, UnsupportedError
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure

NOT_AMOUNTS = (
    0.5,
    float("nan"),
    float("inf"),
    True,
    None,
    -1,
    0,
    Fraction(-1, 3),
    "",
    "nan",
    "inf",
    "-0.5",
    "+0.5",
    "0",
    "0.0",
    "0/5",
    "1/0",
    " 1",
    "1_000",
    "0x10",
    "٣",
    "1e400",
    "1e-100",
    ".5",
    "1.",
    "0.5ε",
    b"1",
)


@pytest.mark.parametrize("value", NOT_AMOUNTS)
def test_floats_nan_signs_zero_and_other_text_are_refused(value):
    with pytest.raises(InvalidParameterError, match="Expected an amount"):
        parse_amount(value)


@pytest.mark.parametrize("value", ["1e-10", "9e11", "0.0000000009"])
def test_an_amount_off_the_grid_is_refused(value):
    with pytest.raises(InvalidParameterError, match="between"):
        nano_down(value)


@given(st.fractions(min_value=Fraction(1, 10**8), max_value=100))
def test_three_thirds_of_a_cap_fit_it(cap):
    assert 3 * nano_down(cap / 3) <= nano_down(cap) <= cap * NANO


@given(st.integers(min_value=1, max_value=LARGEST))
def test_an_amount_is_read_as_it_was_written(nano):
    assert nano_down(decimal_text(nano, per_one=NANO)) == nano


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=50), st.sampled_from(Measure))
def test_a_charge_is_never_below_its_loss_and_never_a_unit_above(epsilon, measure):
    exact = epsilon if measure is Measure.PURE else epsilon**2 / 2
    nano = charge_for(PureDP(epsilon=epsilon), measure=measure).nano
    assert 0 <= Fraction(nano, NANO) - exact < Fraction(1, NANO)


def test_delta_is_kept_and_rho_does_not_become_epsilon():
    loss = ApproxDP(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    assert charge_for(loss, measure=Measure.ZCDP) == Amount(nano=NANO // 2, delta_atto=10**12)
    rho = ZeroConcentratedDP(rho=Fraction(1, 3))
    assert charge_for(rho, measure=Measure.ZCDP) == Amount(nano=333_333_334)
    with pytest.raises(MismatchError, match="zcdp"):
        charge_for(rho, measure=Measure.PURE)
    only_delta = ApproxDP(epsilon=Fraction(0), delta=Fraction(1, 10**6))
    with pytest.raises(UnsupportedError):
        charge_for(only_delta, measure=Measure.PURE)


@pytest.mark.parametrize("nano", [0, -1, 1.0, True, LARGEST + 1, "1"])
def test_amounts_are_positive_whole_units(nano):
    with pytest.raises(InvalidParameterError, match="Expected nano as an int"):
        Amount(nano=nano)


def test_delta_is_parsed_on_its_own_grid():
    assert atto_down("1e-18") == 1
    assert Amount(nano=2, delta_atto=1).covers(Amount(nano=1))
    assert not Amount(nano=2).covers(Amount(nano=1, delta_atto=1))
