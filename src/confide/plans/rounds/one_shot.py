"""A logistic model from one noisy look: linear discriminant analysis by moments.

Where there are few patients, noise that is shared among rounds drowns each of them.  One look at
Σ q·xxᵀ and Σ q·x·s, with s = 1 for those with the outcome and −1 for the others, gives the line of
least squares through s.  If terms are Gaussian within either outcome, its slopes are those of the
log odds but for a factor that its residual variance says [Hag83]; so it ranks about as well, and
is drawn to 0 by its error as rounds are.  The intercept is then the one at which the mean risk of
Gaussian terms is the noisy share of those with the outcome.

*Utility:* an approximation: odds are too steep or flat where terms are far from Gaussian, so the
model predicts, and no interval is given for its coefficients.

*Which is better* depends on public numbers alone.  On simulated cohorts of 300 to 4,000 patients
with 5 to 33 terms, one look ranked better below n·μ ≈ 40·d^¾, rounds above it, μ = √(2ρ) being the
loss of the model.

References:
    [Hag83] Haggstrom. Logistic regression and discriminant analysis by ordinary least squares.
        Journal of Business and Economic Statistics 1(3), 1983. https://doi.org/10.2307/1391344
    [Wan18] Wang. Revisiting differentially private linear regression: optimal and adaptive
        prediction & estimation in unbounded domain. UAI 2018. https://arxiv.org/abs/1803.02596
"""

import math

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.marginal import NODES, WEIGHTS

_LEAST_RESIDUAL = 0.4  # of the variance of s
_RAREST = 0.005
_TURN = 40.0


def one_look_is_better(rows: float, *, terms: int, mu: float) -> bool:
    """Return whether one look is expected to rank better than rounds; from public facts alone.

    Args:
        rows: Public planning number of rows that are fitted.
        terms: d.
        mu: √(2ρ) of the model.

    Example:
        >>> [one_look_is_better(n, terms=9, mu=0.2) for n in (500, 5_000)]
        [True, False]
    """
    return rows * mu < _TURN * math.pow(terms, 0.75)


def discriminant(moments: Floats, crossed: Floats, *, noise: tuple[float, float]) -> Floats:
    """Return coefficients of the terms; shape (d,).

    Args:
        moments: Noisy Σ q·xxᵀ; shape (d, d).
        crossed: Noisy Σ q·x·s; shape (d,).
        noise: Standard deviations of an entry of either.
    """
    rows = float(moments[0, 0])
    values, vectors = np.linalg.eigh(moments)
    inverse = (vectors / np.maximum(values, noise[0] * math.sqrt(len(values)))) @ vectors.T
    line = inverse @ crossed
    slopes = line[1:]
    error = float(np.trace((inverse + noise[1] ** 2 * inverse @ inverse)[1:, 1:]))
    share = max(0.0, 1 - error / max(float(slopes @ slopes), 1e-300))
    mean = moments[0, 1:] / rows
    spread = _positive(moments[1:, 1:] / rows - np.outer(mean, mean))
    level = float(np.clip(crossed[0] / rows, 2 * _RAREST - 1, 1 - 2 * _RAREST))
    drawn = slopes * share
    explained = float(drawn @ spread @ drawn)
    left = max(1 - level**2 - explained, _LEAST_RESIDUAL * (1 - level**2))
    odds = 2 * drawn / left
    return np.concatenate([[_intercept(odds, mean=mean, spread=spread, level=level)], odds])


def _positive(matrix: Floats) -> Floats:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)


def _intercept(odds: Floats, *, mean: Floats, spread: Floats, level: float) -> float:
    """Return where the mean risk of Gaussian terms is (1 + level)/2, by bisection."""
    eta = float(odds @ mean) + math.sqrt(max(float(odds @ spread @ odds), 0.0)) * NODES
    low, high = -30.0 - float(eta.max()), 30.0 - float(eta.min())
    for _ in range(60):
        middle = (low + high) / 2
        risk = float(WEIGHTS @ (1 / (1 + np.exp(-np.clip(eta + middle, -30, 30)))))
        low, high = (middle, high) if risk < (1 + level) / 2 else (low, middle)
    return (low + high) / 2
