"""What is known of a model in rounds before its first gradient: marginal rates, and a curvature.

A family starts at its marginal rate, all slopes 0.  Its curvature is guessed as that of Gaussian
terms: along the slopes a one-dimensional integral, across them a multiple of I.  For counts and
hazards it is scaled to the number of events, to which the fitted means add up at the solution.

References:
    [JS61] James, Stein. Estimation with quadratic loss. Berkeley Symposium 1961.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.classes import basis, by_class, gaussian_shares, joined
from confide.plans.rounds.link import mean, variance
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import Family
from confide.tables.relation import domain
from confide.tables.schema import Dataset

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
FEWEST = 3.0  # totals are taken to be at least this many standard deviations of their noise
_MOST = 0.9  # a marginal mean is taken to be at most this, as follow-up ends at 1
_RARE = 0.1  # a mean risk below it, or of those without, is too far from 1/2 for Newton's steps
_HALVINGS = 40
_LEAST = 0.1  # an interval has at least this share of the events it would have at an even rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a family starts.

    Attributes:
        intercepts: One for each interval, or for each class but one; shape (K,).
        curvature: Σ v·zzᵀ over all rows as a function of θ, if terms were Gaussian; shape (pairs,
            d, d), of which there is one unless there are classes.
        joined: What makes a matrix of the coefficients from such matrices of the terms.
        powers: Whether means are powers of η; then that curvature is of a number of events,
            whatever the intercepts.
    """

    intercepts: Floats
    curvature: Callable[[Floats], Floats]
    joined: Callable[[Floats], Floats]
    powers: bool = False


def one_outcome(aggregate: DescentAggregate, *, dataset: Dataset) -> float:
    """Return how many events one unit of the outcome is.

    So many times larger than their variance is the slope of means that are counted in such units.
    """
    match aggregate.family:
        case Family.POISSON:
            return float(domain(aggregate.outcome, dataset=dataset).upper)
        case Family.LOGISTIC | Family.HAZARD | Family.MULTINOMIAL:
            return 1.0
        case _:
            assert_never(aggregate.family)


def _by_interval(whole: Floats, *, shares: Floats) -> Floats:
    """Return a matrix of the coefficients from that of the terms.

    Who is at risk is alike in all intervals, but for their number: the row of the intercept is
    divided by their shares of the events.

    Args:
        whole: Of terms, the intercept first; shape (d, d).
        shares: Share of the events in each interval; shape (K,).
    """
    first = len(shares)
    found = np.zeros((first + len(whole) - 1,) * 2)
    found[:first, :first] = np.diag(shares * whole[0, 0])
    found[:first, first:] = np.outer(shares, whole[0, 1:])
    found[first:, :first] = found[:first, first:].T
    found[first:, first:] = whole[1:, 1:]
    return found


def started(aggregate: DescentAggregate, totals: Floats, *, rows: float, noise: float) -> Start:
    """Return where to start.

    Args:
        aggregate: The model.
        totals: Noisy; shape (aggregate.totals,).
        rows: Noisy number of rows.
        noise: Standard deviation of the noise of a total.
    """
    match aggregate.family:
        case Family.LOGISTIC:
            return Start(
                intercepts=np.zeros(1),
                curvature=lambda theta: rows * gaussian_curvature(aggregate.family, theta)[None],
                joined=lambda stack: np.asarray(stack[0]),
            )
        case Family.MULTINOMIAL:
            return _of_classes(totals, rows=rows, least=FEWEST * noise)
        case Family.POISSON:
            least = FEWEST * noise
            events, spent = (max(float(total), least) for total in totals)
            rate, each, masses = np.array([events / spent]), events / rows, np.array([events])
        case Family.HAZARD:
            masses, spent_each = events_by_interval(
                totals, edges=aggregate.edges, rows=rows, noise=noise
            )
            rate, each = masses / spent_each, float(masses.sum()) / rows
        case _:
            assert_never(aggregate.family)

    def curvature(theta: Floats) -> Floats:
        return _of_events(theta[len(masses) :], events=float(masses.sum()), each=each)[None]

    shares = masses / masses.sum()
    return Start(
        intercepts=np.log(rate),
        curvature=curvature,
        joined=lambda stack: _by_interval(stack[0], shares=shares),
        powers=True,
    )


def _of_classes(totals: Floats, *, rows: float, least: float) -> Start:
    """Return the start at the logarithms of the noisy numbers of patients by class."""
    classes = len(totals)

    def curvature(theta: Floats) -> Floats:
        return rows * gaussian_shares(by_class(theta, classes=classes)).curvature()

    return Start(
        intercepts=basis(classes).T @ np.log(np.maximum(totals, least)),
        curvature=curvature,
        joined=lambda stack: joined(stack, classes=classes),
    )


def events_by_interval(
    totals: Floats, *, edges: tuple[int, ...], rows: float, noise: float
) -> tuple[Floats, Floats]:
    """Return events, and time spent in units of the whole follow-up, of each interval.

    Those who leave in an interval spend half of it.  Numbers of events are drawn to an even rate by
    the part of their distance that is noise [JS61].

    Args:
        totals: Noisy exits by interval and outcome, then those who reached the end.
        edges: Of the intervals, from 0.
        rows: Noisy number of rows.
        noise: Standard deviation of the noise of a total.
    """
    exits = totals[:-1].reshape(-1, 2)
    widths = np.diff(np.array(edges)) / edges[-1]
    left = exits.sum(axis=1)
    risk = rows - np.concatenate([[0.0], np.cumsum(left)[:-1]])
    spent = widths * np.maximum(risk - left / 2, FEWEST * noise)
    events = exits[:, 1]
    whole = max(float(events.sum()), FEWEST * noise * math.sqrt(len(events)))
    even = whole * spent / spent.sum()
    apart = events - even
    share = max(0.0, 1 - len(events) * noise**2 / max(float(apart @ apart), 1e-300))
    return np.maximum(even + share * apart, _LEAST * even), spent


def _of_events(slopes: Floats, *, events: float, each: float) -> Floats:
    """Return Σ v·zzᵀ of Gaussian terms for a number of events, ``each`` of a row."""
    length = float(np.linalg.norm(slopes))
    along = slopes / length if length > 1e-12 else np.zeros_like(slopes)
    middle = math.log(min(each, _MOST)) - length**2 / 2
    v = np.minimum(np.exp(middle + length * NODES), 1.0) * WEIGHTS
    one, two = float(v @ NODES / v.sum()), float(v @ NODES**2 / v.sum())
    curve = np.eye(len(slopes) + 1)
    curve[0, 1:] = curve[1:, 0] = one * along
    curve[1:, 1:] += (two - 1) * np.outer(along, along)
    return np.asarray(events * curve)


def gaussian_curvature(family: Family, theta: Floats) -> Floats:
    """Return E[v(θᵀz)·zzᵀ] for z = (1, w) with standard normal w; shape (d, d).

    Along θ's slopes it is a one-dimensional integral, across them a multiple of I.

    Example:
        >>> gaussian_curvature(Family.LOGISTIC, np.zeros(2)).round(3).tolist()
        [[0.25, 0.0], [0.0, 0.25]]
    """
    slopes = theta[1:]
    length = float(np.linalg.norm(slopes))
    along = slopes / length if length > 1e-12 else np.zeros_like(slopes)
    v = variance(family, theta[0] + length * NODES) * WEIGHTS
    zero, one, two = float(v.sum()), float(v @ NODES), float(v @ NODES**2)
    curve = zero * np.eye(len(theta))
    curve[0, 1:] = curve[1:, 0] = one * along
    curve[1:, 1:] += (two - zero) * np.outer(along, along)
    return np.asarray(curve + 1e-9 * np.eye(len(theta)))


def rare_start(
    theta: Floats, gradient: Floats, *, rows: float, least: float
) -> tuple[Floats, Floats]:
    """Return where a logistic step should begin, and the gradient there, if terms were Gaussian.

    Newton's step towards a rare outcome is short: from 1/2 it takes the log odds to −2, and from
    there by −1 at a time, whatever they are.  The intercept of the gradient says how many have the
    outcome, so the step begins at the intercept at which the mean risk is their share.  Where that
    is not rare, nor almost all, nothing changes.

    Args:
        theta: Where the gradient was taken; shape (d,).
        gradient: Noisy; shape (d,).
        rows: Noisy sum of the weights.
        least: Fewest with the outcome, or without, that are told from none.

    Example:
        >>> at, _ = rare_start(np.zeros(2), np.array([-490.0, 0.0]), rows=1000, least=3)
        >>> at.round(2).tolist()
        [-4.6, 0.0]
    """
    gradient_here = _mean_gradient(theta)
    share = float(gradient_here[0]) + float(gradient[0]) / rows
    fewest = min(least / rows, _RARE)
    share = min(max(share, fewest), 1 - fewest)
    if _RARE <= share <= 1 - _RARE:
        return theta, gradient
    length = float(np.linalg.norm(theta[1:]))
    low, high = -16.0 - 4 * length, 16.0 + 4 * length
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        risk = float(WEIGHTS @ mean(Family.LOGISTIC, middle + length * NODES))
        low, high = (middle, high) if risk < share else (low, middle)
    begun = np.concatenate([[(low + high) / 2], theta[1:]])
    return begun, gradient - rows * (_mean_gradient(begun) - gradient_here)


def _mean_gradient(theta: Floats) -> Floats:
    """Return E[μ(θᵀz)·z] for z = (1, w) with standard normal w; shape (d,)."""
    length = float(np.linalg.norm(theta[1:]))
    risk = mean(Family.LOGISTIC, theta[0] + length * NODES) * WEIGHTS
    along = theta[1:] / length if length > 1e-12 else np.zeros(len(theta) - 1)
    return np.concatenate([[float(risk.sum())], float(risk @ NODES) * along])
