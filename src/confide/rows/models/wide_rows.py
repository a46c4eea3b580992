"""Rows that answer the questions of a model of many terms or few events, in whole numbers.

*Privacy:* see :mod:`confide.tables.aggregates.wide_models.scale` for the lemma.  Norms and their
sums are rounded up and what they weigh is rounded towards zero, so a patient's part keeps its
bound, and everything a float holds is a whole number below 2⁵³.
"""

import numpy as np

from confide.arrays import Floats, Ints
from confide.errors import EngineError
from confide.plans.rounds.class_walk import AskClassScores
from confide.plans.rounds.descent import Place
from confide.plans.rounds.link import mean_table, root_table
from confide.plans.rounds.wide import AskClipped, AskMeans, AskRecalibration, AskSquares
from confide.rows.models.classes import Classes
from confide.rows.models.exact_sums import weighted_sums
from confide.rows.models.patient_weights import roots_up, rows_of_each, shrunk
from confide.rows.models.person_time import FollowUp, Offsets
from confide.rows.models.placed import placed_terms, scores_at, steps_at
from confide.tables.aggregates.descent_terms import RESIDUAL, ROOT, UNIT, Family
from confide.tables.aggregates.wide_models.scale import (
    MOST_DEVIATION,
    MOST_RESIDUAL,
    OFF_DIAGONAL,
    TIMES,
    WEIGHED,
    WIDER,
    WideScale,
)


class WideRows:
    """Fitted rows of a model of many terms; answers in whole numbers that only the gate may see."""

    __slots__ = ("__beside", "__outcome", "__patient", "__placed", "__tables", "__terms", "scale")

    def __init__(
        self,
        terms: Floats,
        outcome: Ints,
        patient: Ints,
        *,
        scale: WideScale,
        beside: FollowUp | Offsets | Classes | None = None,
    ) -> None:
        """Take in terms in 1/UNIT, outcomes, each row's patient, and follow-up, time or classes.

        Outcomes are in 1/RESIDUAL, but of counts numbers of events.
        """
        self.scale = scale
        self.__terms, self.__outcome, self.__patient = terms, outcome, patient
        self.__beside = beside
        means = Family.HAZARD if scale.counts else scale.family  # the bound of events is no end
        self.__tables = mean_table(means), root_table(scale.family)
        self.__placed: tuple[object, Floats, Ints] | None = None

    def __repr__(self) -> str:
        return "<secret>"

    def answer(self, ask: object) -> tuple[int, ...]:
        """Return the exact answer to a question.

        Raises:
            EngineError: If it is none of a model of many terms.
        """
        scale, patient = self.scale, self.__patient
        match ask:
            case AskMeans():
                return self._means()
            case AskSquares(centre=centre):
                most = scale.squares_radius
                found = wide_squares(self.__terms, patient, centre=centre, radius=most)
                return tuple(scale.squares * each for each in found)
            case AskClipped(at=place, unit=unit):
                plain, norms = self._at(place)
                if isinstance(self.__beside, Classes):
                    each = self.__beside.residuals(plain, place)
                    found = clipped_by_class(plain, norms, each, patient)
                    return tuple(TIMES * each for each in found)
                residual, _ = self._outcomes(plain, place, unit=unit)
                found = clipped_gradient(plain, norms, residual, patient)
                return tuple(TIMES * each for each in found)
            case AskRecalibration(at=place, centre=centre, spread=spread, unit=unit) if (
                not scale.several
            ):
                plain, _ = self._at(place)
                first = self.__beside.size if isinstance(self.__beside, FollowUp) else 0
                score = scores_at(plain, place, first=first)
                residual, v = self._outcomes(plain, place, unit=unit)
                if scale.counts:
                    residual = widened(residual)
                turn, bend = turn_and_bend(
                    score, residual, v, patient, centre=centre, spread=spread
                )
                return (
                    *(scale.turn * each for each in turn),
                    *(scale.bend * each for each in bend if not scale.counts),
                )
            case AskClassScores(at=place, centres=centres, spreads=spreads) if isinstance(
                self.__beside, Classes
            ):
                plain, _ = self._at(place)
                found = turn_by_class(
                    self.__beside.log_steps(plain, place),
                    self.__beside.residuals(plain, place),
                    patient,
                    centres=centres,
                    spreads=spreads,
                )
                return tuple(scale.turn * each for each in found)
            case _:
                raise EngineError("The rows of a model have no answer to this.")

    def _means(self) -> tuple[int, ...]:
        """Return means of the terms, with the outcome or totals beside them."""
        scale, patient, beside = self.scale, self.__patient, self.__beside
        if isinstance(beside, FollowUp | Classes):
            found = _bounded_sums(self.__terms, patient, radius=scale.radius)
        else:
            outcome = self.__outcome
            if beside is not None:
                outcome = beside.shares() // (UNIT**2 // RESIDUAL)
            found = wide_means(self.__terms, outcome, patient, radius=scale.radius)
        return (*(scale.means * each for each in found), *self._cells())

    def _cells(self) -> tuple[int, ...]:
        """Return exits; or rows by cell of counts or by class, those of a patient 1/k each."""
        scale, beside = self.scale, self.__beside
        if isinstance(beside, FollowUp):
            return tuple(scale.totals * UNIT * int(each) for each in beside.exits())
        if isinstance(beside, Classes):
            place = beside.values
        elif scale.counts:
            place = np.searchsorted(np.array(scale.edges[1:-1]), self.__outcome, side="right")
        else:
            return ()
        weights = UNIT // rows_of_each(self.__patient)
        found = np.bincount(place, weights=weights, minlength=scale.cells)
        return tuple(scale.totals * int(each) for each in found)

    def _outcomes(self, plain: Floats, place: Place, *, unit: int) -> tuple[Ints, Ints]:
        """Return r and v of each row, in 1/RESIDUAL; of hazards v is what was lived through."""
        means, roots = self.__tables
        if isinstance(self.__beside, Offsets):
            expected, most = means[steps_at(plain, place, self.__beside)], MOST_RESIDUAL * RESIDUAL
            residual = self.__outcome * RESIDUAL // unit - expected
            return np.clip(residual, -most, most), expected
        if self.__beside is None:
            steps = steps_at(plain, place)
            root = roots[steps]
            return self.__outcome - means[steps], root * root // (ROOT**2 // RESIDUAL)
        if isinstance(self.__beside, Classes):
            raise EngineError("Classes have a residual each.")
        scores = scores_at(plain, place, first=self.__beside.size)
        lived, residual = self.__beside.lived(scores, place, means)
        return residual.sum(axis=1), lived.sum(axis=1)

    def _at(self, place: Place) -> tuple[Floats, Ints]:
        """Return z and ‖z‖ in 1/UNIT, kept between rounds."""
        if self.__placed is None or self.__placed[0] != place.whitening:
            plain = placed_terms(self.__terms, place)
            self.__placed = place.whitening, plain, norms_up(plain)
        return self.__placed[1:]


def wide_means(terms: Floats, outcome: Ints, patient: Ints, *, radius: int) -> list[int]:
    """Return Σ w·(1, x, y) in 1/UNIT.

    Args:
        terms: In 1/UNIT, the intercept first; shape (rows, d + 1).
        outcome: In 1/RESIDUAL; shape (rows,).
        patient: Number of each row's patient, from 0; shape (rows,).
        radius: R·UNIT.
    """
    whole = np.column_stack([terms, (outcome // (RESIDUAL // UNIT)).astype(np.float64)])
    return _bounded_sums(whole, patient, radius=radius)


def wide_squares(
    terms: Floats, patient: Ints, *, centre: tuple[int, ...], radius: int
) -> list[int]:
    """Return Σ w·(x − m)² by term in 1/UNIT.

    Args:
        terms: In 1/UNIT, the intercept first; shape (rows, d + 1).
        patient: Number of each row's patient, from 0; shape (rows,).
        centre: m in 1/UNIT, of at most 1; shape (d,).
        radius: R'·UNIT.
    """
    apart = terms[:, 1:] - np.array(centre, dtype=np.float64)
    return _bounded_sums(np.floor(apart * apart / UNIT), patient, radius=radius)


def norms_up(rows: Floats) -> Ints:
    """Return the norm of each row of whole numbers, rounded up; shape (rows,)."""
    return roots_up(np.einsum("ij,ij->i", rows, rows).astype(np.int64))


def clipped_gradient(plain: Floats, norms: Ints, residual: Ints, patient: Ints) -> list[int]:
    """Return Σ w·r·z in 1/WEIGHED, w = min(1/k, 1/Σ|r|·‖z‖).

    Args:
        plain: z in 1/UNIT; shape (rows, d + 1).
        norms: ‖z‖ in 1/UNIT, rounded up; shape (rows,).
        residual: r in 1/RESIDUAL; shape (rows,).
        patient: Number of each row's patient, from 0; shape (rows,).
    """
    size = _sizes(np.abs(residual) * norms, patient, radius=UNIT * RESIDUAL)
    return weighted_sums(plain, _towards_zero(residual * WEIGHED, size))


def clipped_by_class(plain: Floats, norms: Ints, residuals: Ints, patient: Ints) -> list[int]:
    """Return Σ w·r_c·z by class and then term in 1/WEIGHED, w = min(1/k, 1/Σ‖r‖·‖z‖).

    Args:
        plain: z in 1/UNIT; shape (rows, d + 1).
        norms: ‖z‖ in 1/UNIT, rounded up; shape (rows,).
        residuals: r in 1/RESIDUAL; shape (rows, K).
        patient: Number of each row's patient, from 0; shape (rows,).
    """
    length = roots_up(np.einsum("ij,ij->i", residuals, residuals))
    size = _sizes(length * norms, patient, radius=UNIT * RESIDUAL)
    weights = (_towards_zero(each * WEIGHED, size) for each in residuals.T)
    return [value for one in weights for value in weighted_sums(plain, one)]


def turn_by_class(
    scores: Ints,
    residuals: Ints,
    patient: Ints,
    *,
    centres: tuple[int, ...],
    spreads: tuple[int, ...],
) -> list[int]:
    """Return Σ r_c·s_c/k by class in 1/(RESIDUAL·UNIT); see :func:`turn_and_bend`.

    Args:
        scores: θ_cᵀz in steps of the link; shape (rows, K).
        residuals: r in 1/RESIDUAL; shape (rows, K).
        patient: Number of each row's patient, from 0; shape (rows,).
        centres: The score that counts as 0, by class, in the same steps.
        spreads: The score that counts as one more, in the same steps; above 0.
    """
    most, each = MOST_DEVIATION * UNIT, rows_of_each(patient)[:, None]
    s = np.clip((scores - np.array(centres)) * UNIT // np.array(spreads), -most, most)
    return [int(value) for value in _towards_zero(residuals * s, each).sum(axis=0)]


def widened(residual: Ints) -> Ints:
    """Return r/WIDER of counts, cut at 1."""
    wide = _towards_zero(residual, np.full_like(residual, WIDER))
    return np.asarray(np.clip(wide, -RESIDUAL, RESIDUAL))


def turn_and_bend(
    score: Ints, residual: Ints, v: Ints, patient: Ints, *, centre: int, spread: int
) -> tuple[list[int], list[int]]:
    """Return Σ r·q/k and Σ v·qqᵀ/k, on and above the diagonal, both in 1/(RESIDUAL·UNIT).

    Args:
        score: θᵀz in steps of the link; shape (rows,).
        residual: r in 1/RESIDUAL; shape (rows,).
        v: In 1/RESIDUAL; shape (rows,).
        patient: Number of each row's patient, from 0; shape (rows,).
        centre: The score that counts as 0, in the same steps.
        spread: The score that counts as one more, in the same steps; above 0.
    """
    most = MOST_DEVIATION * UNIT
    s = np.clip((score - centre) * UNIT // spread, -most, most)
    off = _towards_zero(s * OFF_DIAGONAL, np.full_like(s, 1024))
    each = rows_of_each(patient)
    turn = (residual * UNIT, residual * s)
    bend = (v * UNIT, v * off, v * (s * s // UNIT))
    of_both = [[int(_towards_zero(one, each).sum()) for one in part] for part in (turn, bend)]
    return of_both[0], of_both[1]


def _bounded_sums(rows: Floats, patient: Ints, *, radius: int) -> list[int]:
    """Return Σ w·row, w = min(1/k, radius/S) with S the sum of the norms of a patient's rows."""
    weighed = shrunk(rows, _sizes(norms_up(rows), patient, radius=radius), most=radius)
    return weighted_sums(weighed, np.ones(len(rows), dtype=np.int64))


def _sizes(norms: Ints, patient: Ints, *, radius: int) -> Ints:
    """Return max(k·radius, S) of each row's patient."""
    total = np.bincount(patient, weights=norms)[patient].astype(np.int64)
    return np.asarray(np.maximum(total, rows_of_each(patient) * radius), dtype=np.int64)


def _towards_zero(values: Ints, by: Ints) -> Ints:
    return np.asarray(np.sign(values) * (np.abs(values) // by), dtype=np.int64)
