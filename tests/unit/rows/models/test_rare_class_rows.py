"""Rows of a model of a rare class: what a patient adds to all classes stays within the lemma."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from classes_world import CLASSES, columns_of, staged, world
from confide.errors import EngineError
from confide.plans.rounds.class_walk import AskClassScores
from confide.plans.rounds.descent import Place
from confide.plans.rounds.wide import AskClipped, AskMeans, AskRecalibration, AskSquares
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT
from confide.tables.aggregates.wide_models.scale import GRADIENT, WIDE_ROUNDS, wide_scale_of
from confide.tables.bound_contributions import RowBound

RARE = replace(CLASSES, rounds=WIDE_ROUNDS, expected=200, bounds=RowBound(max_rows=3))
SCALE = wide_scale_of(RARE, dataset=world())
BOUNDS = {
    "means": (SCALE.means * SCALE.radius) ** 2 + (SCALE.totals * UNIT) ** 2,
    "squares": (SCALE.squares * SCALE.squares_radius) ** 2,
    "gradient": GRADIENT**2,
    "look": 8 * (SCALE.turn * UNIT * (RESIDUAL + 4)) ** 2,
}
"""Most that a patient moves each part by, squared."""


def placed(matrix, theta) -> Place:
    return Place(
        whitening=tuple(map(tuple, matrix.tolist())),
        coefficients=tuple(int(each) for each in np.ravel(theta)),
    )


def asked(rng) -> dict:
    matrix = np.diag(rng.choice([UNIT // 3, UNIT, 40 * UNIT], 5))
    matrix[0, 1:] = rng.integers(-UNIT, UNIT, 4)
    at = placed(matrix, rng.integers(-(2**17), 2**17, 20) * rng.choice([0, 1, 2**4]))
    return {
        "means": AskMeans(),
        "squares": AskSquares(centre=tuple(map(int, rng.choice([-UNIT, 0, UNIT], 4)))),
        "gradient": AskClipped(at=at),
        "look": AskClassScores(
            at=at,
            centres=tuple(map(int, rng.integers(-(2**12), 2**12, 4))),
            spreads=tuple(map(int, rng.choice([1, 700, 9999], 4))),
        ),
    }


def one(rng, *, to) -> DescentRows:
    """Return a patient of one to three rows at corners of the bounds, of any class each."""
    k = int(rng.integers(1, 4))
    corner = {
        "age": rng.choice([0, 50, 100], k),
        "marker": rng.choice([0, 500, 1000], k),
        "group": rng.integers(0, 3, k),
        "stage": rng.integers(0, 4, k),
    }
    columns = columns_of(corner, patient=np.zeros(k, int), rank=np.arange(1, k + 1))
    return DescentRows(RARE, columns, dataset=to)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_patient_moves_a_part_of_all_classes_by_more_than_its_share(adjacency):
    rng, to = np.random.default_rng(3), world(adjacency=adjacency)
    substituted = adjacency is Adjacency.SUBSTITUTE
    largest = defaultdict(Fraction)
    for _ in range(200):
        first, second = (one(rng, to=to) for _ in range(2))
        for name, ask in asked(rng).items():
            moved = np.array(first.answer(ask), dtype=object)
            if substituted:
                moved = moved - np.array(second.answer(ask), dtype=object)
            times = (2 if name == "squares" else 4) if substituted else 1
            share = Fraction(int(sum(moved * moved)), BOUNDS[name] * times)
            largest[name] = max(largest[name], share)
    assert all(share <= 1 for share in largest.values()), largest
    assert largest["gradient"] > (0.7 if substituted else 0.9)
    assert min(largest.values()) > 0.3, largest
    whole = sum(BOUNDS.values()) + (WIDE_ROUNDS - 1) * BOUNDS["gradient"]
    claimed = descent_sensitivity(RARE, dataset=to).l2_squared
    assert claimed == (4 * whole - 2 * BOUNDS["squares"] if substituted else whole)


def test_shares_of_a_model_of_a_rare_class_are_those_that_are_stated():
    parts = {
        8: (SCALE.means * SCALE.radius) ** 2,
        7: BOUNDS["squares"],
        5: (SCALE.totals * UNIT) ** 2,
        74: WIDE_ROUNDS * GRADIENT**2,
        6: BOUNDS["look"],
    }
    for percent, part in parts.items():
        assert float(100 * Fraction(part, SCALE.one)) == pytest.approx(percent, rel=3e-3)
    assert SCALE.radius / UNIT == pytest.approx((1 + 4 / 3) ** 0.5, abs=1e-3)
    assert SCALE.length == 5 + 4 + 4 + 30 * 4 * 5 + 4


def test_answers_of_classes_are_what_they_say():
    people = staged(600, np.random.default_rng(5))
    rows = DescentRows(RARE, columns_of(people), dataset=world())
    x, of = people["terms"], np.eye(4)[people["stage"]]
    told = np.array(rows.answer(AskMeans()), dtype=np.float64)
    short = np.minimum(1, SCALE.radius / UNIT / np.linalg.norm(x, axis=1))
    assert told[:5] / (SCALE.means * UNIT) == pytest.approx(short @ x, abs=0.3)
    assert told[5:] / (SCALE.totals * UNIT) == pytest.approx(of.sum(axis=0))
    matrix, theta = np.diag([UNIT // 2] + [UNIT] * 4), np.zeros((4, 5))
    theta[:, 0], theta[:, 1] = (0.6, -0.2, 0.0, -0.4), (0.5, -1.0, 0.25, 0.25)
    at = placed(matrix, np.rint(theta * 2**16))
    z = x * np.array([0.5, 1, 1, 1, 1])
    scores = z @ theta.T
    residual = of - np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    lengths = np.linalg.norm(residual, axis=1) * np.linalg.norm(z, axis=1)
    expected = (residual * np.minimum(1, 1 / lengths)[:, None]).T @ z
    gradient = np.array(rows.answer(AskClipped(at=at)), dtype=np.float64) / GRADIENT
    assert gradient == pytest.approx(expected.ravel(), abs=0.6)
    look = AskClassScores(at=at, centres=(300, 0, 0, -200), spreads=(300, 1000, 500, 200))
    s = np.clip((scores * 1024 - look.centres) / np.array(look.spreads), -2, 2)
    turned = np.array(rows.answer(look), dtype=np.float64) / (SCALE.turn * UNIT * RESIDUAL)
    assert turned == pytest.approx((residual * s).sum(axis=0), abs=2.0)


def test_a_question_of_another_model_has_no_answer():
    rows = DescentRows(RARE, columns_of(staged(20, np.random.default_rng(6))), dataset=world())
    at = placed(np.eye(5, dtype=int) * UNIT, np.zeros(20))
    with pytest.raises(EngineError, match="no answer"):
        rows.answer(AskRecalibration(at=at, centre=0, spread=1))
