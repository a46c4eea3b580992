"""Sums over held-out patients whose rates are known: events and person-time by bin."""

import numpy as np

from confide.plans.rounds.descent import score_edges
from confide.plans.rounds.link import FARTHEST, STEPS
from confide.tables.aggregates.descent_terms import SCORE_BINS

MOST = 10
THETA = np.array([-3.2, 0.5, -0.4])
"""Log of events over their bound, of those who are followed for the whole time."""
LENGTH = float(np.hypot(0.5, 0.4))


def summed(n, rng, *, slope=1.0, shift=0.0, over=None):
    """Return sums by bin, log rates, events and person-time of patients."""
    eta = THETA[0] + LENGTH * rng.normal(size=n)
    time = rng.uniform(0.1, 1, n)
    rate = MOST * np.exp(THETA[0] + shift + slope * (eta - THETA[0]))
    mean = rate * time * (1 if over is None else rng.gamma(over, 1 / over, n))
    events = np.minimum(rng.poisson(mean), MOST)
    return np.array([by_bin(eta, events / MOST), by_bin(eta, time)]), eta, events, time


def by_bin(eta, weights):
    edges = np.array(score_edges(THETA)) / STEPS - FARTHEST
    bins = np.searchsorted(edges, eta, side="right")
    return np.bincount(bins, weights=weights, minlength=SCORE_BINS)
