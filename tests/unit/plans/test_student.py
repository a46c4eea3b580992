"""Student's law: closed forms at 1, 2 and 4 degrees, the limits, and where its series takes over."""

import math

import numpy as np
import pytest

from confide.plans.estimation import student
from confide.plans.estimation.intervals import Component, quantile
from confide.plans.estimation.student import (
    _log_gamma_step,
    student_quantile,
    student_tail,
    student_width,
)

LEVELS = (0.05, 0.5, 0.9, 0.95, 0.99, 0.9999)


@pytest.mark.parametrize("level", LEVELS)
def test_quantiles_of_one_and_two_degrees_are_their_closed_forms(level):
    assert student_quantile(level, degrees=1) == pytest.approx(
        math.tan(math.pi * level / 2), rel=1e-10
    )
    two = level * math.sqrt(2 / (1 - level**2))
    assert student_quantile(level, degrees=2) == pytest.approx(two, rel=1e-10)


@pytest.mark.parametrize("t", [0.0, 0.01, 0.7, 1.5, 3.0, 40.0])
def test_tails_of_one_two_and_four_degrees_are_their_closed_forms(t):
    s = t / math.sqrt(4 + t * t)
    for degrees, inside in (
        (1, 2 / math.pi * math.atan(t)),
        (2, t / math.sqrt(2 + t * t)),
        (4, s * (3 - s * s) / 2),
    ):
        found = float(student_tail(np.array(t), degrees=degrees))
        assert found == pytest.approx(1 - inside, abs=1e-13)


@pytest.mark.parametrize("degrees", [200, 250.5, 1000, 10**5])
@pytest.mark.parametrize("level", LEVELS[1:])
def test_the_series_of_many_degrees_agrees_with_the_fraction(degrees, level):
    t = student_quantile(level, degrees=degrees)
    outside = float(student_tail(np.array(t), degrees=degrees))
    assert outside == pytest.approx(1 - level, abs=1e-11)


def test_with_ever_more_degrees_the_law_is_the_normal_one():
    assert student_quantile(0.95, degrees=1e12) == pytest.approx(quantile((), level=0.95))


@pytest.mark.parametrize("a", [200.0, 250.0, 700.0])
def test_the_step_of_the_gamma_function_continues_where_its_difference_cancels(a):
    direct = math.lgamma(a + 0.5) - math.lgamma(a)
    assert _log_gamma_step(a) == pytest.approx(direct, abs=5e-12)


def test_a_width_of_few_rows_is_wider_by_the_ratio_of_the_quantiles():
    parts = [Component(variance=9.0)]
    assert student_width(parts, degrees=2, level=0.95) == pytest.approx(3 * 4.302652729911275)


@pytest.mark.parametrize("degrees", [40.0, 1e4, 1e9])
def test_tails_of_thousands_of_numbers_are_those_of_each_and_take_a_few_hundred_steps(
    degrees, monkeypatch
):
    numbers = np.sqrt(np.linspace(0.01, 12, 4000))
    steps = []
    kept = student._not_zero

    def counted(x, tiny):
        steps.append(x)
        return kept(x, tiny)

    monkeypatch.setattr(student, "_not_zero", counted)
    together = student_tail(numbers, degrees=degrees)
    assert len(steps) <= 600
    alone = [float(student_tail(np.array(t), degrees=degrees)) for t in numbers[::400]]
    rounding = max(1e-11, 1e-15 * degrees)  # of x so near to 1
    assert together[::400] == pytest.approx(alone, rel=rounding)
