"""Late gradients read together: their mean where they are near, extrapolated from afar."""

import math

import numpy as np
import pytest

from confide.plans.rounds.late_rounds import Late, counts, read

CURVE = np.diag([1000.0, 400.0])


def late(asked, gradients, *, each=1e-3, limit=10.0, counted=(1.0, 1.0)):
    def limited(step, _):
        return step * min(1.0, limit / max(float(np.linalg.norm(step)), 1e-9))

    return Late(
        asked=np.array(asked, dtype=float),
        gradients=np.array(gradients, dtype=float),
        curve=lambda _: CURVE,
        each=each,
        counts=np.array(counted),
        usual=0.5,
        limited=limited,
    )


def test_gradients_of_places_that_are_near_are_averaged():
    rng = np.random.default_rng(1)
    asked = 0.001 * rng.normal(size=(3, 2))
    noise = 30 * rng.normal(size=(3, 2))
    found = read(late(asked, (0.02 - asked) @ CURVE + noise, each=30.0))
    assert found.estimate == pytest.approx(0.02 + noise.mean(axis=0) / np.diag(CURVE), abs=1e-4)
    assert found.error == pytest.approx(30**2 / 3 * np.eye(2), rel=0.02, abs=1)
    assert found.curvature == pytest.approx(CURVE, rel=0.01, abs=1)


def powers(places):
    """Return gradients of Σ (e·η − exp(η)), which is largest at 1, and curvature that stays."""
    gradients = [[1000 * (math.e - math.exp(at)), 0.0] for at in places]
    return late([[at, 0.0] for at in places], gradients)


def test_a_curvature_that_turns_is_extrapolated_and_its_error_says_so():
    found = read(powers((0.0, 0.5, 0.8)))
    newton = 0.8 + (math.e - math.exp(0.8))
    error = math.sqrt(found.error[0, 0]) / found.curvature[0, 0]
    assert abs(found.estimate[0] - 1) < 0.3 * abs(newton - 1)
    assert abs(found.estimate[0] - 1) < 3 * error
    assert abs(found.curvature[0, 0] - 1000 * math.e) < abs(1000 - 1000 * math.e) / 2


def test_error_is_larger_the_farther_off_the_last_place_was():
    near, far = (read(powers(at)).error[0, 0] for at in ((0.0, 0.7, 0.95), (0.0, 0.3, 0.5)))
    assert far > 4 * near


def test_where_a_step_is_limited_a_gradient_is_left():
    found = read(late([[0.0, 0.0]], [[1000.0, 0.0]], limit=0.25))
    assert found.estimate == pytest.approx([0.25, 0.0])
    assert found.gradient == pytest.approx([750.0, 0.0])


def test_an_interval_of_follow_up_counts_by_its_share_of_the_events():
    curve = np.diag([1.0, 99.0, 60.0, 70.0])
    assert counts(curve, intervals=2) == pytest.approx([0.01, 0.99, 1.0, 1.0])
    assert counts(curve, intervals=0) == pytest.approx(np.ones(4))


def test_the_way_of_an_intercept_without_events_adds_next_to_nothing_to_the_error_of_others():
    def gone(**of):
        asked = np.array([[0.0, 0.0], [-1.0, 0.0], [-2.0, 0.0]])
        return read(late(asked, (np.array([-3.0, 0.01]) - asked) @ CURVE, **of)).error[1, 1]

    assert gone(counted=(0.001, 1.0)) < 0.01 * gone()
