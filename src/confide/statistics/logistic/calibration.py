"""How far predicted log odds are off: on the whole, and by a line.

The line is sought in standard deviations of the log odds, so that it is found alike where they are
far apart and where they hardly differ; what they tell little of gets a wide law, not a narrow one.

References:
    [VC16] Van Calster et al. A calibration hierarchy for risk models. J. Clin. Epidemiol. 74, 2016.
        https://doi.org/10.1016/j.jclinepi.2015.12.005
"""

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.score_bins import SHARES
from confide.statistics.logistic.predictions import Predicted, risk_of

_ROUNDS = 25
_SETTLED = 1e-3
"""Last step of a line that was found, in log odds of a standard deviation."""
_MOST_WITHOUT = 0.01  # share of the draws for which no line fits best


def calibration_in_the_large(counts: Floats, *, told: Predicted) -> Floats:
    """Return log odds observed less predicted, on the whole; shape (runs,).

    Args:
        counts: Shape (runs, 2, bins).
        told: What was predicted.
    """
    number, having = counts.sum(axis=1), counts[:, 1]
    large = np.zeros(len(counts))
    for _ in range(25):
        p = risk_of(large[:, None, None] + told.eta)
        v, r = number * (p * (1 - p)).mean(axis=2), having - number * p.mean(axis=2)
        large += np.clip(r.sum(axis=1) / np.maximum(v.sum(axis=1), 1e-9), -1, 1)
    return large


def calibration_line(counts: Floats, *, told: Predicted, noise: float) -> tuple[Floats, Floats]:
    """Return a and b of the line a + b·η that fits best; each of shape (runs,).

    Numbers with the outcome have the mean risk p of their bin, and weigh by their variance, which
    is n·p(1 − p) of n patients and noise of them and of the others.  Where no line fits best, as
    where risks part those with the outcome from those without, both are NaN.

    Args:
        counts: Shape (runs, 2, bins).
        told: What was predicted, not the same of everybody.
        noise: Standard deviation of the noise of a count.
    """
    number, having = counts.sum(axis=1), counts[:, 1]
    centre = float(told.eta.mean())
    spread = float(np.sqrt(SHARES @ ((told.eta - centre) ** 2).mean(axis=1)))
    x = (told.eta - centre) / spread
    each = np.maximum(1.0, float(number[0].sum()) * SHARES)
    p, q = told.risk, 1 - told.risk
    weight = each / (each * p * q + noise**2 * (p**2 + q**2))
    a, b = np.full(len(counts), centre), np.full(len(counts), spread)
    last = np.zeros((2, len(counts)))
    for _ in range(_ROUNDS):
        inside = risk_of(a[:, None, None] + b[:, None, None] * x)
        slope = inside * (1 - inside)
        off = weight * (having - number * inside.mean(axis=2))
        by_a, by_b = slope.mean(axis=2), (slope * x).mean(axis=2)
        s0, s1, s2 = (
            (each * weight * first * second).sum(axis=1)
            for first, second in ((by_a, by_a), (by_a, by_b), (by_b, by_b))
        )
        g0, g1 = (off * by_a).sum(axis=1), (off * by_b).sum(axis=1)
        apart = np.maximum(s0 * s2 - s1**2, 1e-9)
        last = np.clip(np.array([s2 * g0 - s1 * g1, s0 * g1 - s1 * g0]) / apart, -1, 1)
        a, b = a + last[0], b + last[1]
    found = np.abs(last).max(axis=0) < _SETTLED
    b = np.where(found, b / spread, np.nan)
    return np.where(found, a - b * centre, np.nan), b


def bounded(slopes: Floats) -> bool:
    """Return whether a line fits best, and one for all but few draws; shape (runs,)."""
    without = np.isnan(slopes)
    return bool(not without[0] and without.mean() <= _MOST_WITHOUT)
