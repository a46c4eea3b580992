"""Derivatives of curves and comparisons by the cells of a table of exits.

A cell T_ic is felt twice: in its own bin i, and by those at risk in every bin up to i.  So for a
sum over bins Φ_j = Σ_{l≤j} φ_l(x_l, r_l), x_l being who leave in bin l and r_l who are at risk,

    ∂Φ_j/∂T_ic = [i ≤ j]·∂φ_i/∂x_ic + Σ_{l ≤ min(i, j)} ∂φ_l/∂r_l.

The cumulative hazard, the logarithm of survival and the scores of comparisons are such sums.  For a
cumulative incidence F_j = Σ_{l≤j} S₋h_l, whose terms hold survival, there is

    Σ_{l≤j} h_l·∂S₋/∂T_ic = [i ≤ j]·(F_j − F_i)·∂log S_i/∂T_ic + Σ_{l ≤ min(i, j)} S₋h_l·∂log S₋/∂r

besides.  The φ are differentiated by a complex step [ST98] in all bins at once: exact to rounding,
in as many evaluations as there are ways to leave, whatever the number of bins.

References:
    [ST98] Squire, Trapp. Using complex variables to estimate derivatives of real functions. SIAM
        Review 40(1), 1998. https://doi.org/10.1137/S003614459631241X
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from confide.statistics.survival.curves import Array, at_risk, delayed, hazards_of, rate_of

Term: TypeAlias = Callable[[Array, Array], Array]
"""φ, (..., bins), from who leave in a bin, (..., arms, bins, ways), and who are at risk in it,
(..., arms, bins)."""
_STEP = 1e-30
_ALL_GONE = 1e-60
"""Stands for a share of 0 where it divides; it is multiplied away again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slopes:
    """Derivatives of φ in every bin before the horizon.

    Attributes:
        own: By who leave in it, (ways, ..., bins); (arms, ways, ..., bins) where arms are coupled.
        risk: By who are at risk in it, (..., bins); (arms, ..., bins) where arms are coupled.
    """

    own: Array
    risk: Array

    def __mul__(self, factor: Array) -> "Slopes":
        """Return the derivatives of φ times a constant of each bin."""
        return Slopes(own=self.own * factor, risk=self.risk * factor)


def slopes_apart(term: Term, exits: Array) -> Slopes:
    """Return the derivatives of φ of each arm by its own cells."""
    leaving, risk = exits[..., :-1, :], at_risk(exits)[..., :-1]
    ways = exits.shape[-1]
    moves = np.eye(ways).reshape(ways, *[1] * (exits.ndim - 1), ways)
    return Slopes(
        own=term(leaving + 1j * _STEP * moves, risk).imag / _STEP,
        risk=term(leaving, risk + 1j * _STEP).imag / _STEP,
    )


def slopes_coupled(term: Term, exits: Array) -> Slopes:
    """Return the derivatives of φ, which is of all arms together."""
    leaving, risk = exits[..., :-1, :], at_risk(exits)[..., :-1]
    arms, _, ways = exits.shape[-3:]
    lead = [1] * (exits.ndim - 3)
    each = np.eye(arms * ways).reshape(arms, ways, *lead, arms, 1, ways)
    arm = np.eye(arms).reshape(arms, *lead, arms, 1)
    return Slopes(
        own=term(leaving + 1j * _STEP * each, risk[None, None]).imag / _STEP,
        risk=term(leaving[None], risk + 1j * _STEP * arm).imag / _STEP,
    )


def totals(of: Slopes, *, kept: Array) -> Array:
    """Return ∂Φ/∂T of the sum over the bins that are kept, (cells of all arms, ...).

    Args:
        of: Of arms that are coupled; those who leave later are at risk in every kept bin, and φ
            of a bin that is not kept does not depend on who are at risk.
        kept: The first bins, (..., bins).
    """
    own = of.own * kept
    past = np.cumsum(of.risk, axis=-1)
    past = np.concatenate([past, past[..., -1:]], axis=-1)[:, None]
    own = np.concatenate([own, np.zeros_like(own[..., :1])], axis=-1)
    both = np.moveaxis(own + past, -1, 1)
    found: Array = both.reshape(-1, *both.shape[3:])
    return found


def hazard_slopes(exits: Array, *, early: Array | float = 0.0) -> Array:
    """Return the derivatives of the cumulative hazard, (cells, ..., arms, bins)."""
    return _running(slopes_apart(partial(rate_of, early=early), exits))


def survival_slopes(exits: Array) -> Array:
    """Return the derivatives of survival, (cells, ..., arms, bins)."""
    share, log = _log_survival(exits)
    found: Array = _running(log) * np.cumprod(share, axis=-1)
    return found


def incidence_slopes(exits: Array, *, cause: int) -> Array:
    """Return the derivatives of the cumulative incidence of one cause, (cells, ..., arms, bins)."""

    def hazard(leaving: Array, risk: Array) -> Array:
        found: Array = hazards_of(leaving, risk)[..., cause]
        return found

    share, log = _log_survival(exits)
    after, past = np.cumprod(share, axis=-1), np.cumsum(log.risk, axis=-1)
    before, past_before = delayed(after, first=1.0), delayed(past, first=0.0)
    step = before * hazard(exits[..., :-1, :], at_risk(exits)[..., :-1])
    alone = slopes_apart(hazard, exits) * before
    found = _running(Slopes(own=alone.own, risk=alone.risk + step * past_before))
    share_of = np.cumsum(step, axis=-1)
    later = share_of[..., None, :] - share_of[..., :, None]  # F_j − F_i, i by j
    # a bin in which nobody is at risk has no finite slope, and no part in those before it
    tilted = np.moveaxis(np.triu((log.own + past)[..., None] * later), -2, 0)
    inside = found.reshape(-1, exits.shape[-1], *found.shape[1:])
    inside[:-1] += tilted
    return found


def _hazard(leaving: Array, risk: Array) -> Array:
    found: Array = hazards_of(leaving, risk).sum(axis=-1)
    return found


def _log_survival(exits: Array) -> tuple[Array, Slopes]:
    """Return the share that no event meets in each bin, and the derivatives of its logarithm."""
    share = 1 - _hazard(exits[..., :-1, :], at_risk(exits)[..., :-1])
    share = np.where(share == 0, _ALL_GONE, share)
    return share, slopes_apart(_hazard, exits) * (-1 / share)


def _running(of: Slopes) -> Array:
    """Return ∂Φ_j/∂T_ic of each arm by its own cells, (cells, ..., arms, bins)."""
    ways, bins = of.own.shape[0], of.risk.shape[-1]
    past = np.cumsum(of.risk, axis=-1)
    place = np.minimum(np.arange(bins + 1)[:, None], np.arange(bins))
    felt = np.moveaxis(past[..., place], -2, 0)
    found = np.repeat(felt[:, None], ways, axis=1)
    for i in range(bins):
        found[i, ..., i:] += of.own[..., i, None]
    return found.reshape(-1, *found.shape[2:])
