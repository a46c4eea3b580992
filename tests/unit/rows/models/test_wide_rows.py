"""Rows of a model of many terms: what a patient adds stays within the lemma, and adds up."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.errors import EngineError, InvalidParameterError
from confide.plans.rounds.descent import Place
from confide.plans.rounds.wide import AskClipped, AskMeans, AskRecalibration, AskSquares
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT
from confide.tables.aggregates.wide_models.scale import GRADIENT, WIDE_ROUNDS, wide_scale_of
from confide.tables.bound_contributions import RowBound
from models import AGGREGATE, columns, world

MANY = replace(AGGREGATE, rounds=WIDE_ROUNDS, expected=1_000)
ROWS = pytest.mark.parametrize("most", [1, 3], ids=["one row", "three rows"])


def place(rng) -> Place:
    """Return a place as a walk has it: a diagonal, a first row, and scores from flat to sure."""
    matrix = np.diag(rng.choice([UNIT // 3, UNIT, 40 * UNIT], 5))
    matrix[0, 1:] = rng.integers(-UNIT, UNIT, 4)
    theta = rng.integers(-(2**17), 2**17, 5) * rng.choice([0, 1, 2**4])
    return Place(whitening=tuple(map(tuple, matrix.tolist())), coefficients=tuple(map(int, theta)))


def asked(rng) -> list:
    centre = tuple(map(int, rng.choice([-UNIT, 0, UNIT], 4)))
    look = AskRecalibration(
        at=place(rng), centre=int(rng.integers(-5000, 5000)), spread=int(rng.choice([1, 700, 9999]))
    )
    return [AskMeans(), AskSquares(centre=centre), AskClipped(at=place(rng)), look]


def one(rng, *, most, aggregate, to):
    found = columns(1, rng, rows=most, corners=True)
    if rng.random() < 0.7:  # rows that are alike add up to the most
        found |= {k: np.repeat(v[:1], most) for k, v in found.items() if k[0] == "e"}
    return DescentRows(aggregate, found, dataset=to)


@ROWS
@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_patient_moves_a_part_of_a_model_of_many_terms_by_more_than_its_share(most, adjacency):
    aggregate, to = replace(MANY, bounds=RowBound(max_rows=most)), world(adjacency=adjacency)
    rng, scale = np.random.default_rng(3), wide_scale_of(aggregate, dataset=world())
    largest = defaultdict(Fraction)
    looks = {
        "AskMeans": (scale.means * scale.radius) ** 2,
        "AskSquares": (scale.squares * scale.squares_radius) ** 2,
        "AskClipped": GRADIENT**2,
        "AskRecalibration": 5 * (scale.turn * UNIT * RESIDUAL) ** 2
        + (scale.bend * 5 * UNIT * RESIDUAL // 4) ** 2,
    }
    opposite = 1 if adjacency is Adjacency.ADD_REMOVE else 4
    for _ in range(400):
        first, second = (one(rng, most=most, aggregate=aggregate, to=to) for _ in range(2))
        for ask in asked(rng):
            name = type(ask).__name__
            moved = np.array(first.answer(ask), dtype=object)
            if adjacency is Adjacency.SUBSTITUTE:
                moved = moved - np.array(second.answer(ask), dtype=object)
            allowed = looks[name] * (2 if opposite == 4 and name == "AskSquares" else opposite)
            largest[name] = max(largest[name], Fraction(int(sum(moved * moved)), allowed))
    assert all(share <= 1 for share in largest.values()), largest
    assert largest["AskClipped"] > 0.9
    assert min(largest.values()) > 0.3, largest
    whole = looks["AskMeans"] + looks["AskSquares"] + WIDE_ROUNDS * GRADIENT**2
    whole += looks["AskRecalibration"]
    claimed = descent_sensitivity(aggregate, dataset=to).l2_squared
    assert claimed == opposite * whole - (2 * looks["AskSquares"] if opposite == 4 else 0)


def test_shares_of_a_model_of_many_terms_are_those_that_are_stated():
    scale = wide_scale_of(MANY, dataset=world())
    parts = {
        5: (scale.means * scale.radius) ** 2,
        3: (scale.squares * scale.squares_radius) ** 2,
        86: WIDE_ROUNDS * GRADIENT**2,
        4.2: 5 * (scale.turn * UNIT * RESIDUAL) ** 2,
        1.8: (scale.bend * 5 * UNIT * RESIDUAL // 4) ** 2,
    }
    for percent, part in parts.items():
        assert float(100 * Fraction(part, scale.one)) == pytest.approx(percent, rel=1e-3)
    assert scale.radius / UNIT == pytest.approx((2 + 4 / 3) ** 0.5, abs=1e-3)
    assert scale.length == 6 + 4 + 30 * 5 + 5


def test_an_answer_of_many_terms_is_the_sum_of_what_each_patient_answers_alone():
    aggregate, rng = replace(MANY, bounds=RowBound(max_rows=3)), np.random.default_rng(4)
    found = columns(40, rng, rows=3)
    for ask in asked(rng):

        def answers(of, ask=ask):
            return np.array(DescentRows(aggregate, of, dataset=world()).answer(ask), dtype=object)

        alone = [answers({k: v[found["p"] == p] for k, v in found.items()}) for p in range(40)]
        assert (answers(found) == sum(alone)).all()


def test_answers_of_many_terms_are_what_they_say_where_nothing_is_clipped():
    rng = np.random.default_rng(5)
    found = columns(500, rng)
    rows, scale = DescentRows(MANY, found, dataset=world()), wide_scale_of(MANY, dataset=world())
    x = np.column_stack(
        [
            np.ones(500),
            found["e0"] / 50 - 1,
            found["e1"] / 500 - 1,
            found["e2"] == 1,
            found["e2"] == 2,
        ]
    )
    y = found["e3"]
    whole = np.column_stack([x, y])
    short = np.minimum(1, scale.radius / UNIT / np.linalg.norm(whole, axis=1))
    means = np.array(rows.answer(AskMeans())) / (scale.means * UNIT)
    assert means == pytest.approx(short @ whole, abs=0.3)
    centre = (UNIT // 4,) * 4
    squares = (x[:, 1:] - 0.25) ** 2
    short = np.minimum(1, scale.squares_radius / UNIT / np.linalg.norm(squares, axis=1))
    told = np.array(rows.answer(AskSquares(centre=centre))) / (scale.squares * UNIT)
    assert told == pytest.approx(short @ squares, abs=0.3)
    matrix = np.diag([UNIT // 2] + [UNIT // 4] * 4)
    at = Place(whitening=tuple(map(tuple, matrix.tolist())), coefficients=(2**16, *(2**15,) * 4))
    z = x * np.array([0.5, *[0.25] * 4])
    score = z @ np.array([1, 0.5, 0.5, 0.5, 0.5])
    r = y - 1 / (1 + np.exp(-score))
    w = np.minimum(1, 1 / (np.abs(r) * np.linalg.norm(z, axis=1)))
    gradient = np.array(rows.answer(AskClipped(at=at)), dtype=float) / GRADIENT
    assert gradient == pytest.approx((w * r) @ z, abs=0.2)
    look = np.array(rows.answer(AskRecalibration(at=at, centre=512, spread=300)), dtype=float)
    s = np.clip((score * 1024 - 512) / 300, -2, 2)
    v = (r - y) * (1 + r - y) * -1
    expected = [r.sum(), r @ s, v.sum(), 2**0.5 * (v @ s), v @ s**2]
    units = np.array([scale.turn] * 2 + [scale.bend] * 3) * float(UNIT * RESIDUAL)
    assert look / units == pytest.approx(expected, abs=0.6)


def test_rows_answer_only_what_their_model_asks():
    found = columns(3, np.random.default_rng(6))
    for aggregate, ask in ((AGGREGATE, AskMeans()), (MANY, None)):
        with pytest.raises(EngineError, match="no answer"):
            DescentRows(aggregate, found, dataset=world()).answer(ask)
    assert repr(DescentRows(MANY, found, dataset=world())) == "<secret>"


@pytest.mark.parametrize("changed", [{"rounds": 5}, {"expected": -1, "rounds": 5}])
def test_a_model_of_many_terms_has_its_own_number_of_rounds(changed):
    with pytest.raises(InvalidParameterError, match="Expected"):
        replace(MANY, **changed)
