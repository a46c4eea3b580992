"""Rows of a model of several classes: shares by softmax, in whole numbers.

A share is exp(η_c − max η) over the sum of these, all looked up in a table of whole numbers, so it
is the same wherever a row stands.

*Privacy:* see :mod:`confide.tables.aggregates.descent` for the lemma.  Residuals take shares
rounded to the nearest, which the public scale allows for; curvature takes them rounded down, so
that they add up to at most one.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats, Ints
from confide.plans.rounds.descent import Place
from confide.plans.rounds.link import FARTHEST, STEPS, power_table
from confide.plans.rounds.newton import COEFFICIENT
from confide.tables.aggregates.descent_terms import RESIDUAL, ROOT, UNIT


@dataclass(frozen=True, slots=True)
class Classes:
    """The class that each row is of.

    Attributes:
        values: From 0; shape (rows,).
        size: K.
    """

    values: Ints
    size: int

    def where(self, chosen: NDArray[np.bool_]) -> "Classes":
        """Return those of some rows."""
        return Classes(self.values[chosen], self.size)

    def totals(self, each: Ints) -> list[int]:
        """Return by class the sum over rows of UNIT²/``each``."""
        parts = np.zeros(self.size, dtype=np.int64)
        np.add.at(parts, self.values, UNIT**2 // each)
        return [int(part) for part in parts]

    def residuals(self, plain: Floats, place: Place) -> Ints:
        """Return class less share, in 1/RESIDUAL; shape (rows, K)."""
        found = -self._nearest(plain, place)
        found[np.arange(len(found)), self.values] += RESIDUAL
        return found

    def roots(self, plain: Floats, place: Place) -> list[Floats]:
        """Return √(p_a·p_b) in 1/ROOT, rounded down, for each pair a < b; each of shape (rows,)."""
        powers, whole = self._powers(plain, place)
        shares = powers * RESIDUAL // whole
        finer = RESIDUAL**2 // ROOT**2
        return [
            np.floor(np.sqrt((shares[:, a] * shares[:, b] // finer).astype(np.float64)))
            for a, b in itertools.combinations(range(self.size), 2)
        ]

    def scores(self, plain: Floats, place: Place, *, edges: tuple[int, ...], bins: int) -> Ints:
        """Return each row's cell for each class: by whether it is of it, then by bin of its share.

        Shape (K, rows); the cells of a class come after those of the classes before.
        """
        shares, cuts = self._nearest(plain, place), np.array(edges).reshape(self.size, bins - 1)
        found = [
            bins * (2 * c + (self.values == c))
            + np.searchsorted(cuts[c], shares[:, c], side="right")
            for c in range(self.size)
        ]
        return np.array(found, dtype=np.int64)

    def log_steps(self, plain: Floats, place: Place) -> Ints:
        """Return η_c in steps of the grid; shape (rows, K)."""
        theta = np.array(place.coefficients, dtype=np.float64).reshape(self.size, -1)
        return np.floor(plain @ theta.T / (UNIT * COEFFICIENT // STEPS)).astype(np.int64)

    def _nearest(self, plain: Floats, place: Place) -> Ints:
        powers, whole = self._powers(plain, place)
        return np.asarray((powers * RESIDUAL + whole // 2) // whole)

    def _powers(self, plain: Floats, place: Place) -> tuple[Ints, Ints]:
        """Return exp(η_c − max η) by class, and their sum; shapes (rows, K) and (rows, 1)."""
        steps = self.log_steps(plain, place)
        below = steps - steps.max(axis=1, keepdims=True)
        powers = power_table()[np.maximum(below + FARTHEST * STEPS, 0)]
        return powers, powers.sum(axis=1, keepdims=True)


def parts(weighted: Floats, residuals: Ints) -> Floats:
    """Return w·r_c·z by class and then term; shape (rows, K·d)."""
    each = weighted[:, None, :] * residuals[:, :, None]
    return np.asarray(each.reshape(len(weighted), weighted.shape[1] * residuals.shape[1]))
