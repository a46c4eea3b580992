"""How a model of several classes does on held-out patients: each class against the rest.

*Recalibration* moves η_c to a_c + b·η_c, one slope for all and Σ a_c = 0, so that it stays a model
of the same terms.  Of Gaussian terms the share of class c after it is known in each bin of its
share before; a and b are where those who calibrate have, in all bins, as many of each class as the
moved shares say, and no more of it where its share before is higher (Newton's steps).  The law of
(a, b) is one step more for each of many redrawn histograms, and they are drawn to no change
(:mod:`confide.plans.rounds.held_out`).

*Utility:* a patient is in one histogram for each class, and these are redrawn as if they were of
different ones, so the error of (a, b) is somewhat too large.

*Privacy:* post-processing of noisy counts; held-out patients are in no other answer.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from confide.arrays import Floats
from confide.plans.estimates import Covers, Estimate
from confide.plans.rounds.classes import gaussian_shares, share_edges, share_log_odds
from confide.plans.rounds.held_out import (
    HELD_OUT,
    LEAST_SLOPE,
    RECALIBRATED,
    TOO_FEW,
    Judges,
    Recalibration,
    drawn_to_none,
)
from confide.plans.rounds.score_bins import ALIKE, PLACES, alike, other_patients
from confide.plans.simulation import Simulation
from confide.statistics.logistic.evaluation import RUNS, Evaluation, ScoreHistogram, judged
from confide.statistics.logistic.held_out import measured
from confide.statistics.logistic.predictions import Predicted
from confide.tables.aggregates.descent_terms import RESIDUAL, SCORE_BINS, SCORE_CUTS

MEASURES = ("auc", "calibration slope", "calibration intercept", "brier score")
_STEPS, _FARTHEST_LEVEL, _MOST_SLOPE = 20, 4.0, 3.0
_SMALL = 1e-4  # of a numerical derivative
_LEAST_SHARE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassLine:
    """What η_c is moved to: a_c + b·η_c.

    Attributes:
        levels: a, which add up to 0; shape (K,).
        slope: b, above 0.
    """

    levels: Floats
    slope: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClasses:
    """A model of several classes, and whose evaluation it is.

    Attributes:
        statistic: Its id.
        level: Coverage of each interval.
        theta: Coefficients by class; shape (K, d).
        names: Of the classes.
        reference: Place of the one that others are compared with.
        kind: What is put right.
        noise: Standard deviation of the noise of a count.
        simulation: Source of reproducible draws.
    """

    statistic: str
    level: float
    theta: Floats
    names: Sequence[str]
    reference: int
    kind: Recalibration
    noise: float
    simulation: Simulation

    def published(self, found: Judges, *, predicting: Sequence[Estimate]) -> Iterator[Estimate]:
        """Yield what is published of held-out patients.

        Args:
            found: Noisy counts by class, by whether they are of it, and by bin of its share.
            predicting: Coefficients that predict, by term, intercept first, and then class.
        """
        line = None
        if found.calibrating is not None:
            line = self.line(found.calibrating)
            yield from self._told(line, found.calibrating, predicting=predicting)
        yield from self._measures(HELD_OUT, found.evaluating, line=None, blurred=found.blurred)
        if line is not None:
            whole = found.evaluating
            yield from self._measures(RECALIBRATED, whole, line=line, blurred=found.blurred)
        for label, each in found.subgroups:
            yield from self._counts(label, each)
            yield from self._measures(label, each, line=line)

    def line(self, calibrating: Floats) -> ClassLine:
        """Return what η is moved by; no change where too few calibrate."""
        nothing = ClassLine(levels=np.zeros(len(self.theta)))
        counts = self._apart(calibrating)
        if not self._usable(counts) or self.kind is Recalibration.NONE:
            return nothing
        turned = self.kind is Recalibration.LINE and not any(self._alike())
        moved = _Moved(theta=self.theta, edges=self._edges(), turned=turned)
        drawn = other_patients(
            counts.ravel(),
            noise=self.noise,
            runs=RUNS,
            simulation=self.simulation,
            purpose="recalibration",
        ).reshape(1 + RUNS, *counts.shape)
        where = moved.solved(counts)
        others = None if where is None else moved.nearby(drawn[1:], where=where)
        if where is None or others is None:
            return nothing
        *levels, last = drawn_to_none(np.vstack([where, others])[:, : moved.size])
        if not turned:
            levels, last = [*levels, last], 0.0
        return ClassLine(levels=np.array([*levels, -sum(levels)]), slope=max(LEAST_SLOPE, 1 + last))

    def evaluated(
        self, cells: Floats, *, line: ClassLine | None, purpose: str, blurred: float = 1.0
    ) -> list[Evaluation]:
        """Return how the model tells each class from the rest."""
        edges, inside = self._edges(), share_log_odds(self.theta, places=PLACES)
        after = inside if line is None else _inside(self.theta, edges=edges, line=line)
        found = []
        for c, (each, same) in enumerate(zip(self._apart(cells), self._alike(), strict=True)):
            ranked = Predicted(eta=inside[c], edges=np.log(edges[c] / (1 - edges[c])), alike=same)
            found.append(
                judged(
                    ScoreHistogram(counts=each, noise=self.noise * blurred),
                    told=replace(ranked, eta=after[c]),
                    ranked=ranked,
                    level=self.level,
                    simulation=self.simulation,
                    purpose=f"{purpose} of class {c}",
                )
            )
        return found

    def _apart(self, cells: Floats) -> Floats:
        return cells.reshape(len(self.theta), 2, SCORE_BINS)

    def _edges(self) -> Floats:
        """Return the shares between the bins of each class; shape (K, bins − 1)."""
        edges = np.rint(share_edges(self.theta, percents=SCORE_CUTS) * RESIDUAL) / RESIDUAL
        return np.asarray(np.clip(edges, 1 / RESIDUAL, 1 - 1 / RESIDUAL))

    def _alike(self) -> list[bool]:
        return [alike((each * RESIDUAL).tolist()) for each in self._edges()]

    def _usable(self, counts: Floats) -> bool:
        """Return whether there are enough of each class, and not of it."""
        return all(ScoreHistogram(counts=each, noise=self.noise).usable for each in counts)

    def _told(
        self, line: ClassLine, calibrating: Floats, *, predicting: Sequence[Estimate]
    ) -> Iterator[Estimate]:
        """Yield how η was put right, and the coefficients that follow."""
        reference = self.names[self.reference]
        apart = line.levels - line.levels[self.reference]
        others = [place for place in range(len(self.names)) if place != self.reference]
        known = self._usable(self._apart(calibrating))
        flags = () if known else (TOO_FEW,)
        for place in others:
            key = (f"{self.names[place]} vs {reference}", RECALIBRATED)
            value = float(apart[place]) if known else None
            yield self._alone("recalibration intercept", key, value, flags=flags)
        sloped = flags or ((ALIKE,) if any(self._alike()) else ())
        value = line.slope if known else None
        yield self._alone("recalibration slope", ("all classes", RECALIBRATED), value, flags=sloped)
        for number, each in enumerate(predicting):
            moved = None if each.value is None else line.slope * each.value
            if moved is not None and number < len(others):
                moved += float(apart[others[number]])
            yield replace(each, quantity="recalibrated coefficient", value=moved)

    def _measures(
        self, key: str, cells: Floats, *, line: ClassLine | None, blurred: float = 1.0
    ) -> Iterator[Estimate]:
        purpose = "evaluation" if key in (HELD_OUT, RECALIBRATED) else f"evaluation/{key}"
        held = self.evaluated(cells, line=line, purpose=purpose, blurred=blurred)
        for name, each in zip(self.names, held, strict=True):
            values = (each.auc, each.slope, each.intercept, each.brier)
            for quantity, one in zip(MEASURES, values, strict=True):
                if key == RECALIBRATED and quantity == "auc":
                    continue
                label = (f"{name} vs the rest", key)
                yield measured(
                    quantity, label, one, statistic=self.statistic, level=self.level, of=each
                )

    def _counts(self, label: str, cells: Floats) -> Iterator[Estimate]:
        """Yield how many a subgroup has, once in the line of each class: a mean of all classes'."""
        value = float(cells.sum()) / len(self.names)
        deviation = self.noise * math.sqrt(len(cells)) / len(self.names)
        width = NormalDist().inv_cdf((1 + self.level) / 2) * deviation
        for name in self.names:
            alone = self._alone("count", (f"{name} vs the rest", label), max(value, 0.0), flags=())
            yield replace(
                alone,
                standard_error=deviation,
                lower=max(value - width, 0.0),
                upper=max(value, 0.0) + width,
                covers=Covers.NOISE,
                unit="persons",
            )

    def _alone(
        self, quantity: str, key: tuple[str, ...], value: float | None, *, flags: tuple[str, ...]
    ) -> Estimate:
        return Estimate(
            statistic=self.statistic,
            quantity=quantity,
            key=key,
            value=value,
            standard_error=None,
            lower=None,
            upper=None,
            level=self.level,
            covers=Covers.SAMPLING_AND_NOISE,
            unit="1",
            flags=flags,
        )


class _Moved:
    """What a line does to the shares of Gaussian terms, bin by bin."""

    def __init__(self, *, theta: Floats, edges: Floats, turned: bool) -> None:
        found = gaussian_shares(theta)
        self._shares = found.shares
        self._eta = np.log(np.maximum(found.shares, _LEAST_SHARE))
        self._bins = np.array(
            [
                np.searchsorted(e, s, side="right")
                for e, s in zip(edges, self._shares.T, strict=True)
            ]
        )
        self._many = np.array([np.bincount(b, minlength=SCORE_BINS) for b in self._bins])
        self._turned = turned
        self.size = len(theta) - 1 + turned
        self._x = self._by_bin(self._eta - (self._shares * self._eta).sum(axis=1, keepdims=True))

    def _by_bin(self, values: Floats) -> Floats:
        """Return the mean in each bin of each class; shape (K, bins)."""
        sums = [
            np.bincount(b, weights=v, minlength=SCORE_BINS)
            for b, v in zip(self._bins, values.T, strict=True)
        ]
        return np.asarray(sums / np.maximum(self._many, 1))

    def shares(self, line: ClassLine) -> Floats:
        """Return the shares after it; shape (points, K)."""
        powers = line.levels + line.slope * self._eta
        powers = np.exp(powers - powers.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))

    def _off(self, counts: Floats, where: Floats) -> Floats:
        """Return what numbers of each class are off, and along their shares; (runs, size).

        Args:
            counts: Shape (runs, K, 2, bins).
            where: a but the last, then b − 1 if it is sought.
        """
        k = counts.shape[1]
        levels = np.append(where[: k - 1], -where[: k - 1].sum())
        line = ClassLine(levels=levels, slope=1 + (where[k - 1] if self._turned else 0.0))
        expected = counts.sum(axis=2) * self._by_bin(self.shares(line))
        off = counts[:, :, 1] - expected
        levels_off = off.sum(axis=2)[:, :-1] - off.sum(axis=2)[:, -1:]
        if not self._turned:
            return np.asarray(levels_off)
        return np.column_stack([levels_off, (off * self._x).sum(axis=(1, 2))])

    def _slopes(self, counts: Floats, where: Floats) -> Floats:
        """Return how far each of these moves with each parameter; shape (size, size)."""
        one = counts[None]
        moved = [
            (self._off(one, where + step)[0] - self._off(one, where - step)[0]) / (2 * _SMALL)
            for step in _SMALL * np.eye(self.size)
        ]
        return np.column_stack(moved)

    def solved(self, counts: Floats) -> Floats | None:
        """Return the parameters of some counts; None where none is found."""
        where: Floats = np.zeros(self.size)
        for _ in range(_STEPS):
            off = self._off(counts[None], where)[0]
            try:
                step = np.linalg.solve(self._slopes(counts, where), off)
            except np.linalg.LinAlgError:
                return None
            moved = where - np.clip(step, -1, 1)
            where = np.asarray(np.clip(moved, -_FARTHEST_LEVEL, _FARTHEST_LEVEL))
            if self._turned:
                where[-1] = min(max(where[-1], LEAST_SLOPE - 1), _MOST_SLOPE)
            if float(np.abs(step).max()) < _SMALL:
                return where
        return None

    def nearby(self, counts: Floats, *, where: Floats) -> Floats | None:
        """Return one step from there for other counts, shape (runs, size); None where none is."""
        slopes = self._slopes(np.asarray(counts.mean(axis=0)), where)
        try:
            return np.asarray(where - np.linalg.solve(slopes, self._off(counts, where).T).T)
        except np.linalg.LinAlgError:
            return None


def _inside(theta: Floats, *, edges: Floats, line: ClassLine) -> Floats:
    """Return log odds after a line at evenly filled places of each bin; (K, bins, places)."""
    before = gaussian_shares(theta).shares
    moved = _Moved(theta=theta, edges=edges, turned=False).shares(line)
    odds = np.log(np.maximum(moved, _LEAST_SHARE)) - np.log(np.maximum(1 - moved, _LEAST_SHARE))
    found = np.empty((len(theta), *PLACES.shape))
    for c, each in enumerate(odds.T):
        order = np.argsort(before[:, c], kind="stable")
        cuts = np.searchsorted(before[order, c], edges[c], side="right")
        for j, part in enumerate(np.split(each[order], cuts)):
            share = (np.arange(PLACES.shape[1]) + 0.5) / PLACES.shape[1]
            found[c, j] = np.quantile(part, share) if len(part) else 0.0
    return found
