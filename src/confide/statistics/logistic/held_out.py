"""What is published of held-out patients: measures, risks and benefits, recalibration, subgroups.

*One histogram a patient.*  Who calibrates is counted apart from who evaluates, and subgroups once a
column (:mod:`confide.plans.rounds.held_out`).

*Privacy:* post-processing of noisy counts; :mod:`confide.tables.aggregates.descent` has the lemma.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

from confide.arrays import Floats
from confide.plans.estimates import Covers, Estimate
from confide.plans.estimation.intervals import Share
from confide.plans.rounds.held_out import (
    AS_PREDICTED,
    BY_RISK,
    CALIBRATING,
    HELD_OUT,
    RECALIBRATED,
    TOO_FEW,
    CalibrationLine,
    Recalibration,
    judges,
    told_line,
)
from confide.plans.rounds.score_bins import ALIKE, UNBOUNDED
from confide.plans.simulation import Simulation
from confide.statistics.logistic.evaluation import (
    Evaluation,
    RiskGroup,
    ScoreHistogram,
    ScoreNumber,
    evaluated,
)
from confide.statistics.logistic.recalibration import recalibrated
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_terms import SCORE_BINS
from confide.tables.schema import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Noisy histograms of held-out patients.

    Attributes:
        calibrating: Those who calibrate.
        evaluating: Those who evaluate.
        subgroups: Of them, by label.
    """

    calibrating: ScoreHistogram | None
    evaluating: ScoreHistogram
    subgroups: tuple[tuple[str, ScoreHistogram], ...]


def scores_of(
    counts: Sequence[float],
    *,
    noise: float,
    aggregate: DescentAggregate,
    names: Sequence[str],
    dataset: Dataset,
) -> Scores:
    """Take noisy scores apart.

    Args:
        counts: Noisy patients; those of the aggregate's scores.
        noise: Standard deviation of the noise of a count.
        aggregate: The model.
        names: Of the columns of subgroups.
        dataset: Public facts.
    """
    found = judges(counts, aggregate=aggregate, names=names, dataset=dataset)

    def histogram(cells: Floats, *, blurred: float = 1.0) -> ScoreHistogram:
        return ScoreHistogram(counts=cells.reshape(2, SCORE_BINS), noise=noise * blurred)

    return Scores(
        calibrating=None if found.calibrating is None else histogram(found.calibrating),
        evaluating=histogram(found.evaluating, blurred=found.blurred),
        subgroups=tuple((label, histogram(each)) for label, each in found.subgroups),
    )


def measured(
    quantity: str,
    key: tuple[str, ...],
    one: ScoreNumber | None,
    *,
    statistic: str,
    level: float,
    of: Evaluation,
) -> Estimate:
    """Return what is published of one measure, or why it has no number."""
    shown = one if of.usable else None
    missing = TOO_FEW if not of.usable else ALIKE if of.alike else UNBOUNDED
    return Estimate(
        statistic=statistic,
        quantity=quantity,
        key=key,
        value=None if shown is None else shown.value,
        standard_error=None if shown is None else shown.error,
        lower=None if shown is None else shown.lower,
        upper=None if shown is None else shown.upper,
        level=level,
        covers=Covers.SAMPLING_AND_NOISE,
        unit="1",
        flags=() if shown is not None else (missing,),
    )


def _flags(*, usable: bool, alike: bool) -> tuple[str, ...]:
    if not usable:
        return (TOO_FEW,)
    return (ALIKE,) if alike else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Whose evaluation it is.

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

    def published(self, scores: Scores, *, predicting: Sequence[Estimate]) -> Iterator[Estimate]:
        """Yield what is published of held-out patients.

        Args:
            scores: Their noisy histograms.
            predicting: Coefficients that predict, intercept first.
        """
        found = self._evaluated(scores.evaluating, line=AS_PREDICTED)
        line, moved = AS_PREDICTED, None
        if scores.calibrating is not None:
            line = recalibrated(
                scores.calibrating, theta=self.theta, kind=self.kind, simulation=self.simulation
            )
            moved = self._evaluated(scores.evaluating, line=line)
            flags = _flags(usable=scores.calibrating.usable, alike=found.alike)
            yield from self._line(line, scores.calibrating, predicting=predicting, flags=flags)
        yield self._count(HELD_OUT, found.whole, flags=())
        yield self._share(HELD_OUT, found.whole.observed, of=found)
        if found.alike:
            yield self._bare("predicted risk", HELD_OUT, found.whole.predicted, of=found)
        yield self._measure("auc", HELD_OUT, found.auc, of=found)
        for key, each in ((HELD_OUT, found), (RECALIBRATED, moved)):
            if each is not None:
                yield self._measure("calibration slope", key, each.slope, of=each)
                yield self._measure("calibration intercept", key, each.intercept, of=each)
                yield self._measure("brier score", key, each.brier, of=each)
        yield from self._by_risk(found, moved)
        for label, histogram in scores.subgroups:
            yield from self._subgroup(label, histogram, line=line)

    def _evaluated(
        self, found: ScoreHistogram, *, line: CalibrationLine, purpose: str = "evaluation"
    ) -> Evaluation:
        return evaluated(
            found,
            theta=self.theta,
            level=self.level,
            simulation=self.simulation,
            line=line,
            purpose=purpose,
        )

    def _line(
        self,
        line: CalibrationLine,
        found: ScoreHistogram,
        *,
        predicting: Sequence[Estimate],
        flags: tuple[str, ...],
    ) -> Iterator[Estimate]:
        """Yield how log odds were put right, and the coefficients that follow."""
        whole = float(found.counts.sum())
        yield self._counted(CALIBRATING, whole, deviation=found.noise * math.sqrt(2 * SCORE_BINS))
        yield from told_line(
            line, predicting=predicting, statistic=self.statistic, level=self.level, flags=flags
        )

    def _by_risk(self, found: Evaluation, moved: Evaluation | None) -> Iterator[Estimate]:
        for place, group in enumerate(found.groups):
            key = f"{BY_RISK}{found.ends[group.first]} to {found.ends[group.last + 1]}"
            yield self._count(key, group, flags=() if found.usable else (TOO_FEW,))
            yield self._bare("predicted risk", key, group.predicted, of=found)
            if moved is not None:
                after = moved.groups[place].predicted
                yield self._bare("recalibrated risk", key, after, of=found)
            yield self._share(key, group.observed, of=found)
        yield from self._benefits("net benefit", found)
        if moved is not None:
            yield from self._benefits("recalibrated net benefit", moved)

    def _benefits(self, quantity: str, found: Evaluation) -> Iterator[Estimate]:
        for risk, one in found.benefits.items():
            yield self._measure(quantity, f"{BY_RISK}{risk}", one, of=found)

    def _subgroup(
        self, label: str, histogram: ScoreHistogram, *, line: CalibrationLine
    ) -> Iterator[Estimate]:
        found = self._evaluated(histogram, line=line, purpose=f"evaluation/{label}")
        yield self._count(label, found.whole, flags=())
        yield self._share(label, found.whole.observed, of=found)
        yield self._measure("auc", label, found.auc, of=found)
        yield self._measure("calibration intercept", label, found.intercept, of=found)

    def _measure(
        self, quantity: str, key: str, one: ScoreNumber | None, *, of: Evaluation
    ) -> Estimate:
        return measured(quantity, (key,), one, statistic=self.statistic, level=self.level, of=of)

    def _share(self, key: str, one: Share, *, of: Evaluation) -> Estimate:
        if one.value is None or one.standard_error is None:
            return self._alone("observed share", key, None, flags=(TOO_FEW,))
        told = ScoreNumber(
            value=one.value, error=one.standard_error, lower=one.lower, upper=one.upper
        )
        return self._measure("observed share", key, told, of=of)

    def _bare(self, quantity: str, key: str, value: float, *, of: Evaluation) -> Estimate:
        flags = _flags(usable=of.usable, alike=of.alike and key == HELD_OUT)
        return self._alone(quantity, key, value if of.usable else None, flags=flags)

    def _alone(
        self, quantity: str, key: str, value: float | None, *, flags: tuple[str, ...]
    ) -> Estimate:
        """Return a number that follows from others and has no interval of its own."""
        return Estimate(
            statistic=self.statistic,
            quantity=quantity,
            key=(key,),
            value=value,
            standard_error=None,
            lower=None,
            upper=None,
            level=self.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=flags,
        )

    def _count(self, key: str, group: RiskGroup, *, flags: tuple[str, ...]) -> Estimate:
        return replace(self._counted(key, group.count, deviation=group.deviation), flags=flags)

    def _counted(self, key: str, value: float, *, deviation: float) -> Estimate:
        width = NormalDist().inv_cdf((1 + self.level) / 2) * deviation
        return Estimate(
            statistic=self.statistic,
            quantity="count",
            key=(key,),
            value=max(value, 0.0),
            standard_error=deviation,
            lower=max(value - width, 0.0),
            upper=max(value, 0.0) + width,  # of a count below zero, not a point at zero
            level=self.level,
            covers=Covers.NOISE,
            unit="persons",
        )
