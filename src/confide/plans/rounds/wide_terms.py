"""Centred and scaled terms of a model without whitening, and where it starts, by noisy answers.

A logistic model starts at its marginal log odds; a hazard model at a rate for each interval of
follow-up, of exits alone, drawn to one even rate by the part of their distance that is noise
(:mod:`.marginal`).

*Privacy:* functions of noisy answers.
"""

import math
from dataclasses import dataclass

import numpy as np

from confide.arrays import Floats
from confide.plans.rounds.marginal import FEWEST, events_by_interval
from confide.tables.aggregates.descent_terms import UNIT, Family
from confide.tables.aggregates.wide_models.scale import WideScale

_FEWEST = 10.0  # standard deviations of noise that the number of rows is taken to be
_RAREST, _LEAST_CLASS = 0.005, 0.002
_LEAST_TRACE, _LEAST_LENGTH = 1 / 60, 0.02
_MOST_LENGTH = 10.0  # of t over d
_DIAGONAL = 2**10  # steps of D


@dataclass(frozen=True, slots=True, kw_only=True)
class WideLaw:
    """Constants of a family; chosen on public cohorts together.

    Attributes:
        power: To which the noisy variance of a term is taken to scale it.
        least: Variance that a term is taken to have at least.
        clip: Of the residual times the row, over the root of the mean square of rows.
        gain: How far the descent goes, by expected rows or events and μ.
        flat: First term of a row, that of the intercept.
    """

    power: float
    least: float
    clip: float
    gain: float
    flat: float = 1.0


LAWS = {
    Family.LOGISTIC: WideLaw(power=-0.25, least=0.01, clip=0.6, gain=0.12),
    Family.HAZARD: WideLaw(power=-0.5, least=0.02, clip=0.9, gain=0.48),
    Family.POISSON: WideLaw(power=-0.5, least=0.02, clip=0.9, gain=0.48),
    Family.MULTINOMIAL: WideLaw(power=-0.25, least=0.01, clip=0.9, gain=0.3, flat=0.4),
}
_MOST_SHARE = 16.0  # events of a row, in units of them, that a mean is taken to be at most
_LEAST_TIME = 2**-10
_SURE = 3.0  # standard deviations of their noise by which rows with so many events are told
_TOGETHER = 3  # cells
_DEVIATIONS = 7  # above the mean, at which events of held-out patients are cut
_FEW = 0.01  # share of the rows that are too few to be told


@dataclass(frozen=True, slots=True, kw_only=True)
class WideTerms:
    """Centred and scaled terms z = (1, u)/C, as noisy answers tell them.

    Attributes:
        rows: Noisy number of rows.
        usable: Whether that is enough to fit anything.
        share: Noisy share of the rows with the outcome, or of the rarest class; of counts, mean of
            events in their unit.
        start: Log odds to start from, or of hazards log rates by interval, of the whole follow-up;
            of classes the logarithms of their shares, less their mean.
        centre: m in 1/UNIT; shape (d,).
        matrix: z = x·matrix, in 1/UNIT; shape (d + 1, d + 1).
        variance: Noisy variance of each term; shape (d,).
        length: t.
        hazards: Whether patients are followed.
        unit: Events that residuals of counts are in units of; 0 of others.
        most: Bound of the events; 0 of others.
        dispersion: Of counts, their variance over their mean, in units of their bound; at least a
            Poisson's.
    """

    rows: float
    usable: bool
    share: float
    start: Floats
    centre: Floats
    matrix: Floats
    variance: Floats
    length: float
    hazards: bool
    unit: int = 0
    most: int = 0
    dispersion: float = 1.0

    @property
    def clip(self) -> float:
        """C over the first term of a row, as whole numbers have it."""
        return UNIT / float(self.matrix[0, 0])

    @property
    def curve(self) -> float:
        """Mean variance of an outcome of which the slopes are 0."""
        return self.share if self.powers else self.share * (1 - self.share)

    @property
    def usual(self) -> float:
        """What a step takes that variance to be: of log odds the largest, whatever the share."""
        return self.share if self.powers else 1 / 4

    @property
    def powers(self) -> bool:
        """Whether means are powers of η, and variances too."""
        return self.hazards or self.unit > 0

    @property
    def cut(self) -> int:
        """Events at which those of a patient who is held out are cut; 0 of others.

        They are so many standard deviations above their mean; of whatever law, what is cut off is
        on average at most 1/28 of one.
        """
        return min(math.ceil((self.share + _DEVIATIONS) * self.unit), self.most)

    @property
    def shift(self) -> float:
        """Logarithm of the unit of events over their bound; 0 of others."""
        return math.log(self.unit / self.most) if self.unit else 0.0


def wide_terms(first: Floats, squares: Floats, *, scale: WideScale, sigma: float) -> WideTerms:
    """Return the terms that means say, and squares once they are known.

    Args:
        first: Means, and the outcome or exits, as they were answered.
        squares: By term, or none yet.
        scale: Of the answers.
        sigma: Standard deviation of the noise of each.
    """
    law, d = LAWS[scale.family], scale.slopes
    answered, noise = first[: scale.terms] / (scale.means * UNIT), sigma / (scale.means * UNIT)
    rows = max(float(answered[0]), _FEWEST * noise)
    centre = np.rint(np.clip(answered[1:] / rows, -1, 1) * UNIT)
    matrix = UNIT * np.eye(scale.terms)
    variance, length = np.ones(d), float(d)
    if len(squares):
        one = scale.squares * UNIT * rows
        variance, blurred = np.clip(squares / one, -1, 1), sigma / one
        trace = max(float(variance.sum()), d * _LEAST_TRACE)
        whole = np.maximum(np.maximum(variance, 2 * blurred), law.least) * d / trace
        diagonal = np.rint(whole**law.power * _DIAGONAL) / _DIAGONAL
        length = max(float(diagonal**2 @ variance), _LEAST_LENGTH * d)
        length = min(length, _MOST_LENGTH * d)
        clip = law.clip * math.sqrt(law.flat**2 + length)
        matrix[0, 0] = np.rint(UNIT * law.flat / clip)
        matrix[1:, 1:] = np.diag(np.rint(UNIT * diagonal / clip))
        matrix[0, 1:] = np.rint(-centre * diagonal / clip)
    begun = first[scale.terms :]
    if scale.counts:
        beside = _counted(begun, rows=rows, scale=scale, sigma=sigma)
    elif scale.several:
        beside = _classed(begun, rows=rows, scale=scale, sigma=sigma)
    else:
        beside = _start(begun, rows=rows, scale=scale, sigma=sigma)
    return WideTerms(
        rows=rows,
        usable=bool(answered[0] > _FEWEST * noise) and beside.told,
        share=beside.share,
        start=beside.start,
        centre=centre,
        matrix=matrix,
        variance=variance,
        length=length,
        hazards=scale.hazards,
        unit=beside.unit,
        most=scale.edges[-1] - 1 if scale.counts else 0,
        dispersion=beside.dispersion,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Begun:
    """Where a model starts: as :class:`WideTerms`, and whether there are enough events."""

    share: float
    start: Floats
    told: bool
    unit: int = 0
    dispersion: float = 1.0


def _start(answered: Floats, *, rows: float, scale: WideScale, sigma: float) -> _Begun:
    """Return the share with the outcome, where to start, and whether there are enough events."""
    if not scale.hazards:
        having = float(answered[0]) / (scale.means * UNIT)
        share = float(np.clip(having / rows, _RAREST, 1 - _RAREST))
        return _Begun(share=share, start=np.array([math.log(share / (1 - share))]), told=True)
    unit = scale.totals * UNIT
    exits, noise = np.clip(answered / unit, -rows, 2 * rows), sigma / unit
    events, spent = events_by_interval(exits, edges=scale.edges, rows=rows, noise=noise)
    least = FEWEST * noise * math.sqrt(len(events))
    share = float(np.clip(events.sum() / rows, _RAREST, 1 - _RAREST))
    told = bool(exits[1::2].sum() > least)
    return _Begun(share=share, start=np.log(events / spent), told=told)


def _classed(answered: Floats, *, rows: float, scale: WideScale, sigma: float) -> _Begun:
    """Return the shares of classes; of one that is not told from none as many as noise has."""
    unit = scale.totals * UNIT
    least = max(sigma / unit, _LEAST_CLASS * rows)
    totals = np.clip(answered / unit, least, max(2 * rows, least))
    shares = totals / totals.sum()
    logs = np.log(shares)
    return _Begun(share=float(shares.min()), start=logs - logs.mean(), told=True)


def _counted(answered: Floats, *, rows: float, scale: WideScale, sigma: float) -> _Begun:
    """Return mean events, where to start, whether there are enough of them, and their unit.

    The most events are those of the last neighbouring cells in which rows are told from none; noise
    of cells of many events would else be all that is seen.
    """
    unit, edges = scale.totals * UNIT, np.array(scale.edges, dtype=np.float64)
    cells, noise = np.clip(answered[1:] / unit, -rows, 2 * rows), sigma / unit
    together = np.convolve(cells, np.ones(_TOGETHER))[_TOGETHER - 1 :]
    least = max(_FEW * rows, _SURE * noise * math.sqrt(_TOGETHER))
    last = int(np.max(np.flatnonzero(together > least), initial=0))
    told = np.maximum(cells, 0.0) * (np.arange(len(cells)) <= last)
    told[last] = max(float(together[last]), 1e-9)
    middles, shares = (edges[:-1] + edges[1:] - 1) / 2, told / told.sum()
    mean = float(shares @ middles)
    spread = math.sqrt(float(shares @ (middles - mean) ** 2))
    most = scale.edges[-1] - 1
    of_one = max(1, min(round(spread), most))
    share = float(np.clip(mean / of_one, _RAREST, _MOST_SHARE))
    time = float(answered[0]) / (scale.means * UNIT * rows)
    start = np.array([math.log(share / min(max(time, _LEAST_TIME), 1.0))])
    return _Begun(
        share=share,
        start=start,
        told=last > 0,
        unit=of_one,
        dispersion=max(1.0, spread**2 / max(mean, _RAREST)) / most,
    )
