import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from confide.errors import InvalidParameterError, UnsupportedError
from confide.privacy.group import group_loss
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP


def test_pure_loss_of_a_group_of_five_is_five_epsilon() -> None:
    assert group_loss(PureDP(epsilon=Fraction("0.1")), size=5) == PureDP(epsilon=Fraction("0.5"))


def test_concentrated_loss_grows_with_the_square_of_the_group() -> None:
    loss = ZeroConcentratedDP(rho=Fraction("0.01"))
    assert group_loss(loss, size=3) == ZeroConcentratedDP(rho=Fraction("0.09"))


@pytest.mark.parametrize(("epsilon", "size"), [("0.1", 5), ("1", 2), ("0.5", 12), ("1e-9", 3)])
def test_group_delta_is_the_closed_form_rounded_up(epsilon: str, size: int) -> None:
    delta = Fraction("1e-9")
    group = group_loss(ApproxDP(epsilon=Fraction(epsilon), delta=delta), size=size)
    with localcontext(prec=60):
        e = Decimal(epsilon)
        exact = Decimal("1e-9") * ((size * e).exp() - 1) / (e.exp() - 1)
    assert isinstance(group, ApproxDP)
    assert group.epsilon == size * Fraction(epsilon)
    assert exact <= Decimal(group.delta.numerator) / group.delta.denominator
    assert group.delta <= Fraction(exact) + Fraction(1, 10**17)


def test_group_delta_at_epsilon_zero_adds_up() -> None:
    loss = ApproxDP(epsilon=Fraction(0), delta=Fraction("1e-6"))
    assert group_loss(loss, size=4) == ApproxDP(epsilon=Fraction(0), delta=Fraction("4e-6"))


def test_a_group_of_one_is_the_unit_itself() -> None:
    loss = ZeroConcentratedDP(rho=Fraction(1), delta=Fraction("1e-9"))
    assert group_loss(loss, size=1) is loss


def test_approximate_concentrated_group_is_refused_naming_the_fix() -> None:
    loss = ZeroConcentratedDP(rho=Fraction(1), delta=Fraction("1e-9"))
    with pytest.raises(UnsupportedError, match="Convert with concentrated"):
        group_loss(loss, size=2)


@pytest.mark.parametrize("size", [0, -1, True, 1.5])
def test_a_group_size_that_is_no_count_is_refused(size: Any) -> None:
    with pytest.raises(InvalidParameterError, match="Expected a group size ≥ 1"):
        group_loss(PureDP(epsilon=Fraction(1)), size=size)


@pytest.mark.parametrize("size", [20, 10_000])
def test_a_group_so_large_that_nothing_is_promised_is_refused(size: int) -> None:
    assert 1e-6 * math.expm1(20) / math.expm1(1) > 1
    with pytest.raises(InvalidParameterError, match="Expected a group delta < 1"):
        group_loss(ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6")), size=size)


def test_a_group_delta_a_hair_above_the_grid_is_still_rounded_up() -> None:
    epsilon, steps = Fraction("1e-9"), 10**12
    with localcontext(prec=90):
        e = Decimal(epsilon.numerator) / epsilon.denominator
        many = ((3 * e).exp() - 1) / (e.exp() - 1)
        delta = Fraction((steps + Decimal("1e-16")) / 10**18 / many)
    group = group_loss(ApproxDP(epsilon=epsilon, delta=delta), size=3)
    assert isinstance(group, ApproxDP)
    assert group.delta == Fraction(steps + 1, 10**18)


def test_group_losses_end_at_an_epsilon_of_700() -> None:
    delta = Fraction(1, 10**400)
    last = group_loss(ApproxDP(epsilon=Fraction(70), delta=delta), size=10)
    assert last == ApproxDP(epsilon=Fraction(700), delta=Fraction(1, 10**18))
    with pytest.raises(InvalidParameterError, match="Expected a group delta < 1"):
        group_loss(ApproxDP(epsilon=Fraction("70.1"), delta=delta), size=10)


def test_a_group_without_a_delta_has_none() -> None:
    loss = ApproxDP(epsilon=Fraction(400), delta=Fraction(0))
    assert group_loss(loss, size=2) == ApproxDP(epsilon=Fraction(800), delta=Fraction(0))


def test_a_group_whose_deltas_add_up_to_one_is_refused() -> None:
    loss = ApproxDP(epsilon=Fraction(0), delta=Fraction(1, 4))
    assert group_loss(loss, size=3) == ApproxDP(epsilon=Fraction(0), delta=Fraction(3, 4))
    with pytest.raises(InvalidParameterError, match="at least 1 for size=4"):
        group_loss(loss, size=4)
