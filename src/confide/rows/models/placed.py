"""Terms and scores of rows at a place of a model, in whole numbers.

*Privacy:* what a row gives is a function of the row and of the public place alone: products and
sums stay below 2⁵³ in float64, where they are exact in any order.
"""

import numpy as np

from confide.arrays import Floats, Ints
from confide.plans.rounds.descent import Place
from confide.plans.rounds.link import FARTHEST, SIZE, STEPS
from confide.plans.rounds.newton import COEFFICIENT
from confide.rows.models.person_time import Offsets
from confide.tables.aggregates.descent_terms import UNIT

LARGEST_TERM = 2**6
"""Whitened terms are cut here, in units of 1; those of a row on its bounds are far below."""


def placed_terms(rows: Floats, place: Place) -> Floats:
    """Return z in 1/UNIT, of terms x of shape (rows, d) in the same unit."""
    matrix = np.array(place.whitening, dtype=np.float64)
    most, found = LARGEST_TERM * UNIT, rows @ matrix
    found /= UNIT
    np.floor(found, out=found)
    return np.asarray(np.clip(found, -most, most, out=found))


def scores_at(plain: Floats, place: Place, *, first: int = 0) -> Ints:
    """Return each row's θᵀz in steps of the grid; without the first coefficients, βᵀu."""
    slopes = np.array(place.coefficients[first:], dtype=np.float64)
    eta = plain[:, -len(slopes) :] @ slopes
    return np.asarray(np.floor(eta / (UNIT * COEFFICIENT // STEPS)), dtype=np.int64)


def steps_at(plain: Floats, place: Place, time: Offsets | None = None) -> Ints:
    """Return the step of the grid at which each row's linear predictor lies."""
    step = scores_at(plain, place)
    if time is not None:
        step = step + time.steps
    return np.asarray(np.clip(step + FARTHEST * STEPS, 0, SIZE - 1))
