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
    adaptive,
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


def exact_delta(*, epsilon0: Decimal, count: int, epsilon: Decimal, digits: int = 80) -> Decimal:
    """δ of k randomised responses at ε: Σ_l C(k,l) max(0, e^{(k−l)ε0} − e^{ε+lε0})/(1+e^ε0)^k."""
    with localcontext(prec=digits):
        odds, factor, total = epsilon0.exp(), epsilon.exp(), Decimal(0)
        for low in range(count + 1):
            gap = odds ** (count - low) - factor * odds**low
            total += math.comb(count, low) * max(Decimal(0), gap)
        return total / (1 + odds) ** count


@pytest.mark.parametrize(
    ("epsilon0", "count"), [("0.1", 1), ("0.1", 10), ("0.1", 100), ("1", 30), ("2", 7)]
)
@pytest.mark.parametrize("delta", ["0.04", "1e-3", "1e-6", "1e-15"])
def test_optimal_bound_is_true_and_a_1e_9_less_is_false(
    epsilon0: str, count: int, delta: str
) -> None:
    bound = optimal(PureDP(epsilon=Fraction(epsilon0)), count=count, delta=Fraction(delta))
    epsilon = Decimal(bound.epsilon.numerator) / bound.epsilon.denominator
    at = {"epsilon0": Decimal(epsilon0), "count": count}
    assert exact_delta(**at, epsilon=epsilon) <= Decimal(delta)
    assert exact_delta(**at, epsilon=epsilon - Decimal("1e-9")) > Decimal(delta)


def test_optimal_bound_a_hair_above_the_grid_is_still_rounded_up() -> None:
    with localcontext(prec=120):
        odds, hair = Decimal("0.1").exp(), (Decimal("0.05") + Decimal("1e-45")).exp()
        delta = Fraction((odds - hair) / (1 + odds))
    bound = optimal(TENTH, count=1, delta=delta)
    assert bound.epsilon == Fraction("0.05") + Fraction("1e-12")


def test_optimal_bound_keeps_its_digits_where_nearly_every_outcome_is_let_go() -> None:
    delta = 1 - Fraction(1, 10**140)
    bound = optimal(PureDP(epsilon=Fraction(8)), count=100, delta=delta)
    at = {"epsilon0": Decimal(8), "count": 100, "digits": 700}
    with localcontext(prec=700):
        epsilon = Decimal(bound.epsilon.numerator) / bound.epsilon.denominator
        limit = 1 - Decimal("1e-140")
        assert exact_delta(**at, epsilon=epsilon) <= limit
        assert exact_delta(**at, epsilon=epsilon - Decimal("1e-9")) > limit


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


UNEQUAL = [PureDP(epsilon=Fraction(n, 10)) for n in (1, 2, 7, 30)]


def of_each(losses: list[PureDP], delta: Fraction) -> tuple[Decimal, Decimal, Decimal]:
    """Σε², Σε(e^ε − 1) and ln 1/δ."""
    each = [Decimal(loss.epsilon.numerator) / loss.epsilon.denominator for loss in losses]
    log_inverse = (Decimal(delta.denominator) / delta.numerator).ln()
    return sum(e * e for e in each), sum(e * (e.exp() - 1) for e in each), log_inverse


@pytest.mark.parametrize("losses", [[TENTH], [TENTH] * 100, UNEQUAL])
@pytest.mark.parametrize("delta", [Fraction("0.3"), DELTA, Fraction(1, 3 * 10**12)])
def test_bounds_of_repeated_questions_are_their_formulas_rounded_up_to_1e_12(
    losses: list[PureDP], delta: Fraction
) -> None:
    with localcontext(prec=60):
        squares, drift, log_inverse = of_each(losses, delta)
        root = (2 * log_inverse * squares).sqrt()
        for bound, exact in (
            (advanced(losses, delta=delta), root + drift),
            (adaptive(losses, delta=delta), root + squares / 2),
        ):
            steps = bound.epsilon * 10**12
            assert steps.denominator == 1
            assert 0 <= steps.numerator - exact * 10**12 <= 1
            assert bound.delta == delta


@pytest.mark.parametrize("rho", [Fraction(1, 10**6), Fraction(1, 3), Fraction(7)])
def test_a_concentrated_loss_is_read_rounded_up_to_1e_12(rho: Fraction) -> None:
    loss = ZeroConcentratedDP(rho=rho)
    steps = to_approximate(loss, delta=DELTA).epsilon * 10**12
    assert steps.denominator == 1
    assert 0 <= steps - Fraction(epsilon_at(loss, delta=DELTA)) * 10**12 < 1


def test_least_of_equal_pure_losses_is_the_optimal_bound() -> None:
    for count in (40, 1000):
        bound = optimal(TENTH, count=count, delta=DELTA)
        assert least([TENTH] * count, delta=DELTA) == bound
        assert (
            bound.epsilon < to_approximate(compose([to_zcdp(TENTH)] * count), delta=DELTA).epsilon
        )


def test_least_of_two_sizes_is_not_read_as_if_all_were_of_the_first() -> None:
    losses = [TENTH, PureDP(epsilon=Fraction(3))]
    assert least(losses, delta=DELTA).epsilon == Fraction("3.1")
    assert least(losses[::-1], delta=DELTA).epsilon == Fraction("3.1")


def test_least_of_approximate_losses_never_forgets_their_deltas() -> None:
    loss = ApproxDP(epsilon=Fraction(1), delta=Fraction("6e-7"))
    assert least([loss], delta=DELTA).epsilon == 1
    with pytest.raises(InvalidParameterError, match="which the losses spend"):
        least([loss, loss], delta=DELTA)


@pytest.mark.parametrize("bound", [advanced, adaptive, least])
def test_a_bound_of_no_losses_is_refused(bound: Any) -> None:
    with pytest.raises(InvalidParameterError, match="at least one loss"):
        bound([], delta=DELTA)
    with pytest.raises(InvalidParameterError, match="Expected an exact delta"):
        bound([TENTH], delta=Fraction(0))


def test_least_is_told_at_a_delta_above_0_also_where_it_needs_none() -> None:
    with pytest.raises(InvalidParameterError, match="Expected an exact delta"):
        least([ApproxDP(epsilon=Fraction(1), delta=Fraction(0))], delta=Fraction(0))


def test_a_loss_of_an_unknown_kind_is_not_converted() -> None:
    unknown: Any = "ε = 1"
    with pytest.raises(AssertionError):
        to_zcdp(unknown)
    with pytest.raises(AssertionError):
        to_approximate(unknown, delta=DELTA)
