"""What is published of held-out patients: measures, risks and benefits, recalibration, subgroups.

*One histogram a patient.*  Who calibrates is counted apart from who evaluates.  Without subgroups
the latter are one histogram; with subgroups by m columns they are counted once a column, by its
values, with √m times the noise.  Each column adds up to all who evaluate; these totals are averaged
by what their noise leaves.

*Privacy:* post-processing of noisy counts; :mod:`confide.tables.descent` has the lemma.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from confide.plans.descent import Array
from confide.plans.estimates import Covers, Estimate
from confide.plans.intervals import Share
from confide.plans.simulation import Simulation
from confide.statistics.logistic.evaluation import (
    AS_PREDICTED,
    Evaluation,
    Histogram,
    Line,
    Measure,
    RiskGroup,
    evaluated,
)
from confide.statistics.logistic.recalibration import Recalibration, recalibrated
from confide.tables.descent import SCORE_BINS, DescentAggregate
from confide.tables.relation import domain
from confide.tables.schema import Dataset

TOO_FEW = "too few held out"
HELD_OUT, RECALIBRATED, CALIBRATING = "held out", "recalibrated", "calibrating"
BY_RISK = "risk "
"""What keys of ranges and values of predicted risk begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Noisy histograms of held-out patients.

    Attributes:
        calibrating: Those who calibrate.
        evaluating: Those who evaluate.
        subgroups: Of them, by label.
    """

    calibrating: Histogram | None
    evaluating: Histogram
    subgroups: tuple[tuple[str, Histogram], ...]


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
    parts = list(np.asarray(counts, dtype=np.float64).reshape(-1, 2, SCORE_BINS))
    first = Histogram(counts=parts.pop(0), noise=noise) if aggregate.calibrating else None
    if not aggregate.subgroups:
        (only,) = parts
        return Scores(
            calibrating=first, evaluating=Histogram(counts=only, noise=noise), subgroups=()
        )
    labelled: list[tuple[str, Histogram]] = []
    whole, weight = np.zeros((2, SCORE_BINS)), 0.0
    for name, column in zip(names, aggregate.subgroups, strict=True):
        keys = domain(column, dataset=dataset).keys
        own, parts = parts[: len(keys)], parts[len(keys) :]
        whole, weight = whole + np.sum(own, axis=0) / len(keys), weight + 1 / len(keys)
        labelled += [
            (f"{name}: {key}", Histogram(counts=each, noise=noise))
            for key, each in zip(keys, own, strict=True)
        ]
    evaluating = Histogram(counts=whole / weight, noise=noise / math.sqrt(weight))
    return Scores(calibrating=first, evaluating=evaluating, subgroups=tuple(labelled))


def measured(
    quantity: str, key: tuple[str, ...], one: Measure, *, statistic: str, level: float, usable: bool
) -> Estimate:
    """Return what is published of one measure, without a number where too few are held out."""
    return Estimate(
        statistic=statistic,
        quantity=quantity,
        key=key,
        value=one.value if usable else None,
        standard_error=one.error if usable else None,
        lower=one.lower if usable else None,
        upper=one.upper if usable else None,
        level=level,
        covers=Covers.SAMPLING_AND_NOISE,
        unit="1",
        flags=() if usable else (TOO_FEW,),
    )


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
    theta: Array
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
            yield from self._line(line, scores.calibrating, predicting=predicting)
        yield self._count(HELD_OUT, found.whole, usable=True)
        yield self._share(HELD_OUT, found.whole.observed, usable=found.usable)
        yield self._measure("auc", HELD_OUT, found.auc, usable=found.usable)
        for key, each in ((HELD_OUT, found), (RECALIBRATED, moved)):
            if each is not None:
                yield self._measure("calibration slope", key, each.slope, usable=found.usable)
                yield self._measure(
                    "calibration intercept", key, each.intercept, usable=found.usable
                )
                yield self._measure("brier score", key, each.brier, usable=found.usable)
        yield from self._by_risk(found, moved)
        for label, histogram in scores.subgroups:
            yield from self._subgroup(label, histogram, line=line)

    def _evaluated(
        self, found: Histogram, *, line: Line, purpose: str = "evaluation"
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
        self, line: Line, found: Histogram, *, predicting: Sequence[Estimate]
    ) -> Iterator[Estimate]:
        """Yield how log odds were put right, and the coefficients that follow."""
        whole = float(found.counts.sum())
        yield self._counted(CALIBRATING, whole, deviation=found.noise * math.sqrt(2 * SCORE_BINS))
        usable = found.usable
        yield self._bare("recalibration intercept", RECALIBRATED, line.intercept, usable=usable)
        yield self._bare("recalibration slope", RECALIBRATED, line.slope, usable=usable)
        for place, each in enumerate(predicting):
            value = None if each.value is None else line.slope * each.value
            if value is not None and place == 0:
                value += line.intercept
            yield replace(each, quantity="recalibrated coefficient", value=value)

    def _by_risk(self, found: Evaluation, moved: Evaluation | None) -> Iterator[Estimate]:
        edges = ["0", *(f"{risk:.3g}" for risk in found.thresholds), "1"]
        for place, group in enumerate(found.groups):
            key = f"{BY_RISK}{edges[group.first]} to {edges[group.last + 1]}"
            yield self._count(key, group, usable=found.usable)
            yield self._bare("predicted risk", key, group.predicted, usable=found.usable)
            if moved is not None:
                after = moved.groups[place].predicted
                yield self._bare("recalibrated risk", key, after, usable=found.usable)
            yield self._share(key, group.observed, usable=found.usable)
        yield from self._benefits("net benefit", found)
        if moved is not None:
            yield from self._benefits("recalibrated net benefit", moved)

    def _benefits(self, quantity: str, found: Evaluation) -> Iterator[Estimate]:
        for risk, one in zip(found.thresholds, found.benefits, strict=True):
            yield self._measure(quantity, f"{BY_RISK}{risk:.3g}", one, usable=found.usable)

    def _subgroup(self, label: str, histogram: Histogram, *, line: Line) -> Iterator[Estimate]:
        found = self._evaluated(histogram, line=line, purpose=f"evaluation/{label}")
        yield self._count(label, found.whole, usable=True)
        yield self._share(label, found.whole.observed, usable=found.usable)
        yield self._measure("auc", label, found.auc, usable=found.usable)
        yield self._measure("calibration intercept", label, found.intercept, usable=found.usable)

    def _measure(self, quantity: str, key: str, one: Measure, *, usable: bool) -> Estimate:
        return measured(
            quantity, (key,), one, statistic=self.statistic, level=self.level, usable=usable
        )

    def _share(self, key: str, one: Share, *, usable: bool) -> Estimate:
        if one.value is None or one.standard_error is None:
            return self._bare("observed share", key, 0.0, usable=False)
        told = Measure(value=one.value, error=one.standard_error, lower=one.lower, upper=one.upper)
        return self._measure("observed share", key, told, usable=usable)

    def _bare(self, quantity: str, key: str, value: float, *, usable: bool) -> Estimate:
        """Return a number that follows from others and has no interval of its own."""
        alone = Measure(value=value, error=0.0, lower=value, upper=value)
        found = self._measure(quantity, key, alone, usable=usable)
        return replace(found, standard_error=None, lower=None, upper=None)

    def _count(self, key: str, group: RiskGroup, *, usable: bool) -> Estimate:
        found = self._counted(key, group.count, deviation=group.deviation)
        return found if usable else replace(found, flags=(TOO_FEW,))

    def _counted(self, key: str, value: float, *, deviation: float) -> Estimate:
        width = NormalDist().inv_cdf((1 + self.level) / 2) * deviation
        return Estimate(
            statistic=self.statistic,
            quantity="count",
            key=(key,),
            value=max(value, 0.0),
            standard_error=deviation,
            lower=max(value - width, 0.0),
            upper=max(value + width, 0.0),
            level=self.level,
            covers=Covers.NOISE,
            unit="persons",
        )
