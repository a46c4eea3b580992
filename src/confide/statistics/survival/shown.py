"""Intervals of what is shown only where enough are at risk: conditional on being shown.

A curve is shown as far as the noisy number at risk r is at least a public threshold t.  Near its
end that happens when the noise of r is high, and the same noise is in the curve: of the points that
are shown in one run of five, 83 % of plain intervals would hold the truth.  So intervals are those
of the law of the estimate *given that r ≥ t* [LSST16].

With x the estimate, s its error and c its covariance with r, r = (c/s²)·x + w, where w is
independent of x.  Given w, being shown means x ≥ a, with (x − a)/s = d = (r − t)·s/c for c > 0.  So
u = (x − truth)/s is normal and cut at u − d, and the ends of the interval are where
Q(u)/Q(u − d) is α/2 and 1 − α/2, with Q the normal tail.  Far from the threshold these are the
usual ±1.96; at it, the interval grows without bound on the side that the noise hides.  For c < 0
the sides change places.

*Privacy:* post-processing.
*Utility:* the estimate stays inside its interval, which so covers a little more.  The law is taken
as normal.

References:
    [LSST16] Lee, Sun, Sun, Taylor. Exact post-selection inference, with application to the lasso.
        Annals of Statistics 44(3), 2016. https://doi.org/10.1214/15-AOS1371
"""

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from confide.statistics.survival.curves import Array
from confide.statistics.survival.table import ExitTable
from confide.statistics.survival.uncertainty import Errors, Turned, noise_slopes

_NEAREST, _FARTHEST, _POINTS = 0.12, 8.0, 200


def given_shown(table: ExitTable, slopes: Array, of: Errors, *, level: float) -> Turned:
    """Return the factors of the quantile of an estimate of each bin, each (..., arms, bins).

    Args:
        table: What is published.
        slopes: Derivatives of the estimate, (cells, ..., arms, bins).
        of: Its errors.
        level: Coverage.
    """
    margin = table.margin()
    if not (margin < _FARTHEST).any():
        return 1.0, 1.0
    shared, spread = _with_risk(table, slopes)
    correlation = shared / np.sqrt(of.total * spread)
    distance = margin * np.sqrt(table.risk_noise() / spread) / np.abs(correlation)
    distance = np.where(correlation == 0, np.inf, np.nan_to_num(distance, nan=np.inf))
    grid, far, near = _factors(level)
    at = np.clip(distance, _NEAREST, _FARTHEST)
    away, towards = np.interp(at, grid, far), np.interp(at, grid, near)
    rising = correlation > 0
    return np.where(rising, away, towards), np.where(rising, towards, away)


def _with_risk(table: ExitTable, slopes: Array) -> tuple[Array, Array]:
    """Return the covariance of each bin's estimate with its number at risk, and the variance."""
    exits = table.exits
    bins, ways = exits.shape[-2] - 1, exits.shape[-1]
    lead = exits.shape[:-2]
    cells = np.moveaxis(exits.reshape(*lead, -1), -1, 0)[..., None]
    later = np.repeat(np.tri(bins + 1)[:, None, :bins], ways, axis=1).reshape(-1, bins)
    counted = later.reshape(later.shape[0], *[1] * len(lead), bins)
    sampling = (cells * slopes * counted).sum(axis=0)
    felt, risk = (
        noise_slopes(s, mixing=table.mixing)
        for s in (slopes, np.broadcast_to(counted, slopes.shape))
    )
    shared = sampling + table.noise.variance * (felt * risk).sum(axis=0)
    number = table.at_risk
    total, now = np.maximum(number[..., :1], 1.0), np.maximum(number[..., :-1], 0.0)
    return shared, np.maximum(now * (1 - now / total), 0.0) + table.risk_noise()


@lru_cache(maxsize=8)
def _factors(level: float) -> tuple[Array, Array, Array]:
    """Return d, and over the plain quantile those away from the threshold's side and towards it."""
    plain = NormalDist().inv_cdf((1 + level) / 2)
    grid = np.geomspace(_NEAREST, _FARTHEST, _POINTS)
    far = [_solved((1 - level) / 2, d) / plain for d in grid]
    near = [max(-_solved((1 + level) / 2, d), 0.0) / plain for d in grid]
    return grid, np.array(far), np.array(near)


def _solved(share: float, d: float) -> float:
    """Return u with Q(u)/Q(u − d) = share; the left side falls as u grows."""
    low, high = -40.0, 40.0
    for _ in range(80):
        u = (low + high) / 2
        if _tail(u) > share * _tail(u - d):
            low = u
        else:
            high = u
    return (low + high) / 2


def _tail(u: float) -> float:
    return math.erfc(u / math.sqrt(2)) / 2
