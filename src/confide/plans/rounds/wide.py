"""What a model of many terms or few events asks next, and has learnt: of noisy answers alone.

For x = n₀·μ/d below 60, with a public n₀ of rows, d terms and μ = √(2ρ), whitening drowns in its
own noise.  This fit centres terms, scales each by a small power of its noisy variance, and descends
with momentum from the marginal log odds; nothing is tuned.

*Steps.*  Means give a centre m, and p in [.005, .995]; squares about m give variances v_j.  With nz
the noise of v_j, tr = max(Σv, d/60) and D_j = (max(v_j, 2nz, .01)·d/tr)^−¼, terms are u = D(x − m);
t = max(ΣD²v, .02·d) and C = .6·√(1 + t).  From slopes 0 and b = log(p/(1 − p)), T = 30 rounds with
momentum .8 take g = Σ w·r·(1, u) as velocity ← .8·velocity + g/N, slopes += .2·(G/T)(4/t)·velocity
and b += .2·g₀/(N·p(1 − p)).  G = min(.12·n₀·μ/.6, 18·T) stops the descent before noise is all that
it follows: that is the only ridge.  The last 15 places are averaged.

*Recalibration.*  One look at Σ r·q and Σ v·qqᵀ for q = (1, s̃), s̃ = score/sd cut to ±2, gives a
Newton step; what the rounds owe to the rows that fitted them is taken off its slope, and it is
drawn to no change by its error, with a prior of .25 of the slope and 2 of the intercept.

*Hazards*, for X = n₀·p·μ/d below 30, with a public share p who have the event, start from rates by
interval that exits say, drawn to an even one.  D has the power −½, v_j is at least .02, and C is
.9·√(1 + t).  With 1/p of a noisy p in place of 4 and of 1/(p(1 − p)), and the public p in
G = min(.48·n₀·p·μ/.9, 18·T), steps are the same; so is recalibration, with v the hazard lived.

*Counts*, for X = n₀·ȳ·μ/(Y·d) below 30, with a public mean ȳ of events and their bound Y, are in
units of s, their standard deviation as noisy cells tell it, which is what residuals are clipped by:
the bound costs nothing.  They start from the mean rate, with p = ȳ/s, in G the smaller of the
public and the noisy one, and go on as hazards do.  Recalibration takes Σ v·qqᵀ to be that of
Gaussian scores, and moves the intercept by −log(1 − x) for a share x of the events, prior .4.

*Privacy:* functions of noisy answers; m, D, C and places are on grids, in the questions.  n₀ is
public: that of the data would tell how many they are.

*Utility:* constants were chosen on public cohorts together (docs/design/047), and no law of the
error is known: it predicts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.descent import AskScores, Place, score_edges
from confide.plans.rounds.link import STEPS
from confide.plans.rounds.newton import COEFFICIENT, on_grid
from confide.plans.rounds.wide_terms import LAWS, WideTerms, wide_terms
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT
from confide.tables.aggregates.wide_models.scale import (
    GRADIENT,
    OFF_DIAGONAL,
    WIDE_ROUNDS,
    WIDER,
    WideScale,
)

TURN_OF_WIDE = 60.0
"""x below which this fit is expected to rank better than rounds."""
TURN_OF_HAZARDS = 30.0
"""X below which it is of hazards."""
_FARTHEST = 10**60  # that an answer is taken to be
_MOMENTUM, _STEP = 0.8, 0.2
_MOST_GAIN = 18.0
_AVERAGED = 15
_AMPLE = 10.0  # standard deviations beyond what rows can add up to, where answers are cut
_LEAST_SPREAD = 2**-6
_WIDER, _PRIOR_SLOPE, _PRIOR_INTERCEPT = 1.3, 0.25, 2.0
_PRIOR_OF_COUNTS = 0.4  # of the intercept: residuals of few events would move it far
_LEAST_BEND, _MOST_BEND, _LEAST_TURNED, _LEAST_SCORE = 0.24, 8.0, 0.2, 0.3
_OPTIMISM = 0.5
_MOST_MOVED = 0.8  # of the events, that an intercept is too low by
_SLOPES = (0.1, 3.0)
_SPREADS = (0.25, 1.5)  # of a variance of s̃


@dataclass(frozen=True, slots=True, kw_only=True)
class AskMeans:
    """Σ w·(1, x, y)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSquares:
    """Σ w·(x − m)² by term.

    Attributes:
        centre: m in 1/UNIT; shape (d,).
    """

    centre: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskClipped:
    """Σ w·r·z at a place, w bounding the residual times the row.

    Attributes:
        at: The place.
        unit: Events that residuals of counts are in units of; 0 of others.
    """

    at: Place
    unit: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskRecalibration:
    """Σ r·q, then Σ v·qqᵀ on and above the diagonal, q = (1, s) with s the score in public units.

    Attributes:
        at: The place.
        centre: The score that counts as 0, in steps of the link.
        spread: The score that counts as one more, in the same steps.
        unit: Events that residuals of counts are in units of; 0 of others.
    """

    at: Place
    centre: int
    spread: int
    unit: int = 0


WideAsk: TypeAlias = AskMeans | AskSquares | AskClipped | AskRecalibration


@dataclass(frozen=True, slots=True, kw_only=True)
class WideWalk:
    """What the noisy answers so far say.

    Attributes:
        found: The terms.
        theta: Coefficients of z on the grid of questions, intercept first; shape (d + 1,).
        centre: Score of the mean row, in steps of the link; of hazards βᵀu, which is 0.
        spread: Unit of s̃ in steps of the link.
        score: Mean and standard deviation of the scores; shape (2,).
    """

    found: WideTerms
    theta: Floats
    centre: int
    spread: int
    score: Floats

    @property
    def coefficients(self) -> Floats:
        """Of the terms x, the intercept or those of each interval first."""
        found = np.asarray(self.found.matrix @ self.theta / UNIT)
        return np.concatenate([self._levels(float(found[0])), found[1:]])

    @property
    def levels(self) -> Floats:
        """Log odds, or log hazards by interval, of the mean row."""
        return self._levels(float(self.theta[0]) / self.found.clip)

    @property
    def place(self) -> Place:
        """Where the next question is asked; of hazards with a coefficient for each interval."""
        theta = self.theta
        if self.found.hazards:
            theta = on_grid(np.concatenate([self.levels, theta[1:]]))
        return Place(
            whitening=tuple(map(tuple, self.found.matrix.astype(np.int64).tolist())),
            coefficients=tuple(np.rint(theta * COEFFICIENT).astype(np.int64).tolist()),
        )

    def _levels(self, intercept: float) -> Floats:
        """Return an intercept, which of hazards is one that rates by interval are moved by."""
        found = self.found
        return found.start + intercept if found.hazards else np.array([intercept + found.shift])


def wide_fit_is_better(rows: float, *, terms: int, mu: float, share: float | None = None) -> bool:
    """Return whether this fit is expected to rank better than rounds; from public facts alone.

    Args:
        rows: n₀, public planning number of rows that are fitted.
        terms: d, beside the intercept.
        mu: √(2ρ) of the model.
        share: Public planning share of rows for which the outcome holds, if there is one.

    Example:
        >>> [wide_fit_is_better(n, terms=50, mu=0.24) for n in (2_000, 20_000)]
        [True, False]
        >>> wide_fit_is_better(20_000, terms=50, mu=0.24, share=0.1)
        True
    """
    ratio = width_ratio(rows, terms=terms, mu=mu)
    return (ratio if share is None else told_by_share(ratio, share=share)) < TURN_OF_WIDE


def told_by_share(ratio: float, *, share: float) -> float:
    """Return 4p(1 − p)·x for an outcome of share p, as a row tells of slopes by p(1 − p).

    Where it is below the turn and x is not, rounds may end without slopes.
    """
    return 4 * share * (1 - share) * ratio


def few_events(events: float, *, terms: int, mu: float) -> bool:
    """Return whether this fit is expected to rank hazards better than rounds, by X.

    Args:
        events: Public planning number of events of those who are fitted.
        terms: d, beside the baseline.
        mu: √(2ρ) of the model.

    Example:
        >>> [few_events(n, terms=8, mu=0.24) for n in (900, 1_100)]
        [True, False]
    """
    return width_ratio(events, terms=terms, mu=mu) < TURN_OF_HAZARDS


def width_ratio(rows: float, *, terms: int, mu: float) -> float:
    """Return x = n₀·μ/d, by which fits are chosen; see :func:`wide_fit_is_better`."""
    return rows * mu / max(1, terms)


def next_wide_ask(
    scale: WideScale, answers: Sequence[int], *, sigma: float
) -> WideAsk | AskScores | None:
    """Return what is asked after these noisy answers, or None where all has been asked.

    Args:
        scale: Of the answers.
        answers: Noisy, so far, one after another.
        sigma: Standard deviation of the noise of each.
    """
    if not answers:
        return AskMeans()
    walked = walk_widely(scale, answers, sigma=sigma)
    match len(answers):
        case n if n < scale.begun:
            return AskSquares(centre=tuple(int(each) for each in walked.found.centre))
        case n if n < scale.descended:
            return AskClipped(at=walked.place, unit=walked.found.unit)
        case n if n < scale.fitted:
            return AskRecalibration(
                at=walked.place,
                centre=walked.centre,
                spread=walked.spread,
                unit=walked.found.unit,
            )
        case n if n < scale.length:
            found = walked.found
            return AskScores(at=walked.place, edges=score_edges(walked.score), most=found.cut)
        case _:
            return None


def walk_widely(scale: WideScale, answers: Sequence[int], *, sigma: float) -> WideWalk:
    """Repeat the path that noisy answers took; scores do not change it."""
    taken = np.array([max(-_FARTHEST, min(_FARTHEST, each)) for each in answers], dtype=np.float64)
    first, squares = taken[: scale.opening], taken[scale.opening : scale.begun]
    found = wide_terms(first, squares, scale=scale, sigma=sigma)
    gain = _gain(scale, found=found, sigma=sigma)
    gradients = taken[scale.begun : scale.descended].reshape(-1, scale.terms) / GRADIENT
    most = 2 * found.rows + _AMPLE * sigma / GRADIENT
    theta = _descended(found, np.clip(gradients, -most, most), gain=gain)
    walked = _unmoved(found, theta)
    looked = taken[scale.descended : scale.fitted]
    return (
        _recalibrated(walked, looked, scale=scale, sigma=sigma, gain=gain)
        if len(looked)
        else walked
    )


def _gain(scale: WideScale, *, found: WideTerms, sigma: float) -> float:
    """Return G: how far the descent goes, by the public number of rows or events.

    Of counts by no more events than noisy answers say, as a share of a wide bound is hard to guess.
    """
    told = float(scale.expected)
    if found.unit:
        told = min(told / found.unit, found.share * found.rows)
    mu, law = math.sqrt(scale.one) / sigma, LAWS[scale.family]
    return min(law.gain * told * mu / law.clip, _MOST_GAIN * WIDE_ROUNDS)


def _descended(found: WideTerms, gradients: Floats, *, gain: float) -> Floats:
    """Return where the next gradient is taken, or the mean of the last places once all are."""
    clip, curve = found.clip, found.curve
    theta = np.zeros(len(found.matrix))
    theta[0] = 0.0 if found.hazards else clip * float(found.start[0])
    theta, velocity, places = on_grid(theta), np.zeros(len(theta) - 1), []
    along = _STEP * gain / WIDE_ROUNDS / (found.usual * found.length)
    for gradient in gradients:
        step = clip * gradient / found.rows
        velocity = _MOMENTUM * velocity + step[1:]
        moved = np.concatenate([[_STEP * step[0] / curve], along * velocity])
        theta = on_grid(theta + clip * moved)
        places.append(theta)
    if len(places) < WIDE_ROUNDS:
        return theta
    return on_grid(np.mean(places[-_AVERAGED:], axis=0))


def _unmoved(found: WideTerms, theta: Floats) -> WideWalk:
    """Return the walk before recalibration."""
    slopes = found.matrix[1:, 1:].diagonal() / UNIT * theta[1:]
    spread = _WIDER * math.sqrt(max(float(np.maximum(found.variance, 0) @ slopes**2), 0.0))
    steps = round(max(spread, _LEAST_SPREAD) * STEPS)
    middle = 0.0 if found.hazards else float(theta[0]) / found.clip
    return WideWalk(
        found=found,
        theta=theta,
        centre=round(middle * STEPS),
        spread=steps,
        score=np.array([middle, steps / STEPS]),
    )


def _seen(answered: Floats) -> Floats:
    """Return Σ v·qqᵀ, of entries on and above the diagonal."""
    flat, cross, steep = answered
    cross *= 1024 / OFF_DIAGONAL
    return np.array([[flat, cross], [cross, steep]])


def _of_powers(size: float) -> Floats:
    """Return E[v·qqᵀ]/E[v] of counts, if scores are Gaussian: v weighs them by their power."""
    one = size / _WIDER
    return np.array([[1, one / _WIDER], [one / _WIDER, (1 + one**2) / _WIDER**2]])


def _recalibrated(
    walked: WideWalk, looked: Floats, *, scale: WideScale, sigma: float, gain: float
) -> WideWalk:
    """Return the model of which one look put intercept and slope right."""
    found, unit, size = walked.found, RESIDUAL * UNIT, walked.spread / STEPS
    wider = WIDER if found.unit else 1
    turn = wider * looked[:2] / (scale.turn * unit)
    usual = found.usual * found.rows
    seen = usual * _of_powers(size) if found.unit else _seen(looked[2:] / (scale.bend * unit))
    values, vectors = np.linalg.eigh(seen)
    values = np.clip(values, _LEAST_BEND * usual, _MOST_BEND * usual)
    bend = (vectors * values) @ vectors.T
    inverse = (vectors / values) @ vectors.T
    step = inverse @ turn
    least = max(float(bend[1, 1]), _LEAST_TURNED * usual) * max(size, _LEAST_SCORE)
    step[1] -= _OPTIMISM * (1 - math.exp(-gain / scale.slopes)) * scale.slopes / least
    noise = (wider * sigma / (scale.turn * unit)) ** 2
    error = inverse @ (bend + noise * np.eye(2)) @ inverse
    of_level = _PRIOR_OF_COUNTS if found.unit else _PRIOR_INTERCEPT
    prior = np.diag([of_level**2, (_PRIOR_SLOPE * size) ** 2])
    step = prior @ np.linalg.solve(prior + error, step)
    slope = float(np.clip(1 + step[1] / size, *_SLOPES))
    theta = slope * walked.theta
    moved = -math.log(1 - min(step[0], _MOST_MOVED)) if found.unit else step[0]
    theta[0] = walked.theta[0] + found.clip * moved
    theta = on_grid(theta)
    spread = float(bend[1, 1] / bend[0, 0] - (bend[0, 1] / bend[0, 0]) ** 2)
    within = size * slope * math.sqrt(min(max(spread, _SPREADS[0]), _SPREADS[1]))
    return WideWalk(
        found=found,
        theta=theta,
        centre=walked.centre,
        spread=walked.spread,
        score=np.array([0.0 if found.hazards else float(theta[0]) / found.clip, within]),
    )
