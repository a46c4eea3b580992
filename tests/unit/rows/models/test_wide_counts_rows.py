"""Rows of a count model with a wide bound: what a patient adds stays within the lemma, and is so."""

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
from confide.tables.aggregates.descent_terms import MOST_EVENTS, RESIDUAL, UNIT
from confide.tables.aggregates.wide_models.scale import GRADIENT, WIDE_ROUNDS, wide_scale_of
from confide.tables.bound_contributions import RowBound
from person_time import COUNTS, columns_of, counted, world

MOST = 50
WIDE = replace(COUNTS, rounds=WIDE_ROUNDS, expected=200, bounds=RowBound(max_rows=3))
SCALE = wide_scale_of(WIDE, dataset=world(most=MOST))
BOUNDS = {
    "means": (SCALE.means * SCALE.radius) ** 2 + (SCALE.totals * UNIT) ** 2,
    "squares": (SCALE.squares * SCALE.squares_radius) ** 2,
    "gradient": GRADIENT**2,
    "look": 5 * (SCALE.turn * UNIT * RESIDUAL) ** 2,
}
"""Most that a patient moves each part by, squared."""


def place(rng) -> Place:
    """Return a place as a walk has it, with rates from none to far beyond the bound."""
    matrix = np.diag(rng.choice([UNIT // 3, UNIT, 40 * UNIT], 5))
    matrix[0, 1:] = rng.integers(-UNIT, UNIT, 4)
    theta = rng.integers(-(2**17), 2**17, 5) * rng.choice([0, 1, 2**4])
    return Place(whitening=tuple(map(tuple, matrix.tolist())), coefficients=tuple(map(int, theta)))


def asked(rng, *, most=MOST) -> dict:
    centre = tuple(map(int, rng.choice([-UNIT, 0, UNIT], 4)))
    spread, unit = int(rng.choice([1, 700, 9999])), int(rng.choice([1, 3, most]))
    return {
        "means": AskMeans(),
        "squares": AskSquares(centre=centre),
        "gradient": AskClipped(at=place(rng), unit=unit),
        "look": AskRecalibration(at=place(rng), centre=0, spread=spread, unit=unit),
    }


def one(rng, *, to, most=MOST) -> DescentRows:
    """Return a patient of one to three rows at corners of the bounds."""
    k = int(rng.integers(1, 4))
    corner = {
        "age": rng.choice([0, 50, 100], k),
        "marker": rng.choice([0, 500, 1000], k),
        "group": rng.integers(0, 3, k),
        "visits": np.minimum(rng.choice([0, 1, 2, 4, 5, most], k), most),
        "observed": rng.choice([30, 365, 730], k),
    }
    columns = columns_of(corner, aggregate=WIDE)
    return DescentRows(WIDE, columns | {"p": np.zeros(k), "rk": np.arange(1, k + 1)}, dataset=to)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_no_patient_moves_a_part_of_a_model_of_counts_by_more_than_its_share(adjacency):
    rng, to = np.random.default_rng(3), world(adjacency=adjacency, most=MOST)
    substituted = adjacency is Adjacency.SUBSTITUTE
    largest = defaultdict(Fraction)
    for _ in range(150):
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
    claimed = descent_sensitivity(WIDE, dataset=to).l2_squared
    assert claimed == (4 * whole - 2 * BOUNDS["squares"] if substituted else whole)


@pytest.mark.parametrize("most", [1, 6, MOST_EVENTS])
def test_no_bound_of_events_is_too_small_or_too_large_for_whole_numbers(most):
    rng, to = np.random.default_rng(5), world(most=most)
    for _ in range(40):
        rows = one(rng, to=to, most=most)
        for name, ask in asked(rng, most=most).items():
            if name in ("gradient", "look"):
                moved = np.array(rows.answer(ask), dtype=object)
                assert sum(moved * moved) <= BOUNDS[name]
        scale = wide_scale_of(WIDE, dataset=to)
        assert len(rows.answer(AskMeans())) == scale.opening


def test_cells_of_counts_are_single_to_4_then_two_of_twice_as_many_up_to_the_bound():
    for most, edges in (
        (1, (0, 1, 2)),
        (2, (0, 1, 2, 3)),
        (5, (0, 1, 2, 3, 4, 5, 6)),
        (8, (0, 1, 2, 3, 4, 5, 7, 9)),
        (50, (0, 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 51)),
    ):
        assert wide_scale_of(WIDE, dataset=world(most=most)).edges == edges


def test_shares_of_a_model_of_counts_are_those_that_are_stated():
    parts = {
        8: (SCALE.means * SCALE.radius) ** 2,
        7: BOUNDS["squares"],
        5: (SCALE.totals * UNIT) ** 2,
        74: WIDE_ROUNDS * GRADIENT**2,
        6: BOUNDS["look"],
    }
    for percent, part in parts.items():
        assert float(100 * Fraction(part, SCALE.one)) == pytest.approx(percent, rel=3e-3)
    assert SCALE.radius / UNIT == pytest.approx((2 + 4 / 3) ** 0.5, abs=1e-3)
    assert SCALE.length == 5 + 1 + 13 + 4 + 30 * 5 + 2


def test_answers_of_counts_are_what_they_say():
    to, people = world(most=MOST), counted(500, np.random.default_rng(5), most=MOST)
    rows = DescentRows(WIDE, columns_of(people, aggregate=WIDE), dataset=to)
    x, y, spent = people["terms"], people["visits"], people["observed"] / 730
    whole = np.column_stack([x, spent])
    short = np.minimum(1, SCALE.radius / UNIT / np.linalg.norm(whole, axis=1))
    told = np.array(rows.answer(AskMeans()), dtype=np.float64)
    assert told[:6] / (SCALE.means * UNIT) == pytest.approx(short @ whole, abs=0.3)
    cells = np.histogram(y, bins=SCALE.edges)[0]
    cells[-1] = (y >= 49).sum()
    assert told[6:] / (SCALE.totals * UNIT) == pytest.approx(cells)
    matrix = np.diag([UNIT // 2] + [UNIT // 4] * 4)
    at = Place(whitening=tuple(map(tuple, matrix.tolist())), coefficients=(2**15, *(2**15,) * 4))
    z = x * np.array([0.5, *[0.25] * 4])
    score = z @ np.full(5, 0.5)
    r = y / 2 - spent * np.exp(score)
    w = np.minimum(1, 1 / np.maximum(np.abs(r) * np.linalg.norm(z, axis=1), 1e-9))
    gradient = np.array(rows.answer(AskClipped(at=at, unit=2)), dtype=np.float64) / GRADIENT
    assert gradient == pytest.approx((w * r) @ z, abs=1.0)
    look = AskRecalibration(at=at, centre=0, spread=300, unit=2)
    s, cut = np.clip(score * 1024 / 300, -2, 2), np.clip(r / 4, -1, 1)
    turned = np.array(rows.answer(look), dtype=np.float64) / (SCALE.turn * UNIT * RESIDUAL)
    assert turned == pytest.approx([cut.sum(), cut @ s], abs=2.0)
