"""What a model of classes with a rare one asks next, and has learnt: of noisy answers alone.

With a public number n₀ of rows, of which a share p is of the rarest class, d terms and μ = √(2ρ),
X = n₀·p·μ/d says how well the slopes of that class are told from noise.  Below 7 rounds lose them,
as their gradients have as much noise for it as for any class.  This fit is that for many terms
(:mod:`.wide`), with a gradient for each class and one clip for all of them.

*Steps.*  Means give a centre, squares about it variances v_j, totals the share of each class.  With
terms u = D(x − m) as in :mod:`.wide`, z = (2/5, u)/C and C = .9·√(4/25 + t), 30 rounds with
momentum .8 go from the logarithms of these shares and slopes 0, both in the plane in which classes
add up to 0.  G = min(.3·n₀·μ/.9, 18·T) stops them.  The last 15 places are averaged.

*Levels.*  Rows of a rare class are clipped most, as a model is sure of another one, so gradients
draw its level down, to half and less.  So the levels of the gradients are only where slopes are
learnt; those of the model are such that classes have on average the shares that totals told, if
scores are Gaussian.  A count of a class has the noise of a count.

*Slopes.*  One look at Σ r_c·s_c, s_c the score of a class in units of its spread and cut to ±2,
gives a Newton step of one factor for the slopes of each class, with the curvature of Gaussian
scores, drawn to 1 by its error with a prior of .25; then levels are set anew.

*Privacy:* functions of noisy answers and of public numbers; m, D, C and places are on grids, in the
questions.

*Utility:* it predicts; no law of the error is known.  Measured in docs/design/054.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.classes import gaussian_shares, levelled, share_edges, softmax
from confide.plans.rounds.descent import AskScores, Place
from confide.plans.rounds.link import STEPS
from confide.plans.rounds.newton import COEFFICIENT, on_grid
from confide.plans.rounds.wide import AskClipped, AskMeans, AskSquares
from confide.plans.rounds.wide_terms import LAWS, WideTerms, wide_terms
from confide.tables.aggregates.descent_terms import RESIDUAL, SCORE_CUTS, UNIT, Family
from confide.tables.aggregates.wide_models.scale import (
    GRADIENT,
    MOST_DEVIATION,
    WIDE_ROUNDS,
    WideScale,
)

LAW = LAWS[Family.MULTINOMIAL]
_FARTHEST = 10**60  # that an answer is taken to be
_MOMENTUM, _STEP, _MOST_GAIN, _AVERAGED = 0.8, 0.2, 18.0, 15
_USUAL = 1 / 2  # the largest curvature of shares of classes
_AMPLE = 10.0  # standard deviations beyond what rows can add up to, where answers are cut
_LEAST_SPREAD, _WIDER = 2**-6, 1.3
_PRIOR_SLOPE, _OPTIMISM, _LEAST_SCORE = 0.25, 0.5, 0.3
_SLOPES = (0.1, 3.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskClassScores:
    """Σ r_c·s_c by class, s_c being the score of a class in public units.

    Attributes:
        at: The place.
        centres: The score of each class that counts as 0, in steps of the link.
        spreads: The score that counts as one more, in the same steps.
    """

    at: Place
    centres: tuple[int, ...]
    spreads: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassWalk:
    """What the noisy answers so far say.

    Attributes:
        found: The terms, and the logarithms of the shares of classes.
        theta: Coefficients of z by class on the grid of questions, intercept first, which add up to
            about 0; shape (K, d + 1).
    """

    found: WideTerms
    theta: Floats

    @property
    def coefficients(self) -> Floats:
        """Of the terms x by class, the intercept first; shape (K, d + 1)."""
        return np.asarray(self.theta @ self.found.matrix.T / UNIT)

    @property
    def standard(self) -> Floats:
        """Of terms of mean 0 and variance 1 by class; shape (K, d + 1)."""
        each = self.found.matrix.diagonal()[1:] / UNIT * np.sqrt(np.maximum(self.found.variance, 0))
        return np.column_stack([self.theta[:, 0] / self.found.clip, self.theta[:, 1:] * each])

    @property
    def spread(self) -> Floats:
        """Unit of the score of each class; shape (K,)."""
        length = np.linalg.norm(self.standard[:, 1:], axis=1)
        return np.asarray(np.maximum(_WIDER * length, _LEAST_SPREAD))

    @property
    def place(self) -> Place:
        """Where the next question is asked."""
        return Place(
            whitening=tuple(map(tuple, self.found.matrix.astype(np.int64).tolist())),
            coefficients=tuple(np.rint(self.theta * COEFFICIENT).astype(np.int64).ravel().tolist()),
        )

    def levelled(self) -> "ClassWalk":
        """Return the same with intercepts that give Gaussian scores the shares of classes."""
        theta = self.theta.copy()
        found = levelled(self.standard, shares=softmax(self.found.start))
        theta[:, 0] = self.found.clip * found[:, 0]
        return replace(self, theta=on_grid(theta))


def next_class_ask(
    scale: WideScale, answers: Sequence[int], *, sigma: float
) -> AskMeans | AskSquares | AskClipped | AskClassScores | AskScores | None:
    """Return what is asked after these noisy answers, or None where all has been asked.

    Args:
        scale: Of the answers.
        answers: Noisy, so far, one after another.
        sigma: Standard deviation of the noise of each.
    """
    if not answers:
        return AskMeans()
    walked = walk_classes(scale, answers, sigma=sigma)
    match len(answers):
        case n if n < scale.begun:
            return AskSquares(centre=tuple(int(each) for each in walked.found.centre))
        case n if n < scale.descended:
            return AskClipped(at=walked.place)
        case n if n < scale.fitted:
            return AskClassScores(
                at=walked.place,
                centres=_in_steps(walked.standard[:, 0]),
                spreads=_in_steps(walked.spread),
            )
        case n if n < scale.length:
            cuts = share_edges(walked.standard, percents=SCORE_CUTS)
            edges = tuple(round(float(cut) * RESIDUAL) for cut in cuts.ravel())
            return AskScores(at=walked.place, edges=edges)
        case _:
            return None


def walk_classes(scale: WideScale, answers: Sequence[int], *, sigma: float) -> ClassWalk:
    """Repeat the path that noisy answers took; scores do not change it."""
    taken = np.array([max(-_FARTHEST, min(_FARTHEST, each)) for each in answers], dtype=np.float64)
    first, squares = taken[: scale.opening], taken[scale.opening : scale.begun]
    found = wide_terms(first, squares, scale=scale, sigma=sigma)
    mu = math.sqrt(scale.one) / sigma
    gain = min(LAW.gain * scale.expected * mu / LAW.clip, _MOST_GAIN * WIDE_ROUNDS)
    gradients = taken[scale.begun : scale.descended].reshape(-1, scale.classes, scale.terms)
    most = 2 * found.rows + _AMPLE * sigma / GRADIENT
    walked = _descended(found, np.clip(gradients / GRADIENT, -most, most), gain=gain)
    looked = taken[scale.descended : scale.fitted] / (scale.turn * RESIDUAL * UNIT)
    if not len(looked):
        return walked
    noise = sigma / (scale.turn * RESIDUAL * UNIT)
    far = 2 * MOST_DEVIATION * found.rows + _AMPLE * noise
    return _turned(walked, np.clip(looked, -far, far), noise=noise, gain=gain)


def _descended(found: WideTerms, gradients: Floats, *, gain: float) -> ClassWalk:
    """Return where the next gradient is taken, or the model of all of them once they are known."""
    reach, shares = LAW.flat * found.clip, softmax(found.start)
    theta = np.zeros((len(shares), len(found.matrix)))
    theta[:, 0] = found.clip * found.start
    theta, velocity, places = on_grid(theta), np.zeros_like(theta[:, 1:]), []
    along = _STEP * gain / WIDE_ROUNDS / (_USUAL * found.length)
    for gradient in gradients:
        each = (gradient - gradient.mean(axis=0)) / found.rows
        velocity = _MOMENTUM * velocity + reach * each[:, 1:]
        level = _STEP * found.clip * each[:, 0] / (shares * (1 - shares))
        level = found.clip * (level - level.mean())
        theta = on_grid(theta + np.column_stack([level, reach * along * velocity]))
        places.append(theta)
    if len(places) < WIDE_ROUNDS:
        return ClassWalk(found=found, theta=theta)
    return ClassWalk(found=found, theta=on_grid(np.mean(places[-_AVERAGED:], axis=0))).levelled()


def _turned(walked: ClassWalk, turn: Floats, *, noise: float, gain: float) -> ClassWalk:
    """Return the model of which one look put the slopes of each class right.

    Args:
        walked: The model.
        turn: Σ r_c·s_c; shape (K,).
        noise: Standard deviation of each.
        gain: G.
    """
    found, spread = walked.found, walked.spread
    seen = found.rows * _curvature(walked)
    slopes = len(found.matrix) - 1
    owed = _OPTIMISM * (1 - math.exp(-gain / slopes)) * slopes / np.maximum(spread, _LEAST_SCORE)
    weighed = seen @ np.linalg.inv(seen + noise**2 * np.eye(len(seen)))
    prior = np.diag(1 / (_PRIOR_SLOPE * spread) ** 2)
    step = np.linalg.solve(weighed @ seen + prior, weighed @ (turn - owed))
    theta = walked.theta.copy()
    theta[:, 1:] *= np.clip(1 + step / spread, *_SLOPES)[:, None]
    return replace(walked, theta=on_grid(theta)).levelled()


def _curvature(walked: ClassWalk) -> Floats:
    """Return the mean curvature of s_c, levels apart, if scores are Gaussian; shape (K, K)."""
    standard = walked.standard
    gaussian = gaussian_shares(standard)
    scores = gaussian.points @ (standard[:, 1:] @ gaussian.along).T
    shares = gaussian.shares
    one = shares * np.clip(scores / walked.spread, -MOST_DEVIATION, MOST_DEVIATION)
    points = len(shares)
    flat = np.diag(shares.mean(axis=0)) - shares.T @ shares / points
    cross = np.diag(one.mean(axis=0)) - one.T @ shares / points
    squared = np.clip(scores / walked.spread, -MOST_DEVIATION, MOST_DEVIATION) * one
    steep = np.diag(squared.mean(axis=0)) - one.T @ one / points
    found = steep - cross @ np.linalg.pinv(flat, rcond=1e-6, hermitian=True) @ cross.T
    values, vectors = np.linalg.eigh((found + found.T) / 2)
    return np.asarray((vectors * np.maximum(values, 1e-6)) @ vectors.T)


def _in_steps(scores: Floats) -> tuple[int, ...]:
    return tuple(np.rint(scores * STEPS).astype(np.int64).tolist())
