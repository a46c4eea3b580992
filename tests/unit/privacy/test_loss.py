"""Losses are exact numbers within their domains, of a unit and in a measure with a name."""

from fractions import Fraction

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit

MADE = [
    ("epsilon", lambda value: PureDP(epsilon=value)),
    ("epsilon", lambda value: ApproxDP(epsilon=value, delta=Fraction(0))),
    ("delta", lambda value: ApproxDP(epsilon=Fraction(1), delta=value)),
    ("rho", lambda value: ZeroConcentratedDP(rho=value)),
    ("delta", lambda value: ZeroConcentratedDP(rho=Fraction(1), delta=value)),
]


@pytest.mark.parametrize(("name", "made"), MADE)
@pytest.mark.parametrize("value", [0.5, True, "1", None])
def test_a_loss_is_an_exact_number(name, made, value):
    with pytest.raises(
        InvalidParameterError, match=f"{name} as an exact .* got a {type(value).__name__}"
    ):
        made(value)


@pytest.mark.parametrize(("name", "made"), MADE)
def test_no_loss_is_negative(name, made):
    with pytest.raises(InvalidParameterError, match=f"Expected {name} [>≥] 0, got {name}=-1/9"):
        made(Fraction(-1, 9))


def test_a_pure_or_concentrated_loss_is_more_than_nothing():
    with pytest.raises(InvalidParameterError, match="Expected epsilon > 0, got epsilon=0"):
        PureDP(epsilon=Fraction(0))
    with pytest.raises(InvalidParameterError, match="Expected rho > 0, got rho=0"):
        ZeroConcentratedDP(rho=Fraction(0))


def test_an_approximate_loss_may_have_no_epsilon_or_no_delta():
    assert ApproxDP(epsilon=Fraction(0), delta=Fraction(0)).delta == 0
    assert ZeroConcentratedDP(rho=1).delta == 0
    with pytest.raises(InvalidParameterError, match="Expected delta ≥ 0"):
        ApproxDP(epsilon=1, delta=-1)


@pytest.mark.parametrize("delta", [Fraction(1), Fraction(3, 2)])
def test_a_delta_that_promises_nothing_is_refused(delta):
    with pytest.raises(InvalidParameterError, match="Expected delta < 1"):
        ApproxDP(epsilon=Fraction(1), delta=delta)
    with pytest.raises(InvalidParameterError, match="Expected delta < 1"):
        ZeroConcentratedDP(rho=Fraction(1), delta=delta)


def test_a_measure_has_the_letter_of_what_adds_up():
    assert [each.letter for each in Measure] == ["ε", "ρ"]


def test_a_unit_needs_the_column_that_identifies_it():
    assert PrivacyUnit(entity=Entity.EVENT, id_column="visit").id_column == "visit"
    with pytest.raises(InvalidParameterError, match="Expected an id column"):
        PrivacyUnit(entity=Entity.PATIENT, id_column="")
