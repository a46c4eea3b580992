"""Terms with mean 0 and covariance I, as far as noisy moments tell them.

A term lies in [−1, 1], so its mean does, and no eigenvalue of the covariance of d terms is above d.
Noise, or an answer that no rows give, is cut there: the matrix is one that can be turned back,
whatever was answered.

*Privacy:* functions of noisy answers.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confide.arrays import Floats
from confide.plans.rounds.newton import symmetric
from confide.tables.aggregates.descent_scale import Scale
from confide.tables.aggregates.descent_terms import RESIDUAL, UNIT

LARGEST_ENTRY = 2**10
_FEWEST = 10  # a fit needs this many standard deviations of noise in its number of rows
_AMPLE, _AMPLE_NOISE = 2.0, 10.0  # times what rows can add up to; standard deviations


@dataclass(frozen=True, slots=True, kw_only=True)
class Whitened:
    """Terms with mean 0 and covariance I, as far as the noise lets them.

    Attributes:
        rows: Noisy number of rows.
        usable: Whether that is enough to fit anything.
        matrix: z = x·matrix; shape (d, d), as whole numbers in 1/UNIT.
        drowned: Share of each term's variance that noise could make up; shape (d,), 0 for the
            intercept.
    """

    rows: float
    usable: bool
    matrix: NDArray[np.int64]
    drowned: Floats


def whitened(entries: Floats, *, scale: Scale, sigma: float) -> Whitened:
    """Return what noisy moments say of the terms.

    Args:
        entries: Σ xxᵀ, on and above the diagonal, as it was answered.
        scale: Of the answers.
        sigma: Standard deviation of the noise of each.
    """
    unit = scale.moments * UNIT**2
    noise = sigma / unit
    moments = symmetric(entries / unit, size=scale.terms)
    usable = bool(moments[0, 0] > _FEWEST * noise)
    rows = float(moments[0, 0]) if usable else _FEWEST * noise
    mean = np.clip(moments[0, 1:] / rows, -1, 1)
    values, vectors = np.linalg.eigh(moments[1:, 1:] / rows - np.outer(mean, mean))
    least = noise * math.sqrt(scale.terms) / rows
    bounded = np.clip(values, least, max(float(scale.terms), least))
    slopes = vectors / np.sqrt(np.maximum(bounded, LARGEST_ENTRY**-2))
    matrix = np.zeros((scale.terms, scale.terms))
    matrix[0, 0] = 1
    matrix[1:, 1:], matrix[0, 1:] = slopes, -mean @ slopes
    below = (vectors**2) @ (values < 2 * least)
    whole = np.rint(np.clip(matrix, -LARGEST_ENTRY, LARGEST_ENTRY) * UNIT)
    return Whitened(
        rows=rows,
        usable=usable,
        matrix=whole.astype(np.int64),
        drowned=np.concatenate([[0.0], below]),
    )


def unknown(rows: float, *, terms: int) -> Whitened:
    """Return terms as they are, of rows that no model can be fitted to."""
    return Whitened(
        rows=rows,
        usable=False,
        matrix=UNIT * np.eye(terms, dtype=np.int64),
        drowned=np.zeros(terms),
    )


def possible(answers: Floats, *, rows: float, scale: Scale, sigma: float) -> Floats:
    """Return answers of rounds cut to what so many rows can add up to, and ample noise.

    A row adds at most 1 to a total, and a gradient of norm √d at most, for d terms; scores lead
    nowhere else and are left as they are.
    """
    late = scale.opening + scale.early * scale.gradient + scale.curved + scale.spread
    end = late + (scale.rounds - scale.early) * scale.gradient
    units = np.array(scale.gradients, dtype=np.float64) * UNIT * RESIDUAL
    each = np.repeat(_AMPLE * rows * math.sqrt(scale.terms) * units, scale.gradient)
    most = np.full(len(answers), np.inf)
    most[scale.opening - scale.totals : scale.opening] = _AMPLE * rows * scale.moments * UNIT**2
    early = slice(scale.opening, scale.opening + scale.early * scale.gradient)
    most[early] = each[: scale.early * scale.gradient][: len(most[early])]
    most[late:end] = each[scale.early * scale.gradient :][: len(most[late:end])]
    most += _AMPLE_NOISE * sigma
    return np.clip(answers, -most, most)
