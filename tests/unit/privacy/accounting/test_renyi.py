import itertools
import math

import pytest

from confide.privacy.accounting.renyi import ORDERS, pure_curve


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
