"""Harrell's C of a hazard model on patients it was not fitted to.

Held-out patients are counted by public bins of βᵀu, by interval in which their follow-up ended and
by how.  Of pairs of which one is known to have had the event first it is the share in which that
one is in the higher bin; pairs in one bin count one half, and within an interval the censored
outlive those with the event [HLM96].

*Law.*  Noisy counts are drawn anew: multinomial with the published shares, cut at 0, plus noise.
The interval is the estimate ∓ normal quantile × the spread of what they give.

*Privacy:* post-processing of noisy counts; held-out patients are in no other answer.

References:
    [HLM96] Harrell, Lee, Mark. Multivariable prognostic models. Statistics in Medicine 15(4), 1996.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.score_bins import other_patients
from confide.plans.simulation import Simulation
from confide.tables.aggregates.descent_terms import SCORE_BINS

RUNS = 400
FEWEST = 10
"""Events, and all held-out patients, must be this many standard deviations of their noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutConcordance:
    """Harrell's C.

    Attributes:
        value: The share of pairs.
        error: Standard deviation from sampling and noise.
        usable: Whether there are enough held-out patients and events.
    """

    value: float
    error: float
    usable: bool

    def width(self, level: float) -> float:
        """Return half the width of its interval."""
        return NormalDist().inv_cdf((1 + level) / 2) * self.error


def held_out_concordance(
    counts: Sequence[float],
    *,
    intervals: int,
    noise: float,
    simulation: Simulation,
    purpose: str = "concordance",
) -> HeldOutConcordance:
    """Return Harrell's C.

    Args:
        counts: Noisy patients by interval, then outcome, then bin of the score; then those who
            reached the end, by bin.
        intervals: K.
        noise: Standard deviation of the noise of a count.
        simulation: Source of reproducible draws.
        purpose: What the draws are for.
    """
    observed = np.asarray(counts, dtype=np.float64).reshape(-1, SCORE_BINS)
    least = FEWEST * noise * math.sqrt(intervals * SCORE_BINS)
    usable = bool(observed[1::2].sum() > least and observed.sum() > math.sqrt(2) * least)
    whole = other_patients(
        observed.ravel(), noise=noise, runs=RUNS, simulation=simulation, purpose=purpose
    )
    whole = whole.reshape(1 + RUNS, *observed.shape)
    censored, events = whole[:, 0:-1:2].copy(), whole[:, 1::2]
    censored[:, -1] += whole[:, -1]  # they outlive all events
    found = concordance(censored=censored, events=events)
    return HeldOutConcordance(value=float(found[0]), error=float(np.std(found[1:])), usable=usable)


def concordance(*, censored: Floats, events: Floats) -> Floats:
    """Return Harrell's C; shape (runs,).

    Args:
        censored: Of shape (runs, K, bins), the bin of least risk first.
        events: Alike.

    Example:
        All events are in the upper bin, and one of two censored in the lower one:

        >>> censored, events = np.array([[[1.0, 1.0]]]), np.array([[[0.0, 3.0]]])
        >>> float(concordance(censored=censored, events=events)[0])
        0.75
    """
    left = censored + events
    later = np.cumsum(left[:, ::-1], axis=1)[:, ::-1] - left
    outliving = later + censored
    below = np.cumsum(outliving, axis=2) - outliving / 2
    pairs = (events.sum(axis=2) * outliving.sum(axis=2)).sum(axis=1)
    ordered = (events * below).sum(axis=(1, 2))
    return np.asarray(np.clip(ordered / np.where(pairs > 0, pairs, np.inf), 0, 1))
