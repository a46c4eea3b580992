"""Scores of held-out patients whose truth is known: linear predictors, outcomes and histograms."""

import math

import numpy as np

from confide.plans.rounds.descent import score_edges
from confide.plans.rounds.held_out import AS_PREDICTED
from confide.plans.rounds.link import FARTHEST, STEPS
from confide.plans.simulation import Simulation
from confide.statistics.logistic.evaluation import ScoreHistogram, evaluated
from confide.tables.aggregates.descent_terms import SCORE_BINS

THETA = np.array([-1.5, 0.8, -0.6])
LENGTH = math.hypot(0.8, 0.6)


def scored(n, rng, *, slope=1.0, shift=0.0, theta=THETA, shape=None):
    """Return counts by outcome and bin, linear predictors and outcomes.

    ``shape`` draws linear predictors of mean 0 and variance 1 where they are not normal.
    """
    eta = theta[0] + np.linalg.norm(theta[1:]) * (
        rng.normal(size=n) if shape is None else shape(rng, n)
    )
    ill = rng.random(n) < 1 / (1 + np.exp(-(theta[0] + shift + slope * (eta - theta[0]))))
    cell = ill * SCORE_BINS + np.searchsorted(edges_of(theta), eta, side="right")
    counts = np.bincount(cell, minlength=2 * SCORE_BINS).astype(float)
    return counts.reshape(2, SCORE_BINS), eta, ill


def edges_of(theta=THETA):
    return np.array(score_edges(theta)) / STEPS - FARTHEST


def with_noise(counts, noise, rng):
    return ScoreHistogram(counts=counts + rng.normal(0, noise, counts.shape), noise=noise)


def simulation(number=0):
    return Simulation(payload_digest=f"{number:064x}")


def judged(found, *, number=0, theta=THETA, line=AS_PREDICTED):
    if isinstance(found, np.ndarray):
        found = ScoreHistogram(counts=found, noise=0.0)
    return evaluated(found, theta=theta, level=0.95, simulation=simulation(number), line=line)


def auc_of(eta, ill):
    """Return the C-statistic by ranks."""
    ranks = np.empty(len(eta))
    ranks[np.argsort(eta)] = np.arange(1, len(eta) + 1)
    having = ill.sum()
    return (ranks[ill].sum() - having * (having + 1) / 2) / (having * (len(eta) - having))
