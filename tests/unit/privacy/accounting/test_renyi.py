import math

import pytest

from confide.errors import InvalidParameterError
from confide.privacy.accounting.gaussian_dp import epsilon_for
from confide.privacy.accounting.renyi import (
    gaussian_curve,
    improved_epsilon,
    laplace_curve,
    pure_curve,
    textbook_epsilon,
)


def renyi_divergence(ratio: list[tuple[float, float]], *, alpha: float) -> float:
    return math.log(sum(q * (p / q) ** alpha for p, q in ratio)) / (alpha - 1)


def test_pure_curve_is_the_divergence_of_randomised_response() -> None:
    for epsilon in (0.1, 1.0, 5.0):
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        outcomes = [(truth, 1 - truth), (1 - truth, truth)]
        for alpha in (1.1, 2.0, 7.0):
            exact = renyi_divergence(outcomes, alpha=alpha)
            assert pure_curve(epsilon)(alpha) == pytest.approx(exact, rel=1e-9)


def test_laplace_curve_is_the_integral_of_its_density() -> None:
    # Midpoint rule over the densities of Laplace(0, b) and Laplace(1, b)
    for scale in (0.5, 1.0, 3.0):
        step = scale / 2000
        points = [(k + 0.5) * step for k in range(-60_000, 60_000)]
        for alpha in (1.5, 4.0):
            moment = sum(
                math.exp((-alpha * abs(x) + (alpha - 1) * abs(x - 1)) / scale) for x in points
            )
            exact = math.log(moment * step / (2 * scale)) / (alpha - 1)
            assert laplace_curve(scale)(alpha) == pytest.approx(exact, rel=1e-4)


def test_laplace_curve_stays_below_every_pure_bound_at_any_order() -> None:
    for alpha in (1.001, 2.0, 1e3, 1e6):
        assert laplace_curve(0.1)(alpha) <= pure_curve(10.0)(alpha) <= 10.0


def test_textbook_improved_and_exact_readings_stand_in_that_order() -> None:
    for multiplier in (0.7, 1.0, 4.0, 20.0):
        for delta in (1e-3, 1e-6, 1e-9):
            curve = gaussian_curve(multiplier)
            exact = epsilon_for(delta, noise_multiplier=multiplier)
            improved = improved_epsilon(curve, delta=delta)
            assert exact < improved < textbook_epsilon(curve, delta=delta)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_parameters_outside_their_domain_are_refused(value: float) -> None:
    for curve in (gaussian_curve, laplace_curve, pure_curve):
        with pytest.raises(InvalidParameterError, match="> 0"):
            curve(value)


def test_a_reading_needs_a_delta_and_orders_above_one() -> None:
    curve = gaussian_curve(1.0)
    for reading in (textbook_epsilon, improved_epsilon):
        with pytest.raises(InvalidParameterError, match=r"Expected delta in \(0, 1\)"):
            reading(curve, delta=0.0)
        for orders in ((), (1.0, 2.0), (math.nan,)):
            with pytest.raises(InvalidParameterError, match="Expected orders greater than 1"):
                reading(curve, delta=0.1, orders=orders)
