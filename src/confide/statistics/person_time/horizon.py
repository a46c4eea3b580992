"""Whether a hazard model's risks up to the last edge are right, on patients it was not fitted to.

Of held-out patients, counted by bin of βᵀu, by interval in which their follow-up ended and by how,
the risk of the event by the last edge is one less the product of the shares that come through each
interval; those who leave in an interval count as at risk for half of it (life table [CE58]).  The
model predicts 1 − exp(−Λ) with Λ the hazard of the whole follow-up.

*Inside a bin* βᵀu is taken to be normal, and stretched beyond the last edges by how many are there
(:mod:`confide.plans.rounds.score_bins`).

*Law.*  Noisy counts are drawn anew: multinomial with the published shares, cut at 0, plus noise.
The interval is the estimate ∓ normal quantile × the spread of what they give, cut to [0, 1].
Neighbouring bins are joined until each group has many more patients than noise.

*Privacy:* post-processing of noisy counts; held-out patients are in no other answer.

References:
    [CE58] Cutler, Ederer. Maximum utilization of the life table method in analyzing survival.
        Journal of Chronic Diseases 8(6), 1958. https://doi.org/10.1016/0021-9681(58)90126-7
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.descent import score_edges
from confide.plans.rounds.held_out import AS_PREDICTED, BY_RISK, CalibrationLine
from confide.plans.rounds.link import FARTHEST, STEPS
from confide.plans.rounds.score_bins import (
    SHARES,
    alike,
    deviates,
    labels,
    may_end,
    other_patients,
    stretch_of,
)
from confide.plans.simulation import Simulation
from confide.tables.aggregates.descent_terms import SCORE_BINS

RUNS = 400
_OVER_NOISE = 10  # standard deviations of the noise of all exits of a group
_LEAST_IN_A_GROUP = 50  # patients


@dataclass(frozen=True, slots=True, kw_only=True)
class HorizonGroup:
    """Held-out patients of neighbouring bins.

    Attributes:
        predicted: Mean risk.
        observed: Risk by the life table.
        error: Standard deviation of ``observed`` from sampling and noise.
        lower: Lower end of its interval.
        upper: Upper end.
        first: First bin.
        last: Last bin.
        label: Range of predicted risk.
    """

    predicted: float
    observed: float
    error: float
    lower: float
    upper: float
    first: int
    last: int
    label: str


def horizon_groups(
    counts: Sequence[float],
    *,
    slopes: Floats,
    hazard: float,
    noise: float,
    level: float,
    simulation: Simulation,
    line: CalibrationLine = AS_PREDICTED,
    purpose: str = "horizon",
) -> tuple[HorizonGroup, ...]:
    """Return predicted and observed risks by groups of predicted risk, the whole first.

    There are no groups where slopes are so small that all have the same predicted risk.

    Args:
        counts: Noisy patients by interval, then outcome, then bin; then those who reached the end.
        slopes: β of whitened terms.
        hazard: Of the whole follow-up where βᵀu is 0.
        noise: Standard deviation of the noise of a count.
        level: Coverage of each interval.
        simulation: Source of reproducible draws.
        line: What log hazards were put right by; groups and labels are those of before.
        purpose: What the draws are for.
    """
    observed = np.asarray(counts, dtype=np.float64)
    whole = other_patients(observed, noise=noise, runs=RUNS, simulation=simulation, purpose=purpose)
    whole = whole.reshape(1 + RUNS, -1, SCORE_BINS)
    patients = whole[0].sum(axis=0)
    rows = whole.shape[1]
    stretch = stretch_of(patients, noise=noise * math.sqrt(rows))
    eta = line.intercept + line.slope * float(np.linalg.norm(slopes)) * deviates(stretch)
    risk = (1 - np.exp(-hazard * np.exp(eta))).mean(axis=1)
    edges = score_edges(np.concatenate([[0.0], slopes]))
    between = 1 - np.exp(-hazard * np.exp(np.array(edges) / STEPS - FARTHEST))
    ends = labels((0.0, *between.tolist(), 1.0))
    normal = NormalDist().inv_cdf((1 + level) / 2)

    def group(first: int, last: int) -> HorizonGroup:
        inside = slice(first, last + 1)
        found = _life_table(whole[:, :, inside].sum(axis=2))
        value, error = float(found[0]), float(np.std(found[1:]))
        weights = np.maximum(patients[inside], 1e-9)
        return HorizonGroup(
            predicted=float(np.average(risk[inside], weights=weights)),
            observed=value,
            error=error,
            lower=max(0.0, value - normal * error),
            upper=min(1.0, value + normal * error),
            first=first,
            last=last,
            label=f"{BY_RISK}{ends[first]} to {ends[last + 1]}",
        )

    apart = (
        []
        if alike(edges)
        else _groups(max(1, round(float(observed.sum()))), noise=noise, rows=rows, ends=ends)
    )
    return tuple(group(first, last) for first, last in ((0, SCORE_BINS - 1), *apart))


def _life_table(exits: Floats) -> Floats:
    """Return the risk by the last edge; shape (runs,).

    Args:
        exits: Censored, then with the event, interval by interval; then who reached the end; shape
            (runs, 2K + 1).
    """
    censored, events = exits[:, 0:-1:2], exits[:, 1::2]
    left = censored + events
    risk = exits.sum(axis=1)[:, None] - np.cumsum(left, axis=1) + left
    share = events / np.maximum(risk - censored / 2, 1.0)
    return np.asarray(1 - np.prod(1 - np.clip(share, 0, 1), axis=1))


def _groups(total: int, *, noise: float, rows: int, ends: Sequence[str]) -> list[tuple[int, int]]:
    """Return first and last bin of groups with many more patients than noise, by planned shares."""
    start, groups = 0, []
    for last in range(SCORE_BINS):
        spread = _OVER_NOISE * noise * math.sqrt(rows * (last + 1 - start))
        many = total * float(SHARES[start : last + 1].sum()) >= max(_LEAST_IN_A_GROUP, spread)
        if many and may_end(ends, start=start, last=last):
            groups.append((start, last))
            start = last + 1
    if not groups:
        return [(0, SCORE_BINS - 1)]
    return [*groups[:-1], (groups[-1][0], SCORE_BINS - 1)]
