"""What is published of how a model of counts or hazards does on held-out patients."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from confide.arrays import Floats
from confide.plans.estimates import Covers, Estimate
from confide.plans.rounds.held_out import (
    AS_PREDICTED,
    HELD_OUT,
    RECALIBRATED,
    TOO_FEW,
    CalibrationLine,
    Recalibration,
    told_line,
)
from confide.plans.rounds.score_bins import ALIKE, UNBOUNDED, labels
from confide.plans.simulation import Simulation
from confide.statistics.person_time.held_out_rates import (
    RateEvaluation,
    RateNumber,
    Sums,
    evaluated_rates,
    recalibrated_rates,
    tells_rates,
)

RATIO, SLOPE, CONCORDANCE = "observed to expected", "calibration slope", "concordance"
OF_SUBGROUPS = ("count", "person-time", RATIO, SLOPE, CONCORDANCE)
BY_RATE = "predicted rate "
"""What keys of ranges of predicted rates begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRates:
    """A model of rates, and whose evaluation it is.

    Attributes:
        statistic: Its id.
        level: Coverage of each interval.
        theta: The model, intercept first; shape (d,).
        kind: What is put right.
        simulation: Source of reproducible draws.
    """

    statistic: str
    level: float
    theta: Floats
    kind: Recalibration
    simulation: Simulation

    def line(self, calibrating: Sums | None) -> CalibrationLine:
        """Return what log rates are moved by; no change where nobody calibrates."""
        if calibrating is None:
            return AS_PREDICTED
        return recalibrated_rates(
            calibrating, theta=self.theta, kind=self.kind, simulation=self.simulation
        )

    def evaluated(
        self, found: Sums, *, line: CalibrationLine = AS_PREDICTED, purpose: str = "rates"
    ) -> RateEvaluation:
        """Return how the model does, moved by a line."""
        return evaluated_rates(
            found,
            theta=self.theta,
            level=self.level,
            simulation=self.simulation,
            line=line,
            purpose=purpose,
        )

    def put_right(
        self,
        line: CalibrationLine,
        calibrating: Sums,
        *,
        predicting: Sequence[Estimate],
        alike: bool,
        intercepts: int = 1,
        shift: float = 0.0,
    ) -> Iterator[Estimate]:
        """Yield how log rates were put right, and the coefficients that follow.

        Args:
            line: By which they were, in the units of ``theta``.
            calibrating: By whom.
            predicting: Coefficients that predict, intercepts first.
            alike: Whether the same is predicted of everybody.
            intercepts: How many there are.
            shift: What log rates of ``theta`` lack to be those of the coefficients.
        """
        flags = (ALIKE,) if alike else ()
        if not tells_rates(calibrating, theta=self.theta):
            flags = (TOO_FEW,)
        yield from told_line(
            replace(line, intercept=line.intercept + (1 - line.slope) * shift),
            predicting=predicting,
            statistic=self.statistic,
            level=self.level,
            flags=flags,
            intercepts=intercepts,
        )

    def measure(
        self,
        quantity: str,
        key: str,
        found: RateEvaluation,
        measure: RateNumber | None,
        *,
        times: float = 1.0,
        unit: str = "1",
    ) -> Estimate:
        """Return what is published of one measure, or why it has no number."""
        unbounded = measure is not None and (measure.lower is None or measure.upper is None)
        shown = None if unbounded or not found.usable else measure
        missing = TOO_FEW if not found.usable else ALIKE if found.alike else UNBOUNDED
        return Estimate(
            statistic=self.statistic,
            quantity=quantity,
            key=(key,),
            value=None if shown is None else times * shown.value,
            standard_error=None if shown is None else times * shown.error,
            lower=None if shown is None or shown.lower is None else times * shown.lower,
            upper=None if shown is None or shown.upper is None else times * shown.upper,
            level=self.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit=unit,
            flags=() if shown is not None else (TOO_FEW if unbounded else missing,),
        )

    def calibration(self, key: str, found: RateEvaluation) -> Iterator[Estimate]:
        """Yield observed over expected events and the slope of all."""
        yield self.measure(RATIO, key, found, found.ratio)
        yield self.measure(SLOPE, key, found, found.slope)

    def number(
        self, quantity: str, key: str, value: float, *, deviation: float, unit: str
    ) -> Estimate:
        """Return a noisy number of patients, or their time."""
        width = NormalDist().inv_cdf((1 + self.level) / 2) * deviation
        return Estimate(
            statistic=self.statistic,
            quantity=quantity,
            key=(key,),
            value=max(value, 0.0),
            standard_error=deviation,
            lower=max(value - width, 0.0),
            upper=max(value, 0.0) + width,
            level=self.level,
            covers=Covers.NOISE,
            unit=unit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RateUnits:
    """What noisy sums over held-out patients are in.

    Attributes:
        shift: Logarithm of a rate of the sums in physical units.
        rate: Unit of a rate.
        time: Most person-time of a patient, in ``time_unit``; or 1 person.
        time_unit: Of person-time; "persons" where everybody counts alike.
    """

    shift: float
    rate: str
    time: float
    time_unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSums:
    """Noisy sums over held-out patients, by what they are for.

    Attributes:
        calibrating: Of those who calibrate, if anybody does.
        evaluating: Of those who evaluate.
        subgroups: Of them, by label.
    """

    calibrating: Sums | None
    evaluating: Sums
    subgroups: tuple[tuple[str, Sums], ...] = ()


def published_rates(
    judged: JudgedRates, sums: RateSums, *, units: RateUnits, predicting: Sequence[Estimate]
) -> Iterator[Estimate]:
    """Yield the estimates of an evaluation of counts.

    Args:
        judged: The model.
        sums: Its held-out patients.
        units: What they are in.
        predicting: Coefficients that predict, intercept first.
    """
    found, line = judged.evaluated(sums.evaluating), judged.line(sums.calibrating)
    if sums.calibrating is not None:
        yield from judged.put_right(
            line,
            sums.calibrating,
            predicting=predicting,
            alike=found.alike,
            shift=units.shift,
        )
    yield from judged.calibration(HELD_OUT, found)
    if sums.calibrating is not None:
        yield from judged.calibration(RECALIBRATED, judged.evaluated(sums.evaluating, line=line))
    yield judged.measure(CONCORDANCE, HELD_OUT, found, found.concordance)
    rates = [group.predicted * math.exp(units.shift) for group in found.groups]
    for group, predicted, label in zip(found.groups, rates, labels(rates), strict=True):
        key = BY_RATE + label
        yield judged.measure(RATIO, key, found, group.ratio)
        yield judged.measure(
            "observed rate", key, found, group.ratio, times=predicted, unit=units.rate
        )
    for label, each in sums.subgroups:
        yield from _subgroup(judged, label, each, line=line, units=units)


def _subgroup(
    judged: JudgedRates, label: str, sums: Sums, *, line: CalibrationLine, units: RateUnits
) -> Iterator[Estimate]:
    found = judged.evaluated(sums, line=line, purpose=f"rates/{label}")
    persons = units.time_unit == "persons"
    yield judged.number(
        "count" if persons else "person-time",
        label,
        units.time * float(sums.time.sum()),
        deviation=units.time * sums.time_noise * len(sums.time) ** 0.5,
        unit=units.time_unit,
    )
    yield from judged.calibration(label, found)
    yield judged.measure(CONCORDANCE, label, found, found.concordance)
