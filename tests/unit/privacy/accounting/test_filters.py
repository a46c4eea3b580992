import math
from fractions import Fraction

import pytest

from accounting_checks import check_filter_never_passes_its_cap
from confide.errors import BudgetExhaustedError, InvalidParameterError, MismatchError
from confide.privacy.accounting.filters import (
    AdaptiveFilter,
    ConcentratedFilter,
    Odometer,
    PureFilter,
)
from confide.privacy.loss import ApproxDP, PrivacyLoss, PureDP, ZeroConcentratedDP

TENTH = PureDP(epsilon=Fraction("0.1"))
SLACK = Fraction("1e-6")


def total_epsilon(losses: list[PrivacyLoss]) -> Fraction:
    return sum((x.epsilon for x in losses if isinstance(x, PureDP)), Fraction(0))


def total_rho(losses: list[PrivacyLoss]) -> Fraction:
    return sum((x.rho for x in losses if isinstance(x, ZeroConcentratedDP)), Fraction(0))


def adaptive_bound(losses: list[PrivacyLoss]) -> Fraction:
    squares = float(sum(x.epsilon**2 for x in losses if isinstance(x, PureDP)))
    return Fraction(math.sqrt(2 * math.log(1e6) * squares) + squares / 2)


def test_pure_filter_never_passes_its_cap() -> None:
    cap = PureDP(epsilon=Fraction(1))
    admitted = check_filter_never_passes_its_cap(
        PureFilter(cap=cap), loss=TENTH, spent=total_epsilon, cap=cap.epsilon
    )
    assert admitted == 10  # ten times the float 0.1 would be 0.9999999999999999


def test_concentrated_filter_never_passes_its_cap() -> None:
    cap = ZeroConcentratedDP(rho=Fraction("0.5"))
    loss = ZeroConcentratedDP(rho=Fraction("0.005"))
    admitted = check_filter_never_passes_its_cap(
        ConcentratedFilter(cap=cap), loss=loss, spent=total_rho, cap=cap.rho
    )
    assert admitted == 100


def test_adaptive_filter_never_passes_its_cap_and_holds_more_than_the_sum() -> None:
    cap = ApproxDP(epsilon=Fraction(5), delta=SLACK)
    admitted = check_filter_never_passes_its_cap(
        AdaptiveFilter(cap=cap, slack=SLACK), loss=TENTH, spent=adaptive_bound, cap=cap.epsilon
    )
    assert admitted > 50


def test_a_refusal_says_what_was_asked_and_what_is_left() -> None:
    spent = PureFilter(cap=PureDP(epsilon=Fraction("0.15")), name="ethics-annual").after(TENTH)
    with pytest.raises(BudgetExhaustedError, match="within 'ethics-annual'") as refusal:
        spent.after(TENTH)
    assert refusal.value.cap == "ethics-annual"
    assert refusal.value.requested == Fraction("0.1")
    assert refusal.value.remaining == Fraction("0.05")
    assert spent.spent == Fraction("0.1")


def test_delta_of_approximate_releases_has_its_own_cap() -> None:
    cap = ZeroConcentratedDP(rho=Fraction(1), delta=Fraction("1e-7"))
    loss = ZeroConcentratedDP(rho=Fraction("0.1"), delta=Fraction("6e-8"))
    once = ConcentratedFilter(cap=cap).after(loss)
    assert not once.admits(loss)
    with pytest.raises(BudgetExhaustedError, match="delta"):
        once.after(loss)


def test_adaptive_filter_adds_the_delta_of_releases_to_its_slack() -> None:
    cap = ApproxDP(epsilon=Fraction(5), delta=Fraction("1.5e-6"))
    loss = ApproxDP(epsilon=Fraction("0.1"), delta=Fraction("3e-7"))
    once = AdaptiveFilter(cap=cap, slack=SLACK).after(loss)
    assert not once.admits(loss)
    with pytest.raises(BudgetExhaustedError, match="delta"):
        once.after(loss)


def test_losses_of_another_measure_are_refused() -> None:
    concentrated = ZeroConcentratedDP(rho=Fraction(1))
    approximate = ApproxDP(epsilon=Fraction(1), delta=SLACK)
    with pytest.raises(MismatchError, match="Expected a pure loss"):
        PureFilter(cap=TENTH).admits(approximate)
    with pytest.raises(MismatchError, match="Expected a zCDP loss"):
        ConcentratedFilter(cap=concentrated).admits(TENTH)
    with pytest.raises(MismatchError, match="ConcentratedFilter"):
        AdaptiveFilter(cap=approximate, slack=SLACK).admits(concentrated)


@pytest.mark.parametrize("slack", [Fraction(0), Fraction("2e-6"), 1e-6])
def test_a_slack_outside_the_cap_is_refused(slack: Fraction) -> None:
    with pytest.raises(InvalidParameterError, match="Expected 0 < slack"):
        AdaptiveFilter(cap=ApproxDP(epsilon=Fraction(1), delta=SLACK), slack=slack)


def test_odometer_reads_no_more_than_the_sum_and_no_less_than_the_filter() -> None:
    odometer = Odometer(delta=SLACK, planned=Fraction(1))
    assert odometer.reading == 0
    for count in range(1, 200):
        odometer = odometer.after(TENTH)
        assert odometer.reading <= count * TENTH.epsilon
        filtered = adaptive_bound([TENTH] * count)
        assert odometer.reading >= min(filtered, odometer.total) - Fraction(1, 10**9)


def test_odometer_covers_randomised_response_at_all_times_at_once() -> None:
    # Worst mechanism at each step; δ = 0.05 so that a violation would be seen among 4,000 walks.
    import random

    walk = random.Random(20260101)
    epsilon, delta = Fraction("0.2"), Fraction("0.05")
    readings = []
    odometer = Odometer(delta=delta, planned=Fraction(2))
    for _ in range(100):
        odometer = odometer.after(PureDP(epsilon=epsilon))
        readings.append(float(odometer.reading))
    truth = math.exp(0.2) / (1 + math.exp(0.2))
    violated = 0
    for _ in range(4000):
        loss = 0.0
        for reading in readings:
            loss += 0.2 if walk.random() < truth else -0.2
            if loss > reading + 1e-9:
                violated += 1
                break
    assert 0 < violated <= 0.05 * 4000


def test_odometer_refuses_other_losses_and_parameters() -> None:
    odometer = Odometer(delta=SLACK, planned=Fraction(1))
    with pytest.raises(MismatchError, match="Expected a pure loss"):
        odometer.after(ApproxDP(epsilon=Fraction(1), delta=SLACK))  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="Expected delta in"):
        Odometer(delta=Fraction(0), planned=Fraction(1))
    with pytest.raises(InvalidParameterError, match="Expected planned > 0"):
        Odometer(delta=SLACK, planned=Fraction(0))
