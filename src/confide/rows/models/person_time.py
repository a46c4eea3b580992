"""Person-time of rows in whole numbers: offsets of counts, and follow-up through intervals.

*Privacy:* what is said of a row is a function of its own time and event, and of public edges.  See
:mod:`confide.tables.aggregates.descent` for the lemma: a patient's hazards add up to at most 1, and
an event counts only if it came before they did.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Ints
from confide.plans.rounds.descent import Place
from confide.plans.rounds.link import FARTHEST, SIZE, STEPS, log_steps
from confide.plans.rounds.newton import COEFFICIENT
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT


@dataclass(frozen=True, slots=True)
class Offsets:
    """Person-time of counts.

    Attributes:
        values: In steps of its domain, above 0; shape (rows,).
        most: Its upper bound.
        steps: log(values/most) in steps of the grid of the link.
    """

    values: Ints
    most: int
    steps: Ints

    def shares(self) -> Ints:
        """Return values/most in 1/UNIT²."""
        return np.asarray(self.values * UNIT**2 // self.most)

    def where(self, chosen: NDArray[np.bool_]) -> "Offsets":
        """Return those of some rows."""
        return Offsets(self.values[chosen], self.most, self.steps[chosen])


def offsets(values: Ints, *, most: int) -> Offsets:
    """Return the offsets of person-time."""
    return Offsets(values, most, log_steps(values) - int(log_steps(np.array([most]))[0]))


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Follow-up through public intervals.

    Attributes:
        offsets: log of the time spent in each interval, over the whole follow-up, in steps of the
            grid of the link; shape (rows, K).
        spent: Whether any time was; shape (rows, K).
        last: Interval in which follow-up ended; K for those who reached the end.
        event: Whether it ended with the event; never at the end.
    """

    offsets: Ints
    spent: NDArray[np.bool_]
    last: Ints
    event: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """K."""
        return int(self.offsets.shape[1])

    def where(self, chosen: NDArray[np.bool_]) -> "FollowUp":
        """Return that of some rows."""
        return FollowUp(
            self.offsets[chosen], self.spent[chosen], self.last[chosen], self.event[chosen]
        )

    def exits(self) -> Ints:
        """Count exits by interval, without and with the event, then those who reached the end."""
        return np.bincount(2 * self.last + self.event, minlength=2 * self.size + 1)

    def had_event(self) -> Ints:
        """Return 1 where follow-up ended with the event."""
        return self.event.astype(np.int64)

    def lived(self, scores: Ints, place: Place, means: Ints) -> tuple[Ints, Ints]:
        """Return the hazard lived through in each interval, and events less hazards.

        Args:
            scores: βᵀu in steps of the grid; shape (rows,).
            place: Whose first coefficients are the log hazards of the intervals.
            means: Table of exp over the grid, in 1/RESIDUAL.

        Returns:
            Two arrays of shape (rows, K) in 1/RESIDUAL; hazards add up to at most 1.
        """
        levels = np.array(place.coefficients[: self.size]) // (COEFFICIENT // STEPS)
        step = scores[:, None] + levels + self.offsets + FARTHEST * STEPS
        raw = np.where(self.spent, means[np.clip(step, 0, SIZE - 1)], 0)
        reached = np.cumsum(raw, axis=1)
        hazards = np.diff(np.minimum(reached, RESIDUAL), axis=1, prepend=0)
        residual = -hazards
        before = np.flatnonzero(self.event & (reached[:, -1] <= RESIDUAL))
        residual[before, self.last[before]] += RESIDUAL
        return hazards, residual


def follow_up(time: Ints, event: NDArray[np.bool_], *, edges: tuple[int, ...]) -> FollowUp:
    """Return the follow-up of each row, cut at the last edge.

    Args:
        time: Until the event or the end of follow-up, from 0; shape (rows,).
        event: Whether it ended with the event; shape (rows,).
        edges: Of the intervals, from 0.
    """
    cuts = np.array(edges)
    spent = np.clip(time[:, None] - cuts[:-1], 0, np.diff(cuts))
    whole = int(log_steps(cuts[-1:])[0])
    beyond = (time > edges[-1]) | ((time == edges[-1]) & ~event)
    last = np.where(beyond, len(edges) - 1, np.searchsorted(cuts[1:], time, side="left"))
    return FollowUp(
        log_steps(np.maximum(spent, 1)) - whole, spent > 0, last, np.asarray(event & ~beyond)
    )
