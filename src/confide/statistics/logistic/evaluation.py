"""How well a model ranks and how well its risks are calibrated, on patients it was not fitted to.

Held-out patients are counted by public bins of θᵀz and by outcome.  From noisy histograms follow
C-statistic (AUC), Brier score, calibration line, observed shares by risk, and net benefit [VE06].

*Inside a bin* θᵀz is taken to be normal with the noisy mean and spread of its terms, and risks to
be right.  Between two edges little hangs on that; the open bins at both ends hold three percent of
normal scores each, and are stretched by how many they do hold
(:mod:`confide.plans.rounds.score_bins`). Pairs of one bin count by their chance to be ordered, not
one half.

*Law.*  Noisy counts are drawn anew: multinomial with the published shares, cut at 0, plus noise.
The interval is the estimate ∓ normal quantile × the spread of what they give, cut to its range.
Observed shares have Wilson's interval, of noisy counts
(:func:`confide.plans.estimation.intervals.share`); neighbouring bins are joined until each has many
more patients than noise.

*Privacy:* post-processing of noisy counts; held-out patients are in no other answer.

References:
    [VE06] Vickers, Elkin. Decision curve analysis. Medical Decision Making 26(6), 2006.
        https://doi.org/10.1177/0272989X06295361
    [VC16] Van Calster et al. A calibration hierarchy for risk models. J. Clin. Epidemiol. 74, 2016.
        https://doi.org/10.1016/j.jclinepi.2015.12.005
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confide.arrays import Floats
from confide.plans.estimation.intervals import Component, Share, share
from confide.plans.rounds.held_out import AS_PREDICTED, CalibrationLine
from confide.plans.rounds.score_bins import SHARES, Stretch, may_end, other_patients, stretch_of
from confide.plans.simulation import Simulation
from confide.statistics.logistic.calibration import (
    bounded,
    calibration_in_the_large,
    calibration_line,
)
from confide.statistics.logistic.predictions import Predicted, predicted, risk_of
from confide.tables.aggregates.descent_terms import SCORE_BINS

RUNS = 400
FEWEST = 5
"""Each outcome needs this many standard deviations of the noise of its total."""
_LEAST_IN_A_GROUP = 20  # patients
_OVER_NOISE = 10  # standard deviations of the noise of a group


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHistogram:
    """Noisy counts of held-out patients.

    Attributes:
        counts: Without the outcome, then with it, by bin; shape (2, bins).
        noise: Standard deviation of the noise of each.
    """

    counts: Floats
    noise: float

    @property
    def stretch(self) -> Stretch:
        """How far out scores beyond the last edges are."""
        return stretch_of(self.counts.sum(axis=0), noise=math.sqrt(2) * self.noise)

    @property
    def usable(self) -> bool:
        """Whether there are enough patients of either outcome."""
        least = FEWEST * self.noise * math.sqrt(SCORE_BINS)
        return bool((self.counts.sum(axis=1) > least).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreNumber:
    """One number with its error.

    Attributes:
        value: In its unit; a share where nothing else is said.
        error: Standard deviation from sampling and noise.
        lower: Lower end of its interval.
        upper: Upper end.
    """

    value: float
    error: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskGroup:
    """Held-out patients of neighbouring bins.

    Attributes:
        predicted: Mean risk.
        count: Noisy number.
        deviation: Standard deviation of its noise.
        observed: Share with the outcome.
        first: First bin.
        last: Last bin.
    """

    predicted: float
    count: float
    deviation: float
    observed: Share
    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """How a model does on held-out patients.

    Attributes:
        auc: C-statistic; None where nobody is ranked.
        slope: Of the calibration line; 1 where risks are neither too far apart nor too close; None
            where risks are alike, or where patients do not say how far it may reach.
        intercept: Log odds observed less predicted; 0 where risks are right on the whole.
        brier: Mean squared error of the risks.
        whole: All of the patients.
        groups: By predicted risk; none where nobody is ranked.
        ends: Labels of the ends of all bins.
        thresholds: Edges of the bins as risks; shape (bins − 1,).
        benefits: Net benefit of treating from an edge on, by label of its risk; none where risks
            are alike.
        alike: Whether risks are.
        usable: Whether there are enough held-out patients of either outcome.
    """

    auc: ScoreNumber | None
    slope: ScoreNumber | None
    intercept: ScoreNumber
    brier: ScoreNumber
    whole: RiskGroup
    groups: tuple[RiskGroup, ...]
    ends: tuple[str, ...]
    thresholds: Floats
    benefits: Mapping[str, ScoreNumber]
    alike: bool
    usable: bool


def evaluated(
    found: ScoreHistogram,
    *,
    theta: Floats,
    level: float,
    simulation: Simulation,
    line: CalibrationLine = AS_PREDICTED,
    purpose: str = "evaluation",
) -> Evaluation:
    """Return how a model does.

    Args:
        found: Its held-out patients.
        theta: The model, intercept first; shape (d,).
        level: Coverage of each interval.
        simulation: Source of reproducible draws.
        line: By which its log odds are moved.
        purpose: Of the draws; who shares it shares them.
    """
    stretch = found.stretch
    return judged(
        found,
        told=predicted(theta, line=line, stretch=stretch),
        ranked=predicted(theta, stretch=stretch),  # a line keeps the order
        level=level,
        simulation=simulation,
        purpose=purpose,
    )


def judged(
    found: ScoreHistogram,
    *,
    told: Predicted,
    ranked: Predicted,
    level: float,
    simulation: Simulation,
    purpose: str,
) -> Evaluation:
    """Return how predictions do.

    Args:
        found: Held-out patients by bin.
        told: What is predicted of each bin.
        ranked: What patients are ranked by.
        level: Coverage of each interval.
        simulation: Source of reproducible draws.
        purpose: Of the draws; who shares it shares them.
    """
    whole = with_draws(found, simulation=simulation, purpose=purpose)
    normal = NormalDist().inv_cdf((1 + level) / 2)

    def measure(values: Floats, *, least: float = -math.inf, most: float = math.inf) -> ScoreNumber:
        value, error = float(values[0]), float(np.nanstd(values[1:]))
        low, high = max(least, value - normal * error), min(most, value + normal * error)
        return ScoreNumber(value=value, error=error, lower=low, upper=high)

    slope = None if told.alike else calibration_line(whole, told=told, noise=found.noise)
    ranges = [] if ranked.alike else _groups(found, ends=ranked.labels)
    benefits = _benefits(whole, thresholds=told.thresholds)
    return Evaluation(
        auc=None if ranked.alike else measure(concordance(whole, told=ranked), least=0, most=1),
        slope=None if slope is None or not bounded(slope[1]) else measure(slope[1]),
        intercept=measure(calibration_in_the_large(whole, told=told)),
        brier=measure(_brier(whole, told=told), least=0, most=1),
        whole=_group(found, told=told, first=0, last=SCORE_BINS - 1, level=level),
        groups=tuple(
            _group(found, told=told, first=first, last=last, level=level) for first, last in ranges
        ),
        ends=ranked.labels,
        thresholds=told.thresholds,
        benefits={
            label: measure(benefits[:, place])
            for place, label in enumerate(told.labels[1:-1])
            if not told.alike and label not in told.labels[: place + 1] + told.labels[-1:]
        },
        alike=told.alike,
        usable=found.usable,
    )


def with_draws(found: ScoreHistogram, *, simulation: Simulation, purpose: str) -> Floats:
    """Return noisy counts, then those of other patients of the same population.

    Shape (1 + RUNS, 2, bins).
    """
    whole = other_patients(
        found.counts.ravel(), noise=found.noise, runs=RUNS, simulation=simulation, purpose=purpose
    )
    return whole.reshape(1 + RUNS, *found.counts.shape)


def _groups(found: ScoreHistogram, *, ends: Sequence[str]) -> list[tuple[int, int]]:
    """Return first and last bin of each group: as few as have many more patients than noise.

    By the shares of patients that bins would have were scores normal, not by those that they have.
    Groups end where labels of risk differ.
    """
    total, start, groups = float(found.counts.sum()), 0, []
    for last in range(SCORE_BINS):
        noise = _OVER_NOISE * found.noise * math.sqrt(2 * (last + 1 - start))
        many = total * float(SHARES[start : last + 1].sum()) >= max(_LEAST_IN_A_GROUP, noise)
        if many and may_end(ends, start=start, last=last):
            groups.append((start, last))
            start = last + 1
    if not groups:
        return [(0, SCORE_BINS - 1)]
    return [*groups[:-1], (groups[-1][0], SCORE_BINS - 1)]


def _group(
    found: ScoreHistogram, *, told: Predicted, first: int, last: int, level: float
) -> RiskGroup:
    of = found.counts[:, first : last + 1]
    without, having = of.sum(axis=1)
    deviation = found.noise * math.sqrt(last + 1 - first)
    weights = _positive(of.sum(axis=0))
    return RiskGroup(
        predicted=float(np.average(told.risk[first : last + 1], weights=weights)),
        count=float(without + having),
        deviation=deviation * math.sqrt(2),
        observed=share(
            float(having),
            float(without),
            noise=Component(variance=deviation**2),
            spread=max(0.0, float(without + having)),
            least=max(1.0, 2 * math.sqrt(2) * deviation),
            level=level,
        ),
        first=first,
        last=last,
    )


def concordance(counts: Floats, *, told: Predicted) -> Floats:
    """Return the C-statistic; shape (runs,)."""
    without, having = counts[:, 0], counts[:, 1]
    below = np.cumsum(without, axis=1) - without * (1 - ordered(told))
    pairs = without.sum(axis=1) * having.sum(axis=1)
    return np.asarray(np.clip((having * below).sum(axis=1) / _positive(pairs), 0, 1))


def ordered(told: Predicted) -> Floats:
    """Return the chance that of a pair of one bin the one with the outcome has the higher risk."""
    ill = risk_of(told.eta)
    well = 1 - ill
    below = np.cumsum(well, axis=1) - well / 2
    return np.asarray((ill * below).sum(axis=1) / (ill.sum(axis=1) * well.sum(axis=1)))


def _brier(counts: Floats, *, told: Predicted) -> Floats:
    ill = risk_of(told.eta)
    well = 1 - ill
    wrong = (well * ill**2).sum(axis=1) / well.sum(axis=1)
    short = (ill * well**2).sum(axis=1) / ill.sum(axis=1)
    squared = counts[:, 0] @ wrong + counts[:, 1] @ short
    return np.asarray(squared / _positive(counts.sum(axis=(1, 2))))


def _benefits(counts: Floats, *, thresholds: Floats) -> Floats:
    """Return true positives less weighted false ones, per patient, from each edge on."""
    above = np.cumsum(counts[:, :, ::-1], axis=2)[:, :, ::-1][:, :, 1:]
    total = _positive(counts.sum(axis=(1, 2)))[:, None]
    return np.asarray((above[:, 1] - above[:, 0] * thresholds / (1 - thresholds)) / total)


def _positive(value: Floats) -> Floats:
    return np.asarray(np.maximum(value, 1e-9))
