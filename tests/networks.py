"""Small contact networks: as graphs, as tables, and a slow degree histogram written without SQL."""

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa

from confide.privacy.adjacency import Adjacency
from confide.privacy.measure import Measure
from confide.privacy.unit import Entity, PrivacyUnit
from confide.rows.engines.duckdb import open_engine
from confide.rows.relational.degrees import projected_degrees
from confide.tables.aggregates.degrees import DegreeAggregate, DegreeBounds, How
from confide.tables.relation import Relation
from confide.tables.schema import Column, Dataset, Kind, Table
from confide.tables.source import Source, SourceKind

KEY = bytes(range(16))
Graph = frozenset[tuple[int, int]]


def network(
    entity: Entity = Entity.PATIENT,
    *,
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    measure: Measure = Measure.PURE,
) -> Dataset:
    """Persons and their contacts at home or at work."""
    place = Column(
        name="place",
        kind=Kind.CATEGORY,
        source="place",
        keys=("home", "work"),
        codes=(("home", 0), ("work", 1)),
    )
    return Dataset(
        id="network",
        lineage="network",
        snapshot="1",
        unit=PrivacyUnit(entity=entity, id_column="pid"),
        adjacency=adjacency,
        measure=measure,
        delta=Fraction(1, 10**6) if measure is Measure.ZCDP else Fraction(0),
        tables=(
            Table(name="contacts", source="contacts", columns=(place,), other_id="qid"),
            Table(name="people", source="people", columns=(), one_row_per_patient=True),
        ),
    )


def asked(
    at_most: int,
    *,
    how: How = How.PROJECTED,
    persons: bool = True,
    relation: Relation | None = None,
) -> DegreeAggregate:
    return DegreeAggregate(
        relation=relation or Relation(table="contacts"),
        persons="people" if persons else "",
        bounds=DegreeBounds(at_most=at_most, how=how),
    )


def frames(rows, people) -> dict[str, pa.Table]:
    """Tables of contacts (p, q, place) and of persons."""
    names = ("pid", "qid", "place")
    contacts = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    kind = pa.string() if any(isinstance(p, str) for p in people) else pa.int64()
    return {
        "contacts": pa.table(
            {
                "pid": pa.array(contacts["pid"], kind),
                "qid": pa.array(contacts["qid"], kind),
                "place": pa.array(contacts["place"], pa.string()),
            }
        ),
        "people": pa.table({"pid": pa.array(people, kind)}),
    }


def by_engine(tables, aggregate: DegreeAggregate, *, of: Dataset) -> tuple[int, ...]:
    with open_engine(
        Source(kind=SourceKind.FRAMES), base=Path(), dataset=of, hash_key=KEY, frames=tables
    ) as engine:
        engine.check((aggregate,), dataset=of)
        (exact,) = engine.aggregate((aggregate,), dataset=of).reveal_to_gate()
    return exact


def histogram(
    edges, vertices, *, at_most: int, how: How = How.PROJECTED, place=lambda pair: pair
) -> np.ndarray:
    """Degrees 0 to D of a graph, edges in the order of ``place``; a vertex is any integer."""
    number = {vertex: i for i, vertex in enumerate(sorted(vertices))}
    ordered = [
        (number[a], number[b]) for a, b in sorted(edges, key=place) if a in number and b in number
    ]
    if how is How.PROJECTED:
        first, second = (np.array([e[i] for e in ordered], dtype=np.int64) for i in (0, 1))
        alone = np.zeros(len(number), dtype=np.int64)
        degrees = projected_degrees(first, second, degrees=alone, at_most=at_most).tolist()
    else:
        counted = Counter(itertools.chain.from_iterable(ordered))
        degrees = [min(counted[i], at_most) for i in range(len(number))]
    degrees += [0] * (len(number) - len(degrees))
    return np.bincount(np.array(degrees, dtype=np.int64), minlength=at_most + 1)


def graphs(size: int):
    """Every graph on the vertices 0 to size − 1."""
    pairs = list(itertools.combinations(range(size), 2))
    for bits in range(1 << len(pairs)):
        yield frozenset(pair for i, pair in enumerate(pairs) if bits >> i & 1)


def stable(number):
    """A secret order of all pairs: each pair has one place, whoever else is there."""
    rng = np.random.default_rng(number)
    pairs = list(itertools.combinations(range(60), 2))
    places = dict(zip(pairs, rng.permutation(len(pairs)).tolist(), strict=True))
    return places.__getitem__
