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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confide.attacks.audit.generate import Neighbours
from confide.attacks.audit.generated_schema import base, database_axes, schema
from confide.errors import UnsupportedError
from confide.plans.plan import Question, Statistic
from confide.privacy.adjacency import Adjacency
from confide.privacy.sensitivity import Sensitivity
from confide.privacy.unit import Entity
from confide.rows.engine import Engine, Exact, exact_vector
from confide.rows.engines.duckdb import open_engine
from confide.tables.aggregates.refined import AskCells, GridCounts
from confide.tables.aggregates.shapes import Keyed, Measured, Ranked, Refined, Shared, parts
from confide.tables.schema import Dataset
from confide.tables.source import Source, SourceKind

Vectors: TypeAlias = Sequence[Exact]
Evaluate: TypeAlias = Callable[[Mapping[str, Any], Dataset, tuple[Measured, ...]], Vectors]
QuestionsOf: TypeAlias = Callable[[Statistic, Dataset], Sequence[Question]]
HASH_KEY = b"order of rows in generated data"


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestMovement:
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
        return answered(engine, aggregates, dataset=dataset)


def answered(engine: Engine, aggregates: tuple[Measured, ...], *, dataset: Dataset) -> Vectors:
    """Return exact vectors by an open engine."""
    asked_for = tuple(part for aggregate in aggregates for part in parts(aggregate))
    answers = iter(engine.aggregate(asked_for, dataset=dataset).reveal_to_gate())
    return [exact_vector(aggregate, answers, dataset=dataset) for aggregate in aggregates]


def asked(statistic: Statistic, dataset: Dataset) -> Sequence[Question]:
    """Return what the statistic asks and claims."""
    return statistic.questions(dataset)


def search(
    statistics: Sequence[Statistic],
    *,
    drawn: Neighbours,
    entity: Entity,
    evaluate: Evaluate = exact_vectors,
    claims: QuestionsOf = asked,
) -> tuple[LargestMovement, ...]:
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
        >>> from confide.statistics import Count
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
    at_once = tuple(batched(aggregate, databases=drawn.databases) for aggregate in wanted)
    present, absent, replaced = (
        {
            aggregate: by_database(in_halves(aggregate, vector), databases=drawn.databases)
            for aggregate, vector in zip(
                wanted, evaluate(frames, datasets[Adjacency.ADD_REMOVE], at_once), strict=True
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


def batched(aggregate: Measured, *, databases: int) -> Measured:
    """Return the aggregate over all databases at once; keys carry their database already."""
    if isinstance(aggregate, Keyed):
        return aggregate
    if isinstance(aggregate, Shared):
        raise UnsupportedError(f"It is searched elsewhere, not over patients: {aggregate.shared}")
    axes = database_axes(aggregate.relation.table, databases=databases)
    return aggregate.beside(axes, copies=base(databases) ** 2)


def in_halves(aggregate: Measured, vector: Exact) -> Exact:
    """Return both answers of rows that are asked twice, over the halves of the grid each time.

    Whatever the edges are, a row is in one cell; so nobody moves other cells further.
    """
    if not isinstance(aggregate, Refined) or not isinstance(vector, GridCounts):
        return vector
    edges = aggregate.whole((0, aggregate.fine // 2, aggregate.fine + 1))
    length = len(edges) - 1
    answers = [
        vector.answer(AskCells(edges=(edges,) * vector.groups, length=length, weight=weight))
        for weight in aggregate.weights
    ]
    both = np.stack([np.array(each).reshape(-1, length) for each in answers], axis=1)
    return tuple(both.ravel().tolist())


def by_database(vector: Exact, *, databases: int) -> NDArray[Any] | dict[str, int]:
    """Return shape (databases, cells); or counts by key, each of which names its database."""
    if isinstance(vector, Mapping):
        return dict(vector)
    if not isinstance(vector, tuple):
        raise UnsupportedError("Rows that answer in turn have no vector.")
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
) -> LargestMovement:
    if isinstance(first, dict) or isinstance(second, dict):
        change = _moved_keys(dict(first), dict(second))
    else:
        change = first - second
    moved = np.abs(change)
    aggregate = question.aggregate
    size = aggregate.size if isinstance(aggregate, Ranked) else 0
    return LargestMovement(
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
