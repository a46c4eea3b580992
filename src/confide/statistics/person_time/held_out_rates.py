"""How well a model of counts or hazards predicts rates, on patients it was not fitted to.

Of held-out patients the events and the person-time are summed by public bins of the predicted rate.
From these noisy sums follow observed over expected events, on the whole and by groups of predicted
rate; the slope of observed log rates over predicted ones; and the chance that an event happens at a
higher predicted rate than a unit of person-time has that is drawn at random (C-statistic).

*Recalibration* moves log rates η to a + b·η by those who calibrate: a is the logarithm of their
observed over expected events, or a and b are the line that fits them best; drawn to no change
(:mod:`confide.plans.rounds.held_out`).

*Inside a bin* log rates are taken to be normal, and stretched beyond the last edges by how much
person-time there is (:mod:`confide.plans.rounds.score_bins`).

*Of hazards* (:func:`.hazard_sums.rate_sums`) person-time is the baseline hazard lived through.

*Law.*  Person-time varies by no more than if each had the most, and events with it, at their rate;
beyond that by their expectation times a dispersion, which the spread of the fitted patients tells
and Poisson's law bounds from below.  Noise adds to both.  Observed over expected has Fieller's
interval [Fie54]; the others are the estimate ∓ normal quantile × the spread of sums drawn anew.

*Privacy:* post-processing of noisy sums; held-out patients are in no other answer.

References:
    [Fie54] Fieller. Some problems in interval estimation. JRSS B 16(2), 1954.
        https://doi.org/10.1111/j.2517-6161.1954.tb00159.x
    [MN89] McCullagh, Nelder. Generalized linear models, 2nd ed., ch. 6. Chapman and Hall 1989.
        https://doi.org/10.1201/9780203753736
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from confide.arrays import Floats
from confide.plans.estimation.intervals import ratio_interval
from confide.plans.rounds.descent import score_edges
from confide.plans.rounds.held_out import (
    AS_PREDICTED,
    LEAST_SLOPE,
    CalibrationLine,
    Recalibration,
    drawn_to_none,
)
from confide.plans.rounds.score_bins import SHARES, alike, deviates, stretch_of
from confide.plans.simulation import Simulation
from confide.tables.aggregates.descent_terms import SCORE_BINS

RUNS = 400
FEWEST = 5
"""Expected events need this many standard deviations of the noise of their sum."""
_OVER_NOISE = 6  # of a group
_LEAST_IN_A_GROUP = 20  # events
_OFF = 5.0  # log rates off those predicted
_FARTHEST = 3.0  # a slope, of log rates or of their standard deviation
_MOST_AT_THE_END = 0.01  # share of draws whose slope is as far


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Noisy sums over held-out patients, by bin.

    Attributes:
        events: In units of their bound; shape (SCORE_BINS,).
        time: In units of its bound; shape (SCORE_BINS,).
        noise: Standard deviation of the noise of each, or of events where that of time differs.
        dispersion: Variance of events over their expectation, in these units.
        of_time: Standard deviation of the noise of person-time, where it differs.
    """

    events: Floats
    time: Floats
    noise: float
    dispersion: float
    of_time: float | None = None

    @property
    def time_noise(self) -> float:
        """Standard deviation of the noise of person-time."""
        return self.noise if self.of_time is None else self.of_time


@dataclass(frozen=True, slots=True, kw_only=True)
class RateNumber:
    """One number with its interval; lower and upper are None where it is unbounded."""

    value: float
    error: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RateGroup:
    """Neighbouring bins.

    Attributes:
        first: First bin.
        last: Last bin.
        predicted: Mean rate, in units of events over those of time.
        ratio: Observed over expected events.
    """

    first: int
    last: int
    predicted: float
    ratio: RateNumber


@dataclass(frozen=True, slots=True, kw_only=True)
class RateEvaluation:
    """How a model of counts does on held-out patients.

    Attributes:
        ratio: Observed over expected events.
        slope: Of observed over predicted log rates; None where rates are alike, or where patients
            do not say how far it may reach.
        concordance: C-statistic; None where rates are alike.
        groups: By predicted rate; none where rates are alike.
        alike: Whether the same is predicted of everybody, all but.
        usable: Whether there are enough events.
    """

    ratio: RateNumber
    slope: RateNumber | None
    concordance: RateNumber | None
    groups: tuple[RateGroup, ...]
    alike: bool
    usable: bool


def recalibrated_rates(
    found: Sums, *, theta: Floats, kind: Recalibration, simulation: Simulation
) -> CalibrationLine:
    """Return the line by which log rates are moved.

    Args:
        found: Patients who calibrate.
        theta: The model, intercept first; shape (d,).
        kind: What is put right.
        simulation: Source of reproducible draws.
    """
    eta = _log_rates(found, theta=theta)
    rate = np.exp(eta).mean(axis=1)
    if kind is Recalibration.NONE or not _usable(found, rate=rate):
        return AS_PREDICTED
    events, time = _with_draws(found, rate=rate, simulation=simulation, purpose="recalibration")
    same = alike(score_edges(theta)) or kind is Recalibration.INTERCEPT
    line = None if same else _line(events, time, eta=eta, found=found)
    if line is None:
        least = found.noise * math.sqrt(SCORE_BINS)
        observed, expected = (np.maximum(each, least) for each in (events.sum(axis=1), time @ rate))
        (moved,) = drawn_to_none(np.log(observed / expected)[:, None])
        return CalibrationLine(intercept=moved)
    moved, turned = drawn_to_none(np.column_stack(line) - np.array([0.0, 1.0]))
    return CalibrationLine(intercept=moved, slope=max(LEAST_SLOPE, 1 + turned))


def evaluated_rates(
    found: Sums,
    *,
    theta: Floats,
    level: float,
    simulation: Simulation,
    line: CalibrationLine = AS_PREDICTED,
    purpose: str = "rates",
) -> RateEvaluation:
    """Return how a model does.

    Args:
        found: Its held-out patients.
        theta: The model, intercept first; shape (d,).
        level: Coverage of each interval.
        simulation: Source of reproducible draws.
        line: What log rates were put right by.
        purpose: What the draws are for.
    """
    eta = line.intercept + line.slope * _log_rates(found, theta=theta)
    normal = NormalDist().inv_cdf((1 + level) / 2)
    rate = np.exp(eta).mean(axis=1)
    events, time = _with_draws(found, rate=rate, simulation=simulation, purpose=purpose)
    same = alike(score_edges(theta))
    slope = None if same else _slope(events, time, eta=eta, found=found)

    def measure(values: Floats, *, least: float = -math.inf, most: float = math.inf) -> RateNumber:
        value, error = float(values[0]), float(np.std(values[1:]))
        low, high = max(least, value - normal * error), min(most, value + normal * error)
        return RateNumber(value=value, error=error, lower=low, upper=high)

    return RateEvaluation(
        ratio=_ratio(found, rate=rate, first=0, last=SCORE_BINS - 1, normal=normal),
        slope=None if slope is None else measure(slope),
        concordance=None if same else measure(_concordance(events, time, eta=eta), least=0, most=1),
        groups=tuple(
            RateGroup(
                first=first,
                last=last,
                predicted=float(
                    np.average(
                        rate[first : last + 1],
                        weights=np.maximum(found.time[first : last + 1], 1e-9),
                    )
                ),
                ratio=_ratio(found, rate=rate, first=first, last=last, normal=normal),
            )
            for first, last in ([] if same else _groups(found, rate=rate))
        ),
        alike=same,
        usable=_usable(found, rate=rate),
    )


def _log_rates(found: Sums, *, theta: Floats) -> Floats:
    """Return predicted log rates at evenly filled places of each bin; shape (bins, places)."""
    stretch = stretch_of(found.time, noise=found.time_noise)
    return float(theta[0]) + float(np.linalg.norm(theta[1:])) * deviates(stretch)


def tells_rates(found: Sums, *, theta: Floats) -> bool:
    """Return whether enough events are expected of a model to tell how it does."""
    return _usable(found, rate=np.exp(_log_rates(found, theta=theta)).mean(axis=1))


def _usable(found: Sums, *, rate: Floats) -> bool:
    """Return whether enough events are expected."""
    expected = float(np.maximum(found.time, 0) @ rate)
    return expected > FEWEST * found.noise * math.sqrt(SCORE_BINS)


def _ratio(found: Sums, *, rate: Floats, first: int, last: int, normal: float) -> RateNumber:
    """Return observed over expected events of some bins, with Fieller's interval."""
    inside = slice(first, last + 1)
    observed, expected = float(found.events[inside].sum()), float(found.time[inside] @ rate[inside])
    of_observed = found.noise**2 * (last + 1 - first)
    of_expected = found.time_noise**2 * float(rate[inside] @ rate[inside])
    sampled = found.dispersion * max(expected, 0.0)
    ends = ratio_interval(
        observed,
        expected,
        coefficients=(normal**2 * of_observed, normal**2 * sampled, normal**2 * of_expected),
    )
    value = max(observed, 0.0) / max(expected, 1e-9)
    error = math.sqrt(of_observed + sampled * value + value**2 * of_expected)
    return RateNumber(
        value=value,
        error=error / max(expected, 1e-9),
        lower=None if ends is None else max(0.0, ends[0]),
        upper=None if ends is None else max(0.0, ends[1]),
    )


def _groups(found: Sums, *, rate: Floats) -> list[tuple[int, int]]:
    """Return first and last bin of groups with many more events than noise, by planned shares."""
    total, start, groups = float(found.time.sum()), 0, []
    for last in range(SCORE_BINS):
        inside = slice(start, last + 1)
        events = total * float(SHARES[inside] @ rate[inside])
        noise = _OVER_NOISE * found.noise * math.sqrt(last + 1 - start)
        if events >= max(_LEAST_IN_A_GROUP * found.dispersion, noise):
            groups.append((start, last))
            start = last + 1
    if not groups:
        return [(0, SCORE_BINS - 1)]
    return [*groups[:-1], (groups[-1][0], SCORE_BINS - 1)]


def _with_draws(
    found: Sums, *, rate: Floats, simulation: Simulation, purpose: str
) -> tuple[Floats, Floats]:
    """Return the sums, then those of other patients; each of shape (1 + RUNS, bins)."""
    rng = simulation.generator(purpose)
    happened, lived, noise, more = rng.normal(size=(4, RUNS, SCORE_BINS))
    observed = max(float(found.events.sum()), 0.0) / max(float(found.time @ rate), 1e-9)
    longer = lived * np.sqrt(np.maximum(found.time, 0))
    chance = happened * np.sqrt(found.dispersion * np.maximum(found.events, 0))
    events = found.events + chance + observed * rate * longer + found.noise * noise
    time = found.time + longer + found.time_noise * more
    return np.concatenate([found.events[None], events]), np.concatenate([found.time[None], time])


def _slope(events: Floats, time: Floats, *, eta: Floats, found: Sums) -> Floats | None:
    """Return the slope of :func:`_line`."""
    line = _line(events, time, eta=eta, found=found)
    return None if line is None else line[1]


def _line(
    events: Floats, time: Floats, *, eta: Floats, found: Sums
) -> tuple[Floats, Floats] | None:
    """Return a and b of observed log rates a + b·η over predicted ones; each of shape (runs,).

    b is sought in standard deviations of the log rates.  None where it, or that of more than a few
    draws, is as far as it may go.
    """
    centre = float((SHARES[:, None] * eta).sum() / eta.shape[1])
    spread = float(np.sqrt(SHARES @ ((eta - centre) ** 2).mean(axis=1)))
    x, most = (eta - centre) / spread, _FARTHEST * max(1.0, spread)
    rate = np.exp(eta).mean(axis=1)
    planned = np.maximum(float(time[0].sum()), 1e-9) * SHARES
    noise = found.noise**2 + found.time_noise**2 * rate**2
    weight = 1 / (found.dispersion * planned * rate + noise)
    a, b = np.full(len(events), centre), np.full(len(events), spread)
    for _ in range(25):
        rates = np.exp(np.clip(a[:, None, None] + b[:, None, None] * x, -30, 8))
        by_a, by_b = rates.mean(axis=2), (rates * x).mean(axis=2)
        off = weight * (events - time * by_a)
        s0, s1, s2 = (
            (weight * planned**2 * first * second).sum(axis=1)
            for first, second in ((by_a, by_a), (by_a, by_b), (by_b, by_b))
        )
        g0, g1 = ((off * planned * by).sum(axis=1) for by in (by_a, by_b))
        apart = np.maximum(s0 * s2 - s1**2, 1e-300)
        a = np.clip(a + np.clip((s2 * g0 - s1 * g1) / apart, -1, 1), centre - _OFF, centre + _OFF)
        b = np.clip(b + np.clip((s0 * g1 - s1 * g0) / apart, -1, 1), -most, most)
    far = (np.abs(b) >= most) | (np.abs(a - centre) >= _OFF)
    if far[0] or far.mean() > _MOST_AT_THE_END:
        return None
    slope = b / spread
    return a - slope * centre, slope


def _concordance(events: Floats, time: Floats, *, eta: Floats) -> Floats:
    """Return the chance that an event is at a higher rate than random person-time."""
    rates = np.exp(eta)
    places = (np.arange(eta.shape[1]) + 0.5) / eta.shape[1]
    inside = (rates * places).sum(axis=1) / rates.sum(axis=1)
    below = np.cumsum(time, axis=1) - time * (1 - inside)
    pairs = np.maximum(events.sum(axis=1) * time.sum(axis=1), 1e-9)
    return np.asarray(np.clip((events * below).sum(axis=1) / pairs, 0, 1))
