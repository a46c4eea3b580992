"""Survival curves from a table of exits: Kaplan–Meier, Nelson–Aalen, Aalen–Johansen.

A *table of exits* has shape (..., bins + 1, causes + 1): how many left in each time bin and how.
The last bin holds those followed to the horizon and beyond; the last way to leave is censoring,
which counts after the events of its bin.  Bins are whole steps of the time grid, so a bin of one
step is one time and nothing is grouped: then the curves are those of the textbooks exactly.

With d events and r at risk in a bin: S = Π(1 − d/r) [KM58], H = Σ d/r [Aal78], and for each cause
k, F_k = Σ S₋·d_k/r [AJ78].  They use sums, products and quotients only, so that they hold for noisy
tables (where d may be negative) and for complex ones (see ``uncertainty``).

References:
    [KM58] Kaplan, Meier. Nonparametric estimation from incomplete observations. JASA 53(282), 1958.
        https://doi.org/10.1080/01621459.1958.10501452
    [Aal78] Aalen. Nonparametric inference for a family of counting processes. Annals of Statistics
        6(4), 1978. https://doi.org/10.1214/aos/1176344247
    [AJ78] Aalen, Johansen. An empirical transition matrix for non-homogeneous Markov chains based
        on censored observations. Scandinavian Journal of Statistics 5(3), 1978.
        https://www.jstor.org/stable/4615704
    [RP13] Royston, Parmar. Restricted mean survival time. BMC Medical Research Methodology 13:152,
        2013. https://doi.org/10.1186/1471-2288-13-152
    [RWB88] Robertson, Wright, Dykstra. Order restricted statistical inference. 1988, ch. 1.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""Floats, or complex numbers while a derivative is taken."""


def at_risk(exits: Array) -> Array:
    """Return how many are at risk at the start of each bin, shape (..., bins + 1).

    Example:
        Five patients: two die in the first bin, one is censored there, two reach the horizon.

        >>> at_risk(np.array([[2.0, 1.0], [0.0, 2.0]]))
        array([5., 2.])
    """
    leaving = exits.sum(axis=-1)
    return np.flip(np.cumsum(np.flip(leaving, axis=-1), axis=-1), axis=-1)


def hazards(exits: Array) -> Array:
    """Return d/r of each cause in each bin before the horizon, shape (..., bins, causes).

    Where nobody is at risk it is NaN or infinite, and so is what follows.
    """
    return hazards_of(exits[..., :-1, :], at_risk(exits)[..., :-1])


def hazards_of(leaving: Array, risk: Array) -> Array:
    """Return d/r of each cause, (..., bins, causes).

    Args:
        leaving: Who leave in each bin, (..., bins, causes + 1).
        risk: Who are at risk in it, (..., bins).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = leaving[..., :-1] / risk[..., None]
    return found


def survival(exits: Array) -> Array:
    """Return the Kaplan–Meier share without any event to the end of each bin, (..., bins).

    Example:
        >>> survival(np.array([[2.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
        array([0.6, 0.3])
    """
    found: Array = np.cumprod(1 - hazards(exits).sum(axis=-1), axis=-1)
    return found


def cumulative_hazard(exits: Array, *, early: Array | float = 0.0) -> Array:
    """Return the Nelson–Aalen cumulative hazard of any event, (..., bins).

    Args:
        exits: Shape (..., bins + 1, causes + 1).
        early: λ of each bin, of those with an event too (:mod:`.grouping`).
    """
    rate = rate_of(exits[..., :-1, :], at_risk(exits)[..., :-1], early=early)
    found: Array = np.cumsum(rate, axis=-1)
    return found


def rate_of(leaving: Array, risk: Array, *, early: Array | float) -> Array:
    """Return events per patient who is there, who have the event for a part of their bin alone.

    Args:
        leaving: Who leave in each bin, (..., bins, causes + 1).
        risk: Who are at risk in it, (..., bins).
        early: λ of each bin, (bins,).
    """
    events = leaving[..., :-1].sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = events / (risk - early * events)
    return found


def hazard_reach(exits: Array, *, early: Array) -> tuple[Array, Array]:
    """Return how much lower and how much higher a cumulative hazard may be, (..., bins) each.

    Lower where all events of a bin stand at one time, before those who are censored there, as
    heaped times may; higher where they are spread over it and all who are censored went before.  A
    bin of one time leaves nothing open.

    Args:
        exits: As they were measured, none moved; shape (..., bins + 1, causes + 1).
        early: λ of each bin, (bins,), by :mod:`.grouping`.
    """
    risk, leaving = at_risk(exits)[..., :-1], exits[..., :-1, :]
    events, lost = leaving[..., :-1].sum(axis=-1), early * leaving[..., -1]

    def rate(there: Array, share: Array | float) -> Array:
        found = rate_of(leaving, there, early=share)
        return np.where((events > 0) & (found > 0) & np.isfinite(found), found, 0.0)

    least, told, most = rate(risk, 0.0), rate(risk - lost, early), rate(risk - 2 * lost, early)
    down = np.cumsum(np.maximum(told - least, 0.0), axis=-1)
    return down, np.cumsum(np.maximum(most - told, 0.0), axis=-1)


def cumulative_incidence(exits: Array) -> Array:
    """Return the Aalen–Johansen share with each cause, (..., bins, causes)."""
    before = delayed(survival(exits), first=1.0)
    found: Array = np.cumsum(before[..., None] * hazards(exits), axis=-2)
    return found


def delayed(values: Array, *, first: float) -> Array:
    """Return what stood before each bin, of the shape (..., bins) of ``values``.

    Example:
        >>> delayed(np.array([0.6, 0.3]), first=1.0)
        array([1. , 0.6])
    """
    return np.concatenate([np.full_like(values[..., :1], first), values[..., :-1]], axis=-1)


def restricted_mean(curve: Array, *, widths: Array) -> Array:
    """Return the area under a survival curve to the horizon, in steps of the grid [RP13].

    Args:
        curve: Survival to the end of each bin, (..., bins).
        widths: Steps of each bin, (bins,).

    The events of a bin of w steps are taken to be spread evenly over its w times, of which the
    first is its edge; so a bin of one step is exact, and a wide one is nearly a trapezoid.

    Example:
        >>> float(restricted_mean(np.array([0.5, 0.0]), widths=np.array([1, 1])))
        0.5
    """
    area: Array = (widths[0] - 1) / 2 + (curve * mean_weights(widths)).sum(axis=-1)
    return area


def mean_weights(widths: Array) -> Array:
    """Return how many times survival to the end of each bin counts in the mean, (bins,)."""
    after = np.append(widths[1:] - 1, 0)
    found: Array = (widths + 1 + after) / 2
    return found


def reached(curve: Array, *, share: float, edges: Array) -> Array:
    """Return the first time of the grid at which a falling curve is at most ``share``.

    Args:
        curve: Non-increasing, (..., bins).
        share: 0.5 for the median.
        edges: Of the bins, in steps of the grid, (bins + 1,).

    Returns:
        Shape (...); NaN where the curve stays above.

    Example:
        >>> float(reached(np.array([0.9, 0.5, 0.2]), share=0.5, edges=np.array([0, 10, 20, 30])))
        19.0
    """
    place, low = bin_reached(curve, share=share)
    before = np.concatenate([np.ones_like(curve[..., :1]), curve[..., :-1]], axis=-1)
    start = np.take_along_axis(before, place[..., None], axis=-1)[..., 0]
    end = np.take_along_axis(curve, place[..., None], axis=-1)[..., 0]
    width = np.diff(edges)[place]
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.ceil(width * (start - share) / (start - end) - 1e-9)
    found: Array = edges[place] + np.clip(steps, 1, width) - 1
    return np.where(low, found, np.nan)


def bin_reached(curve: Array, *, share: float) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the bin in which a falling curve comes to ``share``, (...), and whether it does.

    Where in the bin depends on how events lie there, which nobody knows: they may be heaped.

    Example:
        >>> place, is_reached = bin_reached(np.array([[0.9, 0.5, 0.2], [0.9, 0.8, 0.7]]), share=0.5)
        >>> place.tolist(), is_reached.tolist()
        ([1, 0], [True, False])
    """
    low = curve <= share
    return np.argmax(low, axis=-1), np.asarray(low.any(axis=-1))


def falling(values: Array) -> Array:
    """Return the nearest non-increasing sequence along the last axis [RWB88].

    Args:
        values: Shape (..., n); NaN only at the end.

    Example:
        >>> falling(np.array([1.0, 0.7, 0.9, 0.2]))
        array([1. , 0.8, 0.8, 0.2])
    """
    flat = values.reshape(-1, values.shape[-1])
    return np.array([_pooled(row) for row in flat]).reshape(values.shape)


def falling_below(values: Array) -> Array:
    """Return the highest non-increasing sequence that is nowhere above, along the last axis.

    Args:
        values: Shape (..., n); after a NaN there are others only.

    Example:
        >>> falling_below(np.array([1.0, 0.7, 0.9, 0.2]))
        array([1. , 0.7, 0.7, 0.2])
    """
    return np.minimum.accumulate(values, axis=-1)


def falling_above(values: Array) -> Array:
    """Return the lowest non-increasing sequence that is nowhere below, along the last axis.

    Args:
        values: Shape (..., n); NaN only at the end, where it stays.

    Example:
        >>> falling_above(np.array([1.0, 0.7, 0.9, 0.2]))
        array([1. , 0.9, 0.9, 0.2])
    """
    return np.flip(np.fmax.accumulate(np.flip(values, axis=-1), axis=-1), axis=-1)


def _pooled(row: Array) -> Array:
    """Pool adjacent violators of one sequence."""
    if not np.any(row[1:] > row[:-1]):
        return row
    blocks: list[tuple[float, int]] = []
    for value in row:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] < mean:
            other, many = blocks.pop()
            mean, size = (mean * size + other * many) / (size + many), size + many
        blocks.append((mean, size))
    return np.concatenate([np.full(size, mean) for mean, size in blocks])
