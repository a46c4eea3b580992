"""What a table of exits says: a curve with its interval for each arm, and arms compared.

All functions take tables with any leading axes, so that a simulation of thousands of tables is one
call.  Where the noise leaves too few at risk a value is NaN.

*Utility:* the log-rank test adds the covariance of the noise of its scores to the hypergeometric
one; without it, it would reject far too often (the noise is not in the textbook's variance).
Differences of survival and of means combine the two intervals [New98]; hazard ratios are normal on
the log scale.

References:
    [New98] Newcombe. Interval estimation for the difference between independent proportions.
        Statistics in Medicine 17(8), 1998.
    [BC82] Brookmeyer, Crowley. A confidence interval for the median survival time. Biometrics
        38(1), 1982. https://doi.org/10.2307/2530286
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from confide.statistics.survival.comparison import (
    by_bin,
    log_hazard_ratio,
    log_rank_covariance,
    log_rank_scores,
    log_rank_terms,
    pair_terms,
    pair_weights,
    quadratic_form,
    ratio_score,
    ratio_terms,
)
from confide.statistics.survival.curves import (
    Array,
    at_risk,
    bin_reached,
    cumulative_hazard,
    cumulative_incidence,
    delayed,
    falling,
    falling_above,
    falling_below,
    hazard_reach,
    mean_weights,
    reached,
    restricted_mean,
    survival,
)
from confide.statistics.survival.derivatives import (
    hazard_slopes,
    incidence_slopes,
    slopes_coupled,
    survival_slopes,
    totals,
)
from confide.statistics.survival.heaped import further, mean_reach, share_reach
from confide.statistics.survival.shown import given_shown
from confide.statistics.survival.table import ExitTable
from confide.statistics.survival.uncertainty import (
    Errors,
    hazard_interval,
    lost_interval,
    noise_slopes,
    propagate,
    share_interval,
)

LEAST_EVENTS = 5.0
"""Standard deviations of its noise below which an arm's number of events has no hazard ratio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Banded:
    """Values with intervals, each of one shape; NaN where there is none.

    Attributes:
        value: The estimate.
        lower: Lower end.
        upper: Upper end.
        error: Standard error of sampling and noise.
    """

    value: Array
    lower: Array
    upper: Array
    error: Array


def _shown(
    value: Array, ends: tuple[Array, Array], of: Errors, *, kept: Array, sign: int
) -> Banded:
    """Return a monotone band: falling with sign 1, rising with −1; time is the last axis.

    Where an earlier time allows more events, a later one does.  The other end is that of its own
    time: the last one, of which next to nothing is known, would open all before it.  Were ends
    averaged, one that noise takes above 0 would lift those beside it.
    """
    value, lower, upper = (np.where(kept, each, np.nan) for each in (value, *ends))
    value = sign * falling(sign * value)
    lower = falling_below(lower) if sign > 0 else lower
    upper = upper if sign > 0 else -falling_below(-upper)
    return Banded(
        value=value,
        lower=np.minimum(lower, value),
        upper=np.maximum(upper, value),
        error=np.where(kept, np.sqrt(of.total), np.nan),
    )


def _errors(table: ExitTable, slopes: Array, *, axes: int = 2) -> Errors:
    return propagate(slopes, table.exits, axes=axes, noise=table.noise, mixing=table.mixing)


_Of: TypeAlias = Callable[[Array], Array]


def _share_band(table: ExitTable, curve: _Of, slopes_of: _Of, *, level: float, sign: int) -> Banded:
    """Return a share; its interval allows for what heaped times inside bins would make of it."""
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = table.by_cells(slopes_of(table.grouped))
        share, of = curve(table.grouped), _errors(table, slopes)
        lower, upper = share_interval(
            share,
            of,
            least=table.at_risk[..., :-1],
            most=table.at_risk[..., :1],
            before=delayed(survival(table.grouped), first=1.0),
            level=level,
            turned=given_shown(table, slopes, of, level=level),
        )
        error, reach = np.sqrt(of.total), share_reach(table, curve)
        down, up = (further(each, error=error, level=level) for each in reach)
        ends = np.maximum(lower - down, 0.0), np.minimum(upper + up, 1.0)
        return _shown(np.clip(share, 0.0, 1.0), ends, of, kept=table.usable(), sign=sign)


def survival_band(table: ExitTable, *, level: float) -> Banded:
    """Return the share of each arm without any event to the end of each bin, (..., arms, bins)."""
    return _share_band(table, survival, survival_slopes, level=level, sign=1)


def hazard_band(table: ExitTable, *, level: float) -> Banded:
    """Return the cumulative hazard of any event, (..., arms, bins).

    The interval reaches to what heaped times inside bins would make of it.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        curve = cumulative_hazard(table.grouped, early=table.early)
        slopes = table.by_cells(hazard_slopes(table.grouped, early=table.early))
        of = _errors(table, slopes)
        risk = table.at_risk
        turned = given_shown(table, slopes, of, level=level)
        ends = hazard_interval(
            curve, of, least=risk[..., :-1], most=risk[..., :1], level=level, turned=turned
        )
        down, up = hazard_reach(table.exits, early=table.early)
        ends = np.maximum(ends[0] - down, 0.0), ends[1] + up
        return _shown(np.maximum(curve, 0.0), ends, of, kept=table.usable(), sign=-1)


def incidence_band(table: ExitTable, *, cause: int, level: float) -> Banded:
    """Return the share with one cause, others competing, (..., arms, bins)."""

    def curve(exits: Array) -> Array:
        found: Array = cumulative_incidence(exits)[..., cause]
        return found

    slopes_of = partial(incidence_slopes, cause=cause)
    return _share_band(table, curve, slopes_of, level=level, sign=-1)


def quantile_time(band: Banded, *, share: float, edges: Array) -> Banded:
    """Return when a survival band falls to ``share`` [BC82], (..., arms), in steps of the grid.

    The ends are those of bins, outwards, since events may be heaped within one.  NaN where it does
    not; an upper end that is not reached is cut at the horizon.
    """
    value = reached(np.nan_to_num(band.value, nan=1.0), share=share, edges=edges)
    first, _ = bin_reached(np.nan_to_num(band.lower, nan=1.0), share=share)
    last, ends = bin_reached(np.nan_to_num(falling_above(band.upper), nan=1.0), share=share)
    lower = np.where(np.isnan(value), np.nan, edges[first])
    upper = np.where(np.isnan(value), np.nan, np.where(ends, edges[last + 1] - 1, edges[-1]))
    return Banded(value=value, lower=lower, upper=upper, error=np.full(value.shape, np.nan))


def mean_band(table: ExitTable, *, level: float) -> Banded:
    """Return the mean time without event up to the horizon of each arm, (..., arms), in steps.

    The interval reaches to where all events of a bin stand at its first time, or at its last.
    """
    of, reach = _even_mean_band(table, level=level), mean_reach(table)
    start, end = float(table.edges[0]), float(table.edges[-1])
    lower, upper = np.maximum(of.lower - reach, start), np.minimum(of.upper + reach, end)
    return replace(of, lower=lower, upper=upper)


def _even_mean_band(table: ExitTable, *, level: float) -> Banded:
    """Return the same where events are spread evenly over each bin."""
    found, of = _means(table)
    risk, (start, end) = table.at_risk, (float(table.edges[0]), float(table.edges[-1]))
    with np.errstate(invalid="ignore", over="ignore"):
        ends = lost_interval(
            end - found,
            of,
            horizon=end - start,
            least=risk[..., -1],
            most=risk[..., 0],
            event=_event_loss(table),
            level=level,
        )
        value = np.clip(found, start, end)
        return Banded(
            value=value,
            lower=np.minimum(end - ends[1], value),
            upper=np.maximum(end - ends[0], value),
            error=np.where(np.isnan(found), np.nan, np.sqrt(of.total)),
        )


def _event_loss(table: ExitTable) -> Array:
    """Return the most mean time that one event more may lose before the horizon, (..., arms)."""
    before = np.clip(delayed(survival(table.grouped), first=1.0), 0.0, 1.0)
    left = table.edges[-1] - table.edges[:-1]
    found: Array = (left * before / np.maximum(table.at_risk[..., :-1], 1.0)).max(axis=-1)
    return found


def _means(table: ExitTable) -> tuple[Array, Errors]:
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = table.by_cells(survival_slopes(table.grouped))
        of = _errors(table, slopes @ mean_weights(table.widths))
        whole = np.where(table.usable().all(axis=-1), 0.0, np.nan)
        found = restricted_mean(survival(table.grouped), widths=table.widths)
        return float(table.edges[0]) + found + whole, of


def mean_difference(table: ExitTable, *, level: float) -> Banded:
    """Return the mean of each later arm minus that of the first, (..., arms − 1) [New98].

    Where times are heaped, they are in both arms: what that may move is the difference.
    """
    of, reach = _even_mean_band(table, level=level), mean_reach(table)
    value, lower, upper = of.value, of.lower, of.upper
    found = value[..., 1:] - value[..., :1]
    down = np.hypot(value[..., 1:] - lower[..., 1:], upper[..., :1] - value[..., :1])
    up = np.hypot(upper[..., 1:] - value[..., 1:], value[..., :1] - lower[..., :1])
    heaped = np.abs(reach[..., 1:] - reach[..., :1])
    return Banded(
        value=found,
        lower=found - down - heaped,
        upper=found + up + heaped,
        error=np.hypot(of.error[..., 1:], of.error[..., :1]),
    )


def _normal(value: Array, of: Errors, *, level: float) -> Banded:
    error = np.sqrt(of.total)
    half = of.quantile(level=level) * error
    return Banded(value=value, lower=value - half, upper=value + half, error=error)


def survival_difference(band: Banded) -> Banded:
    """Return survival to the horizon of each later arm minus the first, (..., arms − 1) [New98]."""
    end = _part(band, -1)
    value, lower, upper, error = end.value, end.lower, end.upper, end.error
    found = value[..., 1:] - value[..., :1]
    down = np.hypot(value[..., 1:] - lower[..., 1:], upper[..., :1] - value[..., :1])
    up = np.hypot(upper[..., 1:] - value[..., 1:], value[..., :1] - lower[..., :1])
    return Banded(
        value=found,
        lower=np.maximum(found - down, -1.0),
        upper=np.minimum(found + up, 1.0),
        error=np.hypot(error[..., 1:], error[..., :1]),
    )


def counted(table: ExitTable, *, level: float) -> tuple[Banded, Banded, Banded]:
    """Return noisy counts: at risk at each edge, and until then events of each cause and censored.

    Shapes (..., arms, bins + 1), (..., arms, bins, causes) and (..., arms, bins); the intervals are
    for the patients at hand, so for the noise alone.
    """
    bins, ways = table.exits.shape[-2] - 1, table.exits.shape[-1]
    there = np.repeat(np.tri(bins + 1)[:, None, :], ways, axis=1)  # bin by edge: leaves after it
    before = (1 - np.tri(bins + 1, bins, k=-1))[:, None, :, None]
    gone = before * np.eye(ways)[:, None, :]
    value = np.cumsum(table.exits[..., :-1, :], axis=-2)
    risk = _counts(table, at_risk(table.exits), there, level=level, sign=1, axis=-1)
    left = _counts(table, value, gone, level=level, sign=-1, axis=-2)
    return risk, _part(left, slice(None, -1)), _part(left, -1)


def _part(of: Banded, place: slice | int) -> Banded:
    """Return a part along the last axis."""
    value, lower, upper, error = (
        each[..., place] for each in (of.value, of.lower, of.upper, of.error)
    )
    return Banded(value=value, lower=lower, upper=upper, error=error)


def _counts(
    table: ExitTable, value: Array, of: Array, *, level: float, sign: int, axis: int
) -> Banded:
    """Return monotone counts ≥ 0, sums of the cells ``of``, (bins + 1, causes + 1, *sums).

    Half a step of the lattice is added to their intervals.  Of one that noise took below 0 the
    interval reaches from 0 by half its width: it is near 0, and not known to be 0.
    """
    slopes = of.reshape(-1, *of.shape[2:])
    one = np.zeros(table.exits.shape[-2:])  # the patients at hand are no sample
    noise = propagate(slopes, one, axes=2, noise=table.noise, mixing=table.mixing)
    half = noise.quantile(level=level) * np.sqrt(noise.noise) + 0.5 * (noise.noise > 0)
    shown = np.moveaxis(sign * falling(sign * np.moveaxis(value, axis, -1)), -1, axis)
    shown = np.maximum(shown, 0.0)
    return Banded(
        value=shown,
        lower=np.minimum(np.maximum(value - half, 0.0), shown),
        upper=np.maximum(np.maximum(value, 0.0) + half, shown),
        error=np.broadcast_to(np.sqrt(noise.noise), value.shape),
    )


def hazard_ratio(table: ExitTable, *, arm: int, level: float) -> Banded:
    """Return the hazard ratio of ``arm`` to the first arm, (...)."""
    both = ExitTable(
        exits=table.exits[..., [0, arm], :, :],
        edges=table.edges,
        noise=table.noise,
        mixing=table.mixing,
    )
    kept = np.all(both.usable(), axis=-2)
    widths = table.widths.astype(float)
    found = log_hazard_ratio(both.until(kept), widths=widths)
    found = np.where(_enough_events(both, kept), found, np.nan)
    exits = both.until(kept)

    def terms(leaving: Array, risk: Array) -> Array:
        return ratio_terms(leaving, risk, found, widths=widths)

    with np.errstate(invalid="ignore"):
        step = ratio_score(exits, found + 1e-30j, widths=widths).imag / 1e-30
        score = totals(slopes_coupled(terms, exits), kept=kept)
        of = _errors(both, -score / step, axes=3)
        log = _normal(found, of, level=level)
        return Banded(
            value=np.exp(found),
            lower=np.exp(log.lower),
            upper=np.exp(log.upper),
            error=np.exp(found) * log.error,
        )


def _enough_events(table: ExitTable, kept: Array) -> Array:
    """Return whether each arm has enough events for their logarithm to be near linear, (...)."""
    events = (table.exits[..., :-1, :-1] * kept[..., None, :, None]).sum(axis=(-2, -1))
    cells = np.ones((*table.exits.shape[-2:], 1))
    cells[-1], cells[:, -1] = 0.0, 0.0
    least = LEAST_EVENTS * table.count_deviation(of=cells)[0]
    found: Array = (events >= max(float(least), 1.0)).all(axis=-1)
    return found


def log_rank(table: ExitTable) -> Array:
    """Return the log-rank χ² with the noise in its covariance, (...)."""
    kept = table.usable_together()
    exits = table.group(table.until(kept))
    scores = totals(slopes_coupled(log_rank_terms, exits), kept=kept[..., None, :])
    slopes = noise_slopes(table.by_cells(scores), mixing=table.mixing)
    noise = table.noise.variance * np.einsum("c...a,c...b->...ab", slopes, slopes)
    return quadratic_form(log_rank_scores(exits), log_rank_covariance(exits) + noise)


def concordance_band(table: ExitTable, *, level: float) -> Banded:
    """Return Harrell's C of the order of the arms, (...)."""
    kept = np.all(table.usable(), axis=-2)
    exits = table.until(kept)

    widths, ways = table.widths.astype(float), pair_weights(exits.shape[-3])
    terms = [partial(pair_terms, weights=weights, widths=widths) for weights in ways]
    with np.errstate(invalid="ignore", divide="ignore"):
        right, pairs = (term(*by_bin(exits)).sum(axis=-1) for term in terms)
        more_right, more_pairs = (totals(slopes_coupled(t, exits), kept=kept) for t in terms)
        value = right / pairs
        slopes = (more_right - value * more_pairs) / pairs
        found = _normal(
            np.where(_enough_events(table, kept), value, np.nan),
            _errors(table, slopes, axes=3),
            level=level,
        )
        return Banded(
            value=np.clip(found.value, 0.0, 1.0),
            lower=np.clip(found.lower, 0.0, 1.0),
            upper=np.clip(found.upper, 0.0, 1.0),
            error=found.error,
        )
