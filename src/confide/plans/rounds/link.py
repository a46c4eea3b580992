"""Links of generalised linear models: mean and variance of an outcome at a linear predictor η.

Rows look means and variances up in tables of whole numbers over a grid of η, so that a row's
residual is the same wherever it is computed; η is cut to ±16, where a probability is 10⁻⁷.  The
logarithm of person-time is a whole number of steps of the same grid, from a table of mantissas.

References:
    [MN89] McCullagh, Nelder. Generalized linear models, 2nd ed. Chapman and Hall 1989.
        https://doi.org/10.1201/9780203753736
"""

import functools
import math
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.tables.aggregates.descent_terms import RESIDUAL, ROOT, Family

STEPS = 2**10
"""Steps of the grid per unit of η."""
FARTHEST = 2**4
SIZE = 2 * FARTHEST * STEPS
POWER = 2**30
"""One, in powers that shares of classes are made of."""


def mean(family: Family, eta: Floats) -> Floats:
    """Return μ(η): in [0, 1], or a cumulative hazard, which follow-up stops at 1.

    Of a class, η is its log odds against the rest.

    Example:
        >>> float(mean(Family.LOGISTIC, np.zeros(1))[0])
        0.5
    """
    match family:
        case Family.LOGISTIC | Family.MULTINOMIAL:
            cut = np.clip(eta, -FARTHEST, FARTHEST)
            return np.asarray(1 / (1 + np.exp(-cut)))
        case Family.POISSON:
            return np.asarray(np.exp(np.clip(eta, -FARTHEST, 0)))
        case Family.HAZARD:
            return np.asarray(np.exp(np.clip(eta, -FARTHEST, FARTHEST)))
        case _:
            assert_never(family)


def variance(family: Family, eta: Floats) -> Floats:
    """Return v(η), which is also the slope of the mean; in [0, V]."""
    match family:
        case Family.LOGISTIC | Family.MULTINOMIAL:
            share = mean(family, eta)
            return np.asarray(share * (1 - share))
        case Family.POISSON:
            return np.asarray(np.where(eta < 0, mean(family, eta), 0.0))
        case Family.HAZARD:
            return np.minimum(mean(family, eta), 1.0)
        case _:
            assert_never(family)


@functools.cache
def mean_table(family: Family) -> NDArray[np.int64]:
    """Return μ in 1/RESIDUAL at the middle of each step of the grid; shape (SIZE,)."""
    return np.rint(mean(family, _middles()) * RESIDUAL).astype(np.int64)


@functools.cache
def root_table(family: Family) -> NDArray[np.int64]:
    """Return √v in 1/ROOT, rounded down, at the middle of each step of the grid."""
    return np.asarray(np.floor(np.sqrt(variance(family, _middles())) * ROOT), dtype=np.int64)


@functools.cache
def power_table() -> NDArray[np.int64]:
    """Return exp(η) in 1/POWER at each step of the grid from −FARTHEST to 0."""
    powers = np.exp(np.arange(-FARTHEST * STEPS, 1) / STEPS)
    return np.asarray(np.rint(powers * POWER), dtype=np.int64)


def _middles() -> Floats:
    return (np.arange(SIZE) + 0.5) / STEPS - FARTHEST


_MANTISSAS, _FINE = 2**12, 2**8


@functools.cache
def _logarithms() -> NDArray[np.int64]:
    middles = 0.5 + (np.arange(_MANTISSAS) + 0.5) / (2 * _MANTISSAS)
    return np.asarray(np.rint(np.log(middles) * STEPS * _FINE), dtype=np.int64)


def log_steps(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the natural logarithm of whole numbers from 1 to 2⁵², in steps of the grid.

    Example:
        >>> (log_steps(np.array([1, 1000])) / STEPS).round(2).tolist()
        [0.0, 6.91]
    """
    mantissa, exponent = np.frexp(values.astype(np.float64))  # exact
    place = np.asarray((mantissa - 0.5) * (2 * _MANTISSAS), dtype=np.int64)
    two = round(math.log(2) * STEPS * _FINE)
    fine = _logarithms()[place] + exponent.astype(np.int64) * two
    return np.asarray((fine + _FINE // 2) // _FINE, dtype=np.int64)
