import itertools
import math

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.accounting.renyi import ORDERS, improved_epsilon, pure_curve


def renyi_divergence(ratio: list[tuple[float, float]], *, alpha: float) -> float:
    return math.log(sum(q * (p / q) ** alpha for p, q in ratio)) / (alpha - 1)


def test_pure_curve_is_the_divergence_of_randomised_response() -> None:
    for epsilon in (0.1, 1.0, 5.0):
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        outcomes = [(truth, 1 - truth), (1 - truth, truth)]
        for alpha in (1.1, 2.0, 7.0):
            exact = renyi_divergence(outcomes, alpha=alpha)
            assert pure_curve(epsilon)(alpha) == pytest.approx(exact, rel=1e-9)


def test_orders_go_from_1_01_to_about_1160_each_excess_5_percent_above_the_last() -> None:
    excess = [order - 1 for order in ORDERS]
    assert excess[0] == pytest.approx(0.01)
    assert excess[-1] == pytest.approx(1160, rel=0.01)
    assert all(b == pytest.approx(1.05 * a) for a, b in itertools.pairwise(excess))


def test_a_curve_is_read_at_its_best_order() -> None:
    def gaussian(alpha: float) -> float:
        return alpha / 2  # σ = Δ

    at_2 = 1 + math.log(1 / 2) - math.log(2e-5)
    at_5 = 2.5 + math.log(4 / 5) - math.log(5e-5) / 4
    assert improved_epsilon(gaussian, delta=1e-5, orders=[2.0]) == pytest.approx(at_2, rel=1e-14)
    assert improved_epsilon(gaussian, delta=1e-5, orders=[2.0, 5.0]) == pytest.approx(
        at_5, rel=1e-14
    )
    assert improved_epsilon(gaussian, delta=1e-5) < at_5 < at_2


def test_a_curve_of_nearly_nothing_reads_as_nothing() -> None:
    assert improved_epsilon(lambda _: 0.0, delta=0.5) == 0


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_a_curve_is_read_at_a_delta_between_0_and_1(delta: float) -> None:
    with pytest.raises(InvalidParameterError, match="Expected delta in"):
        improved_epsilon(lambda alpha: alpha, delta=delta)


@pytest.mark.parametrize("orders", [[], [1.0, 2.0], [2.0, 0.5], [math.nan]])
def test_orders_are_greater_than_1(orders: list[float]) -> None:
    with pytest.raises(InvalidParameterError, match="Expected orders greater than 1"):
        improved_epsilon(lambda alpha: alpha, delta=1e-6, orders=orders)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
def test_a_curve_is_of_a_finite_loss(epsilon: float) -> None:
    with pytest.raises(InvalidParameterError, match="Expected epsilon > 0"):
        pure_curve(epsilon)
