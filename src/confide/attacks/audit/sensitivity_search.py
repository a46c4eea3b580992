"""Sensitivity search with the noise off: does anybody move an exact vector further than claimed?

Every statistic's exact vector is taken on many thousands of neighbouring databases, through the
engine that releases use, and the largest ‖f(D) − f(D′)‖ is compared with the plan's claim: never
above it, in L1, L2² and L∞; and, for L1 and L2², equal to it somewhere, else the claim is loose or
the search too weak to say anything.

*Privacy:* noise is calibrated to the claim, so a vector that moves further is protected less than
the certificate says.  A search can refute a claim, never prove it; the proofs are in ``tables``.

References:
    [Casa22] Casacuberta, Shoemate, Vadhan, Wagaman. Widespread underestimation of sensitivity in
        differentially private libraries and how to fix it. CCS 2022.
        https://arxiv.org/abs/2207.10635
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.generate import Neighbours
from confide.attacks.audit.generated_schema import base, database_axes, schema
from confide.attacks.audit.searched_rates import rates_of_patients
from confide.attacks.audit.searched_tables import tables_of_events, tables_of_patients
from confide.errors import UnsupportedError
from confide.plans.contribution import Counted, PerPatient
from confide.plans.plan import Question, Statistic
from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.rows.duckdb import open_engine
from confide.rows.engine import Exact
from confide.statistics import (
    AreaRate,
    ChiSquaredTest,
    Count,
    Hierarchy,
    Histogram,
    KeySelection,
    LinearRegression,
    Mean,
    Proportion,
    Quantiles,
    RunningCounts,
    Series,
    Sum,
    Survival,
    TopCategory,
    TopFeatures,
    TrendTest,
    TwoMeansTest,
    TwoProportionsTest,
    Variance,
)
from confide.statistics.area_rate.spec import Denominator
from confide.statistics.series import SeriesOf
from confide.statistics.survival import Method
from confide.tables.aggregate import (
    Aggregate,
    KeyedAggregate,
    Measured,
    combined,
    parts,
)
from confide.tables.degrees import DegreeAggregate
from confide.tables.expression import ColumnOf, DatePart, ValueOf
from confide.tables.factorized import FactorizedAggregate
from confide.tables.filter import AnyOf, Between, IsIn, Not
from confide.tables.pooled import PooledAggregate
from confide.tables.ranked import About, RankedCells, RankedFeatures
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind

Vectors: TypeAlias = Sequence[Exact]
Evaluate: TypeAlias = Callable[[Mapping[str, Any], Dataset, tuple[Measured, ...]], Vectors]
Claim: TypeAlias = Callable[[Statistic, Dataset], Sequence[Question]]
HASH_KEY = b"order of rows in generated data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The largest movement of one exact vector.

    Attributes:
        statistic: Id of the statistic.
        question: Name of its question.
        entity: Whose change.
        adjacency: Between which databases.
        claimed: By the plan.
        l1: Largest L1 movement found.
        l2_squared: Largest squared L2 movement found.
        linf: Largest movement of one coordinate found.
        reach: Largest rise found of one coordinate over another; 0 where nothing is chosen.
        set_reach: The same of two sets of as many coordinates as are chosen.
        pairs: Pairs searched.
    """

    statistic: str
    question: str
    entity: Entity
    adjacency: Adjacency
    claimed: Sensitivity
    l1: int
    l2_squared: int
    linf: int
    pairs: int
    reach: int = 0
    set_reach: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing moved further than claimed."""
        of = self.claimed
        return (
            self.l1 <= of.l1
            and self.l2_squared <= of.l2_squared
            and self.linf <= of.linf
            and self.reach <= of.reach
            and self.set_reach <= of.set_reach
        )

    @property
    def attained(self) -> bool:
        """Whether something moved as far as claimed."""
        of = self.claimed
        return (
            self.l1 == of.l1
            and self.l2_squared == of.l2_squared
            and self.reach == of.reach
            and self.set_reach == of.set_reach
        )


def exact_vectors(
    frames: Mapping[str, Any], dataset: Dataset, aggregates: tuple[Measured, ...]
) -> Vectors:
    """Return exact vectors by the engine that releases use."""
    with open_engine(
        Source(kind=SourceKind.FRAMES),
        base=Path(),
        dataset=dataset,
        hash_key=HASH_KEY,
        frames=frames,
    ) as engine:
        asked_for = tuple(part for aggregate in aggregates for part in parts(aggregate))
        answers = iter(engine.aggregate(asked_for, dataset=dataset).reveal_to_gate())
    return [_whole(aggregate, answers, dataset=dataset) for aggregate in aggregates]


def _whole(aggregate: Measured, answers: Iterator[Exact], *, dataset: Dataset) -> Exact:
    """Return the exact vector of an aggregate from the engine's next answers, as the gate does."""
    own = [next(answers) for _ in parts(aggregate)]
    if isinstance(aggregate, Aggregate | KeyedAggregate | DegreeAggregate):
        return own[0]
    sums = [answer for answer in own if isinstance(answer, tuple)]
    return combined(aggregate, sums, dataset=dataset)


def asked(statistic: Statistic, dataset: Dataset) -> Sequence[Question]:
    """Return what the statistic asks and claims."""
    return statistic.questions(dataset)


def search(
    statistics: Sequence[Statistic],
    *,
    drawn: Neighbours,
    entity: Entity,
    evaluate: Evaluate = exact_vectors,
    claims: Claim = asked,
) -> tuple[Found, ...]:
    """Return the largest movements under both adjacencies.

    Args:
        statistics: Over the tables of :mod:`confide.attacks.audit.generate`.
        drawn: Databases and their neighbours.
        entity: The privacy unit; that of ``drawn``.
        evaluate: How exact vectors are computed.
        claims: What is asked of each statistic, and how far it is claimed to move.

    Example:
        >>> from confide.attacks.audit.generate import neighbours
        >>> from confide.noise.entropy import SystemEntropy
        >>> drawn = neighbours(200, entity=Entity.PATIENT, entropy=SystemEntropy())
        >>> found = search([Count(id="n", table="events")], drawn=drawn, entity=Entity.PATIENT)
        >>> [(f.adjacency.value, f.l1, f.claimed.l1) for f in found]
        [('add-remove', 1, 1), ('substitute', 1, 1)]
    """
    datasets = {
        adjacency: schema(databases=drawn.databases, entity=entity, adjacency=adjacency)
        for adjacency in Adjacency
    }
    questions = {
        adjacency: [(s.id, q) for s in statistics for q in claims(s, dataset)]
        for adjacency, dataset in datasets.items()
    }
    # A statistic may ask other questions under the other adjacency; each vector is taken once.
    wanted = list(dict.fromkeys(q.aggregate for asked in questions.values() for _, q in asked))
    batched = tuple(_batched(aggregate, databases=drawn.databases) for aggregate in wanted)
    present, absent, replaced = (
        {
            aggregate: _by_database(vector, databases=drawn.databases)
            for aggregate, vector in zip(
                wanted, evaluate(frames, datasets[Adjacency.ADD_REMOVE], batched), strict=True
            )
        }
        for frames in (drawn.present, drawn.absent, drawn.replaced)
    )
    neighbour = {Adjacency.ADD_REMOVE: absent, Adjacency.SUBSTITUTE: replaced}
    return tuple(
        _compared(
            name,
            question,
            first=present[question.aggregate],
            second=neighbour[adjacency][question.aggregate],
            entity=entity,
            adjacency=adjacency,
        )
        for adjacency in Adjacency
        for name, question in questions[adjacency]
    )


def _batched(aggregate: Measured, *, databases: int) -> Measured:
    """Return the aggregate over all databases at once; keys carry their database already."""
    if isinstance(aggregate, KeyedAggregate):
        return aggregate
    if isinstance(aggregate, DegreeAggregate):
        raise UnsupportedError("Degree histograms are searched over graphs, not over patients.")
    axes = database_axes(aggregate.relation.table, databases=databases)
    if isinstance(aggregate, PooledAggregate):
        copies = base(databases) ** 2
        whole = replace(aggregate.of, axes=(*axes, *aggregate.axes))
        groups = tuple(
            copy * aggregate.size + group for copy in range(copies) for group in aggregate.groups
        )
        return PooledAggregate(of=whole, groups=groups, weights=aggregate.weights * copies)
    if isinstance(aggregate, FactorizedAggregate):
        return replace(aggregate, inner=replace(aggregate.inner, axes=(*axes, *aggregate.axes)))
    return replace(aggregate, axes=(*axes, *aggregate.axes))


def _by_database(vector: Exact, *, databases: int) -> NDArray[Any] | dict[str, int]:
    """Return shape (databases, cells); or counts by key, each of which names its database."""
    if not isinstance(vector, tuple):
        return dict(vector)
    largest = max(map(abs, vector), default=0)
    exact = np.array(vector, dtype=np.int64 if largest < 2**28 else object)
    return exact.reshape(base(databases) ** 2, -1)[:databases]


def _compared(
    statistic: str,
    question: Question,
    *,
    first: NDArray[Any] | dict[str, int],
    second: NDArray[Any] | dict[str, int],
    entity: Entity,
    adjacency: Adjacency,
) -> Found:
    if isinstance(first, dict) or isinstance(second, dict):
        change = _moved_keys(dict(first), dict(second))
    else:
        change = first - second
    moved = np.abs(change)
    aggregate = question.aggregate
    size = aggregate.size if isinstance(aggregate, RankedCells | RankedFeatures) else 0
    return Found(
        statistic=statistic,
        question=question.name,
        entity=entity,
        adjacency=adjacency,
        claimed=question.sensitivity,
        l1=int(moved.sum(axis=1).max()),
        l2_squared=int((moved * moved).sum(axis=1).max()),
        linf=int(moved.max()),
        pairs=moved.shape[0],
        reach=_reach(change, size=min(1, size)),
        set_reach=_reach(change, size=size),
    )


def _reach(change: NDArray[Any], *, size: int) -> int:
    """Return the largest rise of a set of coordinates over another, either way round."""
    if size == 0:
        return 0
    ordered = np.sort(change, axis=1)
    return int((ordered[:, -size:].sum(axis=1) - ordered[:, :size].sum(axis=1)).max())


def _moved_keys(first: dict[str, int], second: dict[str, int]) -> NDArray[Any]:
    """Return shape (databases, most keys moved in one): how far each key's count moved."""
    moved: dict[str, list[int]] = {"": [0]}
    for key in first.keys() | second.keys():
        change = abs(first.get(key, 0) - second.get(key, 0))
        if change:
            moved.setdefault(key.partition("/")[0], []).append(change)
    width = max(map(len, moved.values()))
    return np.array([changes + [0] * (width - len(changes)) for changes in moved.values()])


def statistics_of_patients() -> tuple[Statistic, ...]:
    """Return every kind of statistic under every kind of bound, with the patient as the unit."""
    amount = ColumnOf(table="events", column="amount")
    whole = ColumnOf(table="events", column="whole")
    high = Between(of=amount, lower=50)
    events, rows = Counted.EVENTS, PerPatient
    return (
        Count(id="patients", table="events"),
        Count(id="patients-with", table="events", where=high),
        Count(id="patients-without", table="events", where=Not(of=high)),
        Count(id="persons", table="patients"),
        Count(id="rows", table="events", counted=events, per_patient=rows(rows=3)),
        Histogram(id="codes", table="events", by=("code",), per_patient=rows(cells=2)),
        Histogram(
            id="code-rows",
            table="events",
            by=("code",),
            counted=events,
            per_patient=rows(cells=2, rows=2),
        ),
        Histogram(
            id="any-rows", table="events", by=("code",), counted=events, per_patient=rows(rows=3)
        ),
        Histogram(id="all-codes", table="events", by=("code",), per_patient=rows(cells=9)),
        Histogram(
            id="quarters",
            table="events",
            by=("code", "quarter"),
            counted=events,
            per_patient=rows(cells=2, rows=2),
        ),
        Histogram(id="sexes", table="patients", by=("sex",)),
        Histogram(id="sex-codes", table="events", by=("code", "sex"), per_patient=rows(cells=2)),
        Histogram(id="visits", table="patients", by=("visits", "any")),
        Histogram(id="stays", table="events", by=("stay",)),
        Sum(id="amounts", table="events", column="amount", per_patient=rows(rows=3)),
        Sum(
            id="changes",
            table="events",
            column="change",
            by=("code",),
            per_patient=rows(cells=2, rows=2),
        ),
        Sum(id="big", table="events", column="big", per_patient=rows(rows=2)),
        Sum(
            id="strict",
            table="events",
            column="strict",
            by=("code",),
            where=AnyOf(of=(Not(of=IsIn(of=whole, values=(1,))), Between(of=ValueOf(name="span")))),
            per_patient=rows(cells=2, rows=1),
        ),
        Sum(id="latest", table="patients", column="latest"),
        Sum(id="whole", table="events", column="whole", per_patient=rows(rows=8)),
        Mean(id="mean", table="events", column="change", by=("code",), per_patient=rows(rows=3)),
        Mean(id="ages", table="patients", column="age"),
        Variance(
            id="variance",
            table="events",
            column="change",
            by=("code",),
            per_patient=rows(cells=2, rows=1),
        ),
        Variance(id="big-variance", table="events", column="big", per_patient=rows(rows=1)),
        Proportion(id="share", table="events", of=high, per_patient=rows(rows=2)),
        Proportion(id="share-of-persons", table="patients", of=Between(of=ValueOf(name="first"))),
        Quantiles(
            id="quantiles", table="events", column="change", bins=6, per_patient=rows(rows=2)
        ),
        KeySelection(id="notes", table="events", key="note", per_patient=rows(cells=2)),
        *tables_of_patients(),
        TopCategory(
            id="top-codes", table="events", by=("code",), per_patient=rows(cells=2), size=2
        ),
        TopFeatures(
            id="top-features",
            table="events",
            features=("amount", "change", "strict"),
            outcome="whole",
            about=About.CENTRES,
            per_patient=rows(rows=1),
        ),
        *rates_of_patients(),
        Survival(
            id="exits",
            table="patients",
            time="age",
            status="any",
            censored=("no",),
            by=("sex",),
            bins=6,
            until=Fraction(60),
        ),
        Survival(
            id="stays-until-any",
            table="events",
            time="span",
            status="any",
            censored=("no",),
            bins=4,
            method=Method.PER_TIME_POINT,
        ),
        ChiSquaredTest(
            id="independence", table="events", by=("code", "band"), per_patient=rows(rows=1)
        ),
        TwoProportionsTest(
            id="two-shares", table="events", of=high, by=("sex",), per_patient=rows(rows=1)
        ),
        TrendTest(id="trend", table="events", of=high, by=("code",), per_patient=rows(rows=1)),
        TwoMeansTest(
            id="two-means", table="events", column="change", by=("sex",), per_patient=rows(rows=1)
        ),
        LinearRegression(
            id="line",
            table="events",
            outcome="change",
            covariates=("amount", "code", "sex"),
            per_patient=rows(rows=1),
        ),
        Series(
            id="series",
            table="events",
            column="change",
            over="day",
            every=DatePart.QUARTER,
            per_patient=rows(cells=2, rows=2),
        ),
        Series(
            id="series-of-sums",
            table="events",
            column="amount",
            over="quarter",
            of=SeriesOf.SUM,
            per_patient=rows(cells=2, rows=1),
        ),
        RunningCounts(
            id="running",
            table="events",
            over="quarter",
            counted=events,
            per_patient=rows(cells=2, rows=3),
        ),
        RunningCounts(
            id="running-by-sex",
            table="events",
            over="day",
            every=DatePart.QUARTER,
            groups=("sex",),
            per_patient=rows(cells=2),
        ),
        *_of_areas(high),
    )


def _of_areas(high: Between) -> tuple[Statistic, ...]:
    place: dict[str, Any] = {"table": "events", "spine": "place"}
    return (
        Hierarchy(id="blocks", per_patient=PerPatient(cells=2), **place),
        Hierarchy(
            id="block-rows",
            counted=Counted.EVENTS,
            per_patient=PerPatient(cells=2, rows=2),
            **place,
        ),
        Hierarchy(id="block-any", counted=Counted.EVENTS, per_patient=PerPatient(rows=3), **place),
        AreaRate(id="rates", of=high, per_patient=PerPatient(cells=2), **place),
        AreaRate(id="fair", same_error_above=10, per_patient=PerPatient(cells=2), **place),
        AreaRate(id="block-rate", area="block", per_patient=PerPatient(cells=1), **place),
        AreaRate(
            id="block-shares",
            area="block",
            of=high,
            denominator=Denominator.ROWS,
            same_error_above=30,
            per_patient=PerPatient(rows=2),
            **place,
        ),
    )


def statistics_of_events() -> tuple[Statistic, ...]:
    """Return every kind of statistic with the event as the unit."""
    high = Between(of=ColumnOf(table="events", column="amount"), lower=50)
    other = IsIn(of=ColumnOf(table="events", column="code"), values=(3,))
    return (
        Count(id="rows", table="events", where=high, counted=Counted.EVENTS),
        Histogram(id="codes", table="events", by=("code", "band"), counted=Counted.EVENTS),
        Sum(id="amounts", table="events", column="amount", where=Not(of=other)),
        Sum(id="changes", table="events", column="change", by=("code",)),
        Mean(id="mean", table="events", column="change", by=("quarter",)),
        Variance(id="variance", table="events", column="amount"),
        Proportion(id="share", table="events", of=high),
        TopCategory(id="top-code", table="events", by=("code",), counted=Counted.EVENTS),
        Quantiles(id="quantiles", table="events", column="amount", bins=5, at=(Fraction(1, 2),)),
        *tables_of_events(),
        Survival(id="exits", table="events", time="amount", status="code", censored=("D",), bins=4),
        ChiSquaredTest(id="independence", table="events", by=("code", "band")),
        LinearRegression(
            id="line", table="events", outcome="change", covariates=("amount", "code")
        ),
        Hierarchy(id="blocks", table="events", spine="place", counted=Counted.EVENTS),
        AreaRate(
            id="fair", table="events", spine="place", counted=Counted.EVENTS, same_error_above=10
        ),
        Series(id="series", table="events", column="change", over="day", every=DatePart.QUARTER),
        RunningCounts(id="running", table="events", over="quarter", counted=Counted.EVENTS),
    )
