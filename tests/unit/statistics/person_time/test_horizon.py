"""Risks of a hazard model by the last edge, against held-out patients' life tables."""

import numpy as np
import pytest

from confide.plans.rounds.descent import score_edges
from confide.plans.rounds.link import FARTHEST, STEPS
from confide.statistics.person_time.horizon import horizon_groups
from confide.tables.aggregates.descent_terms import SCORE_BINS
from held_out_scores import simulation

SLOPES = np.array([0.6, -0.3])
LENGTH = float(np.hypot(0.6, 0.3))
HAZARD = 0.5
EDGES = np.linspace(0, 1, 6)


def followed(n, rng, *, slope=1.0, hazard=HAZARD):
    """Return counts by exit and bin, and each patient's βᵀu and true risk by the last edge."""
    eta = LENGTH * rng.normal(size=n)
    rate = hazard * np.exp(slope * eta)
    death, lost = rng.exponential(1, n) / rate, rng.uniform(0, 2.5, n)
    time, event = np.minimum(death, lost), death <= lost
    ended = time >= 1
    last = np.where(ended, 5, np.searchsorted(EDGES[1:], time, side="right"))
    exits = 2 * last + (event & ~ended)
    cuts = np.array(score_edges(np.array([0.0, *SLOPES]))) / STEPS - FARTHEST
    bins = np.searchsorted(cuts, eta, side="right")
    counts = np.bincount(exits * SCORE_BINS + bins, minlength=11 * SCORE_BINS).astype(float)
    return counts, bins, 1 - np.exp(-rate)


def judged(counts, *, noise=0.0, number=0):
    return horizon_groups(
        counts,
        slopes=SLOPES,
        hazard=HAZARD,
        noise=noise,
        level=0.95,
        simulation=simulation(number),
    )


def test_risks_that_are_right_are_those_of_the_life_table():
    counts, bins, risk = followed(200_000, np.random.default_rng(1))
    whole, *groups = judged(counts)
    assert len(groups) == SCORE_BINS
    assert whole.predicted == pytest.approx(whole.observed, abs=0.01)
    for k, group in enumerate(groups):
        assert group.predicted == pytest.approx(risk[bins == k].mean(), abs=0.01)
        assert group.observed == pytest.approx(risk[bins == k].mean(), abs=0.025)


def test_hazards_that_are_too_high_or_too_far_apart_are_told():
    high, *_ = judged(followed(100_000, np.random.default_rng(2), hazard=0.3)[0])
    assert high.observed < high.predicted - 0.08
    _, *groups = judged(followed(100_000, np.random.default_rng(3), slope=0.3)[0])
    assert groups[0].observed > groups[0].predicted + 0.05
    assert groups[-1].observed < groups[-1].predicted - 0.1


def coverage(*, runs, n, noise):
    rng = np.random.default_rng(4)
    _, bins, risk = followed(400_000, rng)
    held = []
    for number in range(runs):
        counts, _, _ = followed(n, rng)
        noisy = counts + rng.normal(0, noise, counts.shape)
        whole, *groups = judged(noisy, noise=noise, number=number)
        held.append(whole.lower <= risk.mean() <= whole.upper)
        for group in groups:
            true = risk[(bins >= group.first) & (bins <= group.last)].mean()
            held.append(group.lower <= true <= group.upper)
    return float(np.mean(held))


WORLDS = {"quiet": {"n": 3_000, "noise": 0.5}, "loud": {"n": 6_000, "noise": 5.0}}


def test_intervals_of_risks_by_the_last_edge_cover():
    assert coverage(runs=12, **WORLDS["quiet"]) > 0.88


@pytest.mark.audit
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_intervals_of_risks_hold_the_truth_in_93_percent_of_five_hundred_runs(world):
    assert coverage(runs=500, **world) > 0.93
