"""Rows that answer the questions of a model in rounds, in whole numbers.

*Privacy:* see :mod:`confide.tables.aggregates.descent` for the lemma.  What a row adds is a
function of its own patient's kept rows and of the question: all products and sums stay below 2⁵³ in
float64, where they are exact in any order, tables are looked up by whole indices, and the rest is
comparison, integer division, floor and one correctly rounded square root.  So no neighbour, thread
or library moves anybody's part by a unit, which rounding elsewhere could not promise.

*Utility:* two matrix products a round; 500,000 rows of 50 terms take well under a second a round.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from confide.arrays import Floats, Ints
from confide.errors import EngineError
from confide.plans.rounds.descent import (
    AskCurvature,
    AskGradient,
    AskMoments,
    AskScores,
    Place,
)
from confide.plans.rounds.link import FARTHEST, SIZE, STEPS, mean_table, root_table
from confide.rows.cells.layout import Layout
from confide.rows.models.classes import Classes, parts
from confide.rows.models.exact_sums import products, weighted_sums
from confide.rows.models.held_out import Parts, parts_of
from confide.rows.models.patient_weights import (
    moment_weighed,
    rows_of_each,
    scaled_moments,
    summed_by_patient,
    weighed,
)
from confide.rows.models.person_time import FollowUp, Offsets, follow_up, offsets
from confide.rows.models.placed import placed_terms, scores_at, steps_at
from confide.rows.models.wide_rows import WideRows
from confide.rows.relational.compiler import Alone
from confide.rows.relational.kept_rows import kept_rows
from confide.rows.relational.table_rows import Scope
from confide.tables.aggregates.check_descent import check_descent
from confide.tables.aggregates.descent import DescentAggregate
from confide.tables.aggregates.descent_scale import scale_of
from confide.tables.aggregates.descent_terms import (
    PARTS,
    RESIDUAL,
    ROOT,
    SCORE_BINS,
    UNIT,
    Family,
    terms,
)
from confide.tables.aggregates.wide_models.scale import wide_scale_of
from confide.tables.relation import domain
from confide.tables.schema import Dataset

Beside: TypeAlias = FollowUp | Offsets | Classes | None

_WIDEST = 50  # bits of a width: times UNIT it stays below 2⁶³


def descent_query(aggregate: DescentAggregate, dataset: Dataset, layout: Layout) -> exp.Select:
    """Return the query for each patient's kept rows: ``p``, ``rk``, ``e0, …`` and ``fold``.

    Raises:
        ContractError: If the model is not declared, or does not fit the source.
    """
    check_descent(aggregate, dataset=dataset)
    scope = Scope(dataset=dataset, layout=layout)
    return kept_rows(
        aggregate.relation,
        reads=(*aggregate.reads, *aggregate.subgroups),
        most=aggregate.bounds.max_rows,
        folds=PARTS,
        scope=scope,
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of some patients.

    Attributes:
        terms: x in 1/UNIT; shape (rows, d).
        outcome: In [0, 1] as 1/RESIDUAL; shape (rows,).
        events: As they were counted; shape (rows,).
        patient: Number of each row's patient, from 0; shape (rows,).
        rank: Of the row among those of its patient, from 1; shape (rows,).
        beside: Person-time of counts, follow-up of hazards, classes.
        parts: Histograms of scores that count each row if it is held out.
    """

    terms: Floats
    outcome: Ints
    events: Ints
    patient: Ints
    rank: Ints
    beside: Beside
    parts: Parts


class DescentRows:
    """The rows of a model; answers questions in whole numbers that only the gate may see."""

    __slots__ = ("__aggregate", "__fitted", "__held", "__last", "__scale", "__tables", "__wide")

    def __init__(
        self, aggregate: DescentAggregate, columns: Mapping[str, NDArray[Any]], *, dataset: Dataset
    ) -> None:
        """Take in the columns of :func:`descent_query`.

        Raises:
            EngineError: If a patient has more rows than they may.
        """
        self.__scale = scale_of(aggregate, dataset=dataset)
        self.__aggregate = aggregate
        self.__tables = mean_table(aggregate.family), root_table(aggregate.family)
        _, patient = np.unique(np.asarray(columns["p"]), return_inverse=True)
        if patient.size and int(np.bincount(patient).max()) > aggregate.bounds.max_rows:
            raise EngineError("contribution bound not enforced")
        found = _Rows(
            terms=_terms(aggregate, columns, dataset=dataset),
            outcome=_outcome(aggregate, columns, dataset=dataset),
            events=np.asarray(columns[f"e{len(aggregate.covariates)}"], dtype=np.int64),
            patient=patient,
            rank=np.asarray(columns["rk"], dtype=np.int64),
            beside=_beside(aggregate, columns, dataset=dataset),
            parts=parts_of(aggregate, columns, dataset=dataset),
        )
        held = np.asarray(columns["fold"], dtype=np.int64) < aggregate.held_out
        self.__fitted, self.__held = _where(found, ~held), _where(found, held)
        self.__wide = self._wide_rows(dataset) if aggregate.wide else None
        self.__last: tuple[object, tuple[Floats, Floats, Floats]] | None = None

    def __repr__(self) -> str:
        return "<secret>"

    def answer(self, ask: object) -> tuple[int, ...]:
        """Return the exact answer to a question; called by the gate alone, right before noise."""
        scale = self.__scale
        match ask:
            case AskMoments():
                rows = self.__fitted
                found = products(scaled_moments(rows.terms, rows.patient, norm=scale.norm))
                return _times(scale.moments, _upper(found) + self._totals()) + self._crossed()
            case AskGradient(at=place, round=number):
                return _times(scale.gradients[number], self._gradient(place))
            case AskCurvature(at=place):
                return _times(scale.curvature, self._curvature(place))
            case AskScores(at=place, edges=edges, most=most):
                factor = scale.scores if self.__wide is None else self.__wide.scale.scores
                return _times(factor, self._scores(place, edges=edges, most=most))
            case _ if self.__wide is not None:
                return self.__wide.answer(ask)
            case _:
                raise EngineError("The rows of a model have no answer to this.")

    def _wide_rows(self, dataset: Dataset) -> WideRows:
        """Return the same rows, that answer as a model of many terms."""
        rows = self.__fitted
        scale = wide_scale_of(self.__aggregate, dataset=dataset)
        outcome = rows.events if scale.counts else rows.outcome
        return WideRows(rows.terms, outcome, rows.patient, scale=scale, beside=rows.beside)

    def _totals(self) -> list[int]:
        """Return what the family starts from, in 1/UNIT²."""
        rows = self.__fitted
        match rows.beside:
            case FollowUp() as time:
                return [int(n) * UNIT**2 for n in time.exits()]
            case Offsets() as time:
                each = np.column_stack([rows.outcome * (UNIT**2 // RESIDUAL), time.shares()])
                each = each // rows_of_each(rows.patient)[:, None]
                return [int(total) for total in each.sum(axis=0)]
            case Classes() as classes:
                return classes.totals(rows_of_each(rows.patient))
            case None:
                return []
            case _:
                assert_never(rows.beside)

    def _crossed(self) -> tuple[int, ...]:
        """Return Σ q·x·s of one look, s being 1 where the condition holds and −1 elsewhere."""
        if not self.__aggregate.one_look:
            return ()
        rows, scale = self.__fitted, self.__scale
        each = moment_weighed(rows.terms, rows.patient, norm=scale.norm)
        return _times(scale.gradients[0], weighted_sums(each, 2 * (rows.outcome // RESIDUAL) - 1))

    def _gradient(self, place: Place) -> list[int]:
        plain, _, weighted = self._whitened(place)
        rows, (means, _) = self.__fitted, self.__tables
        match rows.beside:
            case FollowUp() as time:
                _, residual = time.lived(scores_at(plain, place, first=time.size), place, means)
                intercepts = [weighted_sums(weighted[:, :1], column)[0] for column in residual.T]
                return intercepts + weighted_sums(weighted[:, 1:], residual.sum(axis=1))
            case Classes() as classes:
                each = classes.residuals(plain, place).T
                return [value for one in each for value in weighted_sums(weighted, one)]
            case Offsets() | None as time:
                steps = steps_at(plain, place, time)
                return weighted_sums(weighted, rows.outcome - means[steps])
            case _:
                assert_never(rows.beside)

    def _curvature(self, place: Place) -> list[int]:
        plain, halfway, weighted = self._whitened(place)
        rows, (means, roots) = self.__fitted, self.__tables
        match rows.beside:
            case FollowUp() as time:
                scores = scores_at(plain, place, first=time.size)
                lived, residual = time.lived(scores, place, means)
                each = [np.floor(np.sqrt(lived.sum(axis=1) * (ROOT**2 // RESIDUAL)))]
                spread = [self._added(weighted, residual.sum(axis=1, keepdims=True))]
            case Offsets() as time:
                steps = steps_at(plain, place, time)
                each = [roots[steps].astype(np.float64)]
                spread = [self._added(weighted, (rows.outcome - means[steps])[:, None])]
            case Classes() as classes:
                each = classes.roots(plain, place)
                spread = self._spread(weighted, each, classes.residuals(plain, place))
            case None:
                steps = steps_at(plain, place)
                each = [roots[steps].astype(np.float64)]
                spread = self._spread(weighted, each, (rows.outcome - means[steps])[:, None])
            case _:
                assert_never(rows.beside)
        curved = (_rooted(halfway, root[:, None]) for root in each)
        return [v for part in (*curved, *spread) for v in _upper(products(part))]

    def _spread(self, weighted: Floats, roots: list[Floats], residual: Ints) -> list[Floats]:
        """Return what spread is the products of: √v·w·z, or what patients add where clustered."""
        if self.__aggregate.clustered:
            return [self._added(weighted, residual)]
        return [_rooted(weighted, root[:, None]) for root in roots]

    def _added(self, weighted: Floats, residual: Ints) -> Floats:
        """Return Σ w·r·z over the rows of each patient, in 1/UNIT."""
        added = parts(weighted, residual)
        if self.__aggregate.clustered:
            added = summed_by_patient(added, self.__fitted.patient)
        return np.asarray(np.trunc(added / RESIDUAL))

    def _whitened(self, place: Place) -> tuple[Floats, Floats, Floats]:
        """Return z, √h·z and w·z in 1/UNIT; kept between rounds, which ask at one whitening."""
        if self.__last is None or self.__last[0] != place.whitening:
            plain = placed_terms(self.__fitted.terms, place)
            if isinstance(self.__fitted.beside, FollowUp):
                plain[:, 0] = UNIT  # the lemma of hazards takes the first term to be 1
            both = weighed(plain, self.__fitted.patient, clip=self.__scale.clip)
            self.__last = place.whitening, (plain, *both)
        return self.__last[1]

    def _scores(self, place: Place, *, edges: tuple[int, ...], most: int) -> list[int]:
        """Count held-out patients by bin and outcome; of several rows the first one counts."""
        first, bins = _where(self.__held, self.__held.rank == 1), SCORE_BINS
        plain = placed_terms(first.terms, place)
        match first.beside:
            case Classes() as classes:
                added = classes.scores(plain, place, edges=edges, bins=bins)
                return first.parts.added((at, None) for at in added)
            case FollowUp() as time:
                score = scores_at(plain, place, first=time.size)
                steps = np.clip(score + FARTHEST * STEPS, 0, SIZE - 1)
                outcome = 2 * time.last + time.had_event()
            case Offsets() as time:  # by predicted rate, whatever the person-time
                at = np.searchsorted(np.array(edges), steps_at(plain, place), side="right")
                events = _cut(first.events, most=most) if most else first.outcome
                in_units = events * (UNIT**2 // RESIDUAL)
                return first.parts.added([(at, in_units), (at + bins, time.shares())])
            case _:
                steps, outcome = steps_at(plain, place), first.outcome // RESIDUAL
        cell = outcome * bins + np.searchsorted(np.array(edges), steps, side="right")
        return first.parts.added([(cell, None)])


def _cut(events: Ints, *, most: int) -> Ints:
    """Return events in units of ``most`` and cut there, in 1/RESIDUAL."""
    return np.asarray(np.clip(events, 0, most) * RESIDUAL // most, dtype=np.int64)


def _where(rows: _Rows, chosen: NDArray[np.bool_]) -> _Rows:
    if bool(chosen.all()):
        return rows
    return _Rows(
        rows.terms[chosen],
        rows.outcome[chosen],
        rows.events[chosen],
        rows.patient[chosen],
        rows.rank[chosen],
        None if rows.beside is None else rows.beside.where(chosen),
        rows.parts.where(chosen),
    )


def _terms(
    aggregate: DescentAggregate, columns: Mapping[str, NDArray[Any]], *, dataset: Dataset
) -> Floats:
    """Return x in 1/UNIT, whole numbers of at most UNIT."""
    found = []
    for term in terms(aggregate, dataset=dataset):
        if term.covariate < 0:
            found.append(np.full(len(columns["p"]), UNIT, dtype=np.int64))
            continue
        of = domain(aggregate.covariates[term.covariate], dataset=dataset)
        value = np.asarray(columns[f"e{term.covariate}"], dtype=np.int64)
        if term.level is None:
            found.append(_between(2 * value - of.lower - of.upper, width=of.upper - of.lower))
        else:
            found.append((value - of.lower == term.level) * UNIT)
    return np.column_stack(found).astype(np.float64)


def _between(doubled: Ints, *, width: int) -> Ints:
    """Return UNIT·doubled/width, at most UNIT; of wide bounds the lowest bits are let go first."""
    dropped = max(0, width.bit_length() - _WIDEST)
    whole = (doubled >> dropped) * UNIT // (width >> dropped)
    return np.asarray(np.clip(whole, -UNIT, UNIT), dtype=np.int64)


def _outcome(
    aggregate: DescentAggregate, columns: Mapping[str, NDArray[Any]], *, dataset: Dataset
) -> Ints:
    of = domain(aggregate.outcome, dataset=dataset)
    values = np.asarray(columns[f"e{len(aggregate.covariates)}"], dtype=np.int64)
    return (values - of.lower) * RESIDUAL // (of.upper - of.lower)


def _beside(
    aggregate: DescentAggregate, columns: Mapping[str, NDArray[Any]], *, dataset: Dataset
) -> Beside:
    place = len(aggregate.covariates)
    match aggregate.family:
        case Family.LOGISTIC:
            return None
        case Family.POISSON:
            if aggregate.exposure is None:
                return offsets(np.ones(len(columns["p"]), dtype=np.int64), most=1)
            values = np.asarray(columns[f"e{place + 1}"], dtype=np.int64)
            return offsets(values, most=domain(aggregate.exposure, dataset=dataset).upper)
        case Family.HAZARD:
            ended = np.asarray(columns[f"e{place}"], dtype=np.int64)
            event = ended > domain(aggregate.outcome, dataset=dataset).lower
            values = np.asarray(columns[f"e{place + 1}"], dtype=np.int64)
            return follow_up(values, event, edges=aggregate.edges)
        case Family.MULTINOMIAL:
            values = np.asarray(columns[f"e{place}"], dtype=np.int64)
            return Classes(
                values - domain(aggregate.outcome, dataset=dataset).lower, aggregate.classes
            )
        case _:
            assert_never(aggregate.family)


def _rooted(rows: Floats, root: Floats) -> Floats:
    """Return rows·root/ROOT, rounded towards zero."""
    found = rows * root
    found /= ROOT
    return np.asarray(np.trunc(found, out=found))


def _upper(matrix: NDArray[Any]) -> list[int]:
    return [int(value) for value in matrix[np.triu_indices(len(matrix))]]


def _times(factor: int, values: list[int]) -> tuple[int, ...]:
    return tuple(factor * value for value in values)


DESCENT = Alone(
    of=DescentAggregate,
    query=descent_query,
    answer=lambda aggregate, columns, dataset: DescentRows(aggregate, columns, dataset=dataset),
    way="the rows of the model once, then kept in memory for its rounds",
)
