from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confide.budget.amount import (
    LARGEST,
    Amount,
    charge_for,
)
from confide.errors import InvalidParameterError, MismatchError, UnsupportedError
from confide.privacy.amount import NANO
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure


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


@pytest.mark.parametrize("nano", [-1, 1.0, True, LARGEST + 1, "1"])
def test_amounts_are_whole_units_of_at_least_0(nano):
    with pytest.raises(InvalidParameterError, match="Expected nano as an int"):
        Amount(nano=nano)


def test_an_amount_covers_another_only_in_both_parts():
    assert Amount(nano=2, delta_atto=1).covers(Amount(nano=1))
    assert not Amount(nano=2).covers(Amount(nano=1, delta_atto=1))
