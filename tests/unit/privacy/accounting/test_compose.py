import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest

from accounting_checks import (
    check_repeated_releases_add_up,
)
from confide.errors import InvalidParameterError, UnsupportedError
from confide.privacy.accounting.compose import (
    advanced,
    compose,
    least,
    optimal,
    to_approximate,
    to_zcdp,
)
from confide.privacy.accounting.concentrated import epsilon_at
from confide.privacy.loss import ApproxDP, PureDP, ZeroConcentratedDP

TENTH = PureDP(epsilon=Fraction("0.1"))
DELTA = Fraction("1e-6")


def test_k_releases_cost_k_losses() -> None:
    check_repeated_releases_add_up(compose)


def test_composition_is_exact_where_floats_are_not() -> None:
    total = compose([TENTH, PureDP(epsilon=Fraction("0.2"))])
    assert total == PureDP(epsilon=Fraction("0.3"))
    assert 0.1 + 0.2 != 0.3


def test_every_parameter_of_a_kind_adds_up() -> None:
    approximate = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-6"))
    assert compose([approximate] * 2) == ApproxDP(epsilon=Fraction(2), delta=Fraction("2e-6"))
    concentrated = ZeroConcentratedDP(rho=Fraction(1, 3), delta=Fraction("1e-9"))
    assert compose([concentrated] * 3) == ZeroConcentratedDP(
        rho=Fraction(1), delta=Fraction("3e-9")
    )


def test_mixed_kinds_are_refused_naming_the_conversion() -> None:
    with pytest.raises(UnsupportedError, match="to_zcdp or to_approximate"):
        compose([TENTH, ZeroConcentratedDP(rho=Fraction(1))])
    with pytest.raises(InvalidParameterError, match="at least one loss"):
        compose([])


def test_pure_and_approximate_losses_enter_a_concentrated_ledger_exactly() -> None:
    assert to_zcdp(TENTH) == ZeroConcentratedDP(rho=Fraction("0.005"))
    approximate = ApproxDP(epsilon=Fraction(1), delta=DELTA)
    assert to_zcdp(approximate) == ZeroConcentratedDP(rho=Fraction(1, 2), delta=DELTA)
    concentrated = ZeroConcentratedDP(rho=Fraction(1))
    assert to_zcdp(concentrated) is concentrated


def test_an_approximate_loss_read_back_from_a_concentrated_ledger_is_no_smaller() -> None:
    for epsilon in (Fraction("0.1"), Fraction(1), Fraction(3)):
        loss = ApproxDP(epsilon=epsilon, delta=Fraction("1e-7"))
        assert to_approximate(to_zcdp(loss), delta=Fraction("1.0001e-7")).epsilon >= epsilon


def test_a_loss_is_read_as_epsilon_at_a_delta_not_below_its_own() -> None:
    assert to_approximate(TENTH, delta=DELTA) == ApproxDP(epsilon=Fraction("0.1"), delta=DELTA)
    loss = ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-9"))
    assert to_approximate(loss, delta=DELTA).delta == DELTA
    with pytest.raises(InvalidParameterError, match="Expected delta ≥"):
        to_approximate(loss, delta=Fraction("1e-10"))
    concentrated = ZeroConcentratedDP(rho=Fraction("0.1"))
    assert to_approximate(concentrated, delta=DELTA).epsilon >= Fraction(
        epsilon_at(concentrated, delta=DELTA)
    )


def exact_delta(*, epsilon0: Decimal, count: int, epsilon: Decimal) -> Decimal:
    """δ of k randomised responses at ε: Σ_l C(k,l) max(0, e^{(k−l)ε0} − e^{ε+lε0})/(1+e^ε0)^k."""
    with localcontext(prec=80):
        total = Decimal(0)
        for low in range(count + 1):
            gap = ((count - low) * epsilon0).exp() - (epsilon + low * epsilon0).exp()
            total += math.comb(count, low) * max(Decimal(0), gap)
        return total / (1 + epsilon0.exp()) ** count


@pytest.mark.parametrize(
    ("epsilon0", "count"), [("0.1", 1), ("0.1", 10), ("0.1", 100), ("1", 30), ("2", 7)]
)
@pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-15"])
def test_optimal_bound_is_true_and_a_1e_9_less_is_false(
    epsilon0: str, count: int, delta: str
) -> None:
    bound = optimal(PureDP(epsilon=Fraction(epsilon0)), count=count, delta=Fraction(delta))
    epsilon = Decimal(bound.epsilon.numerator) / bound.epsilon.denominator
    at = {"epsilon0": Decimal(epsilon0), "count": count}
    assert exact_delta(**at, epsilon=epsilon) <= Decimal(delta)
    assert exact_delta(**at, epsilon=epsilon - Decimal("1e-9")) > Decimal(delta)


def test_optimal_bound_with_a_large_delta_is_zero() -> None:
    assert optimal(TENTH, count=1, delta=Fraction(1, 2)).epsilon == 0


def test_least_is_never_above_any_of_the_bounds() -> None:
    for count in (1, 2, 10, 100, 1500):
        losses = [TENTH] * count
        bound = least(losses, delta=DELTA).epsilon
        assert bound <= count * TENTH.epsilon
        assert bound <= advanced(losses, delta=DELTA).epsilon
        assert bound <= to_approximate(compose([to_zcdp(x) for x in losses]), delta=DELTA).epsilon


def test_least_of_unequal_pure_losses_has_no_optimal_bound_but_the_sum() -> None:
    counts = [PureDP(epsilon=Fraction(n, 10)) for n in (1, 2, 3)]
    assert least(counts, delta=DELTA).epsilon == Fraction(3, 5)


def test_least_of_mixed_kinds_goes_through_concentration() -> None:
    losses = [TENTH, ZeroConcentratedDP(rho=Fraction("0.01"), delta=Fraction("1e-7"))]
    expected = ZeroConcentratedDP(rho=Fraction("0.015"), delta=Fraction("1e-7"))
    assert least(losses, delta=DELTA) == to_approximate(expected, delta=DELTA)


def test_least_refuses_a_delta_that_the_losses_have_spent() -> None:
    spent = ZeroConcentratedDP(rho=Fraction(1), delta=DELTA)
    with pytest.raises(InvalidParameterError, match="which the losses spend"):
        least([spent, TENTH], delta=DELTA)
    only_basic = ApproxDP(epsilon=Fraction(1), delta=DELTA)
    assert least([only_basic], delta=DELTA) == only_basic


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1), 1e-6])
def test_a_delta_outside_its_domain_is_refused(delta: Any) -> None:
    with pytest.raises(InvalidParameterError, match="Expected an exact delta"):
        advanced([TENTH], delta=delta)
    with pytest.raises(InvalidParameterError, match="Expected an exact delta"):
        optimal(TENTH, count=2, delta=delta)
    with pytest.raises(InvalidParameterError, match="Expected count ≥ 1"):
        optimal(TENTH, count=0, delta=DELTA)
