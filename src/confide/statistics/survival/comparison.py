"""Comparison of arms from their tables of exits: log-rank, hazard ratio, C-statistic.

Tables have shape (..., arms, bins + 1, causes + 1), as in ``curves``; all causes are the event.

*Log-rank:* U_a = Σ (d_a − r_a·d/r) over bins, with the hypergeometric covariance
V_ab = Σ d(r − d)/(r − 1)·(r_a/r)(1{a=b} − r_b/r) [Man66].

*Hazard ratio:* events are Poisson with a rate of their own in each bin and a common ratio θ between
two arms, for the time that patients spend in the bin: those who leave in it spend half of it.  With
the bins' rates profiled out, θ solves Σ (d₁ − d·θT₁/(θT₁ + T₀)) = 0 [Hol80].

*C-statistic:* over pairs of which one is known to have had the event first, how often that one is
in the later arm; pairs within an arm count one half [HLM96].  Who leave in a bin of w steps do so
at any of them alike: of others who have the event in the bin (1 − 1/w)/2 have it later, and of
those who are censored in it (1 + 1/w)/2 are so at the same step or later.

References:
    [Man66] Mantel. Evaluation of survival data and two new rank order statistics arising in its
        consideration. Cancer Chemotherapy Reports 50(3), 1966.
    [Hol80] Holford. The analysis of rates and of survivorship using log-linear models. Biometrics
        36(2), 1980. https://doi.org/10.2307/2529982
    [HLM96] Harrell, Lee, Mark. Multivariable prognostic models. Statistics in Medicine 15(4), 1996.
"""

import numpy as np

from confide.statistics.survival.curves import Array, at_risk

_REACH = 12.0  # log hazard ratios beyond e±12 are none


def by_bin(exits: Array) -> tuple[Array, Array]:
    """Return who leave in each bin before the horizon, and who are at risk in it."""
    return exits[..., :-1, :], at_risk(exits)[..., :-1]


def log_rank_scores(exits: Array) -> Array:
    """Return U of each arm, (..., arms): observed minus expected events under equal hazards."""
    found: Array = log_rank_terms(*by_bin(exits)).sum(axis=-1)
    return found


def log_rank_terms(leaving: Array, risk: Array) -> Array:
    """Return what each bin adds to U, (..., arms, bins).

    Args:
        leaving: Who leave in each bin, (..., arms, bins, causes + 1); so for all terms here.
        risk: Who are at risk in it, (..., arms, bins).
    """
    events, total = leaving[..., :-1].sum(axis=-1), risk.sum(axis=-2, keepdims=True)
    pooled = events.sum(axis=-2, keepdims=True) / np.where(total != 0, total, 1)
    found: Array = events - risk * pooled
    return found


def log_rank_covariance(exits: Array) -> Array:
    """Return the hypergeometric covariance of the scores, (..., arms, arms)."""
    risk, events = at_risk(exits)[..., :-1], exits[..., :-1, :-1].sum(axis=-1)
    total, d = risk.sum(axis=-2), events.sum(axis=-2)
    share = risk / np.where(total > 0, total, 1)[..., None, :]
    factor = np.where(total > 1, d * (total - d) / np.where(total > 1, total - 1, 1), 0.0)
    each = np.einsum("...aj,...bj,...j->...ab", share, share, factor)
    alone = np.einsum("...aj,...j->...a", share, factor)
    found: Array = alone[..., None] * np.eye(share.shape[-2]) - each
    return found


def quadratic_form(scores: Array, covariance: Array) -> Array:
    """Return U'V⁻¹U without its last arm, (...): χ² with arms − 1 degrees of freedom.

    NaN where the covariance cannot be inverted.
    """
    u, v = scores[..., :-1], covariance[..., :-1, :-1]
    fine = np.linalg.cond(v) < 1e12
    v = np.where(fine[..., None, None], v, np.eye(u.shape[-1]))
    solved = np.linalg.solve(v, u[..., None])[..., 0]
    return np.where(fine, (u * solved).sum(axis=-1), np.nan)


def ratio_score(exits: Array, log_ratio: Array, *, widths: Array) -> Array:
    """Return what the log hazard ratio of arm 1 to arm 0 makes zero, (...).

    Args:
        exits: Of two arms, (..., 2, bins + 1, causes + 1).
        log_ratio: Natural logarithm, (...).
        widths: Steps of each bin.
    """
    found: Array = ratio_terms(*by_bin(exits), log_ratio, widths=widths).sum(axis=-1)
    return found


def ratio_terms(leaving: Array, risk: Array, log_ratio: Array, *, widths: Array) -> Array:
    """Return what each bin adds to the score of the log hazard ratio, (..., bins)."""
    spent = widths * (risk - leaving.sum(axis=-1) / 2)  # who leave spend half of the bin
    events = leaving[..., :-1].sum(axis=-1)
    first = np.exp(log_ratio)[..., None] * spent[..., 1, :]
    total = first + spent[..., 0, :]
    share = np.where(total != 0, first / np.where(total != 0, total, 1), 0.0)
    found: Array = events[..., 1, :] - events.sum(axis=-2) * share
    return found


def log_hazard_ratio(exits: Array, *, widths: Array) -> Array:
    """Return the log hazard ratio of arm 1 to arm 0, (...); NaN where there is none.

    Example:
        Twice the rate: 20 of 100 against 10 of 100 leave by the event in one bin.

        >>> one = np.array([[[10.0, 0.0], [0.0, 90.0]], [[20.0, 0.0], [0.0, 80.0]]])
        >>> round(float(np.exp(log_hazard_ratio(one, widths=np.array([1.0])))), 3)
        2.111
    """
    shape = exits.shape[:-3]
    low, high = np.full(shape, -_REACH), np.full(shape, _REACH)
    found = (ratio_score(exits, low, widths=widths) > 0) & (
        ratio_score(exits, high, widths=widths) < 0
    )
    for _ in range(60):
        middle = (low + high) / 2
        above = ratio_score(exits, middle, widths=widths) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(found, (low + high) / 2, np.nan)


def concordance(exits: Array, *, widths: Array) -> Array:
    """Return Harrell's C of the order of the arms, (...): above ½ where later arms fail earlier.

    Args:
        exits: Of arms in their order, (..., arms, bins + 1, causes + 1).
        widths: Steps of each bin.

    Example:
        >>> late, early = [[0.0, 0.0], [5.0, 0.0], [0.0, 0.0]], [[5.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
        >>> float(concordance(np.array([late, early]), widths=np.ones(2)))
        1.0
    """
    leaving, risk = by_bin(exits)
    right, pairs = (
        pair_terms(leaving, risk, weights=weights, widths=widths).sum(axis=-1)
        for weights in pair_weights(exits.shape[-3])
    )
    found: Array = right / pairs
    return found


def pair_weights(arms: int) -> tuple[Array, Array]:
    """Return how pairs count that are in the right order, and all pairs, (arms, arms)."""
    every = np.ones((arms, arms))
    return np.tril(every, k=-1) + np.eye(arms) / 2, every


def pair_terms(leaving: Array, risk: Array, *, weights: Array, widths: Array) -> Array:
    """Return the pairs of which one has the event in each bin and the other outlives, (..., bins).

    A pair counts with the weight of (arm of the event, arm of the other).
    """
    events, censored = leaving[..., :-1].sum(axis=-1), leaving[..., -1]
    later = risk - events * (1 + 1 / widths) / 2 - censored * (1 - 1 / widths) / 2
    found: Array = np.einsum("...aj,ab,...bj->...j", events, weights, later)
    return found
