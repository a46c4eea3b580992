"""Rows of a hazard model of few events: what a patient adds stays within the lemma, and adds up."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from confide.plans.rounds.descent import Place
from confide.plans.rounds.wide import AskClipped, AskMeans, AskRecalibration, AskSquares
from confide.privacy.adjacency import Adjacency
from confide.rows.relational.descent import DescentRows
from confide.tables.aggregates.check_descent import descent_sensitivity
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT
from confide.tables.aggregates.wide_models.scale import GRADIENT, WIDE_ROUNDS, wide_scale_of
from person_time import EDGES, HAZARDS, columns_of, followed, world

FEW = replace(HAZARDS, rounds=WIDE_ROUNDS, expected=200)
SCALE = wide_scale_of(FEW, dataset=world())
BOUNDS = {
    "means": (SCALE.means * SCALE.radius) ** 2 + (SCALE.totals * UNIT) ** 2,
    "squares": (SCALE.squares * SCALE.squares_radius) ** 2,
    "gradient": GRADIENT**2,
    "look": 5 * (SCALE.turn * UNIT * RESIDUAL) ** 2 + (SCALE.bend * 5 * UNIT * RESIDUAL) ** 2,
}
"""Most that a patient moves each part by, squared."""


def place(rng) -> Place:
    """Return a place as a walk has it, with hazards from none to far beyond 1."""
    matrix = np.diag(rng.choice([UNIT // 3, UNIT, 40 * UNIT], 5))
    matrix[0, 1:] = rng.integers(-UNIT, UNIT, 4)
    levels = rng.integers(-(2**17), 2**17, 3) * rng.choice([0, 1, 2**4])
    slopes = rng.integers(-(2**17), 2**17, 4) * rng.choice([0, 1, 2**4])
    theta = tuple(int(each) for each in (*levels, *slopes))
    return Place(whitening=tuple(map(tuple, matrix.tolist())), coefficients=theta)


def asked(rng) -> dict:
    centre = tuple(map(int, rng.choice([-UNIT, 0, UNIT], 4)))
    spread = int(rng.choice([1, 700, 9999]))
    return {
        "means": AskMeans(),
        "squares": AskSquares(centre=centre),
        "gradient": AskClipped(at=place(rng)),
        "look": AskRecalibration(at=place(rng), centre=0, spread=spread),
    }


def one(rng, *, to) -> DescentRows:
    corner = {
        "age": rng.choice([0, 50, 100], 1),
        "marker": rng.choice([0, 500, 1000], 1),
        "group": rng.integers(0, 3, 1),
        "ill": rng.integers(0, 2, 1),
        "followed": rng.choice([0, 1, *EDGES[1:], 2000], 1),
    }
    return DescentRows(FEW, columns_of(corner, aggregate=FEW), dataset=to)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_patient_moves_a_part_of_a_model_of_few_events_by_more_than_its_share(adjacency):
    rng, to = np.random.default_rng(3), world(adjacency=adjacency)
    substituted = adjacency is Adjacency.SUBSTITUTE
    largest = defaultdict(Fraction)
    for _ in range(500):
        first, second = (one(rng, to=to) for _ in range(2))
        for name, ask in asked(rng).items():
            moved = np.array(first.answer(ask), dtype=object)
            if substituted:
                moved = moved - np.array(second.answer(ask), dtype=object)
            times = (2 if name == "squares" else 4) if substituted else 1
            share = Fraction(int(sum(moved * moved)), BOUNDS[name] * times)
            largest[name] = max(largest[name], share)
    assert all(share <= 1 for share in largest.values()), largest
    assert largest["gradient"] > 0.9
    assert min(largest.values()) > 0.3, largest
    whole = sum(BOUNDS.values()) + (WIDE_ROUNDS - 1) * BOUNDS["gradient"]
    claimed = descent_sensitivity(FEW, dataset=to).l2_squared
    assert claimed == (4 * whole - 2 * BOUNDS["squares"] if substituted else whole)


def test_shares_of_a_model_of_few_events_are_those_that_are_stated():
    parts = {
        8: (SCALE.means * SCALE.radius) ** 2,
        7: BOUNDS["squares"],
        5: (SCALE.totals * UNIT) ** 2,
        74: WIDE_ROUNDS * GRADIENT**2,
        4.2: 5 * (SCALE.turn * UNIT * RESIDUAL) ** 2,
        1.8: (SCALE.bend * 5 * UNIT * RESIDUAL) ** 2,
    }
    for percent, part in parts.items():
        assert float(100 * Fraction(part, SCALE.one)) == pytest.approx(percent, rel=3e-3)
    assert SCALE.radius / UNIT == pytest.approx((1 + 4 / 3) ** 0.5, abs=1e-3)
    assert SCALE.length == 5 + 7 + 4 + 30 * 5 + 5


def test_an_answer_of_few_events_is_the_sum_of_what_each_patient_answers_alone():
    rng = np.random.default_rng(4)
    columns = columns_of(followed(60, rng), aggregate=FEW)

    def answers(of, ask):
        return np.array(DescentRows(FEW, of, dataset=world()).answer(ask), dtype=object)

    for ask in asked(rng).values():
        alone = [answers({k: v[i : i + 1] for k, v in columns.items()}, ask) for i in range(60)]
        assert (answers(columns, ask) == sum(alone)).all()


def test_answers_of_few_events_are_what_they_say():
    people = followed(500, np.random.default_rng(5))
    rows = DescentRows(FEW, columns_of(people, aggregate=FEW), dataset=world())
    x = people["terms"]
    short = np.minimum(1, SCALE.radius / UNIT / np.linalg.norm(x, axis=1))
    told = np.array(rows.answer(AskMeans()), dtype=np.float64)
    assert told[:5] / (SCALE.means * UNIT) == pytest.approx(short @ x, abs=0.3)
    last = np.searchsorted(EDGES[1:], people["followed"], side="left")
    beyond = (people["followed"] >= EDGES[-1]) & ~(
        (people["followed"] == EDGES[-1]) & (people["ill"] == 1)
    )
    exits = np.bincount(np.where(beyond, 6, 2 * last + people["ill"]), minlength=7)
    assert told[5:] / (SCALE.totals * UNIT) == pytest.approx(exits)
    matrix = np.diag([UNIT // 2] + [UNIT // 4] * 4)
    levels, slopes = (2**15, 2**14, 0), (2**15,) * 4
    at = Place(whitening=tuple(map(tuple, matrix.tolist())), coefficients=(*levels, *slopes))
    z = x * np.array([0.5, *[0.25] * 4])
    edges = np.array(EDGES)
    spent = np.clip(people["followed"][:, None] - edges[:-1], 0, np.diff(edges)) / edges[-1]
    score = z[:, 1:] @ np.full(4, 0.5)
    raw = (spent * np.exp(np.array([0.5, 0.25, 0]))).sum(axis=1) * np.exp(score)
    lived = np.minimum(raw, 1)
    r = ((people["ill"] == 1) & ~beyond & (raw <= 1)) - lived
    w = np.minimum(1, 1 / np.maximum(np.abs(r) * np.linalg.norm(z, axis=1), 1e-9))
    gradient = np.array(rows.answer(AskClipped(at=at)), dtype=np.float64) / GRADIENT
    assert gradient == pytest.approx((w * r) @ z, abs=1.0)
    look = np.array(rows.answer(AskRecalibration(at=at, centre=0, spread=300)), dtype=np.float64)
    s = np.clip(score * 1024 / 300, -2, 2)
    expected = [r.sum(), r @ s, lived.sum(), 2**0.5 * (lived @ s), lived @ s**2]
    units = np.array([SCALE.turn] * 2 + [SCALE.bend] * 3) * float(UNIT * RESIDUAL)
    assert look / units == pytest.approx(expected, abs=2.0)
